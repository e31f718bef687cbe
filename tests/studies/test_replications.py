"""Many seeds: the same figures however they are run, and figures that follow from the single runs."""

from __future__ import annotations

import json
import os
import re
import signal
import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

import serq
from serq.diagnostics import ProcessEnded
from serq.report.inference import student_t
from serq.report.show_replications import show_replications
from serq.studies.workers import results_in_order
from serq.tools.cli import run_command
from tests.support.amounts import thinned

ROOT = Path(__file__).parents[2]

PROGRAM = """fn main() {
  device gpu { forward (n) = 8 + 0.05 * n; }
  engine llm on gpu {
    tokens cap 512;
    schedule { advance running decode first; }
    execute (forward(batch.tokens));
  }
  workload { arrive poisson(0.01); init { set prompt = 1 + floor(~exp(400)); } }
  server { run llm prefill (cost(llm, prompt)); run llm decode (cost(llm, 20)); observe length = prompt; }
  gauge crowd = queue(llm);
  claim light: every iteration of llm (residents <= 8);
  claim short given (prompt < 2500): every iteration of llm (residents <= 20);
}
"""


@pytest.fixture(scope="module")
def program() -> serq.Program:
    return serq.compile(source=PROGRAM)


@pytest.fixture(scope="module")
def found(program: serq.Program) -> serq.Replications:
    return serq.replicate(program, horizon=5_000, warmup=500, seeds=6, seed=3)


def test_runs_are_those_of_their_seeds(program: serq.Program, found: serq.Replications) -> None:
    assert found.seeds == (3, 4, 5, 6, 7, 8)
    for seed, run in zip(found.seeds, found.runs, strict=True):
        assert run.to_dict() == serq.run(program, horizon=5_000, warmup=500, seed=seed).to_dict()


def test_a_figure_has_its_mean_interval_and_extremes(found: serq.Replications) -> None:
    means = [run.client["ttft"].mean for run in found.runs]
    row = found.figures["client.ttft.mean"]
    assert row.mean == pytest.approx(statistics.fmean(means))
    assert row.sd == pytest.approx(statistics.stdev(means))
    assert row.ci == pytest.approx(student_t(5) * statistics.stdev(means) / 6**0.5)
    assert (row.least, row.greatest) == (min(means), max(means))
    assert row.least_seed == found.seeds[means.index(min(means))]
    assert found.figures["stages.llm.utilization"].runs == 6
    assert found.figures["gauges.crowd.max"].greatest >= found.figures["gauges.crowd.mean"].greatest


