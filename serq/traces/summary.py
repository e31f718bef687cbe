"""Figures about a trace: how many requests, how long, how often."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from attrs import frozen

from serq.report import stats
from serq.traces.formats import NEW, OUT, THINK, TIME, UNITS
from serq.traces.reading import TraceFile
from serq.traces.sessions import Grouped, Kept

if TYPE_CHECKING:
    from serq.report.stats import Floats

RATE_BINS = 20
"""Stretches of equal length in which requests are counted."""


@frozen
class Figures:
    """What some numbers come to. The percentiles are nearest-rank: always one of the numbers."""

    count: int
    min: float
    mean: float
    p50: float
    p90: float
    p99: float
    max: float


@frozen
class Histogram:
    """How many numbers lie in each class: counts[i] in [edges[i], edges[i + 1])."""

    edges: tuple[float, ...]
    counts: tuple[int, ...]


@frozen
class TraceSummary:
    """A trace at a glance.

    format: its name. title: of the format, for people. unit: of `think`, None where the file does not
    say. turns, sessions: how many. skipped: rows passed over as bad. figures: of prompts ("new") and
    outputs ("out") in tokens, of the time before each next turn of a session ("think") and of the turns
    of sessions ("turns"). histograms: of the first three, in classes that double. span: seconds from
    the first request to the last, None if there are no times. rate: requests per second. gap_cv2:
    squared variation of the gaps between requests, 1 for a Poisson stream. rates: requests per second
    in stretches of the span.
    """

    file: str
    format: str
    title: str
    unit: str | None
    turns: int
    sessions: int
    skipped: int
    figures: dict[str, Figures]
    histograms: dict[str, Histogram]
    span: float | None = None
    rate: float | None = None
    gap_cv2: float | None = None
    rates: Histogram | None = None


def summarize_trace(trace: TraceFile, progress: Callable[[int], None] | None = None) -> TraceSummary:
    """Read an open trace to its end; raises ProgramError as `TraceFile.batches` does.

    progress: called with the bytes read. All turns are kept by column meanwhile.
    """
    kept = Kept()
    for batch in trace.batches(progress):
        kept.add(batch)
    given = THINK in kept.columns
    grouped = kept.group(trace)
    columns = grouped.columns
    samples = {NEW: columns[NEW], OUT: columns[OUT], THINK: columns[THINK][grouped.pairs()[0]]}
    histograms = {name: find_histogram(values) for name, values in samples.items() if values.size}
    lengths = grouped.lengths
    if (lengths > 1).any():
        samples["turns"] = lengths.astype(float)
    summary = TraceSummary(
        file=trace.name,
        format=trace.format.name,
        title=trace.format.title,
        unit=trace.unit if given else "s",
        turns=int(columns[NEW].size),
        sessions=int(lengths.size),
        skipped=trace.faults.skipped,
        figures={name: find_figures(values) for name, values in samples.items() if values.size},
        histograms=histograms,
    )
    return _with_rates(summary, grouped, trace) if TIME in columns else summary


def find_figures(values: Floats) -> Figures:
    """The figures of at least one number."""
    low, high = float(values.min()), float(values.max())
    mean = stats.mean(values)
    p50, p90, p99 = (stats.percentile(values, percent) for percent in (50, 90, 99))
    assert mean is not None and p50 is not None and p90 is not None and p99 is not None
    return Figures(int(values.size), low, mean, p50, p90, p99, high)


def find_histogram(values: Floats) -> Histogram:
    """Classes that double: 0, then from each power of 2 to the next, as far as there are numbers."""
    import numpy as np

    # The exponent e of a number in [2^(e-1), 2^e); 0 has a class of its own.
    exponents = np.frexp(values)[1]
    positive = values > 0
    if not positive.any():
        return Histogram((0.0, 1.0), (int(values.size),))
    least, most = int(exponents[positive].min()), int(exponents[positive].max())
    counts = np.bincount(exponents[positive] - least, minlength=most - least + 1).tolist()
    edges = [2.0 ** (least - 1 + i) for i in range(most - least + 2)]
    if zeros := int(values.size - positive.sum()):
        edges, counts = [0.0, *edges], [zeros, *counts]
    return Histogram(tuple(edges), tuple(counts))


def _with_rates(summary: TraceSummary, grouped: Grouped, trace: TraceFile) -> TraceSummary:
    import numpy as np
    from attrs import evolve

    times = grouped.columns[TIME] * UNITS[trace.request_unit or "s"]
    with np.errstate(over="ignore"):
        times -= times[0]
    span = float(times[-1])
    if not 0 < span < np.inf:
        # All at once, or further apart than a number can tell.
        return evolve(summary, span=0.0 if span <= 0 else None)
    counts, edges = np.histogram(times, bins=RATE_BINS, range=(0.0, span))
    return evolve(
        summary,
        span=span,
        rate=(times.size - 1) / span,
        gap_cv2=stats.squared_cv(np.diff(times)),
        rates=Histogram(tuple(edges.tolist()), tuple(counts.tolist())),
    )
