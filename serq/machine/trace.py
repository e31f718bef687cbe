"""Traces: the turns of recorded conversations, replayed by sessions.

A file has one turn per line, `session,turn,new,out,think[,forced]`; the lines of one session are its turns
in file order, wherever they stand. A first line of names is a heading, a line that begins with `#` a
comment. Ten million turns are replayed from a few hundred megabytes: they are kept by column, and a session
is a range of rows.
"""

from __future__ import annotations

import os
from array import array
from collections.abc import Iterator, Sequence
from math import isfinite
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, NoReturn, TypeAlias, overload

from serq.diagnostics import Note, ProgramError, diagnose
from serq.ir.workload import Trace
from serq.longfiles import NotTextError, is_number, open_chunks, split_columns, text_blocks
from serq.source import SourceFile, Span

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

COLUMNS = ("session", "turn", "new", "out", "think", "forced")

Column: TypeAlias = "array[float] | None"
"""The values of all turns; None when all of them are 0."""


class TracedTurn(NamedTuple):
    """new, out: tokens; think: time before the next turn; forced: 0 when the column is missing."""

    new: float
    out: float
    think: float
    forced: float


class RecordedSession(Sequence[TracedTurn]):
    """The turns of one recorded session: a range of rows of the trace."""

    __slots__ = ("_columns", "_rows")

    def __init__(self, columns: tuple[Column, ...], rows: range) -> None:
        self._columns = columns
        self._rows = rows

    def __len__(self) -> int:
        return len(self._rows)

    @overload
    def __getitem__(self, turn: int) -> TracedTurn: ...
    @overload
    def __getitem__(self, turn: slice) -> Sequence[TracedTurn]: ...
    def __getitem__(self, turn: int | slice) -> TracedTurn | Sequence[TracedTurn]:
        if isinstance(turn, slice):
            return RecordedSession(self._columns, self._rows[turn])
        row = self._rows[turn]
        new, out, think, forced = self._columns
        return TracedTurn(
            new[row] if new else 0.0,
            out[row] if out else 0.0,
            think[row] if think else 0.0,
            forced[row] if forced else 0.0,
        )


class RecordedSessions(Sequence[RecordedSession]):
    """The sessions of a trace, in the order of their first lines.

    columns: new, out, think, forced of all turns, the turns of a session next to each other.
    starts: the first row of each session, and the number of rows.
    """

    def __init__(self, columns: tuple[Column, ...], starts: Sequence[int]) -> None:
        self._columns = columns
        self._starts = starts

    def __len__(self) -> int:
        return len(self._starts) - 1

    @overload
    def __getitem__(self, number: int) -> RecordedSession: ...
    @overload
    def __getitem__(self, number: slice) -> Sequence[RecordedSession]: ...
    def __getitem__(self, number: int | slice) -> RecordedSession | Sequence[RecordedSession]:
        if isinstance(number, slice):
            return [self[i] for i in range(*number.indices(len(self)))]
        number = range(len(self))[number]
        return RecordedSession(self._columns, range(self._starts[number], self._starts[number + 1]))


def read_trace(trace: Trace, program_file: str) -> RecordedSessions:
    """The turns of each recorded session, sessions in the order of their first line.

    The path is relative to the program's file; a file packed with gzip is unpacked. Raises
    ProgramError naming file, line and field.
    """
    path = Path(program_file).parent / trace.path
    rows = _Rows(trace, str(path))
    try:
        with open_chunks(path) as chunks:
            for number, text in text_blocks(chunks):
                rows.take(number, text)
    except OSError as error:
        reason = os.strerror(error.errno) if error.errno else str(error)
        # Only what the program says is relative to its file; what a command gives comes absolute.
        help = "give the path of a file that can be read" if os.path.isabs(trace.path) else None
        complaint = diagnose("SQ0615", trace.at, help=help, path=trace.path, reason=reason)
        raise ProgramError([complaint]) from error
    except NotTextError as error:
        raise ProgramError(
            [diagnose("SQ0615", trace.at, path=trace.path, reason="it is not UTF-8")]
        ) from error
    if not rows.columns[0]:
        raise ProgramError([diagnose("SQ0616", trace.at, path=trace.path)])
    return rows.sessions()


