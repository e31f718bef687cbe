"""Which claims are decided, and which are not: programs that are easily stated as another one."""

from __future__ import annotations

import pytest

import serq
from serq.lean.prove import Emitted, Verdict
from tests.lean.programs import SARATHI, small, stated
from tests.support.amounts import thinned


def emitted(claims: str, **parts: str) -> Emitted:
    return serq.claims_in_lean(serq.compile("small.sq", source=small(claims=claims, **parts)), prove=True)


def verdicts(claims: str, **parts: str) -> dict[str, Verdict]:
    return {v.claim.name: v for v in emitted(claims, **parts).verdicts}


def status(claim: str, **parts: str) -> str:
    """What becomes of one claim: its text after its name."""
    v = verdicts(f"claim d{claim};", **parts)["d"]
    return f"{v.status} by witness" if v.witness else v.status


PROMPT = "run e prefill (cost(e, p)); run e decode (cost(e, 3));"

# ------------------------------------------------------------------------ draws


@pytest.mark.parametrize(
    ("law", "quantified"),
    [
        ("floor(~uniform(-10, 0))", "∃ (x0 : Int), -10 ≤ x0 ∧ x0 ≤ 0 ∧"),
        ("ceil(~uniform(-9.5, 3))", "∃ (x0 : Int), -9 ≤ x0 ∧ x0 ≤ 3 ∧"),
        ("~table(-4: 0.5, 7: 0.5)", "∃ (x0 : Int), -4 ≤ x0 ∧ x0 ≤ 7 ∧"),
        ('floor(~empirical("samples.txt"))', "∃ (x0 : Int), w.phases"),
        ("floor(~uniform(2.5, 9))", "∃ x0 : Nat, 2 ≤ x0 ∧ x0 ≤ 9 ∧"),
        ("~binomial(3, 0.5)", "∃ x0 : Nat, x0 ≤ 3 ∧"),
        ("~geometric(0.5)", "∃ x0 : Nat, 1 ≤ x0 ∧"),
        ("floor(~pareto(2, 8))", "∃ x0 : Nat, 8 ≤ x0 ∧"),
        ("floor(~exp(3))", "∃ x0 : Nat, w.phases"),
    ],
)
def test_a_draw_is_any_whole_number_in_the_range_of_its_law(law: str, quantified: str) -> None:
    workload = f"arrive renewal(60); init {{ set p = max(1, 5 - {law}); }}"
    assert quantified in " ".join(stated(small(workload=workload, server=PROMPT)).split())


@pytest.mark.parametrize(
    ("law", "most"), [("floor(~uniform(-10, 0))", 18), ("~binomial(4, 0.5)", 8), ("floor(~det(-3))", 11)]
)
def test_what_sessions_bring_is_bounded_by_the_range(law: str, most: int) -> None:
    parts = dict(workload=f"arrive renewal(60); init {{ set p = max(1, 5 - {law}); }}", server=PROMPT)
    assert status(f": every iteration of e (served + demand <= arrived * {most})", **parts) == "proved"
    tighter = status(f": every iteration of e (served + demand <= arrived * {most - 2})", **parts)
    assert tighter == "refuted by witness"


def test_a_witness_takes_possible_values_only() -> None:
    parts = dict(workload="arrive renewal(60); init { set p = 1 + ~binomial(3, 0.5); }", server=PROMPT)
    assert status(": some iteration of e (demand > 5)", **parts) == "stated"
    assert status(": every iteration of e (served <= arrived * 8)", **parts) == "proved"
    table = dict(workload="arrive renewal(60); init { set p = ~table(2: 0.5, 6: 0.5); }", server=PROMPT)
    # The statement is about 4 as well, the program is not.
    assert status(": some iteration of e (demand == 4)", **table) == "stated"
    assert status(": some iteration of e (demand == 6)", **table) == "proved by witness"


