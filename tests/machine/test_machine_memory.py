"""How much memory a run takes: what a report needs of a request is kept, nothing else."""

from __future__ import annotations

import json
import subprocess
import sys
from typing import Any

import pytest

from tests.support.amounts import thinned

PROGRAM = """
fn main() {
  device gpu { }
  engine llm on gpu { tokens cap 4000; schedule { advance running decode first; } execute (5); }
  STAGE
  workload { arrive poisson(10); }
  server { run llm prefill (cost(llm, 8)); run llm decode (cost(llm, 2)); }
}
"""

CHILD = """
import json, resource, sys
import serq
from serq.report import report_to_json

source, requests = sys.argv[1], int(sys.argv[2])
report = serq.run(serq.compile(source=source), horizon=requests, arrivals=requests)
report_to_json(report)
peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
print(json.dumps({"ended": report.ended, "kib": peak}))
"""
"""A run in a process of its own, since a process never forgets the most that it had."""


def run_alone(requests: int, stage: str = "") -> dict[str, Any]:
    """Requests that ended, and the KiB of memory that the process had at most."""
    source = PROGRAM.replace("STAGE", stage)
    done = subprocess.run(
        [sys.executable, "-c", CHILD, source, str(requests)], capture_output=True, text=True, check=True
    )
    answer: dict[str, Any] = json.loads(done.stdout)
    return answer


@pytest.mark.parametrize("stage", thinned(["", "stage beside : delay;"]), ids=["loop", "events"])
def test_a_request_that_is_over_takes_a_hundred_bytes(stage: str) -> None:
    """Three samples: a time and a value of 8 bytes, a session and a turn of 4; and room for them to grow."""
    few, many = (run_alone(n, stage) for n in (20_000, 60_000))
    assert many["ended"] == 60_000
    assert (many["kib"] - few["kib"]) * 1024 / 40_000 < 3 * (8 + 8 + 4 + 4) * 2


@pytest.mark.slow
def test_ten_million_requests_fit_into_a_gibibyte_and_a_half() -> None:
    answer = run_alone(10_000_000)
    assert answer["ended"] == 10_000_000
    assert answer["kib"] < 1.5 * 1024 * 1024
