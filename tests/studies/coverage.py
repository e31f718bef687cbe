"""How often do intervals over seeds contain the truth? `python tests/studies/coverage.py` prints the table.

Pollaczek and Khinchine give the mean number of customers at a single server under Poisson arrivals. Each
repetition asks `serq.replicate` for it, with seeds of its own, and looks whether the interval has it.
"""

from __future__ import annotations

import sys

import serq
from serq.report.replications import spreads

REPETITIONS, SEEDS = 200, 6

SERVICES = {"M/M/1": ("~exp(1)", 1.0), "M/D/1": ("1", 0.0), "M/G/1, lognormal": ("~lognormal(1, 1)", 1.0)}
"""Queue -> its service of mean 1, and the squared coefficient of variation of that."""

LENGTHS = {0.5: (1_500, 100), 0.8: (5_000, 500), 0.95: (40_000, 4_000)}
"""Load -> horizon and warm-up.

A queue forgets its start after about (1 - √load)^-2 services: 12, 90 and 1560. The mean of a run over a few
of these times is skewed, and its interval then has the truth too seldom.
"""


def expected_number(load: float, cv2: float) -> float:
    """Customers in the system: load + load^2 (1 + cv2) / (2 (1 - load)), by Little's law."""
    return load + load**2 * (1 + cv2) / (2 * (1 - load))


def desk(service: str, load: float) -> serq.Program:
    """The server is an engine that computes one token at a time, and takes as long as the service says."""
    return serq.compile(
        source=f"""fn main() {{
          device gpu {{ }}
          engine desk on gpu {{ tokens cap 1; schedule {{ advance running; }} execute ({service}); }}
          workload {{ arrive poisson({load}); }}
          server {{ run desk prefill (cost(desk, 1)); }}
        }}"""
    )


def times_covered(queue: str, load: float, repetitions: int = REPETITIONS) -> int:
    """In how many repetitions the interval has the truth."""
    service, cv2 = SERVICES[queue]
    horizon, warmup = LENGTHS[load]
    program, truth = desk(service, load), expected_number(load, cv2)
    covered = 0
    for k in range(repetitions):
        found = serq.replicate(program, horizon=horizon, warmup=warmup, seed=1 + k * SEEDS, seeds=SEEDS)
        number = dict(spreads(found.runs))["mean_live"]
        assert number.ci is not None
        covered += abs(number.mean - truth) <= number.ci
    return covered


if __name__ == "__main__":
    for load in LENGTHS:
        for queue in SERVICES:
            part = times_covered(queue, load) / REPETITIONS
            sys.stdout.write(f"{queue:<17}  {load:4}  {100 * part:.1f} %\n")
            sys.stdout.flush()
