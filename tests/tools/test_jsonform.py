"""Programs as JSON: nothing is lost on the way, and a damaged file is refused with a place."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any, get_args

import attrs
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from serq.diagnostics import ProgramError
from serq.ir import claim, expr, pool, schedule, server, stage, workload
from serq.ir.expr import Binary, Expr, Num, Place, Unary
from serq.ir.jsonform import DEEPEST, program_from_json, program_to_json
from serq.ir.program import IR_VERSION, Constant, Input, NumberList, Program
from serq.source import SourceFile, Span
from tests.support.amounts import share

NUMBERS = st.floats(allow_nan=False)
NAMES = st.text(min_size=1, max_size=6)
SPANS = st.none() | st.builds(
    Span, *[st.integers(1, 9)] * 4, file=st.sampled_from(["a.sq", "a.sq", "other.sq", ""])
)


def records(kind: type, /, **fields: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    return st.builds(kind, at=SPANS, **fields)


def tuples(of: st.SearchStrategy[Any], most: int = 2) -> st.SearchStrategy[Any]:
    return st.lists(of, max_size=most).map(tuple)


def expressions() -> st.SearchStrategy[Expr]:
    leaves = (
        records(expr.Num, value=NUMBERS)
        | records(expr.Attr, name=NAMES)
        | records(expr.Var, name=NAMES)
        | records(expr.RegisterRead, engine=NAMES, name=NAMES)
        | records(expr.LoopName, name=NAMES)
        | records(expr.RequestField, request=NAMES, name=NAMES, kind=NAMES)
        | records(expr.Local, name=NAMES)
        | records(expr.Summary, function=NAMES, observation=NAMES)
    )
    return st.recursive(
        leaves,
        lambda e: (
            records(
                expr.Observable,
                function=NAMES,
                place=records(Place, name=NAMES, index=st.none() | e),
                arguments=tuples(e),
            )
            | records(expr.Item, name=NAMES, index=e)
            | records(expr.Survey, kind=NAMES, request=NAMES, among=NAMES, engine=NAMES, body=e)
            | records(expr.Func, function=NAMES, arguments=tuples(e))
            | records(expr.Fold, kind=NAMES, terms=tuples(e))
            | records(expr.Draw, law=NAMES, arguments=tuples(e))
            | records(expr.Unary, operator=NAMES, operand=e)
            | records(expr.Binary, operator=NAMES, left=e, right=e)
            | records(expr.Conditional, test=e, then=e, otherwise=e)
        ),
        max_leaves=5,
    )


E = expressions()
PLACES = records(Place, name=NAMES, index=st.none() | E)
SIZES = st.none() | st.integers(1, 9)


def statements() -> st.SearchStrategy[Any]:
    simple = (
        records(server.Set, attribute=NAMES, value=E)
        | records(server.Observe, name=NAMES, value=E)
        | records(
            server.Run,
            places=tuples(PLACES),
            mode=st.sampled_from([None, "prefill"]),
            work=E,
            growing=st.none() | PLACES,
        )
        | records(server.Grow, place=PLACES, amount=E)
        | records(server.Load, place=PLACES, amount=E)
        | records(server.Drop, place=PLACES)
        | records(server.Release, place=PLACES)
        | records(server.Choose, attribute=NAMES, count=E, keys=tuples(E))
        | records(server.Join)
        | records(server.Turn)
        | records(server.End)
    )
    return st.recursive(
        simple,
        lambda s: (
            records(server.Branch, test=E, then=tuples(s), otherwise=tuples(s))
            | records(server.While, test=E, body=tuples(s))
            | records(server.Loop, body=tuples(s))
            | records(server.Fork, body=tuples(s))
            | records(
                server.Hold,
                parts=tuples(records(server.HoldPart, place=PLACES, units=E, reserve=st.none() | E)),
                body=tuples(s),
                reuse=st.none() | E,
                bindings=tuples(records(server.Binding, name=NAMES, value=E, kept=st.booleans())),
                cache=st.none() | E,
                lease=st.none() | st.tuples(PLACES, E),
            )
        ),
        max_leaves=4,
    )


BLOCKS = tuples(statements())
SCHEDULE_STATEMENTS = st.recursive(
    records(schedule.Advance, order=NAMES, keys=tuples(E), only=st.none() | E)
    | records(schedule.Admit, only=st.none() | E, condition=st.none() | E)
    | records(schedule.ExclusivePrefill)
    | records(schedule.SetRegister, register=NAMES, value=E, index=st.none() | E)
    | records(schedule.SetTag, request=NAMES, tag=NAMES, value=E)
    | records(schedule.SetName, name=NAMES, value=E)
    | records(schedule.AdmitOne, request=NAMES)
    | records(schedule.AdvanceOne, request=NAMES)
    | records(schedule.Break),
    lambda s: (
        records(schedule.ScheduleBranch, test=E, then=tuples(s), otherwise=tuples(s))
        | records(schedule.ForIndex, name=NAMES, count=st.integers(0, 9), body=tuples(s))
        | records(
            schedule.ForRequests,
            request=NAMES,
            among=NAMES,
            body=tuples(s),
            keys=tuples(E),
            where=st.none() | E,
        )
    ),
    max_leaves=3,
)
SCHEDULES = records(
    schedule.Schedule,
    statements=tuples(SCHEDULE_STATEMENTS),
    lets=tuples(records(schedule.ScheduleLet, name=NAMES, value=E)),
    each_at_most=st.none() | E,
)
STAGES = (
    records(
        stage.Engine,
        name=NAMES,
        device=NAMES,
        tokens_cap=E,
        schedule=SCHEDULES,
        execute=E,
        size=SIZES,
        granule=st.none() | NUMBERS,
        registers=tuples(records(stage.Register, name=NAMES, initial=NUMBERS, size=SIZES)),
        tags=tuples(records(stage.Tag, name=NAMES, initial=NUMBERS)),
    )
    | records(stage.Fifo, name=NAMES, servers=NUMBERS, size=SIZES)
    | records(stage.SharedProcessor, name=NAMES, capacity=E, size=SIZES)
    | records(stage.Delay, name=NAMES, size=SIZES)
)
POOLS = records(
    pool.Pool,
    name=NAMES,
    cap=NUMBERS,
    engine=st.none() | NAMES,
    block=st.none() | NUMBERS,
    queue_keys=st.none() | tuples(E),
    preempt=st.none() | records(pool.Preempt, keys=tuples(E), requeue=NAMES),
    reserve_held=st.booleans(),
    spill=st.none() | records(pool.Spill, tier=NAMES, via=NAMES, work=E, condition=E),
)
WORKLOADS = records(
    workload.Workload,
    arrival=records(workload.Poisson, rate=NUMBERS)
    | records(workload.Renewal, gap=E)
    | records(workload.Slotted, slot=NUMBERS, count=E)
    | records(workload.Stages, stages=st.lists(st.tuples(NUMBERS, NUMBERS), max_size=2).map(tuple))
    | records(workload.Closed, count=st.integers(1, 9))
    | records(workload.Batch, count=st.integers(1, 9))
    | records(workload.Timed, times=tuples(NUMBERS))
    | records(workload.NoArrivals),
    init=BLOCKS,
    session=BLOCKS,
    trace=st.none() | records(workload.Trace, path=NAMES, ordered=st.booleans()),
)
CLAIMS = (
    records(claim.EveryIteration, name=NAMES, engine=PLACES, value=E, given=st.none() | E, text=NAMES)
    | records(claim.SomeIteration, name=NAMES, engine=PLACES, value=E, given=st.none() | E, text=NAMES)
    | records(claim.AtEnd, name=NAMES, value=E, given=st.none() | E, text=NAMES)
)
PROGRAMS = records(
    Program,
    constants=tuples(records(Constant, name=NAMES, value=NUMBERS)),
    inputs=tuples(records(Input, name=NAMES, external=NAMES, value=NUMBERS)),
    devices=tuples(records(stage.Device, name=NAMES, size=SIZES)),
    stages=tuples(STAGES),
    pools=tuples(POOLS),
    attributes=tuples(records(workload.Attribute, name=NAMES, kind=NAMES, hidden=st.booleans())),
    observes=tuples(NAMES),
    workload=st.none() | WORKLOADS,
    server=BLOCKS,
    gauges=tuples(records(claim.Gauge, name=NAMES, value=E)),
    claims=tuples(CLAIMS),
    lists=tuples(records(NumberList, name=NAMES, values=tuples(NUMBERS), external=st.none() | NAMES)),
    share=st.sampled_from([None, "maxmin"]),
    file=st.sampled_from(["a.sq", ""]),
).map(attrs.evolve)  # a copy: hypothesis would take minutes to print how a failing one was built


def places(value: Any) -> list[Any]:
    """Every span of a program, in reading order."""
    if isinstance(value, tuple):
        return [at for part in value for at in places(part)]
    if not attrs.has(type(value)) or isinstance(value, Span):
        return [value] if isinstance(value, Span) else []
    return [
        at for f in attrs.fields(type(value)) if f.name != "source" for at in places(getattr(value, f.name))
    ]


@settings(max_examples=share(40))
@given(PROGRAMS)
def test_a_program_comes_back_as_it_was(program: Program) -> None:
    text = program_to_json(program)
    again = program_from_json(text, "p.json")
    assert again == program
    assert places(again) == places(program)
    assert program_to_json(again) == text
    assert json.loads(text)["version"] == IR_VERSION


def test_the_programs_above_can_hold_every_record() -> None:
    """A record that is new in the IR must be generated here too."""
    unions = {
        expr.Expr, schedule.ScheduleStatement, server.Statement, stage.Stage, workload.Arrival, claim.Claim
    }  # fmt: skip
    text = Path(__file__).read_text(encoding="utf-8")
    for kind in (kind for union in unions for kind in get_args(union)):
        assert f".{kind.__name__}" in text, kind


@pytest.mark.parametrize(
    ("value", "written"),
    [
        (4.0, "4"), (0.1, "0.1"), (-0.0, "-0.0"), (math.inf, '"inf"'), (-math.inf, '"-inf"'),
        (5e6, "5000000"), (1e300, "1e+300"), (5e-324, "5e-324"), (2.0**53, "9007199254740992"),
    ],
)  # fmt: skip
def test_numbers_read_back_exactly(value: float, written: str) -> None:
    text = program_to_json(Program(gauges=(claim.Gauge("g", Num(value)),)))
    assert f'"value": {written}}}' in text
    read = program_from_json(text, "p.json").gauges[0].value
    assert isinstance(read, Num)
    assert math.copysign(1, read.value) == math.copysign(1, value)
    assert read.value == value


def test_not_a_number_survives() -> None:
    text = program_to_json(Program(gauges=(claim.Gauge("g", Num(math.nan)),)))
    read = program_from_json(text, "p.json").gauges[0].value
    assert isinstance(read, Num)
    assert math.isnan(read.value)


def test_deep_expressions_are_no_trouble() -> None:
    value: Expr = Num(1.0)
    for _ in range(1000):
        value = Unary("-", value)
    program = Program(gauges=(claim.Gauge("g", value),))
    text = program_to_json(program)
    assert program_to_json(program_from_json(text, "p.json")) == text


def test_the_text_of_a_program_is_not_written() -> None:
    program = Program(source=SourceFile("a.sq", "secret"))
    assert "secret" not in program_to_json(program)


ENGINE = stage.Engine("e", "gpu", Num(4.0), schedule.Schedule((schedule.Advance(),)), Num(1.0))
GOOD = program_to_json(
    Program(
        stages=(ENGINE,),
        gauges=(claim.Gauge("g", Binary("+", Num(1.0), Num(2.0))),),
        workload=workload.Workload(workload.Batch(2)),
    )
)


def refusal(text: str) -> list[tuple[str, str]]:
    with pytest.raises(ProgramError) as caught:
        program_from_json(text, "p.json")
    return [(d.code, d.message) for d in caught.value.diagnostics]


@pytest.mark.parametrize(
    ("old", "new", "code", "message"),
    [
        ('"serq program"', '"a program"', "SQ0941", "p.json"),
        ('"version": 1', '"version": 99', "SQ0942", "version 99"),
        ('"version": 1,', "", "SQ0942", "version unknown"),
        ('"node": "Engine"', '"node": "Motor"', "SQ0943", '`stages[0]` is "Motor", which cannot stand here'),
        ('"node": "Engine", ', "", "SQ0943", '`stages[0]` is an object where an object with a "node"'),
        ('"node": "Batch", "count": 2', '"node": "Num", "value": 2', "SQ0943", "`workload.arrival` is"),
        ('"count": 2', '"count": 2.5', "SQ0943", "`workload.arrival.count` is 2.5 where a whole number"),
        ('"count": 2', '"cuont": 2', "SQ0943", "`workload.arrival.cuont` is no field of this record"),
        ('"value": 4', '"value": "4"', "SQ0943", '`stages[0].tokens_cap.value` is "4" where a number'),
        ('"value": 4', '"value": true', "SQ0943", "`stages[0].tokens_cap.value` is true where a number"),
        ('"value": 4', '"value": NaN', "SQ0940", "`NaN` is no JSON value"),
        ('"value": 4', '"value": 1' + "0" * 400, "SQ0943", "too large"),
        (', "value": 4', "", "SQ0943", "`stages[0].tokens_cap.value` is missing"),
        ('"name": "g"', '"name": 7', "SQ0943", "`gauges[0].name` is 7 where a text belongs"),
        ('"devices": []', '"devices": {}', "SQ0943", "`devices` is an object where a list"),
        ('"devices": []', '"devices": "ab"', "SQ0943", '`devices` is "ab" where a list'),
        ('"devices": []', '"devices": [], "at": [1, 2]', "SQ0943", "`at` is a list where [line, column"),
        ('"devices": []', '"devices": [], "at": [1, true, 1, 1]', "SQ0943", "`at`"),
        ('"devices": []', '"devices": [}', "SQ0940", "p.json"),
    ],
)  # fmt: skip
def test_a_damaged_file_is_refused_with_its_place(old: str, new: str, code: str, message: str) -> None:
    flat = json.dumps(json.loads(GOOD))
    assert old in flat
    said = refusal(flat.replace(old, new, 1))
    assert {c for c, _ in said} == {code}
    assert any(message in words for _, words in said)


@pytest.mark.parametrize("text", ["[]", "3", "null", "{}", '"x"', '{"version": 1}'])
def test_other_json_is_not_a_program(text: str) -> None:
    assert refusal(text)[0][0] == "SQ0941"


def test_nesting_has_an_end() -> None:
    assert refusal("[" * (DEEPEST + 1))[0][0] == "SQ0944"
    assert refusal("[" * DEEPEST)[0][0] == "SQ0940"


@given(st.data())
def test_a_mutilated_file_is_refused_or_read_but_never_crashes(data: st.DataObject) -> None:
    at = data.draw(st.integers(0, len(GOOD) - 1))
    to = data.draw(st.integers(at, min(len(GOOD), at + 30)))
    new = data.draw(st.sampled_from(["", "null", "[]", "{}", "1", '"x"', ",", "true", "-1e400"]))
    try:
        program_from_json(GOOD[:at] + new + GOOD[to:], "p.json")
    except ProgramError as error:
        assert error.diagnostics