def test_percentiles_are_of_all_samples(program: serq.Program, found: serq.Replications) -> None:
    runs = [serq.run(program, horizon=5_000, warmup=500, seed=seed) for seed in found.seeds]
    pooled = sorted(x for run in runs for x in run.client["ttft"].samples)
    p90 = found.samples["client.ttft"].percentiles["p90"]
    assert found.samples["client.ttft"].count == len(pooled)
    assert p90.value == pooled[-(-90 * len(pooled) // 100) - 1]
    assert p90.interval.low <= p90.value <= p90.interval.high
    assert {p90.interval.low, p90.interval.high} <= set(pooled)


def test_claims_are_counted(found: serq.Replications) -> None:
    light = found.claim("light")
    holds = [run.claim("light").result == "holds" for run in found.runs]
    assert light.results == {r: n for r, n in (("holds", sum(holds)), ("fails", 6 - sum(holds))) if n}
    assert light.share == sum(holds) / 6
    assert light.failing_seeds == tuple(s for s, good in zip(found.seeds, holds, strict=True) if not good)
    with pytest.raises(KeyError):
        found.claim("nobody")


def test_what_is_out_of_scope_counts_for_neither() -> None:
    text = PROGRAM.replace("given (prompt < 2500)", "given (prompt < 0)")
    short = serq.replicate(serq.compile(source=text), horizon=1_000, seeds=3).claim("short")
    assert (short.results, short.share, short.interval) == ({"out_of_scope": 3}, None, None)


def test_one_seed_has_no_interval(program: serq.Program) -> None:
    found = serq.replicate(program, horizon=2_000, seeds=1)
    row = found.figures["client.ttft.mean"]
    assert (row.ci, row.sd, row.runs) == (None, None, 1)
    assert "± ci" not in show_replications(found)


@pytest.mark.parametrize("jobs", thinned([2, 5]))
def test_the_number_of_processes_changes_nothing(
    program: serq.Program, found: serq.Replications, jobs: int
) -> None:
    other = serq.replicate(program, horizon=5_000, warmup=500, seeds=6, seed=3, jobs=jobs)
    assert json.dumps(other.to_dict()) == json.dumps(found.to_dict())
    assert show_replications(other) == show_replications(found)


def test_the_text_says_what_is_doubtful(program: serq.Program, found: serq.Replications) -> None:
    text = show_replications(found)
    assert re.search(
        r"^note: a run has as few as \d\d samples of ttft; p99 of \d\d samples is the", text, re.M
    )
    assert re.search(r"^warm-up: (MSER-5 proposes|\d+ samples of \w+ in a run are too few) ", text, re.M)
    few = show_replications(serq.replicate(program, horizon=1_500, seeds=2))
    assert re.search(r"^note: p99 of all \d\d samples of ttft is the maximum", few, re.M)
    same = PROGRAM.replace("poisson(0.01)", "renewal(100)").replace("~exp(400)", "400")
    assert "note: all runs are the same" in show_replications(
        serq.replicate(serq.compile(source=same), horizon=1_500, seeds=2)
    )


def test_a_warm_up_is_proposed_where_the_start_is_bad() -> None:
    """A queue at 95 % load that starts with 200 in line."""
    source = """fn main() {
      stage desk : fifo;
      workload { arrive stages((200, 1), (0.6, inf)); }
      server { run desk (cost(desk, ~exp(1))); }
    }"""
    found = serq.replicate(serq.compile(source=source), horizon=6_000, seeds=4)
    response = next(w for w in found.warmups if w.series == "response")
    assert response.cut is not None and response.time is not None
    assert 400 <= response.time <= 3_000  # 200 in line at 1 - 0.6 per unit of time are gone at 500


def test_a_run_that_cannot_go_on_is_that_of_the_first_seed() -> None:
    source = PROGRAM.replace("observe length", "observe bad = 1 / (prompt - prompt) * 0; observe length")
    said = set()
    for jobs in (1, 3):
        with pytest.raises(serq.ProgramError) as refused:
            serq.replicate(serq.compile(source=source), horizon=5_000, seeds=5, jobs=jobs)
        said.add(str(refused.value))
    assert len(said) == 1 and "SQ0622" in said.pop()


@pytest.mark.parametrize("settings", [{"seeds": 0}, {"seeds": 2.5}, {"seeds": 2, "jobs": 0}, {"seeds": True}])
def test_meaningless_numbers_are_refused(program: serq.Program, settings: dict[str, int]) -> None:
    with pytest.raises(serq.ProgramError) as refused:
        serq.replicate(program, horizon=100, **settings)
    assert refused.value.diagnostics[0].code in ("SQ0928", "SQ0929")


# ---------------------------------------------------------------- the command


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "program.sq"
    path.write_text(PROGRAM, encoding="utf-8")
    return path


def test_the_command_prints_text_and_json(file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    asked = ["run", str(file), "--horizon", "3000", "--seeds", "3", "--jobs", "1"]
    status = run_command(asked)
    text = capsys.readouterr().out
    assert text.startswith("horizon 3000, warm-up 0, seeds 1 to 3: 3 runs, 95 % intervals\n\nrun")
    assert run_command([*asked, "--json"]) == status
    document = json.loads(capsys.readouterr().out)
    assert document["seeds"] == [1, 2, 3]
    assert len(document["runs"]) == 3
    worst = {claim["result"] for run in document["runs"] for claim in run["claims"]}
    assert status == (1 if "fails" in worst else 3 if worst - {"holds"} else 0)


@pytest.mark.parametrize(
    "options",
    [["--seeds", "2", "--dump", "x"], ["--seeds", "2", "--plain"], ["--jobs", "2"], ["--seeds", "0"]],
)
def test_wrong_use_of_the_command(file: Path, options: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert run_command(["run", str(file), "--horizon", "100", *options]) == 2
    assert capsys.readouterr().out == ""


LONG = ["run", "PROGRAM", "--horizon", "1e9", "--seeds", "4", "--jobs", "2"]


def started(file: Path, *before: str) -> subprocess.Popen[str]:
    """A long replication with its processes under way, in a process group of its own."""
    arguments = [str(file) if word == "PROGRAM" else word for word in LONG]
    # A test runner in the background may have interrupts ignored, which children inherit.
    restore = "import signal; signal.signal(signal.SIGINT, signal.default_int_handler); "
    child = subprocess.Popen(
        [sys.executable, "-c", restore + "from serq.__main__ import main; main()", *arguments],
        cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True,
    )  # fmt: skip
    deadline = time.monotonic() + 60
    while len(members(child.pid)) < 4 and time.monotonic() < deadline:  # two that run, one that tracks
        time.sleep(0.1)
    time.sleep(1.0)
    return child


def members(group: int) -> list[int]:
    """The processes of a group that are alive."""
    found = []
    for entry in Path("/proc").glob("[0-9]*/stat"):
        try:
            state, _, its_group = entry.read_text().rpartition(")")[2].split()[:3]
        except OSError:
            continue
        if int(its_group) == group and state != "Z":
            found.append(int(entry.parent.name))
    return found


def gone(group: int) -> bool:
    deadline = time.monotonic() + 20
    while members(group) and time.monotonic() < deadline:
        time.sleep(0.1)
    return not members(group)


@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="looks for processes in /proc")
def test_an_interrupt_ends_all_processes_with_one_word(file: Path) -> None:
    child = started(file)
    os.killpg(child.pid, signal.SIGINT)  # as a terminal does
    out, err = child.communicate(timeout=30)
    assert (child.returncode, out, err.strip()) == (130, "", "interrupted")
    assert gone(child.pid)


@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="looks for processes in /proc")
def test_no_process_outlives_the_one_that_asked(file: Path) -> None:
    child = started(file)
    child.kill()
    child.communicate(timeout=30)
    assert gone(child.pid)


@pytest.mark.slow
def test_two_processes_are_nearly_twice_as_fast(program: serq.Program) -> None:
    """On two free cores; 64 runs that together take half a minute."""
    if len(os.sched_getaffinity(0)) < 2 or os.getloadavg()[0] > 0.5:
        pytest.skip("needs two cores that are free")
    times = []
    for jobs in (1, 2):
        begun = time.monotonic()
        serq.replicate(program, horizon=2_000_000, seeds=64, jobs=jobs)
        times.append(time.monotonic() - begun)
    assert times[0] / times[1] >= 1.7


class EndsItself:
    """Work whose process is gone before the first task is done."""

    def __init__(self, how: str) -> None:
        self.how = how

    def start(self) -> Callable[[int], int]:
        if self.how == "killed":
            os.kill(os.getpid(), signal.SIGKILL)
        os._exit(3)


@pytest.mark.parametrize(
    ("how", "words", "cure"),
    thinned([("killed", "signal 9", "--jobs 1"), ("left", "exit code 3", "__main__")]),
)
def test_a_process_that_is_ended_is_no_defect(how: str, words: str, cure: str) -> None:
    with pytest.raises(ProcessEnded) as ended:
        list(results_in_order(EndsItself(how), [1, 2, 3], jobs=2))
    assert words in str(ended.value)
    assert cure in str(ended.value)
