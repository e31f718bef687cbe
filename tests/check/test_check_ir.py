"""A program that was not read from text meets the same rules, and nothing reaches a machine unmet."""

from __future__ import annotations

from collections.abc import Callable
from typing import get_args

import attrs
import pytest
from attrs import evolve

from serq.check import check_ir, supported
from serq.check.readings import readings, statements_in
from serq.diagnostics import Diagnostic, Sink
from serq.ir.claim import AtEnd, Gauge, SomeIteration
from serq.ir.expr import (
    Attr,
    Binary,
    Draw,
    Expr,
    Fold,
    Func,
    Local,
    Num,
    Observable,
    Place,
    RegisterRead,
    Summary,
    Var,
    children,
)
from serq.ir.moments import Moment
from serq.ir.program import Program
from serq.ir.server import Choose, Drop, Grow, Hold, HoldPart, Observe, Release, Run, Set, Statement, Turn
from serq.ir.workload import Attribute, Batch, Poisson, Renewal
from tests.check.cases import Case, check, read_table

SOURCE = """\
fn main() {
  device gpu { kv cap 8; }
  engine e on gpu { state n = 0; reqs cap 2; tokens cap 4;
    schedule { let c = 3; advance running each at most (c); admit waiting each at most (c); }
    execute (1 + batch.tokens); }
  pool kv on gpu { }
  pool reqs on e { }
  stage z[2] : fifo;
  workload { arrive batch(2); init { set size = 3; } session { turn; } }
  server {
    hold reqs (cost(reqs, 1)), kv (cost(kv, len)) { run e prefill (cost(e, len)); }
    observe done = now;
  }
  gauge g = queue(e);
  claim c: every iteration of e (tokens <= 4);
}
""".replace("size", "len")


@pytest.fixture
def program() -> Program:
    found, errors = check(SOURCE)
    assert found is not None, errors
    return found


def said(program: Program) -> list[str]:
    sink = Sink()
    check_ir(program, sink)
    return [d.code for d in sink.errors]


def test_a_program_from_text_passes(program: Program) -> None:
    assert said(program) == []


Accepted = list[tuple[Case, Program | None, list[Diagnostic]]]


