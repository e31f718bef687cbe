"""Expressions, by walking their trees (`serq.ir.expr`).

It is one file: whatever an expression may read.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import reduce
from typing import TypeVar, Union

from attrs import evolve, field, frozen

from serq.diagnostics import InternalError
from serq.ir.expr import (
    Attr,
    Binary,
    Conditional,
    Draw,
    Expr,
    Fold,
    Func,
    Item,
    Local,
    LoopName,
    Num,
    Observable,
    Place,
    RegisterRead,
    RequestField,
    Summary,
    Survey,
    Unary,
    Var,
)
from serq.ir.laws import show_draw
from serq.machine.draws import OutsideLaw, Stream
from serq.machine.laws import Recorded, read_samples
from serq.machine.plain.state import Engine, Entry, Hold, Line, Machine, Part, Pool, Run, Session
from serq.machine.summaries import summarize
from serq.source import Span
from serq.values import FUNCTIONS, divide, power, show

T = TypeVar("T")


@frozen
class Here:
    """What an expression can see.

    subject: what a key ranks or a predicate is about. names: what loops and aggregates around bind.
    place: of a candidate for preemption among all.
    """

    machine: Machine
    session: Session | None = None
    attributes: Mapping[str, float] | None = None
    draws: Stream | None = None
    engine: Engine | None = None
    subject: Union[Run, Hold, Part, Entry, None] = None
    names: Mapping[str, Union[float, Run, Hold]] = field(factory=dict)
    place: int = 0


def of_session(m: Machine, s: Session, draws: Stream | None = None) -> Here:
    """Where a session's statements, or with no draws the headers of its holds, are read."""
    return Here(m, s, s.attributes, draws)


def is_true(e: Expr, here: Here) -> bool:
    """Whether `e` counts as true: any number but 0."""
    return value(e, here) != 0


def value(e: Expr, here: Here) -> float:
    """The value of `e`; tests give 1 or 0."""
    match e:
        case Num(value=number):
            return number
        case Attr(name=name):
            return _required(here.attributes, e)[name]
        case Var(name=name):
            return float(_variable(name, here))
        case RegisterRead(engine=engine, name=name, index=index):
            member = engine_of(engine, here)
            slot = 0 if index is None else slot_below(register_size(member, name), index, name, e.at, here)
            return member.registers[name, slot]
        case Local(name=name):
            return _required(here.engine, e).locals[name]
        case LoopName(name=name):
            bound = here.names[name]
            assert isinstance(bound, float)
            return bound
        case Item(name=name, index=index):
            numbers = next(list.values for list in here.machine.program.lists if list.name == name)
            return numbers[slot_below(len(numbers), index, name, e.at, here)]
        case RequestField():
            return float(_field(e, here))
        case Survey():
            return _survey(e, here)
        case Observable():
            return float(_observable(e, here))
        case Summary(observation=observation, argument=argument):
            samples = here.machine.observes.get(observation) or here.machine.client[observation]
            return summarize(e, samples.values, None if argument is None else value(argument, here))
        case Draw():
            return _draw(e, here)
        case Func(function=function, arguments=arguments):
            return FUNCTIONS[function](*_values(arguments, here))
        case Fold(kind=kind, terms=terms):
            total, *rest = _values(terms, here)
            for term in rest:
                total = total + term if kind == "sum" else FUNCTIONS[kind](total, term)
            return total
        case Unary(operator="-", operand=operand):
            return -value(operand, here)
        case Unary(operand=operand):
            return float(not is_true(operand, here))
        case Binary(operator="&&", left=left, right=right):
            return float(is_true(left, here) and is_true(right, here))
        case Binary(operator="||", left=left, right=right):
            return float(is_true(left, here) or is_true(right, here))
        case Binary(operator=operator, left=left, right=right):
            return float(_combine(operator, value(left, here), value(right, here)))
        case Conditional(test=test, then=then, otherwise=otherwise):
            return value(then if is_true(test, here) else otherwise, here)


def _draw(e: Draw, here: Here) -> float:
    draws = _required(here.draws, e)
    if e.file is not None:
        samples = here.machine.samples
        if e.file not in samples:
            samples[e.file] = Recorded(read_samples(e, here.machine.program.file))
        return draws.pick(samples[e.file])
    parameters = _values(e.arguments, here)
    try:
        if e.law == "table":
            return draws.table(tuple(parameters))
        drawn: float = getattr(draws, e.law)(*parameters)
    except OutsideLaw as fault:
        draw = show_draw(e.law, [show(p) for p in parameters], e.at, here.machine.program.source)
        here.machine.fail("SQ0621", e.at, serial=fault.serial, draw=draw, fault=fault.fault)
    return drawn


