"""Lists, arrays of registers, and requests: what an index or a field reads, and aggregates over requests."""

from __future__ import annotations

from math import isnan
from typing import TYPE_CHECKING

from attrs import evolve

from serq.check import fold
from serq.check.fold import is_poison
from serq.check.samples import takes
from serq.check.show import count, number
from serq.check.standing import WRONG, Requested, Standing, Typed
from serq.check.words import BUILT_IN, SUPPLIED
from serq.diagnostics import Note
from serq.ir.expr import Expr, Item, Num, RegisterRead, RequestField, Survey
from serq.ir.moments import REQUEST_FIELDS, SETS, Moment
from serq.source import Span
from serq.syntax import tree

if TYPE_CHECKING:
    from serq.check.expressions import Expressions


def indexed(e: tree.Reference, here: Standing, x: Expressions) -> Typed:
    """`lens[i]` or `load[j]`: a number of a list, a register of an array."""
    assert e.index is not None
    name, names = e.name.text, x.names
    if e.member is not None:
        x.complaints.say("SQ0303", e.at, name=name)
        return WRONG
    register = names.registers.get(name) if here.moment is not Moment.CONST else None
    numbers = names.lists.get(name, here.order if here.moment is Moment.CONST else None)
    size = len(numbers) if numbers is not None else None if register is None else register.size
    if size is None:
        where = {n: names.lists.place(n) for n in names.lists.history}
        arrays = {n: r.at for n, r in names.registers.items() if r.size is not None}
        if register is not None:
            one_register(name, e.at, x)
        elif names.resource(name) is not None or name in names.attributes:
            x.complaints.say("SQ0303", e.at, name=name)
        else:
            x.complaints.unknown("SQ0258", name, e.at, {**where, **arrays})
        return WRONG
    if numbers is not None and is_wrong(numbers):
        return WRONG
    index = index_below(e.index, name, size, e.at, here, x)
    if index is None:
        return WRONG
    if numbers is None:
        assert register is not None
        return Typed(RegisterRead(register.engine, name, index, at=e.at))
    value = fold.constant(index)
    return Typed(Item(name, index, at=e.at) if value is None else Num(numbers[int(value)], at=e.at))


def is_wrong(numbers: tuple[float, ...]) -> bool:
    """Whether something was said about the numbers of a list where it is declared or given."""
    return bool(numbers) and isnan(numbers[0])


def one_register(name: str, at: Span, x: Expressions) -> None:
    """Says that a register that is no array is given an index."""
    help = f"leave the index out, or declare an array of them: `state {name}[4] = 0;`"
    x.complaints.say("SQ0258", at, name=name, help=help)


def index_below(
    written: tree.Expr, name: str, size: int, at: Span, here: Standing, x: Expressions
) -> Expr | None:
    """The index of a list or an array, checked as far as it is a number; None when it is wrong."""
    index = x.plain(written, here)
    if is_poison(index):
        return None
    value = fold.constant(index)
    if value is not None and not (0 <= value < size and value == int(value)):
        x.complaints.say(
            "SQ0518", at, name=name, index=number(value), size=count(size, "number"), last=size - 1
        )
        return None
    if value is None and here.moment is Moment.CONST:
        return None
    return index


def length(e: tree.Call, here: Standing, x: Expressions) -> Typed:
    """`length(lens)`: how many numbers a list has."""
    if not takes(x.complaints, "length", 1, len(e.arguments), e.at):
        return WRONG
    argument = e.arguments[0]
    numbers = list_named(argument, here.order if here.moment is Moment.CONST else None, x)
    return WRONG if numbers is None else Typed(Num(float(len(numbers)), at=e.at))


