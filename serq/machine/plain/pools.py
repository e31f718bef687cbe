"""Holds and pools: admission, caches, growth and preemption (semantics, sections 5 to 7).

It is one file: every rule about units, from asking to losing them.
"""

from __future__ import annotations

from inspect import GEN_RUNNING, getgeneratorstate
from math import inf

from attrs import frozen

from serq.ir.expr import Expr, Observable, RegisterRead, Var, walk
from serq.ir.server import Hold as HoldStatement
from serq.machine.plain import caches, lines
from serq.machine.plain.evaluate import Here, of_session, pool_at, value
from serq.machine.plain.state import (
    Ended,
    Growth,
    Hold,
    Job,
    Machine,
    Part,
    Pool,
    Preempted,
    Run,
    Session,
)
from serq.source import Span
from serq.values import show


@frozen
class Need:
    """What a hold asks of one pool, in whole blocks: `units` to take, `room` to find.

    asked: the room as the header says it.
    """

    pool: Pool
    units: float
    room: float
    asked: float


# ---------------------------------------------------------------- asking and admitting


def ask(m: Machine, s: Session, statement: HoldStatement) -> Hold:
    """The session joins the queue of the hold's first pool; one whose demand can never fit ends."""
    here = of_session(m, s)
    pools = [pool_at(part.place, here) for part in statement.parts]
    hold = Hold(s, statement, pools, m.now)
    for pool, part in zip(pools, statement.parts, strict=True):
        for asked in (part.units, part.reserve):
            if asked is None:
                continue
            amount = pool.round_up(_amount(m, hold, pool, asked))
            if amount > pool.rule.cap and _is_lasting(asked):
                pool.tally.rejected += 1
                raise Ended
    for e in m.engines():
        if pools[0] in e.pools:
            e.tags = {key: tag for key, tag in e.tags.items() if key[0] is not s}
    _wait(hold)
    return hold


def _is_lasting(e: Expr) -> bool:
    """Whether `e` reads attributes and numbers only, so that waiting will not change it."""
    return not any(isinstance(node, (Observable, Var, RegisterRead)) for node in walk(e))


def _amount(m: Machine, hold: Hold, pool: Pool, asked: Expr) -> float:
    amount = value(asked, of_session(m, hold.session))
    if not amount >= 0:
        s, name = hold.session, pool.rule.name
        m.fail("SQ0613", hold.statement.at, session=s, name=name, value=show(amount))
    return amount


def _wait(hold: Hold) -> None:
    queue = hold.pools[0].queue
    queue.insert(0 if hold.returned else len(queue), hold)
    hold.session.stands = hold


def head(m: Machine, pool: Pool) -> Hold | None:
    """The hold to try next: one that was returned, else the least by the keys, first come first."""
    if not pool.queue or pool.queue[0].returned:
        return pool.queue[0] if pool.queue else None

    def rank(hold: Hold) -> list[float]:
        here = Here(m, hold.session, hold.session.attributes, subject=hold)
        return [value(key, here) for key in pool.rule.queue_keys or ()]

    return min(pool.queue, key=rank)


def needs(m: Machine, hold: Hold) -> list[Need]:
    """The header of a hold, as it reads now."""
    found = []
    for pool, part in zip(hold.pools, hold.statement.parts, strict=True):
        units = _amount(m, hold, pool, part.units)
        room = units if part.reserve is None else max(units, _amount(m, hold, pool, part.reserve))
        found.append(Need(pool, pool.round_up(units), pool.round_up(room), room))
    return found


def fits(asked: list[Need]) -> bool:
    """Whether every part of a hold has room now."""
    return all(need.pool.has_room(need.room) for need in asked)


def serve_queues(m: Machine) -> bool:
    """Pool by pool: growths that now fit, then waiting holds, unless an engine admits them.

    Called whenever units come back. Returns whether anybody got something.
    """
    moved = False
    for pool in m.all_pools():
        while pool.growths and pool.has_room(pool.growths[0].units, pool.growths[0].part):
            growth = pool.growths.pop(0)
            caches.enlarge(m, growth.part, growth.units)
            if growth.run is None:
                _make_ready(m, growth.part.hold.session)
            else:
                growth.run.stalls = None
            moved = True
        while pool.rule.engine is None and (hold := head(m, pool)) and fits(asked := needs(m, hold)):
            admit(m, hold, asked)
            moved = True
    return moved


