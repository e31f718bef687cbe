"""What a few independent runs, or a number of yes and no, say of the truth: intervals and cuts.

Each docstring names where its formula is from. A figure that cannot be had from so little is None.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from statistics import NormalDist

import numpy as np
from attrs import frozen

from serq.report.stats import Floats

CONFIDENCE = 0.95
"""Of intervals, unless something else is asked for."""

MSER_BATCH = 5
"""Samples behind each mean that `mser5` looks at."""

MSER_FEWEST = 20
"""Means that `mser5` has to have: then at least ten are left after any cut that it proposes."""


@frozen
class Interval:
    """low, high: the ends; None where the samples do not bound the figure on that side."""

    low: float | None
    high: float | None


def student_t(freedom: int, confidence: float = CONFIDENCE) -> float:
    """The t with P(|T| <= t) = confidence, for 1 or more degrees of freedom.

    The probability is a finite sum (Abramowitz and Stegun, Handbook of Mathematical Functions, 1964,
    26.7.3 and 26.7.4); its inverse is found by halving.
    """
    low, high = 0.0, 1.0
    while _within(high, freedom) < confidence:
        low, high = high, 2 * high
    while (middle := (low + high) / 2) not in (low, high):
        low, high = (middle, high) if _within(middle, freedom) < confidence else (low, middle)
    return high


def _within(t: float, freedom: int) -> float:
    """P(|T| <= t) of Student's t."""
    angle = math.atan(t / math.sqrt(freedom))
    sine, square = math.sin(angle), math.cos(angle) ** 2
    odd = freedom % 2
    term = total = math.cos(angle) if odd else 1.0
    for k in range(2 + odd, freedom - 1, 2):
        term *= square * (k - 1) / k
        total += term
    if not odd:
        return sine * total
    return 2 / math.pi * (angle + (sine * total if freedom > 1 else 0.0))


def mean_halfwidth(values: Sequence[float], confidence: float = CONFIDENCE) -> float | None:
    """Half the width of the t interval of the mean of independent values; None below two.

    t s / √n with n - 1 degrees of freedom (any text on statistics).
    """
    if len(values) < 2:
        return None
    return student_t(len(values) - 1, confidence) * deviation(values) / math.sqrt(len(values))


def deviation(values: Sequence[float]) -> float:
    """The standard deviation of two or more values, with divisor n - 1."""
    center = math.fsum(values) / len(values)
    return math.sqrt(math.fsum((v - center) ** 2 for v in values) / (len(values) - 1))


def wilson(successes: int, trials: int, confidence: float = CONFIDENCE) -> Interval:
    """The score interval of a probability after independent trials; (0, 1) after none.

    E. B. Wilson, "Probable inference, the law of succession, and statistical inference", Journal of the
    American Statistical Association 22 (1927).
    """
    if not trials:
        return Interval(0.0, 1.0)
    z2 = NormalDist().inv_cdf((1 + confidence) / 2) ** 2
    p = successes / trials
    center = (p + z2 / (2 * trials)) / (1 + z2 / trials)
    half = math.sqrt(z2 * (p * (1 - p) / trials + z2 / (4 * trials * trials))) / (1 + z2 / trials)
    low = 0.0 if successes == 0 else center - half
    high = 1.0 if successes == trials else center + half
    return Interval(max(0.0, low), min(1.0, high))


def most_failures(trials: int, confidence: float = CONFIDENCE) -> float:
    """The largest probability of a failure with which none in so many trials is no surprise.

    1 - (1 - c)^(1/n), which is about 3/n for c = 0.95: the rule of three (Hanley and Lippman-Hand, "If
    nothing goes wrong, is everything all right?", Journal of the American Medical Association 249, 1983).
    """
    return -math.expm1(math.log1p(-confidence) / trials) if trials else 1.0


# ---------------------------------------------------------------- quantiles over seeds


@frozen
class PooledQuantile:
    """A quantile of the samples of several runs. value: the nearest rank; interval: by `pooled_quantile`.

    is_greatest: no sample is above it because there are too few.
    """

    value: float
    interval: Interval
    is_greatest: bool


def pooled_quantile(runs: Sequence[Floats], percent: int, confidence: float = CONFIDENCE) -> PooledQuantile:
    """A percentile of all samples, with an interval whose ends are samples too.

    runs: samples of each run, in any order; some run has one. Samples of one run depend on each other, so
    the uncertainty is taken from how the fraction of samples at most the quantile differs from run to run
    (a ratio of totals over clusters); the ends are the order statistics at the ends of that fraction's
    interval. With fewer than two runs, or where the fraction's interval passes 1, an end is missing.
    Source: R. S. Woodruff, "Confidence intervals for medians and other position measures", Journal of the
    American Statistical Association 47 (1952).
    """
    pooled = np.sort(np.concatenate(runs))
    n, p = int(pooled.size), percent / 100
    rank = -(-percent * n // 100)
    value = float(pooled[rank - 1])
    is_greatest = rank == n and percent < 100
    sizes = np.array([run.size for run in runs], dtype=float)
    if len(runs) < 2:
        return PooledQuantile(value, Interval(None, None), is_greatest)
    below = np.array([(run <= value).sum() for run in runs], dtype=float)
    apart = below - below.sum() / n * sizes
    spread = math.sqrt(len(runs) / (len(runs) - 1) * float((apart**2).sum())) / n
    half = student_t(len(runs) - 1, confidence) * spread
    # A millionth of a rank is rounding.
    first, last = math.floor((p - half) * n + 1e-6), math.ceil((p + half) * n - 1e-6)
    low = float(pooled[min(first, rank) - 1]) if first >= 1 else None
    high = float(pooled[max(last, rank) - 1]) if last <= n and not is_greatest else None
    return PooledQuantile(value, Interval(low, high), is_greatest)


# ---------------------------------------------------------------- warm-up


def batch_means(samples: Floats) -> Floats:
    """Means of each five samples in recorded order, what is left over unused."""
    count = samples.size // MSER_BATCH
    means: Floats = samples[: count * MSER_BATCH].reshape(count, MSER_BATCH).mean(axis=1)
    return means


def mser5(means: Floats) -> int | None:
    """How many of the first means of five to leave out, so that the rest says most about the long run.

    The cut that makes the squared standard error of what is left, Σ(y - ȳ)² / (n - d)², least; None when
    that is in the second half, or with fewer than 20 means: then the run is too short to tell. Cuts that
    leave fewer than five means are not looked at.
    Source: K. P. White, "An effective truncation heuristic for bias reduction in simulation output",
    Simulation 69 (1997), with batches of five as in White, Cobb and Spratt, "A comparison of five
    steady-state truncation heuristics for simulation", Winter Simulation Conference 2000.
    """
    n = means.size
    if n < MSER_FEWEST:
        return None
    left = np.arange(n, 0, -1, dtype=float)
    centered = means - means.mean()
    sums = np.cumsum(centered[::-1])[::-1]
    squares = np.cumsum(centered[::-1] ** 2)[::-1]
    errors = np.maximum(squares - sums**2 / left, 0.0) / left**2
    cut = int(np.argmin(errors[: n - MSER_BATCH + 1]))
    return cut if cut <= n // 2 else None
