"""What generated code reads of requests: their fields, and aggregates over them.

An engine in whose program this occurs keeps its runs one by one (`stages.steady`), whatever its
schedule says: see `requested_engines`.
"""

from __future__ import annotations

from math import inf
from typing import TYPE_CHECKING, Any

from serq.diagnostics import InternalError
from serq.ir.expr import (
    Binary,
    Conditional,
    Draw,
    Expr,
    Item,
    LoopName,
    Num,
    Observable,
    RegisterRead,
    RequestField,
    Survey,
    Unary,
    children,
    walk,
)
from serq.ir.fields import Record
from serq.ir.program import Program
from serq.ir.schedule import AdmitOne, AdvanceOne, ForIndex, ForRequests, SetTag
from serq.ir.stage import Engine
from serq.machine.code import COMPARISONS
from serq.values import maximum, minimum

if TYPE_CHECKING:
    from serq.machine.code import Writer
    from serq.machine.scope import RunScope

MEMBERS = {
    "running": "{e}.residents.standing()",
    "batch": "{e}.residents.batch()",
    "waiting": "{e}.waiting_holds()",
}

FIELDS = {
    "progress": "({t} - {r}.base)",
    "remaining": "({r}.finish_at - {t})",
    "given": "{e}.residents.given({r})",
    "decoding": "{r}.is_decode",
    "admission": "{r}.session.admission",
    "waited": "{e}.waited({r})",
    "units": "{e}.units_of({r})",
    "admitted": "({r}.session in {e}.newly)",
}
"""Sources of the fields of a request, a `Run` or a `Waiting`."""

_FINITE = frozenset({"progress", "remaining", "given", "decoding", "waited", "units", "admitted"})


_BY_REQUEST = (ForRequests, ForIndex, AdmitOne, AdvanceOne, SetTag)


def requested_engines(program: Program) -> frozenset[str]:
    """The engines that look at their requests one by one: by loops, tags, or aggregates over them."""
    found: set[str] = set()

    def visit(part: Any, engine: str | None) -> None:
        if isinstance(part, tuple):
            for inner in part:
                visit(inner, engine)
        elif isinstance(part, Record):
            if isinstance(part, Survey):
                found.add(part.engine)
            elif isinstance(part, Engine):
                engine = part.name
            elif engine is not None and isinstance(part, _BY_REQUEST):
                found.add(engine)
            for name in part.__match_args__:
                inner = getattr(part, name)
                if isinstance(inner, tuple | Record):
                    visit(inner, engine)

    visit((program.stages, program.gauges, program.claims), None)
    return frozenset(found)


def write_field(node: RequestField, scope: RunScope) -> str:
    """Source of what a request has."""
    request = scope.requests[node.request]
    engine = scope.engine_of(request)
    if node.kind == "attribute":
        return f"{request}.session.attributes[{scope.machine.slots[node.name]}]"
    if node.kind == "tag":
        member = scope.lent[engine]
        tags, first = scope.lend("tags", member.tags), scope.lend("first", member.first_tags)
        return f"{tags}.get({request}.session, {first})[{member.tag_slots[node.name]}]"
    return FIELDS[node.name].format(e=engine, r=request, t=scope.ticks.get(engine, f"{engine}.tick"))


def write_survey(node: Survey, scope: RunScope, writer: Writer) -> str:
    """Source of an aggregate over requests: a comprehension, its constant parts computed once."""
    engine = scope.engine(node.engine)
    members = MEMBERS[node.among].format(e=engine)
    if node.kind == "count" and isinstance(node.body, Num):
        return f"len({members})" if node.body.value else "0.0"
    body = node.body
    if node.kind in ("max", "min") and body == RequestField(node.request, "progress", "field"):
        return f"{engine}.residents.{node.kind}_progress_{node.among}()"
    if node.kind == "sum" and (line := _line_of_progress(body, node.request)) is not None:
        slope, constant = line
        return f"{engine}.residents.sum_progress_{node.among}({slope}, {writer.value(constant)})"
    request = f"q{len(scope.requests)}_{len(scope.hoisted)}"
    before, outer, hoisted = writer.parameters, dict(scope.requests), dict(scope.hoisted)
    scope.bind(node.request, request, engine)
    ahead: list[str] = []
    outside = dict(scope.ticks)
    if engine not in scope.ticks and any(
        isinstance(p, RequestField) and p.kind == "field" for p in walk(node.body)
    ):
        scope.ticks[engine] = tick = f"t{len(scope.ticks)}"
        ahead.append(f"for {tick} in ({engine}.tick,) ")
    for inner in _invariant(node.body, node.request):
        name = f"h{len(scope.hoisted)}"
        scope.requests = outer
        ahead.append(f"for {name} in ({writer.value(inner)},) ")
        scope.bind(node.request, request, engine)
        scope.hoisted[id(inner)] = name
    names = [*before.split(", "), *scope.ticks.values(), *scope.hoisted.values(), request]
    writer.parameters = ", ".join(dict.fromkeys(filter(None, names)))
    loops = f"{''.join(ahead)}for {request} in {members}"
    if node.kind == "count":
        source = f"float(sum([1 {loops} if {writer.truth(node.body)}]))"
    else:
        values = f"[{writer.value(node.body)} {loops}]"
        if node.kind == "sum":
            source = f"sum({values}, 0.0)"
        elif is_number(node.body):
            source = f"{node.kind}({values}, default=0.0)"
        else:
            source = f"fold_{node.kind}({values})"
    scope.hoisted, scope.ticks = hoisted, outside
    writer.parameters = before
    scope.requests = outer
    return source


