"""Verdicts on claims: how often they are wrong, how soon they come, and what they say."""

from __future__ import annotations

import json
import random
import re
import shlex
from collections.abc import Iterable
from pathlib import Path

import pytest

import serq
from serq.report.table import show_bound
from serq.studies.verify import SequentialTest, show_verification
from serq.tools.cli import run_command

# The claim is true on a path with probability p: one draw.
COIN = """use "std/args";
fn main() {{
  let p = args.number("p", {p});
  stage desk : fifo;
  workload {{ arrive batch(1); init {{ set good = ~bernoulli(p); }} }}
  server {{ run desk (cost(desk, 1)); observe luck = good; }}
  claim lucky: at end (mean(luck) == 1);
  claim scoped given (good == 1): at end (count(luck) == 1);
  claim sure: at end (count(luck) == 1);
  claim seen: some iteration of idle (residents > 0);
  device gpu {{ }}
  engine idle on gpu {{ tokens cap 1; schedule {{ advance running; }} execute (1); }}
}}
"""


def coin(p: float) -> serq.Program:
    return serq.compile(source=COIN.format(p=p))


def answer(low: float, high: float, risk: float, outcomes: Iterable[bool]) -> tuple[str | None, int]:
    test = SequentialTest(low, high, risk)
    looked = 0
    for looked, outcome in enumerate(outcomes, start=1):
        test.take(outcome)
        if test.answer is not None:
            return test.answer, looked
    return None, looked


@pytest.mark.parametrize(
    ("truth", "low", "high", "right"),
    [
        (0.90, 0.80, 0.90, "yes"),
        (0.90, 0.90, 0.96, "no"),
        (0.99, 0.97, 0.99, "yes"),
        (0.99, 0.99, 0.999, "no"),
    ],
)
def test_errors_are_as_rare_as_promised(truth: float, low: float, high: float, right: str) -> None:
    """At the very ends of the region of indifference, where errors are most frequent: 2000 repetitions, with
    three standard errors for them."""
    drawn = random.Random(11)
    wrong = undecided = 0
    for _ in range(2_000):
        found, _ = answer(low, high, 0.05, (drawn.random() < truth for _ in range(6_000)))
        wrong += found not in (right, None)
        undecided += found is None
    assert wrong / 2_000 <= 0.05 + 3 * (0.05 * 0.95 / 2_000) ** 0.5
    assert undecided <= 2


@pytest.mark.slow
@pytest.mark.parametrize(
    ("truth", "probability", "half_width", "right"),
    [
        (0.90, 0.85, 0.05, "yes"),
        (0.90, 0.93, 0.03, "no"),
        (0.99, 0.97, 0.02, "yes"),
        (0.99, 0.994, 0.004, "no"),
    ],
)
def test_verdicts_on_a_claim_of_known_probability(
    truth: float, probability: float, half_width: float, right: str
) -> None:
    """400 verdicts of `serq.verify`, on paths of their own: wrong in at most 5 % of the cases, with three
    standard errors for the 400."""
    program = coin(truth)
    wrong, seed = 0, 1
    for _ in range(400):
        found = serq.verify(
            program, claim="lucky", probability=probability, half_width=half_width, horizon=5, seed=seed
        )
        seed = found.last_seed + 1
        wrong += found.answer != right
    assert wrong / 400 <= 0.05 + 3 * (0.05 * 0.95 / 400) ** 0.5


def test_a_probability_of_one_above_is_refuted_by_one_failure() -> None:
    assert answer(0.9, 1.0, 0.05, [True] * 10 + [False]) == ("no", 11)


def test_certain_claims_are_decided_as_soon_as_possible() -> None:
    """Without a failure n paths are needed with (low/high)^n <= risk."""
    found = serq.verify(coin(0.5), claim="sure", probability=0.9, horizon=5)
    assert (found.answer, found.true, found.false_seeds) == ("yes", found.paths, ())
    assert (0.85 / 0.95) ** found.paths <= 0.05 < (0.85 / 0.95) ** (found.paths - 1)
    assert found.failures_at_most == pytest.approx(1 - 0.05 ** (1 / found.paths))


def test_false_seeds_show_false_paths() -> None:
    program = coin(0.7)
    found = serq.verify(program, claim="lucky", probability=0.9, horizon=5, seed=4)
    assert found.answer == "no"
    assert found.first_seed == 4 and found.last_seed == 4 + found.paths - 1
    for seed in found.false_seeds:
        assert serq.run(program, horizon=5, seed=seed).claim("lucky").result == "fails"
    results = [
        serq.run(program, horizon=5, seed=seed).claim("lucky").result
        for seed in range(4, found.last_seed + 1)
    ]
    assert results.count("holds") == found.true


