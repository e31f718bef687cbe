"""Doubts: what `serq check --pedantic` says about programs that are accepted."""

from __future__ import annotations

from pathlib import Path

import pytest

import serq
from serq.codes import CODES

FOLDER = Path(__file__).parents[2]

PROGRAM = """\
use "std/args";
ABOVE
fn main() {
  let n = args.number("n", 3);
  let m = n + 1;
  device gpu { kv cap 64; DEVICE }
  engine e on gpu { tokens cap 4; ENGINE schedule { SCHEDULE } execute (EXECUTE); }
  pool kv on gpu { POOL }
  stage z : delay;
  workload { ARRIVE init { set p = m + serial; INIT } }
  server {
    hold kv (cost(kv, p)) { run e prefill (cost(e, p)); }
    run z (cost(z, 1));
    SERVER
  }
  MORE
}
"""
PARTS = {
    "ABOVE": "", "DEVICE": "", "ENGINE": "", "SCHEDULE": "advance running; admit waiting;", "EXECUTE": "1",
    "POOL": "", "ARRIVE": "arrive renewal(4);", "INIT": "", "SERVER": "", "MORE": "",
}  # fmt: skip


def doubts(**parts: str) -> list[tuple[str, int, str]]:
    """Code, line and message of each doubt about the program with these parts."""
    source = PROGRAM
    for slot, text in {**PARTS, **parts}.items():
        source = source.replace(slot, text)
    found = serq.check_program(source=source, pedantic=True)
    assert all(d.severity == "doubt" for d in found), found
    return [(d.code, d.at.line if d.at else 0, d.message) for d in found]


def test_a_program_in_order_raises_no_doubt() -> None:
    assert doubts() == []


@pytest.mark.parametrize(
    ("code", "line", "words", "parts"),
    [
        ("SQ0701", 2, "constant `c`", {"ABOVE": "let c = 1;"}),
        ("SQ0701", 2, "definition `f`", {"ABOVE": "def f(x) { x }"}),
        ("SQ0701", 2, "parameter `y`", {"ABOVE": "def f(x, y) { x }", "SERVER": "observe a = f(now, p);"}),
        ("SQ0701", 16, "input `k`", {"MORE": 'let k = args.number("k", 1);'}),
        ("SQ0701", 6, "time resource `f`", {"DEVICE": "f (t) = 2 * t;"}),
        ("SQ0701", 6, "parameter `u`", {"DEVICE": "f (t, u) = 2 * t;", "EXECUTE": "f(1, 2)"}),
        ("SQ0701", 7, "register `r`", {"ENGINE": "state r = 0;"}),
        (
            "SQ0701",
            7,
            "register `r`",
            {"ENGINE": "state r = 0;", "SCHEDULE": "advance running; admit waiting; set r = r + 1;"},
        ),
        ("SQ0701", 7, "`let` `c`", {"SCHEDULE": "let c = 3; advance running; admit waiting;"}),
        ("SQ0701", 10, "attribute `q`", {"INIT": "set q = 1;"}),
        ("SQ0701", 14, "attribute `q`", {"SERVER": "set q = now;"}),
        (
            "SQ0701",
            10,
            "hidden attribute `o`",
            {"ARRIVE": "arrive batch(2); hidden o;", "INIT": "set o = 1;"},
        ),
        ("SQ0702", 10, "`arrive`", {"ARRIVE": "arrive batch(2); arrive renewal(4);"}),
        ("SQ0702", 10, "`init`", {"ARRIVE": "init { } arrive batch(2);"}),
        ("SQ0702", 8, "`block`", {"POOL": "block 4; block 8;"}),
        ("SQ0703", 16, "always 1", {"MORE": "claim c: every iteration of e (3);".replace("3", "1")}),
        ("SQ0703", 16, "clock alone", {"MORE": "claim c: every iteration of e (now >= 0);"}),
        ("SQ0703", 16, "gauge `g`", {"MORE": "gauge g = 4 + 5;"}),
        ("SQ0704", 14, "always true", {"SERVER": "observe a = now * (2 > 1);"}),
        ("SQ0704", 16, "always false", {"MORE": "claim c: every iteration of e (tokens < tokens);"}),
        ("SQ0705", 14, "`branch`", {"SERVER": "branch (1 < 2) { run z (cost(z, 3)); }"}),
        ("SQ0705", 7, "`while`", {"SCHEDULE": "advance running; admit waiting while (1);"}),
        ("SQ0706", 14, "`branch`", {"SERVER": "branch (p > 2) { observe a = p; } else { observe a=p; }"}),
        ("SQ0706", 14, "conditional", {"SERVER": "observe a = now > 2 ? p : p;"}),
        ("SQ0707", 14, "2 stages", {"SERVER": "observe a = ~erlang(2.5, 1);"}),
        ("SQ0707", 14, "variation were 1", {"SERVER": "observe a = ~h2(1, 0.5);"}),
        ("SQ0708", 14, "is 3", {"SERVER": "observe a = 3;"}),
        ("SQ0709", 16, "device `d`", {"MORE": "device d { }"}),
        ("SQ0710", 16, "claim `c`", {"MORE": "claim c: at end (mean(response));"}),
        ("SQ0710", 16, "claim `c`", {"MORE": "claim c: at end (share(response <= 5) - 0.9);"}),
        ("SQ0709", 16, "stage `s`", {"MORE": "stage s : fifo;"}),
        ("SQ0709", 16, "pool `s`", {"MORE": "pool s { }"}),
    ],
)
def test_a_doubt_has_its_place(code: str, line: int, words: str, parts: dict[str, str]) -> None:
    ((found, at, message),) = doubts(**parts)
    assert (found, at) == (code, line)
    assert words in message


