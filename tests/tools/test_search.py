"""`serq search`: it finds what is there, makes it small, and prints a program that shows it."""

from __future__ import annotations

import re
import sys
from pathlib import Path
from time import monotonic

import pytest

import serq
from serq.source import SourceFile
from serq.tools.cli import run_command
from serq.tools.searching import Range, with_inputs

POLICIES = Path(__file__).parents[2] / "examples" / "papers" / "yao_zhou"

PROGRAM = """
use "std/args";
fn main() {
  let lens = args.numbers("lens", [3,
    1]);  // tokens
  let B = args.number("B", 2);
  device gpu { }
  engine e on gpu { slots cap B; tokens cap B; schedule { advance running; admit waiting; } execute (1); }
  pool slots on e { }
  workload { arrive batch(length(lens)); init { set o = lens[serial]; } }
  server { hold slots (cost(slots, 1)) { run e decode (cost(e, o)); } observe done = now; }
  claim short: at end (largest(done) < 5);
  claim never: at end (count(done) > 0);
}
"""


def search(*words: str) -> int:
    return run_command(["search", *words])


@pytest.fixture
def file(tmp_path: Path) -> str:
    path = tmp_path / "program.sq"
    path.write_text(PROGRAM, encoding="utf-8")
    return str(path)


def test_a_finding_is_as_small_as_it_can_be(
    file: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert search(file, "--over", "lens=1..9*5", "--claim", "short", "--horizon", "100") == 0
    out, err = capsys.readouterr()
    # One request of 5 tokens takes 5 steps, and nothing smaller does.
    assert "found in " in err
    assert err.strip().endswith("claim short fails for lens = 5")
    assert 'args.numbers("lens", [5]);  // tokens\n' in out
    report = serq.run(serq.compile(source=out), horizon=100)
    assert report.claim("short").result == "fails"


def test_nothing_is_found_where_nothing_is(file: str, capsys: pytest.CaptureFixture[str]) -> None:
    words = ("--over", "lens=1..2*2", "--claim", "never", "--horizon", "100", "--seconds", "0.5")
    assert search(file, *words) == 3
    out, err = capsys.readouterr()
    assert out == ""
    assert err.startswith("nothing found in ")


def test_the_printed_algorithm_is_unfair(capsys: pytest.CaptureFixture[str]) -> None:
    words = ("--over", "lens=1..6*5", "--over", "alpha=0..3", "--set", "B=3", "--claim", "fair")
    assert search(str(POLICIES / "alg3_literal.sq"), *words) == 0
    out, _ = capsys.readouterr()
    assert serq.run(serq.compile(source=out), horizon=1000).claim("fair").result == "fails"


@pytest.mark.slow
def test_isjl_falls_below_three_quarters_of_the_optimum(capsys: pytest.CaptureFixture[str]) -> None:
    words = ("--over", "lens=1..6*6", "--over", "alpha=1..5", "--set", "B=3", "--seconds", "120")
    assert (
        search(str(POLICIES / "isjl.sq"), *words, "--gauge", "T", "--against", "optimum", "--below", "0.75")
        == 0
    )
    assert "optimum is 0." in capsys.readouterr().err


def test_one_policy_against_another(capsys: pytest.CaptureFixture[str]) -> None:
    words = (
        "--over",
        "lens=1..6*5",
        "--set",
        "B=2",
        "--gauge",
        "T",
        "--against",
        "fcfs.sq",
        "--below",
        "0.9",
    )
    assert search(str(POLICIES / "ljf.sq"), *words) == 0
    assert "fcfs.sq is 0." in capsys.readouterr().err


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (["--over", "lens=1..2", "--claim", "shor"], "did you mean `short`?"),
        (["--over", "lenz=1..2", "--claim", "short"], "did you mean `lens`?"),
        (["--over", "lens=2..1", "--claim", "short"], "is not of the form NAME=LOW..HIGH"),
        (["--over", "B=1..2*3", "--claim", "short"], "`B` is one number"),
        (["--over", "lens=1..2"], "say what to look for"),
        (["--over", "lens=1..2", "--gauge", "g", "--against", "optimum"], "no gauge `g`"),
        (["--over", "lens=1..2", "--claim", "short", "--horizon", "-1"], "horizon"),
        (["--over", "lens=1..2*0", "--claim", "short"], "`lens` has at least one number"),
        (
            ["--over", "lens=1..2", "--claim", "short", "--seconds", "nan"],
            "--seconds is a number above 0, not nan",
        ),
        (
            ["--over", "lens=1..2", "--claim", "short", "--seconds", "-3"],
            "--seconds is a number above 0, not -3",
        ),
        (
            ["--over", "lens=1..2", "--claim", "short", "--below", "nan"],
            "--below is a number above 0, not nan",
        ),
        (["--over", "lens=1..2", "--claim", "short", "--below", "-1"], "--below is a number above 0, not -1"),
    ],
)
def test_what_cannot_be_searched(
    file: str, words: list[str], says: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert search(file, *words) in (1, 2)
    assert says in capsys.readouterr().err


def test_a_workload_that_the_program_refuses_is_shown(file: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert search(file, "--over", "B=-3..0", "--claim", "short", "--seconds", "0.5") == 1
    assert "error[" in capsys.readouterr().err


def test_runs_that_are_refused_are_counted(file: str, capsys: pytest.CaptureFixture[str]) -> None:
    words = ("--over", "B=-9..1", "--claim", "never", "--horizon", "100", "--seconds", "0.5")
    assert search(file, *words) == 3
    assert re.match(r"nothing found in \d+ runs \(\d+ of them refused\)\n", capsys.readouterr().err)


def test_the_other_program_has_the_gauge(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    other = tmp_path / "other.sq"
    other.write_text(PROGRAM, encoding="utf-8")
    words = ("--over", "lens=1..6*6", "--gauge", "T", "--against", str(other))
    assert search(str(POLICIES / "isjl.sq"), *words) == 2
    assert "other.sq has no gauge `T`" in capsys.readouterr().err


@pytest.mark.slow
def test_an_optimum_that_takes_long_does_not_stop_the_clock(capsys: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("scipy")
    begun = monotonic()
    words = ("--over", "lens=40..60*60", "--gauge", "T", "--against", "optimum", "--below", "0.2")
    assert search(str(POLICIES / "ljf.sq"), *words, "--seconds", "2") == 3
    assert monotonic() - begun < 8
    assert "took too long" in capsys.readouterr().err


def test_an_optimum_that_needs_an_extra_says_so(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setitem(sys.modules, "scipy.optimize", None)
    words = ("--over", "lens=4..6*10", "--gauge", "T", "--against", "optimum")
    assert search(str(POLICIES / "ljf.sq"), *words, "--seconds", "5") == 2
    assert "pip install 'serq[opt]'" in capsys.readouterr().err


def test_smaller_values_come_to_an_end() -> None:
    r = Range(1, 9, 5)
    value: float | tuple[float, ...] = (9.0, 3.0, 7.0)
    for _ in range(100):
        smaller = list(r.smaller(value))
        if not smaller:
            break
        value = smaller[-1]
    assert value == (1.0,)


def test_defaults_are_replaced_in_the_text() -> None:
    text = with_inputs(SourceFile("p.sq", PROGRAM), {"lens": (2.0, 4.0), "B": "7"})
    assert 'args.numbers("lens", [2, 4]);  // tokens\n' in text
    assert 'args.number("B", 7);' in text
    assert text.count("\n") == PROGRAM.count("\n") - 1
