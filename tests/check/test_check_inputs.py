"""Constants and inputs: their order, their values from outside, and what may not change."""

from __future__ import annotations

import math

import pytest

from serq.check import check_program
from serq.codes import CODES
from serq.diagnostics import Sink
from serq.ir.expr import Num
from serq.ir.program import Constant, Input
from serq.source import SourceFile
from serq.syntax.parse import parse_expression, parse_program
from tests.check.cases import check

PROGRAM = """\
use "std/args";
fn main() {
  let n = 3;
  let pace = args.number("pace", 2 * n);
  let half = pace / 2;
  gauge g = half;
}
"""


def test_an_input_has_its_default() -> None:
    program, errors = check(PROGRAM)
    assert program is not None, errors
    assert program.inputs == (Input("pace", "pace", 6),)
    assert program.constants == (Constant("n", 3), Constant("pace", 6), Constant("half", 3))
    assert program.gauges[0].value == Num(3)


@pytest.mark.parametrize("given, value", [(8, 8), (8.5, 8.5), ("8", 8), ("n + 1", 4), ("1 / 0", math.inf)])
def test_an_input_is_given(given: str | float, value: float) -> None:
    program, errors = check(PROGRAM, sets={"pace": given})
    assert program is not None, errors
    assert program.inputs[0].value == value
    assert program.gauges[0].value == Num(value / 2)


@pytest.mark.parametrize(
    "sets, code",
    [
        ({"pace": "0 / 0"}, "SQ0513"),
        ({"pace": math.nan}, "SQ0513"),
        ({"pace": "~exp(1)"}, "SQ0430"),
        ({"pace": "half"}, "SQ0204"),
        ({"pace": "lost"}, "SQ0204"),
        ({"pce": 1}, "SQ0254"),
        ({"n": 1}, "SQ0255"),
    ],
)
def test_a_wrong_value_is_refused(sets: dict[str, str | float], code: str) -> None:
    _, errors = check(PROGRAM, sets=sets)
    assert [e.code for e in errors] == [code]
    assert errors[0].at is not None and errors[0].at.file == f"--set {next(iter(sets))}"


def test_a_value_that_cannot_be_read_is_refused() -> None:
    _, errors = check(PROGRAM, sets={"pace": "2 +"})
    assert errors and all(e.code.startswith("SQ01") for e in errors)


FAMILY = """\
use "std/args";
fn main() {
  let n = args.number("n", 2);
  let m = n + 1;
  stage z[m] : fifo;
}
"""


def test_an_input_does_not_change_the_size_of_a_family() -> None:
    _, errors = check(FAMILY, sets={"n": 3})
    assert [e.code for e in errors] == ["SQ0256"]
    program, errors = check(FAMILY, sets={"n": 2})
    assert program is not None, errors


def test_a_constant_counts_from_its_line_on_and_the_last_one_at_run_time() -> None:
    sink = Sink()
    source = "fn main() { let a = 1; stage z[a] : fifo; let a = 2; gauge g = a; let b = a; }"
    parsed = parse_program(SourceFile("test.sq", source), sink)
    program = check_program(parsed.tree, sink, parse_expression=parse_expression)
    assert program is not None
    assert program.stages[0].size == 1
    assert program.gauges[0].value == Num(2)
    assert [d.code for d in sink.diagnostics] == ["SQ0290"]
    assert CODES["SQ0290"].severity == "doubt"


READS = """\
use "std/args";
fn main() {
  let p = args.number("p", 0.5);
  let ends = args.numbers("ends", [1, 2, 3]);
  let desks = %s;
  let others = desks + 1;
  let times = [1, %s, 3];
  let third = times[2] / 4 / length(times);
  stage desk[desks] : fifo;
  stage link : fifo;
  workload { arrive at (times); init { set x = ~table(1: p, 2: 0.5); set y = ends[2]; } }
  server {
    run desk[0] (cost(desk[0], others));
    branch with (third) { run link (cost(link, times[turn_no - 1])); }
    observe all = sum k in 3 (times[k]);
  }
}
"""


def test_what_reads_a_refused_value_is_not_refused_as_well() -> None:
    program, errors = check(READS % ("2", "2"))
    assert program is not None, errors
    for sets in ({"p": "0 / 0"}, {"p": "nan"}, {"ends": "1, 0 / 0"}, {"ends": []}):
        _, errors = check(READS % ("2", "2"), sets=sets)
        assert len(errors) == 1, errors
    for desks, element, code in (("0 / 0", "2", "SQ0513"), ("2", "0 / 0", "SQ0513"), ("lost", "2", "SQ0204")):
        _, errors = check(READS % (desks, element))
        assert [e.code for e in errors] == [code]
