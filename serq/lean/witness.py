"""Iterations that show something: found by walking through runs, confirmed by Lean's kernel.

Every run here is one that the program can have: its own gaps, possible draws, sessions that satisfy
`given`. Where sessions come at any times none of them comes as an iteration ends, which would have no
probability.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from fractions import Fraction
from itertools import chain, islice, product
from itertools import count as count_from
from typing import TypeAlias

from attrs import define, frozen

from serq.ir.expr import Expr, Num, Var, walk
from serq.lean.exact import evaluate
from serq.lean.fragment import Fragment, Stated, end_factors
from serq.lean.module import reads_serial
from serq.lean.steps import Iteration, Phases, Run, Sessions, State, Stepper
from serq.lean.terms import LARGEST

FEW_STEPS, MOST_STEPS = 60, 1500
"""Steps of one run that are looked at, first and then."""

MOST_WORK = 20_000
"""Runs at the engine, added up over the steps of one run: Lean has to go through them all, some 50 in a
second where it is not native."""

MOST_STATES = 15_000
"""States that are looked at for one claim."""

MOST_KEPT = 60_000
"""States that are kept for the next claim."""

MOST_TO_END = 600
"""States of a run that is followed to its end."""

FINE = 256
"""Parts of a tick where sessions come at any times. Gaps are odd numbers of them, so that no two of fewer
sessions come in the same part: an iteration, which lasts whole ticks, never ends as a session comes."""

MOST_SESSIONS = 400
MOST_CHOICES = 500
"""Ways to choose the draws of a claim with `given`."""

CHUNK = 150
"""Runs at the engine, and one for each step, between two states that are written out, as long as that are
a few steps. Writing states takes Lean as long as the steps, and few steps at once no stack."""


Step: TypeAlias = "tuple[State, Iteration | None]"
"""A state, and the iteration that starts there, if one does."""


@frozen
class World:
    """One choice of what comes from outside.

    start, gap: session `k` comes at `start + k * gap`, in ticks, or parts of one where they come at any
    times. draws: values of the draws, the same for every session.
    """

    count: int
    start: int
    gap: int
    draws: Mapping[str, int]


@frozen
class Witness:
    """An iteration, and the way to it.

    now: when it starts, on the program's clock. stops: states on the way, each with the steps from the
    one before; the iteration starts in the last. It is None for an end: nobody is left in the last, and
    the run stops at `stop`, counted as the times of the states are.
    """

    world: World
    now: float
    stops: tuple[tuple[int, State], ...]
    iteration: Iteration | None
    stop: int = 0

    @property
    def steps(self) -> int:
        return sum(k for k, _ in self.stops)


class Walks:
    """Runs of a program, followed as far as somebody asked; the next claim finds the same states."""

    def __init__(self, f: Fragment) -> None:
        self.f = f
        self.stepper = Stepper(f, fineness(f))
        self.kept: dict[object, tuple[list[Step], Iterator[Step]]] = {}
        self.count = 0

    @property
    def unit(self) -> int:
        """What a unit of the clock is in the times of states."""
        return self.f.ticks * self.stepper.fineness

    def along(self, world: World) -> Iterator[Step]:
        """The states of a run from its start, each with the iteration that starts there, if one does."""
        key = (world.count, world.start, world.gap, *world.draws.values())
        if key not in self.kept:
            if self.count > MOST_KEPT:
                self.kept.clear()
                self.count = 0
            self.kept[key] = [], self.stepper.states(sessions_of(self.f, world))
        seen, more = self.kept[key]
        for k in count_from():
            if k == len(seen):
                step = next(more, None)
                if step is None:
                    return
                seen.append(step)
                self.count += 1
            yield seen[k]


@define
class Search:
    """A search for a witness, and how far it went.

    worlds: runs that were followed. until: the latest state of one, on the program's clock. cut: whether
    one of them, or their number, met a limit.
    """

    walks: Walks
    stated: Stated
    looked: int = 0
    worlds: int = 0
    until: float = 0.0
    cut: bool = False

    @property
    def f(self) -> Fragment:
        return self.walks.f

    @property
    def extent(self) -> str:
        """How far it went, in words."""
        if not self.worlds:
            return "no run was looked at: none is known with its times, draws and `given`"
        runs = f"{self.worlds} run{'s' * (self.worlds != 1)}"
        limit = "to the limit of the search" if self.cut else "to their ends"
        return f"no witness in {self.looked} states of {runs} up to {self.until:.17g}, followed {limit}"

    def iteration(self, wanted: bool) -> Witness | None:
        """An iteration at which the claim is `wanted`, the first of the first run that has one."""
        for limit in (FEW_STEPS, MOST_STEPS):
            self.worlds, self.cut = 0, False
            for world in _worlds(self.f, self.stated):
                found = self._walk(world, wanted, limit)
                if found is not None:
                    return found
                if self.looked > MOST_STATES:
                    self.cut = True
                    return None
        return None

    def ending(self) -> Witness | None:
        """An end at which the claim is false."""
        batch = self.f.arrivals.kind == "batch"
        for world in _worlds(self.f, self.stated):
            for count in [world.count] if batch else [1, 2, 3, 5, 8] + [0] * (not self.f.arrivals.from_0):
                found = self._end(World(count, world.start, world.gap, world.draws))
                if found is not None:
                    return found
        self.cut = True  # there may be any number of sessions, and any time may pass
        return None

    def _walk(self, world: World, wanted: bool, limit: int) -> Witness | None:
        """The witness of one run."""
        work, states = 0, list[State]()
        self.worlds += 1
        for s, iteration in self.walks.along(world):
            if not self._allows(world, s.arrived):
                return None
            states.append(s)
            self.looked += 1
            self.until = max(self.until, s.now / self.walks.unit)
            found = iteration is not None and self._is(iteration, wanted)
            if iteration is not None and found and self._lasts(world, len(states), wanted):
                # Sessions that come later change nothing of this.
                count = world.count if self.f.arrivals.kind == "batch" else s.arrived
                sessions = World(count, world.start, world.gap, world.draws)
                return Witness(sessions, iteration.now / self.walks.unit, _stops(states), iteration)
            work += 1 + len(s.runs)
            if len(states) > limit or work > MOST_WORK:
                self.cut = True
                return None
        # Where sessions go on coming the walk ends because no more were asked for.
        self.cut = self.cut or self.f.arrivals.kind != "batch"
        return None

    def _is(self, i: Iteration, wanted: bool) -> bool:
        readings = claim_readings(self.f, i, self.walks.stepper.fineness)
        return bool(evaluate(self.stated.claim.value, readings)) == wanted

    def _allows(self, world: World, count: int) -> bool:
        """Whether `count` sessions satisfy `given`; of those told apart by their draws all do."""
        given = self.stated.given
        if given is None or not reads_serial(given):
            return True
        return all(evaluate(given.expr, {**world.draws, "serial": k}) for k in range(count))

    def _lasts(self, world: World, step: int, wanted: bool) -> bool:
        """Whether the same is found when sessions come a little later, where times are free.

        A time that has to be hit exactly has no probability.
        """
        if self.f.arrivals.kind != "any" or not reads_clock(self.stated.claim.value):
            return True
        start = world.start + 2 * (world.start > 0)
        later = World(world.count, start, world.gap + 2, world.draws)
        *_, (_, iteration) = islice(self.walks.along(later), step)
        return iteration is not None and self._is(iteration, wanted)

    def _end(self, world: World) -> Witness | None:
        self.worlds += 1
        f, unit = self.f, self.walks.unit
        states = [s for s, _ in islice(self.walks.along(world), MOST_TO_END)]
        self.looked += len(states)
        last = states[-1]
        self.until = max(self.until, last.now / unit)
        if last.arrived < world.count or last.runs or last.waiting or not self._allows(world, world.count):
            return None
        counts = {name: k * world.count for name, k in end_factors(f.path).items()}
        for stop in self._ends(world, last.now):
            readings: dict[str, Fraction | int] = {"now": Fraction(stop, unit), **counts}
            if not evaluate(self.stated.claim.value, readings):
                return Witness(world, stop / unit, _stops(states), None, stop)
        return None

    def _ends(self, world: World, end: int) -> list[int]:
        """When a run of these sessions may stop: at the end of the last, or before another comes."""
        unit = self.walks.unit
        constants = [x.value for x in walk(self.stated.claim.value) if isinstance(x, Num)]
        near = [int(c * unit) + k for c in constants if 0 <= c < LARGEST for k in (-1, 0, 1)]
        following = math.inf if self.f.arrivals.kind == "batch" else world.start + world.count * world.gap
        later = [t for t in [*near, 2 * end + 1, 1000 * unit + end] if end < t < following]
        return [end, *later] if end else later  # every run lasts some time


def reads_clock(claim: Expr) -> bool:
    """Whether a claim reads `now`."""
    return any(isinstance(x, Var) and x.name == "now" for x in walk(claim))


def fineness(f: Fragment) -> int:
    """Parts of a tick in which a witness counts time."""
    return FINE if f.arrivals.kind == "any" else 1


def _stops(states: list[State]) -> tuple[tuple[int, State], ...]:
    last, places, work = len(states) - 1, [], 0
    for k, s in enumerate(states):
        work += 1 + len(s.runs)
        if k == last or (k and work > max(CHUNK, 8 * len(s.runs))):
            places.append(k)
            work = 0
    return tuple((b - a, states[b]) for a, b in zip([0, *places], places, strict=False))


def claim_readings(f: Fragment, i: Iteration, fineness: int = 1) -> dict[str, Fraction | int]:
    """What a claim reads of an iteration, by its spelling in the program.

    fineness: of the times of the iteration, in parts of a tick.
    """
    engine = f.engine.name
    readings: dict[str, Fraction | int] = {
        "now": Fraction(i.now, f.ticks * fineness), "tokens": i.tokens, "prefilled": i.prefilled,
        "decoders": i.decoders, "residents": i.residents, "demand": i.demand, "served": i.served,
        "arrived": i.arrived, f"queue({engine})": i.residents, f"busy({engine})": 0,
    }  # fmt: skip
    readings.update(zip(f.register_names, i.registers, strict=True))
    slot = f.path.slot
    if slot is not None:
        readings[f"holders({slot.pool})"] = i.residents
        readings[f"queued({slot.pool})"] = i.waiting
        readings[f"used({slot.pool})"] = i.residents * slot.units
        readings[f"free({slot.pool})"] = slot.cap - i.residents * slot.units
    return readings


# --------------------------------------------------------------------------- worlds


def _worlds(f: Fragment, stated: Stated) -> Iterator[World]:
    kind, amount = f.arrivals.kind, f.arrivals.amount
    for draws in _draws(f, stated):
        if kind == "batch":
            yield World(amount, 0, 0, draws)
        elif kind == "renewal":
            yield World(MOST_SESSIONS, amount, amount, draws)
        else:
            gaps = _gaps(f)
            for count in (2, 5, MOST_SESSIONS) if gaps else ():
                for gap in gaps:
                    yield World(count, 0 if f.arrivals.from_0 else gap, gap, draws)


def _gaps(f: Fragment) -> list[int]:
    """Gaps that are possible, in parts of a tick: odd, with room on both sides."""
    if f.arrivals.gaps is None:
        return []
    low, high = (x * f.ticks * FINE for x in f.arrivals.gaps)
    batch = _full_batch(f)
    wanted = [batch * FINE, 7 * batch * FINE, FINE, 50 * batch * FINE]
    if low > 0:
        wanted += [int(low) + FINE, int(low) + 1]
    if low > 0 and high < math.inf:
        wanted += [int((low + high) / 2), int(high) - 4]
    return list(dict.fromkeys(gap for gap in (g | 1 for g in wanted) if low < gap < high - 3))


def _full_batch(f: Fragment) -> int:
    """How long one prefill of the whole budget takes, in ticks."""
    readings = {name: 0 for name in ("batch.decoding", "waiting.count")}
    readings |= {"batch.tokens": f.budget, "batch.prefilled": f.budget, "running.count": 1}
    readings |= dict(zip(f.register_names, f.registers, strict=True))
    return max(1, int(evaluate(f.execute.expr, readings) * f.ticks))


def _draws(f: Fragment, stated: Stated) -> Iterator[dict[str, int]]:
    """Some values of the draws that the claim speaks of: all large or all small, then mixed."""
    variables = f.path.variables
    values = [3 * f.budget, 1, f.budget + 1, 0, f.budget, 2, 5, max(0, f.budget - 1), 3, -3 * f.budget]
    given = [] if stated.given is None else _near_constants(stated.given.expr)
    choices = [(value,) * len(variables) for value in [*values, *given]]
    for k in range(len(variables)):
        for few, many in ((1, 3 * f.budget), (3 * f.budget, 1)):
            choices.append((few,) * k + (many,) + (few,) * (len(variables) - k - 1))
    mixed = product([3 * f.budget, 1, *given], repeat=len(variables)) if given else ()
    seen = set()
    for choice in chain(choices, islice(mixed, MOST_CHOICES)):
        possible = tuple(v.values.nearest(x) for v, x in zip(variables, choice, strict=True))
        if possible in seen or None in possible:
            continue
        seen.add(possible)
        draws = {v.name: x for v, x in zip(variables, possible, strict=True) if x is not None}
        if stated.given is None or evaluate(stated.given.expr, {**draws, "serial": 0}):
            yield draws


def _near_constants(e: Expr) -> list[int]:
    """Whole numbers at and beside those that an expression compares something with."""
    constants = {math.floor(x.value) for x in walk(e) if isinstance(x, Num) and abs(x.value) < LARGEST}
    return list(dict.fromkeys(c + k for c in sorted(constants) for k in (0, 1, -1)))


def sessions_of(f: Fragment, world: World) -> Sessions:
    """The sessions of a world, as the stepper wants them."""

    def phases(k: int) -> Phases:
        readings = {**world.draws, "serial": k}
        return tuple((mode, int(evaluate(e, readings))) for mode, e in f.path.phases)

    return Sessions(world.count, lambda k: world.start + k * world.gap, phases)


# ----------------------------------------------------------------------------- text


def state_text(s: State) -> str:
    """A state as a Lean term."""
    runs = ", ".join(map(_run_text, s.runs))
    waiting = ", ".join(map(_phases_text, s.waiting))
    registers = ", ".join(map(str, s.registers))
    return f"⟨{s.now}, {s.arrived}, {s.served}, [{runs}], [{waiting}], {s.ticket}, {s.joined}, [{registers}]⟩"


def _run_text(r: Run) -> str:
    decoding = "true" if r.decoding else "false"
    return f"⟨{r.ticket}, {r.joined}, {decoding}, {r.remaining}, {_phases_text(r.later)}⟩"


def _phases_text(phases: Phases) -> str:
    return "[" + ", ".join(f".{mode} {tokens}" for mode, tokens in phases) + "]"
