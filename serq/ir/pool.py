"""Pools: capacities that sessions hold."""

from __future__ import annotations

from attrs import frozen

from serq.ir.expr import Expr
from serq.ir.fields import Record, location
from serq.source import Span


@frozen(eq=False, repr=False)
class Preempt(Record):
    """A growth that does not fit takes the memory of the candidate with the least `keys`.

    requeue: where the victim waits again, "head" or "tail".
    """

    keys: tuple[Expr, ...]
    requeue: str = "head"
    at: Span | None = location()


@frozen(eq=False, repr=False)
class Spill(Record):
    """An evicted prefix for which `condition` is not 0 is written to pool `tier` by stage `via`."""

    tier: str
    via: str
    work: Expr
    condition: Expr
    at: Span | None = location()


@frozen(eq=False, repr=False)
class Pool(Record):
    """A capacity with its queue.

    cap: units, may be infinite. engine: the engine whose `admit waiting` admits its holds, None
    when they enter as soon as they fit. memory_of: the engine whose device's memory it is.
    queue_keys: None for first in, first out. evict_keys: None for least recently released.
    """

    name: str
    cap: float
    size: int | None = None
    engine: str | None = None
    memory_of: str | None = None
    block: float | None = None
    queue_keys: tuple[Expr, ...] | None = None
    evict_keys: tuple[Expr, ...] | None = None
    preempt: Preempt | None = None
    reserve_held: bool = False
    spill: Spill | None = None
    at: Span | None = location()
