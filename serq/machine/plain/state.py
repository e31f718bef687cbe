"""What there is while a program runs (semantics, section 1). No total is kept: all are summed when read.

It is one file, so that the whole state can be seen at once.
"""

from __future__ import annotations

import heapq
from collections import defaultdict
from collections.abc import Callable, Generator, Sequence
from math import ceil, floor, inf
from typing import Any, NoReturn, Union

from attrs import define, field

from serq.diagnostics import ProgramError, diagnose
from serq.ir.pool import Pool as PoolRule
from serq.ir.program import Program
from serq.ir.server import Hold as HoldStatement
from serq.ir.stage import Engine as EngineRule
from serq.machine.draws import Stream
from serq.machine.laws import Recorded
from serq.machine.records import Iteration, PoolTally, Samples, Series, StageTally
from serq.machine.settings import Settings
from serq.machine.trace import TracedTurn
from serq.source import Span
from serq.values import show


class Ended(Exception):
    """The session says `end`, or asks for what it can never get."""


class Preempted(Exception):
    """Raised in a session that loses `hold`, wherever it stands inside it."""

    def __init__(self, hold: Hold) -> None:
        self.hold = hold


# ---------------------------------------------------------------- sessions


@define(eq=False)
class Tokens:
    """The tokens of one turn (semantics, section 10, client times).

    first, last: when. last_at: the engine that gave the last one. lost_at: the same, when a hold was lost
    since. decoded: a decode gave one of them. known: the time to the first is recorded. under_way:
    False outside of turns.
    """

    started: float
    under_way: bool
    count: int = 0
    first: float | None = None
    last: float = 0.0
    decoded: bool = False
    known: bool = False
    last_at: Engine | None = None
    lost_at: Engine | None = None


@define(eq=False)
class Session:
    """A client. attributes: 0 until set. admission: the number of its latest admitted hold.

    stands: what it waits for; None while it is ready or goes on. wakes, passes: at this instant. woken_by:
    the hold that was admitted again, or the run of no work, that made it ready without letting time pass.
    """

    serial: int
    draws: Stream
    recorded: Sequence[TracedTurn]
    tokens: Tokens
    attributes: dict[str, float] = field(factory=lambda: defaultdict(float))
    program: Generator[None, None, None] = field(init=False)
    admission: float = inf
    stands: Union[Run, Job, Hold, Growth, None] = None
    holds: list[Hold] = field(factory=list)
    leases: list[Part] = field(factory=list)
    ended: bool = False
    woke_at: float = -1.0
    woken_by: Union[Hold, Span, None] = None
    wakes: int = 0
    passes: int = 0


# ---------------------------------------------------------------- stages


@define(eq=False)
class Job:
    """Work at a line or delay; nobody waits for it if it has no session."""

    session: Session | None
    work: float
    joined: float
    started: float | None = None

    @property
    def due(self) -> float:
        return inf if self.started is None else self.started + self.work


@define(eq=False)
class Line:
    """A `fifo`, or a `delay` with servers for everyone; jobs in joining order."""

    servers: float
    tally: StageTally
    jobs: list[Job] = field(factory=list)

    @property
    def present(self) -> float:
        return float(len(self.jobs))

    @property
    def busy(self) -> float:
        return float(sum(job.started is not None for job in self.jobs))

    def work(self, now: float) -> float:
        """Unfinished work: what is left of jobs in service, all of those in line."""
        serving = sum((job.due - now for job in self.jobs if job.started is not None), 0.0)
        return serving + sum((job.work for job in self.jobs if job.started is None), 0.0)


@define(eq=False)
class Run:
    """Tokens that a session still needs of an engine.

    growing: the part that grows with them. before: tokens that the engine gave the session since its
    latest admission, in earlier runs. stalls: the growth that waits for room, and the run with it.
    """

    session: Session
    engine: Engine
    is_decode: bool
    remaining: float
    joined: float
    growing: Part | None
    before: float = 0.0
    stalls: Growth | None = None
    work: float = field(init=False)

    def __attrs_post_init__(self) -> None:
        self.work = self.remaining

    @property
    def progress(self) -> float:
        """Tokens the engine has given the request since its admission, this iteration not included."""
        return self.before + (self.work - self.remaining)

    @property
    def position(self) -> float:
        """Tokens computed before this run's next one."""
        return 0.0 if self.growing is None else self.growing.position


