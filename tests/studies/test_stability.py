"""Stable, unstable, and the edge between them, where it is known."""

from __future__ import annotations

import inspect
import json
import math
import time
from pathlib import Path

import pytest

import serq
from serq.machine.fused.fragment import find_fused
from serq.studies.capacity import arrival_rate, expected, most_tokens_per_time
from serq.studies.course import Course, FollowSeeds, watch_course
from serq.studies.looks import Patience, look_at
from serq.tools.cli import run_command
from serq.tools.studying import judge_stability
from tests.support.amounts import thinned

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
    thinned(
        [
            ("poisson(rate)", "~exp(1)"),
            ("poisson(rate)", "1"),
            ("renewal(1 / rate)", "~lognormal(1, 1)"),
            ("renewal(1 / rate)", "1"),
            ("slotted(5, ~poisson(5 * rate))", "1"),
            ("gamma(rate, 2)", "1"),
        ]
    ),
)
def test_a_server_is_stable_below_its_rate_and_not_above(arrive: str, work: str) -> None:
    """Work of mean 1: the edge is at rate 1 whatever the laws (Loynes)."""
    assert verdict(desk(arrive, work), 0.8) == "stable"
    assert verdict(desk(arrive, work), 1.25) == "unstable"


def test_far_from_the_edge_a_few_arrivals_are_enough() -> None:
    for rate, word, arrivals in ((0.3, "stable", 200), (5, "unstable", 400)):
        found = serq.stability(serq.compile(source=desk(), sets={"rate": rate}))
        assert (found.verdict, found.looks[-1].arrivals) == (word, arrivals)


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


@pytest.mark.slow
def test_filling_up_is_not_growth() -> None:
    """Sessions that stay for 1000 arrivals: the first runs only grow, and it is stable all the same."""
    source = (
        desk(work="1").replace("stage desk : fifo", "stage desk : delay").replace("desk, 1", "desk, 1000")
    )
    found = serq.stability(serq.compile(source=source, sets={"rate": 1}))
    assert found.looks[0].growth.mean > 0.9
    assert found.verdict == "stable"


LONG_STAYS = {
    "an answer lasts 120 arrivals": """use "std/args";
      fn main() {
        let rate = args.number("rate", 0.12);
        device gpu { }
        engine llm on gpu { tokens cap 256; schedule { advance running decode first; } execute (10); }
        workload { arrive poisson(rate); init { set answer = ~geometric(1 / 100); } }
        server { run llm prefill (cost(llm, 50)); run llm decode (cost(llm, answer)); }
      }""",
    "somebody stays 150 arrivals": desk("poisson(1)", "~exp(150)").replace(
        "stage desk : fifo", "stage desk : delay"
    ),
    "half of them stay 500 arrivals": desk("poisson(1)", "~bernoulli(0.5) ? 0.1 : 500").replace(
        "stage desk : fifo", "stage desk : delay"
    ),
}
"""Programs that are far from full, and fill up for a long time."""


@pytest.mark.parametrize("seed", thinned([1, 100, 200], 3))
@pytest.mark.parametrize("what", thinned(LONG_STAYS, 3))
def test_a_system_in_which_sessions_stay_long_is_not_unstable(what: str, seed: int) -> None:
    program = serq.compile(source=LONG_STAYS[what])
    found = serq.stability(program, seed=seed, seeds=8, resolution=0.2)
    assert found.looks[0].growth.mean > 0.1
    assert found.verdict == "stable"


@pytest.mark.slow
def test_the_edge_of_an_engine_with_long_answers_is_at_its_bound() -> None:
    """256 tokens in 10, over 50 + 100 tokens for each session."""
    edge = serq.find_edge(
        source=LONG_STAYS["an answer lasts 120 arrivals"], parameter="rate", low=0.01, high=0.4, jobs=2
    )
    assert edge.stable is not None and edge.unstable is not None
    assert edge.stable <= 1.03 * 25.6 / 150
    assert edge.unstable >= 0.97 * 25.6 / 150


@pytest.mark.slow
@pytest.mark.parametrize("seed", [1, 100, 200, 300])
def test_a_burst_is_not_growth(seed: int) -> None:
    """The last arrival that is looked at comes amid those of its slot, but they all go within it."""
    program = serq.compile(source=desk("slotted(100, ~poisson(100 * rate))"), sets={"rate": 0.9})
    assert serq.stability(program, seed=seed).verdict == "stable"


@pytest.mark.slow
@pytest.mark.parametrize(
    ("bursts", "work"),
    [
        ("~table(0: 0.9, 1000: 0.1)", "~exp(5)"),
        ("~table(0: 0.99, 500: 0.01)", "~exp(100)"),
        ("~table(0: 0.999, 1000: 0.001)", "~exp(500)"),
    ],
)
def test_arrivals_of_one_burst_are_no_evidence(bursts: str, work: str) -> None:
    """Half of what the server can do, but the first 500 or more come at one instant."""
    program = serq.compile(source=desk(f"slotted(1000, {bursts})", work))
    found = serq.stability(program, seeds=8, most_events=400_000)
    assert found.verdict != "unstable"
    assert found.looks[0].growth.mean > 0.9 and len(found.looks) > 1


