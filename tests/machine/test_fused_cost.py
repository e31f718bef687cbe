"""What an iteration of the fused loop costs: statements of the loop executed, not time.

The loop pays for what an iteration changes. With a thousand times as many answers running, or requests
waiting, the same changes take the same number of statements. The test weaves a counter into the loop; work
inside a call to a list (`insert`, `del`, `sort`) is one statement, however long the list is.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Sequence
from itertools import count
from typing import Any

import pytest

import serq
from serq.claims.judge import Judge
from serq.machine.code import build
from serq.machine.fused import is_fused, run, run_loop
from serq.machine.loop import Machine
from serq.machine.settings import Settings
from tests.support.amounts import share, thinned
from tests.support.build import engine, execute

CROWDS = (10, 100, share(1_000), share(10_000))

IN_ORDER = "advance running; admit waiting while (running.preempted == 0);"
SCHEDULES = {
    "in order": (IN_ORDER, "inf"),
    "decode first": ("advance running decode first; admit waiting;", "inf"),
    "prefill first": ("advance running by (decoding); admit waiting;", "inf"),
    "apart": ("advance running only (decoding); advance running only (!decoding); admit waiting;", "inf"),
    "each at most 2": ("advance running each at most (2); admit waiting each at most (2);", "inf"),
}

CLAIMS = (
    "claim c: every iteration of e (tokens <= demand); claim d: every iteration of e (served <= now * 1e9);"
)


def program(server: str, engine: str, many: int, pool: str = "") -> str:
    """One engine alone, and `many` requests at time 0."""
    return (
        f"fn main() {{ {engine} {pool} workload {{ arrive batch({many}); }} server {{ {server} }} {CLAIMS} }}"
    )


class Weaver(ast.NodeTransformer):
    """Puts `one_more()` before every statement inside a function."""

    def visit(self, node: ast.AST) -> ast.AST:
        self.generic_visit(node)
        for name in ("body", "orelse"):
            block = getattr(node, name, None)
            if isinstance(block, list) and not isinstance(node, ast.Module):
                woven = [[ast.parse("one_more()").body[0], statement] for statement in block]
                setattr(node, name, [s for pair in woven for s in pair])
        return node


def counted_run(
    compiled: serq.Program, horizon: float, monkeypatch: pytest.MonkeyPatch
) -> tuple[int, Machine]:
    """Statements of the loop that a run executes, and the machine after it."""
    counter = count()

    def weave(source: str, name: str, lent: dict[str, Any]) -> Callable[..., Any]:
        woven = ast.fix_missing_locations(Weaver().visit(ast.parse(source)))
        return build(ast.unparse(woven), name, {**lent, "one_more": counter.__next__})

    monkeypatch.setattr(run, "build", weave)
    machine = Machine(compiled, Settings(horizon))
    Judge(compiled).watch(machine)
    assert is_fused(machine)
    assert run_loop(machine), "the loop has left the run to the machine of events"
    return next(counter), machine


def statements_per_iteration(source: str, monkeypatch: pytest.MonkeyPatch, begin: float, end: float) -> float:
    """Of the iterations between two times: what a run to the second costs more than one to the first."""
    compiled = serq.compile(source=source)
    (before, early), (after, late) = (counted_run(compiled, t, monkeypatch) for t in (begin, end))
    iterations = late.engines[0].tally.iterations - early.engines[0].tally.iterations
    assert iterations >= 30
    return (after - before) / iterations


def crowd(schedule: str, cap: str, running: int, waiting: int, execute: str = "1") -> str:
    """One answer ends and one prompt is admitted in every iteration; `running` stay, and `waiting` wait."""
    decode = f"serial < {running} ? 1 + serial : {running}"
    return program(
        f"hold slots (cost(slots, 1)) {{ run e prefill (cost(e, 3)); run e decode (cost(e, {decode})); }}",
        engine(schedule, cap, execute, more=f"slots cap {running};"),
        running + 100 + waiting,
        "pool slots on e { }",
    )


def flat(costs: Sequence[float]) -> bool:
    """Whether iterations cost the same in every crowd.

    Among ten what happens once in a round happens in every tenth iteration, which makes those a little
    cheaper or dearer.
    """
    return max(costs) <= 1.2 * costs[0] and max(costs[1:]) <= 1.01 * costs[1] + 1


@pytest.mark.parametrize("schedule", thinned(SCHEDULES, 3))
def test_answers_that_go_on_cost_nothing(schedule: str, monkeypatch: pytest.MonkeyPatch) -> None:
    costs = []
    for running in CROWDS if schedule == "in order" else CROWDS[:3]:
        source = crowd(*SCHEDULES[schedule], running, waiting=0)
        costs.append(statements_per_iteration(source, monkeypatch, 10.5, 70.5))
    assert flat(costs), costs


@pytest.mark.slow
def test_answers_that_go_on_cost_nothing_when_times_are_fractional(monkeypatch: pytest.MonkeyPatch) -> None:
    costs = []
    for running in CROWDS:
        lasts = 0.1 + 0.001 * running
        source = crowd(IN_ORDER, "inf", running, 0, execute="0.1 + 0.001 * batch.decoding")
        costs.append(statements_per_iteration(source, monkeypatch, 10.5 * lasts, 70.5 * lasts))
    assert flat(costs), costs


@pytest.mark.parametrize("waiting", thinned([False, True]), ids=["in the engine", "for a slot"])
def test_requests_that_wait_cost_nothing(waiting: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """A budget for one prompt at a time, and a long queue of them."""
    costs = []
    for many in CROWDS:
        if waiting:
            source = crowd(IN_ORDER, "inf", 10, many)
        else:
            source = program(
                "run e prefill (cost(e, 8)); run e decode (cost(e, 20));",
                engine("advance running decode first;", "8"),
                100 + many,
            )
        costs.append(statements_per_iteration(source, monkeypatch, 40.5, 120.5))
    assert flat(costs), costs


def test_a_backlog_of_prompts_costs_nothing_while_answers_are_written(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Decodes only, while there are any: prompts pile up, and nobody looks at them."""
    phase = "running.decoding > 0 ? decoding : !decoding"
    costs = []
    for many in CROWDS:
        source = program(
            "run e prefill (cost(e, 8)); run e decode (cost(e, 3 + serial));",
            engine(f"advance running only ({phase}) admission;", "32"),
            100 + many,
        )
        costs.append(statements_per_iteration(source, monkeypatch, 40.5, 240.5))
    assert flat(costs), costs


def test_a_budget_that_ends_among_the_answers_costs_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    """In standing order the same ones are served until they end; then the next ones are."""
    costs = []
    for many in CROWDS:
        source = program(
            "run e decode (cost(e, 10 + 2 * serial));",
            engine("advance running;", "20"),
            100 + many,
        )
        costs.append(statements_per_iteration(source, monkeypatch, 10.5, 170.5))
    assert flat(costs), costs


def test_a_crowd_that_comes_at_once_is_made_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """The first events of a run are no trial where one of them brings more sessions than a short run has."""

    def create(machine: Machine) -> None:
        raise AssertionError("the machine of events has made a session")

    monkeypatch.setattr(Machine, "_create", create)
    compiled = serq.compile(source=crowd(IN_ORDER, "inf", 10, 1_000))
    assert execute(compiled, horizon=50.5).stages[0].iterations == 51
