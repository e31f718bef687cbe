"""Places that the tree does not keep, found again in the text."""

from __future__ import annotations

import re

from attrs import evolve

from serq.check.complaints import Complaints
from serq.source import Span

_WORD = re.compile(r"\w+")


def opening_brace(at: Span, complaints: Complaints) -> Span:
    """The first `{` of a piece of text; the piece itself when its text is not at hand."""
    source = complaints.sink.sources.get(at.file)
    for number in range(at.line, at.end_line + 1):
        line = source.line(number) if source is not None else ""
        column = line.find("{", at.column - 1 if number == at.line else 0) + 1
        if column:
            return evolve(at, line=number, column=column, end_line=number, end_column=column + 1)
    return at


def word_after(at: Span, complaints: Complaints) -> Span:
    """The second word of a piece of text, on the line of the first; else the piece itself."""
    source = complaints.sink.sources.get(at.file)
    line = source.line(at.line) if source is not None else ""
    words = [m for m in _WORD.finditer(line, at.column - 1)][:2]
    if len(words) < 2:
        return at
    start, end = words[1].start() + 1, words[1].end() + 1
    return evolve(at, column=start, end_line=at.line, end_column=end)


def word_before(at: Span, word: str, complaints: Complaints) -> Span:
    """The last `word` on the line above or at a place; the place itself when there is none."""
    source = complaints.sink.sources.get(at.file)
    for number in (at.line, at.line - 1):
        line = source.line(number) if source is not None else ""
        column = line.rfind(word, 0, at.column - 1 if number == at.line else len(line)) + 1
        if column:
            end = column + len(word)
            return evolve(at, line=number, column=column, end_line=number, end_column=end)
    return at
