"""JSON objects, one a line or all in one list, of files longer than memory."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from json import JSONDecodeError, JSONDecoder
from typing import Any

from attrs import frozen

from serq.longfiles import NotTextError, decode_text, text_blocks
from serq.traces.faults import Faults

LONGEST_ENTRY = 64 * 2**20
"""Characters; a longer element is no conversation."""


@frozen
class Entry:
    """A JSON object with its place; text: its line, or its beginning, for messages."""

    value: dict[str, Any]
    line: int
    column: int
    text: str


def read_entries(chunks: Iterable[bytes], is_list: bool, faults: Faults) -> Iterator[Entry]:
    """The objects of a file; what is none is a fault. Raises as `text_blocks` does."""
    return _list_elements(chunks, faults) if is_list else _lines(chunks, faults)


def _lines(chunks: Iterable[bytes], faults: Faults) -> Iterator[Entry]:
    for number, text in text_blocks(chunks):
        for i, line in enumerate(text.removesuffix("\n").split("\n"), start=number):
            if not line.strip():
                continue
            try:
                value = json.loads(line)
            except (ValueError, RecursionError) as error:
                column = error.colno if isinstance(error, JSONDecodeError) else 1
                faults.say("SQ0954", i, column, "", line, reason=_reason(error))
                faults.pass_over()
                continue
            yield from _as_entry(value, i, 1, line, faults)


def _as_entry(value: Any, line: int, column: int, text: str, faults: Faults) -> Iterator[Entry]:
    if isinstance(value, dict):
        yield Entry(value, line, column, text)
        return
    faults.say("SQ0954", line, column, text.strip()[:1], text, reason="an object `{…}` is expected")
    faults.pass_over()


def _list_elements(chunks: Iterable[bytes], faults: Faults) -> Iterator[Entry]:
    """The elements of one list, decoded as its text comes in."""
    text = _Text(chunks)
    text.skip_space()
    text.at += 1  # the opening bracket
    text.skip_space()
    while text.next_character() not in ("]", ""):
        line, column = text.place()
        try:
            value = text.decode()
        except (ValueError, RecursionError) as error:
            # Where the next element begins nobody knows: the rest of the list is lost.
            line, column = text.place(error.pos if isinstance(error, JSONDecodeError) else text.at)
            faults.say("SQ0954", line, column, "", "", reason=_reason(error))
            faults.pass_over()
            return
        yield from _as_entry(value, line, column, "", faults)
        text.skip_space()
        if text.next_character() == ",":
            text.at += 1
            text.skip_space()
        elif text.next_character() != "]":
            line, column = text.place()
            reason = "the list is cut short" if not text.next_character() else "`,` or `]` is expected"
            faults.say("SQ0954", line, column, "", "", reason=reason)
            faults.pass_over()
            return


class _Text:
    """Text that comes in chunks; `at` is the place in what is there now."""

    def __init__(self, chunks: Iterable[bytes]) -> None:
        self._chunks = iter(chunks)
        self._bytes = b""
        self._text = ""
        self._counted = 0
        self._line, self._column = 1, 1  # of the character at `_counted`
        self.at = 0
        self._scan = JSONDecoder().raw_decode

    def next_character(self) -> str:
        """The character here, "" at the end."""
        while self.at >= len(self._text):
            if not self._more():
                return ""
        return self._text[self.at]

    def skip_space(self) -> None:
        while self.next_character() in (" ", "\n", "\r", "\t", "\ufeff"):
            self.at += 1

    def decode(self) -> Any:
        """The value that begins here; raises JSONDecodeError, with its `pos` in the present text."""
        while True:
            try:
                value, end = self._scan(self._text, self.at)
            except JSONDecodeError as error:
                # A value that is cut by the end of the text may become whole; others never will.
                cut = error.msg.startswith("Unterminated") or error.pos >= len(self._text) - 16
                if not cut or len(self._text) - self.at > LONGEST_ENTRY or not self._more():
                    raise
                continue
            if end >= len(self._text) and self._more():
                continue  # a number may go on
            self.at = end
            return value

    def place(self, at: int | None = None) -> tuple[int, int]:
        """Line and column (from 1) of a place that is not before `at`; of that one if there is none."""
        here = _walk(self._line, self._column, self._text[self._counted : self.at])
        self._line, self._column = here
        self._counted = self.at
        return here if at is None else _walk(*here, self._text[self.at : at])

    def _more(self) -> bool:
        """Forget what is done with and take in more, about as much as is left; whether there was any."""
        taken = []
        missing = len(self._text) - self.at
        for chunk in self._chunks:
            taken.append(chunk)
            missing -= len(chunk)
            if missing <= 0:
                break
        content = self._bytes + b"".join(taken)
        whole = _whole_characters(content) if taken else len(content)
        try:
            more = decode_text(content[:whole], 1, 1)
        except NotTextError as error:
            line, column = self.place(len(self._text))
            column = column + error.column - 1 if error.line == 1 else error.column
            raise NotTextError(line + error.line - 1, column, error.byte) from None
        if not taken:
            return False
        self.place()
        self._text = self._text[self.at :] + more
        self._bytes = content[whole:]
        self.at = self._counted = 0
        return True


def _walk(line: int, column: int, text: str) -> tuple[int, int]:
    """Where one is after some text."""
    below = text.count("\n")
    return line + below, len(text) - text.rfind("\n") if below else column + len(text)


def _whole_characters(content: bytes) -> int:
    """How many bytes to decode so that no UTF-8 character is cut at the end."""
    for back in range(1, min(4, len(content)) + 1):
        byte = content[-back]
        if byte < 0x80:
            break
        if byte >= 0xC0:  # the first byte of a character
            length = 2 if byte < 0xE0 else 3 if byte < 0xF0 else 4
            return len(content) - back if length > back else len(content)
    return len(content)


def _reason(error: Exception) -> str:
    if isinstance(error, JSONDecodeError):
        return error.msg[:1].lower() + error.msg[1:]
    return "it is nested too deep" if isinstance(error, RecursionError) else "a number is too long"
