"""An engine's `schedule` becomes its statements, its `let`s and its one cap per run."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from attrs import evolve

from serq.check import fold
from serq.check.expressions import Expressions
from serq.check.limits import exclusive_fault
from serq.check.places import opening_brace
from serq.check.standing import Standing
from serq.check.trees import reads
from serq.ir.expr import Conditional, Expr, Local
from serq.ir.moments import Moment
from serq.ir.schedule import (
    Admit,
    Advance,
    ExclusivePrefill,
    Schedule,
    ScheduleBranch,
    ScheduleLet,
    ScheduleStatement,
    SetRegister,
)
from serq.syntax import tree


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
    """Statements of a schedule; one that is wrong is left out."""
    return tuple(s for written in statements if (s := lower_statement(written, plan, x)) is not None)


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
        case tree.SetRegister(name=name, value=value):
            expression = x.plain(value, plan)
            register = x.names.registers.get(name.text)
            if register is None or register.engine != plan.engine:
                known = {n: r.at for n, r in x.names.registers.items() if r.engine == plan.engine}
                x.complaints.unknown("SQ0209", name.text, name.at, known, engine=plan.engine)
                return None
            return SetRegister(name.text, expression, at=s.at)


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
) -> Iterator[tree.Advance | tree.Admit | tree.ExclusivePrefill]:
    """The statements that give tokens, in written order."""
    for s in statements:
        match s:
            case tree.Advance() | tree.Admit() | tree.ExclusivePrefill():
                yield s
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
