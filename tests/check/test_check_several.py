"""Several faults in one program are all told, each once, with the places that matter."""

from __future__ import annotations

import pytest

from tests.check.cases import check, places

SEVERAL = """\
let bmax = 4;
fn main() {
  device gpu { compute (t) = 2 * t; }
  engine e on gpu {
    tokens cap bmx;
    schedule { advance running by (~exp(1)); admit waiting while (now > 1); }
    execute (1 + compute(running.decoding));
  }
  workload { arrive renewal(-10); init { set t0 = now; } }
  server {
    run e (cost(e, 5));
    run e decode (cost(e, tt));
    run f decode (cost(f, 2));
    observe response = now - t0;
  }
  gauge jobs = queue(e) + t0;
  claim full: every iteration of e (tokens <= bmax + batch.tokens);
  claim full: at end (count(respons) == 10);
}
"""


def test_every_fault_is_told() -> None:
    _, errors = check(SEVERAL)
    assert places(errors) == [
        ("SQ0201", 5, 16),
        ("SQ0405", 6, 36),
        ("SQ0406", 6, 67),
        ("SQ0403", 7, 26),
        ("SQ0532", 9, 21),
        ("SQ0330", 11, 9),
        ("SQ0201", 12, 27),
        ("SQ0203", 13, 9),
        ("SQ0401", 16, 27),
        ("SQ0403", 17, 54),
        ("SQ0210", 18, 9),
        ("SQ0208", 18, 29),
    ]


def test_a_misspelt_name_gets_the_one_that_is_close() -> None:
    _, errors = check(SEVERAL)
    helps = {e.code: e.help for e in errors}
    assert helps["SQ0208"] == "did you mean `response`?"
    constant = errors[0]
    assert constant.help == "did you mean `bmax`?"
    assert [(n.at.line, n.at.column) for n in constant.notes if n.at] == [(1, 5)]


@pytest.mark.parametrize(
    "source, place, first",
    [
        ("fn main() { stage a : fifo;\nstage a : delay; }", (2, 7), (1, 19)),
        ("fn main() { stage a : fifo;\npool a { } }", (2, 6), (1, 19)),
        (
            "fn main() { device d { }\n"
            "engine a on d { tokens cap 1; schedule { advance running; } execute (1); }\n"
            "engine b on d { tokens cap 1; schedule { advance running; } execute (1); } }",
            (3, 8),
            (2, 8),
        ),
    ],
)
def test_two_places_are_both_shown(source: str, place: tuple[int, int], first: tuple[int, int]) -> None:
    _, (error,) = check(source)
    assert error.at is not None and (error.at.line, error.at.column) == place
    assert [(n.at.line, n.at.column) for n in error.notes if n.at] == [first]


def test_one_cause_is_told_once() -> None:
    """An unknown name, wherever it occurs, and whatever hangs on it."""
    source = """\
fn main() {
  stage z : delay;
  workload { arrive batch(1); }
  server {
    set a = lost;
    set b = a + lost;
    branch (b > lost) { run z (cost(z, a)); }
    loop { run zz (cost(zz, b)); }
  }
}
"""
    _, errors = check(source)
    assert places(errors) == [("SQ0201", 5, 13), ("SQ0203", 8, 16)]


def test_what_was_thrown_away_while_reading_is_not_missed() -> None:
    """A statement that cannot be read may have declared the name, joined the leg, ended the loop."""
    source = """\
fn main() {
  stage : fifo lost;
  stage z : delay;
  workload { arrive batch(1); }
  server {
    run lost (cost(lost, 1));
    loop { run z cost(z, 1); }
    observe a = nowhere;
  }
}
"""
    _, errors = check(source)
    said = [e for e in errors if not e.code.startswith("SQ01")]
    assert places(said) == [("SQ0201", 8, 17)]
