"""Costs of a schedule and bounds on what a fair one can do.

A schedule is the first step of each request, from 0, in the order of `lengths`; a request of n tokens
that starts at s has its tokens in the steps s … s + n − 1.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from attrs import frozen


def intrinsic_work(lengths: Sequence[int]) -> int:
    """Q, token-steps: what the requests would cost if each paid for its own progress alone.

    The k-th token of a request costs k, so a request of n tokens has n (n + 1) / 2 of it.
    Source: section 5, the first part of Theorem 5.1.
    """
    return sum(n * (n + 1) // 2 for n in lengths)


def makespan(starts: Sequence[int], lengths: Sequence[int]) -> int:
    """T, steps until the last request is done; steps in which nothing runs count. 0 without requests."""
    return max((s + n for s, n in zip(starts, lengths, strict=True)), default=0)


def externality(starts: Sequence[int], lengths: Sequence[int]) -> int:
    """E, token-steps: what members of a batch pay for progress that others have made.

    In every step each member is charged for the one that is furthest: it pays the difference of their
    starts beyond its own progress. In an alpha-fair schedule E <= alpha * sum(lengths).
    Source: eq. (6); the bound is in Theorem 5.1.
    """
    events = sorted({t for s, n in zip(starts, lengths, strict=True) for t in (s, s + n)})
    total = 0
    for begin, end in pairwise(events):
        # Who runs is the same from one event to the next.
        running = [s for s, n in zip(starts, lengths, strict=True) if s <= begin < s + n]
        if running:
            total += (end - begin) * (sum(running) - len(running) * min(running))
    return total


@frozen
class Profit:
    """What a schedule earns and costs (Theorem 5.1).

    revenue: price times tokens. intrinsic: tau Q. time: c T. batching: tau E.
    """

    revenue: float
    intrinsic: float
    time: float
    batching: float

    @property
    def cost(self) -> float:
        """All that is paid: eq. (3)."""
        return self.intrinsic + self.time + self.batching

    @property
    def profit(self) -> float:
        """What is left."""
        return self.revenue - self.cost


def split_profit(
    starts: Sequence[int], lengths: Sequence[int], *, c: float, tau: float, price: float = 0.0
) -> Profit:
    """The profit of a schedule in its parts: revenue, intrinsic work, time and batching externality.

    c: cost of a step; tau: cost of a token-step; price: of a token, all in one currency.
    Source: Theorem 5.1: cost = tau Q + c T + tau E.
    """
    return Profit(
        price * sum(lengths),
        tau * intrinsic_work(lengths),
        c * makespan(starts, lengths),
        tau * externality(starts, lengths),
    )


def break_even(tau: float, extra_externality: float, saved_steps: float) -> float | None:
    """c*, the cost of a step from which on a policy pays that saves steps and adds externality.

    extra_externality: token-steps of E beyond those of the other policy (LJF has none). saved_steps: its
    T less the policy's. None when the policy saves none: then no cost of a step makes it pay, unless it
    adds no externality either. Source: section 5, eq. (11) and Table 2.
    """
    if saved_steps <= 0:
        return None
    return tau * extra_externality / saved_steps


def competitive_ratio(gamma: float) -> float:
    """CR(gamma), what Theorem 4.3 claims of ISJL's makespan for gamma = alpha / longest length, in [0, 1].

    (1 + g) / (1 + 2 g) up to a half, (2 - g) / (3 - 2 g) from there on; least, 3/4, at a half. Instances
    below it are known: see the documentation. Raises ValueError outside of [0, 1].
    """
    if not 0 <= gamma <= 1:
        raise ValueError(f"gamma is alpha over the longest length, from 0 to 1, not {gamma}")
    return (1 + gamma) / (1 + 2 * gamma) if gamma <= 0.5 else (2 - gamma) / (3 - 2 * gamma)


def alpha_for_cost(delta: float, lengths: Sequence[int]) -> float:
    """alpha_cost(delta): with an alpha up to this, externality adds at most the part `delta` to Q.

    From E <= alpha O with O the tokens of all requests: delta Q / O. delta: 0 or more, 0.05 for 5 %.
    Source: section 5.1. Raises ValueError without requests or for a delta below 0.
    """
    if delta < 0 or not lengths:
        raise ValueError("delta is a part of the intrinsic work, 0 or more, of at least one request")
    return delta * intrinsic_work(lengths) / sum(lengths)


def pooling_bound(waiting: int, classes: int, slots: int) -> int:
    """How many of `waiting` requests surely fit into full batches of one length class each.

    Of each of K classes at most B − 1 are left over: N − K (B − 1), or 0 if that is less.
    Source: section 7.
    """
    return max(0, waiting - classes * (slots - 1))


def pooled(counts: Sequence[int], slots: int) -> int:
    """How many requests fit into full batches of one class each; counts: waiting requests of each class."""
    return sum(count // slots * slots for count in counts)


def grouping_bound(lengths: Sequence[int], slots: int, alpha: float) -> int:
    """Steps that every alpha-fair schedule without preemption takes, at least.

    Requests longer than 2 alpha run in groups that do not overlap in time, each of at most B: two of them
    overlap only if they start within alpha of each other, and whoever starts later waits until all of such
    a group are done. So T is at least h_1 + h_(B+1) + h_(2B+1) + …, with h their lengths in falling
    order; longest first in static batches attains it on those requests. At least the longest request and
    the tokens of all over B as well.
    """
    long = sorted((n for n in lengths if n > 2 * alpha), reverse=True)
    spread = -(-sum(lengths) // slots)
    return max(sum(long[::slots]), max(lengths, default=0), spread)