def admit(m: Machine, hold: Hold, asked: list[Need]) -> None:
    """The units of a hold that fits are taken, in all its pools together."""
    s, first = hold.session, hold.pools[0]
    first.queue.remove(hold)
    first.tally.queue_admissions += 1
    first.tally.wait_sum += m.now - hold.joined
    hold.returned, hold.advanced = False, False
    s.admission = float(m.admissions)
    m.admissions += 1
    consumed = [0.0 for _ in asked]
    if hold.statement.cache is not None:
        reuse = inf
        if hold.statement.reuse is not None:
            # A bound below 0, or not a number, lets nothing be reused.
            reuse = max(0.0, value(hold.statement.reuse, of_session(m, s)))
        consumed = [caches.consume(need.pool, s, need.pool.round_down(reuse)) for need in asked]
    s.attributes["cached"] = max(consumed)
    for need, position in zip(asked, consumed, strict=True):
        part = Part(hold, need.pool, need.room, position)
        hold.parts.append(part)
        need.pool.parts.append(part)
        need.pool.places.append(s)
        need.pool.tally.admissions += 1
        caches.enlarge(m, part, need.units)
    s.holds.append(hold)
    if hold.losses:
        s.woken_by = hold
    _make_ready(m, s)


def _make_ready(m: Machine, s: Session) -> None:
    s.stands = None
    m.ready.append(s)


# ---------------------------------------------------------------- giving back


def give_back(m: Machine, part: Part) -> None:
    """A part is released; under `cache`, what is computed of it stays behind."""
    hold, pool = part.hold, part.pool
    s, cache = hold.session, hold.statement.cache
    hold.parts.remove(part)
    left = 0.0
    if cache is not None:
        computed = part.position if hold.advanced else part.units
        left = min(value(cache, of_session(m, s, s.draws)), computed)
    pool.parts.remove(part)
    pool.places.remove(s)
    if cache is not None:
        caches.leave(m, pool, s, pool.round_down(left))


def give_all_back(m: Machine, hold: Hold) -> None:
    """The session loses a hold: its body is left before its end."""
    for part in list(hold.parts):
        give_back(m, part)
    hold.session.holds.remove(hold)


def end(m: Machine, hold: Hold) -> None:
    """The body is over; a leased part stays, the others go, and who fits now is admitted."""
    s, lease = hold.session, hold.statement.lease
    here = of_session(m, s, s.draws)
    kept = None if lease is None else pool_at(lease[0], here)
    for part in list(hold.parts):
        if part.pool is not kept:
            give_back(m, part)
    s.holds.remove(hold)
    s.attributes["computed"] = 0.0
    if lease is not None and hold.parts:
        part, lasts = hold.parts[0], value(lease[1], here)
        if lasts != lasts:
            m.fail("SQ0623", lease[1].at, session=s, name=part.pool.rule.name)
        part.leased = True
        s.leases.append(part)
        if not lasts >= inf:
            m.schedule(m.now + (lasts if lasts > 0 else 0.0), lambda: end_lease(m, part))
    serve_queues(m)


def end_lease(m: Machine, part: Part) -> None:
    """The units of a lease come back, if they have not before."""
    if not part.leased:
        return
    _give_lease_back(m, part)
    serve_queues(m)


def end_session(m: Machine, s: Session) -> None:
    """What an ended session leases comes back; what it held has already."""
    for part in list(s.leases):
        _give_lease_back(m, part)


def _give_lease_back(m: Machine, part: Part) -> None:
    part.leased = False
    part.hold.session.leases.remove(part)
    give_back(m, part)


def innermost(s: Session, pool: Pool) -> Part | None:
    """What the session's innermost hold on a pool has of it."""
    return next((part for hold in reversed(s.holds) for part in hold.parts if part.pool is pool), None)


def growing(m: Machine, s: Session, pool: Pool, at: Span | None) -> Part:
    """The same, for a statement that is going to change it."""
    return innermost(s, pool) or m.fail("SQ0620", at, session=s, name=pool.rule.name)


def release(m: Machine, s: Session, pool: Pool) -> None:
    """The innermost hold's units on the pool come back now, or a lease ends; who fits is admitted."""
    part = innermost(s, pool)
    leased = next((part for part in reversed(s.leases) if part.pool is pool), None)
    if part is not None:
        give_back(m, part)
    elif leased is not None:
        _give_lease_back(m, leased)
    serve_queues(m)


