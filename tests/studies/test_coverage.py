"""Intervals over seeds contain the truth as often as they say."""

from __future__ import annotations

import pytest

import serq
from serq.report.replications import spreads

REPETITIONS, SEEDS = 200, 10

SERVICE = {"~exp(1)": 1.0, "1": 0.0, "~lognormal(1, 1.5)": 2.25}
"""Service of mean 1 -> its squared coefficient of variation."""

LENGTHS = {0.5: (600, 50), 0.8: (2_500, 250), 0.95: (10_000, 2_500)}
"""Load -> horizon and warm-up; a queue forgets its start after about (1 - load)^-2 services."""


@pytest.mark.slow
@pytest.mark.parametrize("load", LENGTHS)
@pytest.mark.parametrize("service", SERVICE)
def test_the_interval_over_seeds_covers_the_mean_wait(service: str, load: float) -> None:
    """Pollaczek and Khinchine: the mean wait is load/(1 - load) times (1 + cv2)/2."""
    source = f"""fn main() {{
      stage desk : fifo;
      workload {{ arrive poisson({load}); }}
      server {{ run desk (cost(desk, {service})); }}
    }}"""
    horizon, warmup = LENGTHS[load]
    expected = load / (1 - load) * (1 + SERVICE[service]) / 2
    runs = serq.replicate(
        serq.compile(source=source), horizon=horizon, warmup=warmup, seeds=REPETITIONS * SEEDS, jobs=2
    ).runs
    covered = 0
    for start in range(0, len(runs), SEEDS):
        wait = dict(spreads(runs[start : start + SEEDS]))["stages.desk.mean_wait"]
        assert wait.ci is not None
        covered += abs(wait.mean - expected) <= wait.ci
    assert 0.93 <= covered / REPETITIONS <= 0.97
