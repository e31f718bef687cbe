"""One measurement, in a process that does nothing else: `python -m tests.bench.child ours|peer`.

Reads what to run from standard input, as JSON; imports its library; runs the program once for a moment,
so that everything it needs is loaded; and measures the CPU time from the program's text to the report as
JSON text. Prints that time and the number of iterations; and, of a program that is compiled to C, the CPU
time of the compiler, which is done before.
"""

from __future__ import annotations

import json
import resource
import sys
import time
from collections.abc import Callable
from typing import Any

LEAST_S = 0.25
"""CPU seconds below which a measurement is not worth much."""
MEMORY = 4 << 30
"""Bytes that a program may take."""


def run_ours(job: dict[str, Any], horizon: float, seed: int) -> str:
    """From text to JSON, by serq."""
    import serq
    from serq.report import report_to_json

    program = serq.compile(job["file"], sets=job["sets"], defs=job["defs"])
    return report_to_json(serq.run(program, horizon=horizon, seed=seed, trace=job["trace"]))


def run_peer(job: dict[str, Any], horizon: float, seed: int) -> str:
    """The same by the reference implementation."""
    import pyserq

    more = {"trace": job["trace"]} if job["trace"] else {}
    program = pyserq.compile(
        job["file"], horizon=horizon, seed=seed, sets=job["sets"], defs=job["defs"], **more
    )
    text: str = pyserq.run(program).json()
    return text


SIDES: dict[str, Callable[[dict[str, Any], float, int], str]] = {"ours": run_ours, "peer": run_peer}


def compile_to_c(job: dict[str, Any]) -> float:
    """CPU seconds that the compiler takes for the program; it keeps what it makes."""
    import serq
    from serq.claims.judge import Judge
    from serq.machine.loop import Machine
    from serq.machine.native.compile import compile_text
    from serq.machine.native.run import write_native
    from serq.machine.settings import Settings

    program = serq.compile(job["file"], sets=job["sets"], defs=job["defs"])
    machine = Machine(program, Settings(horizon=1.0))
    Judge(program).watch(machine)
    compile_text(write_native(machine)[0])
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def iterations_of(report: str | bytes) -> int:
    """How many iterations a report counts, of all engines."""
    return sum(stage.get("iterations") or 0 for stage in json.loads(report)["stages"])


def measure(side: str, job: dict[str, Any]) -> dict[str, float]:
    """CPU seconds of a run, and its iterations; of several with other draws, if one is over too soon."""
    run, horizon = SIDES[side], job["horizon"]
    compile_s = compile_to_c(job) if job["in_c"] and side == "ours" else 0.0
    run(job, horizon / 10_000, 0)
    cpu, iterations, seed = 0.0, 0, 0
    while cpu < LEAST_S:
        seed += 1
        begun = time.process_time()
        text = run(job, horizon, seed)
        cpu += time.process_time() - begun
        iterations += iterations_of(text)
    return {"cpu_s": cpu / seed, "iterations": iterations / seed, "compile_s": compile_s}


def main() -> None:
    job = json.load(sys.stdin)
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    resource.setrlimit(resource.RLIMIT_CPU, (job["most_s"], job["most_s"] + 5))
    print(json.dumps(measure(sys.argv[1], job)))


if __name__ == "__main__":
    main()
