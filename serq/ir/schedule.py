"""What an engine does in one iteration: the statements of a `schedule`, in order."""

from __future__ import annotations

from typing import TypeAlias, Union

from attrs import frozen

from serq.ir.expr import Expr
from serq.ir.fields import Record, location
from serq.source import Span


@frozen(eq=False, repr=False)
class Advance(Record):
    """`advance running`: tokens to the runs not yet served in this iteration.

    order: "admission", "decode first" or "by" (ascending `keys`); ties by admission number, then
    by joining order. only: runs for which it is 0 are left for a later statement.
    """

    order: str = "admission"
    keys: tuple[Expr, ...] = ()
    only: Expr | None = None
    at: Span | None = location()


@frozen(eq=False, repr=False)
class Admit(Record):
    """`admit waiting`: takes the heads of the queues this engine admits while `condition` is 1."""

    only: Expr | None = None
    condition: Expr | None = None
    at: Span | None = location()


@frozen(eq=False, repr=False)
class ExclusivePrefill(Record):
    """One prefill alone, or decodes only (with the `admit waiting` that follows it)."""

    at: Span | None = location()


@frozen(eq=False, repr=False)
class ScheduleBranch(Record):
    test: Expr
    then: tuple[ScheduleStatement, ...]
    otherwise: tuple[ScheduleStatement, ...] = ()
    at: Span | None = location()


@frozen(eq=False, repr=False)
class SetRegister(Record):
    """index: of an array of registers, None for a single one."""

    register: str
    value: Expr
    index: Expr | None = None
    at: Span | None = location()


@frozen(eq=False, repr=False)
class SetTag(Record):
    """`set r.lane = e;`: the tag of the request that the loop around calls `request`."""

    request: str
    tag: str
    value: Expr
    at: Span | None = location()


@frozen(eq=False, repr=False)
class ForRequests(Record):
    """`for r in waiting by (keys) where (p) {…}`: over those present as it starts, by ascending keys.

    among: "waiting" or "running". Ties go by queue and joining order, or by standing order. where: of
    those for which it is 0 there is no pass; it and the keys are read as the loop starts.
    """

    request: str
    among: str
    body: tuple[ScheduleStatement, ...]
    keys: tuple[Expr, ...] = ()
    where: Expr | None = None
    at: Span | None = location()


@frozen(eq=False, repr=False)
class ForIndex(Record):
    """`for j in N {…}`: passes 0 … count − 1."""

    name: str
    count: int
    body: tuple[ScheduleStatement, ...]
    at: Span | None = location()


@frozen(eq=False, repr=False)
class Break(Record):
    """Leaves the innermost loop."""

    at: Span | None = location()


@frozen(eq=False, repr=False)
class SetName(Record):
    """A `let` within a loop, read as `LoopName`."""

    name: str
    value: Expr
    at: Span | None = location()


@frozen(eq=False, repr=False)
class AdmitOne(Record):
    """`admit r`: this waiting request, out of queue order, if every pool of its hold has room."""

    request: str
    at: Span | None = location()


@frozen(eq=False, repr=False)
class AdvanceOne(Record):
    """`advance r`: tokens to this running request, if it has not been served in this iteration."""

    request: str
    at: Span | None = location()


ScheduleStatement: TypeAlias = Union[
    Advance, Admit, ExclusivePrefill, ScheduleBranch, SetRegister, SetTag, ForRequests, ForIndex, Break,
    SetName, AdmitOne, AdvanceOne,
]  # fmt: skip


def parts_of(s: ScheduleStatement) -> tuple[tuple[ScheduleStatement, ...], ...]:
    """The statements directly inside a statement of a schedule: the arms of a branch, the body of a loop."""
    match s:
        case ScheduleBranch(then=then, otherwise=otherwise):
            return (then, otherwise)
        case ForRequests(body=body) | ForIndex(body=body):
            return (body,)
        case _:
            return ()


@frozen(eq=False, repr=False)
class ScheduleLet(Record):
    """Evaluated once as the iteration starts; read as `Local`."""

    name: str
    value: Expr
    at: Span | None = location()


@frozen(eq=False, repr=False)
class Schedule(Record):
    """each_at_most: tokens one run may get in an iteration, evaluated as it starts; None: no limit."""

    statements: tuple[ScheduleStatement, ...]
    lets: tuple[ScheduleLet, ...] = ()
    each_at_most: Expr | None = None
    at: Span | None = location()
