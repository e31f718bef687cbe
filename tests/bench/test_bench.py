"""The benchmarks measure what they say: their programs run, and run where a row says."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

import serq
from serq.machine.fused.fragment import find_fused
from tests.bench.measure import Result, Took, compare, job_of, run_library
from tests.bench.page import PAGE, replace_table, table
from tests.bench.rows import PROGRAMS, ROOT, ROWS, Row

per_row = pytest.mark.parametrize("row", ROWS, ids=lambda row: row.name)


@per_row
def test_a_row_runs_where_it_says(row: Row, tmp_path: Path) -> None:
    program = serq.compile(row.file, sets=row.sets, defs=row.defs)
    assert row.loop == (not isinstance(find_fused(program), str))
    report = serq.run(program, horizon=row.horizons[0] / 50, trace=job_of(row, 1, tmp_path)["trace"])
    assert report.arrivals


def test_programs_have_a_row() -> None:
    assert set(PROGRAMS.glob("*.sq")) <= {row.file for row in ROWS}


@pytest.mark.slow
def test_the_command_compares(tmp_path: Path) -> None:
    pytest.importorskip("pyserq", reason="the reference is an extra")
    written = tmp_path / "results.json"
    asked = ["--quick", "--pairs", "1", "--only", "dai_s*", "--json", str(written)]
    for more in ([], ["--commands"]):
        done = subprocess.run(
            [sys.executable, "-m", "tests.bench", *asked, *more],
            capture_output=True, text=True, cwd=ROOT, check=False,
        )  # fmt: skip
        assert done.returncode == 0, done.stderr
        [result] = json.loads(written.read_text(encoding="utf-8"))["results"]
        assert result["ours"][0]["iterations"] == result["peer"][0]["iterations"] == 1060
        assert result["ratio"]["median"] > 0


def test_a_peer_that_takes_too_long_is_measured_on_a_shorter_run(tmp_path: Path) -> None:
    def run(side: str, job: dict) -> Took | None:
        slow = side == "peer" and job["horizon"] > 10
        return None if slow else Took(2.0 if side == "peer" else 1.0, job["horizon"])

    row = Row("r", PROGRAMS / "crowd.sq", (100,), True)
    results = list(compare(row, 100, 3, run, tmp_path))
    assert [(r.horizon, len(r.ours), r.ratios) for r in results] == [
        (100, 1, []), (20, 1, []), (4, 3, [2.0, 2.0, 2.0]),
    ]  # fmt: skip


def test_a_run_that_takes_all_its_time_is_given_up(tmp_path: Path) -> None:
    job = job_of(ROWS[0], 1e6, tmp_path) | {"most_s": 0}
    assert run_library("ours", job) is None


def test_a_ratio_is_of_the_time_of_an_iteration() -> None:
    """The peer took twice the time for half the iterations."""
    result = Result(ROWS[0], 1.0, [Took(1.0, 100)], [Took(2.0, 50)])
    assert result.ratios == [4.0]


def test_the_table_of_the_page_is_replaced_and_nothing_else() -> None:
    result = {
        "name": "r", "horizon": 5.0, "ours": [{"iterations": 1000.0}], "commands": True,
        "ratio": {"median": 2.0, "least": 1.5, "most": 3.0},
    }  # fmt: skip
    lines = table([result])
    assert lines[-1] == "| r, the whole command | 5 | 1,000 | 2.00 | 1.50 | 3.00 |"
    page = PAGE.read_text(encoding="utf-8")
    once = replace_table(page, lines)
    assert replace_table(once, lines) == once
    assert [x for x in once.split("\n") if x not in lines] == [
        x for x in page.split("\n") if not x.startswith("|") or x in page.split("## What was measured")[0]
    ]
