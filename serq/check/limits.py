"""Every number is in the range that has a meaning, as far as it is known before the run.

It is one file: the ranges of the language.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from typing import Any

from serq.check.complaints import Complaints
from serq.check.flows import is_flow
from serq.check.fold import constant
from serq.check.readings import places_of, readings, schedule_statements, statements_of
from serq.check.samples import check_quantile
from serq.check.show import count, number
from serq.diagnostics import Note
from serq.ir.claim import AtEnd
from serq.ir.expr import (
    Binary,
    Conditional,
    Draw,
    Expr,
    Func,
    Local,
    Num,
    Observable,
    Place,
    Summary,
    Unary,
    Var,
    walk,
)
from serq.ir.laws import law_fault, show_draw
from serq.ir.pool import Pool
from serq.ir.program import Program
from serq.ir.schedule import (
    Admit,
    ExclusivePrefill,
    Schedule,
    ScheduleLet,
    ScheduleStatement,
)
from serq.ir.server import Branch, Grow, Hold, Load, Observe, Run, Statement, While
from serq.ir.stage import Engine, Fifo, SharedProcessor, Stage
from serq.ir.workload import (
    MOST_IN_SLOT,
    SMALLEST_GAP,
    Arrival,
    Batch,
    Closed,
    Poisson,
    Renewal,
    Slotted,
    Stages,
    Timed,
)
from serq.source import Span

LARGEST_FAMILY = 10_000
MOST_SESSIONS = 1_000_000
MOST_PASSES = 1_000_000
"""Passes that the loops of one iteration may make."""

SMALLEST_BLOCK = 1e-6


def check_limits(program: Program, complaints: Complaints) -> None:
    """Complain about every constant outside its range."""
    for stage in program.stages:
        check_stage(stage, complaints)
    check_capacities(program, complaints)
    for pool in program.pools:
        check_pool(pool, complaints)
    check_memories(program, complaints)
    if program.workload is not None:
        check_arrival(program.workload.arrival, complaints)
    pools = {pool.name: pool for pool in program.pools}
    for statement in statements_of(program):
        check_statement(statement, pools, complaints)
    check_draws(program, complaints)
    check_members(program, complaints)


def is_count(x: float, most: float, least: float = 1) -> bool:
    """A whole number from `least` to `most`."""
    return least <= x <= most and x == math.floor(x)


# -------------------------------------------------------------------- stages and pools


def check_stage(stage: Stage, complaints: Complaints) -> None:
    """The size of a family, the servers of a line, the numbers of an engine."""
    check_size(stage.size, stage.at, complaints)
    match stage:
        case Fifo(servers=servers):
            if not (1 <= servers < math.inf and servers == math.floor(servers)):
                complaints.say("SQ0514", stage.at, value=number(servers))
        case Engine():
            check_engine(stage, complaints)
        case _:
            pass


def check_capacities(program: Program, complaints: Complaints) -> None:
    """A `ps` stage works; where runs share one, the first of them is complained about (SQ0338)."""
    shared = {place.name for s in statements_of(program) if is_flow(s) for place in places_of(s)}
    for stage in program.stages:
        if isinstance(stage, SharedProcessor) and stage.name not in shared:
            value = constant(stage.capacity)
            if value is not None and not value > 0:
                complaints.say("SQ0517", stage.capacity.at, name=stage.name, value=number(value))


def check_size(size: int | None, at: Span | None, complaints: Complaints) -> None:
    """A family has a whole number of members."""
    if size is not None and not is_count(size, LARGEST_FAMILY):
        complaints.say("SQ0510", at, value=size, limit=LARGEST_FAMILY)


def check_engine(engine: Engine, complaints: Complaints) -> None:
    """The budget, the granule, the registers, the cap per run and the form of the schedule."""
    cap = constant(engine.tokens_cap)
    if cap is not None and not cap > 0:
        complaints.say("SQ0540", engine.tokens_cap.at, value=number(cap))
    for register in engine.registers:
        if not math.isfinite(register.initial):
            complaints.say("SQ0515", register.at, name=register.name, value=number(register.initial))
    for tag in engine.tags:
        if not math.isfinite(tag.initial):
            complaints.say("SQ0515", tag.at, name=tag.name, value=number(tag.initial))
    if engine.schedule.each_at_most is not None:
        check_each(engine.schedule.each_at_most, engine.schedule.lets, complaints)
    check_granule(engine, complaints)
    if exclusive_fault(engine.schedule.statements):
        complaints.say("SQ0555", engine.schedule.at)


def check_granule(engine: Engine, complaints: Complaints) -> None:
    """An engine's granule against its schedule."""
    if engine.granule is not None:
        fault = granule_fault(engine.granule, engine.schedule)
        if fault is not None:
            complaints.say(fault[0], engine.at, **fault[1])


