"""Choosing alpha: the best of a grid that keeps what was promised (section 5.1)."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping

from attrs import frozen


@frozen
class Candidate:
    """One alpha of the grid: what was measured, and the promises it breaks, by name."""

    alpha: float
    measured: Mapping[str, float]
    broken: tuple[str, ...]


@frozen
class Calibration:
    """candidates: in the order of the grid. best: None when every alpha breaks a promise."""

    candidates: tuple[Candidate, ...]
    best: Candidate | None


def calibrate(
    grid: Iterable[float],
    measure: Callable[[float], Mapping[str, float]],
    *,
    objective: str,
    promises: Mapping[str, tuple[float, float]] | None = None,
) -> Calibration:
    """The alpha of `grid` with the largest `objective` among those that keep all promises.

    measure: runs a policy under an alpha and gives what the objective and the promises name, such as
    throughput, profit, mean latency or the largest extent of a batch. promises: the least and the
    largest value allowed, by name: the terms of a service-level agreement. Ties go to the smaller alpha,
    which is the fairer one. Source: section 5.1. Raises KeyError when a name was not measured.
    """
    found = []
    for alpha in grid:
        measured = measure(alpha)
        broken = tuple(
            name for name, (low, high) in (promises or {}).items() if not low <= measured[name] <= high
        )
        measured[objective]
        found.append(Candidate(alpha, measured, broken))
    kept = [candidate for candidate in found if not candidate.broken]
    best = max(kept, key=lambda c: (c.measured[objective], -c.alpha), default=None)
    return Calibration(tuple(found), best)
