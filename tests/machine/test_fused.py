"""The fused loop and the machine of events: a program of the fragment runs the same on both."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, assume, given, settings

import serq
from serq.claims.judge import Judge
from serq.machine.fused import is_fused, run_loop
from serq.machine.fused.fragment import find_fused
from serq.machine.loop import Machine
from serq.machine.plain.loop import run_plain
from serq.machine.records import RunRecord
from serq.machine.settings import Settings
from tests.conformance.test_cases import find_cases
from tests.machine.test_plain import differences, fields
from tests.support.amounts import share, thinned
from tests.support.programs import Sample
from tests.support.simple import simple_samples

EXAMPLES = settings(
    max_examples=share(100), suppress_health_check=[HealthCheck.too_slow, HealthCheck.filter_too_much]
)


def by_loop(compiled: serq.Program, asked: Settings) -> RunRecord | None:
    """What the loop records; None where it leaves the run to the machine."""
    for cycles in (True, False):
        judge = Judge(compiled)
        machine = Machine(compiled, asked)
        judge.watch(machine)
        if not is_fused(machine):
            return None
        over = run_loop(machine, cycles=cycles)
        if over is not None:
            return machine.record(judge.finish(machine)) if over else None
    raise AssertionError("a loop that passes over nothing settles every claim")


def by_events(compiled: serq.Program, asked: Settings) -> RunRecord:
    """The same of the machine of events."""
    judge = Judge(compiled)
    machine = Machine(compiled, asked)
    judge.watch(machine)
    machine.run()
    return machine.record(judge.finish(machine))


def check(compiled: serq.Program, asked: Settings) -> bool:
    """Both record the same; False: the loop has left it to the machine."""
    found = by_loop(compiled, asked)
    if found is None:
        return False
    expected = by_events(compiled, asked)
    assert list(differences(fields(found), fields(expected), "run", rounding=1e-12)) == []
    return True


@pytest.mark.parametrize(("source", "case"), thinned(find_cases()))
def test_a_conformance_case_runs_the_same(source: Path, case: dict[str, Any]) -> None:
    try:
        compiled = serq.compile(source, sets=case.get("sets", {}))
    except serq.ProgramError:
        pytest.skip("it is refused")
    if isinstance(find_fused(compiled), str):
        pytest.skip("it is not of the fragment")
    check(
        compiled,
        Settings(float(case["horizon"]), float(case.get("warmup", 0)), case["seed"], case.get("arrivals")),
    )


@EXAMPLES
@given(simple_samples())
def test_a_random_program_runs_the_same(s: Sample) -> None:
    try:
        compiled = serq.compile(source=s.source)
        ran = check(compiled, Settings(s.horizon, s.warmup, arrivals=s.arrivals))
    except serq.ProgramError:
        ran = False
    assume(ran)


@pytest.mark.slow
@settings(EXAMPLES, max_examples=300)
@given(simple_samples())
def test_claims_over_strides_are_answered_as_by_the_plain_machine(s: Sample) -> None:
    try:
        compiled = serq.compile(source=s.source)
    except serq.ProgramError:
        assume(False)
    asked = Settings(s.horizon, s.warmup, arrivals=s.arrivals)
    found = by_loop(compiled, asked)
    assume(found is not None)
    assert found is not None
    assert found.outcomes == run_plain(compiled, asked).outcomes


BUILT_IN = """fn main() {
  device gpu { }
  engine e on gpu { tokens cap 8; schedule { advance running; } execute (1); }
  workload { arrive renewal(3); init { set new = 5; set out = 2; set think = 7; } }
  server {
    run e prefill (cost(e, new));
    run e decode (cost(e, out));
    observe read = new * 100 + out * 10 + think + forced;
  }
}"""


def test_attributes_with_a_meaning_of_their_own_are_kept_apart() -> None:
    compiled = serq.compile(source=BUILT_IN)
    assert check(compiled, Settings(3_000.0))
    assert set(serq.run(compiled, horizon=3_000).observes["read"].samples) == {527.0}