def granule_fault(granule: float, schedule: Schedule) -> tuple[str, dict[str, Any]] | None:
    """Why a granule cannot work: it must leave every prefill something that it may be given."""
    if not granule > 0:
        return "SQ0541", {"value": number(granule)}
    if any(isinstance(s, ExclusivePrefill) for s in schedule_statements(schedule.statements)):
        return "SQ0543", {}
    most = constant(written_out(schedule.each_at_most, schedule.lets))
    if most is not None and 0 < most < granule:
        return "SQ0542", {"granule": number(granule), "most": number(most)}
    return None


def written_out(e: Expr | None, lets: Sequence[ScheduleLet]) -> Expr | None:
    """An expression, or what it stands for if it is a `let` of the schedule."""
    while isinstance(e, Local):
        name = e.name
        e = next((let.value for let in lets if let.name == name), None)
    return e


def check_each(e: Expr, lets: tuple[ScheduleLet, ...], complaints: Complaints) -> None:
    """A cap surely above 0: a constant, `inf`, `max(k, e)`, or `test ? c1 : c2` of these."""
    match e:
        case Local(name=name):
            for let in lets:
                if let.name == name:
                    check_each(let.value, lets, complaints)
        case Num(value=value):
            if value <= 0:
                complaints.say("SQ0552", e.at, value=number(value))
        case Conditional(then=then, otherwise=otherwise):
            check_each(then, lets, complaints)
            check_each(otherwise, lets, complaints)
        case _ if any(isinstance(part, Num) and part.value == math.inf for part in walk(e)):
            complaints.say("SQ0554", e.at)
        case Func(function="max", arguments=arguments) if any(
            (c := constant(a)) is not None and c > 0 for a in arguments
        ):
            pass
        case _:
            complaints.say("SQ0553", e.at)


def exclusive_fault(statements: Sequence[ScheduleStatement]) -> bool:
    """Whether `exclusive prefill` stands in another form than its only one.

    That form is itself, then `admit waiting` while nothing is preempted.
    """
    if not any(isinstance(s, ExclusivePrefill) for s in schedule_statements(statements)):
        return False
    match statements:
        case (ExclusivePrefill(), Admit(only=None, condition=condition)):
            return condition not in NOTHING_PREEMPTED
        case _:
            return True


_PREEMPTED, _ZERO = Var("running.preempted"), Num(0)
NOTHING_PREEMPTED = (
    Binary("==", _PREEMPTED, _ZERO),
    Binary("==", _ZERO, _PREEMPTED),
    Unary("!", _PREEMPTED),
)
"""The forms of the condition `running.preempted == 0`."""


def check_pool(pool: Pool, complaints: Complaints) -> None:
    """The size, the cap and the block of a pool."""
    check_size(pool.size, pool.at, complaints)
    if pool.cap != pool.cap:
        complaints.say("SQ0516", pool.at, name=pool.name)
    if pool.block is not None and not pool.block >= SMALLEST_BLOCK:
        complaints.say("SQ0521", pool.at, value=number(pool.block), least=number(SMALLEST_BLOCK))


