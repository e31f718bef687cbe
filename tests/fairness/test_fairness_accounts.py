"""Bounds, costs and the optimum of `serq.fairness`."""

from __future__ import annotations

import json
from collections.abc import Callable
from importlib.util import find_spec
from itertools import pairwise
from math import inf, nan
from pathlib import Path
from random import Random
from time import monotonic

import pytest
from hypothesis import given
from hypothesis import strategies as st

from serq.fairness import (
    alpha_for_cost,
    break_even,
    calibrate,
    competitive_ratio,
    exact_makespan,
    externality,
    grouping_bound,
    intrinsic_work,
    makespan,
    optimal_makespan,
    pooled,
    pooling_bound,
    split_profit,
)
from tests.support.amounts import thinned

CASES = json.loads((Path(__file__).parent / "cases.json").read_text(encoding="utf-8"))["cases"]
LENGTHS = st.lists(st.integers(1, 9), min_size=1, max_size=6)


@given(st.lists(st.integers(0, 60), min_size=1, max_size=12), st.integers(1, 12))
def test_what_full_batches_of_one_class_hold(counts: list[int], slots: int) -> None:
    """Section 7: of each class at most slots - 1 requests are left over."""
    assert pooled(counts, slots) >= pooling_bound(sum(counts), len(counts), slots)


def test_the_pooling_bound_is_attained() -> None:
    assert pooled([7, 7, 7], 4) == pooling_bound(21, 3, 4) == 12


@given(st.lists(st.tuples(st.integers(0, 12), st.integers(1, 12)), min_size=1, max_size=8))
def test_externality_is_what_is_paid_beyond_ones_own_progress(requests: list[tuple[int, int]]) -> None:
    """Step by step: each member pays the largest progress in the batch; k for its own k-th token is Q."""
    starts, lengths = [s for s, _ in requests], [n for _, n in requests]
    paid = 0
    for t in range(24):
        ages = [t - s + 1 for s, n in requests if s <= t < s + n]
        paid += len(ages) * max(ages, default=0)
    assert paid == intrinsic_work(lengths) + externality(starts, lengths)


def test_a_profit_and_its_parts() -> None:
    """L = 5 of Proposition 5.4, first come first served: T = 5, E = 10, Q = 20."""
    parts = split_profit([0, 0, 1, 2, 3, 4], [5, 1, 1, 1, 1, 1], c=0.5, tau=0.001, price=2)
    assert (parts.revenue, parts.time) == (20, 2.5)
    assert parts.intrinsic == pytest.approx(0.02)
    assert parts.batching == pytest.approx(0.01)
    assert parts.profit == pytest.approx(20 - 2.53)


def test_the_claimed_ratio_is_least_at_a_half() -> None:
    values = [competitive_ratio(g / 100) for g in range(101)]
    assert (values[0], values[50], values[100]) == (1, 0.75, 1)
    assert all(a > b for a, b in pairwise(values[:51]))
    assert all(a < b for a, b in pairwise(values[50:]))
    with pytest.raises(ValueError, match="gamma"):
        competitive_ratio(1.5)


def test_when_a_policy_pays() -> None:
    assert break_even(1e-6, 2.81e6, 144.6) == pytest.approx(0.01943, abs=1e-5)
    assert break_even(1e-6, 1e6, 0) is None
    assert alpha_for_cost(0.5, [3, 5]) == 0.5 * 21 / 8


@given(LENGTHS, st.integers(1, 4), st.integers(0, 6))
def test_no_fair_schedule_beats_the_grouping_bound(lengths: list[int], B: int, alpha: int) -> None:
    best = exact_makespan(lengths, B, alpha)
    assert grouping_bound(lengths, B, alpha) <= best <= sum(sorted(lengths, reverse=True)[::B])


@pytest.mark.slow
@given(LENGTHS, st.integers(1, 4))
def test_without_fairness_only_slots_are_short(lengths: list[int], B: int) -> None:
    assert exact_makespan(lengths, B, 10**6) <= exact_makespan(lengths, B, 1) <= exact_makespan(lengths, B, 0)


