"""What an engine does in one iteration: the statements of a `schedule`, each run once, in order."""

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
    register: str
    value: Expr
    at: Span | None = location()


ScheduleStatement: TypeAlias = Union[Advance, Admit, ExclusivePrefill, ScheduleBranch, SetRegister]


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
