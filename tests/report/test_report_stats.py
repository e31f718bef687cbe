"""Each formula of the report against numbers worked out by hand or given in the semantics."""

from __future__ import annotations

import math

import numpy as np
import pytest

from serq.report import stats

NAN, INF = math.nan, math.inf


def floats(*values: float) -> stats.Floats:
    return np.array(values, dtype=np.float64)


def near(expected: float | None) -> object:
    return expected if expected is None else pytest.approx(expected, rel=1e-9, abs=1e-12)


@pytest.mark.parametrize(
    ("values", "mean", "cv2", "p99"),
    [
        ((), None, None, None),
        ((5.0,), 5.0, None, 5.0),
        ((31.0, 24.0), 27.5, 24.5 / 27.5**2, 31.0),
        ((4.0, 6.0, 9.0), 19 / 3, 57 / 361, 9.0),  # variance 19/3, over (19/3)²
        ((0.1,) * 7, 0.1, 0.0, 0.1),
        ((-1.0, 1.0), 0.0, None, 1.0),  # no variance relative to a mean of 0
    ],
)
def test_a_sample_has_its_mean_cv2_and_p99(values, mean, cv2, p99):
    assert stats.mean(floats(*values)) == near(mean)
    assert stats.squared_cv(floats(*values)) == near(cv2)
    assert stats.percentile(floats(*values), 99) == p99


@pytest.mark.parametrize(("n", "p99"), [(1, 1), (99, 99), (100, 99), (101, 100), (200, 198), (201, 199)])
def test_p99_is_the_nearest_rank(n, p99):
    """The ⌈0.99 n⌉-th of 1 … n is ⌈0.99 n⌉ itself."""
    assert stats.percentile(floats(*range(n, 0, -1)), 99) == p99


def test_the_interval_of_forty_samples():
    """Values 0 … 39: batch means 0.5, 2.5, … 38.5, s² = 4·35, half width 2.093·√(140/20) = 5.5376."""
    assert stats.batch_halfwidth(floats(*range(40))) == near(2.093 * math.sqrt(7))
    assert stats.batch_halfwidth(floats(*range(39))) is None


def test_samples_beyond_the_batches_do_not_count_in_the_interval():
    assert stats.batch_halfwidth(floats(*range(40), *[1e9] * 19)) == near(2.093 * math.sqrt(7))


def test_equal_samples_have_an_interval_of_exactly_nothing():
    assert stats.batch_halfwidth(floats(*[0.1] * 1000)) == 0
    assert stats.mean(floats(*[0.1] * 1000)) == 0.1


@pytest.mark.parametrize("odd", [INF, -INF, NAN])
def test_samples_that_are_not_finite_give_figures_that_are_not(odd):
    values = floats(*[1.0] * 50, odd)
    assert not math.isfinite(stats.mean(values))
    assert stats.squared_cv(values) is None
    assert stats.batch_halfwidth(floats(odd, *[1.0] * 49)) is not None
    assert not math.isfinite(stats.batch_halfwidth(floats(odd, *[1.0] * 49)))
    assert stats.percentile(values, 99) == 1 if odd < 0 else not math.isfinite(stats.percentile(values, 99))


JOBS = floats(0, 10, 20, 41, 44), floats(0, 1, 2, 1, 0)
USED = floats(*range(10)), floats(4, 8, 12, 12, 9, 11, 5, 6, 7, 0)


@pytest.mark.parametrize(
    ("series", "end", "mean", "ci", "least", "greatest"),
    [(JOBS, 44.0, 1.25, 0.3762336313543939, 0, 2), (USED, 10.0, 7.4, 1.747175, 0, 12)],
)
def test_the_gauges_of_the_worked_examples(series, end, mean, ci, least, greatest):
    """Semantics, sections 12 and 13."""
    assert stats.window_averages(*series, 0.0, end, 1).tolist() == [near(mean)]
    windows = stats.window_averages(*series, 0.0, end, stats.BATCHES)
    assert stats.halfwidth(windows) == pytest.approx(ci, rel=1e-6)
    assert stats.held_range(*series, 0.0, end) == (least, greatest)


