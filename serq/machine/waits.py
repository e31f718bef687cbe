"""Who can never go on: what a finished run says of the sessions that wait in vain.

Five kinds. "rejected": a session asked a pool for more than its cap, and ended at that. "over": the head
of a queue asks for more than a cap, as the state is now. "cycle": sessions that
hold units wait for each other's (or a session for what it holds itself). "lease": a session waits
for what its own lease keeps for ever. "stuck": a hold was preempted again and again at no more
computed than before (the livelock of recomputation).
"""

from __future__ import annotations

from collections.abc import Iterator
from math import inf
from typing import TYPE_CHECKING

from serq.machine.pools import PoolMember
from serq.machine.records import Wait

if TYPE_CHECKING:
    from serq.machine.holds import Holds
    from serq.machine.sessions import Session
    from serq.source import Span

SHOWN = 5
"""Waits of one kind that are reported; more of them tell nothing new."""


def find_waits(holds: Holds) -> list[Wait]:
    """The sessions that can never go on, at the end of a run; at most `SHOWN` of each kind."""
    found: list[Wait] = []
    growths = over_growths(holds)
    for kind in (iter(holds.rejections), over_asks(holds), growths, cycles(holds), stuck_holds(holds)):
        found += [wait for _, wait in zip(range(SHOWN), kind, strict=False)]
    return found


def over_asks(holds: Holds) -> Iterator[Wait]:
    """Heads of queues that ask a pool for more than its cap."""
    for pool in holds.pools:
        head = pool.head()
        for need in head.needs() if head is not None else ():
            if head is not None and need.room > need.pool.cap:
                place = head.code.statement.at
                yield Wait("over", (head.session.serial,), (need.pool.label,), (place,), need.asked)


def over_growths(holds: Holds) -> Iterator[Wait]:
    """Holds that wait to grow beyond what their pool can ever give."""
    for pool in holds.pools:
        for growth in pool.growths:
            need = growth.part.units + growth.units
            if need > pool.cap:
                yield Wait("over", (growth.session.serial,), (pool.label,), (growth.at,), need)


def stuck_holds(holds: Holds) -> Iterator[Wait]:
    """Sessions that lost a hold again without having come further."""
    for pool in holds.pools:
        for serial, place in pool.stuck.items():
            yield Wait("stuck", (serial,), (pool.label,), (place,), None)


def cycles(holds: Holds) -> Iterator[Wait]:
    """Sessions that wait for units which only sessions of the same kind can give back."""
    never = {wait.sessions[0] for wait in over_growths(holds)}
    blocked = {
        s: blockers(s, pool) for pool in holds.pools for s in waiting_at(pool) if s.serial not in never
    }
    pools = {s: pool for pool in holds.pools for s in waiting_at(pool)}
    # Whoever waits for somebody that can still go on, can go on; the others are left.
    free = list(blocked)
    while free:
        free = [s for s, by in blocked.items() if not by or any(b not in blocked for b in by)]
        for s in free:
            del blocked[s]
    seen: set[Session] = set()
    for start in blocked:
        chain: list[Session] = []
        s = start
        while s not in seen:
            seen.add(s)
            chain.append(s)
            s = blocked[s][0]
        if s in chain:
            ring = chain[chain.index(s) :]
            leased = len(ring) == 1 and any(part.pool is pools[s] for part in s.leases)
            yield Wait(
                "lease" if leased else "cycle",
                tuple(member.serial for member in ring),
                tuple(pools[member].label for member in ring),
                tuple(place_of(member) for member in ring),
                None,
            )


def waiting_at(pool: PoolMember) -> Iterator[Session]:
    """Sessions that wait for room in the pool and matter to others: growths, and in its queue the
    head and whoever holds something meanwhile."""
    yield from (growth.session for growth in pool.growths)
    head = pool.head()
    for waiting in (*pool.returned, *pool.queue.values()):
        if waiting is head or waiting.session.holds or waiting.session.leases:
            yield waiting.session


def blockers(s: Session, pool: PoolMember) -> list[Session]:
    """The sessions that hold what `s` waits for; none if it waits for something else than room.

    What the session itself holds or leases for ever is never given back while it waits. A lease that
    ends by itself, and an engine that does not admit, are no reason to wait in vain.
    """
    if s.waiting is not None:
        short = [need.pool for need in s.waiting.needs() if not need.pool.has_room(need.room)]
    else:
        short = [pool]
    found: list[Session] = []
    for p in short:
        if any(part.leased and part.lease_ends < inf for part in p.parts):
            return []
        found += [part.held.session for part in p.parts if s.growth is None or part is not s.growth.part]
    head = None if s.waiting is None else pool.head()
    if head is not None and head is not s.waiting:
        found.append(head.session)
    return found


def place_of(s: Session) -> Span | None:
    """The statement at which a session waits."""
    if s.waiting is not None:
        return s.waiting.code.statement.at
    return None if s.growth is None else s.growth.at
