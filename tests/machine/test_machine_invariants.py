"""What holds in every run, whatever the program."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections import defaultdict
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

import serq
from serq.machine.loop import Machine
from serq.machine.records import Outcome, RunRecord
from serq.machine.sessions import Session
from serq.machine.stages.engine import EngineMember
from tests.support.build import engine, execute
from tests.support.drafts import Draft, Draw
from tests.support.programs import Sample, Taste, samples
from tests.support.schedules import engine_text

EXAMPLES = settings(
    max_examples=60, suppress_health_check=[HealthCheck.too_slow, HealthCheck.filter_too_much]
)
CLOSE = 1e-9


class Audit:
    """An observer that keeps account of what should balance, and checks it as the run goes on.

    asked: tokens that runs brought to each engine. given: tokens of its iterations so far, that
    under way left out. stays: how long each ended session stayed; since: when the live ones came.
    """

    def __init__(self) -> None:
        self.asked: dict[EngineMember, float] = defaultdict(float)
        self.given: dict[EngineMember, float] = defaultdict(float)
        self.budgets: dict[EngineMember, float] = {}
        self.stays: list[float] = []
        self.since: dict[int, float] = {}

    def watch(self, machine: Machine) -> None:
        self.machine = machine
        machine.on_session.append(lambda s: self.since.__setitem__(s.serial, machine.now))
        end = machine._end_session

        def end_session(session: Session) -> None:
            self.stays.append(machine.now - self.since.pop(session.serial))
            end(session)

        machine._end_session = end_session  # type: ignore[method-assign]
        for member in machine.engines:
            self.watch_engine(member)

    def watch_engine(self, member: EngineMember) -> None:
        join, cap = member.join, member._cap

        def count(session: Session, mode: str | None, work: float, *more: Any) -> None:
            self.asked[member] += work
            join(session, mode, work, *more)

        def note() -> float:
            self.budgets[member] = cap()
            return self.budgets[member]

        member.join, member._cap = count, note  # type: ignore[method-assign]
        member.on_iteration.append(lambda: self.check_iteration(member))

    def check_iteration(self, member: EngineMember) -> None:
        batch = member.residents.batch_runs()
        assert member.tokens <= self.budgets[member] + CLOSE
        assert member.tokens == pytest.approx(sum(n for _, n in batch), abs=CLOSE)
        assert member.decoders == sum(run.is_decode for run, _ in batch) <= member.decoding
        assert len({run for run, _ in batch}) == len(batch) <= member.present
        assert member.served == pytest.approx(self.given[member], abs=1e-6)
        for run, n in batch:
            assert 0 < n <= (1 if run.is_decode else member.each)
        self.given[member] += member.tokens
        self.check_pools()

    def check_pools(self) -> None:
        for members in self.machine.pools.values():
            for pool in members:
                assert -CLOSE <= pool.used <= pool.cap

    def finish(self, machine: Machine) -> list[Outcome]:
        self.check_pools()
        for member in machine.engines:
            # What was asked is what has been served and what is still to be done.
            assert member.served + member.work() == pytest.approx(self.asked[member], abs=1e-6)
        return []


def audit(s: Sample) -> tuple[Audit, RunRecord]:
    compiled = serq.compile(source=s.source)
    watched = Audit()
    try:
        run = execute(compiled, s.horizon, observers=[watched], warmup=s.warmup, arrivals=s.arrivals)
    except serq.ProgramError:
        assume(False)
    return watched, run


@EXAMPLES
@given(s=samples(Taste(random=True)))
def test_budgets_tokens_and_units_balance(s: Sample) -> None:
    audit(s)


@EXAMPLES
@given(s=samples(Taste(random=True, crowd=8)))
def test_figures_stay_within_their_bounds(s: Sample) -> None:
    watched, run = audit(s)
    span = run.end - run.warmup
    for stage in run.stages:
        assert 0 <= stage.busy_time <= span * (1 + CLOSE)
        assert stage.busy_time <= stage.area * (1 + CLOSE)
        phases = (stage.prefill_only, stage.decode_only, stage.mixed)
        assert min(phases) >= 0
        assert sum(phases) <= stage.busy_time * (1 + CLOSE)
        assert stage.decode_starts <= stage.decode_sum
    assert run.ended <= len(watched.stays)
    assert run.live_at_end == run.arrivals - len(watched.stays)
    if not run.warmup:
        # Little's law as an identity: the time average of live sessions adds up their stays.
        stays = sum(watched.stays) + sum(run.end - since for since in watched.since.values())
        assert run.live_area == pytest.approx(stays, rel=1e-9, abs=1e-9)


# ---------------------------------------------------------------- randomness


RERUN = """
import json, sys, serq
for name in sys.argv[1:]:
    s = json.load(open(name))
    try:
        print(json.dumps(serq.run(serq.compile(source=s["source"]), horizon=s["horizon"], seed=7).to_dict()))
    except serq.ProgramError as error:
        print(error)
