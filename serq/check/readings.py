"""Every expression of a program with the moment at which it is read."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from attrs import frozen

from serq.ir.claim import AtEnd
from serq.ir.expr import Expr, Place
from serq.ir.moments import Moment
from serq.ir.program import Program
from serq.ir.schedule import (
    Admit,
    Advance,
    ForRequests,
    ScheduleBranch,
    ScheduleStatement,
    SetName,
    SetRegister,
    SetTag,
    parts_of,
)
from serq.ir.server import (
    Block,
    Branch,
    Choose,
    Drop,
    Grow,
    Hold,
    Load,
    Observe,
    Release,
    Run,
    Set,
    Statement,
    While,
    blocks_of,
)
from serq.ir.stage import Engine, SharedProcessor
from serq.ir.workload import Renewal, Slotted
from serq.source import Span


@frozen
class Reading:
    """An expression where it stands.

    engine: the engine of whose clause, queue or claim it is a part; its registers may be read.
    blame: where complaints go that concern the whole, None for the part itself. locals: whether a
    schedule's `let`s may be read.
    """

    expr: Expr
    moment: Moment
    engine: str | None = None
    blame: Span | None = None
    locals: bool = False


def readings(program: Program) -> Iterator[Reading]:
    """All expressions of a program; an index of a place is a part of what reads it."""
    match program.workload.arrival if program.workload is not None else None:
        case Renewal(gap=drawn, at=at) | Slotted(count=drawn, at=at):
            yield Reading(drawn, Moment.GAP, blame=at)
    engines = {pool.name: pool.engine for pool in program.pools}
    for statement in statements_of(program):
        yield from statement_readings(statement, engines)
    for stage in program.stages:
        if isinstance(stage, SharedProcessor):
            yield Reading(stage.capacity, Moment.CAPACITY)
        elif isinstance(stage, Engine):
            yield from engine_readings(stage)
    for pool in program.pools:
        yield from (Reading(k, Moment.SELECT, pool.engine) for k in pool.queue_keys or ())
        yield from (Reading(k, Moment.EVICT) for k in pool.evict_keys or ())
        if pool.preempt is not None:
            yield from (Reading(k, Moment.VICTIM) for k in pool.preempt.keys)
        if pool.spill is not None:
            yield Reading(pool.spill.work, Moment.EVICT)
            yield Reading(pool.spill.condition, Moment.EVICT)
    for gauge in program.gauges:
        yield Reading(gauge.value, Moment.GAUGE)
    for claim in program.claims:
        if claim.given is not None:
            yield Reading(claim.given, Moment.GIVEN)
        if isinstance(claim, AtEnd):
            yield Reading(claim.value, Moment.END)
        else:
            yield Reading(claim.value, Moment.ITERATION, claim.engine.name)


def engine_readings(engine: Engine) -> Iterator[Reading]:
    """The expressions of an engine."""
    name = engine.name
    yield Reading(engine.tokens_cap, Moment.CAP, name)
    yield from (Reading(let.value, Moment.CAP, name, locals=True) for let in engine.schedule.lets)
    if engine.schedule.each_at_most is not None:
        yield Reading(engine.schedule.each_at_most, Moment.CAP, name, locals=True)
    for s in schedule_statements(engine.schedule.statements):
        match s:
            case Advance(keys=keys, only=only):
                yield from (Reading(key, Moment.KEY, name) for key in keys)
                if only is not None:
                    yield Reading(only, Moment.ONLY, name)
            case Admit(only=only, condition=condition):
                if only is not None:
                    yield Reading(only, Moment.ONLY, name)
                if condition is not None:
                    yield Reading(condition, Moment.PLAN, name)
            case ScheduleBranch(test=test):
                yield Reading(test, Moment.PLAN, name)
            case SetRegister(value=value, index=index):
                yield Reading(value, Moment.PLAN, name)
                if index is not None:
                    yield Reading(index, Moment.PLAN, name)
            case SetTag(value=value) | SetName(value=value):
                yield Reading(value, Moment.PLAN, name)
            case ForRequests(keys=keys, where=where):
                yield from (Reading(key, Moment.PLAN, name) for key in keys)
                if where is not None:
                    yield Reading(where, Moment.PLAN, name)
            case _:
                pass
    yield Reading(engine.execute, Moment.EXECUTE, name)


def schedule_statements(statements: Sequence[ScheduleStatement]) -> Iterator[ScheduleStatement]:
    """All statements of a schedule, those in branches and loops after what is around them."""
    for s in statements:
        yield s
        for inside in parts_of(s):
            yield from schedule_statements(inside)


def statements_of(program: Program) -> Iterator[Statement]:
    """All statements of a program, those in a block after the statement around it."""
    if program.workload is not None:
        for block in (program.workload.init, program.workload.turn, program.workload.session):
            yield from statements_in(block)
    yield from statements_in(program.server)


def statements_in(block: Block) -> Iterator[Statement]:
    """The statements of a block, each before those of the blocks in it."""
    for s in block:
        yield s
        for inner in blocks_of(s):
            yield from statements_in(inner)


def statement_readings(s: Statement, engines: dict[str, str | None]) -> Iterator[Reading]:
    """The expressions of one statement, without those of the blocks in it.

    engines: the engine that admits each pool.
    """
    session = Moment.SESSION
    for place in places_of(s):
        if place.index is not None:
            yield Reading(place.index, session)
    match s:
        case Set(value=value) | Observe(value=value):
            yield Reading(value, session)
        case Run(work=work):
            yield Reading(work, session)
        case Grow(amount=amount) | Load(amount=amount):
            yield Reading(amount, session)
        case Branch(test=test) | While(test=test):
            yield Reading(test, session)
        case Choose(count=count, keys=keys):
            yield Reading(count, session)
            yield from (Reading(key, session) for key in keys)
        case Hold():
            admits = engines.get(s.parts[0].place.name) if s.parts else None
            for part in s.parts:
                header = (part.units,) if part.reserve is None else (part.units, part.reserve)
                yield from (Reading(e, Moment.ADMIT, admits, part.at) for e in header)
            if s.reuse is not None:
                yield Reading(s.reuse, Moment.ADMIT, admits, s.parts[0].at)
            yield from (Reading(b.value, Moment.ADMIT, admits, b.at) for b in s.bindings)
            if s.cache is not None:
                yield Reading(s.cache, session)
            if s.lease is not None:
                yield Reading(s.lease[1], session)
        case _:
            pass


def places_of(s: Statement) -> tuple[Place, ...]:
    """The resources that a statement itself names."""
    match s:
        case Run(places=places, growing=growing):
            return places if growing is None else (*places, growing)
        case Hold(parts=parts, lease=lease):
            held = tuple(part.place for part in parts)
            return held if lease is None else (*held, lease[0])
        case Grow(place=place) | Load(place=place) | Drop(place=place) | Release(place=place):
            return (place,)
        case _:
            return ()
