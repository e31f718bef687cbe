"""The steps that proofs are made from are those of the language.

`serq.lean.steps` plays the machine of `Model.lean`; it is compared with serq's machine and with the
reference implementation: every iteration it lists is witnessed, and there are no others.
"""

from __future__ import annotations

import json
from types import ModuleType

import pytest

import serq
from tests.lean.drawn import Case, random_case
from tests.lean.programs import small
from tests.support.amounts import share, thinned

SEEDS = range(200)


def witnesses(case: Case) -> tuple[str, int]:
    """A program with a claim for each iteration up to the horizon, and how many there are."""
    rows = [row for row in case.rows if row.now <= case.horizon]
    claims = []
    for k, row in enumerate(rows):
        wanted = {
            "now": row.now, "tokens": row.tokens, "prefilled": row.prefilled, "decoders": row.decoders,
            "residents": row.residents, "demand": row.demand, "served": row.served,
            "arrived": row.arrived, "n": row.registers[0],
        }  # fmt: skip
        if case.fragment.path.slot is not None:
            wanted["queued(s)"] = row.waiting
        tests = " && ".join(f"{name} == {value}" for name, value in wanted.items())
        claims.append(f"claim i{k}: some iteration of e ({tests});")
    return small(**case.parts, claims=" ".join(claims)), len(rows)


@pytest.mark.parametrize("seed", thinned(SEEDS, 10))
def test_the_machine_goes_through_the_same_iterations(seed: int) -> None:
    case = random_case(seed)
    source, count = witnesses(case)
    report = serq.run(serq.compile("drawn.sq", source=source), horizon=case.horizon)
    assert [c.name for c in report.claims if c.name != "c" and c.result != "witnessed"] == []
    assert report.stages[0].iterations == count


@pytest.mark.slow
def test_random_programs_have_something_of_everything() -> None:
    cases = [random_case(seed) for seed in SEEDS]
    schedules = " ".join(c.parts["schedule"] for c in cases)
    for word in ("exclusive", "branch", "set n", "admit", "decode first", "by (", "only", "each at most"):
        assert schedules.count(word) > 5, word
    assert sum(len(c.rows) > 8 for c in cases) > 80
    assert sum(any(row.waiting for row in c.rows) for c in cases) > 10
    assert sum(c.world.gap == 0 for c in cases) > 20


def test_the_reference_goes_through_the_same_iterations(reference: ModuleType) -> None:
    for seed in range(share(60)):
        case = random_case(seed)
        if "exclusive" in case.parts["schedule"]:
            continue  # it wants every register to be set somewhere
        source, count = witnesses(case)
        program = reference.compile(None, source=source, horizon=case.horizon)
        report = json.loads(reference.run(program).json())
        missed = [c["name"] for c in report["claims"] if c["name"] != "c" and c["result"] != "witnessed"]
        assert (seed, missed) == (seed, [])
        assert report["stages"][0]["iterations"] == count