"""


def test_a_seed_gives_the_same_bytes_whatever_the_hash_seed(tmp_path: Path, root: Path) -> None:
    """Random programs in two processes that order sets and hashes differently."""
    found: list[Sample] = []

    @settings(max_examples=25, database=None, derandomize=True, suppress_health_check=list(HealthCheck))
    @given(s=samples(Taste(random=True, crowd=8)))
    def collect(s: Sample) -> None:
        found.append(s)

    collect()
    names = [tmp_path / f"{n}.json" for n in range(len(found))]
    for name, s in zip(names, found, strict=True):
        name.write_text(json.dumps({"source": s.source, "horizon": s.horizon}), encoding="utf-8")

    def run(hash_seed: str) -> bytes:
        environment = {**os.environ, "PYTHONHASHSEED": hash_seed}
        command = [sys.executable, "-c", RERUN, *map(str, names)]
        return subprocess.run(command, cwd=root, env=environment, capture_output=True, check=True).stdout

    first = run("1")
    assert first.count(b"\n") >= len(found) and b"mean_live" in first
    assert run("2") == first


WORKLOAD = """
  workload {
    arrive renewal(~exp(2));
    init {
      set size_in = floor(~exp(9)); set a = ~bernoulli(0.25); set b = min(serial, 2);
      observe born = now; observe length = size_in + a / 2;
    }
    turn { set m = ~uniform(1, 4); observe follow_up = m; }
    session { turn; run pause (cost(pause, ~exp(3))); turn; }
  }
  stage pause : delay;
  server { run e prefill (cost(e, size_in)); run e decode (cost(e, a ? 9 : m)); }
"""


@st.composite
def engines(draw: Draw) -> str:
    return engine_text(Draft(draw, Taste(holds=False)), "e", "gpu")


@EXAMPLES
@given(first=engines(), second=engines())
def test_two_schedules_meet_the_same_sessions(first: str, second: str) -> None:
    """Arrivals and attributes hang on the seed alone: designs are compared on equal terms."""

    def drawn(text: str) -> Any:
        compiled = serq.compile(source=f"fn main() {{ device gpu {{ }} {text} {WORKLOAD} }}")
        try:
            run = execute(compiled, 40.0, seed=5)
        except serq.ProgramError:
            assume(False)
        turns = zip(
            *(getattr(run.observes["follow_up"], f) for f in ("sessions", "turns", "values")), strict=True
        )
        return run.observes["born"], run.observes["length"], {(s, t): v for s, t, v in turns}

    born, lengths, follow_ups = drawn(first)
    other_born, other_lengths, others = drawn(second)
    assert (born, lengths) == (other_born, other_lengths)
    assert {k: v for k, v in follow_ups.items() if k in others} == {
        k: v for k, v in others.items() if k in follow_ups
    }


def test_another_seed_is_another_run() -> None:
    compiled = serq.compile(source=f"fn main() {{ {engine()} {WORKLOAD} }}")
    runs = [execute(compiled, 40.0, seed=seed) for seed in (1, 1, 2)]
    assert runs[0] == runs[1]
    assert list(runs[0].observes["born"].times) != list(runs[2].observes["born"].times)
