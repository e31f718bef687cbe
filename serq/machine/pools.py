"""Pools: units that sessions hold, and the queues of the holds that wait for them.

A hold waits in the queue of its first pool. Only the head is tried; if it does not fit, everybody
behind it waits (semantics, section 5).
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable
from typing import TYPE_CHECKING

from attrs import frozen

from serq.machine.records import PoolTally

if TYPE_CHECKING:
    from serq.ir.pool import Pool
    from serq.ir.server import Hold
    from serq.machine.loop import Machine
    from serq.machine.sessions import Session


@frozen(eq=False)
class HoldCode:
    """A `hold` statement made ready to run; functions take the session.

    pools: where each part is held. units, reserves: what it asks (units of its pool), read at every
    try; `judged` tells which of them read only attributes and numbers. keep: sets the bindings that
    the body reads.
    """

    statement: Hold
    pools: Callable[[Session], tuple[PoolMember, ...]]
    units: tuple[Callable[[Session], float], ...]
    reserves: tuple[Callable[[Session], float] | None, ...]
    judged: tuple[tuple[bool, bool], ...]
    keep: Callable[[Session], None] | None


class Waiting:
    """A hold in a queue."""

    __slots__ = ("code", "joined", "number", "pools", "session")

    def __init__(
        self, session: Session, code: HoldCode, pools: tuple[PoolMember, ...], number: int, now: float
    ) -> None:
        self.session = session
        self.code = code
        self.pools = pools
        self.number = number
        self.joined = now

    def needs(self) -> list[tuple[PoolMember, float, float]]:
        """(pool, units, room required) of each part, as the header reads now."""
        s, code = self.session, self.code
        found = []
        for pool, units_of, reserve_of in zip(self.pools, code.units, code.reserves, strict=True):
            units = units_of(s)
            room = units if reserve_of is None else max(units, reserve_of(s))
            found.append((pool, units, room))
        return found


class Held:
    """What a session holds of one hold statement, part by part."""

    __slots__ = ("code", "parts")

    def __init__(self, code: HoldCode, parts: dict[PoolMember, float]) -> None:
        self.code = code
        self.parts = parts


class PoolMember:
    """One pool, or one member of a family."""

    def __init__(self, machine: Machine, pool: Pool, index: int | None) -> None:
        self.machine = machine
        self.pool = pool
        self.name = pool.name
        self.index = index
        self.cap = pool.cap
        self.used = 0.0
        self.holder_count = 0
        # An ordered dict finds its first entry at once, however many have left before it.
        self.queue: OrderedDict[int, Waiting] = OrderedDict()
        self.queued_count = 0
        self.tally = PoolTally(pool.name, index)
        self._since = 0.0
        # Set by the machine once expressions can be compiled; None: first in, first out.
        self.keys: Callable[[Waiting], tuple[float, ...]] | None = None

    def settle_tally(self) -> None:
        now = self.machine.now
        passed = now - self._since
        if passed:
            tally = self.tally
            tally.used_area += self.used * passed
            tally.queue_area += self.queued_count * passed
            tally.holders_area += self.holder_count * passed
        self._since = now

    def enqueue(self, waiting: Waiting) -> None:
        self.settle_tally()
        self.queue[waiting.number] = waiting
        self.queued_count += 1

    def dequeue(self, waiting: Waiting) -> None:
        self.settle_tally()
        del self.queue[waiting.number]
        self.queued_count -= 1

    def head(self) -> Waiting | None:
        """The selected head: least keys, re-read now, ties by joining order."""
        if not self.queue:
            return None
        if self.keys is None:
            return next(iter(self.queue.values()))
        keys = self.keys
        return min(self.queue.values(), key=lambda w: (keys(w), w.number))

    def take(self, units: float) -> None:
        self.settle_tally()
        self.used += units
        self.holder_count += 1
        self.tally.admissions += 1

    def give_back(self, units: float) -> None:
        self.settle_tally()
        self.used -= units
        self.holder_count -= 1

    def end_warmup(self) -> None:
        """Forget averages and waiting times; counters count from time 0."""
        tally = self.tally
        tally.used_area = tally.cached_area = tally.queue_area = tally.holders_area = 0.0
        tally.queue_admissions = 0
        tally.wait_sum = 0.0
        self._since = self.machine.now

    def close(self) -> PoolTally:
        self.settle_tally()
        return self.tally

    def report_overask(self) -> None:
        """Note on each pool that the head of this queue asks it for more than its cap."""
        head = self.head()
        for pool, _, room in head.needs() if head is not None else ():
            if room > pool.cap:
                pool.tally.over_cap = (self.name, room)


def fits(needs: list[tuple[PoolMember, float, float]]) -> bool:
    """Whether every part of a hold has room now."""
    return all(pool.used + room <= pool.cap for pool, _, room in needs)
