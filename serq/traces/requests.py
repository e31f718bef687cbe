"""JSON objects as turns: one request each, or one conversation each."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from attrs import define, field

from serq.diagnostics import ProgramError, diagnose
from serq.source import Span
from serq.traces.batch import WANTED, Batch, fits, read_number
from serq.traces.entries import Entry
from serq.traces.faults import Faults
from serq.traces.formats import NEW, OUT, SESSION, TIME
from serq.traces.times import Clock

TURNS_AT_ONCE = 10_000

MESSAGES = ("conversations", "messages")
"""Keys under which a conversation has its messages."""

PROMPTS = frozenset({"human", "user", "system", "tool", "function", "function_response", "observation"})
ANSWERS = frozenset({"gpt", "assistant", "chatgpt", "bing", "bard", "claude", "model", "bot"})
"""Who speaks: what the model reads, and what it writes."""


@define
class Requests:
    """Objects that are a request each. keys: role -> key of the object."""

    faults: Faults
    clock: Clock
    keys: Mapping[str, str]
    _values: list[str] = field(init=False)

    def __attrs_post_init__(self) -> None:
        self._values = [role for role in self.keys if role != SESSION]

    def batches(self, entries: Iterable[Entry]) -> Iterator[Batch]:
        """The turns of the objects."""
        batch = self._empty()
        for entry in entries:
            row = self._read(entry)
            if len(row) < len(self._values):
                self.faults.pass_over()
                continue
            self.faults.good += 1
            for role, value in zip(self._values, row, strict=True):
                batch.columns[role].append(value)
            if batch.sessions is not None:
                session = entry.value.get(self.keys[SESSION])
                batch.sessions.append("" if session is None else str(session))
            if len(batch) == TURNS_AT_ONCE:
                yield batch
                batch = self._empty()
        yield batch

    def _empty(self) -> Batch:
        return Batch.empty(self._values, SESSION in self.keys)

    def _read(self, entry: Entry) -> list[float]:
        """The values that are good, in the order of `_values`."""
        row = []
        for role in self._values:
            key = self.keys[role]
            if key not in entry.value:
                self.faults.say("SQ0955", entry.line, entry.column, "", entry.text, key=key)
                continue
            value = self._number(role, entry.value[key])
            if value is None or not fits(role, value, True):
                column, text = _find_value(entry, key)
                error = _bad_field(key, entry.value[key], WANTED[role])
                self.faults.say(error.code, entry.line, column, text, entry.text, **error.facts)
            else:
                row.append(value)
        return row

    def _number(self, role: str, value: Any) -> float | None:
        if isinstance(value, bool) or not isinstance(value, int | float | str):
            return None
        return self.clock.read(str(value)) if role == TIME else read_number(str(value))


class _BadEntryError(Exception):
    """An entry is no conversation: a code and its facts."""

    def __init__(self, code: str, **facts: Any) -> None:
        super().__init__(code)
        self.code = code
        self.facts = facts


@define
class Conversations:
    """Objects that are a conversation each: its prompts and answers in turn.

    characters: of a text per token; None when messages have to say their tokens.

    What a model wrote before anybody asked was there at the first request, so it counts as its prompt;
    what nobody answered is left out.
    """

    faults: Faults
    characters: float | None = None

    def batches(self, entries: Iterable[Entry]) -> Iterator[Batch]:
        """The turns of the conversations; those of one stand together."""
        batch = Batch.empty([NEW, OUT], True)
        for number, entry in enumerate(entries):
            try:
                turns = self._read(entry)
            except _BadEntryError as error:
                self.faults.say(error.code, entry.line, entry.column, "", entry.text, **error.facts)
                self.faults.pass_over()
                continue
            self.faults.good += len(turns)
            for new, out in turns:
                batch.columns[NEW].append(new)
                batch.columns[OUT].append(out)
            assert batch.sessions is not None
            batch.sessions += [str(number)] * len(turns)
            if len(batch) >= TURNS_AT_ONCE:
                yield batch
                batch = Batch.empty([NEW, OUT], True)
        yield batch

    def _read(self, entry: Entry) -> list[tuple[float, float]]:
        """Tokens of prompt and answer, turn by turn; raises _BadEntryError."""
        name = next((name for name in MESSAGES if name in entry.value), None)
        if name is None:
            raise _BadEntryError("SQ0955", key=MESSAGES[0])
        messages = entry.value[name]
        if not isinstance(messages, list):
            raise _bad_field(name, messages, "a list of messages")
        turns: list[tuple[float, float]] = []
        new = out = 0.0
        prompted = answered = False
        for i, message in enumerate(messages):
            where = f"{name}[{i}]"
            if not isinstance(message, dict):
                raise _bad_field(where, message, "an object with `from` and `value`")
            speaker = message.get("from", message.get("role"))
            tokens = self._tokens(message.get("value", message.get("content")), entry, where)
            if speaker in ANSWERS and prompted:
                out += tokens
                answered = True
            elif speaker in ANSWERS:
                new += tokens
            elif speaker in PROMPTS:
                if answered:
                    turns.append((new, out))
                    new = out = 0.0
                    answered = False
                new += tokens
                prompted = True
            else:
                raise _bad_field(f"{where}.from", speaker, f"one of {', '.join(sorted(PROMPTS | ANSWERS))}")
        if answered:
            turns.append((new, out))
        return turns

    def _tokens(self, content: Any, entry: Entry, where: str) -> float:
        if isinstance(content, str):
            if self.characters is None:
                at = Span(entry.line, entry.column, entry.line, entry.column, self.faults.file)
                raise ProgramError([diagnose("SQ0958", at, where=f"{where}.value")])
            return float(math.ceil(len(content) / self.characters))
        tokens = None
        if isinstance(content, int | float) and not isinstance(content, bool):
            tokens = read_number(str(content))
        if tokens is None or not fits(NEW, tokens, True):
            raise _bad_field(f"{where}.value", content, WANTED[NEW])
        return tokens


def _bad_field(where: str, value: Any, wanted: str) -> _BadEntryError:
    text = json.dumps(value, ensure_ascii=False)
    return _BadEntryError(
        "SQ0953", field=where, text=text if len(text) <= 40 else text[:39] + "…", wanted=wanted
    )


def _find_value(entry: Entry, key: str) -> tuple[int, str]:
    """Where the value of a key stands in the entry's line, and its text; roughly, for a message."""
    shown = json.dumps(entry.value[key], ensure_ascii=False)
    at = entry.text.find(f'"{key}"')
    if at < 0:
        return entry.column, shown
    at = entry.text.find(":", at + len(key) + 2) + 1
    at += len(entry.text[at:]) - len(entry.text[at:].lstrip())
    return at + 1, shown
