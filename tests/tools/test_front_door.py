"""The Python interface: what it takes, returns and raises."""

from __future__ import annotations

import math
import pickle
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest

import serq
from serq.diagnostics import show_diagnostic

GOOD = """\
fn main() {
  device gpu { }
  engine e on gpu { tokens cap 4; schedule { advance running; } execute (1); }
  workload { arrive renewal(10); }
  server { run e prefill (cost(e, 5)); observe done = now; }
}
"""
STUCK = GOOD.replace("execute (1)", "execute (0)")


def codes(error: pytest.ExceptionInfo[serq.ProgramError]) -> list[str]:
    return [d.code for d in error.value.diagnostics]


def test_a_program_is_compiled_from_a_path_or_a_text(tmp_path: Path) -> None:
    path = tmp_path / "p.sq"
    path.write_text(GOOD)
    from_text = serq.compile(str(path), source=GOOD)
    assert serq.compile(path) == from_text
    assert isinstance(from_text, serq.Program)
    assert from_text.source is not None and from_text.source.text == GOOD
    with pytest.raises(TypeError):
        serq.compile()


def test_a_program_comes_back_from_json(tmp_path: Path) -> None:
    program = serq.compile(source=GOOD)
    path = tmp_path / "p.json"
    path.write_text(serq.program_to_json(program))
    assert serq.compile(path) == program
    assert serq.check_program(path) == ()


def test_run_takes_a_path_as_well(tmp_path: Path) -> None:
    path = tmp_path / "p.sq"
    path.write_text(GOOD)
    report = serq.run(path, horizon=50)
    assert isinstance(report, serq.Report)
    assert report.to_dict() == serq.run(serq.compile(source=GOOD), horizon=50).to_dict()
    assert report.to_dict()["version"] == serq.__version__


@pytest.mark.parametrize(
    ("settings", "code"),
    [
        ({"horizon": 0}, "SQ0920"),
        ({"horizon": -1}, "SQ0920"),
        ({"horizon": math.inf}, "SQ0920"),
        ({"horizon": math.nan}, "SQ0920"),
        ({"horizon": 10**400}, "SQ0920"),
        ({"horizon": True}, "SQ0920"),
        ({"horizon": "10"}, "SQ0920"),
        ({"warmup": -1}, "SQ0921"),
        ({"warmup": math.nan}, "SQ0921"),
        ({"warmup": 50}, "SQ0922"),
        ({"seed": -1}, "SQ0923"),
        ({"seed": 1.5}, "SQ0923"),
        ({"arrivals": 0}, "SQ0924"),
        ({"arrivals": 2.0}, "SQ0924"),
    ],
)
def test_settings_without_meaning_are_refused(settings: dict[str, object], code: str) -> None:
    with pytest.raises(serq.ProgramError) as error:
        serq.run(serq.compile(source=GOOD), **{"horizon": 50, **settings})  # type: ignore[arg-type]
    assert codes(error) == [code]


def test_all_bad_settings_are_named_before_the_program_is_opened() -> None:
    with pytest.raises(serq.ProgramError) as error:
        serq.run("nowhere.sq", horizon=-1, warmup=-1, seed=-1, arrivals=-1)
    assert codes(error) == ["SQ0920", "SQ0921", "SQ0923", "SQ0924"]


def test_a_large_seed_is_a_seed() -> None:
    serq.run(serq.compile(source=GOOD), horizon=50, seed=2**100)


@pytest.mark.parametrize("arrivals", ["none", "batch(2)", "closed(2)"])
def test_only_a_stream_of_sessions_can_be_counted(arrivals: str) -> None:
    program = serq.compile(source=GOOD.replace("renewal(10)", arrivals))
    with pytest.raises(serq.ProgramError) as error:
        serq.run(program, horizon=50, arrivals=2)
    assert codes(error) == ["SQ0925"]
    assert "arrive " + arrivals in str(error.value)


def test_an_empty_program_has_no_arrivals_to_count() -> None:
    with pytest.raises(serq.ProgramError, match="SQ0925"):
        serq.run(serq.compile(source="fn main() { }"), horizon=50, arrivals=2)


def test_a_run_that_cannot_go_on_shows_the_line() -> None:
    with pytest.raises(serq.ProgramError) as error:
        serq.run(serq.compile(source=STUCK), horizon=50)
    assert "<program>:3:" in str(error.value)
    assert "  3 |   engine e on gpu" in str(error.value)


def test_check_says_everything_and_raises_nothing() -> None:
    wrong = GOOD.replace("cap 4", "cap 0").replace("renewal(10)", "renewal(0)")
    assert [d.at.line for d in serq.check_program(source=wrong) if d.at] == [3, 4]
    assert serq.check_program(source=GOOD) == ()
    assert [d.code for d in serq.check_program("nowhere.sq")] == ["SQ0910"]


