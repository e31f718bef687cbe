"""Many runs of one program that differ in their seeds -> what they say together.

Runs with different seeds are independent, so a figure's mean over them has a t interval, whatever the
samples within a run depend on. Everything here is made of the runs in the order of their seeds.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from attrs import asdict, evolve, field, frozen

from serq.machine.records import RunRecord, Samples
from serq.report.inference import (
    CONFIDENCE,
    MSER_BATCH,
    Interval,
    PooledQuantile,
    batch_means,
    deviation,
    mean_halfwidth,
    mser5,
    pooled_quantile,
    wilson,
)
from serq.report.make import make_report
from serq.report.report import Report, SampleSummary, plain_value
from serq.report.stats import Floats

PERCENTS = (50, 90, 95, 99)
"""The percentiles of all samples."""


@frozen
class Beginning:
    """How a series of samples begins, warm-up included.

    means: of each five samples in recorded order. times: when the last of the five was recorded.
    """

    means: Floats = field(eq=False)
    times: Floats = field(eq=False)


@frozen
class Replica:
    """One run of many. beginnings: of observations and client times, by the path of their figures."""

    report: Report
    beginnings: dict[str, Beginning]


@frozen
class Spread:
    """A figure over the seeds: `mean` of the runs that have it, `ci`: half width of its 95 % t interval.

    runs: how many have it. sd: standard deviation between them. least, greatest: the extremes, and the
    seeds of the runs they are from. sd and ci are None with fewer than two runs.
    """

    runs: int
    mean: float
    ci: float | None
    sd: float | None
    least: float
    least_seed: int
    greatest: float
    greatest_seed: int


@frozen
class PooledSamples:
    """All samples of an observation or client time, of all runs together.

    count: samples; fewest: of the run that has fewest. percentiles: by name (`p50` to `p99`).
    """

    count: int
    fewest: int
    percentiles: dict[str, PooledQuantile]


@frozen
class ClaimCount:
    """How a claim fared. results: runs by result; share: of those that answered it, for how many it is
    true, with its Wilson interval; None if none answered. failing_seeds: of runs in which it fails, the
    first few."""

    name: str
    kind: str
    results: dict[str, int]
    share: float | None
    interval: Interval | None
    failing_seeds: tuple[int, ...]


@frozen
class WarmupProposal:
    """Where MSER-5 would let statistics begin, judged by one series averaged over the runs.

    cut, samples: how many samples of each run to leave out, and how many were looked at. time: when the
    last of them was recorded in the slowest run. cut and time are None if the runs are too short to tell.
    """

    series: str
    samples: int
    cut: int | None
    time: float | None


@frozen
class Replications:
    """Runs of one program under several seeds, and what they say together.

    version, horizon, warmup: as in a report. confidence: of all intervals. seeds: one for each run.
    figures: by path, such as `client.ttft.mean` or `stages.llm.utilization`, those that some run has.
    samples: by path, such as `client.ttft`. claims: in the program's order. warmups: by series.
    runs: the report of each, without samples and change points of gauges: `serq.run` has those of a seed.
    """

    version: str
    horizon: float
    warmup: float
    confidence: float
    seeds: tuple[int, ...]
    figures: dict[str, Spread]
    samples: dict[str, PooledSamples]
    claims: tuple[ClaimCount, ...]
    warmups: tuple[WarmupProposal, ...]
    runs: tuple[Report, ...]

    def claim(self, name: str) -> ClaimCount:
        """How the claim of that name fared; KeyError when the program has none."""
        for claim in self.claims:
            if claim.name == name:
                return claim
        raise KeyError(f"no claim `{name}` in these runs")

    def to_dict(self) -> dict[str, Any]:
        """The JSON form: plain dictionaries and lists; numbers that are not finite are None.

        `runs` has the JSON form of each report.
        """
        document = asdict(self, filter=lambda a, _: a.name != "runs", value_serializer=plain_value)
        return document | {"runs": [run.to_dict() for run in self.runs]}


def make_replica(record: RunRecord, version: str) -> Replica:
    """What is kept of a finished run."""
    report = make_report(record, version)
    series = {f"observes.{name}": samples for name, samples in record.observes.items()}
    series |= {f"client.{name}": samples for name, samples in record.client.items()}
    return Replica(_lighter(report, keep=True), {path: _beginning(s) for path, s in series.items()})


def _lighter(report: Report, *, keep: bool) -> Report:
    """A report without what was recorded: many runs would not fit into memory with all of it.

    keep: leave it the values of the samples.
    """
    numbers, none = np.empty(0), np.empty(0, dtype=np.int64)

    def strip(rows: dict[str, SampleSummary]) -> dict[str, SampleSummary]:
        return {
            name: evolve(r, times=numbers, sessions=none, turns=none, samples=r.samples if keep else numbers)
            for name, r in rows.items()
        }

    gauges = {name: evolve(g, times=numbers, values=numbers) for name, g in report.gauges.items()}
    return evolve(report, gauges=gauges, observes=strip(report.observes), client=strip(report.client))


def _beginning(samples: Samples) -> Beginning:
    times = np.array(samples.times, dtype=float)
    return Beginning(batch_means(np.array(samples.values, dtype=float)), times[MSER_BATCH - 1 :: MSER_BATCH])


def make_replications(replicas: Sequence[Replica]) -> Replications:
    """What one or more runs say together; they differ in nothing but their seeds."""
    reports = [replica.report for replica in replicas]
    first = reports[0]
    return Replications(
        version=first.version,
        horizon=first.horizon,
        warmup=first.warmup,
        confidence=CONFIDENCE,
        seeds=tuple(report.seed for report in reports),
        figures=dict(spreads(reports)),
        samples=dict(_pooled(reports)),
        claims=tuple(_claim_count(i, reports) for i in range(len(first.claims))),
        warmups=tuple(_proposal(path, replicas) for path in replicas[0].beginnings),
        runs=tuple(_lighter(report, keep=False) for report in reports),
    )


# ---------------------------------------------------------------- figures


def figures(report: Report) -> Iterator[tuple[str, float | None]]:
    """Every figure of a report with its path, whether or not it has a value."""
    document = report.to_dict()
    for name in ("events", "arrivals", "ended", "turns", "mean_live", "end"):
        yield name, document[name]
    for part in ("observes", "client", "gauges"):
        for name, row in document[part].items():
            yield from ((f"{part}.{name}.{key}", row[key]) for key in row if key != "ci")
    for part in ("stages", "pools"):
        for row in document[part]:
            index = "" if row["index"] is None else f"[{row['index']}]"
            for key, value in row.items():
                if key not in ("name", "index", "over_cap") and not isinstance(value, bool):
                    yield f"{part}.{row['name']}{index}.{key}", value


def spreads(reports: Sequence[Report]) -> Iterator[tuple[str, Spread]]:
    """Every figure that some report has, over all reports, with its path."""
    found: dict[str, list[tuple[float, int]]] = {}
    for report in reports:
        for path, value in figures(report):
            if value is not None:
                found.setdefault(path, []).append((float(value), report.seed))
    for path, pairs in found.items():
        values = [value for value, _ in pairs]
        least, greatest = min(pairs), max(pairs, key=lambda pair: (pair[0], -pair[1]))
        yield (
            path,
            Spread(
                runs=len(values),
                mean=math.fsum(values) / len(values),
                ci=mean_halfwidth(values),
                sd=deviation(values) if len(values) > 1 else None,
                least=least[0],
                least_seed=least[1],
                greatest=greatest[0],
                greatest_seed=greatest[1],
            ),
        )


def _pooled(reports: Sequence[Report]) -> Iterator[tuple[str, PooledSamples]]:
    first = reports[0]
    paths = [("observes", name) for name in first.observes] + [("client", name) for name in first.client]
    for part, name in paths:
        runs = [getattr(report, part)[name].samples for report in reports]
        count = sum(run.size for run in runs)
        if count:
            percentiles = {f"p{percent}": pooled_quantile(runs, percent) for percent in PERCENTS}
            yield f"{part}.{name}", PooledSamples(count, min(run.size for run in runs), percentiles)


MOST_SEEDS_NAMED = 10
TRUE, FALSE = ("holds", "witnessed"), ("fails", "not_witnessed")


def _claim_count(i: int, reports: Sequence[Report]) -> ClaimCount:
    rows = [report.claims[i] for report in reports]
    results: dict[str, int] = {}
    for row in rows:
        results[row.result] = results.get(row.result, 0) + 1
    true = sum(results.get(result, 0) for result in TRUE)
    answered = true + sum(results.get(result, 0) for result in FALSE)
    failing = [report.seed for report, row in zip(reports, rows, strict=True) if row.result in FALSE]
    return ClaimCount(
        rows[0].name,
        rows[0].kind,
        results,
        true / answered if answered else None,
        wilson(true, answered) if answered else None,
        tuple(failing[:MOST_SEEDS_NAMED]),
    )


# ---------------------------------------------------------------- warm-up


def _proposal(path: str, replicas: Sequence[Replica]) -> WarmupProposal:
    """MSER-5 on the means over the runs of the first, second, … five samples."""
    beginnings = [replica.beginnings[path] for replica in replicas]
    length = min(b.means.size for b in beginnings)
    name = path.partition(".")[2]
    if not length:
        return WarmupProposal(name, 0, None, None)
    cut = mser5(np.mean([b.means[:length] for b in beginnings], axis=0))
    if cut is None:
        return WarmupProposal(name, length * MSER_BATCH, None, None)
    time = max(float(b.times[cut - 1]) for b in beginnings) if cut else 0.0
    return WarmupProposal(name, length * MSER_BATCH, cut * MSER_BATCH, time)
