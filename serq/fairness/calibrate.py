"""Choosing alpha: the best of a grid that keeps what was promised (section 5.1)."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from math import isnan, nan

from attrs import frozen

from serq.fairness.accounts import check_alpha


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
    which is the fairer one. Source: section 5.1. Raises KeyError when a name was not measured, ValueError
    when the objective is NaN, an alpha is below 0, or a promise is not a least and a largest value. A
    promise about what is NaN is broken.
    """
    bounds = {name: _bounds(name, promise) for name, promise in (promises or {}).items()}
    found = []
    for alpha in grid:
        check_alpha(alpha)
        measured = measure(alpha)
        broken = tuple(name for name, (low, high) in bounds.items() if not low <= measured[name] <= high)
        if isnan(measured[objective]):
            raise ValueError(f"`{objective}` is NaN at alpha {alpha}: nothing is larger or smaller")
        found.append(Candidate(alpha, measured, broken))
    kept = [candidate for candidate in found if not candidate.broken]
    best = max(kept, key=lambda c: (c.measured[objective], -c.alpha), default=None)
    return Calibration(tuple(found), best)


def _bounds(name: str, promise: tuple[float, float]) -> tuple[float, float]:
    try:
        low, high = promise
    except TypeError:
        low = high = nan
    if not low <= high:
        raise ValueError(
            f"the promise about `{name}` is a pair, its least and its largest value, not {promise}"
        )
    return low, high
