"""Pools: units that sessions hold, and the queues of the holds that wait for them.

It is one file: what a pool is, and everything that is done to its units.

A hold waits in the queue of its first pool. Only the head is tried; if it does not fit, everybody
behind it waits (semantics, section 5).
"""

from __future__ import annotations

from collections import OrderedDict, deque
from collections.abc import Callable, Iterable
from math import ceil, floor, inf
from typing import TYPE_CHECKING

from attrs import frozen

from serq.machine.cache import Entry, PrefixCache
from serq.machine.records import PoolTally
from serq.values import show

if TYPE_CHECKING:
    from serq.ir.pool import Pool
    from serq.ir.server import Hold
    from serq.machine.loop import Machine
    from serq.machine.sessions import Session
    from serq.machine.stages.base import StageMember
    from serq.source import Span


@frozen(eq=False)
class HoldCode:
    """A `hold` statement made ready to run; functions take the session.

    pools: where each part is held. units, reserves: what it asks (units of its pool), read at every
    try; `judged` tells which of them read only attributes and numbers. keep: sets the bindings that
    the body reads. reuse: units of the prefix cache it may consume, None for all of them. cache:
    units to leave behind, None when it takes no part in the cache. lease: pool and time.
    """

    statement: Hold
    pools: Callable[[Session], list[PoolMember]]
    units: tuple[Callable[[Session], float], ...]
    reserves: tuple[Callable[[Session], float] | None, ...]
    judged: tuple[tuple[bool, bool], ...]
    keep: Callable[[Session], None] | None
    reuse: Callable[[Session], float] | None
    cache: Callable[[Session], float] | None
    lease: tuple[Callable[[Session], PoolMember], Callable[[Session], float]] | None


@frozen(eq=False)
class Need:
    """What a waiting hold asks of one pool, in whole blocks: the units it takes, what it reserves.

    asked: the larger of the two as the header says it.
    """

    pool: PoolMember
    units: float
    reserve: float
    asked: float

    @property
    def room(self) -> float:
        """Units that must be free."""
        return max(self.units, self.reserve)


class Waiting:
    """A hold in a queue.

    asked: stands for the execution of the `hold` statement, of which a preempted hold is another attempt.
    losses: the pools in which it was preempted, the last one last, and its position there then.
    """

    __slots__ = ("_lasting", "asked", "code", "joined", "losses", "number", "pools", "session")

    def __init__(
        self, session: Session, code: HoldCode, pools: list[PoolMember], number: int, now: float
    ) -> None:
        self.session = session
        self.code = code
        self.pools = pools
        self.number = number
        self.joined = now
        self.asked = object()
        self.losses: dict[PoolMember, float] = {}
        # Parts that cannot change while the hold waits: what is asked of them is read once.
        self._lasting: list[Need | None] = [None] * len(pools)

    def needs(self) -> list[Need]:
        """The parts of the hold, as its header reads now, rounded up to blocks."""
        return [need or self._read(k) for k, need in enumerate(self._lasting)]

    def is_short(self) -> bool:
        """Whether a part that cannot change has no room; then the others need not be read."""
        return any(need is not None and not need.pool.has_room(need.room) for need in self._lasting)

    def ask_again(self) -> None:
        """The hold joins a queue: everything in its header may have changed since."""
        self._lasting = [None] * len(self.pools)

    def _read(self, k: int) -> Need:
        s, code, pool = self.session, self.code, self.pools[k]
        reserve_of = code.reserves[k]
        units = self._amount(pool, code.units[k](s))
        reserve = 0.0 if reserve_of is None else self._amount(pool, reserve_of(s))
        need = Need(pool, pool.round_up(units), pool.round_up(reserve), max(units, reserve))
        units_last, reserve_lasts = code.judged[k]
        if units_last and (reserve_of is None or reserve_lasts):
            self._lasting[k] = need
        return need

    def _amount(self, pool: PoolMember, units: float) -> float:
        """What a part asks for, if it is a number of units."""
        if not units >= 0:
            at = self.code.statement.at
            pool.machine.fail("SQ0613", at, session=self.session, name=pool.name, value=show(units))
        return units


class Part:
    """What a hold has of one pool.

    units: allocated. room: asked for at admission. position: computed tokens. leased: the body is
    over, the units stay, until `lease_ends`. place: among the candidates for preemption, as of now.
    """

    __slots__ = ("held", "lease_ends", "leased", "place", "pool", "position", "room", "units")

    def __init__(self, held: Held, pool: PoolMember, units: float, room: float, position: float) -> None:
        self.held = held
        self.pool = pool
        self.units = units
        self.room = room
        self.position = position
        self.leased = False
        self.lease_ends = inf
        self.place = 0


