"""Records to report: the worked examples of the semantics, figure by figure."""

from __future__ import annotations

import json
from array import array

import attrs
import numpy as np
import pytest

from serq.machine.records import Outcome, RunRecord, Samples, Series
from serq.report import ClaimResult, OverCap, exit_status, make_report, report_to_json

RESPONSE = {"count": 2, "mean": 27.5, "ci": None, "cv2": 0.03239669421487603, "p99": 31}

CHUNKED_PREFILL = {
    "version": "1.2.3",
    "horizon": 50,
    "end": 44,
    "warmup": 0,
    "seed": 1,
    "events": 8,
    "arrivals": 2,
    "ended": 2,
    "turns": 2,
    "mean_live": 1.25,
    "observes": {"response": RESPONSE},
    "client": {
        "ttft": {"count": 2, "mean": 14, "ci": None, "cv2": 0.04081632653061224, "p99": 16},
        "tpot": {"count": 2, "mean": 6.75, "ci": None, "cv2": 0.3319615912208505, "p99": 9.5},
        "response": RESPONSE,
    },
    "gauges": {"jobs": {"mean": 1.25, "ci": 0.3762336313543939, "min": 0, "max": 2}},
    "claims": [
        {
            "name": "full",
            "kind": "every_iteration",
            "result": "holds",
            "checked": 6,
            "failures": 0,
            "first": None,
            "note": None,
        }
    ],
    "stages": [
        {
            "name": "e",
            "index": None,
            "mean_number": 1.25,
            "utilization": 0.7727272727272727,
            "completed": 4,
            "throughput": 0.09090909090909091,
            "mean_wait": 0,
            "mean_service": 13.75,
            "iterations": 6,
            "prefill_only": 0.4772727272727273,
            "decode_only": 0.18181818181818182,
            "mixed": 0.11363636363636363,
            "mean_decodes": 0.4090909090909091,
            "mean_decode_batch": 1.3333333333333333,
            "mean_decode_step": 4.333333333333333,
            "mean_itl": 6.75,
            "itl_p50": 5,
            "itl_p99": 14,
            "idle_with_work": False,
        }
    ],
    "pools": [],
}
"""The example of the report's specification, from the table of semantics, section 12."""


def assert_near(got, want, path="report"):
    """Equal keys in equal order, equal words, numbers within 1e-9 of each other."""
    if isinstance(want, dict):
        assert list(got) == list(want), path
        for key in want:
            assert_near(got[key], want[key], f"{path}.{key}")
    elif isinstance(want, list):
        assert len(got) == len(want), path
        for i, (g, w) in enumerate(zip(got, want, strict=True)):
            assert_near(g, w, f"{path}[{i}]")
    elif isinstance(want, float):
        assert got == pytest.approx(want, rel=1e-9, abs=1e-12), path
    else:
        assert (got, type(got)) == (want, type(want)), path


def test_the_first_worked_example(chunked_prefill: RunRecord):
    report = make_report(chunked_prefill, "1.2.3")
    assert_near(report.to_dict(), CHUNKED_PREFILL)
    assert report.to_dict() == json.loads(report_to_json(report))


def test_the_second_worked_example(preemption: RunRecord):
    report = make_report(preemption, "1.2.3")
    assert report.mean_live == 1.9
    assert report.observes["done"].mean == pytest.approx(19 / 3)
    assert report.observes["done"].cv2 == pytest.approx(0.157895, rel=1e-5)
    assert report.client["ttft"].mean == pytest.approx(10 / 3)
    assert report.client["tpot"].mean == 1
    used = report.gauges["used_kv"]
    assert (used.mean, used.min, used.max) == (pytest.approx(7.4), 0, 12)
    assert used.ci == pytest.approx(1.747175, rel=1e-6)

    e = report.stage("e")
    assert (e.mean_number, e.utilization, e.completed, e.iterations) == (1.5, 0.9, 6, 9)
    assert e.mean_service == pytest.approx(14 / 6)
    assert (e.prefill_only, e.mixed, e.decode_only) == (0.1, 0.4, 0.4)
    assert (e.mean_decodes, e.mean_decode_batch, e.mean_decode_step) == (0.9, 9 / 8, 1)

    reqs, kv = report.pools
    assert (reqs.mean_used, reqs.mean_queue, reqs.mean_wait, reqs.admissions) == (1.5, 0.4, 1, 4)
    assert (kv.mean_used, kv.mean_wait, kv.admissions, kv.preemptions, kv.stuck) == (7.4, None, 4, 1, 0)
    assert "claims" not in report.to_dict()


def test_only_samples_from_the_warm_up_on_count(trouble: RunRecord):
    report = make_report(trouble, "1.2.3")
    late = report.observes["late"]
    assert (late.count, late.mean) == (41, 0)
    assert late.times[0] == 100
    assert late.sessions.tolist() == list(range(100, 141))
    assert report.observes["depth"].count == 0
    assert report.observes["depth"].mean is None


def test_samples_may_be_recorded_out_of_the_order_of_their_times():
    record = Samples(
        array("d", [5, 3, 6]), array("q", [0, 1, 2]), array("q", [1, 1, 1]), array("d", [7, 8, 9])
    )
    report = make_report(_bare(observes={"o": record}, warmup=4.0), "1.2.3")
    assert report.observes["o"].samples.tolist() == [7, 9]


