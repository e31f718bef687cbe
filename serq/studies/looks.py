"""How much a backlog, its age and the lines of a program have grown after so many arrivals."""

from __future__ import annotations

import math
from collections.abc import Sequence

from attrs import frozen

from serq.report.inference import deviation, student_t
from serq.studies.course import Course, Line

MOST_LOOKS = 9
"""Looks that a verdict may take, each with runs of twice as many arrivals as the one before."""

FEWEST_CAME = 30
"""Jobs that must have come to a place in the second half, all runs together, before its growth counts."""

ENOUGH_GROWTH = 0.0125
"""A part of the arrivals that nobody serves, which is no doubt too many however coarse the resolution."""

AT_EDGE = 0.6
"""Growth of a system at its edge, as a part of its standard deviation between runs.

The backlog is then like a reflected Brownian motion, |B(N)|: from N/2 to N its mean grows by
0.80 (1 - 0.71) s √N = 0.23 s √N, and the growth varies by about 0.5 s √N from run to run.
"""


@frozen
class Growth:
    """How much something grew over the second half of the arrivals, as a part of what came meanwhile.

    mean: over the runs; low, high: its interval. spread: standard deviation from run to run. controlled:
    the time that the arrivals took was used as a control variable.
    """

    mean: float
    low: float
    high: float
    spread: float
    controlled: bool = False

    def is_flat(self, most: float) -> bool:
        """Whether it is certainly less than `most`, and perhaps nothing."""
        return self.high < most and self.low <= 0

    def is_steep(self, patience: Patience) -> bool:
        """Whether it is certainly more than a part of the resolution, and than at the edge."""
        return self.low > min(patience.resolution / 4, ENOUGH_GROWTH) + AT_EDGE * self.spread


@frozen
class Waiting:
    """What the runs say of one place where jobs wait.

    name: of a stage, a pool, or a member of a family of them. came: jobs in the second half, all runs
    together. growth: of the number there, as a part of them; None when they are too few to tell.
    """

    name: str
    came: int
    growth: Growth | None


@frozen
class Look:
    """What the runs say after so many arrivals each.

    growth: of the backlog, as a part of the second half of the arrivals. oldest: growth of the age of the
    oldest session present, counted in arrivals, as a part of them too. lines: the places where jobs wait,
    if these are not just where all sessions do.
    """

    arrivals: int
    growth: Growth
    oldest: Growth
    lines: tuple[Waiting, ...]


@frozen
class Patience:
    """How much a verdict may cost and how fine it has to be.

    seeds: runs of each look, at least 4. resolution: see `Stability`. most_events: of all looks together.
    deadline: seconds since the epoch at which all looking ends.
    """

    seeds: int = 12
    confidence: float = 0.95
    resolution: float = 0.05
    most_events: int = 100_000_000
    deadline: float = math.inf

    @property
    def one_look(self) -> float:
        """How sure one look has to be for all of them together to be as sure as asked for (Bonferroni)."""
        return 1 - (1 - self.confidence) / MOST_LOOKS


def look_at(courses: Sequence[Course], arrivals: int, rate: float | None, patience: Patience) -> Look:
    """How the backlog, its age and the lines have grown over the second half of the arrivals."""
    second = arrivals - arrivals // 2
    ends = [(c.marks[0], c.marks[-1]) for c in courses]
    # Each line may be the one that seems to grow by chance.
    one = 1 - (1 - patience.one_look) / (1 + len(courses[0].lines))
    grown = [(end.backlog - half.backlog) / second for half, end in ends]
    aged = [(end.oldest - half.oldest) / second for half, end in ends]
    growth = growth_of(grown, one)
    if rate is not None:
        late = [(end.time - half.time) * rate / second - 1 for half, end in ends]
        if controlled := _controlled(grown, late, one):
            mean, half = controlled
            growth = Growth(mean, mean - half, mean + half, growth.spread, True)
    lines = zip(*(c.lines for c in courses), strict=True)
    return Look(arrivals, growth, growth_of(aged, one), tuple(_waiting(line, one) for line in lines))


def growth_of(values: Sequence[float], confidence: float) -> Growth:
    """The mean of what was found in the runs, with its t interval."""
    mean, half = math.fsum(values) / len(values), half_width(values, confidence)
    return Growth(mean, mean - half, mean + half, deviation(values))


def _waiting(line: Sequence[Line], confidence: float) -> Waiting:
    """The growth of one line in all runs: a ratio of means, with the error of its residuals.

    Source: the ratio estimator of W. G. Cochran, Sampling Techniques, Wiley 1977, chapter 6.
    """
    grown = [run.present[2] - run.present[0] for run in line]
    came = [more + run.served[2] - run.served[0] for more, run in zip(grown, line, strict=True)]
    whole = sum(came)
    if whole < FEWEST_CAME:
        return Waiting(line[0].name, whole, None)
    ratio, share = sum(grown) / whole, whole / len(line)
    rest = growth_of([(more - ratio * n) / share for more, n in zip(grown, came, strict=True)], confidence)
    return Waiting(line[0].name, whole, Growth(ratio, ratio + rest.low, ratio + rest.high, rest.spread))


def _controlled(
    values: Sequence[float], control: Sequence[float], confidence: float
) -> tuple[float, float] | None:
    """The mean of `values` as if `control` had been at its mean of 0, with its half width; None if the
    control does not vary."""
    n = len(values)
    center, middle = math.fsum(control) / n, math.fsum(values) / n
    square = math.fsum((c - center) ** 2 for c in control)
    if n < 4 or square <= 1e-20:
        return None
    slope = math.fsum((c - center) * v for c, v in zip(control, values, strict=True)) / square
    rest = math.fsum((v - middle - slope * (c - center)) ** 2 for c, v in zip(control, values, strict=True))
    error = math.sqrt(rest / (n - 2) * (1 / n + center**2 / square))
    return middle - slope * center, student_t(n - 2, confidence) * error


def half_width(values: Sequence[float], confidence: float) -> float:
    """Of the t interval around the mean of values."""
    return student_t(len(values) - 1, confidence) * deviation(values) / math.sqrt(len(values))
