"""Replications -> text: a run line, tables of figures over the seeds, notes; and -> JSON."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence

from serq.report.inference import MSER_BATCH, MSER_FEWEST, Interval
from serq.report.replications import ClaimCount, PooledSamples, Replications, Spread
from serq.report.stats import FEWEST_FOR_P99
from serq.report.table import Column, above_rounding, show_count, show_figures, show_number, show_table

COLUMNS: tuple[Column[Spread], ...] = (
    Column("mean", lambda s: s.mean),
    Column("± ci", lambda s: above_rounding(s.ci, s.mean), optional=True),
    Column("sd", lambda s: above_rounding(s.sd, s.mean), optional=True),
    Column("least", lambda s: s.least),
    Column("of seed", lambda s: s.least_seed),
    Column("greatest", lambda s: s.greatest),
    Column("of seed", lambda s: s.greatest_seed),
)

PARTS = {"observes": "observe", "client": "client", "gauges": "gauge", "stages": "stage", "pools": "pool"}
"""The first word of a path, and the heading of its table."""


def replications_to_json(found: Replications) -> str:
    """The replications as one line of JSON, without a line end; see `Replications.to_dict`."""
    return json.dumps(found.to_dict(), allow_nan=False, ensure_ascii=False)


def show_replications(found: Replications) -> str:
    """The whole as text, without a line end after the last line.

    Every figure is a mean over the runs, with the half width of its interval, the standard deviation
    between runs and the extremes. Figures of stages and pools that are 0 in every run are left out.
    """
    tables: dict[str, list[tuple[str, Spread]]] = {}
    for path, spread in found.figures.items():
        part, dot, rest = path.partition(".")
        heading = PARTS[part] if dot else "run"
        owner, _, figure = rest.rpartition(".") if dot else ("", "", path)
        if not _says_nothing(heading, figure, spread, found.horizon):
            tables.setdefault(heading, []).append((f"{owner} {figure.replace('_', ' ')}".lstrip(), spread))
    parts = [_run_line(found)]
    for heading in ("run", *PARTS.values()):
        if heading in tables:
            parts.append(show_figures(heading, tables[heading], COLUMNS))
        if heading == "client" and found.samples:
            parts.append(_show_percentiles(found.samples))
        if heading == "gauge" and found.claims:
            parts.append(_show_claims(found.claims))
    return "\n\n".join([*parts, "\n".join(_notes(found))])


def _says_nothing(heading: str, figure: str, spread: Spread, horizon: float) -> bool:
    """A figure that is there in all reports and means something in a few."""
    usual = horizon if figure == "end" else 0 if heading in ("stage", "pool") else None
    return spread.least == spread.greatest == usual


def _run_line(found: Replications) -> str:
    seeds = found.seeds
    named = f"seeds {seeds[0]} to {seeds[-1]}" if len(seeds) > 1 else f"seed {seeds[0]}"
    return (
        f"horizon {show_number(found.horizon)}, warm-up {show_number(found.warmup)}, {named}: "
        f"{show_count(len(seeds), 'run')}, "
        f"{found.confidence:.0%} intervals"
    ).replace("%", " %")


def _show_percentiles(samples: dict[str, PooledSamples]) -> str:
    names = list(next(iter(samples.values())).percentiles)
    rows = []
    for path, pooled in samples.items():
        cells = [
            f"{show_number(q.value)} {show_interval(q.interval)}".rstrip()
            for q in pooled.percentiles.values()
        ]
        rows.append([path.partition(".")[2], str(pooled.count), *cells])
    return show_table(["of all samples", "count", *names], rows, left=1)


def show_interval(interval: Interval | None) -> str:
    """`(12 to 15)`; `?` where an end is not known, nothing when neither is."""
    if interval is None or (interval.low is None and interval.high is None):
        return ""
    low = "?" if interval.low is None else show_number(interval.low)
    high = "?" if interval.high is None else show_number(interval.high)
    return f"({low} to {high})"


def _show_claims(claims: Sequence[ClaimCount]) -> str:
    rows = []
    for c in claims:
        results = ", ".join(f"{result.replace('_', ' ')} {n}" for result, n in c.results.items())
        share = f"{show_number(c.share)} {show_interval(c.interval)}" if c.share is not None else ""
        seeds = ", ".join(map(str, c.failing_seeds)) + (", …" if _more_fail(c) else "")
        rows.append([c.name, c.kind.replace("_", " "), results, share, seeds])
    return show_table(["claim", "kind", "runs", "true in", "not in seeds"], rows, left=5)


def _more_fail(c: ClaimCount) -> bool:
    return c.results.get("fails", 0) + c.results.get("not_witnessed", 0) > len(c.failing_seeds)


def _notes(found: Replications) -> Iterator[str]:
    """The proposal for a warm-up, and which percentiles are not what they seem."""
    if len(found.seeds) > 1 and all(s.least == s.greatest for s in found.figures.values()):
        yield "note: all runs are the same, for nothing in them is drawn: one seed tells as much"
    known = [w for w in found.warmups if w.time is not None and w.cut is not None]
    if known:
        last = max(known, key=lambda w: w.time or 0.0)
        cut = (
            f"statistics from {show_number(last.time)} on: it leaves out {last.cut} of {last.samples} "
            f"samples of {last.series}"
            if last.cut
            else "no warm-up"
        )
        yield f"warm-up: MSER-5 proposes {cut}; these runs have {show_number(found.warmup)}"
    for w in found.warmups:
        if w.time is None and w.samples:
            yield (
                f"warm-up: {w.samples} samples of {w.series} in a run are too few to tell; "
                "MSER-5 would leave out more than half of them"
                if w.samples >= MSER_BATCH * MSER_FEWEST
                else f"warm-up: {w.samples} samples of {w.series} in a run are too few to tell"
            )
    for i, claim in enumerate(found.claims):
        vacuous = [run.claims[i].vacuous for run in found.runs if run.claims[i].vacuous]
        if vacuous:
            where = f"{len(vacuous)} of {show_count(len(found.runs), 'run')}"
            yield f"vacuous: claim {claim.name} holds in {where} only because {vacuous[0]}"
    for path, pooled in found.samples.items():
        name = path.partition(".")[2]
        greatest = [level for level, q in pooled.percentiles.items() if q.is_greatest]
        if greatest:
            *others, highest = greatest
            which = f"{', '.join(others)} and {highest}" if others else highest
            samples = f"all {pooled.count} samples" if pooled.count > 1 else "the only sample"
            yield f"note: {which} of {samples} of {name} {'are' if others else 'is'} the maximum"
        elif 0 < pooled.fewest < FEWEST_FOR_P99:
            yield (
                f"note: a run has as few as {show_count(pooled.fewest, 'sample')} of {name}; "
                f"p99 of {show_count(pooled.fewest, 'sample')} is the maximum"
            )
