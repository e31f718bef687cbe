"""Records -> report: every figure of a run, computed once at its end."""

from __future__ import annotations

from array import array

import numpy as np

from serq.machine.records import Outcome, PoolTally, RunRecord, Samples, Series, StageTally, Wait
from serq.report import stats
from serq.report.report import (
    ByName,
    ClaimResult,
    GaugeSummary,
    OverCap,
    PoolRow,
    Report,
    SampleSummary,
    StageRow,
    WaitRow,
)
from serq.report.stats import Floats, Ints


def make_report(record: RunRecord, version: str) -> Report:
    """The report of a finished run; version: the serq that ran it.

    The arrays of the report look into the record's memory where they can, so the machine must be
    done with it.
    """
    length = record.end - record.warmup
    return Report(
        version=version,
        horizon=record.horizon,
        end=record.end,
        warmup=record.warmup,
        seed=record.seed,
        events=record.events,
        arrivals=record.arrivals,
        ended=record.ended,
        turns=record.turns,
        mean_live=record.live_area / length,
        observes=ByName(
            "observation",
            (
                (name, summarize_samples(samples, record.warmup, is_test=name in record.tests))
                for name, samples in record.observes.items()
            ),
        ),
        client=ByName(
            "client time",
            ((name, summarize_samples(samples, record.warmup)) for name, samples in record.client.items()),
        ),
        gauges=ByName(
            "gauge",
            (
                (name, summarize_gauge(series, record.warmup, record.end))
                for name, series in record.gauges.items()
            ),
        ),
        claims=tuple(_claim_result(outcome) for outcome in record.outcomes),
        stages=tuple(stage_row(tally, length) for tally in record.stages),
        pools=tuple(pool_row(tally, length) for tally in record.pools),
        waits=tuple(_wait_row(wait) for wait in record.waits),
    )


def _wait_row(wait: Wait) -> WaitRow:
    places = tuple(
        None if at is None else f"{at.file or '<program>'}:{at.line}:{at.column}" for at in wait.places
    )
    return WaitRow(wait.kind, wait.sessions, wait.pools, places, wait.need)


def summarize_samples(samples: Samples, warmup: float, *, is_test: bool = False) -> SampleSummary:
    """The figures over the samples recorded at or after the warm-up, and those samples."""
    times = _floats(samples.times)
    kept = times >= warmup
    which = slice(None) if kept.all() else kept
    values = _floats(samples.values)[which]
    return SampleSummary(
        count=int(values.size) if samples.seen is None else samples.seen,
        mean=stats.mean(values),
        ci=stats.batch_halfwidth(values),
        cv2=stats.squared_cv(values),
        p99=stats.percentile(values, 99),
        samples=values,
        times=times[which],
        sessions=_ints(samples.sessions)[which],
        turns=_ints(samples.turns)[which],
        is_test=is_test,
    )


def summarize_gauge(series: Series, warmup: float, end: float) -> GaugeSummary:
    """The figures of a gauge over [warmup, end], and its change points over the whole run."""
    times, values = _floats(series.times), _floats(series.values)
    least, greatest = stats.held_range(times, values, warmup, end)
    return GaugeSummary(
        mean=float(stats.window_averages(times, values, warmup, end, 1)[0]),
        ci=stats.halfwidth(stats.window_averages(times, values, warmup, end, stats.BATCHES)),
        min=least,
        max=greatest,
        times=times,
        values=values,
    )


def stage_row(tally: StageTally, length: float) -> StageRow:
    """One engine's or stage's figures; length: of [W, E]."""
    gaps, counts = _floats(tally.gaps), _ints(tally.gap_counts)
    itl_p50, itl_p99 = stats.gap_percentiles(gaps, counts, (50, 99))
    return StageRow(
        name=tally.name,
        index=tally.index,
        mean_number=tally.area / length,
        utilization=tally.busy_time / length,
        completed=tally.completed,
        throughput=tally.completed / length,
        mean_wait=stats.ratio(tally.wait_sum, tally.completed),
        mean_service=stats.ratio(tally.service_sum, tally.completed),
        iterations=tally.iterations,
        prefill_only=tally.prefill_only / length,
        decode_only=tally.decode_only / length,
        mixed=tally.mixed / length,
        mean_decodes=tally.decode_area / length,
        mean_decode_batch=stats.ratio(tally.decode_sum, tally.decode_starts),
        mean_decode_step=stats.ratio(tally.decode_duration, tally.decode_starts),
        mean_itl=stats.gap_mean(gaps, counts),
        itl_p50=itl_p50,
        itl_p99=itl_p99,
        idle_with_work=tally.idle_with_work,
        is_engine=tally.is_engine,
    )


def pool_row(tally: PoolTally, length: float) -> PoolRow:
    """One pool's figures; length: of [W, E]."""
    return PoolRow(
        name=tally.name,
        index=tally.index,
        mean_used=tally.used_area / length,
        mean_cached=tally.cached_area / length,
        mean_queue=tally.queue_area / length,
        mean_holders=tally.holders_area / length,
        mean_wait=stats.ratio(tally.wait_sum, tally.queue_admissions),
        admissions=tally.admissions,
        evicted_entries=tally.evicted_entries,
        evicted_units=tally.evicted_units,
        preemptions=tally.preemptions,
        spills=tally.spills,
        rejected=tally.rejected,
        stuck=tally.stuck,
        over_cap=OverCap(*tally.over_cap) if tally.over_cap is not None else None,
        growing_at_end=tally.growing_at_end,
        growing_stalled=tally.growing_stalled,
    )


def _claim_result(outcome: Outcome) -> ClaimResult:
    return ClaimResult(
        name=outcome.name,
        kind=outcome.kind,
        result=outcome.result,
        checked=outcome.checked,
        failures=outcome.failures,
        first=outcome.first,
        note=outcome.note,
        vacuous=outcome.vacuous,
    )


def _floats(column: array[float]) -> Floats:
    """A read-only view of a column, not a copy."""
    view: Floats = np.asarray(column, dtype=np.float64).view()
    view.flags.writeable = False
    return view


def _ints(column: array[int]) -> Ints:
    """A read-only view of a column, not a copy."""
    view: Ints = np.asarray(column).view()
    view.flags.writeable = False
    return view
