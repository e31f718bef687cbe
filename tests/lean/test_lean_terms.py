"""Expressions in Lean: what they say, how tightly, and that nothing is rounded."""

from __future__ import annotations

import pytest

from tests.lean.programs import proposition, small, stated

SAME = [
    ("demand < 128 || tokens == 8", "i.demand < 128 ∨ i.tokens = 8"),
    ("served * 4675 <= 128 * now", "i.served * 4675 ≤ 128 * i.now"),
    ("tokens - (demand - served) != 3", "i.tokens - (i.demand - i.served) ≠ 3"),
    ("tokens - demand - served >= -3", "i.tokens - i.demand - i.served ≥ -3"),
    ("-tokens < 0 && !(demand > 3)", "-i.tokens < 0 ∧ ¬ (i.demand > 3)"),
    ("(tokens > 1 || demand > 1) && served > 1", "(i.tokens > 1 ∨ i.demand > 1) ∧ i.served > 1"),
    ("queue(e) == residents", "i.residents = i.residents"),
    ("tokens <= 8 - busy(e)", "i.tokens ≤ 8"),
]


@pytest.mark.parametrize(("claim", "lean"), SAME)
def test_a_claim_reads_as_it_was_written(claim: str, lean: str) -> None:
    assert proposition(claim) == lean


FRACTIONS = [
    # A quotient is compared by multiplying with its divisor, which is positive.
    ("served / 3 <= now", "i.served ≤ i.now * 3"),
    ("served / -3 <= now", "i.served * -1 ≤ i.now * 3"),
    ("served / 2 < now / 3", "i.served * 3 < i.now * 2"),
    ("tokens <= 0.5 * demand", "i.tokens * 2 ≤ i.demand"),
    ("tokens <= demand * 0.75 + 0.5", "i.tokens * 4 ≤ i.demand * 3 + 2"),
    ("ceil(demand / 8) <= 2", "ceilDiv i.demand 8 ≤ 2"),
    ("floor((demand + 1) / 8) <= 2", "(i.demand + 1) / 8 ≤ 2"),
    ("ceil(demand) <= 2", "i.demand ≤ 2"),
    ("min(demand / 2, served / 3) <= 2", "min (i.demand * 3) (i.served * 2) ≤ 12"),
    ("abs(demand / 2 - 4) <= 2", "(Int.natAbs (i.demand - 8) : Int) ≤ 4"),
    ("(decoders > 0 ? served / 2 : 1) <= 2", "(if i.decoders > 0 then i.served else 2 : Int) ≤ 4"),
]


@pytest.mark.parametrize(("claim", "lean"), FRACTIONS)
def test_a_quotient_stays_exact(claim: str, lean: str) -> None:
    assert proposition(claim) == lean


MIXED = [
    ("tokens", "i.tokens ≠ 0"),
    ("!tokens", "¬ (i.tokens ≠ 0)"),
    ("tokens && demand - 1", "i.tokens ≠ 0 ∧ i.demand - 1 ≠ 0"),
    ("(tokens > 1) + (demand > 1) == 2", "truth (i.tokens > 1) + truth (i.demand > 1) = 2"),
    ("(tokens > 1) == 1", "i.tokens > 1"),
    ("0 == (tokens > 1)", "¬ (i.tokens > 1)"),
    ("(tokens > 1) == (demand > 1)", "truth (i.tokens > 1) = truth (i.demand > 1)"),
    (
        "decoders ? tokens > 1 : demand > 1",
        "i.decoders ≠ 0 ∧ i.tokens > 1 ∨ ¬ (i.decoders ≠ 0) ∧ i.demand > 1",
    ),
    ("decoders ? tokens > 1 : 2", "(if i.decoders ≠ 0 then truth (i.tokens > 1) else 2 : Int) ≠ 0"),
    ("1", "True"),
    ("1 - 1", "False"),
    ("sum j in 3 (tokens - j) > 0", "i.tokens - 0 + (i.tokens - 1) + (i.tokens - 2) > 0"),
    ("max(1, 2) == 2 && min j in 2 (tokens - j) > 0", "min (i.tokens - 0) (i.tokens - 1) > 0"),
]


@pytest.mark.parametrize(("claim", "lean"), MIXED)
def test_numbers_and_tests_change_into_each_other_visibly(claim: str, lean: str) -> None:
    assert proposition(claim) == lean


def test_a_clock_in_fractions_counts_ticks() -> None:
    parts = {"execute": "0.25 + batch.tokens / 2", "workload": "arrive renewal(1.125);"}
    text = stated(small(**parts))
    assert "One unit of its clock is 8 ticks." in text
    assert "execute := fun batch => (1 + batch.tokens * 2) * 2\n" in text
    assert "Renewal 9 w ∧" in text
    assert proposition("served <= 3 * now", **parts) == "i.served * 8 ≤ 3 * i.now"


def test_a_long_claim_stays_within_its_columns() -> None:
    claim = " && ".join(f"served * {k} <= demand * {k + 1}" for k in range(2, 20))
    text = stated(small(claim))
    assert max(map(len, text.splitlines())) <= 100
    assert proposition(claim).count("∧") == 17
