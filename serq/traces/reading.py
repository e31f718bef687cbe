"""Opening a trace: which format it is, which column says what, and its turns in batches."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from itertools import chain
from typing import Any, BinaryIO

from attrs import define, field, frozen

from serq.diagnostics import ProgramError, diagnose
from serq.longfiles import NotTextError, is_number, text_blocks, unpack_chunks
from serq.source import Span
from serq.spelling import closest
from serq.traces.batch import Batch
from serq.traces.entries import read_entries
from serq.traces.faults import Faults
from serq.traces.formats import FORMATS, NEW, OUT, SESSION, Format, find_format
from serq.traces.requests import MESSAGES, Conversations, Requests
from serq.traces.table import Table, fields_of
from serq.traces.times import Clock

STANDARD_INPUT = "-"


@frozen
class Reading:
    """How a file is to be read.

    format: its name, found by the heading if None. columns: role -> heading, in place of the format's.
    input_unit: of its times that are numbers, the format's if None. characters: of a message's text per
    token. sessions: whether a column that tells conversations apart counts. skip_bad: pass over bad rows.
    """

    format: str | None = None
    columns: Mapping[str, str] = field(factory=dict)
    input_unit: str | None = None
    characters: float | None = None
    sessions: bool = True
    skip_bad: bool = False


@define
class TraceFile:
    """A trace that is open.

    columns: role -> heading of those that are read; with `session` the turns of a session may be anywhere,
    without they stand together. faults: what was wrong so far. size: bytes of the file, None when
    nobody knows.
    """

    name: str
    format: Format
    columns: dict[str, str]
    reading: Reading
    faults: Faults
    size: int | None
    _batches: Iterator[Batch]
    _clock: Clock
    _place: Callable[[], int]

    @property
    def unit(self) -> str | None:
        """Of times that are numbers; None: that of the program which will replay them."""
        return self.reading.input_unit or (self.format.unit if self.format.name != "serq" else None)

    @property
    def request_unit(self) -> str | None:
        """Of the times of requests, in its batches: dates are in seconds."""
        return "s" if self._clock.dates else self.unit

    def batches(self, progress: Callable[[int], None] | None = None) -> Iterator[Batch]:
        """The turns, in file order.

        progress: called with the bytes read. Raises ProgramError (SQ091x, SQ095x) for what is wrong,
        at the end for bad rows.
        """
        with _file_errors(self.name):
            for batch in self._batches:
                if progress is not None:
                    progress(self._place())
                if len(batch):
                    yield batch
        self.faults.finish()


@contextmanager
def open_trace(path: str, reading: Reading | None = None) -> Iterator[TraceFile]:
    """A trace by its path, "-" for standard input; gzip is unpacked.

    Raises ProgramError (SQ091x, SQ0950, SQ0951, SQ0957) when it is no trace that could be read.
    """
    reading = reading or Reading()
    name = "<stdin>" if path == STANDARD_INPUT else path
    with ExitStack() as stack:
        with _file_errors(name):
            file, size = _open(path, stack)
            trace = _begin(file, name, size, reading)
        yield trace


def _open(path: str, stack: ExitStack) -> tuple[BinaryIO, int | None]:
    if path == STANDARD_INPUT:
        return sys.stdin.buffer, None
    if "\0" in path:
        raise FileNotFoundError
    file = stack.enter_context(open(path, "rb"))  # noqa: SIM115 (the stack closes it)
    return file, os.fstat(file.fileno()).st_size if os.path.isfile(path) else None


@contextmanager
def _file_errors(name: str) -> Iterator[None]:
    """What goes wrong with a file becomes a message (SQ091x)."""
    try:
        yield
    except FileNotFoundError:
        raise _refusal("SQ0910", path=name.replace("\0", "\\0")) from None
    except IsADirectoryError:
        raise _refusal("SQ0912", path=name, reason="it is a folder") from None
    except BrokenPipeError:
        raise
    except OSError as error:
        raise _refusal("SQ0912", path=name, reason=error.strerror or str(error)) from None
    except NotTextError as error:
        at = Span(error.line, error.column, error.line, error.column + 1, name)
        raise _refusal("SQ0913", at, path=name, byte=f"0x{error.byte:02x}") from None


def _begin(file: BinaryIO, name: str, size: int | None, reading: Reading) -> TraceFile:
    """Look at the beginning of a file and choose how to read it."""
    chunks = unpack_chunks(file)
    first = next(chunks, b"")
    opening = first.lstrip(b"\xef\xbb\xbf \t\r\n")[:1]
    if not opening:
        raise _refusal("SQ0957", path=name)
    chunks = chain([first], chunks)
    faults = Faults(name, reading.skip_bad)
    clock = Clock()
    if opening in (b"[", b"{"):
        format, columns, batches = _begin_json(chunks, opening == b"[", faults, clock, reading)
    else:
        format, columns, batches = _begin_table(chunks, faults, clock, reading)
    return TraceFile(
        name, format, columns, reading, faults, size, batches=batches, clock=clock, place=file.tell
    )


Beginning = tuple[Format, dict[str, str], Iterator[Batch]]


def _begin_json(
    chunks: Iterator[bytes], is_list: bool, faults: Faults, clock: Clock, reading: Reading
) -> Beginning:
    entries = read_entries(chunks, is_list, faults)
    first = next(entries, None)
    if first is None:
        faults.finish()
        raise AssertionError("a file without an entry is refused")
    headings = ["conversations" if key == MESSAGES[1] else key for key in first.value]
    format = _choose_format(faults.file, headings, True, reading)
    entries = chain([first], entries)
    if format.conversations:
        return format, {}, Conversations(faults, reading.characters).batches(entries)
    columns = _choose_columns(faults.file, format, headings, reading)
    return format, columns, Requests(faults, clock, columns).batches(entries)


def _begin_table(chunks: Iterator[bytes], faults: Faults, clock: Clock, reading: Reading) -> Beginning:
    blocks = text_blocks(chunks)
    number, text = next(blocks)
    lead = len(text) - len(text.lstrip())
    number, text = number + text[:lead].count("\n"), text[text.rfind("\n", 0, lead) + 1 :]
    line, _, rest = text.partition("\n")
    headings = [text.strip() for text, _ in fields_of(line)]
    if any(map(_is_value, headings)):
        # A row, even if it has a fault: the columns stand as the format has them.
        format = _choose_bare_format(faults.file, line, number, len(headings), reading)
        headings = list(format.all_columns.values())[: len(headings)]
        blocks = chain([(number, text)], blocks)
    else:
        format = _choose_format(faults.file, headings, False, reading)
        blocks = chain([(number + 1, rest)] if rest else [], blocks)
    columns = _choose_columns(faults.file, format, headings, reading)
    own = format.name == "serq"
    places = {role: headings.index(heading) for role, heading in columns.items()}
    table = Table(faults, clock, len(headings), places, columns, numbered=own, whole=not own)
    return format, columns, table.batches(blocks)


# ---------------------------------------------------------------- choosing


def _choose_format(name: str, headings: Sequence[str], json: bool, reading: Reading) -> Format:
    """The format that was named, else the one that the headings tell."""
    format = FORMATS[reading.format] if reading.format else find_format(headings, json)
    if format is None and NEW in reading.columns and OUT in reading.columns:
        format = FORMATS["json" if json else "csv"]
    if format is None:
        raise _refusal("SQ0950", path=name, headings=_listed(headings))
    if format.json != json:
        kinds = ("lines of fields", "JSON")
        raise _refusal(
            "SQ0951", path=name, format=format.name, reason=f"it is {kinds[json]}, not {kinds[not json]}"
        )
    return format


def _is_value(text: str) -> bool:
    """Whether a field is what stands in a row and not in a heading: a number or a date."""
    return is_number(text) or Clock().read(text) is not None


def _choose_bare_format(name: str, line: str, number: int, width: int, reading: Reading) -> Format:
    """The format of a table without a heading."""
    format = FORMATS[reading.format or "serq"]
    if len(format.columns) <= width <= len(format.all_columns):
        return format
    if reading.format is None:
        raise _refusal("SQ0950", path=name, headings=_listed([line.strip()]))
    raise _refusal(
        "SQ0951", path=name, format=format.name,
        reason=f"line {number} has {width} fields and no heading says which they are",
    )  # fmt: skip


def _choose_columns(name: str, format: Format, headings: Sequence[str], reading: Reading) -> dict[str, str]:
    """Role -> heading of the columns that are read; every one is there."""
    wanted = {**format.all_columns, **reading.columns}
    columns = {}
    for role, heading in wanted.items():
        if heading in headings:
            columns[role] = heading
        elif role in reading.columns or role in format.columns:
            near = closest(heading, headings)
            cure = f"did you mean `{near}`?" if near else f"its columns are {_listed(headings)}"
            raise _refusal(
                "SQ0951", path=name, format=format.name,
                reason=f"it has no column `{heading}` for `{role}`", help=cure,
            )  # fmt: skip
    for role in (NEW, OUT):
        if role not in columns:
            raise _refusal(
                "SQ0951", path=name, format=format.name, reason=f"nothing says which column is `{role}`"
            )
    columns.pop("turn", None)  # the turns of a session are numbered by their order
    if not reading.sessions:
        columns.pop(SESSION, None)
    return columns


def _listed(headings: Sequence[str]) -> str:
    shown = ", ".join(f"`{heading[:40]}`" for heading in headings[:8])
    return shown + (", …" if len(headings) > 8 else "")


def _refusal(code: str, at: Span | None = None, *, help: str | None = None, **facts: Any) -> ProgramError:
    return ProgramError([diagnose(code, at, help=help, **facts)])
