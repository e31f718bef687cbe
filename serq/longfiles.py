"""Files longer than memory, read in blocks of whole lines: traces of requests have millions of them.

A file may be packed with gzip. What is read is checked twice: a block whose lines all have the same
number of plain fields is split at once (`split_columns`), any other is left to a reader that goes line
by line and can say what is wrong where.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from functools import partial
from math import isfinite
from pathlib import Path
from typing import BinaryIO

BLOCK_BYTES = 2**20
LONGEST_LINE = 64 * 2**20
"""Bytes; a longer line is not a line of a table."""

_GZIP = b"\x1f\x8b"
_MARK = "\ufeff"


class NotTextError(Exception):
    """A byte that is not UTF-8, at a line and a column (in characters), both from 1."""

    def __init__(self, line: int, column: int, byte: int) -> None:
        super().__init__(f"line {line}, column {column}: byte 0x{byte:02x}")
        self.line = line
        self.column = column
        self.byte = byte


@contextmanager
def open_chunks(path: str | Path) -> Iterator[Iterator[bytes]]:
    """The bytes of a file, unpacked, chunk by chunk; OSError for all that can go wrong with it."""
    with open(path, "rb") as file:
        yield unpack_chunks(file)


def unpack_chunks(file: BinaryIO) -> Iterator[bytes]:
    """The bytes that follow in an open file, unpacked if they begin as gzip does; raises OSError."""
    # A pipe cannot be wound back: the first bytes are looked at where they are buffered.
    peek = getattr(file, "peek", None)
    packed = peek is not None and peek(2)[:2] == _GZIP
    if not packed:
        yield from iter(partial(file.read, BLOCK_BYTES), b"")
        return
    import gzip
    import zlib

    try:
        with gzip.GzipFile(fileobj=file) as unpacked:
            yield from iter(partial(unpacked.read, BLOCK_BYTES), b"")
    except (EOFError, zlib.error, gzip.BadGzipFile):
        raise OSError("its gzip data is damaged or cut short") from None


def text_blocks(chunks: Iterable[bytes]) -> Iterator[tuple[int, str]]:
    """Whole lines, each ending in "\\n", with the number of the first one (from 1).

    Lines may end in CR LF. Raises NotTextError, and OSError for a line beyond LONGEST_LINE.
    """
    number = 1
    rest: list[bytes] = []
    pending = 0
    for chunk in chunks:
        cut = chunk.rfind(b"\n") + 1
        if cut:
            text = _decode(b"".join([*rest, chunk[:cut]]), number)
            yield number, text
            number += text.count("\n")
            rest, pending = [], 0
        rest.append(chunk[cut:])
        pending += len(chunk) - cut
        if pending > LONGEST_LINE:
            raise OSError(f"line {number} is longer than {LONGEST_LINE // 2**20} MB")
    if pending:
        yield number, _decode(b"".join(rest) + b"\n", number)


def decode_text(content: bytes, line: int, column: int) -> str:
    """Text that begins at a line and a column of its file; raises NotTextError."""
    try:
        return content.decode("utf-8")
    except UnicodeDecodeError as error:
        before = content[: error.start].decode("utf-8")
        below = before.count("\n")
        column = len(before) - before.rfind("\n") if below else column + len(before)
        raise NotTextError(line + below, column, content[error.start]) from None


def split_columns(text: str, width: int) -> list[list[str]] | None:
    """The fields of a block by column, when every line has exactly `width` of them and none is quoted.

    None otherwise: an empty line, a quote, a field too many. text: whole lines, as `text_blocks` gives.
    """
    lines = text.split("\n")
    lines.pop()
    commas = width - 1
    if any(line.count(",") != commas for line in lines) or '"' in text or not all(lines):
        return None
    fields = text.replace("\n", ",").split(",")
    fields.pop()
    return [fields[i::width] for i in range(width)]


def is_number(text: str) -> bool:
    """Whether a field is a finite number, written plainly."""
    try:
        return isfinite(float(text)) and "_" not in text
    except ValueError:
        return False


def _decode(content: bytes, line: int) -> str:
    text = decode_text(content, line, 1)
    if line == 1:
        text = text.removeprefix(_MARK)
    return text.replace("\r\n", "\n") if "\r" in text else text
