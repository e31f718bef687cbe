"""Scheduling programs: what loops, tags, arrays and aggregates over requests do, on both machines."""

from __future__ import annotations

import sys

import pytest

import serq
from serq.machine.loop import Machine
from serq.machine.settings import Settings
from serq.machine.stages.steady import EachRequest, SteadyRuns
from tests.machine.test_plain import check, fast
from tests.support import build
from tests.support.amounts import thinned
from tests.support.scheduling import scheduling_program

SAMPLES = 120
MORE = 2_000


def check_seed(seed: int, bare: bool = False) -> None:
    check(serq.compile(source=scheduling_program(seed, bare)), Settings(30.0))


@pytest.mark.parametrize("seed", thinned(range(SAMPLES)))
def test_a_random_program_runs_the_same_on_both_machines(seed: int) -> None:
    check_seed(seed)


@pytest.mark.parametrize("seed", thinned(range(SAMPLES // 2)))
def test_a_random_schedule_without_loops_runs_the_same_on_both_machines(seed: int) -> None:
    check_seed(seed, bare=True)


@pytest.mark.slow
@pytest.mark.parametrize("block", range(SAMPLES, MORE, 100))
def test_many_random_programs_run_the_same_on_both_machines(block: int) -> None:
    for seed in range(block, min(block + 100, MORE)):
        check_seed(seed)


# ---------------------------------------------------------------- worked out by hand


def program(
    schedule: str,
    items: str = "",
    lens: str = "3, 1, 2",
    slots: int = 2,
    cap: str = "inf",
    more: str = "",
    work: str = "run e decode (cost(e, o));",
    arrive: str = "batch(length(lens))",
    lets: str = "",
) -> str:
    return f"""
use "std/args";
fn main() {{
  let lens = args.numbers("lens", [{lens}]);
  {lets}
  device gpu {{ }}
  engine e on gpu {{ slots cap {slots}; tokens cap {cap}; {items} schedule {{ {schedule} }} execute (1); }}
  pool slots on e {{ }}
  workload {{ arrive {arrive}; init {{ set o = lens[serial]; }} }}
  server {{ hold slots (cost(slots, 1)) {{ observe start = now; {work} observe completion = now; }} }}
  {more}
}}
"""


def samples(source: str, name: str, **sets: object) -> list[float]:
    """The samples of an observation by session, the same on both machines."""
    compiled = serq.compile(source=source, sets=sets)  # type: ignore[arg-type]
    check(compiled, Settings(100.0))
    report = serq.run(compiled, horizon=100)
    found = report.observes[name]
    return [value for _, value in sorted(zip(found.sessions, found.samples, strict=True))]


def test_requests_are_admitted_in_the_order_of_a_loop() -> None:
    longest_first = "advance running; for r in waiting by (-r.o, r.serial) { admit r; }"
    assert samples(program(longest_first), "start") == [0, 2, 0]
    shortest_first = "advance running; for r in waiting by (r.o) { admit r; }"
    assert samples(program(shortest_first), "start") == [1, 0, 0]


def test_ties_go_by_the_queue() -> None:
    schedule = "advance running; for r in waiting by (0) { admit r; break; }"
    assert samples(program(schedule, lens="1, 1, 1", slots=1), "start") == [0, 1, 2]


def test_where_picks_who_is_looped_over() -> None:
    schedule = "advance running; for r in waiting where (r.o < 3 || running.count == 0) { admit r; }"
    # The first is 3 long, and nothing runs as the loop starts at 0.
    assert samples(program(schedule, slots=3), "start") == [0, 0, 0]
    schedule = "advance running; for r in waiting where (r.o < 3) { admit r; } branch (running.count == 0) {"
    schedule += " admit waiting; }"
    assert samples(program(schedule, slots=3), "start") == [2, 0, 0]


def test_one_request_is_advanced_at_a_time() -> None:
    schedule = "for r in running by (r.remaining) { advance r; break; } admit waiting;"
    # At 0 all three get their first token as they are admitted; then the shortest that is left goes first.
    assert samples(program(schedule, slots=3), "completion") == [4, 1, 2]


def test_a_request_is_served_once_in_an_iteration() -> None:
    schedule = "for r in running { advance r; advance r; } advance running; admit waiting;"
    assert samples(program(schedule, slots=3), "completion") == [3, 1, 2]


def test_an_admission_that_does_not_fit_does_nothing() -> None:
    schedule = """advance running;
      for r in waiting { admit r; branch (r.admitted) { set yes = yes + 1; } else { set no = no + 1; } }"""
    source = program(schedule, "state yes = 0; state no = 0;", more="gauge yes = yes; gauge no = no;")
    report = serq.run(serq.compile(source=source), horizon=10)
    # Two at once and one that does not fit; at 1 the second is done, and the third fits.
    assert (report.gauges["yes"].max, report.gauges["no"].max) == (3, 1)


def test_tags_stay_with_a_request_while_it_waits_and_runs() -> None:
    schedule = """advance running;
      for r in waiting by (r.o) where (r.rank < 0) { set n = n + 1; set r.rank = n; }
      for r in waiting by (r.rank) { admit r; }"""
    more = "claim ranked: every iteration of e (min r in running (r.rank) >= 1);"
    more += " claim all_of_them: some iteration of e (sum r in running (r.rank)"
    more += " + sum r in waiting (r.rank) == 6);"
    source = program(schedule, "state n = 0; tag rank = -1;", more=more)
    assert samples(source, "start") == [1, 0, 0]
    report = serq.run(serq.compile(source=source), horizon=10)
    assert [c.result for c in report.claims] == ["holds", "witnessed"]


def test_an_attempt_that_comes_to_nothing_is_undone() -> None:
    # Nobody is admitted before 5, when the third arrives; the two attempts before it set nothing.
    schedule = """for r in waiting { set r.seen = r.seen + 1; set n = n + 1; }
      branch (waiting.count == 3) { admit waiting; } advance running;"""
    source = program(
        schedule, "state n = 0; tag seen = 0;", slots=3, arrive="at (times)", lets="let times = [0, 3, 5];",
        more="claim once: every iteration of e (max r in running (r.seen) <= 1 && n <= 3);",
    )  # fmt: skip
    assert samples(source, "start") == [5, 5, 5]
    assert serq.run(serq.compile(source=source), horizon=10).claim("once").result == "holds"


def test_arrays_are_indexed_from_0_and_checked() -> None:
    schedule = "advance running; admit waiting; for j in 3 { set load[j] = load[j] + j; }"
    more = "gauge total = sum j in 3 (load[j]);"
    source = program(schedule, "state load[3] = 1;", more=more)
    report = serq.run(serq.compile(source=source), horizon=10)
    assert report.gauges["total"].max == 3 + 3 * (0 + 1 + 2)
    bad = program(schedule.replace("load[j] + j", "load[j + 1]"), "state load[3] = 1;")
    found, _ = fast(serq.compile(source=bad), Settings(10.0))
    assert isinstance(found, str)
    assert "there is no number 3 in `load`, which has 3 (at time 0)" in found


def test_arrays_need_no_loop() -> None:
    schedule = (
        "advance running; admit waiting; set load[1] = 7; set k = k + load[1];"
        "branch (k >= 14) { set load[k - 14] = 9; }"
    )
    more = """claim first: every iteration of e (load[0] == (k > 14 ? 9 : 0) || k == 14);
              claim second: every iteration of e (load[1] == 7);"""
    source = program(schedule, "state load[3] = 0; state k = 0;", lens="2, 2", more=more)
    check(serq.compile(source=source), Settings(10.0))
    report = serq.run(serq.compile(source=source), horizon=10)
    assert [report.claim(name).result for name in ("first", "second")] == ["holds", "holds"]
    outside, _ = fast(serq.compile(source=source.replace("k - 14", "k")), Settings(10.0))
    assert isinstance(outside, str)
    assert "there is no number 14 in `load`, which has 3 (at time 1)" in outside


def test_the_size_of_an_array_may_be_an_input() -> None:
    schedule = "advance running; admit waiting; for j in N { set load[j] = 1; }"
    lets = 'let N = args.number("N", 2);'
    source = program(schedule, "state load[N] = 0;", lets=lets, more="gauge all = sum j in N (load[j]);")
    for size in (2, 5):
        report = serq.run(serq.compile(source=source, sets={"N": size}), horizon=10)
        assert report.gauges["all"].max == size


def test_arrays_are_filled_and_progress_is_added_up() -> None:
    """What is written as a loop or a sum and done at once, against the plain machine."""
    schedule = (
        "advance running; for j in 2 { set load[j] = 4; set room[j] = 0; } set load[1] = load[1] + 1;"
        "set gap = sum r in batch (max q in batch (q.progress) - r.progress);"
        "set done = done + sum r in running (r.progress - 2) + sum r in running (1 + r.progress);"
        "for r in waiting by (-r.o) where (r.o != 2) { admit r; } for r in waiting { admit r; }"
    )
    more = "claim c: every iteration of e (load[0] == 4 && load[1] == 5 && load[2] == 1 && gap < 3);"
    for work in (
        "run e decode (cost(e, o));",
        "run e prefill (cost(e, o)); run e decode (cost(e, 0.5 + o));",
    ):
        for cap in ("inf", "2", "1.25"):
            items = "state load[3] = 1; state room[2] = 0; state gap = 0; state done = 0;"
            source = program(
                schedule, items, "3, 1, 2, 6, 2, 4", cap=cap, work=work, more=more + "gauge g = done;"
            )
            check(serq.compile(source=source), Settings(40.0))
    assert (
        serq.run(serq.compile(source=program(schedule, items, more=more)), horizon=9).claim("c").failures == 0
    )


def test_a_loop_that_is_left_early_costs_no_more_with_more_who_wait() -> None:
    def calls(waiting: int) -> int:
        """Python functions called while all are served, one at a time."""
        loop = "for r in waiting by (-r.o, r.serial) where (r.o > 0) { admit r; break; }"
        lens = ", ".join(str(1 + k * 7 % 5) for k in range(waiting))
        compiled = serq.compile(source=program(f"advance running; {loop}", lens=lens, slots=1))
        count = 0

        def look(_: object, event: str, __: object) -> None:
            nonlocal count
            count += event == "call"

        sys.setprofile(look)
        try:
            serq.run(compiled, horizon=1e4)
        finally:
            sys.setprofile(None)
        return count

    assert calls(400) < 2.5 * calls(200)


def test_an_order_follows_who_comes_and_is_preempted() -> None:
    schedule = "advance running; for r in waiting by (r.o / 2, -r.serial) where (r.o < 9) { admit r; break; }"
    for arrive in ("at (times)", "renewal(2)", "closed(3)"):
        source = program(
            schedule,
            slots=2,
            arrive=arrive,
            lens=", ".join("4513251532"),
            lets="let times = [0, 0, 1, 1, 2, 6];",
        ).replace("lens[serial]", "lens[serial - 10 * floor(serial / 10)]")
        check(serq.compile(source=source), Settings(60.0))


@pytest.mark.parametrize(
    ("loop", "says"),
    [
        ("by (r.o / 0 - r.o / 0)", "a key of this loop is NaN (at time 0)"),
        ("by (r.serial, 0 / (r.o - 2))", "a key of this loop is NaN (at time 0)"),
        ("where (r.o)", "the guard is 3, which is neither 0 nor 1 (at time 0)"),
        ("where (0 / (r.serial - 1))", "the guard is nan, which is neither 0 nor 1 (at time 0)"),
    ],
)
def test_what_picks_and_sorts_is_a_test_and_a_number(loop: str, says: str) -> None:
    compiled = serq.compile(source=program(f"advance running; for r in waiting {loop} {{ admit r; }}"))
    check(compiled, Settings(10.0))
    found, _ = fast(compiled, Settings(10.0))
    assert isinstance(found, str)
    assert says in found


def test_loops_that_pass_a_million_times_are_named() -> None:
    source = program(
        "advance running; admit waiting; for i in 1001 { for j in 1000 { set n = j; } }", "state n = 0;"
    )
    found, _ = fast(serq.compile(source=source), Settings(10.0))
    assert isinstance(found, str)
    assert "SQ0646" in found
    line, column = map(int, found.split(":")[1:3])
    assert source.splitlines()[line - 1][column - 1 :].startswith("for j in 1000")


def test_progress_counts_over_the_runs_of_one_admission() -> None:
    work = "run e prefill (cost(e, 2)); run e decode (cost(e, o));"
    more = "claim reached: some iteration of e (max r in batch (r.progress) == 4);"
    more += " claim most: every iteration of e (max r in batch (r.progress) <= 4);"
    source = program("advance running; admit waiting;", work=work, more=more)
    check(serq.compile(source=source), Settings(100.0))
    report = serq.run(serq.compile(source=source), horizon=100)
    assert [c.result for c in report.claims] == ["witnessed", "holds"]


def test_aggregates_over_nobody_are_0() -> None:
    names = {"most": "max", "least": "min", "total": "sum", "many": "count"}
    more = " ".join(f"gauge {name} = {kind} r in running (7);" for name, kind in names.items())
    source = program("advance running; admit waiting;", more=more)
    report = serq.run(serq.compile(source=source), horizon=10)
    assert {name: (g.min, g.max) for name, g in report.gauges.items()} == {
        "most": (0, 7), "least": (0, 7), "total": (0, 14), "many": (0, 2),
    }  # fmt: skip


def test_arrivals_at_given_times() -> None:
    schedule = "advance running; admit waiting;"
    source = program(schedule, arrive="at (times)", lets="let times = [0, 0, 4.5];", lens="1, 3, 1")
    assert samples(source, "start") == [0, 0, 4.5]


def test_a_list_is_an_input() -> None:
    source = program("advance running; admit waiting;", slots=9)
    assert samples(source, "completion") == [3, 1, 2]
    assert samples(source, "completion", lens=[2, 5]) == [2, 5]
    assert samples(source, "completion", lens="2, min(7, 5), 1") == [2, 5, 1]
    assert samples(source, "completion", lens="[4]") == [4]
    assert samples(source, "completion", lens=4) == [4]


def test_runs_that_memory_grows_with_are_visited_one_by_one() -> None:
    source = program("advance running; admit waiting;", more="gauge p = max r in running (r.progress);")
    machine = Machine(serq.compile(source=source), Settings(10.0))
    (engine,) = machine.engines
    assert isinstance(engine.residents, SteadyRuns)
    halves = program(
        "advance running; admit waiting;", lens="0.5, 2", more="gauge p = max r in running (r.progress);"
    )
    machine = Machine(serq.compile(source=halves), Settings(0.5))
    machine.run()
    (engine,) = machine.engines
    assert isinstance(engine.residents, EachRequest)


@pytest.mark.parametrize(
    ("schedule", "shown"),
    [
        ("advance running; set f[1] = batch.tokens;", [1, 4, 1]),
        ("set f[n] = f[n] + 9 + n; set n = n > 1 ? 0 : n + 1; advance running;", [1, 11, 1]),
        ("for j in 3 { set f[j] = j; } for r in running { advance r; }", [0, 1, 2]),
    ],
)
def test_one_of_an_array_of_registers_is_set(schedule: str, shown: list[int]) -> None:
    """With a constant index and with one that varies, in every way to run a schedule."""
    tests = " && ".join(f"f[{k}] == {value}" for k, value in enumerate(shown))
    source = build.program(
        "run e prefill (cost(e, 9));",
        f"claim first: some iteration of e (now == 0 && {tests});",
        arrive="batch(2)",
        engine=build.engine(schedule, more="state f[3] = 1; state n = 1;"),
    )
    compiled = serq.compile(source=source)
    check(compiled, Settings(20.0))
    assert serq.run(compiled, horizon=20).claim("first").result == "witnessed"