def test_a_session_of_known_work_is_that_by_given() -> None:
    workload = "arrive renewal(30); init { set p = 1 + floor(~exp(9)); set o = 1 + floor(~exp(3)); }"
    parts = dict(workload=workload, server="run e prefill (cost(e, p)); run e decode (cost(e, o));")
    bound = "every iteration of e (arrived * 6 <= served + 5 * 60)"
    assert status(f" given (p == 3 && o == 3): {bound}", **parts) == "proved"
    assert status(f" given (p <= 3 && o == 3): {bound}", **parts) != "proved"
    assert status(" given (p > 1000): some iteration of e (tokens == 8)", **parts) == "proved by witness"
    assert status(" given (p == 17 && o == 5): some iteration of e (decoders > 0)", **parts) == (
        "proved by witness"
    )


# --------------------------------------------------------------------- arrivals


@pytest.mark.parametrize(
    "gap", ["1000.1", "1000 / 3", "0.1", "1e300", "~det(1000.1)", "1000 + floor(~exp(3))", "~poisson(9) + 1"]
)
def test_gaps_that_are_not_known_give_no_witness(gap: str) -> None:
    parts = dict(workload=f"arrive renewal({gap});")
    assert status(": some iteration of e (residents >= 3)", **parts) == "stated"
    assert status(": every iteration of e (now >= 100)", **parts) == "stated"
    assert status(": every iteration of e (tokens <= 8)", **parts) == "proved"


@pytest.mark.parametrize(
    ("gap", "crowd", "alone"),
    thinned(
        [
            ("~uniform(1000, 1001)", "stated", "proved by witness"),
            ("1000 + ~exp(3)", "stated", "proved by witness"),
            ("~det(1000)", "stated", "proved by witness"),
            ("~uniform(1, 1001)", "proved by witness", "proved by witness"),
            ("2 * ~exp(1000)", "proved by witness", "proved by witness"),
            ("~gamma(2, 9)", "proved by witness", "proved by witness"),
        ],
        4,
    ),
)
def test_a_witness_has_possible_gaps(gap: str, crowd: str, alone: str) -> None:
    parts = dict(workload=f"arrive renewal({gap});")
    assert status(": some iteration of e (residents >= 3)", **parts) == crowd
    assert status(": some iteration of e (arrived == 2 && residents == 1)", **parts) == alone


def test_what_has_to_be_met_exactly_at_free_times_is_no_witness() -> None:
    parts = dict(workload="arrive renewal(~exp(9));")
    assert status(": some iteration of e (now == 7)", **parts) == "stated"
    assert status(": some iteration of e (now > 7)", **parts) == "proved by witness"
    assert status(": every iteration of e (now > 0 || arrived > 0)", **parts) == "proved"
    assert status(": every iteration of e (now >= 0)", **parts) == "proved"


# -------------------------------------------------------------------- registers


def test_each_of_an_array_is_a_register() -> None:
    parts = dict(engine="state f[3] = 1; state n = 0;", schedule="advance running; set f[1] = batch.tokens;")
    assert status(": every iteration of e (f[0] == f[1])", **parts) == "refuted by witness"
    assert status(": some iteration of e (f[0] != f[1])", **parts) == "proved by witness"
    assert status(": some iteration of e (f[1] == 5 && f[2] == 1 && n == 0)", **parts) == "proved by witness"
    text = stated(small("f[2] <= n", **parts))
    assert "registers := [1, 1, 1, 0]" in text and "(.assign 1 (fun v => v.tokens) .done)" in text
    assert "i.register 2 ≤ i.register 3" in text and "Register 2 is `f[2]`." in text