def _values(expressions: Sequence[Expr], here: Here) -> list[float]:
    return [value(e, here) for e in expressions]


def _required(thing: T | None, e: Expr) -> T:
    if thing is None:
        raise InternalError(f"{e!r} read where it has no meaning")
    return thing


def _combine(operator: str, a: float, b: float) -> float:
    match operator:
        case "+":
            return a + b
        case "-":
            return a - b
        case "*":
            return a * b
        case "/":
            return divide(a, b)
        case "^":
            return power(a, b)
        case "<":
            return a < b
        case "<=":
            return a <= b
        case ">":
            return a > b
        case ">=":
            return a >= b
        case "==":
            return a == b
        case "!=":
            return a != b
    raise InternalError(f"no operator {operator}")


def _variable(name: str, here: Here) -> float:
    """A context variable; `serq.ir.moments.VARIABLES` says what each one is."""
    m, e = here.machine, here.engine
    match name, here.subject:
        case "now", _:
            return m.now
        case "arrived", _:
            return m.arrived
        case "decoding", Run(is_decode=is_decode):
            return is_decode
        case "admission", Run(session=session):
            return session.admission
        case "admission", Part():
            return here.place
        case "remaining", Run(remaining=remaining):
            return remaining
        case "decoding", Part(hold=Hold(session=Session(stands=stands))):
            return isinstance(stands, Run) and stands.is_decode
        case "position", Part(position=position):
            return position
        case "waited", Hold(joined=joined):
            return m.now - joined
        case "size", Entry(units=units):
            return units
        case "age", Entry(released=released):
            return m.now - released
        case "last", Entry(released=released):
            return released
        case "waiting", Entry(user=user):
            return user is not None and isinstance(user.stands, Hold)
    if e is not None:
        match name:
            case "running.count" | "residents":
                return len(e.runs)
            case "running.decoding":
                return sum(run.is_decode for run in e.runs)
            case "running.kv_decode":
                return e.held(e.runs, True)
            case "running.kv_prefill":
                return e.held(e.runs, False)
            case "running.preempted":
                return e.preempted
            case "waiting.count":
                return e.waiting()
            case "waiting.admitted":
                return e.admitted
            case "batch.tokens" | "tokens":
                return e.given(True, False)
            case "batch.prefilled" | "prefilled":
                return e.given(False)
            case "batch.decoding" | "decoders":
                return e.decoders()
            case "batch.kv_decode" | "kv_decode":
                return e.held(list(e.batch), True)
            case "batch.kv_prefill" | "kv_prefill":
                return e.held(list(e.batch), False)
            case "batch.attention" | "attention":
                return e.attention()
            case "demand":
                return e.demand()
            case "served":
                return e.served
    raise InternalError(f"variable {name} read at the wrong moment")


def _observable(e: Observable, here: Here) -> float:
    """A call that reads the live state."""
    m = here.machine
    if e.place.name in m.stages:
        stage = stage_at(e.place, here)
        match e.function, stage:
            case "queue", _:
                return stage.present
            case "busy", _:
                return stage.busy
            case "work", _:
                return stage.work(m.now)
            case "budget_left", Engine():
                return budget_left(stage, m)
    else:
        pool = pool_at(e.place, here)
        match e.function:
            case "used":
                return pool.used
            case "free":
                return pool.rule.cap - pool.used
            case "holders":
                return len(pool.sessions)
            case "queued":
                return len(pool.queue)
            case "blocksize":
                return pool.rule.block or 0.0
            case "cachedin":
                entry = None if here.session is None else pool.entry_of(here.session)
                return 0.0 if entry is None else entry.units
    raise InternalError(f"the plain machine has no {e.function}")


def stage_at(place: Place, here: Here) -> Line | Engine:
    """The stage, or the member of a family, that a place names."""
    return _member(place, here.machine.stages[place.name], here)


def pool_at(place: Place, here: Here) -> Pool:
    """The pool, or the member of a family, that a place names."""
    return _member(place, here.machine.pools[place.name], here)


def _member(place: Place, members: list[T], here: Here) -> T:
    if place.index is None:
        return members[0]
    index, size = value(place.index, here), len(members)
    if not (0 <= index < size and index == int(index)):
        fail = here.machine.fail
        fail("SQ0603", place.at, name=place.name, value=show(index), size=size, last=size - 1)
    return members[int(index)]


# ---------------------------------------------------------------- requests