def test_a_shared_engine_that_serves_everyone_may_be_unstable() -> None:
    """Everybody gets a token in every iteration, and iterations get longer and longer."""
    source = """use "std/args";
      fn main() {
        let rate = args.number("rate", 0.1);
        device gpu { }
        engine llm on gpu {
          tokens cap 1000000; schedule { advance running; } execute (1 + 0.05 * batch.tokens);
        }
        workload { arrive poisson(rate); init { set answer = ~geometric(1 / 20); } }
        server { run llm prefill (cost(llm, 100)); run llm decode (cost(llm, answer)); }
      }"""
    assert serq.stability(serq.compile(source=source), resolution=0.2).verdict == "stable"
    assert serq.stability(serq.compile(source=source, sets={"rate": 0.2})).verdict == "unstable"


def test_sessions_that_never_go_are_not_waited_for() -> None:
    """The first waits for more than it has left, and all others for the first."""
    source = """fn main() {
      device gpu { kv cap 10; }
      stage desk : delay;
      pool kv on gpu { }
      workload { arrive poisson(1); }
      server { hold kv (cost(kv, 6)) { hold kv (cost(kv, 5)) { run desk (cost(desk, 0.1)); } } }
    }"""
    found = serq.stability(serq.compile(source=source))
    assert found.verdict == "unstable"


def test_the_number_of_processes_changes_nothing() -> None:
    program = serq.compile(source=desk(), sets={"rate": 0.5})
    assert serq.stability(program, jobs=2) == serq.stability(program)


def test_a_bound_on_events_ends_the_search() -> None:
    program = serq.compile(source=desk(), sets={"rate": 1})
    found = serq.stability(program, most_events=30_000)
    assert found.verdict == "undecided"
    assert found.events <= 30_000
    assert "--most-events" in found.reason


def test_the_bound_on_events_is_one_number() -> None:
    options = {option.name: option.default for option in judge_stability.params}
    defaults = [options["most_events"], Patience().most_events]
    for function in (serq.stability, serq.find_edge):
        defaults.append(inspect.signature(function).parameters["most_events"].default)
    assert len(set(defaults)) == 1, defaults


def course_of(program: serq.Program, seed: int, arrivals: int) -> Course:
    """One run, as a study follows it."""
    course = FollowSeeds.of(program).start()((seed, arrivals, 10**9))
    assert course is not None
    return course


# ---------------------------------------------------------------- who seldom comes

TWO_LINES = """use "std/args";
fn main() {
  let load = args.number("load", 2);
  let share = args.number("share", 0.01);
  stage often : fifo;
  stage seldom : fifo;
  workload { arrive poisson(0.5); init { set rare = ~bernoulli(share); } }
  server {
    branch (rare == 1) { run seldom (cost(seldom, 2 * load / share)); } else { run often (cost(often, 1)); }
  }
}
"""


def judged(source: str, **sets: float) -> serq.Stability:
    return serq.stability(serq.compile(source=source, sets=sets))


@pytest.mark.parametrize("seed", thinned([1, 50]))
def test_a_line_that_grows_is_found_however_few_come_to_it(seed: int) -> None:
    """Half of those who come to it are never served, which is 1.5 % of all."""
    found = serq.stability(serq.compile(source=TWO_LINES, sets={"share": 0.03}), seed=seed)
    assert found.verdict == "unstable"
    assert found.reason == "the line at seldom grows as long as jobs come to it"


@pytest.mark.slow
def test_a_line_is_stable_when_its_own_load_is_small() -> None:
    assert judged(TWO_LINES, load=0.3).verdict == "stable"
    assert judged(TWO_LINES, share=0).verdict == "stable"  # nobody ever comes there


def test_a_line_to_which_too_few_come_is_not_called_stable() -> None:
    found = serq.stability(serq.compile(source=TWO_LINES, sets={"share": 0.0001}), most_events=50_000)
    assert found.verdict == "undecided"
    assert "at seldom are too few to tell whether its line grows; longer runs" in found.reason


POOLED = """use "std/args";
fn main() {
  let load = args.number("load", 2);
  stage desk : delay;
  pool keys { cap 1; }
  workload { arrive poisson(1); init { set rare = ~bernoulli(0.02); } }
  server { branch (rare == 1) { hold keys (cost(keys, 1)) { run desk (cost(desk, 50 * load)); } } }
}
"""


@pytest.mark.parametrize(("load", "word"), thinned([(0.4, "stable"), (2, "unstable")]))
def test_the_line_of_a_pool_counts_too(load: float, word: str) -> None:
    assert judged(POOLED, load=load).verdict == word


