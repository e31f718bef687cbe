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
from serq.machine.pools import Held, Need, PoolMember
from serq.machine.records import Outcome, RunRecord
from serq.machine.sessions import Session
from serq.machine.stages.engine import EngineMember
from tests.support.amounts import share
from tests.support.build import engine, execute
from tests.support.drafts import Draft, Draw
from tests.support.memory import memory_samples, same_requests
from tests.support.programs import Sample, Taste, samples
from tests.support.schedules import engine_text

EXAMPLES = settings(
    max_examples=share(60), suppress_health_check=[HealthCheck.too_slow, HealthCheck.filter_too_much]
)
CLOSE = 1e-9


class Audit:
    """An observer that keeps account of what should balance, and checks it as the run goes on.

    asked: tokens that runs brought to each engine, those of preempted runs apart. given: tokens of its
    iterations so far, that under way left out. lost: tokens of the iteration under way whose runs have been
    preempted since. left: units that a session has left in a pool's cache. beyond: pools in which a hold
    took less than it found. stays: how long each ended session stayed; since: when the live ones came.
    """

    def __init__(self) -> None:
        self.asked: dict[EngineMember, float] = defaultdict(float)
        self.given: dict[EngineMember, float] = defaultdict(float)
        self.budgets: dict[EngineMember, float] = {}
        self.lost: dict[EngineMember, float] = defaultdict(float)
        self.beyond: set[PoolMember] = set()
        self.left: dict[tuple[PoolMember, Session], float] = defaultdict(float)
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
        for pool in machine.holds.pools:
            if pool.name != "tier":
                self.watch_cache(pool)

    def watch_cache(self, pool: PoolMember) -> None:
        """Nobody finds more in a cache than what it has left there."""
        leave, consume, take = pool.leave, pool.cache.consume, pool.take

        def look(held: Held, need: Need, position: float) -> None:
            if position > need.units:
                self.beyond.add(pool)
            take(held, need, position)

        def note(session: Session, units: float) -> None:
            self.left[pool, session] = max(self.left[pool, session], units)
            leave(session, units)

        def check(session: Session, units: float) -> float:
            found = consume(session, units)
            assert found <= self.left[pool, session] + CLOSE
            return found

        pool.leave, pool.cache.consume, pool.take = note, check, look  # type: ignore[method-assign]

    def watch_engine(self, member: EngineMember) -> None:
        join, cap = member.join, member._cap

        def count(session: Session, mode: str | None, work: float, *more: Any) -> None:
            self.asked[member] += work
            join(session, mode, work, *more)

        def note() -> float:
            budget = cap()
            # A `budget_left` that is read while a batch is formed asks for the budget, too.
            if not member.forming:
                self.budgets[member] = budget
            return budget

        cancel = member.cancel

        def discount(session: Session) -> None:
            run = member.visit_each().find(session)
            assert run is not None
            given = dict(member.residents.batch_runs()).get(run, 0.0)
            self.asked[member] -= run.remaining
            if not member.forming:
                # What an iteration under way computes for it is served, and will be computed again.
                self.asked[member] += given
                self.lost[member] += given
            cancel(session)

        member.cancel = discount  # type: ignore[method-assign]
        member.join, member._cap = count, note  # type: ignore[method-assign]
        member.on_iteration.append(lambda: self.check_iteration(member))

    def check_iteration(self, member: EngineMember) -> None:
        self.lost[member] = 0.0
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
                self.check_pool(pool)

    def check_pool(self, pool: PoolMember) -> None:
        assert -CLOSE <= pool.used <= pool.cap
        # What other pools write down may exceed a cap until somebody makes room. So may, as in the
        # reference, the prefix of a hold that takes fewer units than it found cached.
        if pool.name != "tier" and pool not in self.beyond:
            assert pool.used + pool.cache.units <= pool.cap + CLOSE
        assert pool.used == pytest.approx(sum(part.units for part in pool.parts), abs=CLOSE)
        entries = pool.cache.entries()
        assert pool.cache.units == pytest.approx(sum(entry.units for entry in entries), abs=CLOSE)
        assert all(entry.units > 0 for entry in entries)
        for part in pool.parts:
            assert pool.block is None or part.units % pool.block == 0

    def finish(self, machine: Machine) -> list[Outcome]:
        self.check_pools()
        for member in machine.engines:
            # What was asked is what has been served and what is still to be done.
            lost = 0.0 if member.idle else self.lost[member]
            done = member.served + lost + member.work()
            assert done == pytest.approx(self.asked[member], abs=1e-6)
        return []


def audit(s: Sample) -> tuple[Audit, RunRecord]:
    watched = Audit()
    try:
        compiled = serq.compile(source=s.source)
        run = execute(compiled, s.horizon, observers=[watched], warmup=s.warmup, arrivals=s.arrivals)
    except serq.ProgramError:
        assume(False)
    return watched, run


@EXAMPLES
@given(s=samples(Taste(random=True)))
def test_budgets_tokens_and_units_balance(s: Sample) -> None:
    audit(s)


@EXAMPLES
@given(s=memory_samples())
def test_units_are_conserved_and_never_above_a_cap(s: Sample) -> None:
    audit(s)


@EXAMPLES
@given(s=memory_samples(Taste(whole=True, phased=True, crowd=12)))
def test_units_are_conserved_where_runs_are_served_in_classes(s: Sample) -> None:
    audit(s)


@pytest.mark.slow
@settings(EXAMPLES, max_examples=1000)
@given(s=memory_samples())
def test_units_are_conserved_in_many_programs(s: Sample) -> None:
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

    @settings(EXAMPLES, max_examples=share(25), database=None, derandomize=True)
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


@EXAMPLES
@given(pair=same_requests())
def test_two_schedules_meet_the_same_sessions_whatever_they_hold(pair: tuple[Sample, Sample]) -> None:
    """Who waits, loses its memory or is rejected changes nothing of what the client asks for."""

    def drawn(s: Sample) -> tuple[list[float], dict[Any, float]]:
        try:
            run = execute(serq.compile(source=s.source), s.horizon, seed=5)
        except serq.ProgramError:
            assume(False)
        asked = {}
        for name in ("length", "next"):
            o = run.observes[name]
            asked |= {(name, s, t): v for s, t, v in zip(o.sessions, o.turns, o.values, strict=True)}
        return list(run.observes["born"].values), asked

    (born, asked), (other_born, others) = drawn(pair[0]), drawn(pair[1])
    if "arrive closed" not in pair[0].source:
        assert born == other_born
    assert {k: v for k, v in asked.items() if k in others} == {k: v for k, v in others.items() if k in asked}


def test_another_seed_is_another_run() -> None:
    compiled = serq.compile(source=f"fn main() {{ {engine()} {WORKLOAD} }}")
    runs = [execute(compiled, 40.0, seed=seed) for seed in (1, 1, 2)]
    assert runs[0] == runs[1]
    assert list(runs[0].observes["born"].times) != list(runs[2].observes["born"].times)