@pytest.mark.parametrize(
    ("schedule", "claim", "code", "place"),
    [
        ("advance running; set f[n] = 2;", "tokens > 0", "SQ0801", "set f[n]"),
        ("advance running only (f[n] > 0);", "tokens > 0", "SQ0802", "f[n]"),
        ("advance running; set f[1] = ceil(batch.tokens / 49 * 49);", "1", "SQ0804", "batch.tokens / 49 *"),
        ("advance running; set f[1] = 2;", "tokens <= 9007199254740993", "SQ0804", "9007199254740993"),
    ],
)
def test_what_would_be_another_number_is_refused(schedule: str, claim: str, code: str, place: str) -> None:
    source = small(claim, engine="state f[3] = 1; state n = 0;", schedule=schedule)
    (reason,) = serq.lean.stateable(serq.compile("small.sq", source=source))
    assert reason.code == code and reason.at is not None
    assert source.split("\n")[reason.at.line - 1][reason.at.column - 1 :].startswith(place)


# ------------------------------------------------------------------ given, serial


def test_given_about_serial_is_about_the_sessions_that_come() -> None:
    claims = "claim few given (serial < 3): every iteration of e (tokens > 1000);"
    text = " ".join(stated(small(claims=claims)).split())
    assert "∀ k : Nat, (k < w.count → (k : Int) < 3) ∧ w.phases k" in text
    seen = "run e prefill (cost(e, 5)); observe o = 5;"
    assert status(" given (serial < 3): every iteration of e (tokens > 1000)") == "refuted by witness"
    assert status(" given (serial < 3): at end (count(o) <= 3)", server=seen) == "stated"
    assert status(" given (serial < 3): at end (count(o) <= 2)", server=seen) == "refuted by witness"
    assert status(" given (serial < 3): some iteration of e (arrived == 3)") == "proved by witness"
    assert status(" given (serial < 3): some iteration of e (arrived == 4)") == "stated"
    assert status(" given (serial > 0): every iteration of e (0)") == "stated"


# ------------------------------------------------------------------------ the end


def test_a_run_may_stop_later_than_its_last_session() -> None:
    parts = dict(server="run e prefill (cost(e, 5)); observe o = 5;", workload="arrive batch(2);")
    assert status(": at end (now >= 12)", **parts) != "refuted by witness"
    assert status(": at end (now >= 13)", **parts) == "refuted by witness"
    assert status(": at end (now <= 49)", **parts) == "refuted by witness"
    assert status(": at end (now >= 0)", **parts) == "proved"


# -------------------------------------------------------------- names, the search


def test_no_name_of_a_claim_stands_before_another() -> None:
    claims = (
        "claim rfl: every iteration of e (tokens <= 8); claim a: some iteration of e (tokens == 5);"
        "claim a_ given (1): some iteration of e (tokens == 5); claim world_a: some iteration of e (1);"
        "claim workload_a given (1): every iteration of e (tokens <= 8);"
        "claim a__ given (1): every iteration of e (tokens <= 8);"
    )
    found = emitted(claims)
    assert found.proofs is not None and "\ntheorem rfl" not in found.proofs
    names = [line for line in found.statements.splitlines() if "def workload" in line]
    assert len(names) == len(set(names)) == 5


def test_long_runs_are_followed() -> None:
    parts = dict(cap="4", execute="5", workload="arrive batch(300);")
    assert status(": some iteration of e (served > 100)", **parts) == "proved by witness"
    source = SARATHI.read_text(encoding="utf-8").rstrip().removesuffix("}")
    source += "claim few: every iteration of llm (arrived * 1280 <= served + 20 * 1280); }"
    (*_, few) = serq.claims_in_lean(serq.compile("long.sq", source=source), prove=True).verdicts
    assert few.witness is not None and few.witness.now == 1402500


def test_a_search_that_met_its_limit_says_so() -> None:
    assert "to the limit of the search" in verdicts("claim d: some iteration of e (now == 11);")["d"].why
    batch = verdicts("claim d: some iteration of e (now == 1);", workload="arrive batch(1);")["d"].why
    assert "to their ends" in batch
    unknown = verdicts("claim d: some iteration of e (now == 1);", workload="arrive renewal(0.1);")["d"].why
    assert "no run was looked at" in unknown