@define(eq=False)
class Engine:
    """One engine, or one member of a family: its runs in joining order, and the batch.

    under_way: the iteration that runs, None while idle. budget, each, preempted, admitted, refused,
    offer, lost, returned, newly: of the attempt being made. registers: by name and index, 0 for a single
    one. tags: by session and name, those that were set. progress: of a session whose run has ended, at
    what admission. newly: sessions admitted. passes: of loops. offer: the budget that a header reads, None
    outside of one. lost, returned: tokens of runs that were preempted, which nobody may have, or only the
    next statement or run. fruitless: the last attempt left work undone and started no
    iteration.
    """

    rule: EngineRule
    tally: StageTally
    registers: dict[tuple[str, int], float]
    runs: list[Run] = field(factory=list)
    batch: dict[Run, float] = field(factory=dict)
    under_way: Iteration | None = None
    served: float = 0.0
    locals: dict[str, float] = field(factory=dict)
    budget: float = 0.0
    lost: float = 0.0
    returned: float = 0.0
    each: float = inf
    preempted: int = 0
    admitted: int = 0
    refused: bool = False
    fruitless: bool = False
    offer: float | None = None
    newly: set[Session] = field(factory=set)
    passes: int = 0
    tags: dict[tuple[Session, str], float] = field(factory=dict)
    progress: dict[Session, tuple[float, float]] = field(factory=dict)
    pools: list[Pool] = field(factory=list)
    memory: Pool | None = None

    @property
    def present(self) -> float:
        return float(len(self.runs))

    @property
    def busy(self) -> float:
        """Runs that got tokens in the iteration under way."""
        return float(len(self.batch)) if self.under_way else 0.0

    def work(self, now: float) -> float:
        """Tokens that the runs still need; goes down at the ends of iterations."""
        return sum((run.remaining for run in self.runs), 0.0)

    @property
    def left(self) -> float:
        """What is left of the budget."""
        left = self.budget - self.lost - self.returned
        for n in self.batch.values():
            left -= n
        return left

    def given(self, *phases: bool) -> float:
        """Tokens given in this batch to decodes (True), prefills (False)."""
        return sum((n for run, n in self.batch.items() if run.is_decode in phases), 0.0)

    def decoders(self) -> int:
        return sum(run.is_decode for run in self.batch)

    def attention(self) -> float:
        """Sum over prefill chunks of n (K + n / 2), K the position before the chunk."""
        prefills = [(run.position, n) for run, n in self.batch.items() if not run.is_decode]
        return sum((n * (k + n / 2) for k, n in prefills), 0.0)

    def demand(self) -> float:
        """What the runs could take without a budget."""
        return sum((min(1.0 if r.is_decode else self.each, r.remaining) for r in self.runs), 0.0)

    def held(self, runs: list[Run], is_decode: bool) -> float:
        """Units that runs of one phase hold in this engine's memory."""
        sessions = [run.session for run in runs if run.is_decode == is_decode]
        parts = [part for s in sessions for hold in s.holds for part in hold.parts]
        return sum((part.units for part in parts if part.pool is self.memory), 0.0)

    def holds(self) -> list[Hold]:
        """Those that wait in the queues this engine admits, as these are declared."""
        return [hold for pool in self.pools for hold in pool.queue]

    def waiting(self) -> int:
        return sum(len(pool.queue) for pool in self.pools)


# ---------------------------------------------------------------- pools


@define(eq=False)
class Part:
    """What a hold has of one pool: `units` allocated, `room` asked for, `position` computed."""

    hold: Hold
    pool: Pool
    room: float
    position: float
    units: float = 0.0
    leased: bool = False


@define(eq=False)
class Hold:
    """A `hold` from its asking to its end: in a queue first, with parts once it is admitted.

    returned: it was preempted and waits before everybody else. losses: the pools in which it was preempted,
    the last one last, and its position there then. advanced: a growing run or a `load` has moved the
    position of a part.
    """

    session: Session
    statement: HoldStatement
    pools: list[Pool]
    joined: float
    returned: bool = False
    losses: dict[Pool, float] = field(factory=dict)
    parts: list[Part] = field(factory=list)
    advanced: bool = False


@define(eq=False)
class Growth:
    """A growth that waits for room: of a `grow`, or of a run at an engine."""

    part: Part
    units: float
    run: Run | None = None


@define(eq=False)
class Entry:
    """A cached prefix of a session.

    owner: the session; once the entry is dead, which is of no use to its session any more, something
    that only its pieces share. copied: attributes at release, or when it died.
    """

    session: Session
    units: float
    released: float
    number: int
    copied: dict[str, float]
    owner: object

    @property
    def attributes(self) -> dict[str, float]:
        """As eviction keys read them: the session's own while it lives and the entry is its own."""
        return self.copied if self.user is None else self.session.attributes

    @property
    def user(self) -> Session | None:
        """The session that can still use it, if any."""
        return self.session if self.owner is self.session and not self.session.ended else None


