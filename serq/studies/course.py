"""One run of a program up to N arrivals: how its backlog goes, which is what stability is told from."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
from attrs import evolve, frozen

from serq.diagnostics import ProgramError, diagnose
from serq.ir.expr import Draw, Var, walk
from serq.ir.jsonform import program_from_json, program_to_json
from serq.ir.program import Program
from serq.ir.server import Block, Branch, Fork, Hold, Loop, Observe, Run, Statement, While, blocks_of
from serq.machine.fused.fragment import find_fused
from serq.machine.loop import Machine, run_program
from serq.machine.records import Outcome
from serq.machine.settings import Settings

CAME, BROUGHT = "when it came", "tokens it brought"
"""Observations that are added to a program; no program has names like these."""


@frozen
class Mark:
    """The state right after an arrival. gone: sessions that have come and gone."""

    time: float
    backlog: int
    gone: int


@frozen
class Course:
    """One run up to N arrivals. marks: after a half, three quarters and all of them.

    empties: when sessions came to an empty system. events: handled. work: tokens for each session that
    went; None when nobody did.
    """

    marks: tuple[Mark, Mark, Mark]
    empties: tuple[float, ...]
    events: int
    work: float | None


@frozen
class FollowSeeds:
    """The work of following the backlog of a program: a task is a seed and a number of arrivals."""

    program: str

    @classmethod
    def of(cls, program: Program) -> FollowSeeds:
        """The work for a checked program, without what only reads."""
        return cls(program_to_json(evolve(program, claims=(), gauges=())))

    def start(self) -> Callable[[tuple[int, int]], Course]:
        """What follows a run."""
        program = program_from_json(self.program, "<program>")
        observed = _observed(program)
        if observed is None:
            return lambda task: watch_course(program, *task)
        return lambda task: read_course(observed, *task)


def _marks_at(arrivals: int) -> tuple[int, int, int]:
    return arrivals // 2, 3 * arrivals // 4, arrivals


# ---------------------------------------------------------------- any program: by watching it


class _Enough(Exception):
    """The last arrival that is looked at has come."""


class _Watch:
    """Takes note of the backlog, and stops the run after so many arrivals."""

    def __init__(self, arrivals: int) -> None:
        self.at = _marks_at(arrivals)
        self.marks: list[Mark] = []
        self.served: list[float] = []
        self.empties: list[float] = []

    def watch(self, machine: Machine) -> None:
        def look(_: object) -> None:
            if machine.live == 1:
                self.empties.append(machine.now)
            if machine.arrived in self.at:
                self.served.append(sum(engine.served for engine in machine.engines))
                self.marks.append(Mark(machine.now, machine.live, machine.ended))
                if machine.arrived == self.at[-1]:
                    raise _Enough

        machine.on_session.append(look)

    def finish(self, machine: Machine) -> list[Outcome]:
        return []


def watch_course(program: Program, seed: int, arrivals: int) -> Course:
    """Run a program up to so many arrivals, looking on as sessions come."""
    machine = Machine(program, Settings(horizon=math.inf, seed=seed))
    watch = _Watch(arrivals)
    watch.watch(machine)
    try:
        machine.run()
    except _Enough:
        half, later, end = watch.marks
        gone = end.gone - half.gone
        work = (watch.served[-1] - watch.served[0]) / gone if gone else None
        return Course((half, later, end), tuple(watch.empties), machine.events, work)
    raise ProgramError([diagnose("SQ0938", kind="a stream that ends")])


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


def read_course(program: Program, seed: int, arrivals: int) -> Course:
    """Let so many sessions come and go, and count who was there when each came.

    Who leaves at the very instant at which another comes is gone by then.
    """
    settings = Settings(horizon=math.inf, seed=seed, arrivals=arrivals)
    try:
        record = run_program(program, settings)
    except ProgramError:  # somebody never goes, perhaps; or the run cannot go on, which is then said again
        return watch_course(program, seed, arrivals)
    if len(record.client["response"].times) < arrivals:  # who is rejected goes without a response
        return watch_course(program, seed, arrivals)
    came = np.array(record.observes[CAME].times)
    went = np.sort(np.array(record.client["response"].times))
    gone = np.searchsorted(went, came, side="right")
    backlog = np.arange(1, arrivals + 1) - gone
    half, later, end = (
        Mark(float(came[n - 1]), int(backlog[n - 1]), int(gone[n - 1])) for n in _marks_at(arrivals)
    )
    empties = tuple(came[backlog == 1].tolist())
    work = math.fsum(record.observes[BROUGHT].values) / arrivals
    return Course((half, later, end), empties, record.events, work)
