"""The formulas of a report, over whole arrays of samples, change points or gaps.

Every figure is defined in semantics, section 10 ("Statistics"); each docstring names the formula.
A figure over nothing is None. Samples that are infinite or not a number give such figures, never an
exception (hence `errstate`); the report writes those as null.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.integer[Any]]

BATCHES = 20
"""Batches of samples, or windows of time, behind a confidence interval."""

FEWEST_SAMPLES = 2 * BATCHES
"""Below this many samples there is no interval: a batch would hold a single one."""

FEWEST_FOR_P99 = 100
"""Below this many samples the 99th percentile is the greatest of them."""

STUDENT_T = 2.093
"""Student's t at 97.5 % with BATCHES - 1 = 19 degrees of freedom."""

GAP_CLASS = 1.01
"""Gaps between tokens are told apart by factors of this size, see `gap_percentiles`."""


@np.errstate(all="ignore")
def mean(samples: Floats) -> float | None:
    """The arithmetic mean, in the unit of the samples; None when there are none.

    Held between the least and the greatest sample, which rounding could otherwise pass: equal
    samples have exactly their value as mean, and so exactly no variance.
    """
    if not samples.size:
        return None
    return float(np.clip(samples.mean(), samples.min(), samples.max()))


@np.errstate(all="ignore")
def squared_cv(samples: Floats) -> float | None:
    """cv²: the sample variance (divisor n - 1) over the squared mean; 1 for exponential samples.

    None below two samples and where the quotient is not finite, as for a mean of 0.
    """
    center = mean(samples)
    if samples.size < 2 or center is None:
        return None
    cv2 = _variance(samples, center) / np.square(center)
    return float(cv2) if np.isfinite(cv2) else None


def percentile(samples: Floats, percent: int) -> float | None:
    """The nearest-rank percentile, the ⌈percent·n/100⌉-th smallest sample; None when there are none.

    Always one of the samples, never an interpolation. percent: 1 to 100.
    """
    if not samples.size:
        return None
    if np.isnan(samples).any():
        return math.nan
    at = _rank(int(samples.size), percent) - 1
    return float(np.partition(samples, at)[at])


@np.errstate(all="ignore")
def batch_halfwidth(samples: Floats) -> float | None:
    """Half the width of a 95 % confidence interval of the mean, by batch means.

    samples: in the order they were recorded, which is what carries their correlation. They are cut
    into 20 batches of ⌊n/20⌋, the rest at the end unused; see `halfwidth`. None below 40 samples.
    """
    if samples.size < FEWEST_SAMPLES:
        return None
    size = samples.size // BATCHES
    means = samples[: BATCHES * size].reshape(BATCHES, size).mean(axis=1)
    return halfwidth(np.clip(means, samples.min(), samples.max()))


@np.errstate(all="ignore")
def halfwidth(means: Floats) -> float:
    """2.093·s/√20, s the sample standard deviation of the 20 means of batches or windows."""
    center = mean(means)
    assert center is not None and means.size == BATCHES
    return float(STUDENT_T * math.sqrt(_variance(means, center) / BATCHES))


@np.errstate(all="ignore")
def window_averages(times: Floats, values: Floats, start: float, end: float, windows: int) -> Floats:
    """Time averages over equal windows of [start, end] of the function that is values[i] from times[i] on.

    times: ascending, times[0] <= start < end; of several entries at one instant the last counts.
    One window gives a gauge's mean; BATCHES windows are what its `halfwidth` is taken of.
    """
    edges = np.linspace(start, end, windows + 1)
    inside = times[np.searchsorted(times, start, "right") : np.searchsorted(times, end, "left")]
    cuts = np.union1d(inside, edges)
    held = values[np.searchsorted(times, cuts[:-1], "right") - 1]
    areas = held * np.diff(cuts)
    first = np.minimum(np.searchsorted(cuts, edges[:-1]), areas.size - 1)
    lengths = np.diff(edges)
    # A window too short for a double to have an inside has no average.
    averages = np.where(lengths > 0, np.add.reduceat(areas, first), np.nan) / lengths
    return np.clip(averages, held.min(), held.max())


def held_range(times: Floats, values: Floats, start: float, end: float) -> tuple[float, float]:
    """The least and the greatest value held for a positive time in [start, end].

    times, values, start, end: as for `window_averages`.
    """
    since = np.maximum(times, start)
    until = np.minimum(np.append(times[1:], end), end)
    held = values[since < until]
    return float(held.min()), float(held.max())


def gap_mean(gaps: Floats, counts: Ints) -> float | None:
    """The mean gap between successive tokens (ITL), gaps[i] having occurred counts[i] times."""
    return ratio(float(gaps @ counts), int(counts.sum()))


@np.errstate(all="ignore")
def gap_percentiles(gaps: Floats, counts: Ints, percents: Sequence[int]) -> list[float | None]:
    """Percentiles of gaps between tokens (ITL), gaps[i] having occurred counts[i] times.

    The nearest rank is taken among classes of gaps within one percent of each other, from 1.01^i
    up to 1.01^(i+1): the figure is the middle 1.01^(i+1/2) of the class the rank falls in, or the
    nearest gap of that class if the middle lies beyond them all. So it is within half a percent of
    the gap at that rank, and equals it when the class holds only one value. None without gaps.
    """
    if not counts.sum():
        return [None for _ in percents]
    order = np.argsort(gaps, kind="stable")
    ascending = gaps[order]
    upto = np.cumsum(counts[order])
    classes = np.floor(np.log(ascending) / math.log(GAP_CLASS))

    def at(percent: int) -> float:
        own = classes[np.searchsorted(upto, _rank(int(upto[-1]), percent))]
        low = ascending[np.searchsorted(classes, own, "left")]
        high = ascending[np.searchsorted(classes, own, "right") - 1]
        return float(np.clip(np.power(GAP_CLASS, own + 0.5), low, high))

    return [at(percent) for percent in percents]


def ratio(total: float, count: float) -> float | None:
    """total / count: a mean over `count` things; None when there are none."""
    return total / count if count else None


def _rank(n: int, percent: int) -> int:
    """⌈percent·n/100⌉ in whole numbers, where 0.99·n could round to the wrong side."""
    return -(-percent * n // 100)


def _variance(samples: Floats, center: float) -> float:
    """The sample variance of at least two samples about their mean."""
    return float(np.square(samples - center).sum() / (samples.size - 1))
