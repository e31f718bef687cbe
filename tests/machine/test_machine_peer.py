"""Random programs on the reference implementation: the whole report is the same.

Left out where it is not installed.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from hypothesis import HealthCheck, assume, given, settings

import serq
from serq.report import report_to_json
from tests.conformance.test_cases import differences
from tests.support.amounts import share
from tests.support.memory import memory_samples
from tests.support.peer import Peer
from tests.support.programs import Sample, Taste, samples

CONVERSATIONS = Path(__file__).parents[1] / "bench" / "programs" / "prefix_cache.sq"

Answer = dict[str, Any] | None
"""A report; None: the run could not go on."""

NEVER_ENDS = {"SQ0605", "SQ0606", "SQ0612", "SQ0631"}
"""The reference stays at an instant that never ends, taking memory as it goes, or ends it at some point."""

MEANINGLESS = {"SQ0608", "SQ0621", "SQ0622", "SQ0623"}
"""A budget below 0, a probability of 2, …: the reference goes on with them."""

EXAMPLES = settings(
    max_examples=share(100),
    suppress_health_check=[
        HealthCheck.too_slow, HealthCheck.function_scoped_fixture, HealthCheck.filter_too_much
    ],
)  # fmt: skip


@pytest.fixture(scope="module")
def peer(reference: ModuleType) -> Iterator[Peer]:
    """The reference in a process of its own."""
    found = Peer()
    yield found
    found.close()


def ours(s: Sample) -> Answer:
    try:
        program = serq.compile(source=s.source)
    except serq.ProgramError:
        assume(False)
    try:
        report = serq.run(program, horizon=s.horizon, warmup=s.warmup, arrivals=s.arrivals)
    except serq.ProgramError as error:
        assume((NEVER_ENDS | MEANINGLESS).isdisjoint(d.code for d in error.diagnostics))
        return None
    return json.loads(report_to_json(report))


def check(peer: Peer, s: Sample) -> None:
    got = ours(s)
    want = peer.ask(s)
    assume(want.kind not in ("refused", "lost"))
    assert list(differences(want.report, got, "report")) == [], str(s)


@EXAMPLES
@given(s=samples())
def test_a_random_program_gives_the_reports_of_the_reference(peer: Peer, s: Sample) -> None:
    check(peer, s)


@EXAMPLES
@given(s=samples(Taste(whole=True, phased=True, crowd=10)))
def test_runs_served_in_classes_give_the_reports_of_the_reference(peer: Peer, s: Sample) -> None:
    check(peer, s)


@settings(EXAMPLES, max_examples=share(60))
@given(s=memory_samples())
def test_a_random_program_about_memory_gives_the_reports_of_the_reference(peer: Peer, s: Sample) -> None:
    check(peer, s)


@pytest.mark.slow
@settings(EXAMPLES, max_examples=1500)
@given(s=samples())
def test_many_random_programs_give_the_reports_of_the_reference(peer: Peer, s: Sample) -> None:
    check(peer, s)


@pytest.mark.slow
@settings(EXAMPLES, max_examples=1000)
@given(s=memory_samples())
def test_many_random_programs_about_memory_give_the_reports_of_the_reference(peer: Peer, s: Sample) -> None:
    check(peer, s)


@pytest.mark.slow
@settings(EXAMPLES, max_examples=500)
@given(s=memory_samples(Taste(whole=True, phased=True, crowd=12)))
def test_memory_in_classes_gives_the_reports_of_the_reference(peer: Peer, s: Sample) -> None:
    check(peer, s)


@pytest.mark.slow
@pytest.mark.parametrize("memory", ["100000", "60000"])
def test_three_thousand_conversations_give_the_report_of_the_reference(peer: Peer, memory: str) -> None:
    """A prefix cache in blocks, 64 slots, about 60 requests running; with less memory, preemptions."""
    source = CONVERSATIONS.read_text(encoding="utf-8").replace('"memory", 100000', f'"memory", {memory}')
    s = Sample(source, horizon=900.0)
    want = peer.ask(s, seconds=120.0)
    assert want.kind not in ("refused", "lost")
    assert list(differences(want.report, ours(s), "report")) == []
