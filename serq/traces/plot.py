"""A summary of a trace as a picture; needs matplotlib, the extra `plot`."""

from __future__ import annotations

from typing import Any

from serq.diagnostics import ProgramError, diagnose
from serq.traces.formats import NEW, OUT, THINK
from serq.traces.summary import Histogram, TraceSummary


def check_plotting() -> None:
    """Raise ProgramError (SQ0959) where nothing can be drawn, before a long file is read."""
    try:
        import matplotlib  # noqa: F401
    except ImportError:
        raise ProgramError([diagnose("SQ0959")]) from None


def plot_summary(summary: TraceSummary, path: str) -> None:
    """Write a picture of the lengths, the times and the rate; its format is that of the file's name.

    Raises OSError; ValueError for a name whose ending is no kind of picture.
    """
    from matplotlib.figure import Figure

    panels = [(NEW, "prompt, tokens"), (OUT, "output, tokens")]
    if THINK in summary.histograms and any(summary.histograms[THINK].edges[1:]):
        panels.append((THINK, f"think, {summary.unit or 'clock units'}"))
    count = len(panels) + (summary.rates is not None)
    figure = Figure(figsize=(4.5 * min(count, 2), 3 * -(-count // 2)), layout="constrained")
    axes = list(figure.subplots(-(-count // 2), min(count, 2), squeeze=False).flat)
    figure.suptitle(f"{summary.file}: {summary.turns:,} turns, {summary.sessions:,} sessions", fontsize=10)
    for panel, (key, title) in zip(axes, panels, strict=False):
        _draw_classes(panel, title, summary.histograms[key])
    if summary.rates is not None:
        _draw_rates(axes[len(panels)], summary.rates)
    for unused in axes[count:]:
        unused.set_axis_off()
    figure.savefig(path, dpi=150)


def _draw_classes(axes: Any, title: str, histogram: Histogram) -> None:
    axes.stairs(histogram.counts, histogram.edges, fill=True)
    axes.set_xscale("symlog", base=2, linthresh=histogram.edges[1] or 1.0)
    axes.set_xlabel(title)
    axes.set_ylabel("turns")


def _draw_rates(axes: Any, rates: Histogram) -> None:
    width = rates.edges[1] - rates.edges[0]
    axes.stairs([count / width for count in rates.counts], rates.edges, fill=True)
    axes.set_xlabel("seconds")
    axes.set_ylabel("requests per second")
