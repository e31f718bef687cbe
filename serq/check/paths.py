"""Paths that could not work: loops in which time stands still, schedules that do nothing, legs."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from serq.check.complaints import Complaints
from serq.check.fold import constant
from serq.check.readings import places_of, schedule_statements, statements_in, statements_of
from serq.diagnostics import Note
from serq.ir.pool import Pool
from serq.ir.program import Program
from serq.ir.schedule import (
    Admit,
    AdmitOne,
    Advance,
    AdvanceOne,
    ExclusivePrefill,
    ForIndex,
    ForRequests,
    ScheduleBranch,
    ScheduleStatement,
)
from serq.ir.server import (
    Block,
    Branch,
    End,
    Fork,
    Hold,
    Join,
    Loop,
    Observe,
    Run,
    Set,
    Statement,
    Turn,
    While,
    blocks_of,
)
from serq.ir.stage import Engine
from serq.ir.workload import Workload


def check_paths(program: Program, complaints: Complaints) -> None:
    """Complain about statements that no run could get through, or that stand where they cannot."""
    for stage in program.stages:
        if isinstance(stage, Engine) and not gives(stage.schedule.statements):
            complaints.missing("SQ0556", stage.schedule.at, engine=stage.name)
    for s in statements_of(program):
        if isinstance(s, Loop | While) and not passes_time(s.body):
            word = "loop" if isinstance(s, Loop) else "while"
            complaints.missing("SQ0557", s.at, statement=word)
    if program.workload is not None:
        check_client(program.workload, program.server, complaints)
    for s in statements_in(program.server):
        if isinstance(s, Turn):
            complaints.say("SQ0353", s.at)
    check_legs(program, complaints)
    check_ends(program.server, complaints)


def gives(statements: Sequence[ScheduleStatement]) -> bool:
    """Whether every path advances the running or admits the waiting, or has a loop that does."""
    for s in statements:
        match s:
            case ScheduleBranch(then=then, otherwise=otherwise):
                if gives(then) and gives(otherwise):
                    return True
            case ForRequests(body=body) | ForIndex(body=body):
                if any(isinstance(inside, GIVERS) for inside in schedule_statements(body)):
                    return True
            case _ if isinstance(s, GIVERS):
                return True
            case _:
                pass
    return False


GIVERS = (Advance, Admit, ExclusivePrefill, AdvanceOne, AdmitOne)
"""Statements that may give tokens."""


def passes_time(block: Block) -> bool:
    """Whether time passes, or the session ends, on every path through a block."""
    return any(lets_time_pass(s) for s in block)


def lets_time_pass(s: Statement) -> bool:
    """Whether time passes, or the session ends, on every path through a statement."""
    match s:
        case Run(work=work):
            return constant(work) != 0
        case Hold(body=body):
            return passes_time(body)
        case Branch(then=then, otherwise=otherwise):
            return passes_time(then) and passes_time(otherwise)
        case Turn() | End() | Loop():  # a loop in which no time passes is refused itself
            return True
        case _:
            return False


# -------------------------------------------------------------------- the client


def check_client(workload: Workload, server: Block, complaints: Complaints) -> None:
    """The client turns at least once, and keeps to its own resources."""
    for name, block in (("init", workload.init), ("turn", workload.turn)):
        for s in block:
            if not isinstance(s, Set | Observe):
                complaints.say("SQ0350", s.at, block=name)
    if not any(isinstance(s, Turn) for s in statements_in(workload.session)):
        complaints.missing("SQ0575", workload.at)
    served = {p.name for s in statements_in(server) for p in places_of(s)}
    for s in statements_in(workload.session):
        for place in places_of(s):
            if place.name and place.name in served:
                complaints.say("SQ0576", place.at, name=place.name)


# -------------------------------------------------------------------- legs


def check_legs(program: Program, complaints: Complaints) -> None:
    """A leg is joined, and is only a part of its request."""
    statements = list(statements_of(program))
    forks = [s for s in statements if isinstance(s, Fork)]
    joins = [s for s in statements if isinstance(s, Join)]
    if forks and not joins:
        complaints.missing("SQ0570", forks[0].at)
    if joins and not forks:
        complaints.missing("SQ0571", joins[0].at)
    for fork in forks:
        for s in statements_in(fork.body):
            word = FORBIDDEN_IN_LEGS.get(type(s))
            if word is not None:
                notes = [Note(f"`{word}` stands here", s.at)] if s.at is not None else []
                complaints.say("SQ0572", fork.at, statement=word, notes=notes)
                break
    pools = {pool.name: pool for pool in program.pools}
    for s in statements:
        if isinstance(s, Hold):
            check_preempted_legs(s, pools, complaints)


FORBIDDEN_IN_LEGS: dict[type, str] = {Join: "join", Fork: "fork", Turn: "turn", End: "end"}


def check_preempted_legs(hold: Hold, pools: dict[str, Pool], complaints: Complaints) -> None:
    """A hold that is preempted starts over, and would fork again."""
    for part in hold.parts:
        pool = pools.get(part.place.name)
        if pool is None or pool.preempt is None:
            continue
        for s in statements_in(hold.body):
            if isinstance(s, Fork):
                complaints.say("SQ0573", s.at, pool=pool.name)


def check_ends(server: Block, complaints: Complaints) -> None:
    """A server ends a session outside its holds only."""
    for s in outside_legs(server):
        if isinstance(s, Hold):
            for inner in statements_in(s.body):
                if isinstance(inner, End):
                    pools = ", ".join(f"`{part.place.name}`" for part in s.parts)
                    complaints.say("SQ0574", inner.at, pools=pools)


def outside_legs(block: Iterable[Statement]) -> Iterator[Statement]:
    """The statements of a block and of the blocks in it, but for those of legs."""
    for s in block:
        yield s
        if not isinstance(s, Fork):
            for inner in blocks_of(s):
                yield from outside_legs(inner)
