"""The event loop of the plain machine: arrivals, settling, the end (semantics, sections 2, 3 and 10)."""

from __future__ import annotations

import heapq
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from math import inf
from sys import getrecursionlimit, setrecursionlimit
from typing import Protocol

from serq.diagnostics import InternalError
from serq.ir.moments import CLIENT_TIMES
from serq.ir.program import Program
from serq.ir.stage import Delay, Fifo, SharedProcessor, Stage
from serq.ir.stage import Engine as EngineRule
from serq.ir.workload import (
    MOST_IN_SLOT,
    SMALLEST_GAP,
    Arrival,
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
from serq.machine.loop import find_tests
from serq.machine.plain import claims, engines, pools, sessions
from serq.machine.plain.evaluate import Here, value
from serq.machine.plain.state import Engine, Line, Machine, Pool
from serq.machine.records import PoolTally, RunRecord, Samples, Series, StageTally
from serq.machine.settings import Settings
from serq.machine.trace import read_trace
from serq.values import show


class Observer(Protocol):
    """Something that watches a run on the plain machine, such as a `serq.machine.recorder.Recorder`."""

    def watch(self, machine: Machine) -> None:
        """Before the run: ask for what there is to see (`Machine.on_iteration`)."""


def run_plain(
    program: Program,
    settings: Settings,
    observers: Sequence[Observer] = (),
    progress: Callable[[float, int], None] | None = None,
) -> RunRecord:
    """Run a checked program and judge its claims, slowly and plainly.

    progress: called with the clock and the iterations so far after every event. Raises ProgramError when the
    run cannot go on, InternalError for what this machine does not have: shared processors, flows, legs,
    estimates.
    """
    m = build(program, settings)
    for observer in observers:
        observer.watch(m)
    with _deep_expressions():
        verdicts = claims.watch(m)
        _run(m, progress)
        return _record(m, verdicts)


@contextmanager
def _deep_expressions() -> Iterator[None]:
    """Room for walking the deepest expressions and blocks that are checked."""
    before = getrecursionlimit()
    setrecursionlimit(max(before, 10_000))
    try:
        yield
    finally:
        setrecursionlimit(before)


# ---------------------------------------------------------------- building


def build(program: Program, settings: Settings) -> Machine:
    """Everything that a program declares, before anything has happened."""
    m = Machine(program, settings)
    for stage in program.stages:
        m.stages[stage.name] = [_stage(stage, i) for i in _indices(stage.size)]
    for rule in program.pools:
        m.pools[rule.name] = [Pool(rule, i, PoolTally(rule.name, i)) for i in _indices(rule.size)]
    for e in m.engines():
        for pool in m.all_pools():
            mine = e.tally.index is None or pool.index == e.tally.index
            if mine and pool.rule.engine == e.rule.name:
                e.pools.append(pool)
            if mine and pool.rule.memory_of == e.rule.name:
                e.memory = pool
    m.observes = {name: Samples() for name in program.observes}
    m.client = {name: Samples() for name in CLIENT_TIMES}
    m.gauges = [Series() for _ in program.gauges]
    if program.workload is not None and program.workload.trace is not None:
        m.recorded = read_trace(program.workload.trace, program.file)
    return m


def _indices(size: int | None) -> Sequence[int | None]:
    return [None] if size is None else range(size)


def _stage(stage: Stage, index: int | None) -> Line | Engine:
    match stage:
        case EngineRule(name=name, registers=registers):
            initial = {(r.name, i): r.initial for r in registers for i in range(r.size or 1)}
            return Engine(stage, StageTally(name, index, True), initial)
        case Fifo(name=name, servers=servers):
            return Line(servers, StageTally(name, index, False))
        case Delay(name=name):
            return Line(inf, StageTally(name, index, False))
        case SharedProcessor():
            raise InternalError("the plain machine has no shared processors")


# ---------------------------------------------------------------- running


def _run(m: Machine, progress: Callable[[float, int], None] | None) -> None:
    settings = m.settings
    if settings.warmup > 0:
        m.schedule(settings.warmup, lambda: _end_warmup(m))
    _first_arrivals(m)
    _settle(m)
    if not m.events or m.events[0][0] != m.now:
        _close_instant(m)
    while m.events and m.events[0][0] <= settings.horizon and not _is_drained(m):
        time, _, apply = heapq.heappop(m.events)
        _pass_time(m, time)
        m.handled += 1
        apply()
        _settle(m)
        if not m.events or m.events[0][0] != m.now:
            _close_instant(m)
        if progress is not None:
            progress(m.now, sum(e.tally.iterations for e in m.engines()))
    if settings.arrivals is None:
        _pass_time(m, settings.horizon)
    elif not _is_drained(m):
        m.fail("SQ0610", None, arrived=m.arrived, wanted=settings.arrivals, live=m.live)
    elif settings.warmup > 0 and m.now <= settings.warmup:
        m.fail("SQ0611", None, end=show(m.now), warmup=show(settings.warmup))


def _is_drained(m: Machine) -> bool:
    """Whether all the requested sessions have come and gone."""
    return m.settings.arrivals == m.arrived and not m.live


def _settle(m: Machine) -> None:
    """Sessions go on, then pools that no engine admits let holds in, until nothing changes."""
    sessions.resume_ready(m)
    while pools.serve_queues(m):
        sessions.resume_ready(m)


def _close_instant(m: Machine) -> None:
    """Idle engines try an iteration, then gauges are read: no other event is pending now."""
    for e in m.engines():
        if e.under_way is None and engines.has_work(e):
            engines.try_iteration(m, e)
    for gauge, series in zip(m.program.gauges, m.gauges, strict=True):
        read = value(gauge.value, Here(m))
        if series.times and series.times[-1] == m.now:
            series.times.pop()
            series.values.pop()
        if not series.values or series.values[-1] != read:
            series.times.append(m.now)
            series.values.append(read)


# ---------------------------------------------------------------- arrivals


def _arrival(m: Machine) -> Arrival:
    return m.program.workload.arrival if m.program.workload else NoArrivals()


def _first_arrivals(m: Machine) -> None:
    match _arrival(m):
        case Batch(count=count) | Closed(count=count):
            for _ in range(count):
                sessions.create(m)
        case Poisson():
            m.schedule(0.0, lambda: _arrive(m))
        case Renewal() | Stages():
            _await_next(m)
        case Slotted():
            m.schedule(0.0, lambda: _open_slot(m, 0))
        case Timed(times=times):
            m.schedule(times[0], lambda: _arrive(m))


def _await_next(m: Machine) -> None:
    """The next session will come after a gap, unless no stage of the stream is left."""
    gap = _gap(m)
    if gap < inf:
        m.schedule(m.now + gap, lambda: _arrive(m))


def _arrive(m: Machine) -> None:
    """A session comes, and it is settled when the next one will."""
    sessions.create(m)
    arrival = _arrival(m)
    if isinstance(arrival, Timed):
        if m.arrived < len(arrival.times):
            m.schedule(arrival.times[m.arrived], lambda: _arrive(m))
    elif m.settings.arrivals is None or m.arrived < m.settings.arrivals:
        _await_next(m)


def _open_slot(m: Machine, number: int) -> None:
    """The sessions of a slot come; of the last one only as many as were asked for."""
    slotted = _arrival(m)
    assert isinstance(slotted, Slotted)
    count = value(slotted.count, Here(m, draws=m.arrival_draws))
    if not is_slot_count(count):
        m.fail("SQ0625", slotted.at, value=show(count), most=MOST_IN_SLOT)
    for _ in range(int(count)):
        if m.arrived != m.settings.arrivals:
            sessions.create(m)
    if m.arrived != m.settings.arrivals:
        m.schedule((number + 1) * slotted.slot, lambda: _open_slot(m, number + 1))


def _gap(m: Machine) -> float:
    arrival = _arrival(m)
    match arrival:
        case Poisson(rate=rate):
            gap = m.arrival_draws.exp(1.0 / rate)
        case Renewal(gap=expression):
            gap = value(expression, Here(m, draws=m.arrival_draws))
        case Stages(stages=stages):
            gap = next_in_stages(stages, m.now, m.arrival_draws.exp(1.0)) - m.now
            if gap == inf:
                return gap
        case _:
            raise InternalError("only streams have gaps")
    if not 0 < gap < inf:
        m.fail("SQ0609", arrival.at, value=show(gap))
    m.still = m.still + 1 if gap < SMALLEST_GAP or m.now + gap == m.now else 0
    if m.still > sessions.WAKE_LIMIT:
        m.fail("SQ0624", arrival.at, value=show(gap))
    return gap


# ---------------------------------------------------------------- figures


def _pass_time(m: Machine, until: float) -> None:
    """The clock moves on; every time integral grows by what has been the case."""
    passed = until - m.now
    m.now = until
    if not passed:
        return
    m.live_area += m.live * passed
    for pool in m.all_pools():
        pool.tally.used_area += pool.used * passed
        pool.tally.cached_area += pool.cached * passed
        pool.tally.queue_area += len(pool.queue) * passed
        pool.tally.holders_area += len(pool.sessions) * passed
    for stage in m.all_stages():
        tally = stage.tally
        if stage.present:
            tally.area += stage.present * passed
            tally.busy_time += passed
        if isinstance(stage, Engine) and stage.under_way is not None:
            iteration = stage.under_way
            tally.decode_area += iteration.decoders * passed
            if iteration.prefilled and iteration.decoders:
                tally.mixed += passed
            elif iteration.prefilled:
                tally.prefill_only += passed
            elif iteration.decoders:
                tally.decode_only += passed


def _end_warmup(m: Machine) -> None:
    """Forget the figures so far, but for what counts from time 0: iterations and a pool's counters."""
    for stage in m.all_stages():
        tally = stage.tally
        stage.tally = StageTally(tally.name, tally.index, tally.is_engine, iterations=tally.iterations)
    for pool in m.all_pools():
        kept = pool.tally
        kept.used_area = kept.cached_area = kept.queue_area = kept.holders_area = kept.wait_sum = 0.0
        kept.queue_admissions = 0
    m.live_area = 0.0
    m.ended = m.turns = 0


def _record(m: Machine, verdicts: list[claims.Verdict]) -> RunRecord:
    for pool in m.all_pools():
        _look_at_waiting(m, pool)
    for e in m.engines():
        e.tally.idle_with_work = e.under_way is None and e.fruitless
    return RunRecord(
        horizon=m.settings.horizon,
        end=m.now,
        warmup=m.settings.warmup,
        seed=m.settings.seed,
        events=m.handled,
        arrivals=m.arrived,
        ended=m.ended,
        turns=m.turns,
        live_at_end=m.live,
        live_area=m.live_area,
        observes=m.observes,
        client=m.client,
        gauges={g.name: series for g, series in zip(m.program.gauges, m.gauges, strict=True)},
        outcomes=[claims.outcome(m, verdict) for verdict in verdicts],
        stages=[stage.tally for stage in m.all_stages()],
        pools=[pool.tally for pool in m.all_pools()],
        tests=find_tests(m.program),
    )


def _look_at_waiting(m: Machine, pool: Pool) -> None:
    """Who waits for units at the end: growths, and a head that asks for more than a cap."""
    hold = pools.head(m, pool)
    for need in () if hold is None else pools.needs(m, hold):
        if need.room > need.pool.rule.cap and need.pool.tally.over_cap is None:
            need.pool.tally.over_cap = (pool.label, need.asked)
    growing = [growth.part.hold.session for growth in pool.growths]
    pool.tally.stuck = len(pool.stuck)
    pool.tally.growing_at_end = len(growing)
    pool.tally.growing_stalled = bool(growing) and all(s in growing for s in pool.sessions)
