"""A summary of a trace as a picture; needs matplotlib, the extra `plot`."""

from __future__ import annotations

from pathlib import Path
from typing import Any, BinaryIO

from serq.traces.formats import NEW, OUT, THINK
from serq.traces.summary import Histogram, TraceSummary


def find_picture_format(path: str) -> str:
    """The kind of picture that a name ends in, such as "png".

    Raises ImportError where nothing can be drawn, ValueError for a name that ends in no kind of picture.
    """
    from matplotlib.backends.backend_agg import FigureCanvasAgg

    ending = Path(path).suffix.lstrip(".").lower()
    known = sorted(FigureCanvasAgg.get_supported_filetypes())
    if ending not in known:
        raise ValueError(f"`{path}` ends in no kind of picture that can be drawn: {', '.join(known)}")
    return ending


def plot_summary(summary: TraceSummary, out: BinaryIO, format: str) -> None:
    """Write a picture of the lengths, the times and the rate. format: as `find_picture_format` gives it."""
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
    figure.savefig(out, format=format, dpi=150)


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
