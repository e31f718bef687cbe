"""Traces: the turns of recorded conversations, replayed by sessions.

A file has one turn per line, `session,turn,new,out,think[,forced]`, with an optional heading; the
lines of one session are its turns in file order.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from math import isfinite
from pathlib import Path
from typing import Any, NamedTuple, NoReturn

from serq.diagnostics import Note, ProgramError, diagnose
from serq.ir.workload import Trace
from serq.source import Span

COLUMNS = ("session", "turn", "new", "out", "think", "forced")


class TracedTurn(NamedTuple):
    """new, out: tokens; think: time before the next turn; forced: 0 when the column is missing."""

    new: float
    out: float
    think: float
    forced: float


def read_trace(trace: Trace, program_file: str) -> list[list[TracedTurn]]:
    """The turns of each recorded session, sessions in the order of their first line.

    The path is relative to the program's file. Raises ProgramError naming file, line and field.
    """
    path = Path(program_file).parent / trace.path
    sessions: dict[float, list[TracedTurn]] = {}
    try:
        with path.open(encoding="utf-8", newline="") as lines:
            for session, turn in _rows(lines, str(path), trace):
                sessions.setdefault(session, []).append(turn)
    except (OSError, UnicodeDecodeError) as error:
        reason = os.strerror(error.errno) if isinstance(error, OSError) and error.errno else "it is not UTF-8"
        raise ProgramError([diagnose("SQ0615", trace.at, path=trace.path, reason=reason)]) from error
    if not sessions:
        raise ProgramError([diagnose("SQ0616", trace.at, path=trace.path)])
    return list(sessions.values())


def _rows(lines: Iterator[str], path: str, trace: Trace) -> Iterator[tuple[float, TracedTurn]]:
    for number, line in enumerate(lines, start=1):
        text = line.strip()
        if not text or (number == 1 and not _is_number(text.split(",")[0])):
            continue
        fields = line.rstrip("\r\n").split(",")
        if not 5 <= len(fields) <= 6:
            _refuse("SQ0617", Span(number, 1, number, len(line) + 1, path), trace, got=len(fields))
        values = []
        column = 1
        for name, field in zip(COLUMNS, fields, strict=False):
            if not _is_number(field):
                place = Span(number, column, number, column + len(field), path)
                _refuse("SQ0618", place, trace, field=name, text=field.strip())
            values.append(float(field))
            column += len(field) + 1
        session, _, new, out, think, *forced = values
        yield session, TracedTurn(new, out, think, forced[0] if forced else 0.0)


def _is_number(text: str) -> bool:
    try:
        return isfinite(float(text))
    except ValueError:
        return False


def _refuse(code: str, at: Span, trace: Trace, **facts: Any) -> NoReturn:
    notes = [Note("the program reads the trace here", trace.at)]
    raise ProgramError([diagnose(code, at, notes=notes, **facts)])
