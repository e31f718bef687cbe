"""Complaints of the checker: places inside definitions, one message per cause, names that are close."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from attrs import define, field, frozen

from serq.diagnostics import Note, Sink
from serq.source import Span
from serq.spelling import closest


@frozen
class UsedSpan(Span):
    """A place in a definition's body, with the places where the definition is used.

    uses: innermost first; a use may itself lie in the body of the next one.
    """

    uses: tuple[Span, ...] = ()


def used_at(at: Span, use: Span) -> Span:
    """The place `at` of a body, seen from `use`."""
    inner = at.uses if isinstance(at, UsedSpan) else ()
    outer = use.uses if isinstance(use, UsedSpan) else ()
    chain = (*inner, use, *outer)
    return UsedSpan(at.line, at.column, at.end_line, at.end_column, at.file, chain)


# A chain of uses longer than this is shown by its first and last members.
_SHOWN_USES = 4
MOST_COMPARED = 100_000
"""Names that a program's unknown names are compared with, all in all; beyond, nothing is proposed."""


@define
class Complaints:
    """What the passes of the checker say, once per code and place.

    skipped: words of text that was thrown away while reading: nothing is said about a name among
    them, for its declaration may be there.
    """

    sink: Sink
    skipped: frozenset[str] = frozenset()
    complete: bool = True
    _said: set[tuple[object, ...]] = field(factory=set)
    _compared: int = 0

    def say(
        self,
        code: str,
        at: Span | None = None,
        *,
        notes: Iterable[Note] = (),
        help: str | None = None,
        **facts: Any,
    ) -> None:
        """Record a complaint, unless this code was already given here or `name` was thrown away."""
        if self.skipped and self.skipped.intersection(str(facts.get("name", "")).split(".")):
            return
        place = (at.file, at.line, at.column) if at is not None else tuple(sorted(facts.items(), key=str))
        if (code, place) in self._said:
            return
        self._said.add((code, place))
        chain = at.uses if isinstance(at, UsedSpan) else ()
        if len(chain) > _SHOWN_USES:
            chain = (*chain[: _SHOWN_USES - 1], chain[-1])
        used = [Note("in the definition used here", use) for use in chain]
        self.sink.say(code, at, notes=(*notes, *used), help=help, **facts)

    def written(self, at: Span) -> str:
        """The text at a place, if it is short; otherwise `…`."""
        source = self.sink.sources.get(at.file)
        if source is None or at.line != at.end_line or at.end_column - at.column > 40:
            return "…"
        return source.line(at.line)[at.column - 1 : at.end_column - 1]

    def missing(self, code: str, at: Span | None = None, **facts: Any) -> None:
        """Say something that only a whole text shows: what is missing may have been thrown away."""
        if self.complete:
            self.say(code, at, **facts)

    def unknown(self, code: str, name: str, at: Span, known: Mapping[str, Span | None], **facts: Any) -> None:
        """Say once that `name` is unknown, proposing the one of `known` that is close, if it is one."""
        if (code, name) in self._said:
            return
        self._said.add((code, name))
        self._compared += len(known)
        near = closest(name, known) if self._compared <= MOST_COMPARED else None
        if near is None:
            self.say(code, at, name=name, **facts)
            return
        place = known[near]
        notes = [Note(f"`{near}` is declared here", place)] if place is not None else []
        self.say(code, at, name=name, help=f"did you mean `{near}`?", notes=notes, **facts)