@define(eq=False)
class Pool:
    """One pool, or one member of a family.

    places: whose each part is, in admission order; whichever part is given back, its session loses its
    first place.
    """

    rule: PoolRule
    index: int | None
    tally: PoolTally
    parts: list[Part] = field(factory=list)
    places: list[Session] = field(factory=list)
    queue: list[Hold] = field(factory=list)
    growths: list[Growth] = field(factory=list)
    entries: list[Entry] = field(factory=list)
    stuck: set[int] = field(factory=set)

    @property
    def used(self) -> float:
        return sum((part.units for part in self.parts), 0.0)

    @property
    def sessions(self) -> list[Session]:
        """Who holds units, by their first places."""
        return list(dict.fromkeys(self.places))

    @property
    def cached(self) -> float:
        return sum((entry.units for entry in self.entries), 0.0)

    @property
    def label(self) -> str:
        """As people write it: `kv`, or `kv[1]` for a member of a family."""
        return self.rule.name if self.index is None else f"{self.rule.name}[{self.index}]"

    def has_room(self, room: float, but: Part | None = None) -> bool:
        """Whether `room` more units fit; cached units never count against it (section 5)."""
        others = [part for part in self.parts if part is not but and not part.leased]
        reserved = sum((max(0.0, part.room - part.units) for part in others), 0.0)
        return self.used + (reserved if self.rule.reserve_held else 0.0) + room <= self.rule.cap

    def entry_of(self, owner: object) -> Entry | None:
        """The entry that a session can use; of a dead one's piece, the one it came from."""
        return next((entry for entry in self.entries if entry.owner is owner), None)

    def round_up(self, units: float) -> float:
        block = self.rule.block
        return units if block is None or not units < inf else ceil(units / block) * block

    def round_down(self, units: float) -> float:
        block = self.rule.block
        return units if block is None or not units < inf else floor(units / block) * block


# ---------------------------------------------------------------- the whole


@define(eq=False)
class Machine:
    """A program under way.

    forming: the engine that forms a batch now. on_iteration: who wants to see each iteration as it
    starts. still: gaps between arrivals, one after the other, that did not move the clock. replaced:
    when sessions of a closed population came for others, at the present instant.
    """

    program: Program
    settings: Settings
    stages: dict[str, list[Line | Engine]] = field(factory=dict)
    pools: dict[str, list[Pool]] = field(factory=dict)
    now: float = 0.0
    events: list[tuple[float, int, Callable[[], None]]] = field(factory=list)
    handled: int = 0
    numbers: int = 0
    admissions: int = 0
    ready: list[Session] = field(factory=list)
    forming: Engine | None = None
    still: int = 0
    arrived: int = 0
    live: int = 0
    live_area: float = 0.0
    ended: int = 0
    turns: int = 0
    replaced: list[float] = field(factory=list)
    recorded: Sequence[Sequence[TracedTurn]] = ()
    samples: dict[str, Recorded] = field(factory=dict)
    observes: dict[str, Samples] = field(factory=dict)
    client: dict[str, Samples] = field(factory=dict)
    gauges: list[Series] = field(factory=list)
    on_session: list[Callable[[Session], None]] = field(factory=list)
    on_start: list[Callable[[Engine], None]] = field(factory=list)
    on_iteration: list[Callable[[Iteration], None]] = field(factory=list)
    draws: Stream = field(init=False)
    arrival_draws: Stream = field(init=False)
    trace_draws: Stream = field(init=False)

    def __attrs_post_init__(self) -> None:
        seed = self.settings.seed
        self.draws = Stream(seed, "machine")
        self.arrival_draws = Stream(seed, "arrivals")
        self.trace_draws = Stream(seed, "trace")

    def all_stages(self) -> list[Line | Engine]:
        return [member for members in self.stages.values() for member in members]

    def engines(self) -> list[Engine]:
        return [stage for stage in self.all_stages() if isinstance(stage, Engine)]

    def all_pools(self) -> list[Pool]:
        return [member for members in self.pools.values() for member in members]

    def take_number(self) -> int:
        self.numbers += 1
        return self.numbers - 1

    def schedule(self, time: float, apply: Callable[[], None]) -> None:
        """An event; those of one instant come in the order of their numbers."""
        heapq.heappush(self.events, (time, self.take_number(), apply))

    def fail(
        self,
        code: str,
        at: Span | None,
        *,
        session: Session | None = None,
        serial: int | None = None,
        **facts: Any,
    ) -> NoReturn:
        """Stop the run: what was wrong, where, when and for whom (a session, or its number)."""
        when = f"at time {show(self.now)}"
        serial = serial if session is None else session.serial
        if serial is not None:
            when += f", session {serial}"
        raise ProgramError([diagnose(code, at, when=when, **facts)])
