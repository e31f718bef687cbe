"""Complaints of the checker: places inside definitions, one message per cause, names that are close."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from attrs import define, field, frozen

from serq.diagnostics import Note, Sink
from serq.source import Span
from serq.spelling import closest


@frozen
class UsedSpan(Span):
    """A place in a definition's body, with the place where the definition is used.

    use: that place; it may itself lie in a definition's body.
    """

    use: Span | None = None


def used_at(at: Span, use: Span) -> Span:
    """The place `at` of a body, seen from `use`. Uses within the body stay the inner ones."""
    if isinstance(at, UsedSpan) and at.use is not None:
        outer = used_at(at.use, use)
        return UsedSpan(at.line, at.column, at.end_line, at.end_column, at.file, outer)
    return UsedSpan(at.line, at.column, at.end_line, at.end_column, at.file, use)


def uses(at: Span | None) -> Iterator[Span]:
    """Where the definitions around a place are used, innermost first."""
    while isinstance(at, UsedSpan) and at.use is not None:
        at = at.use
        yield at


# A chain of uses longer than this is shown by its first and last members.
_SHOWN_USES = 4


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
        chain = list(uses(at))
        if len(chain) > _SHOWN_USES:
            chain = [*chain[: _SHOWN_USES - 1], chain[-1]]
        used = [Note("in the definition used here", use) for use in chain]
        self.sink.say(code, at, notes=(*notes, *used), help=help, **facts)

    def missing(self, code: str, at: Span | None = None, **facts: Any) -> None:
        """Say something that only a whole text shows: what is missing may have been thrown away."""
        if self.complete:
            self.say(code, at, **facts)

    def unknown(
        self, code: str, name: str, at: Span, known: Mapping[str, Span | None], **facts: Any
    ) -> None:
        """Say once that `name` is unknown, proposing the one of `known` that is close, if it is one."""
        if (code, name) in self._said:
            return
        self._said.add((code, name))
        near = closest(name, known)
        if near is None:
            self.say(code, at, name=name, **facts)
            return
        place = known[near]
        notes = [Note(f"`{near}` is declared here", place)] if place is not None else []
        self.say(code, at, name=name, help=f"did you mean `{near}`?", notes=notes, **facts)

