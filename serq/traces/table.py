"""Lines of fields: turns from CSV files.

A block of regular rows is read column by column; one with anything unusual in it row by row, which takes
three times as long and finds every fault.
"""

from __future__ import annotations

import re
from array import array
from collections.abc import Iterable, Iterator, Mapping, Sequence
from math import isfinite

from attrs import define, field

from serq.longfiles import split_columns
from serq.traces.batch import WANTED, Batch, fits, read_number
from serq.traces.faults import Faults
from serq.traces.formats import NEW, OUT, SESSION, TIME
from serq.traces.times import Clock

_FIELD = re.compile(r'\s*"((?:[^"]|"")*)"\s*(?=,|$)|[^,]*')


def fields_of(line: str) -> list[tuple[str, int]]:
    """The fields of a line with their columns (from 1); quotes around a field are taken off."""
    fields = []
    at = 0
    while True:
        found = _FIELD.match(line, at)
        assert found is not None  # the second alternative matches anything
        quoted = found[1]
        fields.append((found[0] if quoted is None else quoted.replace('""', '"'), at + 1))
        at = found.end() + 1
        if at > len(line):
            return fields


@define
class Table:
    """The rows of a table.

    width: fields of a row. places: role -> its field, from 0. headings: role -> heading, for messages.
    numbered: sessions are numbers. whole: tokens come one by one.
    """

    faults: Faults
    clock: Clock
    width: int
    places: Mapping[str, int]
    headings: Mapping[str, str]
    numbered: bool = False
    whole: bool = True
    _values: list[str] = field(init=False)

    def __attrs_post_init__(self) -> None:
        self._values = [role for role in self.places if role != SESSION or self.numbered]

    def batches(self, blocks: Iterable[tuple[int, str]]) -> Iterator[Batch]:
        """The turns of blocks of whole lines, the heading not among them."""
        for number, text in blocks:
            batch = self._read_block(text) or self._read_lines(number, text)
            self.faults.good += len(batch)
            yield batch

    # ------------------------------------------------------------ by column

    def _read_block(self, text: str) -> Batch | None:
        fields = split_columns(text, self.width)
        if fields is None or "_" in text:
            return None
        columns = {}
        for role in self._values:
            values = self._read_column(role, fields[self.places[role]])
            if values is None:
                return None
            columns[role] = values
        sessions = fields[self.places[SESSION]] if SESSION in self.places else None
        if self.numbered and sessions is not None:
            sessions = _number_names(columns.pop(SESSION))
        return Batch(columns, sessions)

    def _read_column(self, role: str, texts: Sequence[str]) -> array[float] | None:
        if role == TIME:
            values = self.clock.read_all(texts)
        elif role in (NEW, OUT):
            values = _read_counts(texts, self.whole)
        else:
            values = _read_floats(texts)
        if values is None or not isfinite(sum(values)) or not fits(role, min(values), False):
            return None
        return values

    # ------------------------------------------------------------ by row

    def _read_lines(self, number: int, text: str) -> Batch:
        batch = Batch.empty(self._values, SESSION in self.places and not self.numbered)
        for i, line in enumerate(text.removesuffix("\n").split("\n"), start=number):
            if line.strip():
                self._read_line(i, line, batch)
        if self.numbered and SESSION in self.places:
            batch.sessions = _number_names(batch.columns.pop(SESSION))
        return batch

    def _read_line(self, number: int, line: str, batch: Batch) -> None:
        """Add the turn of a line to the batch, or say what is wrong with it."""
        fields = fields_of(line)
        if len(fields) != self.width:
            self.faults.say("SQ0952", number, 1, line, line, got=len(fields), width=self.width)
            self.faults.pass_over()
            return
        row = []
        for role in self._values:
            text, column = fields[self.places[role]]
            value = self.clock.read(text) if role == TIME else read_number(text)
            if value is None or not fits(role, value, self.whole):
                facts = {"field": self.headings[role], "text": text.strip(), "wanted": WANTED[role]}
                self.faults.say("SQ0953", number, column, text, line, **facts)
            else:
                row.append(value)
        if len(row) < len(self._values):
            self.faults.pass_over()
            return
        for role, value in zip(self._values, row, strict=True):
            batch.columns[role].append(value)
        if batch.sessions is not None:
            batch.sessions.append(fields[self.places[SESSION]][0])


def _read_counts(texts: Sequence[str], whole: bool) -> array[float] | None:
    try:
        return array("d", map(int, texts))
    except (ValueError, OverflowError):
        values = _read_floats(texts)  # some tools write counts as 374.0
        return values if values is None or not whole or all(map(float.is_integer, values)) else None


def _read_floats(texts: Sequence[str]) -> array[float] | None:
    try:
        return array("d", map(float, texts))
    except ValueError:
        return None


def _number_names(numbers: Sequence[float]) -> list[str]:
    return [repr(number + 0.0) for number in numbers]
