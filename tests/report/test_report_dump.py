"""The files of a dump."""

from __future__ import annotations

import math
from array import array
from pathlib import Path

import attrs
import pytest

from serq.machine.records import RunRecord, Samples
from serq.report import dump_report, make_report


def test_a_dump_has_a_file_per_observation_and_gauge(chunked_prefill: RunRecord, tmp_path: Path):
    dump_report(make_report(chunked_prefill, "1.2.3"), tmp_path / "a" / "b")
    written = {p.relative_to(tmp_path / "a" / "b").as_posix() for p in tmp_path.rglob("*") if p.is_file()}
    assert written == {"response.csv", "gauge/jobs.csv"}
    assert (tmp_path / "a/b/response.csv").read_text() == "time,session,turn,value\n41,0,1,31\n44,1,1,24\n"
    assert (tmp_path / "a/b/gauge/jobs.csv").read_text() == "time,value\n0,0\n10,1\n20,2\n41,1\n44,0\n"


def test_numbers_of_a_dump_read_back_exactly(chunked_prefill: RunRecord, tmp_path: Path):
    values = [0.1 + 0.2, 1e300, 5e-324, math.inf, -1 / 3, 2.0**53, math.nan]
    n = len(values)
    odd = Samples(array("d", [1 / 3] * n), array("q", range(n)), array("q", [1] * n), array("d", values))
    chunked_prefill.observes["odd"] = odd
    dump_report(make_report(chunked_prefill, "1.2.3"), tmp_path)
    rows = [line.split(",") for line in (tmp_path / "odd.csv").read_text().splitlines()[1:]]
    assert [float(value) for *_, value in rows[:-1]] == values[:-1]
    assert math.isnan(float(rows[-1][-1]))
    assert {float(time) for time, *_ in rows} == {1 / 3}


def test_only_samples_from_the_warm_up_on_are_dumped(trouble: RunRecord, tmp_path: Path):
    dump_report(make_report(trouble, "1.2.3"), tmp_path)
    assert (tmp_path / "depth.csv").read_text() == "time,session,turn,value\n"
    assert (tmp_path / "late.csv").read_text().splitlines()[1] == "100,100,1,0"
    assert (tmp_path / "gauge/load.csv").read_text() == "time,value\n0,5\n100,0.25\n1000,9\n"


def test_a_dump_replaces_an_earlier_one(chunked_prefill: RunRecord, tmp_path: Path):
    (tmp_path / "response.csv").write_text("old\n" * 1000)
    dump_report(make_report(chunked_prefill, "1.2.3"), tmp_path)
    assert (tmp_path / "response.csv").read_text().startswith("time,session,turn,value\n41,")


def test_a_dump_that_fails_leaves_the_earlier_file(chunked_prefill: RunRecord, tmp_path: Path):
    report = make_report(chunked_prefill, "1.2.3")
    (tmp_path / "response.csv").write_text("old\n")
    broken = attrs.evolve(report.observes["response"], turns=report.observes["response"].turns[:1])
    with pytest.raises(ValueError, match="shorter"):
        dump_report(attrs.evolve(report, observes={"response": broken}), tmp_path)
    assert [p.name for p in tmp_path.iterdir()] == ["response.csv"]
    assert (tmp_path / "response.csv").read_text() == "old\n"


@pytest.mark.parametrize("taken", ["out", "out/gauge", "out/response.csv"])
def test_a_place_that_is_taken_is_an_os_error(chunked_prefill: RunRecord, tmp_path: Path, taken: str):
    place = tmp_path / taken
    if taken.endswith(".csv"):
        place.mkdir(parents=True)
    else:
        place.parent.mkdir(exist_ok=True)
        place.write_text("a file")
    with pytest.raises(OSError):
        dump_report(make_report(chunked_prefill, "1.2.3"), tmp_path / "out")
