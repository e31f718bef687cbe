"""Intervals and cuts, by tables, by other formulas and by drawing."""

from __future__ import annotations

import math
import statistics

import numpy as np
import pytest

from serq.report.inference import (
    batch_means,
    mean_halfwidth,
    most_failures,
    mser5,
    pooled_quantile,
    student_t,
    wilson,
)

# Any table of Student's distribution: degrees of freedom, t at 97.5 % and at 99.5 %.
TABLE = [
    (1, 12.706, 63.657), (2, 4.303, 9.925), (3, 3.182, 5.841), (4, 2.776, 4.604), (5, 2.571, 4.032),
    (7, 2.365, 3.499), (10, 2.228, 3.169), (19, 2.093, 2.861), (30, 2.042, 2.750), (63, 1.998, 2.656),
    (120, 1.980, 2.617),
]  # fmt: skip


@pytest.mark.parametrize(("freedom", "at_95", "at_99"), TABLE)
def test_student_t_is_that_of_the_tables(freedom: int, at_95: float, at_99: float) -> None:
    assert student_t(freedom) == pytest.approx(at_95, abs=6e-4)
    assert student_t(freedom, 0.99) == pytest.approx(at_99, abs=6e-4)


def test_student_t_becomes_normal() -> None:
    assert student_t(20_001) == pytest.approx(statistics.NormalDist().inv_cdf(0.975), rel=1e-4)


def test_one_degree_of_freedom_is_the_tangent() -> None:
    """The law of Cauchy: P(|T| <= t) = 2 atan(t) / pi."""
    for confidence in (0.5, 0.9, 0.999):
        assert student_t(1, confidence) == pytest.approx(math.tan(math.pi * confidence / 2))


def test_the_interval_of_a_mean() -> None:
    assert mean_halfwidth([3.0]) is None
    assert mean_halfwidth([1.0, 1.0, 1.0]) == 0
    values = [2.0, 4.0, 4.0, 6.0]
    expected = 3.1824463 * statistics.stdev(values) / 2
    assert mean_halfwidth(values) == pytest.approx(expected)


@pytest.mark.parametrize(
    ("successes", "trials", "low", "high"),
    # Newcombe, Statistics in Medicine 17 (1998), table I, method 3.
    [(81, 263, 0.2553, 0.3662), (15, 148, 0.0624, 0.1605), (0, 20, 0.0, 0.1611), (1, 29, 0.0061, 0.1718)],
)
def test_wilson_is_that_of_published_examples(successes: int, trials: int, low: float, high: float) -> None:
    found = wilson(successes, trials)
    assert (found.low, found.high) == (pytest.approx(low, abs=6e-5), pytest.approx(high, abs=6e-5))
    other = wilson(trials - successes, trials)
    assert (other.low, other.high) == (pytest.approx(1 - found.high), pytest.approx(1 - found.low))


def test_without_trials_nothing_is_known() -> None:
    assert (wilson(0, 0).low, wilson(0, 0).high) == (0, 1)
    assert most_failures(0) == 1


def test_the_rule_of_three() -> None:
    for trials in (100, 1000, 10_000):
        assert most_failures(trials) == pytest.approx(3 / trials, rel=0.02)
        # With that probability no failure in all trials has a chance of 5 %.
        assert (1 - most_failures(trials)) ** trials == pytest.approx(0.05)


# ---------------------------------------------------------------- quantiles over runs


def test_a_pooled_quantile_is_the_nearest_rank() -> None:
    runs = [np.array([5.0, 1.0]), np.array([3.0]), np.array([2.0, 4.0])]
    assert [pooled_quantile(runs, percent).value for percent in (20, 50, 60, 61, 99)] == [1, 3, 3, 4, 5]
    assert pooled_quantile(runs, 99).is_greatest
    assert not pooled_quantile(runs, 50).is_greatest
    assert pooled_quantile(runs, 99).interval.high is None
    assert pooled_quantile([runs[0]], 50).interval.low is None


@pytest.mark.parametrize("percent", [50, 95])
def test_the_interval_of_a_quantile_covers_it_though_samples_depend_on_each_other(percent: int) -> None:
    """Samples of a run share a part of themselves; treated as independent they would cover it rarely."""
    drawn = np.random.default_rng(4)
    truth = statistics.NormalDist(0, math.sqrt(2)).inv_cdf(percent / 100)
    covered = 0
    for _ in range(300):
        runs = [drawn.normal() + drawn.normal(size=drawn.integers(30, 60)) for _ in range(40)]
        found = pooled_quantile(runs, percent).interval
        assert found.low is not None
        covered += found.low <= truth and (found.high is None or truth <= found.high)
    assert 0.9 <= covered / 300 <= 0.98


def test_equal_samples_have_an_interval_of_one_point() -> None:
    found = pooled_quantile([np.full(50, 7.0), np.full(80, 7.0)], 50)
    assert (found.value, found.interval.low, found.interval.high) == (7, 7, 7)


# ---------------------------------------------------------------- warm-up


def test_mser_leaves_out_a_bad_beginning() -> None:
    drawn = np.random.default_rng(2)
    steady = drawn.normal(size=400)
    assert mser5(steady) is not None and mser5(steady) <= 40
    begun = np.concatenate((np.linspace(20, 0, 60), steady))
    cut = mser5(begun)
    assert cut is not None and 45 <= cut <= 80


def test_mser_cannot_tell_from_a_short_or_a_growing_series() -> None:
    assert mser5(np.arange(100.0)) is None
    begun = np.concatenate((np.full(3, 50.0), np.random.default_rng(4).normal(size=17)))
    assert mser5(begun[:-1]) is None
    assert mser5(begun) == 3


def test_mser_is_the_least_of_all_cuts() -> None:
    """By its formula, written out."""
    series = np.random.default_rng(8).exponential(size=60) + 5 * np.exp(-np.arange(60) / 8)
    n = series.size

    def error(d: int) -> float:
        rest = series[d:]
        return float(((rest - rest.mean()) ** 2).sum() / (n - d) ** 2)

    assert mser5(series) == min(range(n - 4), key=error)


def test_means_of_five_in_order() -> None:
    assert batch_means(np.arange(13.0)).tolist() == [2.0, 7.0]
    assert batch_means(np.arange(4.0)).size == 0
