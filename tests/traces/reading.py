"""Traces as text, read and converted in one call."""

from __future__ import annotations

from io import StringIO
from pathlib import Path
from typing import Any

import pytest

from serq.diagnostics import Diagnostic, ProgramError
from serq.ir.workload import Trace
from serq.machine.trace import TracedTurn, read_trace
from serq.traces import (
    Conversion,
    Converted,
    Reading,
    TraceSummary,
    convert_trace,
    open_trace,
    summarize_trace,
)

HEADING = "session,turn,new,out,think\n"


def convert(folder: Path, text: str | bytes, **options: Any) -> tuple[str, Converted]:
    """The converted rows below the heading, and what was counted.

    options: those of `Reading` and of `Conversion`.
    """
    path = write(folder, text)
    reading = {name: options.pop(name) for name in list(options) if hasattr(Reading(), name)}
    out = StringIO()
    with open_trace(path, Reading(**reading)) as trace:
        done = convert_trace(trace, out, Conversion(**options))
    written = out.getvalue()
    assert written.startswith(HEADING[:-1])
    return written.partition("\n")[2], done


def summarize(folder: Path, text: str | bytes, **reading: Any) -> TraceSummary:
    """The summary of a trace."""
    with open_trace(write(folder, text), Reading(**reading)) as trace:
        return summarize_trace(trace)


def complaints(folder: Path, text: str | bytes, **options: Any) -> list[Diagnostic]:
    """What is said about a trace that is refused."""
    with pytest.raises(ProgramError) as refused:
        convert(folder, text, **options)
    return list(refused.value.diagnostics)


def said(folder: Path, text: str | bytes, **options: Any) -> list[tuple[str, int, int]]:
    """Code, line and column of each complaint."""
    return [
        (d.code, d.at.line if d.at else 0, d.at.column if d.at else 0)
        for d in complaints(folder, text, **options)
    ]


def write(folder: Path, text: str | bytes) -> str:
    """A file with this content."""
    path = folder / "trace"
    path.write_bytes(text.encode() if isinstance(text, str) else text)
    return str(path)


def read_back(folder: Path, rows: str) -> list[list[TracedTurn]]:
    """The sessions as the machine reads them."""
    (folder / "turns.csv").write_text(HEADING + rows, encoding="utf-8")
    return [list(session) for session in read_trace(Trace("turns.csv"), str(folder / "program.sq"))]