@pytest.mark.parametrize("bound", [exact_makespan, optimal_makespan, grouping_bound])
def test_instances_that_have_no_meaning(bound: Callable[..., int]) -> None:
    for lengths, B, alpha in (
        ([0], 1, 1), ([1.5], 1, 1), ([inf], 1, 1), ([3, -2], 1, 1), ([1], 0, 1), ([1, 2], 2.5, 1),
        ([1], 1, -1), ([1], 1, nan),
    ):  # fmt: skip
        with pytest.raises(ValueError):
            bound(lengths, B, alpha)
    assert bound([], 1, 0) == 0
    if bound is not optimal_makespan:
        assert bound([4, 1, 1], 2, inf) == 4


@pytest.mark.parametrize(
    "wrong",
    [
        lambda: exact_makespan([1, 2], 1, 1, release=[0]),
        lambda: exact_makespan([1, 2], 1, 1, release=[0, 0.5]),  # type: ignore[list-item]
        lambda: intrinsic_work([-3]),
        lambda: makespan([0], [1, 2]),
        lambda: externality([0, 1], [3]),
        lambda: externality([0, -1], [3, 3]),
        lambda: split_profit([0], [1.5], c=1, tau=1),  # type: ignore[list-item]
        lambda: pooling_bound(-1, 3, 2),
        lambda: pooling_bound(10, 3, 0),
        lambda: pooled([-3], 4),
        lambda: pooled([3], 0),
        lambda: alpha_for_cost(0.1, [-1, 1]),
        lambda: alpha_for_cost(nan, [1]),
        lambda: break_even(nan, 1, 1),
        lambda: calibrate([1, 2], lambda alpha: {"p": nan if alpha == 1 else 3}, objective="p"),
        lambda: calibrate([-1], lambda _: {"p": 1}, objective="p"),
        lambda: calibrate([1], lambda _: {"p": 1}, objective="p", promises={"p": 3}),  # type: ignore[dict-item]
        lambda: calibrate([1], lambda _: {"p": 1}, objective="p", promises={"p": (3, nan)}),
    ],
)
def test_what_has_no_meaning_is_refused(wrong: Callable[[], object]) -> None:
    with pytest.raises(ValueError):
        wrong()


def test_the_optimum_is_looked_for_no_longer_than_asked() -> None:
    random = Random(1)
    lengths = [random.randint(1, 60) for _ in range(40)]
    searches = [exact_makespan]
    if find_spec("scipy") is not None:
        searches.append(optimal_makespan)
    for search in searches:
        begun = monotonic()
        with pytest.raises(TimeoutError):
            search(lengths, 4, 20, seconds=0.5)
        assert monotonic() - begun < 5


@pytest.mark.parametrize("case", thinned(CASES, 4), ids=lambda c: c["name"])
def test_the_optimum_of_the_cases(case: dict[str, object]) -> None:
    pytest.importorskip("scipy")
    best = optimal_makespan(case["o"], case["B"], case["alpha"], release=case.get("release"))  # type: ignore[arg-type]
    assert best == case["OPT_makespan"]


@pytest.mark.slow
def test_the_integer_program_agrees_with_the_search() -> None:
    pytest.importorskip("scipy")
    random = Random(1)
    for _ in range(200):
        lengths = [random.randint(1, 8) for _ in range(random.randint(1, 7))]
        B, alpha = random.randint(1, 4), random.randint(0, 6)
        assert optimal_makespan(lengths, B, alpha) == exact_makespan(lengths, B, alpha)


def test_calibration_takes_the_best_that_keeps_its_promises() -> None:
    table = {0: (10, 0), 5: (12, 5), 10: (12, 9), 20: (15, 20)}
    found = calibrate(
        table,
        lambda alpha: dict(zip(("throughput", "extent"), map(float, table[int(alpha)]), strict=True)),
        objective="throughput",
        promises={"extent": (0, 10)},
    )
    assert [c.broken for c in found.candidates] == [(), (), (), ("extent",)]
    assert found.best is not None
    assert found.best.alpha == 5
    none = calibrate([1], lambda _: {"x": 1.0}, objective="x", promises={"x": (2, 3)})
    assert none.best is None
    with pytest.raises(KeyError):
        calibrate([1], lambda _: {"x": 1.0}, objective="y")
