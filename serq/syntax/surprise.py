"""What the parser is surprised by, what is told of it, and the words both are told in."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from attrs import field, frozen

from serq.diagnostics import Note
from serq.source import Span
from serq.syntax.tokens import BAD, END, NUMBER, STRING, Tokens

THINGS = {
    "program": "item",
    "main": "item",
    "library": "definition",
    "statements": "statement",
    "device": "resource of a device",
    "engine": "part of an engine",
    "schedule": "statement of a schedule",
    "pool": "option of a pool",
    "queue": "part of a queue",
    "workload": "part of a workload",
    "request": "step of a request",
    "expression": "expression",
}
"""What a room holds; "expression" is the room of a text that is one expression."""

PLACES = {
    "main": "`fn main() { … }`",
    "statements": "a server, a session or a definition",
    "engine": "an engine",
    "schedule": "the schedule of an engine",
    "pool": "a pool",
    "queue": "a queue",
    "workload": "`workload { … }`",
}
"""Where a room is, for words that were written in another one."""

CLOSING = {"(": ")", "[": "]", "{": "}"}
"""Each opening bracket's other half."""

FEW = 5
"""Choices that a message still lists."""

_FIRST = [
    "device", "engine", "pool", "stage", "workload", "server", "gauge", "claim", "let", "def", "tokens",
    "schedule", "execute", "advance", "admit", "set", "observe", "run", "hold", "branch", "while", "loop",
    "arrive", "init", "session", "cap", "evict", "preempt", "queue", "poisson", "renewal",
    "batch", "closed", "slotted",
]  # fmt: skip
"""The words that people need most, in the order in which a list names them."""


def either(kinds: Iterable[str]) -> str:
    """Kinds of tokens as a choice, at most a few of them: "`cap`, `block` or a name"."""
    plain = {"NAME": "a name", NUMBER: "a number", STRING: "a quoted string", END: "the end of the text"}
    order = {word: place for place, word in enumerate(_FIRST)}
    known = sorted(set(kinds) - {"_EXPRESSION_OPENS"}, key=lambda kind: (order.get(kind, len(order)), kind))
    words = [plain.get(kind) or f"`{kind}`" for kind in known]
    if len(words) > FEW + 1:
        words = [*words[:FEW], "…"]
    return f"{', '.join(words[:-1])} or {words[-1]}" if len(words) > 1 else "".join(words)


@frozen
class Surprise:
    """A token that cannot stand where it stands.

    index: the token; first: where the statement or item around it begins (`index` itself when the
    token should have begun one); room: what kind of list that is in, a key of `THINGS`.
    here: the words that begin something in this room; outside: those of the rooms around it.
    block: the `{` of the room, None at the outermost level.
    can: whether a token of a given kind would be accepted now; expected: every kind that would.
    rooms: by word, the rooms in which it begins something.
    """

    tokens: Tokens
    index: int
    first: int
    room: str
    here: frozenset[str]
    outside: frozenset[str]
    block: int | None
    can: Callable[[str], bool] = field(repr=False)
    expected: Callable[[], list[str]] = field(repr=False)
    rooms: Callable[[], Mapping[str, list[str]]] = field(repr=False)

    @property
    def kind(self) -> str:
        return self.tokens.kinds[self.index]

    @property
    def text(self) -> str:
        return self.tokens.texts[self.index]

    @property
    def clipped(self) -> str:
        """The text, or as much of it as a message should quote."""
        return self.text if len(self.text) <= 40 else f"{self.text[:39]}…"

    @property
    def head(self) -> str:
        """The first word of the statement."""
        return self.tokens.texts[self.first] if self.first < self.index else ""

    @property
    def before(self) -> str:
        """The token before, within the statement."""
        return self.tokens.texts[self.index - 1] if self.first < self.index else ""

    @property
    def thing(self) -> str:
        return THINGS[self.room]

    @property
    def touches(self) -> bool:
        """There is no blank between the token before and this one."""
        t, i = self.tokens, self.index
        return (
            i > 0 and t.lines[i - 1] == t.lines[i] and t.columns[i - 1] + len(t.texts[i - 1]) == t.columns[i]
        )

    @property
    def starts_line(self) -> bool:
        return self.index == 0 or self.tokens.lines[self.index - 1] < self.tokens.lines[self.index]

    @property
    def opener(self) -> int | None:
        """The innermost bracket that the statement has opened and not closed."""
        open_brackets: list[int] = []
        for i in range(self.first, self.index):
            kind = self.tokens.kinds[i]
            if kind in CLOSING:
                open_brackets.append(i)
            elif kind in (")", "]", "}") and open_brackets:
                open_brackets.pop()
        return open_brackets[-1] if open_brackets else None

    @property
    def after_value(self) -> bool:
        """An expression might end before this token."""
        return any(self.can(operator) for operator in ("*", "+", "&&", "?"))

    def quote(self, first: int, end: int) -> str:
        """The text from token `first` up to and excluding token `end`, blanks made single."""
        t = self.tokens
        words: list[str] = []
        for i in range(first, end):
            apart = i > first and (
                t.lines[i - 1] < t.lines[i] or t.columns[i - 1] + len(t.texts[i - 1]) < t.columns[i]
            )
            words += [" ", t.texts[i]] if apart else [t.texts[i]]
        return "".join(words)

    def rest(self) -> str:
        """What is left of a short expression: the text from here to the `;` or brace that ends it."""
        for end in range(self.index, self.index + 12):
            kind = self.tokens.kinds[end]
            if kind in (";", "{", "}", BAD, END):
                return "" if kind in (BAD, END) else self.quote(self.index, end)
        return ""

    def at(self, index: int | None = None) -> Span:
        i = self.index if index is None else index
        return self.tokens.at(i, i)

    def shown(self) -> str:
        """The token as a message quotes it."""
        return "the end of the text" if self.kind == END else f"`{self.clipped}`"


@frozen
class Mistake:
    """What to say of a surprise, and how to go on.

    insert: a missing token that, put before the surprising one, makes the text right.
    closes: the room ends here although its `}` is missing.
    """

    code: str
    at: Span
    facts: Mapping[str, Any] = field(factory=dict)
    help: str | None = None
    notes: tuple[Note, ...] = ()
    insert: str | None = None
    closes: bool = False
