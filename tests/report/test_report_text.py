"""The text report: golden layouts, the claim table, numbers."""

from __future__ import annotations

import pytest

import serq
from serq.report import ClaimResult, make_report, show_report
from serq.report.show import show_claims
from serq.report.table import show_number


@pytest.mark.parametrize("run", ["chunked_prefill", "preemption", "trouble"])
def test_a_report_reads_as_in_its_golden_file(run, request, golden):
    golden(f"{run}.txt", show_report(make_report(request.getfixturevalue(run), "1.2.3")))


def test_the_claim_table_of_one_claim():
    claim = ClaimResult("work_conserving", "every_iteration", "holds", 1060, 0, None, None)
    assert show_claims((claim,)).splitlines() == [
        "claim            kind             result",
        "work_conserving  every iteration  holds (1060 iterations)",
    ]


def test_no_line_ends_in_a_space(trouble):
    lines = show_report(make_report(trouble, "1.2.3")).splitlines()
    assert [line for line in lines if line != line.rstrip()] == []


@pytest.mark.parametrize(
    ("number", "text"),
    [
        (None, ""),
        (float("nan"), ""),
        (float("inf"), ""),
        (0.0, "0"),
        (-0.0, "0"),
        (4_642_275.0, "4642275"),
        (5e14, "500000000000000"),
        (4681.040268, "4681.04"),
        (0.7727272727, "0.772727"),
        (0.050731, "0.050731"),
        (93_500.25, "93500.2"),
        (1_234_567.8, "1234568"),
        (-2.5, "-2.5"),
        (999_999.9, "1000000"),
        (1e-7, "1e-07"),
        (8.8740243e-18, "8.87402e-18"),
        (1e15, "1e+15"),
        (1.5e300, "1.5e+300"),
    ],
)
def test_numbers_are_compact_and_keep_their_whole_part(number, text):
    assert show_number(number) == text


@pytest.mark.parametrize(("count", "maximum"), [(1, True), (99, True), (100, False)])
def test_a_99th_percentile_of_few_samples_is_called_what_it_is(count: int, maximum: bool) -> None:
    program = serq.compile(
        source="""fn main() {
          stage desk : fifo (1);
          workload { arrive renewal(1); }
          server { observe rank = serial; observe odd = serial > 3; run desk (cost(desk, serial)); }
        }"""
    )
    report = serq.run(program, horizon=1e6, arrivals=count)
    said = f"note: p99 of fewer than 100 samples is the maximum: rank ({count}), response ({count})"
    assert (said in show_report(report).splitlines()) is maximum
    assert (report.observes["rank"].p99 == count - 1) is maximum
