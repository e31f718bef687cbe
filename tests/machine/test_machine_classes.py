"""Runs served in classes, and runs visited one by one: the same run, to the last digit."""

from __future__ import annotations

from itertools import product
from typing import Any

import attrs
import pytest
from hypothesis import HealthCheck, given, settings

import serq
from serq.machine.records import RunRecord
from serq.machine.stages.engine import EngineMember
from tests.support.amounts import share, thinned
from tests.support.build import engine, execute, gaps, program
from tests.support.conversations import conversations
from tests.support.programs import Sample, Taste, samples
from tests.support.schedules import ONE_PHASE

EXAMPLES = settings(
    max_examples=share(60), suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture]
)


def outcome(compiled: serq.Program, horizon: float, **more: Any) -> RunRecord | str:
    try:
        return execute(compiled, horizon, **more)
    except serq.ProgramError as error:
        return str(error)


def fields(run: RunRecord | str) -> Any:
    """Everything recorded; gaps counted, since the two note them in different orders."""
    if isinstance(run, str):
        return run
    found = attrs.asdict(run)
    for row, tally in zip(found["stages"], run.stages, strict=True):
        row["gaps"], row["gap_counts"] = gaps(tally), None
    return found


def check(monkeypatch: pytest.MonkeyPatch, source: str, horizon: float, **more: Any) -> None:
    compiled = serq.compile(source=source)
    classed = outcome(compiled, horizon, **more)
    with monkeypatch.context() as patch:
        patch.setattr(EngineMember, "_can_class", lambda self: False)
        each = outcome(compiled, horizon, **more)
    assert fields(classed) == fields(each)


@EXAMPLES
@given(s=samples(Taste(whole=True, phased=True, crowd=12)))
def test_random_programs(monkeypatch: pytest.MonkeyPatch, s: Sample) -> None:
    check(monkeypatch, s.source, s.horizon, warmup=s.warmup, arrivals=s.arrivals)


@EXAMPLES
@given(s=samples(Taste(phased=True, crowd=12)))
def test_random_programs_with_fractions(monkeypatch: pytest.MonkeyPatch, s: Sample) -> None:
    """A fraction sends an engine to visiting its runs, in the middle of an iteration perhaps."""
    check(monkeypatch, s.source, s.horizon, warmup=s.warmup, arrivals=s.arrivals)


SCHEDULES = {
    "admission order": "advance running; admit waiting;",
    "decode first": "advance running decode first; admit waiting;",
    "prefills, then decodes": "advance running by (decoding); admit waiting;",
    "in two passes": "advance running only (decoding); advance running only (!decoding); admit waiting;",
    "twice everybody": "advance running by (-decoding); advance running; admit waiting;",
    "one phase at a time": f"advance running only ({ONE_PHASE}); admit waiting;",
    "taking turns": "set n = 1 - n; advance running only (decoding == n); "
    "admit waiting only (decoding == n);",
    "exclusive prefill": "exclusive prefill; admit waiting while (running.preempted == 0);",
    "newcomers first": "admit waiting while (waiting.admitted < 2); advance running;",
    "a limit per run": "advance running each at most (3); admit waiting each at most (3);",
    "by load": "branch (running.count > 9) { advance running decode first; } else { advance running; } "
    "admit waiting;",
}
CAPS = ("3", "16", "64", "inf", "max(2, 40 - running.count)")
DECODES = ("5 + 7 * b", "serial == 40 ? 4.5 : 5 + 7 * b")
LENGTHS = "set a = serial - 5 * floor(serial / 5); set b = serial - 3 * floor(serial / 3);"
SERVER = (
    "hold slots (cost(slots, 1)) { run e prefill (cost(e, 3 + 4 * a)); run e decode (cost(e, LENGTH)); "
    "run e prefill (cost(e, b)); run e decode (cost(e, 2 + a)); } run e decode (cost(e, 1 + b));"
)


@pytest.mark.parametrize(("name", "cap", "length"), thinned(product(SCHEDULES, CAPS, DECODES), 7))
def test_many_residents(monkeypatch: pytest.MonkeyPatch, name: str, cap: str, length: str) -> None:
    """Sixty sessions with ever shifting phases: budgets above and below the number of decodes."""
    schedule = SCHEDULES[name]
    register = "state n = 0;" if "set n" in schedule else ""
    source = program(
        SERVER.replace("LENGTH", length),
        "pool slots on e { queue by (a, -serial); }",
        "gauge here = queue(e); gauge at_work = busy(e);",
        "claim full: every iteration of e (demand < 16 || tokens == 16);",
        "claim sums: every iteration of e (tokens == prefilled + decoders && attention < 900);",
        arrive="batch(60)",
        workload=f"init {{ {LENGTHS} }}",
        engine=engine(
            schedule, cap, "1 + batch.tokens / 8 + batch.decoding / 4", f"slots cap 45; {register}"
        ),
    )
    check(monkeypatch, source, 400.0, warmup=50.0)


RETURNS = """
fn main() {
  device gpu { kv cap 64; }
  engine llm on gpu { reqs cap 4; tokens cap 8; schedule { admit waiting; advance running; } execute (1); }
  pool reqs on llm { }
  pool kv on gpu { evict lru; }
  stage pause : delay;
  workload {
    arrive renewal(2);
    init { set p = 1 + serial - 3 * floor(serial / 3); set ctx = 0; set n = 0; }
    session { while (n < 2) { turn; set ctx = ctx + p + 3; set n = n + 1; run pause (cost(pause, 1 + n)); } }
  }
  server {
    hold reqs (cost(reqs, 1)), kv (cost(kv, ctx + p)) { run llm decode (cost(llm, 3)) growing kv; }
    cache (cost(reqs, kv, ctx + p + 3))
  }
}
"""


def test_a_decode_that_leaves_its_segment_and_comes_back_grows_once(monkeypatch: pytest.MonkeyPatch) -> None:
    check(monkeypatch, RETURNS, 60.0)


@EXAMPLES
@given(s=conversations())
def test_conversations(monkeypatch: pytest.MonkeyPatch, s: Sample) -> None:
    check(monkeypatch, s.source, s.horizon, warmup=s.warmup, arrivals=s.arrivals)


@pytest.mark.slow
@settings(EXAMPLES, max_examples=1000)
@given(s=samples(Taste(whole=True, phased=True, crowd=25)))
def test_many_random_programs(monkeypatch: pytest.MonkeyPatch, s: Sample) -> None:
    check(monkeypatch, s.source, s.horizon, warmup=s.warmup, arrivals=s.arrivals)