def engine_of(name: str, here: Here) -> Engine:
    """The engine that is meant by its name: the one whose clause or claim this is, or the only one."""
    if here.engine is not None and here.engine.rule.name == name:
        return here.engine
    member = here.machine.stages[name][0]
    assert isinstance(member, Engine)
    return member


def register_size(e: Engine, name: str) -> int:
    """How many registers an array has."""
    return next(r.size or 1 for r in e.rule.registers if r.name == name)


def slot_below(size: int, index: Expr, name: str, at: Span | None, here: Here) -> int:
    """An index of a list or an array."""
    number = value(index, here)
    if not (0 <= number < size and number == int(number)):
        fail = here.machine.fail
        fail("SQ0645", at, name=name, value=show(number), size=size, last=size - 1)
    return int(number)


def members_of(e: Engine, among: str) -> list[Run] | list[Hold]:
    """The requests of a set: runs in standing order, holds as they wait, the batch as it is served."""
    match among:
        case "running":
            return in_order(e.runs)
        case "batch":
            return list(e.batch)
        case _:
            return e.holds()


def _survey(e: Survey, here: Here) -> float:
    """An aggregate over requests, folded from the left; 0 over none."""
    requests = members_of(engine_of(e.engine, here), e.among)
    values = [value(e.body, evolve(here, names={**here.names, e.request: r})) for r in requests]
    match e.kind:
        case "count":
            return float(sum(v != 0 for v in values))
        case "sum":
            return sum(values, 0.0)
        case _:
            return reduce(FUNCTIONS[e.kind], values) if values else 0.0


def _field(e: RequestField, here: Here) -> float:
    """What a request has."""
    request = here.names[e.request]
    assert isinstance(request, Run | Hold)
    session = request.session
    engine = _required(here.engine or here.machine.engines()[0], e)
    match e.kind, e.name, request:
        case "attribute", name, _:
            return session.attributes[name]
        case "tag", name, _:
            initial = next(tag.initial for tag in engine.rule.tags if tag.name == name)
            return engine.tags.get((session, name), initial)
        case _, "progress", Run(progress=progress):
            return progress
        case _, "given", Run():
            return engine.batch[request]
        case _, "remaining", Run(remaining=remaining):
            return remaining
        case _, "decoding", Run(is_decode=is_decode):
            return is_decode
        case _, "admission", Run():
            return session.admission
        case _, "waited", Hold(joined=joined):
            return here.machine.now - joined
        case _, "admitted", _:
            return session in engine.newly
        case _, "units", Hold():
            return _units(request, engine, here.machine)
    raise InternalError(f"{e!r} read of the wrong request")


def _units(hold: Hold, e: Engine, m: Machine) -> float:
    """What a hold asks of the pool that it queues for; while a batch is formed its budget is what is left."""
    e.offer = e.left if m.forming is e else None
    units = value(hold.statement.parts[0].units, of_session(m, hold.session))
    e.offer = None
    if not units >= 0:
        name = hold.pools[0].rule.name
        m.fail("SQ0613", hold.statement.at, session=hold.session, name=name, value=show(units))
    return hold.pools[0].round_up(units)


# ---------------------------------------------------------------- budgets


def limits(e: Engine, m: Machine) -> tuple[float, float]:
    """The budget of an iteration and the most that one run may get of it, both read now."""
    here = Here(m, draws=m.draws, engine=e)
    budget = value(e.rule.tokens_cap, here)
    for let in e.rule.schedule.lets:
        e.locals[let.name] = value(let.value, here)
    each = e.rule.schedule.each_at_most
    return budget, float("inf") if each is None else value(each, here)


def in_order(runs: Iterable[Run]) -> list[Run]:
    """By admission number, then as they joined."""
    return sorted(runs, key=lambda run: run.session.admission)


def share(run: Run, left: float, each: float) -> float:
    """Tokens for a run when `left` are left: 0 where the granule does not fit (section 4, step 2)."""
    if run.is_decode:
        return min(1.0, run.remaining, left)
    n, granule = min(run.remaining, each, left), run.engine.rule.granule
    if granule is None or n == run.remaining:
        return n
    return FUNCTIONS["floor"](n / granule) * granule if n >= granule else 0.0


def budget_left(e: Engine, m: Machine) -> float:
    """Tokens for newcomers: of the try that reads it, or what the present runs would leave.

    Whether a granule holds some of them back is not looked at.
    """
    if e.offer is not None:
        return e.offer
    left, each = limits(e, m)
    for run in in_order(e.runs):
        if left > 0:
            left -= min(1.0 if run.is_decode else each, run.remaining, left)
    return left