class _Rows:
    """The rows read so far, by column.

    A block of well-formed rows is turned into numbers at once, about three times as fast as line by line.
    """

    def __init__(self, trace: Trace, path: str) -> None:
        self.trace = trace
        self.path = path
        self.columns = [array("d") for _ in COLUMNS]
        self.begun = False

    def take(self, number: int, text: str) -> None:
        """Add the rows of a block whose first line has this number."""
        if not self.begun:
            number, text = self._below_heading(number, text)
        width = text.count(",", 0, text.find("\n")) + 1
        block = _read_numbers(text, width) if 5 <= width <= 6 else None
        if block is None:
            block = [array("d") for _ in COLUMNS]
            for row in self._read_lines(number, text):
                for column, value in zip(block, row, strict=True):
                    column.append(value)
        for column, values in zip(self.columns, block, strict=True):
            column.extend(values)

    def _below_heading(self, number: int, text: str) -> tuple[int, str]:
        """A block from its first row on, which comes after blank lines, comments and a heading."""
        while text and not self.begun:
            line, _, rest = text.partition("\n")
            self.begun = _says_something(line)
            if self.begun and not _is_heading(line):
                break
            number, text = number + 1, rest
        return number, text

    def _read_lines(self, number: int, text: str) -> Iterator[list[float]]:
        for i, line in enumerate(text.removesuffix("\n").split("\n"), start=number):
            if not _says_something(line):
                continue
            fields = line.split(",")
            if not 5 <= len(fields) <= 6:
                self._refuse("SQ0617", i, 1, line, line, got=len(fields))
            column = 1
            for name, field in zip(COLUMNS, fields, strict=False):
                if not is_number(field):
                    self._refuse("SQ0618", i, column, field, line, field=name, text=field.strip())
                column += len(field) + 1
            yield [*map(float, fields), 0.0][: len(COLUMNS)]

    def _refuse(self, code: str, number: int, column: int, wrong: str, line: str, **facts: Any) -> NoReturn:
        at = Span(number, column, number, column + len(wrong), self.path)
        source = SourceFile(self.path, line, number)
        notes = [Note("the program reads the trace here", self.trace.at)]
        raise ProgramError([diagnose(code, at, notes=notes, sources={self.path: source}, **facts)])

    def sessions(self) -> RecordedSessions:
        """The rows by session; the rows are given away."""
        import numpy as np

        sessions, _, *columns = self.columns
        del self.columns
        order, starts = _group(np.frombuffer(sessions))
        del sessions
        for i, column in enumerate(columns):
            values = np.frombuffer(column)
            if not values.any():
                columns[i] = array("d")
            elif order is not None:
                columns[i] = array("d", values[order].tobytes())
        kept = tuple(column if len(column) else None for column in columns)
        single = starts.size == starts[-1] + 1
        return RecordedSessions(kept, range(starts.size) if single else array("q", starts.tobytes()))


def _read_numbers(text: str, width: int) -> list[array[float]] | None:
    """A block by column, when all its lines have `width` numbers; a missing last column is all 0."""
    fields = split_columns(text, width)
    if fields is None or "_" in text:
        return None
    try:
        columns = [array("d", map(float, column)) for column in fields]
    except ValueError:
        return None
    if not all(isfinite(sum(column)) for column in columns):
        return None
    if width < len(COLUMNS):
        columns.append(array("d", bytes(columns[0].itemsize * len(columns[0]))))
    return columns


def _group(
    sessions: npt.NDArray[np.float64],
) -> tuple[npt.NDArray[np.int64] | None, npt.NDArray[np.int64]]:
    """How to order rows so that each session's are together, and where each session then starts.

    The order is None when the rows stand so already. Sessions keep the order of their first rows, rows
    of a session their own. The starts end with the number of rows.
    """
    import numpy as np

    ends = np.array([sessions.size])
    starts = np.concatenate(([0], np.flatnonzero(sessions[1:] != sessions[:-1]) + 1))
    heads = sessions[starts]
    if (heads[1:] > heads[:-1]).all() or np.unique(heads).size == heads.size:
        return None, np.concatenate((starts, ends))
    order = np.argsort(sessions, kind="stable")
    grouped = sessions[order]
    starts = np.concatenate(([0], np.flatnonzero(grouped[1:] != grouped[:-1]) + 1))
    lengths = np.diff(np.concatenate((starts, ends)))
    first_rows = order[starts]
    by_first_row = np.argsort(first_rows)
    # The sort key of a row becomes the first row of its session.
    keys = np.empty_like(order)
    keys[order] = np.repeat(first_rows, lengths)
    starts = np.concatenate(([0], np.cumsum(lengths[by_first_row])))
    return np.argsort(keys, kind="stable"), starts


def _says_something(line: str) -> bool:
    return bool(line.strip()) and not line.startswith("#")


def _is_heading(line: str) -> bool:
    """Whether a line names the columns: a row with a fault in it is no heading."""
    names = [field.strip().strip('"') for field in line.split(",")]
    return 5 <= len(names) <= 6 and all(name.isidentifier() and not _is_value(name) for name in names)


def _is_value(text: str) -> bool:
    """Whether a text is a number, or what a program writes in the place of one: `nan`, `inf`."""
    try:
        float(text)
    except ValueError:
        return False
    return True
