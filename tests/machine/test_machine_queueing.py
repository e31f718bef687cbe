"""Mean waits known in closed form, within three standard errors over twenty seeds."""

from __future__ import annotations

from math import sqrt
from statistics import mean, stdev

import pytest

import serq
from serq.report import Report

SEEDS = range(1, 21)


def mean_waits(source: str, horizon: float) -> list[float]:
    compiled = serq.compile(source=source)
    found = []
    for seed in SEEDS:
        report: Report = serq.run(compiled, horizon=horizon, warmup=horizon / 10, seed=seed)
        wait = report.stages[0].mean_wait
        assert wait is not None
        found.append(wait)
    return found


def line(arrive: str, work: str, servers: int = 1) -> str:
    return f"""fn main() {{
      stage desk : fifo({servers});
      workload {{ arrive {arrive}; }}
      server {{ run desk (cost(desk, {work})); }}
    }}"""


def close(waits: list[float], expected: float) -> bool:
    return abs(mean(waits) - expected) < 3 * stdev(waits) / sqrt(len(waits))


@pytest.mark.slow
@pytest.mark.parametrize("rate", [0.3, 0.5, 0.7])
def test_exponential_service(rate: float) -> None:
    """M/M/1 with mean service 1: the mean wait is rho/(1 - rho)."""
    assert close(mean_waits(line(f"poisson({rate})", "~exp(1)"), 6_000), rate / (1 - rate))


@pytest.mark.slow
@pytest.mark.parametrize(
    ("work", "squared_variation"),
    [("1", 0.0), ("~uniform(0, 2)", 1 / 3), ("~erlang(3, 1)", 1 / 3), ("~h2(1, 4)", 4.0)],
)
def test_general_service(work: str, squared_variation: float) -> None:
    """Pollaczek and Khinchine: rho/(1 - rho) times service times (1 + cv2)/2, at rho = 1/2."""
    assert close(mean_waits(line("poisson(0.5)", work), 6_000), (1 + squared_variation) / 2)


@pytest.mark.slow
def test_two_servers() -> None:
    """M/M/2 at rho = 1/2 with mean service 1: Erlang's C is 1/3, the mean wait C/(2 - 1)."""
    assert close(mean_waits(line("poisson(1)", "~exp(1)", servers=2), 6_000), 1 / 3)


@pytest.mark.slow
def test_gaps_drawn_one_by_one_are_a_poisson_stream() -> None:
    """`renewal(~exp(1 / r))` is `poisson(r)` after its first arrival."""

    def arrivals(arrive: str) -> list[float]:
        source = line(arrive, "1").replace("workload {", "workload { init { observe born = now; }")
        run = serq.run(serq.compile(source=source), horizon=200, seed=3)
        return [run.observes["born"].mean * run.observes["born"].count, run.observes["born"].count]

    total, count = arrivals("renewal(~exp(2))")
    other_total, other_count = arrivals("poisson(0.5)")
    assert other_count == count + 1
    assert other_total == pytest.approx(total)


@pytest.mark.slow
def test_a_closed_population() -> None:
    """Machine repair: N clients think exp(1/z) and share one exponential server of rate 1.

    p(k) is proportional to N!/(N - k)! z^-k; the throughput is 1 - p(0) (any queueing text).
    """
    clients, think = 4, 5.0
    weights = [1.0]
    for k in range(clients):
        weights.append(weights[-1] * (clients - k) / think)
    expected = 1 - weights[0] / sum(weights)
    source = f"""fn main() {{
      stage desk : fifo;
      stage away : delay;
      workload {{
        arrive closed({clients});
        session {{ loop {{ run away (cost(away, ~exp({think}))); turn; }} }}
      }}
      server {{ run desk (cost(desk, ~exp(1))); }}
    }}"""
    compiled = serq.compile(source=source)
    rates = [serq.run(compiled, horizon=3_000, warmup=300, seed=seed).stages[0].throughput for seed in SEEDS]
    assert close(rates, expected)


@pytest.mark.slow
@pytest.mark.long
@pytest.mark.parametrize(
    ("work", "rate", "expected"), [("~exp(1)", 0.3, 1 / 0.7), ("~uniform(0, 2)", 0.2, 7 / 6)]
)
def test_the_interval_covers_the_mean_as_often_as_it_says(work: str, rate: float, expected: float) -> None:
    """M/G/1 response times: the 95 % interval covers the true mean in 93 to 97 % of 400 seeds."""
    source = f"""fn main() {{
      stage desk : fifo;
      workload {{ arrive poisson({rate}); }}
      server {{ set t = now; run desk (cost(desk, {work})); observe response = now - t; }}
    }}"""
    compiled = serq.compile(source=source)
    covered = 0
    for seed in range(1, 401):
        response = serq.run(compiled, horizon=20_000, warmup=200, seed=seed).observes["response"]
        assert response.mean is not None and response.ci is not None
        covered += abs(response.mean - expected) <= response.ci
    assert 372 <= covered <= 388