@pytest.mark.parametrize(
    "parts",
    [
        # an input may be another number in the next run
        {"SERVER": "branch (n > 2) { observe a = m; } else { observe b = now; }"},
        {"SCHEDULE": "branch (m == 4) { advance running; } admit waiting;"},
        {"SERVER": "observe a = now + (n == 3);"},
        # a definition, an aggregate and a time resource compare with what they are given
        {"ABOVE": "def f(x) { x > 2 ? now : 0 }", "SERVER": "observe a = f(3);"},
        {"SERVER": "observe a = now + (sum j in 3 (j > 1));"},
        {"DEVICE": "f (t) = t > 2 ? 2 : 1;", "EXECUTE": "f(3)"},
        # a name observed at several places varies with the place
        {"SERVER": "branch (p > 5) { observe a = 1; } else { observe a = 0; }"},
        {"SERVER": "observe a = ~exp(1) == ~exp(1);"},
    ],
)
def test_what_may_vary_is_not_doubted(parts: dict[str, str]) -> None:
    assert doubts(**parts) == []


def test_doubts_are_said_to_those_who_ask() -> None:
    source = "let c = 1; fn main() { }"
    assert serq.check_program(source=source) == ()
    assert [d.code for d in serq.check_program(source=source, pedantic=True)] == ["SQ0701"]


def test_a_program_that_is_refused_gets_its_errors_only() -> None:
    found = serq.check_program(source="let c = 1; fn main() { gauge g = zz; }", pedantic=True)
    assert [d.severity for d in found] == ["error"]


def test_every_doubt_of_the_register_is_tested() -> None:
    text = Path(__file__).read_text(encoding="utf-8")
    assert [c for c in CODES if c.startswith("SQ07") and f'"{c}"' not in text] == []


@pytest.mark.parametrize("example", sorted(FOLDER.glob("examples/**/*.sq")), ids=lambda p: p.name)
def test_the_examples_raise_no_doubt(example: Path) -> None:
    if "lib" not in example.parts:
        assert serq.check_program(example, pedantic=True) == ()
