"""Definitions: what a use means, where its mistakes are told, and how much may be written out."""

from __future__ import annotations

import time

import pytest

from serq.ir.expr import Binary, Num, Observable, Place
from serq.ir.server import Branch, Observe, Run
from tests.check.cases import check, places
from tests.support.amounts import thinned

SERVER = "stage z : delay; workload { arrive batch(1); } server { %s run z (cost(z, 1)); }"


def gauge_of(source: str) -> object:
    program, errors = check(source)
    assert program is not None, errors
    return program.gauges[0].value


def test_a_parameter_is_the_argument_as_if_in_parentheses() -> None:
    value = gauge_of("def f(x) { 2 * x }\nfn main() { stage z : fifo; gauge g = f(queue(z) + 1); }")
    reading = Observable("queue", Place("z"))
    assert value == Binary("*", Num(2), Binary("+", reading, Num(1)))


def test_a_reference_is_passed_literally() -> None:
    value = gauge_of("def f(d) { queue(d) }\nfn main() { stage z[2] : fifo; gauge g = f(z[1]); }")
    assert value == Observable("queue", Place("z", Num(1)))


def test_a_body_may_index_its_parameter() -> None:
    source = "def f(d) { sum j in 2 (queue(d[j])) }\nfn main() { stage z[2] : fifo; gauge g = f(z); }"
    program, errors = check(source)
    assert program is not None, errors


def test_statements_take_their_place_in_the_block() -> None:
    source = "def f(x) { set a = x; branch (a > 1) { observe big = a; } }\nfn main() { %s }"
    program, errors = check(source % (SERVER % "f(serial);"))
    assert program is not None, errors
    assert [type(s) for s in program.server[1:]] == [Branch, Run]


def test_names_of_a_body_are_the_programs_own() -> None:
    """A body reads its names where it is used, also those declared below it."""
    assert gauge_of("def f() { b + 1 }\nlet b = 2;\nfn main() { gauge g = f(); }") == Num(3)


def test_a_mistake_in_a_body_is_told_there_with_every_use_around_it() -> None:
    source = "def f(x) { x + lost }\ndef g(x) { f(x) * 2 }\nfn main() {\n  gauge a = g(1);\n}"
    _, (error,) = check(source)
    assert places([error]) == [("SQ0201", 1, 16)]
    used = [(note.at.line, note.at.column) for note in error.notes if note.at is not None]
    assert used == [(2, 12), (4, 13)]


def test_a_mistake_in_a_body_is_told_once() -> None:
    source = "def f(x) { x + lost }\nfn main() { gauge a = f(1); gauge b = f(2); }"
    _, errors = check(source)
    assert places(errors) == [("SQ0201", 1, 16)]


def test_a_body_is_replaced_from_outside() -> None:
    source = "def f(x) { x }\nfn main() { gauge g = f(3); }"
    program, errors = check(source, defs={"f": "x * x + 1"})
    assert program is not None, errors
    assert program.gauges[0].value == Num(10)


def test_only_an_expression_definition_is_replaced() -> None:
    _, errors = check("def run_it(x) { set a = x; }\nfn main() { }", defs={"run_it": "1"})
    assert [e.code for e in errors] == ["SQ0215"]
    _, errors = check("def fits(x) { x }\nfn main() { }", defs={"fit": "1"})
    assert [e.code for e in errors] == ["SQ0214"]
    assert errors[0].help == "did you mean `fits`?"


DOUBLING = {
    "expressions": "def f0(x) { x + x }\n"
    + "".join(f"def f{i}(x) {{ f{i - 1}(x) + f{i - 1}(x) }}\n" for i in range(1, 40))
    + "fn main() { stage z : delay; gauge g = f39(queue(z)); }",
    "arguments": "def f(x) { x + x }\nfn main() { stage z : delay; gauge g = "
    + "f(" * 40 + "queue(z)" + ")" * 40 + "; }",
    "statements": "def g0() { set a = 1; set a = 2; }\n"
    + "".join(f"def g{i}() {{ g{i - 1}(); g{i - 1}(); }}\n" for i in range(1, 40))
    + "fn main() { workload { arrive batch(1); } server { g39(); } }",
    "times": "fn main() { device d { f0 (t) = t + t; "
    + "".join(f"f{i} (t) = f{i - 1}(t) + f{i - 1}(t); " for i in range(1, 40))
    + "} engine e on d { tokens cap 1; schedule { advance running; } execute (f39(now)); } }",
    "bindings": "fn main() { pool p { } stage z : delay; workload { arrive batch(1); } server {"
    " hold p (cost(p, x39)) at admission (x0 = serial, "
    + ", ".join(f"x{i} = x{i - 1} + x{i - 1}" for i in range(1, 40))
    + ") { run z (cost(z, 1)); } } }",
    "entries": "fn main() { queue x0 : decode { serve fifo; decode (a) { run (cost(x0, a)); } } "
    + "".join(
        f"queue x{i} : decode {{ decode (a) {{ x{i - 1}.decode (a); x{i - 1}.decode (a); }} }} "
        for i in range(1, 30)
    )
    + "workload { arrive batch(1); } server { x29.decode (1); } }",
}  # fmt: skip


@pytest.mark.parametrize("kind", thinned(DOUBLING, 3))
def test_what_doubles_at_every_step_is_refused_in_bounded_time(kind: str) -> None:
    begun = time.process_time()
    _, errors = check(DOUBLING[kind])
    assert [e.code for e in errors] == ["SQ0560"]
    assert time.process_time() - begun < 20


def test_nesting_is_bounded_after_expansion() -> None:
    body = "def f(x) { " + "-" * 8 + "x }\n"
    deep = body + "fn main() { let a = " + "f(" * 60 + "1" + ")" * 60 + "; }"
    _, errors = check(deep)
    assert [e.code for e in errors] == ["SQ0561"]
    fine = body + "fn main() { let a = " + "f(" * 40 + "1" + ")" * 40 + "; }"
    program, errors = check(fine)
    assert program is not None, errors
    assert program.constants[0].value == 1


def test_observations_of_a_body_are_the_programs() -> None:
    source = "def f(x) { observe seen = x; }\nfn main() { %s }" % (SERVER % "f(1); f(2);")
    program, errors = check(source)
    assert program is not None, errors
    assert program.observes == ("seen",)
    assert [s for s in program.server if isinstance(s, Observe)] == [
        Observe("seen", Num(1)),
        Observe("seen", Num(2)),
    ]
