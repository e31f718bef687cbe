"""Random programs on the reference implementation: the whole report is the same.

Left out where it is not installed.
"""

from __future__ import annotations

import json
from types import ModuleType
from typing import Any

import pytest
from hypothesis import HealthCheck, assume, given, settings

import serq
from serq.report import report_to_json
from tests.conformance.test_cases import differences
from tests.support.programs import Sample, Taste, samples

Answer = dict[str, Any] | None
"""A report; None: the run could not go on."""

NEVER_ENDS = {"SQ0605", "SQ0606", "SQ0612"}

MEANINGLESS = {"SQ0608", "SQ0621", "SQ0622", "SQ0623"}
"""A budget below 0, a probability of 2, …: the reference goes on with them."""

EXAMPLES = settings(
    max_examples=100, suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture]
)


def theirs(reference: ModuleType, s: Sample) -> Answer:
    """The reference's report without what is its own (versions, the wording of notes)."""
    finite = {} if s.arrivals is None else {"arrivals": s.arrivals}
    try:
        program = reference.compile(None, source=s.source, horizon=s.horizon, warmup=s.warmup, **finite)
    except ValueError:
        assume(False)
    try:
        report = json.loads(reference.run(program).json())
    except ValueError:
        return None
    del report["serq_version"]
    for figures in report["observes"].values():
        if figures["mean"] is not None and abs(figures["mean"]) < 1e-9:
            # A variance over the square of a mean that is 0 but for rounding.
            del figures["cv2"]
    for claim in report.get("claims", ()):
        del claim["note"]
    return report


def ours(s: Sample) -> Answer:
    program = serq.compile(source=s.source)
    try:
        report = serq.run(program, horizon=s.horizon, warmup=s.warmup, arrivals=s.arrivals)
    except serq.ProgramError as error:
        # The reference goes on for ever at an instant that never ends, taking memory as it goes.
        assume((NEVER_ENDS | MEANINGLESS).isdisjoint(d.code for d in error.diagnostics))
        return None
    return json.loads(report_to_json(report))


def check(reference: ModuleType, s: Sample) -> None:
    got = ours(s)
    want = theirs(reference, s)
    assert list(differences(want, got, "report")) == [], str(s)


@EXAMPLES
@given(s=samples())
def test_a_random_program_gives_the_reports_of_the_reference(reference: ModuleType, s: Sample) -> None:
    check(reference, s)


@EXAMPLES
@given(s=samples(Taste(whole=True, phased=True, crowd=10)))
def test_runs_served_in_classes_give_the_reports_of_the_reference(reference: ModuleType, s: Sample) -> None:
    check(reference, s)


@pytest.mark.slow
@settings(EXAMPLES, max_examples=1500)
@given(s=samples())
def test_many_random_programs_give_the_reports_of_the_reference(reference: ModuleType, s: Sample) -> None:
    check(reference, s)
