"""A summary of a trace as text with bars, and as JSON."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from itertools import pairwise
from math import floor, log10

from attrs import asdict

from serq.report.table import Column, show_figures, show_number, show_table
from serq.traces.formats import NEW, OUT, THINK
from serq.traces.summary import Figures, Histogram, TraceSummary

WIDTH = 40
"""Characters of the longest bar."""

_EIGHTHS = " ▏▎▍▌▋▊▉"

_COLUMNS = [
    Column[Figures]("min", lambda f: f.min),
    Column[Figures]("mean", lambda f: f.mean),
    Column[Figures]("p50", lambda f: f.p50),
    Column[Figures]("p90", lambda f: f.p90),
    Column[Figures]("p99", lambda f: f.p99),
    Column[Figures]("max", lambda f: f.max),
]


def show_summary(summary: TraceSummary, plain: bool = False) -> str:
    """The text of `serq trace show`. plain: bars of `#`, for a terminal that has no others."""
    names = _names(summary)
    parts = [
        "\n".join(_head(summary)),
        show_figures("", [(names[k], f) for k, f in summary.figures.items()], _COLUMNS),
    ]
    if summary.rates is not None:
        parts.append(_chart("requests per second, over time", *_rates(summary.rates), plain))
    for key, histogram in summary.histograms.items():
        if key != THINK or any(histogram.edges[1:]):
            parts.append(_chart(names[key], *_classes(histogram, key != THINK), plain))
    return "\n\n".join(parts)


def summary_to_json(summary: TraceSummary) -> str:
    """The summary as JSON, with the names of its fields."""
    return json.dumps(asdict(summary), ensure_ascii=False, indent=1)


def _head(summary: TraceSummary) -> Iterator[str]:
    yield f"{summary.file} ({summary.title})"
    yield ""
    facts = [["turns", f"{summary.turns:,}"], ["sessions", f"{summary.sessions:,}"]]
    if summary.skipped:
        facts.append(["rows passed over", f"{summary.skipped:,}"])
    if summary.span is not None:
        facts.append(["seconds", show_number(summary.span)])
    if summary.rate is not None:
        facts.append(["requests per second", _short(summary.rate)])
    if summary.gap_cv2 is not None:
        facts.append(["cv² of the gaps", _short(summary.gap_cv2)])
    yield show_table(facts[0], facts[1:], left=1)


def _names(summary: TraceSummary) -> dict[str, str]:
    unit = summary.unit or "clock units"
    return {
        NEW: "prompt, tokens",
        OUT: "output, tokens",
        THINK: f"think, {unit}",
        "turns": "turns of a session",
    }


def _rates(rates: Histogram) -> tuple[list[str], list[float], list[str]]:
    width = rates.edges[1] - rates.edges[0]
    decimals = max(0, 2 - floor(log10(width)))
    values = [count / width for count in rates.counts]
    return [f"{edge:.{decimals}f} s" for edge in rates.edges[:-1]], values, [_short(v) for v in values]


def _classes(histogram: Histogram, whole: bool) -> tuple[list[str], list[float], list[str]]:
    """whole: the numbers are whole, so that a class ends below the next one."""
    labels = []
    for low, high in pairwise(histogram.edges):
        last = high - 1 if whole else high
        labels.append(f"{show_number(low)} to {show_number(last)}" if 0 < low < last else show_number(low))
    return labels, list(map(float, histogram.counts)), [f"{count:,}" for count in histogram.counts]


def _chart(
    title: str, labels: Sequence[str], values: Sequence[float], figures: Sequence[str], plain: bool
) -> str:
    """Bars under each other, the longest WIDTH characters long."""
    wide, side = max(map(len, labels)), max(map(len, figures))
    most = max(values) or 1.0
    lines = [title]
    for label, value, figure in zip(labels, values, figures, strict=True):
        bar = "#" * round(WIDTH * value / most) if plain else _bar(WIDTH * value / most)
        lines.append(f"{label:>{wide}}  {figure:>{side}}  {bar}".rstrip())
    return "\n".join(lines)


def _bar(length: float) -> str:
    """A bar so many characters long, to an eighth; something that is there is seen."""
    eighths = max(round(8 * length), length > 0)
    return "█" * (eighths // 8) + _EIGHTHS[eighths % 8].strip()


def _short(x: float) -> str:
    return f"{x:.3g}" if x < 1000 else f"{x:.0f}"
