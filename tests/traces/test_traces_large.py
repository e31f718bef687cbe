"""Traces of millions of requests: the memory they take.

The bounds are for each further row, so that ten million of them stay below 1.5 GiB; what Python and
numpy take by themselves does not count.
"""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable, Iterator
from itertools import count, islice
from pathlib import Path

import pytest

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parents[2]
FEW, MANY = 100_000, 1_000_000
TEN_MILLION_WITHIN = 1.5 * 2**30

CONVERT = """
import sys
from serq.tools.cli import run_command
assert run_command(["trace", *sys.argv[2:], sys.argv[1]]) == 0
"""

REPLAY = """
import sys, serq
program = serq.compile(source='''
fn main() {
  stage z : fifo(1);
  workload { arrive renewal(1); trace "-" ordered; }
  server { run z (cost(z, out / 1000)); }
}''')
report = serq.run(program, horizon=1e9, trace=sys.argv[1], arrivals=int(sys.argv[2]))
# One server, half a unit for 500 tokens, a session every unit: nobody waits.
assert report.ended == int(sys.argv[2])
assert abs(report.client["response"].mean - 0.2505) < 0.01
"""


def azure() -> Iterator[str]:
    yield "TIMESTAMP,ContextTokens,GeneratedTokens\n"
    for i in count():
        date = f"2024-05-{i // 86400 % 28 + 1:02} {i // 3600 % 24:02}:{i // 60 % 60:02}:{i % 60:02}"
        yield f"{date}.009930+00:00,{i % 4000},{i % 500}\n"


def burstgpt() -> Iterator[str]:
    """A request a second; sessions of four requests, a hundred of them at a time."""
    yield "Timestamp,Session ID,Elapsed time,Model,Request tokens,Response tokens,Total tokens,Log Type\n"
    for i in count():
        session = f"{i // 400:08x}-{i % 100:04x}-4000-8000-000000000000"
        yield f"{i}.0,{session},3,ChatGPT,{i % 4000},{i % 500},0,Conversation log\n"


def own() -> Iterator[str]:
    yield "session,turn,new,out,think\n"
    for i in count():
        yield f"{i},1,{i % 4000},{i % 500 + 1},0\n"


def write(path: Path, lines: Iterator[str], rows: int) -> Path:
    with path.open("w") as file:
        file.writelines(islice(lines, rows + 1))
    return path


def peak(script: str, *arguments: object) -> int:
    """Bytes of memory at the peak of a process of its own."""
    tail = (
        "\nimport resource, sys\nprint(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss, file=sys.stderr)"
    )
    command = [sys.executable, "-c", script + tail, *map(str, arguments)]
    done = subprocess.run(command, cwd=ROOT, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    assert done.returncode == 0, done.stderr
    return int(done.stderr.splitlines()[-1]) * 1024


def bytes_per_row(measure: Callable[[int], int]) -> float:
    return (measure(MANY) - measure(FEW)) / (MANY - FEW)


def test_requests_that_stand_alone_pass_through(tmp_path: Path) -> None:
    def measure(rows: int) -> int:
        return peak(CONVERT, write(tmp_path / "trace", azure(), rows), "convert")

    assert bytes_per_row(measure) < 5


def test_conversations_that_are_mixed_are_kept_by_column(tmp_path: Path) -> None:
    def measure(rows: int) -> int:
        return peak(CONVERT, write(tmp_path / "trace", burstgpt(), rows), "convert", "--think", "pause")

    assert bytes_per_row(measure) < 0.9 * TEN_MILLION_WITHIN / 10_000_000


def test_figures_need_no_more(tmp_path: Path) -> None:
    def measure(rows: int) -> int:
        return peak(CONVERT, write(tmp_path / "trace", burstgpt(), rows), "show")

    assert bytes_per_row(measure) < 0.9 * TEN_MILLION_WITHIN / 10_000_000


def test_a_long_trace_is_replayed_from_little_memory(tmp_path: Path) -> None:
    def measure(rows: int) -> int:
        return peak(REPLAY, write(tmp_path / "trace", own(), rows), rows)

    assert bytes_per_row(measure) < 0.75 * TEN_MILLION_WITHIN / 10_000_000