def test_progress_hears_of_the_clock() -> None:
    """A run of 4 tokens in 5 iterations every 10 units of time, on either machine."""
    for plain, horizon in ((False, 100_000), (True, 2_000)):
        heard: list[tuple[float, int]] = []
        serq.run(
            serq.compile(source=GOOD), horizon=horizon, plain=plain,
            progress=lambda now, n, to=heard: to.append((now, n)),
        )  # fmt: skip
        assert heard and heard == sorted(heard)
        assert all(0 <= now <= horizon and abs(n - 2 * now / 10) <= 2 for now, n in heard)


def test_names_that_are_not_there() -> None:
    with pytest.raises(AttributeError, match="nonsense"):
        serq.nonsense  # type: ignore[attr-defined]


INPUT = """\
use "std/args";
def f(x) { x }
fn main() {
  let a = args.number("a", 1);
  stage z[2] : delay;
  workload { arrive renewal(10); }
  server { observe seen = f(a); run z[0] (cost(z, 1)); }
  gauge g = a;
}
"""


@pytest.mark.parametrize("argument", ["sets", "defs"])
@pytest.mark.parametrize(
    "value", [None, True, np.True_, b"1", 1j, [1], {"b": 1}, np.ones(2), 10**400, -(10**400)]
)
def test_a_value_that_is_no_number_is_refused(argument: str, value: object) -> None:
    name = {"sets": "a", "defs": "f"}[argument]
    (complaint,) = serq.check_program(source=INPUT, **{argument: {name: value}})  # type: ignore[arg-type]
    assert (complaint.code, f"`{name}`" in complaint.message) == ("SQ0513", True)
    with pytest.raises(serq.ProgramError):
        serq.compile(source=INPUT, **{argument: {name: value}})  # type: ignore[arg-type]


@pytest.mark.parametrize("value", [2, 2.0, "2", "1 + 1", np.int64(2), np.float32(2), Fraction(2)])
def test_numbers_of_every_kind_are_values(value: float | str) -> None:
    by_input = serq.run(serq.compile(source=INPUT, sets={"a": value}), horizon=50)
    by_definition = serq.run(serq.compile(source=INPUT, defs={"f": value}), horizon=50)
    assert (
        by_input.gauges["g"].mean
        == by_input.observes["seen"].mean
        == by_definition.observes["seen"].mean
        == 2
    )


@pytest.mark.parametrize(("argument", "code"), [("sets", "SQ0254"), ("defs", "SQ0214")])
@pytest.mark.parametrize("name", ["b", "", 3, None, ("a", "b")])
def test_a_name_of_nothing_is_refused(argument: str, code: str, name: object) -> None:
    (complaint,) = serq.check_program(source=INPUT, **{argument: {name: 1}})  # type: ignore[arg-type]
    assert complaint.code == code


@pytest.mark.parametrize("values", ["a=1", 3, [("a", 1)]])
def test_values_have_names(values: object) -> None:
    for argument in ("sets", "defs"):
        with pytest.raises(TypeError, match=f"{argument} is a mapping from names to values, not "):
            serq.compile(source=INPUT, **{argument: values})  # type: ignore[arg-type]


def test_what_a_report_does_not_have_is_told_with_what_it_has() -> None:
    report = serq.run(serq.compile(source=INPUT), horizon=50)
    asked: dict[str, Callable[[], object]] = {
        "no client time `tfft` in this report; did you mean `ttft`? It has `ttft`, `tpot`, `response`":
            lambda: report.client["tfft"],
        "no observation `x` in this report; it has `seen`": lambda: report.observes["x"],
        "no gauge `x` in this report; it has `g`": lambda: report.gauges["x"],
        "no stage `z` in this report; it has `z[0]`, `z[1]`": lambda: report.stage("z"),
        "no stage `z[2]` in this report; it has `z[0]`, `z[1]`": lambda: report.stage("z", 2),
        "no pool `kv` in this report: the program has none": lambda: report.pool("kv"),
        "no claim `c` in this report: the program has none": lambda: report.claim("c"),
    }  # fmt: skip
    for words, ask in asked.items():
        with pytest.raises(KeyError) as error:
            ask()
        assert error.value.args == (words,)
    assert report.client.get("tfft") is None
    assert pickle.loads(pickle.dumps(report)) == report


def test_a_replaced_body_that_uses_itself_has_its_own_place() -> None:
    (complaint,) = serq.check_program(source=INPUT, defs={"f": "2 * f(x)"})
    assert complaint.at is not None
    assert (complaint.code, complaint.at.file, complaint.at.column) == ("SQ0212", "--def f", 5)
    assert "  1 | 2 * f(x)\n    |     ^" in show_diagnostic(complaint)
