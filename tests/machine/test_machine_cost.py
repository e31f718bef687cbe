"""What an iteration costs: lines of Python executed, not time, so that a busy machine changes nothing.

An engine that serves its runs in classes pays for what an iteration changes. With a hundred times
the residents, the same changes must take the same number of lines.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from types import FrameType
from typing import Any

import pytest

import serq
from serq.machine import stages
from serq.machine.loop import Machine
from serq.machine.records import Outcome
from serq.machine.stages.classed import ClassedRuns
from tests.support.amounts import thinned
from tests.support.build import engine, execute, program

ROOM = str(Path(stages.__file__).parent)

SCHEDULES = {
    "sarathi": ("advance running admission; admit waiting while (running.preempted == 0);", "128"),
    "fastertransformer": (
        "advance running only (running.decoding > 0 ? decoding : !decoding); "
        "admit waiting only (running.decoding > 0 ? decoding : !decoding) while (running.preempted == 0);",
        "inf",
    ),
    "decode first": ("advance running decode first;", "6000"),
    "decode first, small budget": ("advance running decode first;", "32"),
    "two passes": ("advance running only (decoding); advance running only (!decoding);", "6000"),
    "exclusive prefill": ("exclusive prefill; admit waiting while (running.preempted == 0);", "6000"),
}


class LineCount:
    """An observer that counts the lines executed in `serq.machine.stages` from one iteration to another.

    first, last: numbers of the iterations of `e` between which lines are counted.
    """

    def __init__(self, first: int, last: int) -> None:
        self.first, self.last = first, last
        self.lines = 0
        self.residents = 0

    def watch(self, machine: Machine) -> None:
        self.engine = machine.stages["e"][0]
        self.engine.on_iteration.append(self.look)

    def look(self) -> None:
        if self.engine.tally.iterations == self.first:
            self.residents = self.engine.present
            sys.settrace(self.trace)
        elif self.engine.tally.iterations == self.last:
            sys.settrace(None)

    def trace(self, frame: FrameType, event: str, argument: Any) -> Callable[..., Any] | None:
        if not frame.f_code.co_filename.startswith(ROOM):
            return None
        self.lines += event == "line"
        return self.trace

    def finish(self, machine: Machine) -> list[Outcome]:
        assert sys.gettrace() is None, "the run was too short to be measured"
        assert isinstance(self.engine.residents, ClassedRuns)
        return []


def lines_per_iteration(source: str, residents: int, iterations: int = 40) -> float:
    """Lines of an iteration with most of `residents` decodes present."""
    count = LineCount(60, 60 + iterations)
    before = sys.gettrace()
    try:
        execute(serq.compile(source=source.replace("RESIDENTS", str(residents))), 200, observers=[count])
    finally:
        sys.settrace(before)
    assert count.residents >= 0.7 * residents
    return count.lines / iterations


@pytest.fixture(autouse=True)
def nothing_else_traces() -> None:
    if sys.gettrace() is not None:
        pytest.skip("a debugger or a coverage tool is tracing")


@pytest.mark.parametrize("schedule", thinned(SCHEDULES, 3))
def test_residents_are_not_visited(schedule: str) -> None:
    """Decodes without end, and one session after the other that comes, is served and goes."""
    statements, cap = SCHEDULES[schedule]
    source = program(
        "branch (serial < RESIDENTS) { run e decode (cost(e, 1000000)); } else { } "
        "run z (cost(z, 40 + 4 * (serial - RESIDENTS))); "
        "run e prefill (cost(e, 3)); run e decode (cost(e, 5));",
        arrive="batch(20 + RESIDENTS)",
        engine=engine(statements, cap),
    )
    few, many = (lines_per_iteration(source, n) for n in (50, 5_000))
    assert many <= few * 1.02 + 1


def test_coming_and_going_costs_the_same_in_a_crowd() -> None:
    """One decode ends and one begins in every iteration, whoever else is there."""
    source = program(
        "branch (serial < RESIDENTS) { run e decode (cost(e, 1 + serial)); } else { } "
        "loop { run e decode (cost(e, RESIDENTS)); }",
        arrive="batch(RESIDENTS)",
        engine=engine("advance running;", "inf"),
    )
    few, many = (lines_per_iteration(source, n) for n in (50, 5_000))
    assert many <= few * 1.25


def test_a_budget_that_ends_among_the_decodes_costs_the_same_in_a_crowd() -> None:
    """In standing order the same decodes are served until they end; then the next ones are."""
    source = program(
        "branch (serial < RESIDENTS) { run e decode (cost(e, 40 + 2 * serial)); } else { } ",
        arrive="batch(RESIDENTS)",
        engine=engine("advance running;", "20"),
    )
    few, many = (lines_per_iteration(source, n) for n in (50, 5_000))
    assert many <= few * 1.25 + 5
