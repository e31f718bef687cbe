"""What is said to be proved or refuted is so on the runs of the program.

Claims about every run are looked at on several; a witness is played again by the machine, as a program
whose draws and gaps are those of the witness, and every one of them is a value that the law allows.
"""

from __future__ import annotations

from collections import Counter
from fractions import Fraction

import pytest

import serq
from serq.diagnostics import ProgramError
from serq.ir.claim import AtEnd, SomeIteration
from serq.lean import witness
from serq.lean.fragment import Fragment, read_fragment
from serq.lean.prove import Verdict, emit
from serq.lean.witness import fineness
from tests.lean.wild import Wild, wild_program

WRONG = {"proved": "fails", "refuted": "witnessed"}
"""What a run must not say of a claim that is decided for all runs."""


def check(seed: int, seen: Counter[str]) -> None:
    wild = wild_program(seed)
    try:
        program = serq.compile("wild.sq", source=wild.source)
        fragment = read_fragment(program)
    except ProgramError:
        seen["refused"] += 1
        return
    decided = {}
    for v in emit(program, prove=True).verdicts:
        seen[f"{v.status} {'witness' if v.witness else ''}"] += 1
        if v.witness is not None:
            check_witness(wild, fragment, v, seed)
        elif v.status in WRONG:
            decided[v.claim.name] = v
    if decided:
        check_runs(program, decided, seed)


def check_runs(program: serq.Program, decided: dict[str, Verdict], seed: int) -> None:
    """No run of the program says the opposite of what is decided for all."""
    for number in range(3):
        for asked in ({"horizon": 400}, {"horizon": 100_000, "arrivals": 1 + 2 * number}):
            if "arrivals" in asked and "arrive batch" in wild_program(seed).source:
                continue
            try:
                report = serq.run(program, seed=number + 1, **asked)
            except ProgramError:
                continue  # a run that ends with an error answers no claim
            for outcome in report.claims:
                if outcome.name in decided:
                    assert outcome.result != WRONG[decided[outcome.name].status], (seed, outcome)


def check_witness(wild: Wild, f: Fragment, v: Verdict, seed: int) -> None:
    """The machine finds what a witness shows, on a run that the program can have."""
    assert v.witness is not None
    world = v.witness.world
    for k, (law, allows) in enumerate(wild.draws):
        assert allows(world.draws[f"x{k}"]), (seed, v.claim.name, law)
    assert wild.gap is not None, (seed, v.claim.name)
    assert wild.gap(Fraction(world.gap, f.ticks * fineness(f))), (seed, v.claim.name)
    again = serq.compile("again.sq", source=wild.replayed(f, v.witness))
    report = serq.run(again, horizon=v.witness.now or 1e-3)
    outcome = report.claim(v.claim.name)
    wanted = "witnessed" if isinstance(v.claim, SomeIteration) else "fails"
    assert outcome.result == wanted, (seed, v.claim.name, outcome.result)
    if not isinstance(v.claim, AtEnd):
        assert outcome.first == v.witness.now


@pytest.fixture(autouse=True)
def a_short_search(monkeypatch: pytest.MonkeyPatch) -> None:
    """What is not found soon is looked for no longer."""
    monkeypatch.setattr(witness, "MOST_STATES", 400)
    monkeypatch.setattr(witness, "MOST_WORK", 1000)


@pytest.mark.slow
def test_what_is_decided_is_so_on_runs() -> None:
    seen: Counter[str] = Counter()
    for seed in range(16):
        check(seed, seen)
    assert seen["proved "] > 16 and seen["refuted "] > 3, seen
    assert seen["proved witness"] > 8 and seen["refuted witness"] > 16, seen
    assert seen["refused"] < 5


@pytest.mark.slow
def test_what_is_decided_is_so_on_many_runs() -> None:
    for seed in range(16, 70):
        check(seed, Counter())


@pytest.mark.long
def test_what_is_decided_is_so_on_very_many_runs() -> None:
    for seed in range(70, 700):
        check(seed, Counter())
