"""The event loop: arrivals, settling, iterations, the end (semantics, section 2).

In: a `Program` and `Settings`. Out: a `RunRecord`. Observers are lent engines and sessions at the
moments the language defines and may keep what they see; they never change a run.

It is one file, although long: what happens in which order at one instant is decided here, and is
read best in one place.
"""

from __future__ import annotations

import heapq
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from math import inf
from typing import Any, NoReturn, Protocol

from serq.diagnostics import InternalError, ProgramError, diagnose
from serq.ir.expr import Binary, Draw, Expr, Place, Summary, Unary
from serq.ir.laws import show_draw
from serq.ir.moments import CLIENT_TIMES
from serq.ir.pool import Spill
from serq.ir.program import Program
from serq.ir.server import Block, Observe, blocks_of
from serq.ir.stage import Delay, Engine, Fifo, SharedProcessor, Stage
from serq.ir.workload import (
    MOST_IN_SLOT,
    SMALLEST_GAP,
    Batch,
    Closed,
    NoArrivals,
    Poisson,
    Renewal,
    Slotted,
    Stages,
    Timed,
)
from serq.machine.arrivals import is_slot_count, next_in_stages
from serq.machine.cache import Entry
from serq.machine.code import COMPARISONS, compile_value
from serq.machine.draws import OutsideLaw, Stream
from serq.machine.holds import Holds
from serq.machine.laws import Recorded, read_samples
from serq.machine.pools import PoolMember, SpillCode, Waiting
from serq.machine.records import Iteration, Outcome, RunRecord, Samples, Series
from serq.machine.scope import ENTRY_VARIABLES, QUEUE_VARIABLES, VICTIM_VARIABLES, RunScope
from serq.machine.sessions import Session, write_plain_block, write_program
from serq.machine.settings import PROGRESS_EVERY, Settings
from serq.machine.stages.base import StageMember
from serq.machine.stages.engine import EngineMember
from serq.machine.stages.rate import FifoMember
from serq.machine.summaries import summarize
from serq.machine.surveys import requested_engines
from serq.machine.trace import RecordedSession, read_trace
from serq.machine.waits import find_waits
from serq.machine.watch import Given, write_givens, write_watches
from serq.source import Span
from serq.values import show

BUILT_IN = ("serial", "turn_no", "cached", "computed", "new", "out", "think", "forced", "more")
NEW, MORE = 4, 8
"""Slots of the built-in attributes; a recorded turn fills four from `new` on."""

WAKE_LIMIT = 1_000
PASS_LIMIT = 1_000_000
REPLACE_LIMIT = 10_000


class Observer(Protocol):
    """Something that watches a run, such as the judge of its claims."""

    def watch(self, machine: Machine) -> None:
        """Before the run: ask through `machine.givens` and `EngineMember.watches`, or look by oneself
        through `machine.on_session`, `machine.on_iteration`, `EngineMember.on_iteration`."""

    def finish(self, machine: Machine) -> list[Outcome]:
        """After the run: what was found."""


