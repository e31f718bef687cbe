"""One run of a program up to N arrivals: how its backlog grows, and goes when no more come.

That is what stability is told from. A backlog that nobody can serve takes twice as long to go when it is
twice as large; one that is there because sessions stay long does not.
"""

from __future__ import annotations

import math
import time
from collections import deque
from collections.abc import Callable, Iterator

import numpy as np
from attrs import evolve, frozen

from serq.diagnostics import ProgramError, diagnose
from serq.ir.expr import Draw, Var, walk
from serq.ir.jsonform import program_from_json, program_to_json
from serq.ir.program import Program
from serq.ir.server import Block, Branch, Fork, Hold, Loop, Observe, Run, Statement, While, blocks_of
from serq.machine.fused import run_loop
from serq.machine.fused.fragment import find_fused
from serq.machine.loop import Machine
from serq.machine.pools import PoolMember
from serq.machine.sessions import Session
from serq.machine.settings import PROGRESS_EVERY, Settings
from serq.machine.stages.base import StageMember

CAME, BROUGHT = "when it came", "tokens it brought"
"""Observations that are added to a program; no program has names like these."""

MOST_DRAIN = 30
"""The rest is waited for while a run takes so many times the events that it took up to the last arrival."""

FAR = 2.0**53 - 1
"""The horizon of a run that ends by itself; whole times up to here are exact."""


@frozen
class Mark:
    """The state right after an arrival.

    gone: sessions that have come and gone. oldest: arrivals since the one came that has been there
    longest, itself included; 0 if nobody is there.
    """

    time: float
    backlog: int
    gone: int
    oldest: int


@frozen
class Line:
    """Jobs at a stage, or holds at a pool, at the three marks of a run: present there, and served so far.

    drain: time after the last arrival until half of those present then have gone, as for a `Course`.
    """

    name: str
    present: tuple[int, int, int]
    served: tuple[int, int, int]
    drain: float


@frozen
class Course:
    """One run up to N arrivals. marks: after a half, three quarters and all of them.

    drain: time after the last arrival until half of the backlog has gone; infinite if it does not, and no
    number if that was not waited for. lines: wherever not all sessions, or not only they, may have to wait.
    empties: when sessions came to an empty system. events: handled. work: tokens for each session that went;
    None when nobody did.
    """

    marks: tuple[Mark, Mark, Mark]
    drain: float
    lines: tuple[Line, ...]
    empties: tuple[float, ...]
    events: int
    work: float | None


class Spent(Exception):
    """A run has handled as many events as it may, or the time is up."""


@frozen
class FollowSeeds:
    """The work of following the backlog of a program.

    A task is a seed, a number of arrivals and the events that it may take; its result is None when they do
    not suffice. deadline: seconds since the epoch; a task that is not done by then has no result either.
    """

    program: str
    deadline: float = math.inf

    @classmethod
    def of(cls, program: Program, deadline: float = math.inf) -> FollowSeeds:
        """The work for a checked program, without what only reads."""
        return cls(program_to_json(evolve(program, claims=(), gauges=())), deadline)

    def start(self) -> Callable[[tuple[int, int, int]], Course | None]:
        """What follows a run."""
        program = program_from_json(self.program, "<program>")
        observed = _observed(program)

        def follow(task: tuple[int, int, int]) -> Course | None:
            seed, arrivals, most = task
            bound = Bound(most, self.deadline)
            try:
                bound.check(0)
                if observed is None:
                    return watch_course(program, seed, arrivals, bound)
                return read_course(observed, seed, arrivals, bound)
            except Spent:
                return None

        return follow


@frozen
class Bound:
    """The most events that a run may handle, and when it has to be done (seconds since the epoch)."""

    events: float = math.inf
    deadline: float = math.inf

    def check(self, events: float) -> None:
        """Raises Spent when either has passed."""
        if events > self.events or time.time() > self.deadline:
            raise Spent


UNBOUNDED = Bound()


def _marks_at(arrivals: int) -> tuple[int, int, int]:
    return arrivals // 2, 3 * arrivals // 4, arrivals


