"""Report -> CSV files: the samples of every observation, the change points of every gauge."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

from serq.report.report import Report
from serq.report.stats import Floats, Ints

ROWS_AT_ONCE = 65_536
"""Rows turned into text before they are written: bounds the memory of a long dump."""


def dump_report(report: Report, directory: str | os.PathLike[str]) -> None:
    """Write one CSV file per observation and per gauge.

    DIR/NAME.csv has `time,session,turn,value` of every sample at or after the warm-up,
    DIR/gauge/NAME.csv has `time,value` of every change point of the whole run. Numbers read back
    exactly. Each file is written beside its place and then put there, so a file of that name is
    always whole. Makes the directories that are missing. Raises OSError.
    """
    root = Path(directory)
    root.mkdir(parents=True, exist_ok=True)
    for name, o in report.observes.items():
        _write(root / f"{name}.csv", "time,session,turn,value", (o.times, o.sessions, o.turns, o.samples))
    if report.gauges:
        (root / "gauge").mkdir(exist_ok=True)
    for name, g in report.gauges.items():
        _write(root / "gauge" / f"{name}.csv", "time,value", (g.times, g.values))


def _write(path: Path, heading: str, columns: tuple[Floats | Ints, ...]) -> None:
    part = path.with_name(f".{path.name}.{os.getpid()}.part")
    try:
        with part.open("w", encoding="ascii", newline="") as file:
            file.write(heading + "\n")
            file.writelines(_lines(columns))
        part.replace(path)
    except BaseException:
        part.unlink(missing_ok=True)
        raise


def _lines(columns: tuple[Floats | Ints, ...]) -> Iterator[str]:
    for start in range(0, len(columns[0]), ROWS_AT_ONCE):
        parts = [column[start : start + ROWS_AT_ONCE].tolist() for column in columns]
        for row in zip(*parts, strict=True):
            yield ",".join(map(_exact, row)) + "\n"


def _exact(number: float) -> str:
    """The shortest text that reads back as this number, whole numbers without a fraction."""
    text = repr(number)
    return text.removesuffix(".0")
