"""Aggregates over all samples of an observation, for claims at the end (semantics, section 9)."""

from __future__ import annotations

from collections.abc import Callable, Sequence


def prefix_total(values: Sequence[float]) -> float:
    """Sum over k of v_1 + … + v_k, the values in ascending order."""
    total = running = 0.0
    for value in sorted(values):
        running += value
        total += running
    return total


SUMMARIES: dict[str, Callable[[Sequence[float]], float]] = {
    "total": lambda values: sum(values, 0.0),
    "count": lambda values: float(len(values)),
    "largest": lambda values: max(values, default=0.0),
    "smallest": lambda values: min(values, default=0.0),
    "prefix_total": prefix_total,
}
"""By name; each is 0 when there are no samples."""
