"""An engine's `schedule` becomes its statements, its `let`s and its one cap per run."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from attrs import evolve

from serq.check import fold
from serq.check.expressions import Expressions
from serq.check.limits import MOST_PASSES, exclusive_fault
from serq.check.places import opening_brace
from serq.check.requested import index_below, is_fresh, one_register
from serq.check.show import number
from serq.check.standing import Requested, Standing
from serq.check.trees import reads
from serq.ir.expr import Conditional, Expr, Local
from serq.ir.moments import SETS, Moment
from serq.ir.schedule import (
    Admit,
    AdmitOne,
    Advance,
    AdvanceOne,
    Break,
    ExclusivePrefill,
    ForIndex,
    ForRequests,
    Schedule,
    ScheduleBranch,
    ScheduleLet,
    ScheduleStatement,
    SetName,
    SetRegister,
    SetTag,
)
from serq.syntax import tree

STAND_IN = Advance()
"""In the place of a statement that would give tokens, were it not wrong."""


def lower_schedule(written: tree.Schedule | None, engine: str, order: int, x: Expressions) -> Schedule:
    """The schedule of `engine`; None stands for one that is missing."""
    if written is None:
        return Schedule((Advance(),))
    plan = Standing(Moment.PLAN, order, engine=engine)
    for late in written.late_lets:
        x.complaints.say("SQ0550", late.at, name=late.name.text)
    lets = lower_lets(written.lets, evolve(plan, moment=Moment.CAP), x)
    each = lower_each(written, lets, evolve(plan, moment=Moment.CAP), x)
    statements = lower_statements(written.statements, plan, x)
    if exclusive_fault(statements):
        x.complaints.missing("SQ0555", opening_brace(written.at, x.complaints))
        statements = (Advance(),)
    return Schedule(statements, lets, each, at=written.at)


def lower_lets(lets: Sequence[tree.ScheduleLet], here: Standing, x: Expressions) -> tuple[ScheduleLet, ...]:
    """The `let`s, each seeing the ones above it."""
    lowered: dict[str, ScheduleLet] = {}
    for item in lets:
        name = item.name.text
        if name in lowered:
            x.complaints.say("SQ0210", item.name.at, kind="schedule's `let`", name=name)
            continue
        x.check_supplied(item.name, "schedule's `let`")
        value = x.plain(item.value, evolve(here, locals=frozenset(lowered)))
        lowered[name] = ScheduleLet(name, value, at=item.name.at)
    return tuple(lowered.values())


def lower_statements(
    statements: Sequence[tree.ScheduleStatement], plan: Standing, x: Expressions
) -> tuple[ScheduleStatement, ...]:
    """Statements of a schedule; one that is wrong is left out. A `let` is known to those below it."""
    found: list[ScheduleStatement] = []
    for written in statements:
        lowered = lower_statement(written, plan, x)
        if isinstance(written, tree.ScheduleLet):
            plan = evolve(plan, names=plan.names | {written.name.text})
        if lowered is not None:
            found.append(lowered)
    return tuple(found)


def lower_statement(s: tree.ScheduleStatement, plan: Standing, x: Expressions) -> ScheduleStatement | None:
    """One statement of a schedule; None when it is wrong."""
    match s:
        case tree.Advance(only=only, order=order):
            key = evolve(plan, moment=Moment.KEY)
            keys = () if order is None else tuple(x.plain(k, key) for k in order.keys)
            kind = "admission" if order is None else order.kind
            return Advance(kind, keys, lower_only(only, plan, x), at=s.at)
        case tree.Admit(only=only, condition=condition):
            lowered = None if condition is None else x.plain(condition, plan)
            return Admit(lower_only(only, plan, x), lowered, at=s.at)
        case tree.ExclusivePrefill():
            return ExclusivePrefill(at=s.at)
        case tree.ScheduleBranch(test=test, then=then, otherwise=otherwise):
            return ScheduleBranch(
                x.plain(test, plan),
                lower_statements(then, plan, x),
                lower_statements(otherwise or (), plan, x),
                at=s.at,
            )
        case tree.SetRegister():
            return lower_set(s, plan, x)
        case tree.ScheduleLet(name=name, value=value):
            expression = x.plain(value, plan)
            if not plan.loop:
                x.complaints.say("SQ0550", s.at, name=name.text)
                return None
            return SetName(name.text, expression, at=s.at) if is_fresh(name, plan, x) else None
        case tree.For():
            return lower_for(s, plan, x)
        case tree.Break():
            if not plan.loop:
                x.complaints.say("SQ0562", s.at)
            return Break(at=s.at)
        case tree.AdmitOne(name=name):
            return AdmitOne(name.text, at=s.at) if is_request(name, "waiting", plan, x) else STAND_IN
        case tree.AdvanceOne(name=name):
            return AdvanceOne(name.text, at=s.at) if is_request(name, "running", plan, x) else STAND_IN


def lower_set(s: tree.SetRegister, plan: Standing, x: Expressions) -> ScheduleStatement | None:
    """`set` of a register, of one in an array, or of a request's tag."""
    name, at = s.target.name.text, s.target.name.at
    expression = x.plain(s.value, plan)
    if s.target.member is not None:
        return lower_tag(s, expression, plan, x)
    register = x.names.registers.get(name)
    if register is None or register.engine != plan.engine:
        known = {n: r.at for n, r in x.names.registers.items() if r.engine == plan.engine}
        x.complaints.unknown("SQ0209", name, at, known, engine=plan.engine)
        return None
    index = s.target.index
    if register.size is None:
        if index is not None:
            one_register(name, s.target.at, x)
        return SetRegister(name, expression, at=s.at)
    if index is None:
        x.complaints.say("SQ0257", at, name=name, what="an array of registers")
        return None
    place = index_below(index, name, register.size, s.target.at, plan, x)
    return None if place is None else SetRegister(name, expression, place, at=s.at)


