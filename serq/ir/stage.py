"""Devices and the stages that serve: engines, lines of servers, shared processors, delays."""

from __future__ import annotations

from typing import TypeAlias, Union

from attrs import frozen

from serq.ir.expr import Expr
from serq.ir.fields import Record, location
from serq.ir.schedule import Schedule
from serq.source import Span


@frozen(eq=False, repr=False)
class Device(Record):
    """What an engine runs on. Its time resources are written out where `execute` uses them.

    size: number of members of a family, None for a single device.
    """

    name: str
    size: int | None = None
    at: Span | None = location()


@frozen(eq=False, repr=False)
class Register(Record):
    """A `state` of an engine: a number kept between iterations. size: of an array of them, or None."""

    name: str
    initial: float
    size: int | None = None
    at: Span | None = location()


@frozen(eq=False, repr=False)
class Tag(Record):
    """A `tag` of an engine: a number kept with each request while it waits or runs there."""

    name: str
    initial: float
    at: Span | None = location()


@frozen(eq=False, repr=False)
class Engine(Record):
    """A stage that serves its runs in iterations.

    tokens_cap: tokens one iteration may compute (moment Cap). granule: a partial prefill is a
    multiple of it, None for no granule. execute: how long an iteration lasts (moment Execute).
    """

    name: str
    device: str
    tokens_cap: Expr
    schedule: Schedule
    execute: Expr
    size: int | None = None
    granule: float | None = None
    registers: tuple[Register, ...] = ()
    tags: tuple[Tag, ...] = ()
    at: Span | None = location()


@frozen(eq=False, repr=False)
class Fifo(Record):
    """`servers` servers, first come first served, rate 1 each."""

    name: str
    servers: float = 1
    size: int | None = None
    at: Span | None = location()


@frozen(eq=False, repr=False)
class SharedProcessor(Record):
    """`ps(capacity)`: all jobs at once, each at rate capacity/present (moment Capacity)."""

    name: str
    capacity: Expr
    size: int | None = None
    at: Span | None = location()


@frozen(eq=False, repr=False)
class Delay(Record):
    """Every job at rate 1."""

    name: str
    size: int | None = None
    at: Span | None = location()


Stage: TypeAlias = Union[Engine, Fifo, SharedProcessor, Delay]
