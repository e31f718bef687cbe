"""How often do intervals over seeds contain the truth? `python tests/studies/coverage.py` prints the table.

Pollaczek and Khinchine give the mean number of customers at a single server under Poisson arrivals. Each
repetition asks `serq.replicate` for it, with seeds of its own, and looks whether the interval has it.
"""

from __future__ import annotations

import sys

import serq
from serq.report.replications import spreads

SEEDS = 6

SERVICES = {"M/M/1": ("~exp(1)", 1.0), "M/D/1": ("1", 0.0), "M/G/1, lognormal": ("~lognormal(1, 1)", 1.0)}
"""Queue -> its service of mean 1, and the squared coefficient of variation of that."""

LENGTHS = {0.5: (5_000, 500, 2_000), 0.8: (40_000, 2_000, 1_000), 0.95: (200_000, 10_000, 1_000)}
"""Load -> horizon, warm-up and repetitions.

A queue forgets its start after about (1 - √load)^-2 services: 12, 90 and 1560. The mean of a run over a few
of these times is skewed, and its interval then has the truth too seldom. 200 repetitions of a perfect
interval vary by 1.5 % by chance, 1000 by 0.7 %.
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


def times_covered(queue: str, load: float) -> list[bool]:
    """Whether the interval has the truth, for each repetition."""
    service, cv2 = SERVICES[queue]
    horizon, warmup, repetitions = LENGTHS[load]
    program, truth = desk(service, load), expected_number(load, cv2)
    serq.run(program, horizon=10 * LENGTHS[0.95][0])  # From here on it is compiled, if it can be.
    covered = []
    for k in range(repetitions):
        found = serq.replicate(program, horizon=horizon, warmup=warmup, seed=1 + k * SEEDS, seeds=SEEDS)
        number = dict(spreads(found.runs))["mean_live"]
        assert number.ci is not None
        covered.append(abs(number.mean - truth) <= number.ci)
    return covered


if __name__ == "__main__":
    for load in LENGTHS:
        for queue in SERVICES:
            covered = times_covered(queue, load)
            groups = [covered[i : i + 200] for i in range(0, len(covered), 200)]
            within = sum(0.93 <= sum(group) / len(group) <= 0.97 for group in groups)
            part = 100 * sum(covered) / len(covered)
            sys.stdout.write(
                f"{queue:<17}  {load:4}  {part:.1f} % of {len(covered)}; "
                f"93 to 97 % in {within} of {len(groups)} groups of 200\n"
            )
            sys.stdout.flush()
