"""Intervals over seeds contain the truth as often as they say."""

from __future__ import annotations

import pytest

import serq
from serq.report.replications import spreads

REPETITIONS, SEEDS = 200, 5
TOGETHER = 100
"""Seeds of one call: several repetitions."""

SERVICE = {"~exp(1)": 1.0, "1": 0.0, "~lognormal(1, 1)": 1.0}
"""Service of mean 1 -> its squared coefficient of variation."""

LENGTHS = {0.5: (4_000, 100), 0.8: (30_000, 500), 0.95: (80_000, 2_500)}
"""Load -> horizon and warm-up; a queue forgets its start after about (1 - load)^-2 services."""


@pytest.mark.slow
@pytest.mark.long
@pytest.mark.parametrize("load", LENGTHS)
def test_the_interval_over_seeds_covers_the_mean_number(load: float) -> None:
    """In 93 to 97 % of the repetitions of all services; those of one alone vary by 1.5 % by chance."""
    covered = {service: times_covered(service, load) / REPETITIONS for service in SERVICE}
    assert all(0.9 <= part <= 0.99 for part in covered.values()), covered
    assert 0.93 <= sum(covered.values()) / len(covered) <= 0.97, covered


def times_covered(service: str, load: float) -> int:
    """Pollaczek and Khinchine, by Little's law: load + load^2 (1 + cv2) / (2 (1 - load)) in the system.

    The server is an engine that computes one token at a time, and takes as long as the service says.
    """
    source = f"""fn main() {{
      device gpu {{ }}
      engine desk on gpu {{ tokens cap 1; schedule {{ advance running; }} execute ({service}); }}
      workload {{ arrive poisson({load}); }}
      server {{ run desk prefill (cost(desk, 1)); }}
    }}"""
    horizon, warmup = LENGTHS[load]
    expected = load + load**2 * (1 + SERVICE[service]) / (2 * (1 - load))
    program = serq.compile(source=source)
    covered = 0
    for first in range(1, REPETITIONS * SEEDS, TOGETHER):
        asked = {"horizon": horizon, "warmup": warmup, "seed": first, "seeds": TOGETHER, "jobs": 2}
        runs = serq.replicate(program, **asked).runs
        for start in range(0, TOGETHER, SEEDS):
            number = dict(spreads(runs[start : start + SEEDS]))["mean_live"]
            assert number.ci is not None
            covered += abs(number.mean - expected) <= number.ci
    return covered
