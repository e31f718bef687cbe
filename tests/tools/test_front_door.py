"""The Python interface: what it takes, returns and raises."""

from __future__ import annotations

import math
from pathlib import Path

import pytest

import serq

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
    heard: list[float] = []
    serq.run(serq.compile(source=GOOD), horizon=1e6, progress=heard.append)
    assert heard == sorted(heard)
    assert all(0 <= now <= 1e6 for now in heard)


def test_names_that_are_not_there() -> None:
    with pytest.raises(AttributeError, match="nonsense"):
        serq.nonsense  # type: ignore[attr-defined]
