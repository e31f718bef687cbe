"""Stable, unstable, and the edge between them, where it is known."""

from __future__ import annotations

import json
import math
from pathlib import Path

import pytest

import serq
from serq.machine.fused.fragment import find_fused
from serq.studies.capacity import arrival_rate, expected, most_tokens_per_time
from serq.studies.course import FollowSeeds, watch_course
from serq.studies.stability import Patience, look_at
from serq.tools.cli import run_command

DESK = """use "std/args";
fn main() {
  let rate = args.number("rate", 0.5);
  stage desk : fifo;
  workload { arrive ARRIVE; }
  server { run desk (cost(desk, WORK)); }
}
"""


def desk(arrive: str = "poisson(rate)", work: str = "~exp(1)") -> str:
    return DESK.replace("ARRIVE", arrive).replace("WORK", work)


def verdict(source: str, rate: float, seed: int = 1) -> str:
    return serq.stability(serq.compile(source=source, sets={"rate": rate}), seed=seed).verdict


@pytest.mark.parametrize(
    ("arrive", "work"),
    [
        ("poisson(rate)", "~exp(1)"),
        ("poisson(rate)", "1"),
        ("renewal(1 / rate)", "~lognormal(1, 1)"),
        ("renewal(1 / rate)", "1"),
        ("slotted(5, ~poisson(5 * rate))", "1"),
        ("gamma(rate, 2)", "1"),
    ],
)
def test_a_server_is_stable_below_its_rate_and_not_above(arrive: str, work: str) -> None:
    """Work of mean 1: the edge is at rate 1 whatever the laws (Loynes)."""
    assert verdict(desk(arrive, work), 0.8) == "stable"
    assert verdict(desk(arrive, work), 1.25) == "unstable"


def test_far_from_the_edge_a_few_arrivals_are_enough() -> None:
    for rate, word in ((0.3, "stable"), (5, "unstable")):
        found = serq.stability(serq.compile(source=desk(), sets={"rate": rate}))
        assert (found.verdict, found.looks[-1].arrivals) == (word, 200)


def test_returns_are_those_of_a_single_server() -> None:
    """M/M/1: the mean time between two arrivals to an empty system is 1 / (rate (1 - rate))."""
    found = serq.stability(serq.compile(source=desk(), sets={"rate": 0.7}), seeds=30)
    assert found.returns > 300
    assert found.cycle is not None and found.cycle_ci is not None
    assert abs(found.cycle - 1 / (0.7 * 0.3)) < 2 * found.cycle_ci


ENGINE = """use "std/args";
fn main() {
  let load = args.number("load", 0.9);
  device gpu { }
  engine llm on gpu {
    tokens cap 8;
    schedule { advance running decode first; }
    execute (1 + batch.tokens / 8);
  }
  workload { arrive poisson(load * 4 / 20); }
  server { run llm prefill (cost(llm, 15)); run llm decode (cost(llm, 5)); }
}
"""


def test_an_engine_is_as_fast_as_its_bound() -> None:
    """A full batch of 8 takes 2; a request brings 20 tokens, so load 1 is at 4/20 requests."""
    for load, word in ((0.85, "stable"), (1.15, "unstable")):
        found = serq.stability(serq.compile(source=ENGINE, sets={"load": load}))
        assert found.verdict == word
        assert found.token_rate == 4
        assert found.load == pytest.approx(load, rel=0.05)


def test_filling_up_is_not_growth() -> None:
    """Sessions that stay for 1000 arrivals: the first runs only grow, and it is stable all the same."""
    source = (
        desk(work="1").replace("stage desk : fifo", "stage desk : delay").replace("desk, 1", "desk, 1000")
    )
    found = serq.stability(serq.compile(source=source, sets={"rate": 1}))
    assert found.looks[0].growth > 0.9
    assert found.verdict == "stable"


def test_the_number_of_processes_changes_nothing() -> None:
    program = serq.compile(source=desk(), sets={"rate": 0.9})
    assert serq.stability(program, jobs=2) == serq.stability(program)


def test_a_bound_on_events_ends_the_search() -> None:
    program = serq.compile(source=desk(), sets={"rate": 1})
    found = serq.stability(program, most_events=30_000)
    assert found.verdict == "undecided"
    assert found.events <= 30_000