def lower_tag(s: tree.SetRegister, value: Expr, plan: Standing, x: Expressions) -> ScheduleStatement | None:
    """`set r.lane = e;`: only the tags of a request are the schedule's to set."""
    assert s.target.member is not None
    request, tag = s.target.name, s.target.member
    if not is_request(request, None, plan, x):
        return None
    known = {n: t.at for n, t in x.names.tags.items() if t.engine == plan.engine}
    if tag.text not in known:
        x.complaints.unknown("SQ0267", tag.text, tag.at, known, engine=plan.engine)
        return None
    return SetTag(request.text, tag.text, value, at=s.at)


def is_request(name: tree.Name, among: str | None, plan: Standing, x: Expressions) -> bool:
    """Whether a loop around calls a request of the set `among` (any if None) so; says if not."""
    found = plan.requests.get(name.text)
    if found is None:
        x.complaints.unknown("SQ0266", name.text, name.at, dict.fromkeys(plan.requests))
        return False
    if among is not None and found.among != among:
        verb = "admit" if among == "waiting" else "advance"
        x.complaints.say("SQ0563", name.at, name=name.text, among=found.among, verb=verb, wanted=among)
        return False
    return True


def lower_for(s: tree.For, plan: Standing, x: Expressions) -> ScheduleStatement:
    """A loop over requests, or over 0 … n − 1."""
    over, name = s.over, s.variable.text
    fresh = is_fresh(s.variable, plan, x)
    if isinstance(over, tree.Reference) and over.name.text in SETS and over.member is None:
        among = over.name.text
        if among == "batch":
            x.complaints.say("SQ0564", over.at)
            return STAND_IN
        assert plan.engine is not None
        requests = {**plan.requests, name: Requested(among, plan.engine)}
        here = evolve(plan, requests=requests, loop=True)
        keys = tuple(x.plain(key, here) for key in s.keys or ())
        where = None if s.where is None else x.plain(s.where, here)
        body = lower_statements(s.body, here, x)
        return ForRequests(name, among, body, keys, where, at=s.at) if fresh else STAND_IN
    for clause in (*(s.keys or ()), *(() if s.where is None else (s.where,))):
        x.complaints.say("SQ0565", clause.at)
    here = evolve(plan, names=plan.names | {name}, loop=True)
    count = x.constant(over, None)
    body = lower_statements(s.body, here, x)
    if count is None or not fresh:
        return STAND_IN
    if not (0 <= count <= MOST_PASSES and count == int(count)):
        x.complaints.say("SQ0519", over.at, name=name, value=number(count), what="passes", limit=MOST_PASSES)
        return STAND_IN
    return ForIndex(name, int(count), body, at=s.at)


def lower_only(only: tree.Expr | None, plan: Standing, x: Expressions) -> Expr | None:
    """The condition of `only`, if there is one."""
    return None if only is None else x.plain(only, evolve(plan, moment=Moment.ONLY))


# -------------------------------------------------------------------- each at most


def lower_each(
    written: tree.Schedule, lets: tuple[ScheduleLet, ...], here: Standing, x: Expressions
) -> Expr | None:
    """The one cap per run: on every statement that gives tokens, or on none, and always the same."""
    givers = list(find_givers(written.statements))
    caps = [s.each for s in givers if s.each is not None]
    if not caps:
        return None
    inside = evolve(here, locals=frozenset(let.name for let in lets))
    first = opening_brace(written.at, x.complaints)
    lowered = [x.plain(cap, inside) for cap in caps]
    if any(uses_infinity(cap) for cap in caps):
        x.complaints.say("SQ0554", first)
        return None
    if any(fold.is_poison(e) for e in lowered):
        return None
    written_out = [written_locals(e, lets) for e in lowered]
    if len(caps) < len(givers) or any(e != written_out[0] for e in written_out):
        x.complaints.say("SQ0551", first)
        return lowered[0]
    return lowered[0]


def uses_infinity(e: tree.Expr) -> bool:
    """Whether `inf` takes part in arithmetic; an outcome of its own says that there is no cap."""
    match e:
        case tree.Reference():
            return False
        case tree.Conditional(then=then, otherwise=otherwise):
            return uses_infinity(then) or uses_infinity(otherwise)
        case _:
            return "inf" in reads(e)


def find_givers(
    statements: Sequence[tree.ScheduleStatement],
) -> Iterator[tree.Advance | tree.Admit | tree.ExclusivePrefill | tree.AdvanceOne]:
    """The statements that give tokens and may say how many, in written order."""
    for s in statements:
        match s:
            case tree.Advance() | tree.Admit() | tree.ExclusivePrefill() | tree.AdvanceOne():
                yield s
            case tree.For(body=body):
                yield from find_givers(body)
            case tree.ScheduleBranch(then=then, otherwise=otherwise):
                yield from find_givers(then)
                yield from find_givers(otherwise or ())
            case _:
                pass


def written_locals(e: Expr, lets: tuple[ScheduleLet, ...]) -> Expr:
    """`e` with a `let` written out where its whole value is one; folded, for comparing."""
    match e:
        case Local(name=name):
            value = next((let.value for let in lets if let.name == name), None)
            return e if value is None else written_locals(value, lets)
        case Conditional(test=test, then=then, otherwise=otherwise):
            return fold.conditional(test, written_locals(then, lets), written_locals(otherwise, lets))
        case _:
            return e
