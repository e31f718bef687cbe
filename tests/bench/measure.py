"""Pairs of measurements, ours and the peer's in turn, and what they say together."""

from __future__ import annotations

import json
import os
import resource
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from signal import SIGXCPU
from statistics import median
from tempfile import TemporaryFile
from typing import Any

from attrs import frozen

from tests.bench.child import MEMORY, iterations_of
from tests.bench.rows import ROOT, Row, turns

MOST_S = 200
"""CPU seconds that a side may take for one run; the peer is then given a shorter one."""
SHORTER = 5
"""By what a horizon is divided when the peer takes too long."""

PEER_COMMAND = """\
import json, pyserq, sys
file, horizon, sets, defs, *trace = sys.argv[1:]
options = dict(horizon=float(horizon), sets=json.loads(sets), defs=json.loads(defs))
print(pyserq.run(pyserq.compile(file, **options, **({"trace": trace[0]} if trace else {}))).json())
"""
"""The peer has no command: this is one."""

Run = Callable[[str, dict[str, Any]], "Took | None"]


@frozen
class Took:
    """A run. cpu_s: CPU seconds, of the user and of the system; compile_s: those of a C compiler before."""

    cpu_s: float
    iterations: float
    compile_s: float = 0.0

    @property
    def rate(self) -> float:
        """Iterations per CPU second."""
        return self.iterations / self.cpu_s


@frozen
class Result:
    """A row at one horizon. ratios: CPU time of an iteration, the peer's by ours, pair by pair."""

    row: Row
    horizon: float
    ours: list[Took]
    peer: list[Took]

    @property
    def ratios(self) -> list[float]:
        return [a.rate / b.rate for a, b in zip(self.ours, self.peer, strict=bool(self.peer))]


def rate(runs: list[Took]) -> float | None:
    """Iterations per CPU second, the median of the runs."""
    return median(run.rate for run in runs) if runs else None


def job_of(row: Row, horizon: float, folder: Path) -> dict[str, Any]:
    """What a process is told to run. folder: where the trace is written, if there is one."""
    trace = None
    if row.conversations:
        trace = folder / f"{row.conversations}.csv"
        trace.write_text("\n".join(turns(row.conversations)) + "\n", encoding="utf-8")
    return {
        "file": str(row.file),
        "horizon": horizon,
        "sets": row.sets,
        "defs": row.defs,
        "trace": trace and str(trace),
        "most_s": MOST_S,
        "in_c": row.in_c,
        "environment": {"XDG_CACHE_HOME": str(folder), **({} if row.in_c else {"SERQ_CC": "none"})},
    }


def run_library(side: str, job: dict[str, Any]) -> Took | None:
    """A run in a process that has loaded everything before; None: it took too long."""
    done = subprocess.run(
        [sys.executable, "-m", "tests.bench.child", side],
        input=json.dumps(job), capture_output=True, text=True, cwd=ROOT, check=False,
        env=os.environ | job["environment"],
    )  # fmt: skip
    if done.returncode == -SIGXCPU:
        return None
    if done.returncode:
        raise RuntimeError(f"{side}, {job['file']}: exit code {done.returncode}\n{done.stderr}")
    return Took(**json.loads(done.stdout))


def run_command(side: str, job: dict[str, Any]) -> Took | None:
    """A whole command, from its start to its end; None: it took too long."""
    if side == "ours":
        command = [sys.executable, "-m", "serq", "run", job["file"], "--json", "--quiet"]
        command += ["--horizon", repr(job["horizon"])]
        for option, given in (("--set", job["sets"]), ("--def", job["defs"])):
            for name, value in given.items():
                command += [option, f"{name}={value}"]
        command += ["--trace", job["trace"]] if job["trace"] else []
    else:
        command = [sys.executable, "-c", PEER_COMMAND, job["file"], repr(job["horizon"])]
        command += [json.dumps(job["sets"]), json.dumps(job["defs"])]
        command += [job["trace"]] if job["trace"] else []
    with TemporaryFile() as printed, TemporaryFile() as said:
        process = subprocess.Popen(
            command,
            stdout=printed,
            stderr=said,
            cwd=ROOT,
            preexec_fn=_limit,
            env=os.environ | job["environment"],
        )
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        if process.returncode == -SIGXCPU:
            return None
        printed.seek(0)
        said.seek(0)
        text = printed.read()
        if not text:
            raise RuntimeError(f"{side}, {job['file']}:\n{said.read().decode()}")
    return Took(usage.ru_utime + usage.ru_stime, iterations_of(text))


def _limit() -> None:
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    resource.setrlimit(resource.RLIMIT_CPU, (MOST_S, MOST_S + 5))


def compare(row: Row, horizon: float, pairs: int, run: Run, folder: Path) -> Iterator[Result]:
    """A row at one horizon: ours, the peer's, ours, the peer's, …

    If that is too far for the peer, there is a result of ours alone, and one of both at a shorter horizon.
    """
    reached = min(horizon, row.peer_most)
    if reached < horizon:
        yield Result(row, horizon, [_ours(run, job_of(row, horizon, folder))], [])
    while True:
        job = job_of(row, reached, folder)
        ours, peers = [_ours(run, job)], []
        while (peer := run("peer", job)) is not None:
            peers.append(peer)
            if len(peers) == pairs:
                yield Result(row, reached, ours, peers)
                return
            ours.append(_ours(run, job))
        yield Result(row, reached, ours, [])
        reached /= SHORTER


def _ours(run: Run, job: dict[str, Any]) -> Took:
    took = run("ours", job)
    if took is None:
        raise RuntimeError(f"{job['file']} takes more than {MOST_S} s up to {job['horizon']:g}")
    return took
