"""Draws, streams and aggregates over samples: what is accepted, and what is refused where."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import serq

AROUND = """fn main() {{
  stage desk : fifo;
  workload {{ arrive {arrive}; init {{ set x = {init}; }} }}
  server {{ run desk (cost(desk, 1)); observe done = now; }}
  claim c: at end ({claim});
}}
"""


def source(arrive: str = "batch(2)", init: str = "1", claim: str = "count(done) == 2") -> str:
    return AROUND.format(arrive=arrive, init=init, claim=claim)


def said(text: str) -> list[tuple[str, int, int]]:
    found = serq.check_program(source=text)
    return [(d.code, d.at.line, d.at.column) for d in found if d.at is not None]


@pytest.mark.parametrize(
    ("init", "code", "column"),
    [
        ("~table(1, 2)", "SQ0309", 46),
        ("~table(1)", "SQ0309", 46),
        ('~table("x.csv")', "SQ0309", 46),
        ("~exp(1: 0.5)", "SQ0309", 46),
        ('~exp("x.csv")', "SQ0309", 46),
        ("~empirical(3)", "SQ0309", 46),
        ("~empirical(1: 1)", "SQ0309", 46),
        ("~gamma(1)", "SQ0301", 46),
        ("~pareto(1, 2, 3)", "SQ0301", 46),
        ("~gama(1, 2)", "SQ0205", 47),
        ("~table(1: 0.5, 2: 0.4)", "SQ0536", 46),
        ("~table(1: 0.5, 2: nobody)", "SQ0201", 64),
        ("~geometric(0)", "SQ0536", 46),
        ("2 + ~lognormal(3, -1)", "SQ0536", 50),
        ("~table(1 / 0: 1)", "SQ0536", 46),
    ],
)
def test_a_draw_is_refused_at_its_place(init: str, code: str, column: int) -> None:
    assert said(source(init=init)) == [(code, 3, column)]


@pytest.mark.parametrize(
    "init",
    [
        "~poisson(3)",
        "~binomial(4, 0.5)",
        "~table(1: 1)",
        "~table(1: 0.1, 2: 0.2, 3: 0.3, 4: 0.4)",
        "~table(1: x, 2: 1 - x)",
        "~table((x > 1 ? 2 : 3): 0.5, x: 0.5)",
        '~empirical("lengths.csv")',
    ],
)
def test_a_draw_is_accepted_and_kept_as_json(init: str, tmp_path: Path) -> None:
    program = serq.compile(source=source(init=init))
    path = tmp_path / "program.json"
    path.write_text(serq.program_to_json(program), encoding="utf-8")
    assert serq.compile(path) == program


@pytest.mark.parametrize(
    ("arrive", "code"),
    [
        ("slotted(0, 1)", "SQ0539"),
        ("slotted(inf, 1)", "SQ0539"),
        ("slotted(1, 0.5)", "SQ0544"),
        ("slotted(1, -1)", "SQ0544"),
        ("slotted(1, 1e9)", "SQ0544"),
        ("slotted(1, now)", "SQ0410"),
        ("slotted(1, queue(desk))", "SQ0410"),
        ("slotted(~exp(1), 1)", "SQ0430"),
        ("gamma(0, 1)", "SQ0530"),
        ("gamma(1e13, 1)", "SQ0537"),
        ("gamma(1, 0)", "SQ0538"),
        ("gamma(1, 11)", "SQ0538"),
        ("stages((1, 0))", "SQ0545"),
        ("stages((-1, 5))", "SQ0545"),
        ("stages((1, inf), (1, 5))", "SQ0545"),
        ("stages((1e13, 5))", "SQ0545"),
        ("gamma(1)", "SQ0147"),
        ("stages(1, 2)", "SQ0147"),
    ],
)
def test_arrivals_are_refused(arrive: str, code: str) -> None:
    found = said(source(arrive=arrive))
    assert [c for c, *_ in found] == [code]
    assert found[0][1] == 3


@pytest.mark.parametrize(
    ("claim", "code"),
    [
        ("share(done)", "SQ0313"),
        ("share(1)", "SQ0313"),
        ("share(done + 1)", "SQ0313"),
        ("share(5 >= done)", "SQ0313"),
        ("share(done <= 5, 2)", "SQ0301"),
        ("quantile(done)", "SQ0301"),
        ("quantile(done, 99)", "SQ0546"),
        ("quantile(done, -0.1)", "SQ0546"),
        ("quantile(done, count(done))", "SQ0546"),
        ("quantile(0.5, done)", "SQ0307"),
        ("mean(done + 1)", "SQ0307"),
        ("mean(dune)", "SQ0208"),
        ("share(dune <= 1)", "SQ0208"),
        ("share(done <= born)", "SQ0201"),
        ("mean(ttft) && ttft", "SQ0201"),
    ],
)
def test_a_summary_is_refused(claim: str, code: str) -> None:
    assert [c for c, *_ in said(source(claim=claim))] == [code]


def test_summaries_are_read_at_the_end_only() -> None:
    text = source().replace("observe done = now;", "observe done = mean(ttft);")
    assert [c for c, *_ in said(text)] == ["SQ0409"]
    text = source().replace("observe done = now;", "observe done = now; observe late = share(done <= 1);")
    assert [c for c, *_ in said(text)] == ["SQ0409"]


def test_a_definition_may_have_the_name_of_a_newer_word() -> None:
    program = "def mean(a, b) { (a + b) / 2 }\ndef table(x) { x }\n" + source(init="mean(2, 4) + table(1)")
    report = serq.run(serq.compile(source=program), horizon=10)
    assert report.claim("c").result == "holds"


@pytest.mark.parametrize(
    ("part", "damage"),
    [
        ('"function": "quantile"', '"function": "mean"'),
        ('"function": "quantile"', '"function": "share"'),
        ('"operator": "<="', '"operator": "+"'),
        ('"law": "table"', '"law": "gamma"'),
        ('"law": "table"', '"law": "empirical"'),
        ('"law": "empirical"', '"law": "exp"'),
        ('"file": "x.csv"', '"file": 3'),
    ],
)
def test_damaged_json_is_refused(part: str, damage: str, tmp_path: Path) -> None:
    text = source(
        init='~table(1: 0.5, 2: 0.25, 3: 0.25) + ~empirical("x.csv")',
        claim="quantile(done, 0.5) < 3 && share(ttft <= 2) > 0",
    )
    good = serq.program_to_json(serq.compile(source=text))
    assert part in good
    json.loads(good)
    path = tmp_path / "program.json"
    path.write_text(good.replace(part, damage), encoding="utf-8")
    assert {d.code for d in serq.check_program(path)} <= {"SQ0281", "SQ0943"}
    assert serq.check_program(path)