# ---------------------------------------------------------------- growing


def grow(m: Machine, s: Session, pool: Pool, units: float, at: Span | None) -> bool:
    """Enlarge the innermost hold, at the cost of others if need be; True when it has to wait."""
    part = growing(m, s, pool, at)
    units = pool.round_up(units)
    while not pool.has_room(units, part):
        victim = choose_victim(m, pool)
        if victim is None:
            s.stands = Growth(part, units)
            pool.growths.append(s.stands)
            return True
        preempt(m, victim, by_grow=True)
    caches.enlarge(m, part, units)
    return False


def load(m: Machine, s: Session, pool: Pool, tokens: float, at: Span | None) -> None:
    """`tokens` more of the innermost hold are computed: they came from elsewhere."""
    part = growing(m, s, pool, at)
    if part.position + tokens > part.units:
        m.fail(
            "SQ0614", at, session=s, name=pool.rule.name, value=show(tokens), units=show(part.units),
            position=show(part.position),
        )  # fmt: skip
    part.position += tokens
    part.hold.advanced = True


def choose_victim(m: Machine, pool: Pool) -> Part | None:
    """Whose hold is taken when a growth does not fit; None: nobody's.

    Each session would lose its innermost hold; they stand by their first places. In an engine's memory only
    those with a run there that does not stall are candidates, and stand by their latest admission to any
    pool. The least keys, the last of equals.
    """
    rule = pool.rule.preempt
    if rule is None:
        return None
    sessions = pool.sessions
    if pool.rule.memory_of is not None:
        engine = m.stages[pool.rule.memory_of][pool.index or 0]
        standing = [s.stands for s in sessions if isinstance(s.stands, Run)]
        there = [run.session for run in standing if run.engine is engine and run.stalls is None]
        sessions = sorted(there, key=lambda s: s.admission)
    candidates = [part for s in sessions if (part := innermost(s, pool)) is not None]

    def rank(place: int, part: Part) -> tuple[tuple[float, ...], int]:
        here = Here(m, part.hold.session, part.hold.session.attributes, subject=part, place=place)
        return tuple(value(key, here) for key in rule.keys), -place

    ranked = {rank(place, part): part for place, part in enumerate(candidates)}
    return ranked[min(ranked)] if ranked else None


def preempt(m: Machine, part: Part, by_grow: bool = False) -> None:
    """The victim loses its hold with everything inside, and waits for it again."""
    hold, pool, s = part.hold, part.pool, part.hold.session
    position, rule = part.position, part.pool.rule.preempt
    assert rule is not None
    pool.tally.preemptions += 1
    if m.forming is not None:
        m.forming.preempted += 1
    _interrupt(m, s, by_grow)
    s.tokens.lost_at = s.tokens.last_at
    again = hold.losses.pop(pool, -1.0) >= position
    hold.losses[pool] = position
    if again and all(s.serial not in other.stuck for other in m.all_pools()):
        pool.stuck.add(s.serial)
    s.attributes["computed"] = position
    for inner in reversed(s.holds[s.holds.index(hold) :]):
        inner.advanced = True  # only what is computed may stay behind
        give_all_back(m, inner)
    hold.pools = [pool_at(p.place, of_session(m, s)) for p in hold.statement.parts]
    hold.joined, hold.returned = m.now, rule.requeue == "head"
    _wait(hold)
    if getgeneratorstate(s.program) == GEN_RUNNING:  # it is the grower itself
        raise Preempted(hold)
    s.program.throw(Preempted(hold))


def _interrupt(m: Machine, s: Session, by_grow: bool) -> None:
    """Take a session away from wherever it works or waits.

    What the batch gave it returns to the budget; but what a run that does not grow loses to a `grow` is
    lost, as the reference has it.
    """
    match s.stands:
        case Run() as run:
            run.engine.runs.remove(run)
            given = run.engine.batch.pop(run, 0.0)
            if by_grow and run.growing is None:
                run.engine.lost += given
            else:
                run.engine.returned += given
            if run.stalls is not None:
                run.stalls.part.pool.growths.remove(run.stalls)
        case Job() as job:
            lines.cancel(m, job)
        case Hold() as hold:
            hold.pools[0].queue.remove(hold)
        case Growth() as growth:
            growth.part.pool.growths.remove(growth)
        case None:
            if s in m.ready:
                m.ready.remove(s)
    s.stands = None
