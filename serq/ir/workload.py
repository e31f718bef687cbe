"""How sessions arrive and what a client does."""

from __future__ import annotations

from typing import TypeAlias, Union

from attrs import frozen

from serq.ir.expr import Expr
from serq.ir.fields import Record, location
from serq.ir.server import Block
from serq.source import Span

SMALLEST_GAP = 1e-12
"""Mean time between arrivals that is still a stream; with less the clock would hardly move."""


MOST_IN_SLOT = 1_000_000
"""Sessions that one slot may bring."""


@frozen(eq=False, repr=False)
class Poisson(Record):
    """A session at time 0, then exponential gaps of mean 1/rate."""

    rate: float
    at: Span | None = location()


@frozen(eq=False, repr=False)
class Renewal(Record):
    """A session after each gap (moment Gap), the first after one gap."""

    gap: Expr
    at: Span | None = location()


@frozen(eq=False, repr=False)
class Closed(Record):
    """`count` sessions at time 0, a new one whenever one ends."""

    count: int
    at: Span | None = location()


@frozen(eq=False, repr=False)
class Batch(Record):
    """`count` sessions at time 0."""

    count: int
    at: Span | None = location()


@frozen(eq=False, repr=False)
class Timed(Record):
    """A session at each of `times`, which do not decrease."""

    times: tuple[float, ...]
    at: Span | None = location()


@frozen(eq=False, repr=False)
class NoArrivals(Record):
    at: Span | None = location()


@frozen(eq=False, repr=False)
class Slotted(Record):
    """`count` sessions (moment Gap, drawn anew) at 0, `slot`, 2 `slot`, …"""

    slot: float
    count: Expr
    at: Span | None = location()


@frozen(eq=False, repr=False)
class Stages(Record):
    """A Poisson stream whose rate changes: (rate, duration) one after the other, then nobody comes."""

    stages: tuple[tuple[float, float], ...]
    at: Span | None = location()


Arrival: TypeAlias = Union[Poisson, Renewal, Slotted, Stages, Closed, Batch, Timed, NoArrivals]


@frozen(eq=False, repr=False)
class Trace(Record):
    """Turns from a file; `ordered`: session i replays trace session i modulo their number."""

    path: str
    ordered: bool = False
    at: Span | None = location()


@frozen(eq=False, repr=False)
class Attribute(Record):
    """A session attribute that the program sets.

    kind: "size" (the workload assigns it), "value" or "cost". hidden: unknown to the scheduler.
    """

    name: str
    kind: str
    hidden: bool = False
    at: Span | None = location()


@frozen(eq=False, repr=False)
class Workload(Record):
    """session: what the client does, one `turn` by default."""

    arrival: Arrival
    init: Block = ()
    turn: Block = ()
    session: Block = ()
    trace: Trace | None = None
    at: Span | None = location()
