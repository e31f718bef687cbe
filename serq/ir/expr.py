"""Expressions of a program: constants folded, definitions and time resources written out.

All values are IEEE doubles at run time; a test is 0 or 1. Which variables exist where is
`serq.ir.moments`.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TypeAlias, Union

from attrs import frozen

from serq.ir.fields import Record, location
from serq.source import Span


@frozen(eq=False, repr=False)
class Place(Record):
    """A resource or engine, or one member of a family: `e`, `desk[k]`."""

    name: str
    index: Expr | None = None
    at: Span | None = location()


@frozen(eq=False, repr=False)
class Num(Record):
    """A number; infinities are values."""

    value: float
    at: Span | None = location()


@frozen(eq=False, repr=False)
class Attr(Record):
    """A session attribute, built-in ones included; `cost.R` names one part of a cost record."""

    name: str
    at: Span | None = location()


@frozen(eq=False, repr=False)
class Var(Record):
    """A context variable: `now`, `running.count`, `decoding`, `demand`, … (`serq.ir.moments`)."""

    name: str
    at: Span | None = location()


@frozen(eq=False, repr=False)
class RegisterRead(Record):
    """A register (`state`) of `engine`; index: of an array of registers, None for a single one."""

    engine: str
    name: str
    index: Expr | None = None
    at: Span | None = location()


@frozen(eq=False, repr=False)
class Local(Record):
    """A `let` of the schedule, evaluated once as the iteration starts."""

    name: str
    at: Span | None = location()


@frozen(eq=False, repr=False)
class LoopName(Record):
    """The number of a pass of `for j in N`, or a `let` within a loop of a schedule."""

    name: str
    at: Span | None = location()


@frozen(eq=False, repr=False)
class Item(Record):
    """A number of a list of the program (`serq.ir.program.NumberList`), counted from 0."""

    name: str
    index: Expr
    at: Span | None = location()


@frozen(eq=False, repr=False)
class RequestField(Record):
    """What `request`, a name bound by a loop or a survey, has: `r.progress`, `r.lane`, `r.out`.

    kind: "field" (`serq.ir.moments.REQUEST_FIELDS`), "attribute" of its session, or "tag" of the engine.
    """

    request: str
    name: str
    kind: str
    at: Span | None = location()


@frozen(eq=False, repr=False)
class Survey(Record):
    """An aggregate over requests: `max r in running (body)`; 0 over none.

    kind: "max", "min", "sum" or "count" (of those whose `body` is not 0). among: "running", "waiting" or
    "batch", of `engine`. request: the name that `body` reads each of them by.
    """

    kind: str
    request: str
    among: str
    engine: str
    body: Expr
    at: Span | None = location()


@frozen(eq=False, repr=False)
class Observable(Record):
    """Live state: `queue(s)`, `used(p)`, `price(s, h, d)`, …; `arguments` are those after the place."""

    function: str
    place: Place
    arguments: tuple[Expr, ...] = ()
    at: Span | None = location()


@frozen(eq=False, repr=False)
class Summary(Record):
    """An aggregate over all samples of an observation, or of a client time (`serq.ir.moments.SUMMARIES`).

    operator, argument: of `share`, what samples are compared with; argument: of `quantile`, its level.
    """

    function: str
    observation: str
    operator: str | None = None
    argument: Expr | None = None
    at: Span | None = location()


@frozen(eq=False, repr=False)
class Func(Record):
    """min, max, abs, floor, ceil, sqrt, exp, ln."""

    function: str
    arguments: tuple[Expr, ...]
    at: Span | None = location()


@frozen(eq=False, repr=False)
class Fold(Record):
    """An aggregate written out: `kind` is "sum", "max" or "min", folded from the left; not empty."""

    kind: str
    terms: tuple[Expr, ...]
    at: Span | None = location()


@frozen(eq=False, repr=False)
class Draw(Record):
    """A random value by one of the laws in `serq.ir.moments.LAWS`. Each evaluation draws anew.

    arguments: of a table, value, probability, value, … file: the samples of `empirical`, relative to
    the program's file.
    """

    law: str
    arguments: tuple[Expr, ...]
    file: str | None = None
    at: Span | None = location()


@frozen(eq=False, repr=False)
class Unary(Record):
    """`-` or `!`."""

    operator: str
    operand: Expr
    at: Span | None = location()


@frozen(eq=False, repr=False)
class Binary(Record):
    """+ - * / ^ < <= > >= == != && ||; the last two evaluate only what they need."""

    operator: str
    left: Expr
    right: Expr
    at: Span | None = location()


@frozen(eq=False, repr=False)
class Conditional(Record):
    """`test ? then : otherwise`; any non-zero test counts as true."""

    test: Expr
    then: Expr
    otherwise: Expr
    at: Span | None = location()


COMPARISONS = frozenset({"<", "<=", ">", ">=", "==", "!="})

Expr: TypeAlias = Union[
    Num, Attr, Var, RegisterRead, Local, LoopName, Item, RequestField, Survey, Observable, Summary,
    Func, Fold, Draw, Unary, Binary, Conditional,
]  # fmt: skip


def children(e: Expr) -> tuple[Expr, ...]:
    """The expressions directly inside `e`, in reading order (an index of a place included)."""
    match e:
        case Num() | Attr() | Var() | Local() | LoopName() | RequestField():
            return ()
        case Binary(left=left, right=right):
            return (left, right)
        case Summary(argument=argument):
            return () if argument is None else (argument,)
        case RegisterRead(index=index):
            return () if index is None else (index,)
        case Item(index=index):
            return (index,)
        case Survey(body=body):
            return (body,)
        case Observable(place=place, arguments=arguments):
            return arguments if place.index is None else (place.index, *arguments)
        case Func(arguments=arguments) | Draw(arguments=arguments):
            return arguments
        case Fold(terms=terms):
            return terms
        case Unary(operand=operand):
            return (operand,)
        case Conditional(test=test, then=then, otherwise=otherwise):
            return (test, then, otherwise)


def walk(e: Expr) -> Iterator[Expr]:
    """`e` and everything inside it, outermost first."""
    stack = [e]
    while stack:
        node = stack.pop()
        yield node
        stack.extend(reversed(children(node)))
