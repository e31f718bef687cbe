"""The laws of draws: which parameters have a meaning.

How many each takes is in `serq.ir.moments.LAWS`; the laws themselves are in `serq.machine.draws`.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import inf

MOST_STAGES = 1_000_000
"""Exponentials that `~erlang` may sum, which it does one by one."""


def law_fault(law: str, parameters: Sequence[float | None]) -> str | None:
    """What is wrong with the parameters of a draw, or None. A parameter is None if it is not known yet."""
    match law, parameters:
        case "exp", (mean,):
            return _mean_fault(mean)
        case "uniform", (a, b):
            if any(end is not None and not -inf < end < inf for end in (a, b)):
                return "its ends are finite numbers"
            if a is not None and b is not None and a > b:
                return "its lower end comes first"
        case "erlang", (k, mean):
            if k is not None and not 1 <= k <= MOST_STAGES:
                return f"it sums from 1 to {MOST_STAGES} exponentials"
            return _mean_fault(mean)
        case "h2", (mean, variation):
            if variation is not None and variation != variation:
                return "its squared variation is a number"
            return _mean_fault(mean)
        case "bernoulli", (p,):
            if p is not None and not 0 <= p <= 1:
                return "a probability is a number from 0 to 1"
    return None


def _mean_fault(mean: float | None) -> str | None:
    if mean is not None and not 0 <= mean < inf:
        return "a mean is a finite number, at least 0"
    return None