class Held:
    """A hold that was admitted: its parts by pool, fewer as they are released.

    advanced: a growing run or a `load` has moved the position of one of them. asked, losses: as of the
    hold that waited.
    """

    __slots__ = ("advanced", "asked", "code", "losses", "parts", "session")

    def __init__(self, waiting: Waiting) -> None:
        self.session = waiting.session
        self.code = waiting.code
        self.asked = waiting.asked
        self.losses = waiting.losses
        self.advanced = False
        self.parts: dict[PoolMember, Part] = {}

    def computed(self, part: Part) -> float:
        """How much of a part is computed: its position, or all of it if nothing in the hold grew."""
        return part.position if self.advanced else part.units


@frozen(eq=False)
class SpillCode:
    """A `spill` made ready to run; functions take the piece that is evicted."""

    condition: Callable[[Entry], float]
    work: Callable[[Entry], float]
    tier: PoolMember
    via: StageMember


class Growth:
    """A growth that waits for room: of a `grow`, or of a run at an engine, which gets no tokens then.

    at: the `grow`, or the hold whose run it is.
    """

    __slots__ = ("at", "part", "session", "units")

    def __init__(self, session: Session, part: Part, units: float, at: Span | None) -> None:
        self.session = session
        self.part = part
        self.units = units
        self.at = at or part.held.code.statement.at


class Moves:
    """Who came to a queue or left it, for those who follow it.

    made: one after the other, the old ones forgotten now and then; forgotten: how often.
    """

    __slots__ = ("forgotten", "made")

    def __init__(self) -> None:
        self.made: list[Waiting] = []
        self.forgotten = 0

    def note(self, waiting: Waiting, queued: int) -> None:
        """Somebody came or went; queued: how many wait now."""
        if len(self.made) > 2 * queued + 100:
            self.made = []
            self.forgotten += 1
        self.made.append(waiting)