class Machine:
    """A program under way.

    now: the clock. stages, pools: members by name, a single one is a list of one. slots: place of
    each session attribute. arrived: sessions created so far. live: sessions not yet ended.
    givens: what every session is held against. on_session: called with each session right after its
    `init`. on_iteration: called with a record of each iteration that starts. forming: the engine that
    forms a batch now. sources: generated Python, for people who want to look.
    """

    def __init__(self, program: Program, settings: Settings) -> None:
        self.program = program
        self.settings = settings
        self.now = 0.0
        self.events = 0
        self.arrived = 0
        self.live = 0
        self.ended = 0
        self.turns = 0
        self.sources: dict[str, str] = {}
        self.givens: list[Given] = []
        self.on_session: list[Callable[[Session], None]] = []
        self.on_instant: list[Callable[[], None]] = []
        self.on_iteration: list[Callable[[Iteration], None]] = []
        self.forming: EngineMember | None = None
        self._samples: dict[str, Recorded] = {}
        self._heap: list[tuple[float, int, Callable[[Any], None], Any]] = []
        self._number = 0
        self._ready: deque[Session] = deque()
        self._drained = False
        self._live_area = 0.0
        self._live_since = 0.0

        names = list(BUILT_IN)
        names += [a.name for a in program.attributes if a.name not in names]
        self.slots = {name: slot for slot, name in enumerate(names)}
        self.observes = {name: Samples() for name in program.observes}
        self.client = {name: Samples() for name in CLIENT_TIMES}
        self.machine_draws = Stream(settings.seed, "machine")
        self.arrival_draws = Stream(settings.seed, "arrivals")
        self.workload_draws = Stream(settings.seed, "workload", 0, 0)

        self.lists = {numbers.name: numbers.values for numbers in program.lists}
        self.requested = requested_engines(program)
        self.stages: dict[str, list[Any]] = {stage.name: self._members(stage) for stage in program.stages}
        self.pools: dict[str, list[PoolMember]] = {
            pool.name: [
                PoolMember(self, pool, None if pool.size is None else i) for i in range(pool.size or 1)
            ]
            for pool in program.pools
        }
        self.engines: list[EngineMember] = [
            member for members in self.stages.values() for member in members if member.is_engine
        ]
        self.holds = Holds(self, [member for ms in self.pools.values() for member in ms])
        self._has_pools = bool(self.pools)
        # Every name is known now: the code of engines, pools and sessions may be written.
        for engine in self.engines:
            engine.prepare()
        for members in self.pools.values():
            for pool in members:
                self._prepare_keys(pool)
        workload = program.workload
        self._trace: Sequence[RecordedSession] = ()
        self._trace_draws = Stream(settings.seed, "trace")
        if workload and workload.trace:
            self._trace = read_trace(workload.trace, program.file)
        arrival = workload.arrival if workload else None
        self._closed = arrival if isinstance(arrival, Closed) else None
        self._replaced_at, self._replaced = -1.0, 0
        self._init = write_plain_block(self, "init", workload.init) if workload and workload.init else None
        self._client = write_program(self) if workload else None
        self._gap: Callable[[], float] | None = self._gaps()
        self._may_end = isinstance(arrival, Stages)
        self._still = 0
        self._gap_at = workload.arrival.at if workload else None
        self._gauges = [(self._gauge(g.value), Series()) for g in program.gauges]

    # ------------------------------------------------------------ building

    def _members(self, stage: Stage) -> list[StageMember]:
        def one(index: int | None) -> StageMember:
            match stage:
                case Engine():
                    return EngineMember(self, stage, index)
                case Fifo(name=name, servers=servers):
                    return FifoMember(self, name, index, servers)
                case Delay(name=name):
                    return FifoMember(self, name, index, inf)
                case SharedProcessor():
                    raise InternalError("the machine has no shared processors")

        return [one(None)] if stage.size is None else [one(i) for i in range(stage.size)]

    def _prepare_keys(self, member: PoolMember) -> None:
        pool = member.pool
        if pool.queue_keys is not None:
            names, attributes = QUEUE_VARIABLES, "w.session.attributes"
            member.queue_keys = self._keys(pool.queue_keys, "w", names, attributes, session="w.session")
        if pool.evict_keys is not None:
            draws, read = "m.machine_draws", "w.read()"
            keys = self._keys(pool.evict_keys, "w", ENTRY_VARIABLES, read, draws, session="w.user")
            member.cache.keys = keys
        if pool.preempt is not None:
            names, attributes = VICTIM_VARIABLES, "w.held.session.attributes"
            session = "w.held.session"
            member.victim_keys = self._keys(pool.preempt.keys, "w", names, attributes, session=session)

        if pool.spill is not None:
            member.spill = self._spill(pool.spill, member)

    def _spill(self, spill: Spill, member: PoolMember) -> SpillCode:
        def function(e: Expr) -> Callable[[Entry], float]:
            draws = "m.machine_draws"
            scope = RunScope(self, ENTRY_VARIABLES, attributes="w.read()", draws=draws, session="w.user")
            return compile_value(e, scope, "w", scope.lent)

        tiers, stages = self.pools[spill.tier], self.stages[spill.via]
        index = member.index or 0
        return SpillCode(
            function(spill.condition), function(spill.work),
            tiers[index if len(tiers) > 1 else 0], stages[index if len(stages) > 1 else 0],
        )  # fmt: skip

    def _keys(
        self,
        keys: tuple[Expr, ...],
        parameter: str,
        names: Mapping[str, str],
        attributes: str,
        draws: str | None = None,
        session: str | None = None,
    ) -> Callable[[Any], tuple[float, ...]]:
        """Keys as one function of what they rank."""
        functions = []
        for key in keys:
            scope = RunScope(self, names, attributes=attributes, draws=draws, session=session)
            functions.append(compile_value(key, scope, parameter, scope.lent))
        return lambda ranked: tuple(f(ranked) for f in functions)

    def _gaps(self) -> Callable[[], float] | None:
        arrival = self.program.workload.arrival if self.program.workload else NoArrivals()
        match arrival:
            case Poisson(rate=rate):
                draws = self.arrival_draws
                return lambda: draws.exp(1.0 / rate)
            case Renewal(gap=gap):
                scope = RunScope(self, draws="m.arrival_draws")
                return compile_value(gap, scope, "", scope.lent)
            case Slotted(count=count):
                scope = RunScope(self, draws="m.arrival_draws")
                return compile_value(count, scope, "", scope.lent)
            case Stages(stages=stages):
                return lambda: next_in_stages(stages, self.now, self.arrival_draws.exp(1.0)) - self.now
            case Batch() | Closed() | Timed() | NoArrivals():
                return None

    def _gauge(self, value: Expr) -> Callable[[], float]:
        scope = RunScope(self)
        return compile_value(value, scope, "", scope.lent)

    def samples_of(self, draw: Draw) -> Recorded:
        """The samples that an `~empirical(…)` draws from; a file is read once."""
        assert draw.file is not None
        if draw.file not in self._samples:
            self._samples[draw.file] = Recorded(read_samples(draw, self.program.file))
        return self._samples[draw.file]

    def samples_read(self, node: Summary) -> Samples:
        """The samples that an aggregate is taken over."""
        return self.observes.get(node.observation) or self.client[node.observation]

    def summary(self, node: Summary) -> Callable[[float | None], float]:
        """An aggregate over all samples of an observation, to be read at the end with its argument."""
        samples = self.samples_read(node)
        return lambda argument: summarize(node, samples.values, argument)

    # ------------------------------------------------------------ running

    def run(self, progress: Callable[[float, int], None] | None = None, until: float = inf) -> bool:
        """Handle every event up to the horizon, or until the requested arrivals have gone.

        progress: called now and then with the clock and the iterations so far. until: the most events.
        Returns whether the run is over.
        """
        try:
            return self._run(progress, until)
        except OutsideLaw as fault:
            self.bad_draw(fault)

    def _run(self, progress: Callable[[float, int], None] | None, until: float) -> bool:
        settings = self.settings
        horizon = settings.horizon
        if self.givens:
            self.on_session.append(write_givens(self, self.givens))
        for engine in self.engines:
            if engine.watches:
                engine.on_iteration.append(write_watches(self, engine))
        if settings.warmup > 0:
            self.schedule(settings.warmup, self._end_warmup, None)
        self._first_arrivals()
        self._settle()
        heap, pop = self._heap, heapq.heappop
        if not heap or heap[0][0] != self.now:
            self._close_instant()
        while heap and heap[0][0] <= horizon and not self._drained:
            time, _, apply, subject = pop(heap)
            self.now = time
            self.events += 1
            apply(subject)
            if self._ready or self._has_pools:
                self._settle()
            if not heap or heap[0][0] != time:
                self._close_instant()
            if self.events >= until:
                return False
            if progress is not None and not self.events % PROGRESS_EVERY:
                progress(time, sum(engine.tally.iterations for engine in self.engines))
        if settings.arrivals is not None:
            self._check_finite_run(settings.arrivals)
        else:
            self.now = horizon
        return True

    def schedule(self, time: float, apply: Callable[[Any], None], subject: Any) -> None:
        """An event: `apply(subject)` at `time`; events of one instant come in scheduling order."""
        heapq.heappush(self._heap, (time, self._number, apply, subject))
        self._number += 1

    def _settle(self) -> None:
        while True:
            self.resume_ready()
            if not self._has_pools or not self.holds.admit_free():
                return

    def resume_ready(self) -> None:
        """Let every ready session go on, and those that become ready meanwhile."""
        ready = self._ready
        while ready:
            self.resume(ready.popleft())

    def resume(self, session: Session) -> None:
        """Let a session go on until it blocks or ends."""
        if session.woke_at != self.now:
            session.woke_at = self.now
            session.wakes = 0
            session.passes = 0
        session.wakes += 1
        if session.wakes > WAKE_LIMIT:
            self._goes_round(session)
        session.stage = None
        try:
            if session.restart is None:
                next(session.program)
            else:
                restart, session.restart = session.restart, None
                session.program.throw(restart)
        except StopIteration:
            self._end_session(session)

    def _goes_round(self, session: Session) -> NoReturn:
        """The session is woken without end at one instant: by what, and where."""
        match session.woken_by:
            case Waiting(losses=losses, code=code):
                name = list(losses)[-1].label
                self.fail("SQ0631", code.statement.at, session=session, name=name)
            case at:
                self.fail("SQ0605", at, session=session)

    def _close_instant(self) -> None:
        """Let every idle engine try an iteration, once and in order, then read the gauges."""
        for engine in self.engines:
            if engine.idle and engine.has_work():
                engine.try_iteration()
        for read, series in self._gauges:
            series.show(self.now, read())
        for look in self.on_instant:
            look()

    def make_ready(self, session: Session) -> None:
        self._ready.append(session)

    def do_nothing(self, session: Session, at: Span | None) -> None:
        """A run of no work, at `at`, is done at once: the session goes to the end of the line."""
        session.woken_by = at
        self.make_ready(session)

    def forget_ready(self, session: Session) -> None:
        """The session is not to go on: it has lost what it held."""
        if session in self._ready:
            self._ready.remove(session)

    def next_gap(self) -> float:
        """The time to the next arrival after now."""
        return self._next_gap()

    def make_attributes(self, serial: int) -> list[float]:
        """The attributes of a session that comes now, as its `init` sets them."""
        attributes = [0.0] * len(self.slots)
        attributes[0] = float(serial)
        if self._init is not None:
            seed = self.settings.seed
            self.workload_draws = Stream(seed, "workload", serial, 0)
            self._init(Session(serial, attributes, Stream(seed, "session", serial)), attributes)
        return attributes

    def take_live_area(self, area: float) -> None:
        """The integral of live sessions up to now, from whoever has counted them."""
        self._live_area, self._live_since = area, self.now

    @property
    def gauge_series(self) -> list[Series]:
        """What the gauges have shown, in the program's order."""
        return [series for _, series in self._gauges]

    def take_number(self) -> int:
        """The next number of the order in which things happen."""
        self._number += 1
        return self._number - 1

    # ------------------------------------------------------------ sessions

    def _first_arrivals(self) -> None:
        arrival = self.program.workload.arrival if self.program.workload else NoArrivals()
        match arrival:
            case Batch(count=count) | Closed(count=count):
                for _ in range(count):
                    self._create()
            case Poisson():
                self.schedule(0.0, self._arrive, None)
            case Renewal() | Stages():
                self._await_next()
            case Slotted():
                self.schedule(0.0, self._open_slot, (arrival, 0))
            case Timed(times=times):
                self.schedule(times[0], self._arrive_timed, times)
            case NoArrivals():
                pass

    def _await_next(self) -> None:
        gap = self._next_gap()
        if gap < inf:
            self.schedule(self.now + gap, self._arrive, None)

    def _open_slot(self, slot: tuple[Slotted, int]) -> None:
        """The sessions of one slot come; of the last one only as many as were asked for."""
        assert self._gap is not None
        arrival, number = slot
        count, wanted = self._gap(), self.settings.arrivals
        if not is_slot_count(count):
            self.fail("SQ0625", arrival.at, value=show(count), most=MOST_IN_SLOT)
        left = inf if wanted is None else wanted - self.arrived
        for _ in range(int(min(count, left))):
            self._create()
        if wanted is None or self.arrived < wanted:
            self.schedule((number + 1) * arrival.slot, self._open_slot, (arrival, number + 1))

    def _next_gap(self) -> float:
        assert self._gap is not None
        gap = self._gap()
        if not 0 < gap < inf and not (gap == inf and self._may_end):
            self.fail("SQ0609", self._gap_at, value=show(gap))
        if gap < SMALLEST_GAP or self.now + gap == self.now:
            self._still += 1
            if self._still > WAKE_LIMIT:
                self.fail("SQ0624", self._gap_at, value=show(gap))
        else:
            self._still = 0
        return gap

    def _arrive(self, _: None) -> None:
        self._create()
        wanted = self.settings.arrivals
        if wanted is None or self.arrived < wanted:
            self._await_next()

    def _arrive_timed(self, times: tuple[float, ...]) -> None:
        self._create()
        if self.arrived < len(times):
            self.schedule(times[self.arrived], self._arrive_timed, times)

    def _create(self) -> None:
        serial = self.arrived
        self.arrived += 1
        self._change_live(+1)
        attributes = [0.0] * len(self.slots)
        attributes[0] = float(serial)
        seed = self.settings.seed
        session = Session(serial, attributes, Stream(seed, "session", serial))
        if self._trace:
            session.recorded = self._trace[self._pick(serial)]
        if self._init is not None:
            self.workload_draws = Stream(seed, "workload", serial, 0)
            self._init(session, attributes)
        for look in self.on_session:
            look(session)
        assert self._client is not None
        session.program = self._client(session, attributes)
        self.make_ready(session)

    def _pick(self, serial: int) -> int:
        """The recorded session that a session replays."""
        count = len(self._trace)
        workload = self.program.workload
        if workload and workload.trace and workload.trace.ordered:
            return serial % count
        return int(self._trace_draws.uniform01() * count)

    def _end_session(self, session: Session) -> None:
        session.ended = True
        if session.holds or session.leases:
            self.holds.end_session(session)
        for name in self.requested:
            for engine in self.stages[name]:
                engine.forget(session, ended=True)
        self._change_live(-1)
        self.ended += 1
        if self._closed:
            if self._replaced_at != self.now:
                self._replaced_at, self._replaced = self.now, 0
            self._replaced += 1
            if self._replaced > self._closed.count + REPLACE_LIMIT:
                self.fail("SQ0612", self._closed.at, session=session)
            self._create()
        elif self.settings.arrivals == self.arrived and not self.live:
            self._drained = True

    def _change_live(self, by: int) -> None:
        self._live_area += self.live * (self.now - self._live_since)
        self._live_since = self.now
        self.live += by

    def start_turn(self, s: Session) -> None:
        self.turns += 1
        s.attributes[1] += 1.0
        s.in_turn = True
        s.turn_started = self.now
        s.first_token = None
        s.tokens = 0
        s.decoded = False
        s.ttft_known = False
        s.token_at = s.lost_token_at = None
        turn = int(s.attributes[1])
        if self._trace:
            self._load_turn(s, turn)
        self.workload_draws = Stream(self.settings.seed, "workload", s.serial, turn)

    def _load_turn(self, s: Session, turn: int) -> None:
        """The values of a recorded turn; past the last one they stay."""
        if turn <= len(s.recorded):
            s.attributes[NEW : NEW + 4] = s.recorded[turn - 1]
        s.attributes[MORE] = float(turn < len(s.recorded))

    def end_turn(self, s: Session) -> None:
        turn = int(s.attributes[1])
        if s.first_token is not None:
            self.know_ttft(s)
            if s.tokens >= 2:
                pace = (self.now - s.first_token) / (s.tokens - 1)
                self.client["tpot"].add(self.now, s.serial, turn, pace)
        self.client["response"].add(self.now, s.serial, turn, self.now - s.turn_started)
        s.in_turn = False

    def know_ttft(self, s: Session) -> None:
        """Record the time to the first token, now that no later token can replace it; once a turn."""
        if s.in_turn and not s.ttft_known and s.first_token is not None:
            s.ttft_known = True
            turn = int(s.attributes[1])
            self.client["ttft"].add(self.now, s.serial, turn, s.first_token - s.turn_started)

    # ------------------------------------------------------------ guards of generated code

    def member(self, members: list[Any], index: float, place: Place) -> Any:
        """The member of a family that a computed index names."""
        if not (0 <= index < len(members) and index == int(index)):
            self.fail(
                "SQ0603", place.at, name=place.name, value=show(index), size=len(members),
                last=len(members) - 1,
            )  # fmt: skip
        return members[int(index)]

    def whole(self, count: float, s: Session, at: Span | None) -> int:
        if count <= 0:
            return 0
        if count != count or count == inf or count != int(count):
            self.fail("SQ0604", at, session=s, value=show(count))
        return int(count)

    def bad_guard(self, value: float, s: Session | None, at: Span | None) -> None:
        self.fail("SQ0601", at, session=s, value=show(value))

    def bad_amount(self, value: float, s: Session, at: Span | None) -> None:
        self.fail("SQ0602", at, session=s, value=show(value))

    def bad_observation(self, name: str, s: Session, at: Span | None) -> None:
        self.fail("SQ0622", at, session=s, name=name)

    def bad_draw(self, fault: OutsideLaw) -> NoReturn:
        """The parameters of a draw have no meaning."""
        shown = [show(p) for p in fault.parameters]
        draw = show_draw(fault.law, shown, fault.at, self.program.source)
        self.fail("SQ0621", fault.at, serial=fault.serial, draw=draw, fault=fault.fault)

    def pass_loop(self, s: Session, at: Span | None) -> None:
        s.passes += 1
        if s.passes > PASS_LIMIT:
            self.fail("SQ0606", at, session=s)

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

    # ------------------------------------------------------------ the end

    def _end_warmup(self, _: None) -> None:
        for members in self.stages.values():
            for member in members:
                member.end_warmup()
        for pools in self.pools.values():
            for pool in pools:
                pool.end_warmup()
        self._change_live(0)
        self._live_area = 0.0
        self.ended = 0
        self.turns = 0

    def _check_finite_run(self, wanted: int) -> None:
        settings = self.settings
        if not self._drained:
            self.fail("SQ0610", None, arrived=self.arrived, wanted=wanted, live=self.live)
        if settings.warmup > 0 and self.now <= settings.warmup:
            self.fail("SQ0611", None, end=show(self.now), warmup=show(settings.warmup))

    def record(self, outcomes: list[Outcome]) -> RunRecord:
        """What the run leaves behind; call it once, after `run`."""
        settings = self.settings
        self._change_live(0)
        pools = self.holds.pools
        for pool in pools:
            pool.report_end()
        return RunRecord(
            horizon=settings.horizon,
            end=self.now,
            warmup=settings.warmup,
            seed=settings.seed,
            events=self.events,
            arrivals=self.arrived,
            ended=self.ended,
            turns=self.turns,
            live_at_end=self.live,
            live_area=self._live_area,
            observes=self.observes,
            client=self.client,
            gauges={
                gauge.name: series
                for gauge, (_, series) in zip(self.program.gauges, self._gauges, strict=True)
            },
            outcomes=outcomes,
            stages=[member.close() for members in self.stages.values() for member in members],
            pools=[pool.close() for pool in pools],
            tests=find_tests(self.program),
            waits=find_waits(self.holds),
        )


def find_tests(program: Program) -> frozenset[str]:
    """Observations whose every expression is a test: outermost a comparison, &&, || or !."""
    found: dict[str, bool] = {}

    def visit(block: Block) -> None:
        for statement in block:
            if isinstance(statement, Observe):
                e = statement.value
                test = (isinstance(e, Unary) and e.operator == "!") or (
                    isinstance(e, Binary) and (e.operator in COMPARISONS or e.operator in ("&&", "||"))
                )
                found[statement.name] = found.get(statement.name, True) and test
            for inner in blocks_of(statement):
                visit(inner)

    visit(program.server)
    if program.workload:
        for block in (program.workload.init, program.workload.turn, program.workload.session):
            visit(block)
    return frozenset(name for name, test in found.items() if test)
