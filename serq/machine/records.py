"""What a run leaves behind: plain numbers, before any statistics are made of them.

The machine fills these while it runs; `serq.report` turns them into means, intervals and quantiles.
Times are in the program's clock units. W is the warm-up, E the end of the run.
"""

from __future__ import annotations

from array import array
from typing import Any

from attrs import define, field, frozen

from serq.source import Span


@frozen
class Iteration:
    """One iteration of an engine, as it starts.

    index: of the member of a family. start, duration: time. tokens: given, `prefilled` of them to prefills.
    decoders: decodes in the batch; residents: runs at the engine. batch: session and tokens of each
    run that is served, in serving order.
    """

    engine: str
    index: int | None
    start: float
    duration: float
    tokens: float
    prefilled: float
    decoders: int
    residents: int
    batch: tuple[tuple[int, float], ...]


@define
class Samples:
    """The samples of one observation or client time, whole run, in recorded order.

    times: when; sessions, turns: whose; values: what. All of one length. seen: how many there were after
    the warm-up, where only some of them are kept (`serq.machine.reservoir`).
    """

    times: array[float] = field(factory=lambda: array("d"))
    sessions: array[int] = field(factory=lambda: array("i"))
    turns: array[int] = field(factory=lambda: array("i"))
    values: array[float] = field(factory=lambda: array("d"))
    seen: int | None = None

    def columns(self) -> tuple[array[Any], ...]:
        """All that is kept of each sample."""
        return self.times, self.sessions, self.turns, self.values

    def add(self, time: float, session: int, turn: int, value: float) -> None:
        self.times.append(time)
        self.sessions.append(session)
        self.turns.append(turn)
        self.values.append(value)


@define
class Series:
    """A piecewise constant function: from times[i] on it is values[i]; times[0] is 0."""

    times: array[float] = field(factory=lambda: array("d"))
    values: array[float] = field(factory=lambda: array("d"))

    def show(self, time: float, value: float) -> None:
        """It has this value from now on, unless the instant goes on."""
        values, times = self.values, self.times
        if values:
            if value == values[-1]:
                return
            if times[-1] == time:
                # Only what is the case at the end of an instant counts.
                values.pop()
                times.pop()
                if values and value == values[-1]:
                    return
        times.append(time)
        values.append(value)


@define
class StageTally:
    """What one stage, or one member of a family, did within [W, E].

    area: integral of jobs present. busy_time: time with at least one job present (for a stage of
    flows: the integral of rate/capacity). completed, wait_sum, service_sum: over jobs that ended.
    iterations: whole run. prefill_only, decode_only, mixed: time under iterations of that kind.
    decode_area: integral of the decodes in the running iteration. decode_starts, decode_sum,
    decode_duration: number of iterations with a decode that started in [W, E], their decodes,
    their durations. gaps, gap_counts: gaps between successive tokens of one turn, gaps[i]
    occurring gap_counts[i] times, in no particular order and not merged.
    """

    name: str
    index: int | None
    is_engine: bool
    area: float = 0.0
    busy_time: float = 0.0
    completed: int = 0
    wait_sum: float = 0.0
    service_sum: float = 0.0
    iterations: int = 0
    prefill_only: float = 0.0
    decode_only: float = 0.0
    mixed: float = 0.0
    decode_area: float = 0.0
    decode_starts: int = 0
    decode_sum: float = 0.0
    decode_duration: float = 0.0
    gaps: array[float] = field(factory=lambda: array("d"))
    gap_counts: array[int] = field(factory=lambda: array("q"))
    idle_with_work: bool = False


@define
class PoolTally:
    """What one pool, or one member of a family, did.

    used_area, cached_area, queue_area, holders_area: time integrals over [W, E]. queue_admissions,
    wait_sum: admissions from its own queue within [W, E] and their waiting times. The counters are
    of the whole run; admissions: holds admitted that include this pool. over_cap: (queue's pool
    name, need) at the end, or None.
    """

    name: str
    index: int | None
    used_area: float = 0.0
    cached_area: float = 0.0
    queue_area: float = 0.0
    holders_area: float = 0.0
    admissions: int = 0
    queue_admissions: int = 0
    wait_sum: float = 0.0
    evicted_entries: int = 0
    evicted_units: float = 0.0
    preemptions: int = 0
    spills: int = 0
    rejected: int = 0
    stuck: int = 0
    over_cap: tuple[str, float] | None = None
    growing_at_end: int = 0
    growing_stalled: bool = False


@define
class Outcome:
    """What a run found of one claim. The meaning of the fields is semantics section 9.

    result: "holds", "fails", "witnessed", "not_witnessed", "not_evaluated" or "out_of_scope".
    vacuous: why it holds only because there was nothing to hold of, None if there was.
    """

    name: str
    kind: str
    result: str
    checked: int
    failures: int
    first: float | None
    note: str | None
    vacuous: str | None = None


@frozen
class Wait:
    """Sessions that can never go on, found when the run had ended.

    kind: "rejected", "over", "cycle", "lease" or "stuck" (`serq.machine.waits`). sessions: by number; in a
    cycle each waits for the next. pools: what each waits for. places: where in the program each asks.
    need: units asked for, of "rejected" and "over".
    """

    kind: str
    sessions: tuple[int, ...]
    pools: tuple[str, ...]
    places: tuple[Span | None, ...]
    need: float | None


@define
class RunRecord:
    """A finished run.

    observes: by name, in the program's order. client: `ttft`, `tpot`, `response`, times at the
    moment each was recorded. live_area: integral of live sessions over [W, E].
    tests: observations whose expression is a test (outermost a comparison, &&, || or !). waits:
    sessions that can never go on; what is said about a run, not part of it.
    """

    horizon: float
    end: float
    warmup: float
    seed: int
    events: int
    arrivals: int
    ended: int
    turns: int
    live_at_end: int
    live_area: float
    observes: dict[str, Samples]
    client: dict[str, Samples]
    gauges: dict[str, Series]
    outcomes: list[Outcome]
    stages: list[StageTally]
    pools: list[PoolTally]
    tests: frozenset[str] = frozenset()
    waits: list[Wait] = field(factory=list, eq=False)
