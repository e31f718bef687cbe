"""Holds: how sessions get units of pools, let them grow, lose them and give them back.

Source of every rule: semantics, sections 5 to 7.
"""

from __future__ import annotations

from math import inf
from typing import TYPE_CHECKING, Any

from serq.machine.pools import Growth, Held, HoldCode, Need, Part, PoolMember, Waiting, fits
from serq.machine.records import Wait
from serq.machine.sessions import Preempted, Session
from serq.machine.waits import SHOWN
from serq.values import show

if TYPE_CHECKING:
    from serq.machine.loop import Machine
    from serq.source import Span

CACHED, COMPUTED = 2, 3
"""Slots of the attributes that holds set."""


class Holds:
    """The holds of one run.

    pools: every member, in the order of declaration. rejections: the first demands that could never fit.
    """

    def __init__(self, machine: Machine, pools: list[PoolMember]) -> None:
        self.machine = machine
        self.pools = pools
        self.free_pools = [pool for pool in pools if pool.pool.engine is None]
        self.admissions = 0
        self.rejections: list[Wait] = []

    # ------------------------------------------------------------ asking and admitting

    def ask(self, s: Session, code: HoldCode) -> bool:
        """The session joins the queue of the hold's first pool; True: its demand can never fit."""
        machine = self.machine
        pools = code.pools(s)
        waiting = Waiting(s, code, pools, machine.take_number(), machine.now)
        for need, (units_last, reserve_lasts) in zip(waiting.needs(), code.judged, strict=True):
            cap = need.pool.cap
            if (units_last and need.units > cap) or (reserve_lasts and need.reserve > cap):
                need.pool.tally.rejected += 1
                if len(self.rejections) < SHOWN:
                    where = (need.pool.label,), (code.statement.at,)
                    self.rejections.append(Wait("rejected", (s.serial,), *where, need.asked))
                return True
        for name in machine.requested:
            if name == pools[0].pool.engine:
                machine.stages[name][pools[0].index or 0].forget(s)
        self._wait(waiting)
        return False

    def _wait(self, waiting: Waiting, at_head: bool = False) -> None:
        waiting.session.waiting = waiting
        waiting.pools[0].enqueue(waiting, at_head)

    def admit_free(self) -> bool:
        """Pool by pool, growths that fit now, then the queue unless an engine admits it.

        Returns whether anybody moved.
        """
        moved = False
        for pool in self.pools:
            while pool.growths and pool.has_room(pool.growths[0].units, pool.growths[0].part):
                growth = pool.growths.popleft()
                pool.enlarge(growth.part, growth.units)
                growth.session.growth = None
                if growth.session.stage is None:
                    self.machine.make_ready(growth.session)
                moved = True
            while pool.queued_count and pool.pool.engine is None:
                waiting = pool.head()
                assert waiting is not None
                needs = waiting.needs()
                if not fits(needs):
                    break
                self.admit(waiting, needs)
                self.machine.make_ready(waiting.session)
                moved = True
        return moved

    def admit(self, waiting: Waiting, needs: list[Need]) -> None:
        """Take the units of a hold that fits; its session may run its body."""
        s, code, machine = waiting.session, waiting.code, self.machine
        first = waiting.pools[0]
        first.dequeue(waiting)
        first.tally.queue_admissions += 1
        first.tally.wait_sum += machine.now - waiting.joined
        held = Held(waiting)
        s.admission = float(self.admissions)
        self.admissions += 1
        consumed = dict.fromkeys(waiting.pools, 0.0)
        if code.cache is not None:
            # A bound below 0, or not a number, lets nothing be reused.
            reuse = inf if code.reuse is None else max(0.0, code.reuse(s))
            for pool in waiting.pools:
                pool.settle_tally()
                consumed[pool] = pool.cache.consume(s, pool.round_down(reuse))
        s.attributes[CACHED] = max(consumed.values())
        for need in needs:
            need.pool.take(held, need, consumed[need.pool])
        # Until here its own prefix, if it is evicted, is that of a session that waits.
        s.waiting = None
        if waiting.losses:
            s.woken_by = waiting
        s.holds.append(held)

    # ------------------------------------------------------------ giving back

    def end(self, s: Session, held: Held) -> None:
        """The body is over: everything but a lease is given back, and who fits now is admitted."""
        lease = held.code.lease
        keep = None if lease is None else held.parts.get(lease[0](s))
        for part in list(held.parts.values()):
            if part is not keep:
                self._give_back(part)
        s.holds.remove(held)
        s.attributes[COMPUTED] = 0.0
        if keep is not None and lease is not None:
            self._lease(s, keep, lease[1](s))
        self.admit_free()

    def _give_back(self, part: Part) -> None:
        """A part is released; with `cache`, what is computed of it stays behind as a prefix."""
        held = part.held
        s = held.session
        del held.parts[part.pool]
        left = None
        if held.code.cache is not None:
            left = min(held.code.cache(s), held.computed(part))
        part.pool.give_back(part)
        if left is not None:
            part.pool.leave(s, left)

    def _lease(self, s: Session, part: Part, lasts: float) -> None:
        if lasts != lasts:
            lease = part.held.code.statement.lease
            at = None if lease is None else lease[1].at
            self.machine.fail("SQ0623", at, session=s, name=part.pool.name)
        part.leased = True
        part.lease_ends = self.machine.now + lasts
        s.leases.append(part)
        if not lasts >= inf:
            machine = self.machine
            machine.schedule(machine.now + max(0.0, lasts), self._lease_over, part)

    def _lease_over(self, part: Part) -> None:
        if part.leased:
            self._end_lease(part)
            self.admit_free()

    def _end_lease(self, part: Part) -> None:
        part.leased = False
        part.held.session.leases.remove(part)
        self._give_back(part)

    def release(self, s: Session, pool: PoolMember) -> None:
        """Give the innermost hold's units on `pool` back now, or end a lease; who fits is admitted."""
        part = self._innermost(s, pool)
        if part is not None:
            self._give_back(part)
        else:
            lease = next((part for part in reversed(s.leases) if part.pool is pool), None)
            if lease is not None:
                self._end_lease(lease)
        self.admit_free()

    def drop(self, s: Session, pool: PoolMember) -> None:
        """Discard the session's own cache entry."""
        pool.settle_tally()
        pool.cache.drop(s)

    def end_session(self, s: Session) -> None:
        """Whatever the session still holds or leases is given back.

        Who fits is admitted when all is settled.
        """
        while s.holds:
            held = s.holds[-1]
            for part in list(held.parts.values()):
                self._give_back(part)
            s.holds.remove(held)
        for part in list(s.leases):
            self._end_lease(part)

    # ------------------------------------------------------------ growing

    def growing(self, s: Session, pool: PoolMember, at: Span | None) -> Part:
        """What the session's innermost hold has of `pool`, to be changed by the statement at `at`."""
        part = self._innermost(s, pool)
        if part is None:
            self.machine.fail("SQ0620", at, session=s, name=pool.name)
        return part

    def _innermost(self, s: Session, pool: PoolMember) -> Part | None:
        """What the session's innermost hold on `pool` has of it; leases are no holds any more."""
        for held in reversed(s.holds):
            if pool in held.parts:
                return held.parts[pool]
        return None

    def grow(self, s: Session, pool: PoolMember, units: float, at: Span | None) -> bool:
        """Enlarge the innermost hold; True when the session has to wait, or starts its hold over."""
        if not units >= 0:
            self.machine.fail("SQ0613", at, session=s, name=pool.name, value=show(units))
        part = self.growing(s, pool, at)
        units = pool.round_up(units)
        while not pool.has_room(units, part):
            victim = self.choose_victim(pool)
            if victim is None:
                self.stall(part, units, at)
                return True
            self.preempt(victim)
            if victim.held.session is s:
                return True
        pool.enlarge(part, units)
        return False

    def stall(self, part: Part, units: float, at: Span | None = None) -> None:
        """A growth of `units` waits until it fits; at: the statement that asks for it."""
        session = part.held.session
        session.growth = Growth(session, part, units, at)
        part.pool.growths.append(session.growth)

    def load(self, s: Session, pool: PoolMember, tokens: float, at: Span | None) -> None:
        """`tokens` more of the hold are computed: they came from elsewhere."""
        if not tokens >= 0:
            self.machine.fail("SQ0613", at, session=s, name=pool.name, value=show(tokens))
        part = self.growing(s, pool, at)
        if part.position + tokens > part.units:
            self.machine.fail(
                "SQ0614", at, session=s, name=pool.name, value=show(tokens), units=show(part.units),
                position=show(part.position),
            )  # fmt: skip
        part.position += tokens
        part.held.advanced = True

    # ------------------------------------------------------------ preemption

    def choose_victim(self, pool: PoolMember) -> Part | None:
        """Whose hold is taken when a growth does not fit; None: nobody's, the growth waits.

        Each session would lose its innermost hold; they stand by their places (`PoolMember.holders`). In an
        engine's memory only those with a run there that does not wait for memory itself are candidates, and
        they stand by their latest admission to any pool. Keys read the order as `admission`. The least keys,
        the last of equals.
        """
        if pool.victim_keys is None:
            return None
        keys = pool.victim_keys
        engine = self._engine_of(pool)
        sessions = list(pool.holders())
        if engine is not None:
            sessions = [s for s in sessions if s.stage is engine and s.growth is None]
            sessions.sort(key=lambda s: s.admission)
        for session in sessions:
            if session.stage is not None:
                session.stage.write_positions()
        candidates = [part for s in sessions if (part := self._innermost(s, pool)) is not None]
        best: Part | None = None
        least: Any = None
        for place, part in enumerate(candidates):
            part.place = place
            rank = keys(part)
            if best is None or not least < rank:
                best, least = part, rank
        return best

    def _engine_of(self, pool: PoolMember) -> Any:
        name = pool.pool.memory_of
        return None if name is None else self.machine.stages[name][pool.index or 0]

    def preempt(self, part: Part) -> None:
        """The victim loses its hold and everything inside it, and asks for it again."""
        machine, held = self.machine, part.held
        s, pool = held.session, part.pool
        position = part.position
        pool.tally.preemptions += 1
        if machine.forming is not None:
            machine.forming.preempted += 1
        self._interrupt(s)
        s.lost_token_at = s.token_at
        again = held.losses.pop(pool, -1.0) >= position
        held.losses[pool] = position
        if again and not any(s.serial in p.stuck for p in self.pools):
            pool.stuck[s.serial] = held.code.statement.at
        s.attributes[COMPUTED] = position
        for inner in reversed(s.holds[s.holds.index(held) :]):
            inner.advanced = True  # what is allocated and not computed is lost
            for inner_part in list(inner.parts.values()):
                self._give_back(inner_part)
            s.holds.remove(inner)
        s.restart = Preempted(held.asked)
        pools = held.code.pools(s)
        waiting = Waiting(s, held.code, pools, machine.take_number(), machine.now)
        waiting.asked, waiting.losses = held.asked, held.losses
        rule = pool.pool.preempt
        self._wait(waiting, at_head=rule is not None and rule.requeue == "head")

    def _interrupt(self, s: Session) -> None:
        """Take the session away from wherever it waits or works."""
        self.machine.forget_ready(s)
        if s.stage is not None:
            s.stage.cancel(s)
            s.stage = None
        if s.waiting is not None:
            s.waiting.pools[0].dequeue(s.waiting)
            s.waiting = None
        if s.growth is not None:
            s.growth.part.pool.growths.remove(s.growth)
            s.growth = None