def _line_of_progress(e: Expr, request: str) -> tuple[float, Expr] | None:
    """The slope, 1 or -1, and the constant of a sum that is a line of the request's progress, if it is one.

    The constant is whole where progress is: a whole number, a largest or a least progress.
    """
    progress = RequestField(request, "progress", "field")
    match e:
        case RequestField() if e == progress:
            return 1.0, Num(0.0)
        case Binary(operator="+", left=left, right=right) if left == progress and _is_level(right):
            return 1.0, right
        case Binary(operator="+", left=left, right=right) if right == progress and _is_level(left):
            return 1.0, left
        case Binary(operator="-", left=left, right=right) if right == progress and _is_level(left):
            return -1.0, left
        case Binary(operator="-", left=left, right=Num(value=value)) if left == progress and value % 1 == 0:
            return 1.0, Num(-value)
    return None


def _is_level(e: Expr) -> bool:
    match e:
        case Num(value=value):
            return value % 1 == 0
        case Survey(kind="max" | "min", request=request, body=body):
            return body == RequestField(request, "progress", "field")
    return False


def write_values(node: Survey, scope: RunScope, writer: Writer) -> str:
    """Source of the value and the session's number of each request that an aggregate looks at."""
    engine = scope.engine(node.engine)
    scope.bind(node.request, "q", engine)
    writer.parameters = "q"
    members = MEMBERS[node.among].format(e=engine)
    return f"[({writer.value(node.body)}, q.session.serial) for q in {members}]"


def _invariant(e: Expr, request: str) -> list[Survey]:
    """The outermost aggregates within `e` that do not read `request` and cannot fail."""
    if isinstance(e, Survey):
        parts = list(walk(e))
        depends = any(isinstance(p, RequestField) and p.request == request for p in parts)
        bound = {p.request for p in parts if isinstance(p, Survey)}
        outer = any(isinstance(p, RequestField) and p.request not in bound for p in parts)
        if not depends and not outer and not may_fail(e):
            return [e]
    return [found for part in children(e) for found in _invariant(part, request)]


def may_fail(e: Expr) -> bool:
    """Whether reading `e` may stop the run."""
    return any(
        isinstance(p, Item | Observable | Draw)
        or (isinstance(p, RegisterRead) and p.index is not None)
        or (isinstance(p, RequestField) and p.kind == "field" and p.name == "units")
        for p in walk(e)
    )


def is_number(e: Expr) -> bool:
    """Whether `e` is a number whatever the state, so that Python's own `max` says the same."""
    match e:
        case Num(value=value):
            return -inf < value < inf
        case RequestField(name=name, kind=kind):
            return kind == "tag" or (kind == "field" and name in _FINITE)
        case RegisterRead(index=index):
            return index is None
        case LoopName() | Item() | Observable():
            return False
        case Binary(operator=op) if op in COMPARISONS or op in ("&&", "||"):
            return all(map(is_number, children(e)))
        case Binary(operator="+" | "-") | Unary() | Conditional():
            return all(map(is_number, children(e)))
        case _:
            return False


def fold_max(values: list[float]) -> float:
    """The largest, from the left, as the language's `max` compares; 0 of none."""
    if not values:
        return 0.0
    largest = values[0]
    for value in values[1:]:
        largest = maximum(largest, value)
    return largest


def fold_min(values: list[float]) -> float:
    """The smallest, from the left, as the language's `min` compares; 0 of none."""
    if not values:
        return 0.0
    least = values[0]
    for value in values[1:]:
        least = minimum(least, value)
    return least


def loop_name(node: LoopName, scope: RunScope) -> str:
    """Source of a loop's number or `let`."""
    if node.name not in scope.requests:
        raise InternalError(f"{node!r} read outside its loop")
    return scope.requests[node.name]