def test_a_gauge_is_read_from_the_warm_up_on():
    """From 30 to 44: 2 for 11, 1 for 3; the 0 at 44 is held for no time."""
    assert stats.window_averages(*JOBS, 30.0, 44.0, 1).tolist() == [near(25 / 14)]
    assert stats.held_range(*JOBS, 30.0, 44.0) == (1, 2)


def test_a_change_at_the_warm_up_counts_from_there():
    assert stats.held_range(*JOBS, 20.0, 41.0) == (2, 2)
    assert stats.window_averages(*JOBS, 20.0, 41.0, 3).tolist() == [2, 2, 2]


def test_windows_cut_a_value_held_across_them():
    """Windows of 2.5 over 4 8 12 12 9 11 5 6 7 0: areas 4+8+6 = 18, 6+12+9 = 27, 11+5+3 = 19, 3+7 = 10."""
    assert stats.window_averages(*USED, 0.0, 10.0, 4).tolist() == [18 / 2.5, 27 / 2.5, 19 / 2.5, 10 / 2.5]


def test_the_last_of_several_values_at_one_instant_counts():
    times, values = floats(0, 5, 5), floats(1, 100, 3)
    assert stats.window_averages(times, values, 0.0, 10.0, 1).tolist() == [2]
    assert stats.held_range(times, values, 0.0, 10.0) == (1, 3)


def test_a_constant_gauge_has_an_interval_of_exactly_nothing():
    windows = stats.window_averages(floats(0), floats(0.01), 0.0, 1e15, stats.BATCHES)
    assert set(windows) == {0.01}
    assert stats.halfwidth(windows) == 0


def test_a_stretch_too_short_for_windows_has_no_interval():
    start = 1e16
    windows = stats.window_averages(floats(0), floats(3), start, start + 4, stats.BATCHES)
    assert math.isnan(stats.halfwidth(windows))
    assert stats.window_averages(floats(0), floats(3), start, start + 4, 1).tolist() == [3]


def test_an_infinite_value_makes_only_its_own_windows_infinite():
    windows = stats.window_averages(floats(0, 1, 2), floats(1, INF, 1), 0.0, 4.0, 4)
    assert windows.tolist() == [1, INF, 1, 1]


@pytest.mark.parametrize(
    ("gaps", "counts", "mean", "p50", "p99"),
    [
        ((), (), None, None, None),
        ((14, 5, 5, 3), (1, 1, 1, 1), 6.75, 5, 14),  # semantics, section 12
        ((14, 5, 3), (1, 2, 1), 6.75, 5, 14),
        ((4675, 8222), (99, 1), 4710.47, 4675, 4675),
        ((4675, 8222), (98, 2), 4745.94, 4675, 8222),
        ((0.0, 0.0, 0.0), (1, 1, 1), 0, 0, 0),
    ],
)
def test_gaps_between_tokens(gaps, counts, mean, p50, p99):
    weights = np.array(counts, dtype=np.int64)
    assert stats.gap_mean(floats(*gaps), weights) == near(mean)
    assert stats.gap_percentiles(floats(*gaps), weights, (50, 99)) == [p50, p99]


def test_gaps_within_one_percent_share_the_middle_of_their_class():
    """1 … 1.01 is a class with the middle √1.01; the figure never leaves the gaps of the class."""
    ones = np.ones(2, dtype=np.int64)
    middle = near(math.sqrt(1.01))
    assert stats.gap_percentiles(floats(1.001, 1.009), ones, (1, 50, 99)) == [middle] * 3
    assert stats.gap_percentiles(floats(1.001, 1.002), ones, (1, 50, 99)) == [1.002] * 3
    assert stats.gap_percentiles(floats(1.008, 1.009), ones, (1, 50, 99)) == [1.008] * 3
    assert stats.gap_percentiles(floats(1.009, 1.011), ones, (50, 99)) == [1.009, 1.011]


def test_a_mean_over_nothing_is_none():
    assert stats.ratio(0.0, 0) is None
    assert stats.ratio(3.0, 2) == 1.5