def test_the_number_of_processes_changes_nothing() -> None:
    asked = {"claim": "lucky", "probability": 0.75, "horizon": 5}
    alone = serq.verify(coin(0.85), **asked)
    assert serq.verify(coin(0.85), jobs=3, **asked) == alone


def test_paths_out_of_scope_count_for_neither() -> None:
    found = serq.verify(coin(0.5), claim="scoped", probability=0.9, horizon=5)
    assert found.answer == "yes" and found.out_of_scope > 0
    assert found.paths + found.out_of_scope == found.last_seed


def test_what_is_not_witnessed_is_not_true() -> None:
    found = serq.verify(coin(0.5), claim="seen", probability=0.5, horizon=5)
    assert (found.answer, found.true) == ("no", 0)


def test_too_few_paths_decide_nothing() -> None:
    found = serq.verify(coin(0.9), claim="lucky", probability=0.9, horizon=5, most=10)
    assert (found.answer, found.paths) == ("undecided", 10)


def test_a_claim_that_is_not_answered_stops_the_test() -> None:
    with pytest.raises(serq.ProgramError) as refused:
        serq.verify(coin(0.9), claim="lucky", probability=0.9, horizon=0.5)
    assert "SQ0936" in str(refused.value) and "1 session live at the end" in str(refused.value)


@pytest.mark.parametrize(
    ("asked", "code"),
    [
        ({"claim": "lucki"}, "SQ0935"),
        ({"probability": 0}, "SQ0937"),
        ({"probability": 1}, "SQ0937"),
        ({"confidence": 0.5}, "SQ0937"),
        ({"confidence": 1}, "SQ0937"),
        ({"half_width": 0.1}, "SQ0937"),
        ({"half_width": 0}, "SQ0937"),
        ({"most": 0}, "SQ0937"),
        ({"horizon": -1}, "SQ0920"),
        ({"jobs": 0}, "SQ0929"),
        ({"arrivals": 5}, "SQ0925"),
    ],
)
def test_meaningless_questions_are_refused(asked: dict[str, object], code: str) -> None:
    usual: dict[str, object] = {"claim": "lucky", "probability": 0.9, "horizon": 5}
    with pytest.raises(serq.ProgramError) as refused:
        serq.verify(coin(0.9), **{**usual, **asked})
    assert [d.code for d in refused.value.diagnostics] == [code]


# ---------------------------------------------------------------- the command


def verify(path: Path, *options: str) -> list[str]:
    return ["verify", str(path), "--claim", "lucky", "--horizon", "5", "--jobs", "1", *options]