class PoolMember:
    """One pool, or one member of a family."""

    def __init__(self, machine: Machine, pool: Pool, index: int | None) -> None:
        self.machine = machine
        self.pool = pool
        self.name = pool.name
        self.index = index
        self.cap = pool.cap
        self.block = pool.block
        self.used = 0.0
        # The parts held here, in admission order; a dict finds and removes them at once.
        self.parts: dict[Part, None] = {}
        # A place in line for each of them, and the places of each session.
        self._places: dict[int, Session] = {}
        self._holders: dict[Session, deque[int]] = {}
        self.stuck: dict[int, Span | None] = {}
        self.cache = PrefixCache()
        # An ordered dict finds its first entry at once, however many have left before it.
        self.queue: OrderedDict[int, Waiting] = OrderedDict()
        self.returned: deque[Waiting] = deque()
        self.queued_count = 0
        # Of a queue that an order of `stages.orders` follows.
        self.moves: Moves | None = None
        self.growths: deque[Growth] = deque()
        self.tally = PoolTally(pool.name, index)
        self._since = 0.0
        # Set by the machine once expressions can be compiled.
        self.queue_keys: Callable[[Waiting], tuple[float, ...]] | None = None
        self.victim_keys: Callable[[Part], tuple[float, ...]] | None = None
        self.spill: SpillCode | None = None

    # ------------------------------------------------------------ amounts

    @property
    def is_simple(self) -> bool:
        """Whether two growths at one instant come to the same as one of their sum."""
        return not self.pool.reserve_held and self.cache.keys is None and self.spill is None

    @property
    def label(self) -> str:
        """As people write it: `kv`, or `kv[1]` for a member of a family."""
        return self.name if self.index is None else f"{self.name}[{self.index}]"

    @property
    def holder_count(self) -> int:
        """Sessions that hold units here, each counted once."""
        return len(self._holders)

    def holders(self) -> Iterable[Session]:
        """Sessions that hold units here, by their first places, the order in which preemption sees them.

        Each part takes a place when it is admitted; whichever part is given back, leased ones too, its
        session loses the first that it has. So one that gives back an inner hold stands where it got it.
        """
        return dict.fromkeys(self._places.values())

    def round_up(self, units: float) -> float:
        """To whole blocks."""
        if self.block is None or not units < float("inf"):
            return units
        return ceil(units / self.block) * self.block

    def round_down(self, units: float) -> float:
        if self.block is None or not units < float("inf"):
            return units
        return floor(units / self.block) * self.block

    def has_room(self, room: float, but: Part | None = None) -> bool:
        """Whether `room` more units fit; cached units never count against it.

        With `reserve held`, what other holds have reserved and not allocated counts as taken.
        """
        taken = self.used
        if self.pool.reserve_held:
            taken += sum(max(0.0, p.room - p.units) for p in self.parts if p is not but and not p.leased)
        return taken + room <= self.cap

    # ------------------------------------------------------------ the queue

    def enqueue(self, waiting: Waiting, at_head: bool = False) -> None:
        self.settle_tally()
        waiting.ask_again()
        if at_head:
            self.returned.appendleft(waiting)
        else:
            self.queue[waiting.number] = waiting
        self.queued_count += 1
        if self.moves is not None:
            self.moves.note(waiting, self.queued_count)

    def dequeue(self, waiting: Waiting) -> None:
        self.settle_tally()
        if waiting.number in self.queue:
            del self.queue[waiting.number]
        else:
            self.returned.remove(waiting)
        self.queued_count -= 1
        if self.moves is not None:
            self.moves.note(waiting, self.queued_count)

    def head(self) -> Waiting | None:
        """The selected head: least keys, re-read now, ties by joining order; returned ones first."""
        if self.returned:
            return self.returned[0]
        if not self.queue:
            return None
        if self.queue_keys is None:
            return next(iter(self.queue.values()))
        keys = self.queue_keys
        return min(self.queue.values(), key=lambda w: (keys(w), w.number))

    # ------------------------------------------------------------ units

    def take(self, held: Held, need: Need, position: float) -> None:
        """Allocate a part; there is room."""
        self.settle_tally()
        self.put_part(held, need, position)
        self.make_room(need.units)
        self.used += need.units
        self.tally.admissions += 1

    def put_part(self, held: Held, need: Need, position: float) -> None:
        """A hold has a part, whose units are not counted here."""
        part = held.parts[self] = Part(held, self, need.units, need.room, position)
        self.parts[part] = None
        place = self.tally.admissions
        self._places[place] = held.session
        self._holders.setdefault(held.session, deque()).append(place)

    def enlarge(self, part: Part, units: float) -> None:
        """Allocate more to a part; there is room."""
        self.settle_tally()
        self.make_room(units)
        self.used += units
        part.units += units

    def give_back(self, part: Part) -> None:
        self.settle_tally()
        self.used -= part.units
        del self.parts[part]
        session = part.held.session
        places = self._holders[session]
        del self._places[places.popleft()]
        if not places:
            del self._holders[session]

    def make_room(self, units: float) -> None:
        """Evict cached prefixes until `units` more fit beside what stays."""
        cache, tally = self.cache, self.tally
        while cache.units > 0 and self.used + units + cache.units > self.cap:
            self.settle_tally()
            entry = cache.least()
            gone = entry.units
            if self.block is not None:
                # Block by block; all at once where nobody looks between two of them.
                excess = self.used + units + cache.units - self.cap
                one_by_one = cache.keys is not None or self.spill is not None
                gone = min(gone, self.block if one_by_one else self.round_up(excess))
            piece = None if self.spill is None else entry.piece(gone)
            tally.evicted_units += gone
            tally.evicted_entries += cache.cut(entry, gone)
            if self.spill is not None and piece is not None:
                self._write_down(self.spill, piece)

    def _write_down(self, spill: SpillCode, piece: Entry) -> None:
        """What is evicted appears in the tier at once; the job that carries it keeps nobody waiting."""
        if not spill.condition(piece):
            return
        self.tally.spills += 1
        work = spill.work(piece)
        spill.tier.receive(piece)
        if work > 0:
            if spill.via.is_engine:
                option = self.pool.spill
                self.machine.fail("SQ0633", None if option is None else option.at, name=spill.via.name)
            spill.via.join(None, None, work, None)

    def receive(self, piece: Entry) -> None:
        """A prefix written down from another pool joins what is here of its owner.

        Room is made for what is here already, not for what comes, as the reference does: a tier may
        exceed its cap by the last piece until the next one comes.
        """
        self.settle_tally()
        self.make_room(0.0)
        self.cache.add(piece, self.machine.now, self.machine.take_number())

    def leave(self, session: Session, units: float) -> None:
        """A hold of the session ended and leaves a prefix of `units` (whole blocks of it)."""
        self.settle_tally()
        number = self.machine.take_number()
        self.cache.leave(session, self.round_down(units), self.machine.now, number)

    # ------------------------------------------------------------ figures

    def settle_tally(self) -> None:
        now = self.machine.now
        passed = now - self._since
        if passed:
            tally = self.tally
            tally.used_area += self.used * passed
            tally.cached_area += self.cache.units * passed
            tally.queue_area += self.queued_count * passed
            tally.holders_area += len(self._holders) * passed
        self._since = now

    def end_warmup(self) -> None:
        """Forget averages and waiting times; counters count from time 0."""
        tally = self.tally
        tally.used_area = tally.cached_area = tally.queue_area = tally.holders_area = 0.0
        tally.queue_admissions = 0
        tally.wait_sum = 0.0
        self._since = self.machine.now

    def report_end(self) -> None:
        """Note what waits in vain: a head that asks for more than a cap, growths without an end."""
        head = self.head()
        for need in head.needs() if head is not None else ():
            if need.room > need.pool.cap and need.pool.tally.over_cap is None:
                need.pool.tally.over_cap = (self.label, need.asked)
        self.tally.stuck = len(self.stuck)
        self.tally.growing_at_end = len(self.growths)
        waiting = {growth.session for growth in self.growths}
        self.tally.growing_stalled = bool(waiting) and all(s in waiting for s in self._holders)

    def take_tally(self) -> None:
        """The tally is complete up to now."""
        self._since = self.machine.now

    def close(self) -> PoolTally:
        self.settle_tally()
        return self.tally


def fits(needs: list[Need]) -> bool:
    """Whether every part of a hold has room now."""
    return all(need.pool.has_room(need.room) for need in needs)