STARVED = """fn main() {
  device gpu { }
  engine llm on gpu { tokens cap 8; schedule { SCHEDULE } execute (1); }
  workload { arrive poisson(0.1); init { set rare = ~bernoulli(0.01); } }
  server { run llm prefill (cost(llm, 10)); }
}
"""


def test_whoever_is_never_served_keeps_a_system_from_being_stable() -> None:
    """The backlog grows by 1 % of the arrivals only, but those of the class never go."""
    never = serq.compile(source=STARVED.replace("SCHEDULE", "advance running only (rare == 0);"))
    found = serq.stability(never, most_events=100_000)
    assert found.verdict == "undecided"
    assert found.reason.startswith("the oldest sessions in the backlog grow older, and may never go")
    assert found.looks[-1].oldest.mean > 0.5
    last = serq.compile(source=STARVED.replace("SCHEDULE", "advance running by (rare);"))
    assert serq.stability(last).verdict == "stable"


@pytest.mark.parametrize("arrive", ["slotted(10, 0)", "slotted(10, ~poisson(0))", "slotted(10, 0 * ~exp(1))"])
def test_a_stream_that_brings_nobody_is_refused(arrive: str) -> None:
    with pytest.raises(serq.ProgramError) as refused:
        serq.stability(serq.compile(source=desk(arrive)))
    assert [d.code for d in refused.value.diagnostics] == ["SQ0938"]


@pytest.mark.parametrize("source", [desk("slotted(10, floor(~uniform(0, 1)))"), ENGINE.replace(
    "poisson(load * 4 / 20)", "slotted(10, floor(~uniform(0, 1)))")])  # fmt: skip
def test_slots_that_bring_nobody_end_at_the_bound(source: str) -> None:
    found = serq.stability(serq.compile(source=source), most_events=50_000)
    assert (found.verdict, found.looks, found.backlog) == ("undecided", (), None)
    assert "--most-events" in found.reason


@pytest.mark.parametrize("jobs", [1, 2])
def test_the_time_ends_the_search(jobs: int) -> None:
    """A server right at its edge, which would take much longer."""
    program = serq.compile(source=desk(), sets={"rate": 1})
    begun = time.monotonic()
    found = serq.stability(program, seconds=0.5, jobs=jobs, most_events=10**9)
    assert time.monotonic() - begun < 10
    assert found.verdict == "undecided"
    assert "--time" in found.reason


def test_the_time_ends_the_search_for_an_edge() -> None:
    edge = serq.find_edge(source=desk(), parameter="rate", low=0.1, high=5, seconds=0.7, resolution=0.001)
    assert not edge.in_time


def test_a_control_variable_narrows_the_growth_of_an_overloaded_system() -> None:
    program = serq.compile(source=desk(work="1"), sets={"rate": 1.5})
    courses = [course_of(program, seed, 800) for seed in range(1, 13)]
    plain = look_at(courses, 800, None, Patience()).growth
    controlled = look_at(courses, 800, 1.5, Patience()).growth
    assert (plain.controlled, controlled.controlled) == (False, True)
    assert controlled.low <= 1 / 3 <= controlled.high  # 1 - 1/1.5
    assert controlled.high - controlled.low < 0.2 * (plain.high - plain.low)


@pytest.mark.parametrize("arrive", ["poisson(load * 4 / 20)", "slotted(20, ~poisson(load * 4))"])
@pytest.mark.parametrize("load", [0.9, 1.2])
def test_a_course_is_the_same_watched_or_read_from_records(arrive: str, load: float) -> None:
    source = ENGINE.replace("poisson(load * 4 / 20)", arrive)
    program = serq.compile(source=source, sets={"load": load})
    assert not isinstance(find_fused(program), str)
    for seed in (1, 2):
        read, watched = course_of(program, seed, 600), watch_course(program, seed, 600)
        assert read.marks == watched.marks
        assert read.drain == pytest.approx(watched.drain, rel=1e-9)
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
    course = course_of(program, 1, 400)
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


def test_a_coarse_search_ends_soon() -> None:
    """Loads within half of the edge may get any verdict, but none takes long."""
    edge = serq.find_edge(source=desk(), parameter="rate", low=0.2, high=2, resolution=0.5)
    assert edge.stable is not None and edge.unstable is not None
    assert edge.stable < 1.5 and edge.unstable > 0.5
    assert max(probe.found.looks[-1].arrivals for probe in edge.probes) <= 6400


@pytest.mark.slow
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


@pytest.mark.parametrize(
    ("range_", "fault"),
    [
        ("rate=10:inf", "`inf` is not a finite number"),
        ("rate=60:10", "60 is not below 10"),
        ("rate=1", "it is not of this form"),
        ("rate=1:2", "rate is set to 3 as well"),
    ],
)
def test_the_fault_of_a_range_is_named(
    file: Path, range_: str, fault: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run_command(["stability", str(file), "--param", range_, "--set", "rate=3"]) == 2
    assert fault in capsys.readouterr().err
