"""Gauges and claims: they read the state and never change it."""

from __future__ import annotations

from typing import TypeAlias, Union

from attrs import frozen

from serq.ir.expr import Expr, Place
from serq.ir.fields import Record, location
from serq.source import Span


@frozen(eq=False, repr=False)
class Gauge(Record):
    """The time average of a function of the state (moment Gauge)."""

    name: str
    value: Expr
    at: Span | None = location()


@frozen(eq=False, repr=False)
class EveryIteration(Record):
    """`value` is true at the start of every iteration of `engine`.

    given: restricts the claim to runs in which every session satisfies it (moment Given).
    text: the claim as its author wrote it.
    """

    name: str
    engine: Place
    value: Expr
    given: Expr | None = None
    text: str = ""
    at: Span | None = location()


@frozen(eq=False, repr=False)
class SomeIteration(Record):
    """`value` is true at the start of some iteration of `engine`."""

    name: str
    engine: Place
    value: Expr
    given: Expr | None = None
    text: str = ""
    at: Span | None = location()


@frozen(eq=False, repr=False)
class AtEnd(Record):
    """`value` is true when the run ends with no session live (moment End)."""

    name: str
    value: Expr
    given: Expr | None = None
    text: str = ""
    at: Span | None = location()


Claim: TypeAlias = Union[EveryIteration, SomeIteration, AtEnd]
