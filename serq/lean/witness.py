"""Iterations that show something: found by walking through runs, confirmed by Lean's kernel."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from fractions import Fraction
from itertools import islice

from attrs import frozen

from serq.ir.expr import Attr, Expr, walk
from serq.lean.exact import evaluate
from serq.lean.fragment import Fragment, Stated, end_factors
from serq.lean.steps import Iteration, Phases, Run, Sessions, State, Stepper

FEW_STEPS, MOST_STEPS = 60, 1500
"""Steps of one run that are looked at, first and then."""

MOST_WORK = 4_000
"""Runs at the engine, added up over the steps of one run: Lean has to go through them all."""

MOST_STATES = 15_000
"""States that are looked at for one claim."""

MOST_SESSIONS = 60
CHUNK = 150
"""Runs at the engine, and one for each step, between two states that are written out; with much more
Lean's kernel runs out of stack."""


@frozen
class World:
    """One choice of what comes from outside.

    start, gap: session `k` comes at `start + k * gap`. draws: values of the draws, the same for every
    session.
    """

    count: int
    start: int
    gap: int
    draws: Mapping[str, int]


@frozen
class Witness:
    """An iteration, and the way to it.

    now: when it starts, on the program's clock. stops: states on the way, each with the steps from the
    one before; the iteration starts in the last. It is None for an end: nobody is left in the last.
    """

    world: World
    now: float
    stops: tuple[tuple[int, State], ...]
    iteration: Iteration | None

    @property
    def steps(self) -> int:
        return sum(k for k, _ in self.stops)


def find_witness(f: Fragment, stated: Stated, wanted: bool) -> Witness | None:
    """An iteration at which the claim is `wanted`, the first of the first run that has one."""
    if stated.given is not None and any(isinstance(x, Attr) for x in walk(stated.given.expr)):
        return None  # it tells sessions apart by their number
    stepper = Stepper(f)
    looked = 0
    for limit in (FEW_STEPS, MOST_STEPS):
        for world in _worlds(f, stated):
            found, steps = _walk(f, stepper, world, stated.claim.value, wanted, limit)
            looked += steps
            if found is not None or looked > MOST_STATES:
                return found
    return None


def find_ending(f: Fragment, stated: Stated) -> Witness | None:
    """An end at which the claim is false."""
    stepper = Stepper(f)
    for world in _worlds(f, stated):
        for count in [world.count] if f.arrivals.kind == "batch" else [1, 2, 0, 3, 5, 8]:
            sessions = World(count, world.start, world.gap, world.draws)
            states = [s for s, _ in islice(stepper.states(sessions_of(f, sessions)), 10 * FEW_STEPS)]
            last = states[-1]
            ended = last.arrived == count and not last.runs and not last.waiting
            readings: dict[str, Fraction | int] = {"now": Fraction(last.now, f.ticks)}
            readings.update({name: k * count for name, k in end_factors(f.path).items()})
            if ended and not evaluate(stated.claim.value, readings):
                return Witness(sessions, last.now / f.ticks, _stops(states), None)
    return None


def _walk(
    f: Fragment, stepper: Stepper, world: World, claim: Expr, wanted: bool, limit: int
) -> tuple[Witness | None, int]:
    """The witness of one run, and how many states were looked at."""
    work, states = 0, list[State]()
    for s, iteration in stepper.states(sessions_of(f, world)):
        states.append(s)
        if iteration is not None and bool(evaluate(claim, claim_readings(f, iteration))) == wanted:
            # Sessions that come later change nothing of this.
            count = world.count if f.arrivals.kind == "batch" else s.arrived
            sessions = World(count, world.start, world.gap, world.draws)
            return Witness(sessions, iteration.now / f.ticks, _stops(states), iteration), len(states)
        work += 1 + len(s.runs)
        if len(states) > limit or work > MOST_WORK:
            break
    return None, len(states)


def _stops(states: list[State]) -> tuple[tuple[int, State], ...]:
    last, places, work = len(states) - 1, [], 0
    for k, s in enumerate(states):
        work += 1 + len(s.runs)
        if k == last or (k and work > CHUNK):
            places.append(k)
            work = 0
    return tuple((b - a, states[b]) for a, b in zip([0, *places], places, strict=False))


def claim_readings(f: Fragment, i: Iteration) -> dict[str, Fraction | int]:
    """What a claim reads of an iteration, by its spelling in the program."""
    engine = f.engine.name
    readings: dict[str, Fraction | int] = {
        "now": Fraction(i.now, f.ticks), "tokens": i.tokens, "prefilled": i.prefilled,
        "decoders": i.decoders, "residents": i.residents, "demand": i.demand, "served": i.served,
        "arrived": i.arrived, f"queue({engine})": i.residents, f"busy({engine})": 0,
    }  # fmt: skip
    readings.update(zip((r.name for r in f.engine.registers), i.registers, strict=True))
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
            batch = _full_batch(f)
            for count in (2, 5, MOST_SESSIONS):
                for gap in (batch, 7 * batch, 1, 50 * batch):
                    yield World(count, 0 if f.arrivals.from_0 else gap, gap, draws)


def _full_batch(f: Fragment) -> int:
    """How long one prefill of the whole budget takes, in ticks."""
    readings = {name: 0 for name in ("batch.decoding", "waiting.count")}
    readings |= {"batch.tokens": f.budget, "batch.prefilled": f.budget, "running.count": 1}
    readings |= dict(zip((r.name for r in f.engine.registers), f.registers, strict=True))
    return max(1, int(evaluate(f.execute.expr, readings) * f.ticks))


def _draws(f: Fragment, stated: Stated) -> Iterator[dict[str, int]]:
    """Some values of the draws that the claim speaks of: all large or all small, then mixed."""
    variables = f.path.variables
    values = [3 * f.budget, 1, f.budget + 1, 0, f.budget, 2, 5, max(0, f.budget - 1), 3]
    choices = [{v.name: value for v in variables} for value in values]
    for single in variables:
        choices += [{v.name: 1 if v is single else 3 * f.budget for v in variables}]
        choices += [{v.name: 3 * f.budget if v is single else 1 for v in variables}]
    limits = {v.name: v.most for v in variables if v.most is not None}
    seen = set()
    for choice in choices:
        choice = {name: min(value, limits.get(name, value)) for name, value in choice.items()}
        key = tuple(choice.values())
        if key in seen:
            continue
        seen.add(key)
        if stated.given is None or evaluate(stated.given.expr, {**choice, "serial": 0}):
            yield choice


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