def test_a_control_variable_narrows_the_growth_of_an_overloaded_system() -> None:
    program = serq.compile(source=desk(work="1"), sets={"rate": 1.5})
    follow = FollowSeeds.of(program).start()
    courses = [follow((seed, 800)) for seed in range(1, 13)]
    plain = look_at(courses, 800, None, Patience())
    controlled = look_at(courses, 800, 1.5, Patience())
    assert (plain.controlled, controlled.controlled) == (False, True)
    assert controlled.low <= 1 / 3 <= controlled.high  # 1 - 1/1.5
    assert controlled.high - controlled.low < 0.2 * (plain.high - plain.low)


@pytest.mark.parametrize("arrive", ["poisson(load * 4 / 20)", "slotted(20, ~poisson(load * 4))"])
@pytest.mark.parametrize("load", [0.9, 1.2])
def test_a_course_is_the_same_watched_or_read_from_records(arrive: str, load: float) -> None:
    source = ENGINE.replace("poisson(load * 4 / 20)", arrive)
    program = serq.compile(source=source, sets={"load": load})
    assert not isinstance(find_fused(program), str)
    follow = FollowSeeds.of(program).start()
    for seed in (1, 2):
        read, watched = follow((seed, 600)), watch_course(program, seed, 600)
        assert read.marks == watched.marks
        # At the multiples of a slot sessions come and go at one instant, in either order.
        assert read.empties == watched.empties or "slotted" in arrive
        assert read.work == 20


@pytest.mark.parametrize("units", ["1 + (serial / 2 == floor(serial / 2))", "serial == 5 ? inf : 1"])
def test_whoever_is_rejected_is_gone_and_whoever_waits_in_vain_is_not(units: str) -> None:
    """A hold on more slots than there are is rejected; neither run tells it from its records alone."""
    runs = "run llm prefill (cost(llm, 15)); run llm decode (cost(llm, 5));"
    source = ENGINE
    for old, new in (
        ("tokens cap 8;", "tokens cap 8; slots cap 1;"),
        ("workload {", "pool slots on llm { } workload {"),
        ("schedule { advance", "schedule { admit waiting; advance"),
        (runs, f"hold slots (cost(slots, {units})) {{ {runs} }}"),
    ):
        source = source.replace(old, new)
    program = serq.compile(source=source, sets={"load": 0.2})
    course = FollowSeeds.of(program).start()((1, 400))
    assert course.marks == watch_course(program, 1, 400).marks


@pytest.mark.parametrize("arrive", ["closed(3)", "batch(3)", "none", "stages((1, 100))"])
def test_only_a_stream_can_be_stable(arrive: str) -> None:
    with pytest.raises(serq.ProgramError) as refused:
        serq.stability(serq.compile(source=desk(arrive)))
    assert [d.code for d in refused.value.diagnostics] == ["SQ0938"]


@pytest.mark.parametrize(
    "asked", [{"seeds": 3}, {"confidence": 1}, {"resolution": 0}, {"most_events": 0}, {"seed": -1}]
)
def test_meaningless_questions_are_refused(asked: dict[str, float]) -> None:
    with pytest.raises(serq.ProgramError) as refused:
        serq.stability(serq.compile(source=desk()), **asked)
    assert {d.code for d in refused.value.diagnostics} <= {"SQ0937", "SQ0923"}


# ---------------------------------------------------------------- edges


@pytest.mark.slow
def test_the_edge_of_a_server_is_at_its_rate() -> None:
    edge = serq.find_edge(source=desk(work="1"), parameter="rate", low=0.5, high=2)
    assert edge.stable is not None and edge.unstable is not None and edge.middle is not None
    assert edge.stable < edge.unstable
    assert abs(edge.middle - 1) <= 0.05


def test_an_edge_may_lie_the_other_way_round() -> None:
    source = desk("poisson(1)", "1 / rate")
    edge = serq.find_edge(source=source, parameter="rate", low=0.5, high=2)
    assert edge.stable is not None and edge.unstable is not None
    assert edge.stable > edge.unstable
    assert abs((edge.stable + edge.unstable) / 2 - 1) <= 0.05


def test_without_two_verdicts_there_is_no_edge() -> None:
    edge = serq.find_edge(source=desk(), parameter="rate", low=0.1, high=0.3)
    assert (edge.middle, edge.unstable, len(edge.probes)) == (None, None, 2)


