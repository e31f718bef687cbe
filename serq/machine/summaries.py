"""Aggregates over all samples of an observation, for claims at the end (semantics, section 9)."""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Sequence

from serq.ir.expr import Summary

Values = Sequence[float]


def prefix_total(values: Values) -> float:
    """Sum over k of v_1 + … + v_k, the values in ascending order."""
    total = running = 0.0
    for value in sorted(values):
        running += value
        total += running
    return total


def mean(values: Values) -> float:
    """The arithmetic mean."""
    return sum(values, 0.0) / len(values) if values else 0.0


def stdev(values: Values) -> float:
    """The sample standard deviation, with divisor n - 1; 0 below two samples."""
    if len(values) < 2:
        return 0.0
    center = mean(values)
    return math.sqrt(sum(((v - center) ** 2 for v in values), 0.0) / (len(values) - 1))


def quantile(values: Values, q: float) -> float:
    """The nearest-rank quantile, the ⌈q n⌉-th smallest sample (the smallest for q = 0).

    A product q n within a billionth of a whole number is that number: 0.07 times 100 is 7 here.
    """
    rank = max(1, math.ceil(q * len(values) - 1e-9))
    return sorted(values)[rank - 1] if values else 0.0


def share(values: Values, compare: Callable[[float, float], bool], limit: float) -> float:
    """The fraction of the samples that compare with `limit` as asked."""
    return sum(compare(v, limit) for v in values) / len(values) if values else 0.0


PLAIN: dict[str, Callable[[Values], float]] = {
    "total": lambda values: sum(values, 0.0),
    "count": lambda values: float(len(values)),
    "largest": lambda values: max(values, default=0.0),
    "smallest": lambda values: min(values, default=0.0),
    "prefix_total": prefix_total,
    "mean": mean,
    "stdev": stdev,
}
"""Those that read nothing but the samples, by name."""

COMPARE: dict[str, Callable[[float, float], bool]] = {
    "<": operator.lt, "<=": operator.le, ">": operator.gt, ">=": operator.ge, "==": operator.eq,
    "!=": operator.ne,
}  # fmt: skip


UNDEFINED_OF_NONE = frozenset({"largest", "smallest", "mean", "stdev", "quantile", "share"})
"""Those that are 0 of no sample because they have to be something; `total` and `count` really are 0."""


def summarize(summary: Summary, values: Values, argument: float | None) -> float:
    """An aggregate over samples; 0 when there are none. argument: the value of the summary's own."""
    if argument is None:
        return PLAIN[summary.function](values)
    if summary.operator is not None:
        return share(values, COMPARE[summary.operator], argument)
    return quantile(values, argument)
