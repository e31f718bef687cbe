"""The plain machine and the fast one: every program runs the same on both, iteration by iteration."""

from __future__ import annotations

import math
from array import array
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import attrs
import pytest
from hypothesis import HealthCheck, assume, given, settings

import serq
from serq.claims.judge import Judge
from serq.diagnostics import InternalError
from serq.machine.plain.loop import run_plain
from serq.machine.recorder import Recorder
from serq.machine.records import Iteration, RunRecord
from serq.machine.run import run_program
from serq.machine.settings import Settings
from tests.conformance.test_cases import find_cases
from tests.support.amounts import share, thinned
from tests.support.build import engine, gaps, program
from tests.support.memory import memory_samples
from tests.support.programs import Sample, Taste, samples

EXAMPLES = settings(max_examples=share(60), suppress_health_check=[HealthCheck.too_slow])


def fast(compiled: serq.Program, asked: Settings) -> tuple[RunRecord | str, list[Iteration]]:
    """What the fast machine records; the message of a run that cannot go on."""
    seen = Recorder()
    try:
        return run_program(compiled, asked, [Judge(compiled), seen]), seen.iterations
    except serq.ProgramError as error:
        return str(error), seen.iterations


def plain(compiled: serq.Program, asked: Settings) -> tuple[RunRecord | str, list[Iteration]]:
    """The same of the plain machine."""
    seen = Recorder()
    try:
        return run_plain(compiled, asked, [seen]), seen.iterations
    except serq.ProgramError as error:
        return str(error), seen.iterations


def fields(record: RunRecord | str) -> Any:
    """Everything recorded, but doubts, which the plain machine has not. Gaps are counted: their order means
    nothing."""
    if isinstance(record, str):
        return record
    found = attrs.asdict(record, filter=lambda field, _: field.name not in ("waits", "vacuous"))
    for row, tally in zip(found["stages"], record.stages, strict=True):
        row["gaps"], row["gap_counts"] = dict(gaps(tally)), None
    return found


def differences(a: Any, b: Any, path: str = "", rounding: float = 0.0) -> Iterator[str]:
    """Where two records differ; `rounding`: relative, of time integrals and other sums."""
    if isinstance(a, dict) and isinstance(b, dict):
        for key in a.keys() | b.keys():
            yield from differences(a.get(key), b.get(key), f"{path}.{key}", rounding)
    elif isinstance(a, list) and isinstance(b, list) and len(a) == len(b):
        for i, (x, y) in enumerate(zip(a, b, strict=True)):
            yield from differences(x, y, f"{path}[{i}]", rounding)
    elif isinstance(a, float) and isinstance(b, float):
        both_nan = a != a and b != b
        if not (both_nan or a == b or math.isclose(a, b, rel_tol=rounding, abs_tol=rounding)):
            yield f"{path}: {a!r} is not {b!r}"
    elif isinstance(a, array) and isinstance(b, array) and a != b and len(a) == len(b):
        yield from differences(a.tolist(), b.tolist(), path, rounding)
    elif a != b:
        yield f"{path}: {a!r} is not {b!r}"


def check(compiled: serq.Program, asked: Settings, rounding: float = 0.0) -> None:
    """The program runs the same on both machines."""
    a, iterations_a = fast(compiled, asked)
    b, iterations_b = plain(compiled, asked)
    assert list(differences(fields(a), fields(b), "run", rounding)) == []
    shown_a, shown_b = ([attrs.asdict(i) for i in found] for found in (iterations_a, iterations_b))
    assert list(differences(shown_a, shown_b, "iteration", rounding)) == []


def check_sample(s: Sample) -> None:
    try:
        compiled = serq.compile(source=s.source)
    except serq.ProgramError:
        assume(False)
    check(compiled, Settings(s.horizon, s.warmup, arrivals=s.arrivals))


# ---------------------------------------------------------------- what iterations look like

CHUNKED = program(arrive="renewal(10)", engine=engine(execute="1 + 2 * batch.tokens"))
FIRST = [
    (10.0, 9.0, 4.0, 0, 1, ((0, 4.0),)),
    (19.0, 3.0, 1.0, 0, 1, ((0, 1.0),)),
    (22.0, 9.0, 4.0, 0, 2, ((1, 4.0),)),
    (31.0, 5.0, 1.0, 1, 2, ((1, 1.0), (0, 1.0))),
    (36.0, 5.0, 0.0, 2, 2, ((0, 1.0), (1, 1.0))),
    (41.0, 3.0, 0.0, 1, 1, ((1, 1.0),)),
]
"""start, duration, prefilled, decoders, residents, batch: two requests, at 10 and 20, worked out by hand."""