def list_named(e: tree.Expr, order: int | None, x: Expressions) -> tuple[float, ...] | None:
    """The list that an expression names, as known in item `order`; None after a complaint."""
    lists = x.names.lists
    if not isinstance(e, tree.Reference) or e.index is not None or e.member is not None:
        x.complaints.say("SQ0258", e.at, name=x.complaints.written(e.at))
        return None
    numbers = lists.get(e.name.text, order)
    if numbers is None:
        x.complaints.unknown("SQ0258", e.name.text, e.at, {n: lists.place(n) for n in lists.history})
        return None
    return None if is_wrong(numbers) else numbers


# -------------------------------------------------------------------- requests


def field_of(e: tree.Reference, here: Standing, x: Expressions) -> Typed:
    """`r.progress`, `r.out`, `r.lane`: a field of a request, an attribute of its session, or a tag."""
    assert e.member is not None
    request, name, names = e.name.text, e.member.text, x.names
    of = here.requests[request]
    if name in REQUEST_FIELDS:
        kind = "field"
        sets = REQUEST_FIELDS[name].sets
        if of.among not in sets:
            where = " or ".join(f"`{s}`" for s in sets)
            x.complaints.say(
                "SQ0461", e.at, request=request, name=name, among=of.among, where=where,
                doc=REQUEST_FIELDS[name].doc,
            )  # fmt: skip
            return WRONG
    elif name in names.tags:
        kind = "tag"
        if names.tags[name].engine != of.engine:
            note = Note("it is declared here", names.tags[name].at)
            x.complaints.say(
                "SQ0462", e.at, name=name, engine=names.tags[name].engine, other=of.engine, notes=[note]
            )
            return WRONG
    elif name in BUILT_IN or name in names.attributes:
        kind = "attribute"
    else:
        known = {n: None for n, f in REQUEST_FIELDS.items() if of.among in f.sets}
        tags = {n: t.at for n, t in names.tags.items() if t.engine == of.engine}
        x.complaints.unknown("SQ0264", name, e.member.at, {**known, **names.attributes, **tags})
        return WRONG
    return Typed(RequestField(request, name, kind, at=e.at))


def survey(e: tree.Aggregate, here: Standing, x: Expressions) -> Typed:
    """`max r in running (e)`: an aggregate over requests."""
    assert isinstance(e.bound, tree.Reference)
    request, among = e.variable, e.bound.name.text
    engine = here.engine
    if here.moment is Moment.GAUGE:
        engines = [n for n in x.names.engines.values() if n.size is None]
        if len(x.names.engines) != 1 or not engines:
            x.complaints.say("SQ0463", e.at, among=among)
            return WRONG
        engine = engines[0].name
    if here.moment is Moment.CONST:
        x.complaints.say("SQ0431", e.at, name=f"{e.kind.text} {request.text} in {among} (…)")
        return WRONG
    if not is_fresh(request, here, x) or engine is None:
        if engine is None:
            x.complaints.say("SQ0460", e.at, among=among, moment=here.moment.value)
        return WRONG
    inside = evolve(here, requests={**here.requests, request.text: Requested(among, engine)})
    body = x.plain(e.body, inside)
    if is_poison(body):
        return WRONG
    return Typed(Survey(e.kind.text, request.text, among, engine, body, at=e.at))


def is_survey(e: tree.Aggregate) -> bool:
    """Whether an aggregate ranges over requests, not numbers."""
    bound = e.bound
    return isinstance(bound, tree.Reference) and bound.name.text in SETS and bound.member is None


def is_fresh(name: tree.Name, here: Standing, x: Expressions) -> bool:
    """Whether a loop or an aggregate may bind `name`; says so if not."""
    if name.text in SUPPLIED:
        x.complaints.say("SQ0221", name.at, kind="loop's variable", name=name.text)
        return False
    taken = x.names.meaning(name.text)
    if taken is None and (name.text in here.requests or name.text in here.names or name.text in here.bound):
        taken = "bound around it already"
    if taken is None and name.text in here.locals:
        taken = "a `let` of the schedule"
    if taken is not None:
        x.complaints.say("SQ0226", name.at, name=name.text, what=taken)
    return taken is None
