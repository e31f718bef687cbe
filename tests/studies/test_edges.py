"""Edges of engines under Poisson arrivals, where the token-rate bound or a count of batches gives them.

`load` of the examples is in units of the bound: work-conserving engines have their edge at 1. The
FasterTransformer-like one takes 3 batches for a prompt and 990 for the answer, one request at a time,
where ten full batches would do: its edge is at 10/993.
"""

from __future__ import annotations

from pathlib import Path

import pytest

import serq

ENGINES = Path(__file__).parents[2] / "examples" / "papers" / "dai_random"
SEEDS = 12


def verdicts(engine: str, load: float, times: int) -> set[str]:
    """Of so many studies, each with seeds of its own."""
    program = serq.compile(ENGINES / f"{engine}.sq", sets={"load": load})
    return {serq.stability(program, seed=1 + SEEDS * i, seeds=SEEDS).verdict for i in range(times)}


@pytest.mark.slow
@pytest.mark.long
@pytest.mark.parametrize(
    ("engine", "load", "verdict"),
    [
        ("sarathi", 0.95, "stable"),
        ("sarathi", 1.05, "unstable"),
        ("fastertransformer", 0.007, "stable"),
        ("fastertransformer", 0.95, "unstable"),
    ],
)
def test_the_verdict_is_the_same_for_twenty_seeds(engine: str, load: float, verdict: str) -> None:
    assert verdicts(engine, load, 20) == {verdict}


@pytest.mark.slow
@pytest.mark.long
def test_the_edge_of_a_work_conserving_engine_is_at_the_bound() -> None:
    edge = serq.find_edge(
        ENGINES / "sarathi.sq", parameter="load", low=0.8, high=1.2, resolution=0.02, jobs=2
    )
    assert edge.stable is not None and edge.unstable is not None and edge.middle is not None
    assert abs(edge.middle - 1) <= 0.02
    assert 0.98 <= edge.stable < edge.unstable <= 1.02


@pytest.mark.slow
@pytest.mark.long
def test_the_edge_of_an_engine_that_wastes_its_batches_is_far_below() -> None:
    edge = serq.find_edge(
        ENGINES / "fastertransformer.sq", parameter="load", low=0.002, high=0.05, resolution=0.1, jobs=2
    )
    assert edge.stable is not None and edge.unstable is not None
    assert edge.stable <= 1.05 * 10 / 993
    assert edge.unstable >= 0.95 * 10 / 993
    assert edge.unstable < 0.02