def test_a_gauge_keeps_its_change_points_of_the_whole_run(trouble: RunRecord):
    load = make_report(trouble, "1.2.3").gauges["load"]
    assert (load.mean, load.ci, load.min, load.max) == (0.25, 0, 0.25, 0.25)
    assert load.times.tolist() == [0, 100, 1000]
    assert load.values.tolist() == [5, 0.25, 9]


def test_the_arrays_of_a_report_are_not_written_to(chunked_prefill: RunRecord):
    report = make_report(chunked_prefill, "1.2.3")
    with pytest.raises(ValueError, match="read-only"):
        report.observes["response"].samples[0] = 1


def test_equal_runs_have_equal_reports(chunked_prefill: RunRecord):
    once, again = make_report(chunked_prefill, "1.2.3"), make_report(chunked_prefill, "1.2.3")
    assert once == again
    chunked_prefill.observes["response"].values[0] = 30.0
    assert once != make_report(chunked_prefill, "1.2.3")


def test_rows_are_found_by_name(trouble: RunRecord):
    report = make_report(trouble, "1.2.3")
    assert report.claim("starves").first == 93_500
    assert report.stage("e", 1).mean_number == 0
    assert report.pool("kv", 1).over_cap == OverCap("kv", 9)
    for find, message in (
        (report.claim, "no claim `e`"),
        (report.stage, "no stage `e`"),
        (report.pool, "no pool `e`"),
    ):
        with pytest.raises(KeyError, match=message):
            find("e")


@pytest.mark.parametrize(
    ("results", "status"),
    [
        ([], 0),
        (["holds", "witnessed"], 0),
        (["holds", "not_witnessed"], 3),
        (["not_evaluated"], 3),
        (["out_of_scope", "holds"], 3),
        (["fails", "out_of_scope"], 1),
        (["not_witnessed", "fails"], 1),
    ],
)
def test_the_exit_status_follows_the_claims(results, status):
    outcomes = [Outcome(f"c{i}", "every_iteration", r, 1, 0, None, None) for i, r in enumerate(results)]
    assert exit_status(make_report(_bare(outcomes=outcomes), "1.2.3")) == status


def test_json_has_null_for_what_is_not_finite_and_no_fraction_for_whole_numbers():
    nan, inf = float("nan"), float("inf")
    record = _bare(
        observes={"o": Samples(array("d", [1]), array("q", [0]), array("q", [1]), array("d", [inf]))},
        gauges={
            "g": Series(array("d", [0]), array("d", [nan])),
            "h": Series(array("d", [0]), array("d", [5e6])),
            "i": Series(array("d", [0]), array("d", [-0.0])),
            "j": Series(array("d", [0]), array("d", [0.1 + 0.2])),
            "k": Series(array("d", [0]), array("d", [1e300])),
        },
    )
    text = report_to_json(make_report(record, "1.2.3"))
    assert '"o": {"count": 1, "mean": null, "ci": null, "cv2": null, "p99": null}' in text
    assert '"g": {"mean": null, "ci": null, "min": null, "max": null}' in text
    assert '"h": {"mean": 5000000, "ci": 0, "min": 5000000, "max": 5000000}' in text
    assert '"i": {"mean": 0, "ci": 0, "min": 0, "max": 0}' in text
    assert '"min": 0.30000000000000004' in text
    assert '"min": 1e+300' in text
    assert '"horizon": 10, ' in text
    assert "\n" not in text


def test_a_pool_says_in_json_what_it_can_never_give(trouble: RunRecord):
    pools = make_report(trouble, "1.2.3").to_dict()["pools"]
    assert [p["over_cap"] for p in pools] == [None, {"queue": "kv", "need": 9}, None]
    assert list(pools[0]) == [
        "name", "index", "mean_used", "mean_cached", "mean_queue", "mean_holders", "mean_wait", "admissions",
        "evicted_entries", "evicted_units", "preemptions", "spills", "rejected", "stuck", "over_cap",
        "growing_at_end", "growing_stalled",
    ]  # fmt: skip


def test_a_claim_result_is_the_machines_outcome():
    assert [a.name for a in attrs.fields(ClaimResult)] == [a.name for a in attrs.fields(Outcome)]


def test_numbers_of_a_report_are_pythons_own(chunked_prefill: RunRecord):
    """A numpy scalar would print as `np.float64(…)` in a repr."""
    assert "np." not in repr(make_report(chunked_prefill, "1.2.3"))
    assert not isinstance(make_report(chunked_prefill, "1.2.3").gauges["jobs"].mean, np.generic)


def _bare(**fields) -> RunRecord:
    """A run of 10 time units in which nothing happened except as given."""
    nothing = dict.fromkeys(("seed", "events", "arrivals", "ended", "turns", "live_at_end"), 0)
    empty = {"observes": {}, "client": {}, "gauges": {}, "outcomes": [], "stages": [], "pools": []}
    return RunRecord(
        **{"horizon": 10.0, "end": 10.0, "warmup": 0.0, "live_area": 0.0, **nothing, **empty, **fields}
    )
