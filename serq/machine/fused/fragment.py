"""Which programs the fused loop takes: what it says about one is the reason why not.

Only what the text of a program shows is looked at here; amounts are looked at while the loop runs.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from math import inf

from attrs import frozen

from serq.ir.expr import Draw, Expr, Num, Observable, Place, Summary, Var, walk
from serq.ir.pool import Pool
from serq.ir.program import Program
from serq.ir.schedule import (
    Admit,
    Advance,
    ExclusivePrefill,
    ScheduleBranch,
    ScheduleStatement,
    SetRegister,
)
from serq.ir.server import Block, Branch, Hold, Observe, Run, Set, Statement, Turn
from serq.ir.stage import Engine
from serq.ir.workload import Batch, NoArrivals, Poisson, Renewal, Slotted
from serq.machine.fused.ranks import Order, find_order
from serq.machine.stages.classed import tells_apart
from serq.machine.surveys import requested_engines
from serq.values import is_whole

READ = {"queue", "busy", "work", "used", "free", "holders", "queued"}
"""Calls that the loop has a variable for."""

MEMORY = {"running.kv_decode", "running.kv_prefill", "batch.kv_decode", "batch.kv_prefill",
          "kv_decode", "kv_prefill"}  # fmt: skip


@frozen
class Leave:
    """The end of a hold, in the flat list of what a session does."""

    hold: Hold


@frozen
class Fused:
    """A program of the fragment.

    steps: what a session does in its only turn, in order, holds flattened. each: the most tokens one
    run gets. attributes: those that a session sets; any other reads 0 but for `serial` and `turn_no`.
    order: what the schedule serves runs by. steady: two iterations in a row are the same
    unless something has happened between them.
    """

    program: Program
    engine: Engine
    pool: Pool | None
    steps: tuple[Statement | Leave, ...]
    turn: Block
    attributes: tuple[str, ...]
    each: float
    order: Order
    steady: bool


class _Outside(Exception):
    """The program is not of the fragment; its text says why."""


def find_fused(program: Program) -> Fused | str:
    """What the loop needs to know of a program, or why it is not for the loop."""
    try:
        return _find(program)
    except _Outside as why:
        return str(why)


def _find(program: Program) -> Fused:
    engines = [s for s in program.stages if isinstance(s, Engine)]
    _need(len(program.stages) == 1 and len(engines) == 1, "it has not one engine alone")
    engine, workload = engines[0], program.workload
    _need(not requested_engines(program), "it looks at requests one by one")
    _need(not program.lists and all(r.size is None for r in engine.registers), "it has lists or arrays")
    _need(engine.size is None, "the engine is a family")
    if workload is None:
        raise _Outside("nobody arrives")
    open_stream = isinstance(workload.arrival, Poisson | Renewal | Slotted | Batch | NoArrivals)
    _need(open_stream, "arrivals answer to departures")
    _need(workload.trace is None, "it replays a trace")
    _need(len(workload.session) == 1 and isinstance(workload.session[0], Turn), "a session is not one turn")
    pool = _slots(program, engine)
    steps = tuple(_flatten(program.server, pool, inside=False))
    for block in (workload.init, workload.turn):
        _plain(block)
    schedule = engine.schedule
    _need(engine.granule is None or is_whole(engine.granule), "the granule is not whole")
    each = schedule.each_at_most
    _need(each is None or (isinstance(each, Num) and each.value > 0), "`each at most` is computed")
    limit = inf if each is None or not isinstance(each, Num) else each.value
    _need(limit == inf or is_whole(limit), "`each at most` is not whole")
    statements = list(_statements(schedule.statements))
    _need(not any(isinstance(s, ExclusivePrefill) for s in statements), "`exclusive prefill`")
    order = find_order(statements)
    only = (s.only for s in statements if isinstance(s, Advance | Admit) and s.only is not None)
    if order is None or any(tells_apart(e) for e in only):
        raise _Outside("the schedule orders runs as the loop cannot")
    for e in expressions(program, engine, steps):
        _readable(e)
    steady = _is_steady(program, engine, statements)
    attributes = tuple(dict.fromkeys(_set_in((*workload.init, *workload.turn, *steps))))
    return Fused(program, engine, pool, steps, workload.turn, attributes, limit, order, steady)


def _need(given: bool, otherwise: str) -> None:
    if not given:
        raise _Outside(otherwise)


def _set_in(block: Iterable[Statement | Leave]) -> Iterator[str]:
    """The attributes that statements assign; some have a meaning of their own, as `new` and `out`."""
    for s in block:
        match s:
            case Set(attribute=name):
                yield name
            case Branch(then=then, otherwise=otherwise):
                yield from _set_in((*then, *otherwise))


def _slots(program: Program, engine: Engine) -> Pool | None:
    """The pool of slots on the engine, if that is the only pool."""
    if not program.pools:
        return None
    _need(len(program.pools) == 1, "it has several pools")
    pool = program.pools[0]
    plain = (
        pool.size is None and pool.engine == engine.name and pool.memory_of is None and pool.block is None
        and pool.queue_keys is None and pool.evict_keys is None and pool.preempt is None
        and not pool.reserve_held and pool.spill is None
    )  # fmt: skip
    _need(plain, "its pool is more than slots of the engine")
    return pool


def _flatten(block: Block, pool: Pool | None, inside: bool) -> Iterator[Statement | Leave]:
    for s in block:
        match s:
            case Run(growing=None, mode=str()):
                _need(len(s.places) == 1, "a flow")
                # Who works outside its slot would stand among the others by its former one.
                _need(inside or pool is None, "a run outside a hold")
                yield s
            case Hold():
                part = s.parts[0]
                header = (
                    len(s.parts) == 1 and part.reserve is None and s.reuse is None and s.cache is None
                    and s.lease is None and not s.bindings and part.place.index is None
                )  # fmt: skip
                _need(header and not inside, "a hold of more than slots")
                _need(not any(isinstance(n, Observable | Var | Draw) for n in walk(part.units)),
                      "a hold whose size changes while it waits")  # fmt: skip
                yield s
                yield from _flatten(s.body, pool, inside=True)
                yield Leave(s)
            case Set() | Observe() | Branch():
                _plain((s,))
                yield s
            case _:
                raise _Outside(f"a session does `{type(s).__name__.lower()}`")


def _plain(block: Block) -> None:
    """Statements that take no time."""
    for s in block:
        match s:
            case Set() | Observe():
                pass
            case Branch(then=then, otherwise=otherwise):
                _plain(then)
                _plain(otherwise)
            case _:
                raise _Outside(f"a session does `{type(s).__name__.lower()}`")


def _statements(statements: Iterable[ScheduleStatement]) -> Iterator[ScheduleStatement]:
    for s in statements:
        yield s
        if isinstance(s, ScheduleBranch):
            yield from _statements(s.then)
            yield from _statements(s.otherwise)


def _of_schedule(engine: Engine, statements: Iterable[ScheduleStatement]) -> Iterator[Expr]:
    yield engine.tokens_cap
    yield engine.execute
    for let in engine.schedule.lets:
        yield let.value
    for s in statements:
        match s:
            case Advance(keys=keys, only=only):
                yield from keys
                if only is not None:
                    yield only
            case Admit(only=only, condition=condition):
                yield from (e for e in (only, condition) if e is not None)
            case ScheduleBranch(test=test):
                yield test
            case SetRegister(value=value):
                yield value


def of_block(block: Iterable[Statement | Leave]) -> Iterator[Expr]:
    """The expressions of statements, those in their blocks included."""
    for s in block:
        match s:
            case Set(value=value) | Observe(value=value):
                yield value
            case Run(work=work):
                yield work
            case Hold(parts=parts):
                yield parts[0].units
            case Branch(test=test, then=then, otherwise=otherwise):
                yield test
                yield from of_block(then)
                yield from of_block(otherwise)


def _of_claims(program: Program) -> Iterator[Expr]:
    from serq.ir.claim import AtEnd

    for claim in program.claims:
        if not isinstance(claim, AtEnd):
            yield claim.value
        if claim.given is not None:
            yield claim.given


def expressions(program: Program, engine: Engine, steps: Iterable[Statement | Leave]) -> Iterator[Expr]:
    """Every expression of a program that is read before its end."""
    yield from _of_schedule(engine, _statements(engine.schedule.statements))
    yield from of_block(steps)
    workload = program.workload
    if workload is not None:
        yield from of_block(workload.init)
        yield from of_block(workload.turn)
        match workload.arrival:
            case Renewal(gap=drawn) | Slotted(count=drawn):
                yield drawn
    yield from _of_claims(program)
    for gauge in program.gauges:
        yield gauge.value


def _readable(e: Expr) -> None:
    for node in walk(e):
        match node:
            case Observable(function=function, place=Place(index=index)):
                _need(function in READ and index is None, f"it reads {function}")
            case Var(name=name):
                _need(name not in MEMORY, f"it reads {name}")
            case Draw(law="table", arguments=arguments):
                _need(all(isinstance(a, Num) for a in arguments), "it draws from a table that changes")
            case Summary():
                raise _Outside("it reads a summary before the end")


def _is_steady(program: Program, engine: Engine, statements: list[ScheduleStatement]) -> bool:
    """Whether nothing that an iteration reads changes from one to the next while the batch is the same."""
    if any(isinstance(s, SetRegister) for s in statements):
        return False
    watched = [*_of_schedule(engine, statements), *(g.value for g in program.gauges)]
    for e in watched:
        for node in walk(e):
            if isinstance(node, Draw) or (isinstance(node, Var) and node.name == "now"):
                return False
    return not any(
        isinstance(node, Observable) and node.function == "work"
        for e in (*watched, *_of_claims(program))
        for node in walk(e)
    )
