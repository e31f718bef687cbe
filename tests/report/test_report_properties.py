"""What must be so of every sample, gauge and list of gaps."""

from __future__ import annotations

import json
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from serq.machine.records import RunRecord, Samples, Series, StageTally
from serq.report import make_report, report_to_json, show_report, stats

numbers = st.floats(-1e9, 1e9)
anything = st.floats()  # infinities and NaN too
gap_counts = st.lists(st.tuples(st.floats(1e-6, 1e6), st.integers(1, 9)), min_size=1, max_size=30)
steps = st.lists(st.tuples(st.floats(1e-3, 1e3), numbers), min_size=1, max_size=40)
percents = st.integers(1, 100)


def weighted(pairs):
    return np.array([g for g, _ in pairs]), np.array([n for _, n in pairs], dtype=np.int64)


def expanded(pairs):
    gaps, counts = weighted(pairs)
    return np.repeat(gaps, counts)


def gauge(pairs):
    """Times and values of a gauge from (how long, value), and its end."""
    times = np.concatenate([[0.0], np.cumsum([length for length, _ in pairs])])
    return times[:-1], np.array([value for _, value in pairs]), float(times[-1])


@given(gap_counts, percents)
def test_percentiles_of_counted_gaps_are_those_of_the_gaps_one_by_one(pairs, percent):
    one_by_one = expanded(pairs)
    ones = np.ones(one_by_one.size, dtype=np.int64)
    assert stats.gap_percentiles(*weighted(pairs), [percent]) == stats.gap_percentiles(
        one_by_one, ones, [percent]
    )
    assert stats.gap_mean(*weighted(pairs)) == pytest.approx(stats.mean(one_by_one))


@given(gap_counts, percents)
def test_a_percentile_of_gaps_is_within_half_a_percent_of_the_nearest_rank(pairs, percent):
    (got,) = stats.gap_percentiles(*weighted(pairs), [percent])
    want = stats.percentile(expanded(pairs), percent)
    assert abs(math.log(got / want)) <= math.log(1.01) / 2 * (1 + 1e-9)


@given(st.lists(st.tuples(st.integers(0, 40), st.integers(1, 9)), min_size=1), percents)
def test_gaps_well_apart_have_exactly_the_nearest_rank(pairs, percent):
    pairs = [(1.5**k, n) for k, n in pairs]
    assert stats.gap_percentiles(*weighted(pairs), [percent]) == [stats.percentile(expanded(pairs), percent)]


@given(st.lists(numbers, min_size=1), percents)
def test_a_percentile_is_a_sample_with_that_many_at_or_below_it(values, percent):
    p = stats.percentile(np.array(values), percent)
    assert p in values
    assert 100 * sum(v <= p for v in values) >= percent * len(values)
    assert 100 * sum(v < p for v in values) < percent * len(values)


@given(steps, st.integers(1, 30), st.floats(0, 0.9))
def test_windows_average_to_the_mean(pairs, windows, warm):
    times, values, end = gauge(pairs)
    start = warm * end
    parts = stats.window_averages(times, values, start, end, windows)
    (whole,) = stats.window_averages(times, values, start, end, 1)
    scale = float(np.abs(values).max())
    assert float(parts.mean()) == pytest.approx(float(whole), rel=1e-9, abs=1e-9 * scale + 1e-300)
    least, greatest = stats.held_range(times, values, start, end)
    assert all(least <= part <= greatest for part in parts)


@given(steps)
def test_a_mean_is_the_area_over_the_length(pairs):
    times, values, end = gauge(pairs)
    lengths = np.diff(np.append(times, end))
    area = math.fsum(v * length for v, length in zip(values, lengths, strict=True))
    scale = float(np.abs(values).max())
    (mean,) = stats.window_averages(times, values, 0.0, end, 1)
    assert mean == pytest.approx(area / end, abs=1e-9 * scale + 1e-300)


@given(
    st.lists(st.tuples(st.floats(0, 10), anything)), st.lists(anything, min_size=1, max_size=30), gap_counts
)
def test_every_run_has_a_report_that_survives_json(observed, gauged, pairs):
    """Whatever the samples are, there is a report, its JSON reads back equal, and its text is made."""
    observations = Samples()
    for time, value in observed:
        observations.add(time, 0, 1, value)
    changes = Series()
    for i, value in enumerate(gauged):
        changes.times.append(i / 10)
        changes.values.append(value)
    stage = StageTally("e", None, True)
    for gap, n in pairs:
        stage.gaps.append(gap)
        stage.gap_counts.append(n)
    record = RunRecord(
        horizon=10.0, end=10.0, warmup=2.0, seed=1, events=0, arrivals=0, ended=0, turns=0, live_at_end=0,
        live_area=0.0, observes={"o": observations}, client={}, gauges={"g": changes}, outcomes=[],
        stages=[stage], pools=[],
    )  # fmt: skip
    report = make_report(record, "1.2.3")
    document = report.to_dict()
    assert json.loads(report_to_json(report)) == document
    assert json.loads(json.dumps(document)) == document
    assert show_report(report)