def check_memories(program: Program, complaints: Complaints) -> None:
    """A device has one pool that is its engine's memory."""
    first: dict[str, Pool] = {}
    for pool in program.pools:
        if pool.memory_of is None:
            continue
        other = first.setdefault(pool.memory_of, pool)
        if other is not pool:
            note = Note(f"`{other.name}` is declared here", other.at)
            complaints.say(
                "SQ0523", pool.at, name=pool.name, other=other.name, engine=pool.memory_of,
                notes=[note] if other.at is not None else [],
            )  # fmt: skip


# -------------------------------------------------------------------- arrivals


def check_arrival(arrival: Arrival, complaints: Complaints) -> None:
    """The rate, the gap or the number of sessions."""
    match arrival:
        case Poisson(rate=rate):
            if not 0 < rate < math.inf:
                complaints.say("SQ0530", arrival.at, value=number(rate))
            elif not SMALLEST_GAP <= 1 / rate < math.inf:
                complaints.say("SQ0537", arrival.at, value=number(1 / rate), least=number(SMALLEST_GAP))
        case Renewal(gap=gap):
            value = constant(gap)
            if value is not None and not 0 < value < math.inf:
                complaints.say("SQ0532", arrival.at, value=number(value))
            elif value is not None and value < SMALLEST_GAP:
                complaints.say("SQ0537", arrival.at, value=number(value), least=number(SMALLEST_GAP))
        case Slotted(slot=slot, count=drawn):
            if not SMALLEST_GAP <= slot < math.inf:
                complaints.say("SQ0539", arrival.at, value=number(slot), least=number(SMALLEST_GAP))
            value = constant(drawn)
            if value is not None and not is_count(value, MOST_IN_SLOT, least=0):
                complaints.say("SQ0544", arrival.at, value=number(value), most=MOST_IN_SLOT)
        case Stages(stages=stages):
            check_stages(stages, arrival.at, complaints)
        case Timed(times=times):
            fault = times_fault(times)
            if fault is not None:
                complaints.say("SQ0566", arrival.at, fault=fault)
        case Batch(count=count) | Closed(count=count):
            if not is_count(count, MOST_SESSIONS):
                complaints.say("SQ0531", arrival.at, value=number(count), most=MOST_SESSIONS)
        case _:
            pass


def check_stages(stages: Sequence[tuple[float, float]], at: Span | None, complaints: Complaints) -> None:
    """Every rate is one of a stream, or 0; every duration a time, that of the last may be without end."""
    for place, (rate, duration) in enumerate(stages, start=1):
        if not 0 <= rate < math.inf or (rate > 0 and not SMALLEST_GAP <= 1 / rate < math.inf):
            complaints.say("SQ0545", at, place=place, what=f"the rate {number(rate)}", most="1e12")
        last = place == len(stages)
        if not 0 < duration <= math.inf or (duration == math.inf and not last):
            complaints.say("SQ0545", at, place=place, what=f"the duration {number(duration)}", most="1e12")


def times_fault(times: Sequence[float]) -> str | None:
    """What is wrong with times of arrival, None when they are as they should be."""
    if not 1 <= len(times) <= MOST_SESSIONS:
        return f"{len(times)}, where 1 to {MOST_SESSIONS} belong"
    for before, time in pairwise((0.0, *times)):
        if not 0 <= time < math.inf:
            return f"not all times: {number(time)} is none"
        if time < before:
            return f"out of order: {number(time)} comes after {number(before)}"
    return None


# -------------------------------------------------------------------- statements


