"""The machine of `Model.lean`, step by step in Python: states and iterations of a program.

It is there to find states that Lean then confirms: the same functions, on the same numbers, in the
same order, so that a state written out is the one that the model computes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from fractions import Fraction
from functools import partial

from attrs import evolve, frozen

from serq.lean.exact import evaluate
from serq.lean.fragment import Fragment
from serq.lean.schedule import Admit, Advance, Alone, Assign, Branch, Clause, Done, Steps

Phases = tuple[tuple[str, int], ...]
"""Mode ("prefill" or "decode") and tokens of runs."""


@frozen
class Sessions:
    """What comes from outside: how many sessions, when each comes (ticks), what it runs."""

    count: int
    time: Callable[[int], int]
    phases: Callable[[int], Phases]


@frozen
class Run:
    """A run at the engine, as in `Model.lean`."""

    ticket: int
    joined: int
    decoding: bool
    remaining: int
    later: Phases


@frozen
class State:
    """The engine when it may start an iteration, as in `Model.lean`."""

    now: int
    arrived: int
    served: int
    runs: tuple[Run, ...]
    waiting: tuple[Phases, ...]
    ticket: int
    joined: int
    registers: tuple[int, ...]


@frozen
class Iteration:
    """What a claim reads, as in `Model.lean`."""

    now: int
    tokens: int
    prefilled: int
    decoders: int
    residents: int
    demand: int
    served: int
    arrived: int
    waiting: int
    registers: tuple[int, ...]


@frozen
class _Forming:
    left: int
    batch: tuple[tuple[Run, int], ...]
    rest: tuple[Run, ...]
    waiting: tuple[Phases, ...]
    ticket: int
    joined: int
    registers: tuple[int, ...]
    admitted: int

    @property
    def runs(self) -> tuple[Run, ...]:
        return (*(run for run, _ in self.batch), *self.rest)

    @property
    def tokens(self) -> int:
        return sum(n for _, n in self.batch)

    @property
    def prefilled(self) -> int:
        return sum(n for run, n in self.batch if not run.decoding)

    @property
    def decoders(self) -> int:
        return sum(run.decoding for run, _ in self.batch)


class Stepper:
    """Goes from state to state of one program."""

    def __init__(self, fragment: Fragment, fineness: int = 1) -> None:
        """fineness: states count time in so many parts of a tick."""
        self.fragment = fragment
        self.fineness = fineness
        slot = fragment.path.slot
        self.slots = None if slot is None else slot.count
        self.names = fragment.register_names

    # ------------------------------------------------------------ a run of the program

    def states(self, w: Sessions) -> Iterator[tuple[State, Iteration | None]]:
        """The states of a run from its start, each with the iteration that starts there, if one does."""
        s = self.initial(w)
        while True:
            f = self.form(s)
            yield s, self.iteration(s, f) if f.tokens else None
            following = self._next(w, s, f)
            if following is None:
                return
            s = following

    def initial(self, w: Sessions) -> State:
        arrived = _up_to(w, 0, 0)
        s = State(0, arrived, 0, (), (), 0, 0, self.fragment.registers)
        return self._come(s, _between(w, 0, arrived))

    def iteration(self, s: State, f: _Forming) -> Iteration:
        demand = sum(self._want(r) for r in f.runs)
        return Iteration(
            s.now, f.tokens, f.prefilled, f.decoders, len(f.runs), demand, s.served, s.arrived,
            len(f.waiting), f.registers,
        )  # fmt: skip

    def _next(self, w: Sessions, s: State, f: _Forming) -> State | None:
        if not f.tokens:
            return self._wait(w, s, f) if s.arrived < w.count else None
        duration = self.duration(f)
        if duration <= 0:
            return None
        return self._after(w, s, f, s.now + duration)

    def duration(self, f: _Forming) -> int:
        """How long a batch takes, in ticks."""
        readings = {
            "batch.tokens": f.tokens, "batch.prefilled": f.prefilled, "batch.decoding": f.decoders,
            "running.count": len(f.runs), "waiting.count": len(f.waiting),
            **self._registers(f.registers),
        }  # fmt: skip
        return int(evaluate(self.fragment.execute.expr, readings) * self.fragment.ticks * self.fineness)

    def _after(self, w: Sessions, s: State, f: _Forming, stop: int) -> State:
        during = _up_to(w, stop - 1, s.arrived)
        arrived = _up_to(w, stop, during)
        before = arrived if during == s.arrived else during
        unfinished = [evolve(r, remaining=r.remaining - n) for r, n in f.batch if n != r.remaining]
        finished = [(r.ticket, r.later) for r, n in f.batch if n == r.remaining]
        ended = State(
            stop, arrived, s.served + f.tokens, (*unfinished, *f.rest), f.waiting, f.ticket, f.joined,
            f.registers,
        )  # fmt: skip
        ended = self._come(ended, _between(w, s.arrived, before))
        return self._come(_join(ended, finished), _between(w, before, arrived))

    def _wait(self, w: Sessions, s: State, f: _Forming) -> State:
        if f.admitted:
            s = evolve(
                s, runs=f.rest, waiting=f.waiting, ticket=f.ticket, joined=f.joined,
                registers=f.registers,
            )  # fmt: skip
        now, known = w.time(s.arrived), s.arrived
        s = evolve(s, now=now, arrived=_up_to(w, now, known))
        return self._come(s, _between(w, known, s.arrived))

    def _come(self, s: State, sessions: Sequence[Phases]) -> State:
        if self.slots is None:
            return _join(s, [(0, phases) for phases in sessions])
        return evolve(s, waiting=(*s.waiting, *sessions))

    # ------------------------------------------------------------ one batch

    def form(self, s: State) -> _Forming:
        f = _Forming(self.fragment.budget, (), s.runs, s.waiting, s.ticket, s.joined, s.registers, 0)
        return self._follow(self.fragment.schedule, f)

    def _follow(self, steps: Steps, f: _Forming) -> _Forming:
        while True:
            match steps:
                case Done():
                    return f
                case Advance(only=only, keys=keys, after=after):
                    running = self._running(f)
                    f = self._serve(f, partial(self._passes, only, running), self._order(keys, running))
                    steps = after
                case Alone(after=after):
                    prefills = [r for r in sorted(f.rest, key=_standing) if not r.decoding]
                    f = self._serve(f, prefills[:1].__contains__, _standing)
                    steps = after
                case Admit(only=only, condition=condition, after=after):
                    f = self._admit(f, only, condition)
                    steps = after
                case Assign(register=register, value=value, after=after):
                    registers = list(f.registers)
                    registers[register] = int(evaluate(value.expr, self._plan(f)))
                    f = evolve(f, registers=tuple(registers))
                    steps = after
                case Branch(test=test, yes=yes, no=no):
                    steps = yes if evaluate(test.expr, self._plan(f)) else no

    def _admit(self, f: _Forming, only: Clause | None, condition: Clause | None) -> _Forming:
        while f.waiting:
            allowed = condition is None or evaluate(condition.expr, self._plan(f))
            full = self.slots is not None and self.slots <= len(f.runs)
            if not f.left or not allowed or full:
                break
            newcomer = _start(f.ticket, f.joined, f.waiting[0])
            g = evolve(
                f, rest=(*f.rest, *newcomer), waiting=f.waiting[1:], ticket=f.ticket + 1,
                joined=f.joined + 1, admitted=f.admitted + 1,
            )  # fmt: skip
            served, rest = self._pass(partial(self._passes, only, self._running(g)), f.left, newcomer)
            f = evolve(
                g, left=f.left - sum(n for _, n in served), batch=(*f.batch, *served),
                rest=(*f.rest, *rest),
            )  # fmt: skip
        return f

    def _serve(self, f: _Forming, test: Callable[[Run], bool], key: Callable[[Run], object]) -> _Forming:
        served, rest = self._pass(test, f.left, sorted(f.rest, key=key))  # type: ignore[arg-type]
        left = f.left - sum(n for _, n in served)
        return evolve(f, left=left, batch=(*f.batch, *served), rest=tuple(rest))

    def _pass(
        self, test: Callable[[Run], bool], left: int, runs: Sequence[Run]
    ) -> tuple[list[tuple[Run, int]], list[Run]]:
        served, rest = [], []
        for r in runs:
            if left and test(r):
                n = min(left, self._want(r))
                served.append((r, n))
                left -= n
            else:
                rest.append(r)
        return served, rest

    def _want(self, r: Run) -> int:
        if r.decoding:
            return min(1, r.remaining)
        return r.remaining if self.fragment.most is None else min(self.fragment.most, r.remaining)

    # ------------------------------------------------------------ what is read

    def _registers(self, registers: tuple[int, ...]) -> dict[str, Fraction | int]:
        return dict(zip(self.names, registers, strict=True))

    def _running(self, f: _Forming) -> dict[str, Fraction | int]:
        return {
            "running.count": len(f.runs),
            "running.decoding": sum(r.decoding for r in f.runs),
            "waiting.count": len(f.waiting),
            **self._registers(f.registers),
        }

    def _plan(self, f: _Forming) -> dict[str, Fraction | int]:
        return {
            **self._running(f),
            "running.preempted": 0,
            "waiting.admitted": f.admitted,
            "batch.tokens": f.tokens,
            "batch.prefilled": f.prefilled,
        }

    def _passes(self, only: Clause | None, running: Mapping[str, Fraction | int], r: Run) -> bool:
        return only is None or bool(evaluate(only.expr, {**running, **_of(r)}))

    def _order(
        self, keys: tuple[Clause, ...] | None, running: Mapping[str, Fraction | int]
    ) -> Callable[[Run], object]:
        if keys is None:
            return lambda r: (not r.decoding, r.ticket, r.joined)
        if not keys:
            return _standing
        return lambda r: (*(evaluate(k.expr, {**running, **_of(r)}) for k in keys), *_standing(r))


def _of(r: Run) -> dict[str, Fraction | int]:
    return {"decoding": int(r.decoding), "remaining": r.remaining}


def _standing(r: Run) -> tuple[int, int]:
    return r.ticket, r.joined


def _start(ticket: int, joined: int, phases: Phases) -> tuple[Run, ...]:
    if not phases:
        return ()
    (mode, tokens), *later = phases
    return (Run(ticket, joined, mode == "decode", tokens, tuple(later)),)


def _join(s: State, sessions: Sequence[tuple[int, Phases]]) -> State:
    runs = [r for k, (ticket, phases) in enumerate(sessions) for r in _start(ticket, s.joined + k, phases)]
    return evolve(s, runs=(*s.runs, *runs), joined=s.joined + len(sessions))


def _up_to(w: Sessions, time: int, known: int) -> int:
    while known < w.count and w.time(known) <= time:
        known += 1
    return known


def _between(w: Sessions, a: int, b: int) -> list[Phases]:
    return [w.phases(k) for k in range(a, b)]