@pytest.mark.parametrize(("p", "status", "word"), [("0.99", 0, "yes"), ("0.5", 1, "no")])
def test_the_command_answers_and_shows_a_path(
    p: str, status: int, word: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "coin.sq"
    path.write_text(COIN.format(p=0.5), encoding="utf-8")
    asked = verify(path, "--probability", "0.9", "--set", f"p={p}")
    assert run_command(asked) == status
    out = capsys.readouterr().out
    assert out.startswith(f"claim lucky: {word}, it is true on ")
    if word == "no":
        command = out.splitlines()[-1].removeprefix("  it fails under: serq ")
        assert run_command(command.split()) == 1
        assert re.search(r"^lucky +at end +fails$", capsys.readouterr().out, re.MULTILINE)
    assert run_command([*asked, "--json"]) == status
    assert json.loads(capsys.readouterr().out)["answer"] == word


def test_the_json_has_the_command_and_no_rounding(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "a coin.sq"
    path.write_text(COIN.format(p=0.5), encoding="utf-8")
    assert run_command(verify(path, "--probability", "0.9", "--set", "p=1 / 2", "--json")) == 1
    found = json.loads(capsys.readouterr().out)
    assert found["half_width"] == 0.05
    words = shlex.split(found["failing_command"])
    assert words[:3] == ["serq", "run", str(path)] and "p=1 / 2" in words
    assert words[-2:] == ["--seed", str(found["false_seeds"][0])]
    assert run_command(words[1:]) == 1
    capsys.readouterr()
    assert run_command(verify(path, "--probability", "0.9", "--set", "p=1", "--json")) == 0
    assert json.loads(capsys.readouterr().out)["failing_command"] is None


def test_a_claim_that_was_not_put_to_the_test(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "coin.sq"
    claims = "claim empty: at end (mean(tpot) <= 1); claim outside given (0): at end (count(luck) == 1);"
    path.write_text(COIN.format(p=0.5).replace("claim lucky", f"{claims} claim lucky"), encoding="utf-8")
    asked = verify(path, "--probability", "0.9", "--most", "100")
    assert run_command([*asked, "--claim", "empty"]) == 0
    first, second, *_ = capsys.readouterr().out.splitlines()
    assert first.startswith("claim empty: yes, ")
    reason = "only because there is no sample of tpot"
    assert second == f"  vacuous   on all of the 27 paths on which it is true, {reason}"
    assert run_command([*asked, "--claim", "outside"]) == 3
    first = capsys.readouterr().out.splitlines()[0]
    assert first == "claim outside: undecided: every path breaks its given, so that 100 paths told nothing"


def test_a_claim_that_is_vacuous_on_some_paths(tmp_path: Path) -> None:
    """A path on which nothing is drawn has no sample: the claim holds on all, on half of them of nothing."""
    source = COIN.format(p=0.5).replace("observe luck = good;", "branch (good) { observe luck = good; }")
    found = serq.verify(serq.compile(source=source.replace("mean(luck) == 1", "mean(luck) <= 1")),
                        claim="lucky", probability=0.9, horizon=5)  # fmt: skip
    assert found.answer == "yes" and 0 < found.vacuous < found.true
    assert found.vacuous_because == "there is no sample of luck"
    lines = show_verification(found, "").splitlines()
    assert lines[1].startswith(f"  vacuous   on {found.vacuous} of the {found.true} paths")


@pytest.mark.parametrize("jobs", [1, 2])
def test_a_premise_is_looked_for_on_the_first_paths(jobs: int) -> None:
    """All further ones run without being asked for it at every iteration. The one token of each is no two."""
    source = COIN.format(p=0.5).replace("run desk (cost(desk, 1));", "run idle prefill (cost(idle, 1));")
    for least, vacuous in ((2, 10), (1, 0)):
        claim = f"every iteration of idle (tokens < {least} || residents == 1)"
        program = serq.compile(source=source.replace("some iteration of idle (residents > 0)", claim))
        found = serq.verify(program, claim="seen", probability=0.9, horizon=5, jobs=jobs)
        assert found.true > 10 and (found.answer, found.looked_at, found.vacuous) == ("yes", 10, vacuous)
        line = "  vacuous   on all of the first 10 paths on which it is true, only because its premise "
        assert (line in show_verification(found, "")) == (vacuous > 0)


@pytest.mark.parametrize("probability", [0.9, 0.99, 0.7, 0.05, 0.5, 0.999999])
def test_the_usual_half_width(probability: float) -> None:
    """Half the distance to the nearer of 0 and 1, at most 0.05; by the digits, in whole millionths."""
    millionths = round(probability * 1e6)
    found = serq.verify(coin(1), claim="lucky", probability=probability, horizon=5, most=1)
    assert found.half_width == min(100_000, millionths, 1_000_000 - millionths) / 2 / 1_000_000


def test_a_bound_is_rounded_up_and_a_part_is_not_the_whole() -> None:
    found = serq.verify(coin(1), claim="lucky", probability=0.99, horizon=5)
    line = next(line for line in show_verification(found, "").splitlines() if "rule of three" in line)
    shown = float(line.split("at most ")[1].split()[0])
    assert found.failures_at_most is not None
    assert found.failures_at_most <= shown < 1.01 * found.failures_at_most
    assert [show_bound(x) for x in (0.01004, 0.0995, 0.9999, 1.0, 0.0)] == ["0.0101", "0.0995", "1", "1", "0"]
    sure = serq.verify(coin(1), claim="lucky", probability=0.9, horizon=5, confidence=0.9999999)
    assert "99.99999 % interval" in show_verification(sure, "")
    assert "95 % interval" in show_verification(found, "")


def test_one_path_is_no_paths() -> None:
    found = serq.verify(coin(1), claim="lucky", probability=0.9, horizon=5, most=1)
    text = show_verification(found, "")
    assert "undecided: 1 path does not tell" in text and "  paths     1, seed 1: true on 1" in text


def test_an_undecided_question_has_its_own_code(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "coin.sq"
    path.write_text(COIN.format(p=0.9), encoding="utf-8")
    assert run_command(verify(path, "--probability", "0.9", "--most", "20")) == 3
    assert "undecided: 20 paths" in capsys.readouterr().out
    assert run_command(verify(path, "--probability", "3")) == 2
