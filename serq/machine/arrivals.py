"""When sessions come, where it takes more than adding a gap."""

from __future__ import annotations

from collections.abc import Sequence
from math import inf

from serq.ir.workload import MOST_IN_SLOT


def is_slot_count(count: float) -> bool:
    """Whether a slot can bring so many sessions."""
    return 0 <= count <= MOST_IN_SLOT and count == int(count)


def next_in_stages(stages: Sequence[tuple[float, float]], now: float, work: float) -> float:
    """When the next session of a stream with changing rates comes; `inf` when none does any more.

    stages: rate and duration one after the other, from time 0. work: exponential with mean 1; the next
    session comes when the integral of the rate from `now` on has reached it.
    Source: a Poisson process in transformed time, as in Cinlar, Introduction to Stochastic Processes,
    Prentice-Hall 1975, section 4.7.
    """
    start = 0.0
    for rate, duration in stages:
        end = start + duration
        if now < end:
            left = rate * (end - now) if rate > 0 else 0.0
            if work < left:
                return now + work / rate
            work -= left
            now = end
        start = end
    return inf