def check_statement(s: Statement, pools: Mapping[str, Pool], complaints: Complaints) -> None:
    """The constant amounts and tests of a statement."""
    match s:
        case Run(places=places, work=work):
            check_amount(work, "work", places[0].at if places else s.at, complaints)
        case Grow(place=place, amount=amount) | Load(place=place, amount=amount):
            check_amount(amount, "an amount", place.at, complaints)
        case Hold(lease=lease):
            check_demand(s, pools, complaints)
            if lease is not None:
                check_number(lease[1], "the time of a lease", complaints)
        case Observe(value=sample):
            check_number(sample, "a sample", complaints)
        case Branch(test=test) | While(test=test):
            value = constant(test)
            if value is not None and value not in (0, 1):
                word = "branch" if isinstance(s, Branch) else "while"
                likely = 0 < value < 1
                help = f"to draw with a probability write `branch with ({number(value)})`"
                complaints.say(
                    "SQ0533", s.at, statement=word, value=number(value),
                    help=help if likely and word == "branch" else None,
                )  # fmt: skip
        case _:
            pass


def check_amount(e: Expr, what: str, at: Span | None, complaints: Complaints) -> bool:
    """A constant amount is a number and not below 0."""
    value = constant(e)
    if value is not None and not value >= 0:
        complaints.say("SQ0534", at, what=what, value=number(value))
        return False
    return True


def check_number(e: Expr, what: str, complaints: Complaints) -> None:
    """A constant is a number."""
    value = constant(e)
    if value is not None and value != value:
        complaints.say("SQ0534", e.at, what=what, value=number(value))


def check_demand(hold: Hold, pools: Mapping[str, Pool], complaints: Complaints) -> None:
    """A constant demand fits into an empty pool."""
    for part in hold.parts:
        pool = pools.get(part.place.name)
        demands = [part.units] if part.reserve is None else [part.units, part.reserve]
        if not check_amount(part.units, "a hold's demand", part.at, complaints):
            continue
        numbers = [value for e in demands if (value := constant(e)) is not None]
        if pool is None or not numbers:
            continue
        need = max(numbers)
        if pool.block is not None and pool.block > 0 and need < math.inf:
            need = math.ceil(need / pool.block) * pool.block
        if need > pool.cap:
            complaints.say("SQ0535", part.at, pool=pool.name, need=number(need), cap=number(pool.cap))


def check_draws(program: Program, complaints: Complaints) -> None:
    """The constant parameters of a draw have a law, and quantiles a level."""
    for reading in readings(program):
        for node in walk(reading.expr):
            if isinstance(node, Summary):
                check_quantile(node, complaints)
            if not isinstance(node, Draw):
                continue
            known = [constant(a) for a in node.arguments]
            fault = law_fault(node.law, known)
            if fault is not None:
                shown = ["…" if p is None else number(p) for p in known]
                source = complaints.sink.sources.get(node.at.file) if node.at is not None else None
                draw = show_draw(node.law, shown, node.at, source)
                complaints.say("SQ0536", node.at, draw=draw, fault=fault)


# -------------------------------------------------------------------- members of families


def check_members(program: Program, complaints: Complaints) -> None:
    """A constant index names a member; a family is always indexed, nothing else is."""
    sizes = {r.name: r.size for r in (*program.stages, *program.pools)}
    for place in places(program):
        if place.name not in sizes:
            continue
        size = sizes[place.name]
        if place.index is None:
            if size is not None:
                complaints.say("SQ0230", place.at, name=place.name, size=size)
            continue
        value = constant(place.index)
        if value is not None and not (0 <= value < (size or 1) and value == math.floor(value)):
            complaints.say(
                "SQ0231", place.at, name=place.name, index=number(value),
                members=f"{count(size or 1, 'member')}, counted from 0",
            )  # fmt: skip


def places(program: Program) -> Iterator[Place]:
    """Every resource that a program names, in statements and in expressions."""
    for statement in statements_of(program):
        yield from places_of(statement)
    for reading in readings(program):
        for node in walk(reading.expr):
            if isinstance(node, Observable):
                yield node.place
    for claim in program.claims:
        if not isinstance(claim, AtEnd):
            yield claim.engine