@pytest.fixture(scope="module")
def accepted() -> Accepted:
    """What the language allows, whether or not the machine runs it yet, and what is said of it."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(supported, "NOT_YET", {})
        return [(case, *check(case.source)) for case in read_table("accepted.txt")]


def test_what_is_good_as_text_is_good_without_it(accepted: Accepted, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(supported, "NOT_YET", {})
    for case, program, errors in accepted:
        assert program is not None, errors
        assert said(program) == [], case.text


def gauge(value: Expr) -> Callable[[Program], Program]:
    return lambda p: evolve(p, gauges=(Gauge("g", value),))


def server(*statements: Statement) -> Callable[[Program], Program]:
    return lambda p: evolve(p, server=statements)


def arrival(value: object) -> Callable[[Program], Program]:
    return lambda p: evolve(p, workload=evolve(p.workload, arrival=value))


def engine(**parts: object) -> Callable[[Program], Program]:
    return lambda p: evolve(p, stages=(evolve(p.stages[0], **parts), *p.stages[1:]))


def pool(**parts: object) -> Callable[[Program], Program]:
    return lambda p: evolve(p, pools=(evolve(p.pools[0], **parts), *p.pools[1:]))


Z = Place("z", Num(0))
WRONG: list[tuple[str, Callable[[Program], Program]]] = [
    # names
    ("SQ0280", gauge(Observable("queue", Place("lost")))),
    ("SQ0280", gauge(Observable("used", Place("e")))),
    ("SQ0280", gauge(Attr("lost"))),
    ("SQ0280", gauge(Var("lost"))),
    ("SQ0280", gauge(RegisterRead("e", "lost"))),
    ("SQ0280", gauge(Local("lost"))),
    ("SQ0280", server(Run((Place("lost"),), None, Num(1)))),
    ("SQ0280", server(Set("lost", Num(1)))),
    ("SQ0280", server(Observe("lost", Num(1)))),
    ("SQ0280", server(Drop(Place("z", Num(0))))),
    ("SQ0280", engine(device="lost")),
    ("SQ0280", pool(engine="z")),
    ("SQ0280", lambda p: evolve(p, claims=(SomeIteration("c", Place("z", Num(0)), Num(1)),))),
    ("SQ0280", lambda p: evolve(p, claims=(AtEnd("c", Summary("count", "lost")),))),
    ("SQ0210", lambda p: evolve(p, gauges=(*p.gauges, *p.gauges))),
    ("SQ0210", lambda p: evolve(p, pools=(evolve(p.pools[0], name="n"), *p.pools))),
    # structure
    ("SQ0273", lambda p: evolve(p, workload=None)),
    ("SQ0242", lambda p: evolve(p, stages=(evolve(p.stages[0], name="f", registers=()), *p.stages))),
    ("SQ0243", engine(size=2)),
    ("SQ0336", lambda p: evolve(p, share="maxmin")),
    ("SQ0320", server(Set("len", Num(1)), Run((Z,), None, Num(1)))),
    ("SQ0320", server(Set("new", Num(1)), Run((Z,), None, Num(1)))),
    ("SQ0320", server(Choose("serial", Num(2), (Num(1),)), Run((Z,), None, Num(1)))),
    ("SQ0324", lambda p: evolve(p, workload=evolve(p.workload, init=(Set("cached", Num(1)),)))),
    ("SQ0441", lambda p: evolve(p, attributes=(*p.attributes, Attribute("cached", "value", hidden=True)))),
    # words
    ("SQ0281", gauge(Func("pow", (Num(1), Num(2))))),
    ("SQ0281", gauge(Func("min", (Num(1),)))),
    ("SQ0281", gauge(Fold("sum", ()))),
    ("SQ0281", gauge(Binary("%", Num(1), Num(2)))),
    ("SQ0281", gauge(Draw("normal", (Num(1),)))),
    ("SQ0281", gauge(Observable("queue", Place("e"), (Num(1),)))),
    ("SQ0281", server(Run((), None, Num(1)))),
    ("SQ0281", server(Run((Place("e"),), None, Num(1)))),
    ("SQ0281", server(Run((Z,), "decode", Num(1)))),
    ("SQ0281", server(Hold((), ()))),
    ("SQ0281", lambda p: evolve(p, attributes=(Attribute("len", "text"),))),
    # moments
    ("SQ0401", gauge(Attr("len"))),
    ("SQ0402", gauge(Var("demand"))),
    ("SQ0406", gauge(Var("now"))),
    ("SQ0412", gauge(Local("c"))),
    ("SQ0413", gauge(Observable("queue", Place("z", Observable("queue", Place("e")))))),
    ("SQ0403", engine(tokens_cap=Var("residents"))),
    ("SQ0410", arrival(Renewal(Attr("len")))),
    # limits and paths
    ("SQ0231", gauge(Observable("queue", Place("z", Num(2))))),
    ("SQ0230", gauge(Observable("queue", Place("z")))),
    ("SQ0530", arrival(Poisson(0))),
    ("SQ0531", arrival(Batch(0))),
    ("SQ0534", server(Run((Z,), None, Num(-1)))),
    ("SQ0535", server(Hold((HoldPart(Place("kv"), Num(9)),), ()))),
    ("SQ0540", engine(tokens_cap=Num(0))),
    ("SQ0541", engine(granule=0.0)),
    ("SQ0542", engine(granule=5.0)),
    ("SQ0521", pool(block=0.0)),
    ("SQ0516", pool(cap=float("nan"))),
    ("SQ0510", pool(size=0)),
    ("SQ0353", server(Turn())),
    ("SQ0575", lambda p: evolve(p, workload=evolve(p.workload, session=()))),
    ("SQ0350", lambda p: evolve(p, workload=evolve(p.workload, init=(Turn(),)))),
    ("SQ0580", server(Grow(Place("kv"), Num(1)))),
    ("SQ0580", server(Release(Place("kv")))),
    ("SQ0335", server(Run((Z, Place("z", Num(1))), None, Num(1)))),
]


@pytest.mark.parametrize("code, change", WRONG, ids=[f"{i} {c}" for i, (c, _) in enumerate(WRONG)])
def test_what_is_wrong_is_refused(
    program: Program, code: str, change: Callable[[Program], Program], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(supported, "NOT_YET", {})
    assert code in said(change(program))


def test_what_the_machine_cannot_run_is_refused(program: Program, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(supported, "NOT_YET", {"grow": "`grow`"})
    hold = Hold((HoldPart(Place("kv"), Num(1)),), (Grow(Place("kv"), Num(1)),))
    assert said(evolve(program, server=(hold,))) == ["SQ0901"]


def test_every_construct_that_is_refused_can_be_found(accepted: Accepted) -> None:
    """The list names constructs that are looked for, so that a line cannot outlive its construct."""
    found: set[str] = set()
    for _, program, _ in accepted:
        if program is not None:
            found.update(name for name, _ in supported.constructs(program))
    assert set(supported.NOT_YET) <= found | {"trace"}


# -------------------------------------------------------------------- nothing is overlooked


def expressions_in(value: object) -> list[Expr]:
    """Every expression that a record holds, found by looking at all of its fields."""
    if isinstance(value, get_args(Expr)):
        return [value]  # type: ignore[list-item]
    if isinstance(value, tuple):
        return [e for part in value for e in expressions_in(part)]
    if attrs.has(type(value)):
        return [e for f in attrs.fields(type(value)) for e in expressions_in(getattr(value, f.name))]
    return []


def test_every_expression_of_a_program_is_read_at_some_moment(
    accepted: Accepted,
) -> None:
    """A field of a record that `readings` forgets would be checked by nobody."""
    for case, program, _ in accepted:
        if program is None:
            continue
        read = {id(reading.expr) for reading in readings(program)}
        for reading in list(readings(program)):
            stack = [reading.expr]
            while stack:
                node = stack.pop()
                read.add(id(node))
                stack.extend(children(node))
        for e in expressions_in(program):
            assert id(e) in read, (case.text, e)


def test_statements_are_found_in_all_blocks(program: Program) -> None:
    assert [type(s).__name__ for s in statements_in(program.server)] == ["Hold", "Run", "Observe"]


def test_moments_are_all_used(accepted: Accepted) -> None:
    """Every moment but that of constants is one that some expression of a program has."""
    seen = set()
    for _, found, _ in accepted:
        if found is not None:
            seen |= {reading.moment for reading in readings(found)}
    assert seen == set(Moment) - {Moment.CONST}