# ---------------------------------------------------------------- told from the program


def arrivals_of(arrive: str) -> float | None:
    return arrival_rate(serq.compile(source=desk(arrive)))


def test_the_rate_of_a_stream_is_told_from_the_program() -> None:
    assert arrivals_of("poisson(0.3)") == 0.3
    assert arrivals_of("renewal(2 + ~erlang(3, 2))") == 0.25
    assert arrivals_of("renewal(~exp(6) / 3 - 1)") == 1
    assert arrivals_of("renewal(0.5 * ~uniform(2, 6))") == 0.5
    assert arrivals_of("gamma(0.2, 3)") == pytest.approx(0.2)
    assert arrivals_of("slotted(10, ~binomial(8, 0.5))") == 0.4
    assert arrivals_of("slotted(10, 3 + ~table(0: 0.5, 2: 0.5))") == 0.4
    assert arrivals_of("renewal(floor(~exp(6)) + 1)") is None
    assert arrivals_of("renewal(~exp(~exp(3)))") is None
    assert arrivals_of("closed(4)") is None


def test_expectations_of_what_is_not_plain_are_not_known() -> None:
    from serq.ir.expr import Binary, Draw, Num

    drawn = Draw("exp", (Num(2.0),))
    assert expected(Binary("*", drawn, drawn)) is None
    assert expected(Binary("/", Num(1.0), drawn)) is None
    assert expected(Binary("/", drawn, Num(0.0))) is None
    assert expected(Binary("*", Num(3.0), drawn)) == 6


def bound_of(cap: str, execute: str) -> float | None:
    source = ENGINE.replace("tokens cap 8", f"tokens cap {cap}").replace("1 + batch.tokens / 8", execute)
    return most_tokens_per_time(serq.compile(source=source))


def test_the_token_rate_bound_is_that_of_the_best_batch() -> None:
    assert bound_of("8", "1 + batch.tokens / 8") == 4
    assert bound_of("8", "batch.tokens <= 4 ? 1 : 10") == 4
    assert bound_of("300", "1 + ceil(batch.tokens / 128)") == pytest.approx(256 / 3)
    assert bound_of("8", "1 + running.count") is None
    assert bound_of("8", "1 + batch.decoding") is None
    assert bound_of("8", "~exp(1)") is None
    assert bound_of("inf", "1") is None
    assert bound_of("4 + queue(llm)", "1") is None
    assert most_tokens_per_time(serq.compile(source=desk())) is None


# ---------------------------------------------------------------- the command


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "desk.sq"
    path.write_text(desk(), encoding="utf-8")
    return path


@pytest.mark.parametrize(("rate", "status", "word"), [("0.4", 0, "stable"), ("3", 1, "unstable")])
def test_the_command_prints_its_verdict(
    rate: str, status: int, word: str, file: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    asked = ["stability", str(file), "--jobs", "1", "--set", f"rate={rate}"]
    assert run_command(asked) == status
    assert capsys.readouterr().out.startswith(f"{word}: the backlog ")
    assert run_command([*asked, "--json"]) == status
    document = json.loads(capsys.readouterr().out)
    assert document["verdict"] == word
    assert math.isclose(document["looks"][0]["arrivals"], 200)


def test_the_command_searches_for_an_edge(file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    asked = ["stability", str(file), "--jobs", "1", "--param", "rate=0.2:4", "--resolution", "0.3"]
    assert run_command(asked) == 0
    assert capsys.readouterr().out.startswith("edge: rate = ")
    assert run_command([*asked, "--json"]) == 0
    document = json.loads(capsys.readouterr().out)
    assert document["stable"] < document["middle"] < document["unstable"]
    assert run_command([*asked[:5], "rate=0.1:0.2"]) == 3
    assert capsys.readouterr().out.startswith("no edge found: rate is stable at 0.1 and stable at 0.2")


@pytest.mark.parametrize("range_", ["rate", "rate=1", "rate=2:1", "rate=a:b", "=1:2", "rate=1:inf"])
def test_a_range_that_is_none(file: Path, range_: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run_command(["stability", str(file), "--param", range_]) == 2
    assert "SQ0939" in capsys.readouterr().err


def test_a_parameter_that_is_no_input(file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run_command(["stability", str(file), "--param", "rat=1:2"]) == 1
    assert "SQ0254" in capsys.readouterr().err