@pytest.mark.parametrize("run", [fast, plain])
def test_iterations_are_recorded_as_they_start(run: Any) -> None:
    _, iterations = run(serq.compile(source=CHUNKED), Settings(50.0, arrivals=2))
    assert [(i.start, i.duration, i.prefilled, i.decoders, i.residents, i.batch) for i in iterations] == FIRST
    assert [(i.engine, i.index, i.tokens) for i in iterations] == [
        ("e", None, tokens) for tokens in (4.0, 1.0, 4.0, 2.0, 2.0, 1.0)
    ]


# ---------------------------------------------------------------- programs


@pytest.mark.parametrize(("source", "case"), thinned(find_cases()))
def test_a_conformance_case_runs_the_same_on_both(source: Path, case: dict[str, Any]) -> None:
    try:
        compiled = serq.compile(source, sets=case.get("sets", {}))
    except serq.ProgramError:
        pytest.skip("it is refused")
    asked = Settings(float(case["horizon"]), float(case.get("warmup", 0)), case["seed"], case.get("arrivals"))
    try:
        check(compiled, asked, rounding=1e-12)
    except InternalError as error:
        pytest.skip(str(error))


@EXAMPLES
@given(s=samples())
def test_a_random_program_runs_the_same_on_both(s: Sample) -> None:
    check_sample(s)


@EXAMPLES
@given(s=samples(Taste(whole=True, phased=True, crowd=10)))
def test_runs_served_in_classes_are_served_the_same_one_by_one(s: Sample) -> None:
    check_sample(s)


@EXAMPLES
@given(s=memory_samples())
def test_a_random_program_about_memory_runs_the_same_on_both(s: Sample) -> None:
    check_sample(s)


@EXAMPLES
@given(s=memory_samples(Taste(whole=True, phased=True, crowd=12)))
def test_memory_is_given_the_same_to_classes_and_to_runs(s: Sample) -> None:
    check_sample(s)


@pytest.mark.slow
@settings(EXAMPLES, max_examples=1000)
@given(s=samples())
def test_many_random_programs_run_the_same_on_both(s: Sample) -> None:
    check_sample(s)


@pytest.mark.slow
@settings(EXAMPLES, max_examples=2000)
@given(s=memory_samples())
def test_many_random_programs_about_memory_run_the_same_on_both(s: Sample) -> None:
    check_sample(s)


DRAWN = program(
    "hold slots (cost(slots, 1)), kv (cost(kv, min(prompt, budget_left(e)))) { "
    "run e prefill (cost(e, prompt)) growing kv; run e decode (cost(e, ceil(~exp(4)))) growing kv; } "
    "cache (cost(slots, kv, ~uniform(0, 9)))",
    "pool kv on d_e { block 2; preempt by (-admission) requeue tail; evict by (~uniform(0, 1)); "
    "spill tier via z (~exp(size)) when (~bernoulli(0.5)); }",
    "pool slots on e { }",
    "pool tier { cap 20; }",
    "stage pause : delay;",
    "gauge here = queue(e);",
    "claim full: every iteration of e (demand < 8 || tokens == 8);",
    arrive="poisson(0.4)",
    workload="init { set prompt = 1 + floor(~h2(5, 3)); } "
    "session { turn; run pause (cost(pause, ~erlang(2, 3))); turn; }",
    engine="device d_e { kv cap 24; } engine e on d_e { slots cap 3; tokens cap 8; "
    "schedule { advance running; admit waiting while (running.preempted == 0); } "
    "execute (~uniform(0.5, 1) + 0.1 * batch.tokens); }",
)


@pytest.mark.parametrize("seed", range(3))
def test_both_draw_the_same(seed: int) -> None:
    """Durations are arbitrary numbers here: sums may differ in their last digits."""
    check(serq.compile(source=DRAWN), Settings(150.0, 20.0, seed), rounding=1e-12)


# ---------------------------------------------------------------- the front door


def test_the_front_door_gives_the_same_report_on_both() -> None:
    compiled = serq.compile(source=CHUNKED)
    reports = [serq.run(compiled, horizon=50, arrivals=2, plain=plain).to_dict() for plain in (False, True)]
    assert reports[0] == reports[1]
