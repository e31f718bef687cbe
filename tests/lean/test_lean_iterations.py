"""The iterations that the model is compared with are those of the language.

`iterations` is written for these tests, so it is compared with serq's machine and with the reference
implementation: every iteration it lists is witnessed, and there are no others.
"""

from __future__ import annotations

import json
from types import ModuleType

import pytest

import serq
from tests.lean.drawn import Case, random_case
from tests.lean.programs import small

SEEDS = range(60)


def witnesses(case: Case) -> tuple[str, float, int]:
    """A program with a claim for each iteration, a horizon, and how many iterations start until then."""
    # Until the arrival after the last session it does not matter that a stream of arrivals goes on.
    horizon = case.rows[-1].now + 0.5 if case.gap is None else case.gap * (case.sessions + 1) - 0.5
    rows = [row for row in case.rows if row.now <= horizon]
    if len(rows) == len(case.rows):
        horizon = min(horizon, rows[-1].now + 0.5)
    claims = (
        f"claim i{k}: some iteration of e ("
        + " && ".join(f"{name} == {value}" for name, value in row._asdict().items())
        + ");"
        for k, row in enumerate(rows)
    )
    return small(**case.parts, claims=" ".join(claims)), horizon, len(rows)


@pytest.mark.parametrize("seed", SEEDS)
def test_the_machine_goes_through_the_same_iterations(seed: int) -> None:
    case = random_case(seed)
    if not case.rows:
        return
    source, horizon, count = witnesses(case)
    report = serq.run(serq.compile("drawn.sq", source=source), horizon=horizon)
    assert [c.name for c in report.claims if c.name != "c" and c.result != "witnessed"] == []
    assert report.stages[0].iterations == count


def test_the_reference_goes_through_the_same_iterations(reference: ModuleType) -> None:
    for seed in SEEDS:
        case = random_case(seed)
        if not case.rows:
            continue
        source, horizon, count = witnesses(case)
        report = json.loads(reference.run(reference.compile(None, source=source, horizon=horizon)).json())
        missed = [c["name"] for c in report["claims"] if c["name"] != "c" and c["result"] != "witnessed"]
        assert (seed, missed) == (seed, [])
        assert report["stages"][0]["iterations"] == count
