"""Costs of a schedule and bounds on what a fair one can do.

A schedule is the first step of each request, from 0, in the order of `lengths`; a request of n tokens
that starts at s has its tokens in the steps s … s + n − 1.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from math import inf, isnan

from attrs import frozen


def intrinsic_work(lengths: Sequence[int]) -> int:
    """Q, token-steps: what the requests would cost if each paid for its own progress alone.

    The k-th token of a request costs k, so a request of n tokens has n (n + 1) / 2 of it.
    Source: section 5, the first part of Theorem 5.1.
    """
    return sum(n * (n + 1) // 2 for n in _lengths(lengths))


def makespan(starts: Sequence[int], lengths: Sequence[int]) -> int:
    """T, steps until the last request is done; steps in which nothing runs count. 0 without requests."""
    return max((s + n for s, n in _schedule(starts, lengths)), default=0)


def externality(starts: Sequence[int], lengths: Sequence[int]) -> int:
    """E, token-steps: what members of a batch pay for progress that others have made.

    In every step each member is charged for the one that is furthest: it pays the difference of their
    starts beyond its own progress. In an alpha-fair schedule E <= alpha * sum(lengths).
    Source: eq. (6); the bound is in Theorem 5.1.
    """
    schedule = _schedule(starts, lengths)
    events = sorted({t for s, n in schedule for t in (s, s + n)})
    total = 0
    for begin, end in pairwise(events):
        # Who runs is the same from one event to the next.
        running = [s for s, n in schedule if s <= begin < s + n]
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
    adds no externality either. Source: section 5, eq. (11) and Table 2. Raises ValueError for NaN.
    """
    if any(isnan(x) for x in (tau, extra_externality, saved_steps)):
        raise ValueError("a cost, token-steps and steps are numbers, not NaN")
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
    lengths = _lengths(lengths)
    if not 0 <= delta < inf or not lengths:
        raise ValueError("delta is a part of the intrinsic work, 0 or more, of at least one request")
    return delta * intrinsic_work(lengths) / sum(lengths)


def pooling_bound(waiting: int, classes: int, B: int) -> int:
    """How many of `waiting` requests surely fit into full batches of one length class each.

    Of each of K classes at most B − 1 are left over: N − K (B − 1), or 0 if that is less.
    Source: section 7. Raises ValueError for fewer than 0 requests, or no class or slot.
    """
    (waiting,), (classes,) = _whole([waiting], "requests", 0), _whole([classes], "classes", 1)
    return max(0, waiting - classes * (_slots(B) - 1))


def pooled(counts: Sequence[int], B: int) -> int:
    """How many requests fit into full batches of one class each; counts: waiting requests of each class."""
    B = _slots(B)
    return sum(count // B * B for count in _whole(counts, "requests of a class", 0))


def grouping_bound(lengths: Sequence[int], B: int, alpha: float) -> int:
    """Steps that every alpha-fair schedule without preemption takes, at least.

    Requests longer than 2 alpha run in groups that do not overlap in time, each of at most B: two of them
    overlap only if they start within alpha of each other, and whoever starts later waits until all of such
    a group are done. So T is at least h_1 + h_(B+1) + h_(2B+1) + …, with h their lengths in falling
    order; longest first in static batches attains it on those requests. At least the longest request and
    the tokens of all over B as well. Raises ValueError for lengths, slots or an alpha without a meaning.
    """
    lengths, B = _lengths(lengths), _slots(B)
    check_alpha(alpha)
    long = sorted((n for n in lengths if n > 2 * alpha), reverse=True)
    spread = -(-sum(lengths) // B)
    return max(sum(long[::B]), max(lengths, default=0), spread)


# ---------------------------------------------------------------- what has a meaning


def checked(
    lengths: Sequence[int], B: int, alpha: float, release: Sequence[int] | None
) -> tuple[list[int], list[int], int]:
    """Lengths, first steps and slots of an instance as whole numbers; ValueError for others."""
    lengths = _lengths(lengths)
    first = [0] * len(lengths) if release is None else _whole(release, "releases", 0)
    if len(first) != len(lengths):
        raise ValueError("there is one release for each request")
    check_alpha(alpha)
    return lengths, first, _slots(B)


def check_alpha(alpha: float) -> None:
    """Refuses an alpha below 0, and NaN; `inf` is no limit."""
    if not alpha >= 0:
        raise ValueError(f"alpha is 0 or more, not {alpha}")


def _lengths(lengths: Sequence[int]) -> list[int]:
    return _whole(lengths, "tokens of a request", 1)


def _slots(B: int) -> int:
    return _whole([B], "slots of a batch", 1)[0]


def _schedule(starts: Sequence[int], lengths: Sequence[int]) -> list[tuple[int, int]]:
    lengths = _lengths(lengths)
    if len(starts) != len(lengths):
        raise ValueError("there is one start for each request")
    return list(zip(_whole(starts, "first steps", 0), lengths, strict=True))


def _whole(values: Sequence[float], what: str, least: int) -> list[int]:
    """Numbers that are whole and at least `least`, as integers."""
    for value in values:
        if not least <= value < inf or value != int(value):
            raise ValueError(f"{what} are whole numbers, at least {least}, not {value}")
    return [int(value) for value in values]