# ---------------------------------------------------------------- any program: by watching it


class _Enough(Exception):
    """Enough has been seen."""


class _Watch:
    """Takes note of the backlog up to so many arrivals, and then of how fast it goes."""

    def __init__(self, machine: Machine, arrivals: int) -> None:
        self.machine = machine
        self.at = _marks_at(arrivals)
        self.places = list(waiting_places(machine))
        self.marks: list[Mark] = []
        self.counts: list[list[tuple[int, int]]] = []
        self.served: list[float] = []
        self.empties: list[float] = []
        self.there: deque[Session] = deque()
        self.last_events = math.inf
        # How many there may still be when half have gone; the backlog first, then each place.
        self.halves: list[int] = []
        self.drains = [math.inf] * (1 + len(self.places))
        machine.on_session.append(self.look_at_arrival)

    def look_at_arrival(self, session: Session) -> None:
        machine, there = self.machine, self.there
        there.append(session)
        while there[0].ended:
            there.popleft()
        if machine.live == 1:
            self.empties.append(machine.now)
        if machine.arrived in self.at:
            oldest = machine.arrived - there[0].serial
            self.served.append(sum(engine.served for engine in machine.engines))
            self.marks.append(Mark(machine.now, machine.live, machine.ended, oldest))
            self.counts.append([count_at(place) for place in self.places])
            if machine.arrived == self.at[-1]:
                self.halves = [machine.live // 2, *(present // 2 for present, _ in self.counts[-1])]
                self.last_events = machine.events
                machine.on_instant.append(self.look_at_rest)

    def look_at_rest(self) -> None:
        """Whether half of the backlog, or of a line, has gone."""
        machine = self.machine
        going = False
        for k, half in enumerate(self.halves):
            if self.drains[k] == math.inf:
                present = machine.live if k == 0 else count_at(self.places[k - 1])[0]
                if present <= half:
                    self.drains[k] = machine.now - self.marks[-1].time
                else:
                    going = True
        if not going:
            raise _Enough
        if machine.events > MOST_DRAIN * self.last_events:
            self.drains = [math.nan if drain == math.inf else drain for drain in self.drains]
            raise _Enough


def waiting_places(machine: Machine) -> Iterator[StageMember | PoolMember]:
    """Where jobs or holds can wait: every stage with a limit, and every pool."""
    for members in machine.stages.values():
        yield from (m for m in members if m.is_engine or m.servers < math.inf)
    for pools in machine.pools.values():
        yield from pools


def count_at(place: StageMember | PoolMember) -> tuple[int, int]:
    """Jobs or waiting holds that are at a place, and those that it has served."""
    if isinstance(place, PoolMember):
        return place.queued_count, place.tally.admissions
    return place.present, place.tally.completed


def watch_course(program: Program, seed: int, arrivals: int, bound: Bound = UNBOUNDED) -> Course:
    """Run a program up to so many arrivals, looking on as sessions come and go. Raises Spent."""
    machine = Machine(program, Settings(horizon=math.inf, seed=seed, arrivals=arrivals))
    watch = _Watch(machine, arrivals)
    try:
        machine.run(lambda *_: bound.check(machine.events))
    except _Enough:
        pass
    except ProgramError as error:
        if error.diagnostics[0].code != "SQ0610":  # Who waits in vain never goes.
            raise
    if len(watch.marks) < len(watch.at):
        raise ProgramError([diagnose("SQ0938", kind="a stream that ends")])
    half, later, end = watch.marks
    gone = end.gone - half.gone
    work = (watch.served[-1] - watch.served[0]) / gone if gone else None
    lines = []
    for place, counts, drain in zip(
        watch.places, zip(*watch.counts, strict=True), watch.drains[1:], strict=True
    ):
        (a, x), (b, y), (c, z) = counts
        name = place.name if place.index is None else f"{place.name}[{place.index}]"
        lines.append(Line(name, (a, b, c), (x, y, z), drain))
    return Course(
        (half, later, end), watch.drains[0], tuple(lines), tuple(watch.empties), machine.events, work
    )


# ---------------------------------------------------------------- simple programs: from what they record


def _observed(program: Program) -> Program | None:
    """The program with observations that tell the course of a run, which then may be run as one loop;
    None when the machine would not do that, or when they would change what is drawn."""
    workload = program.workload
    if isinstance(find_fused(program), str) or workload is None or _draws_work(program.server):
        return None
    return evolve(
        program,
        workload=evolve(workload, init=(Observe(CAME, Var("now")), *workload.init)),
        server=_with_work(program.server),
        observes=(*program.observes, CAME, BROUGHT),
    )


def _draws_work(block: Block) -> bool:
    return any(
        (isinstance(s, Run) and any(isinstance(e, Draw) for e in walk(s.work)))
        or any(map(_draws_work, blocks_of(s)))
        for s in block
    )


def _with_work(block: Block) -> Block:
    """A block that observes the work of each run before it."""
    found: list[Statement] = []
    for s in block:
        match s:
            case Run(work=work):
                found += [Observe(BROUGHT, work), s]
            case Branch(then=then, otherwise=otherwise):
                found.append(evolve(s, then=_with_work(then), otherwise=_with_work(otherwise)))
            case While(body=body) | Loop(body=body) | Fork(body=body) | Hold(body=body):
                found.append(evolve(s, body=_with_work(body)))
            case _:
                found.append(s)
    return tuple(found)


def read_course(program: Program, seed: int, arrivals: int, bound: Bound = UNBOUNDED) -> Course:
    """Let so many sessions come and go, and count who was there when each came. Raises Spent.

    Who leaves at the very instant at which another comes is gone by then.
    """
    machine = Machine(program, Settings(horizon=FAR, seed=seed, arrivals=arrivals))
    reports = 0

    def report(*_: float) -> None:
        nonlocal reports
        reports += 1
        bound.check(reports * PROGRESS_EVERY)

    # Not if somebody never goes, or if the run cannot go on, which is then said again.
    over = run_loop(machine, report)
    response = machine.client["response"]
    if not over or len(response.times) < arrivals:  # who is rejected goes without a response
        return watch_course(program, seed, arrivals, bound)
    came = np.array(machine.observes[CAME].times)
    went = np.empty(arrivals)
    went[np.array(response.sessions)] = response.times
    brought = machine.observes[BROUGHT]
    work = np.bincount(np.array(brought.sessions, dtype=int), np.array(brought.values), arrivals)
    marks, backlog = _count(came, went)
    busy = work > 0
    lines = []
    if not busy.all():
        name, at = machine.engines[0].name, [int(busy[:n].sum()) for n in _marks_at(arrivals)]
        there = [int((busy[:n] & (went[:n] > came[n - 1])).sum()) for n in _marks_at(arrivals)]
        served = [n - left for n, left in zip(at, there, strict=True)]
        drain = _drain(came, went[busy])
        lines.append(Line(name, (there[0], there[1], there[2]), (served[0], served[1], served[2]), drain))
    empties = tuple(came[backlog == 1].tolist())
    drain = _drain(came, went)
    return Course(marks, drain, tuple(lines), empties, machine.events, math.fsum(work) / arrivals)


def _drain(came: np.ndarray, went: np.ndarray) -> float:
    """Time after the last arrival until half of those present then have gone."""
    later = np.sort(went[went > came[-1]])
    return float(later[(len(later) + 1) // 2 - 1] - came[-1]) if len(later) else 0.0


def _count(came: np.ndarray, went: np.ndarray) -> tuple[tuple[Mark, Mark, Mark], np.ndarray]:
    """The marks of a run, from when each session came and went, and who was there when each came."""
    arrivals = len(came)
    gone = np.searchsorted(np.sort(went), came, side="right")
    backlog = np.arange(1, arrivals + 1) - gone

    def mark(n: int) -> Mark:
        there = went[:n] > came[n - 1]
        oldest = n - int(there.argmax()) if there.any() else 0
        return Mark(float(came[n - 1]), int(backlog[n - 1]), int(gone[n - 1]), oldest)

    half, later, end = _marks_at(arrivals)
    return (mark(half), mark(later), mark(end)), backlog
