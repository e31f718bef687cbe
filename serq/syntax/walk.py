"""The walk over the parse tables, and how it goes on after a mistake.

A *room* is a list of things between braces: the items of `main`, the statements of a block, the
options of a pool. After a mistake the walk drops the statement or item it stands in, and goes on
with the next one of the same room, so that there is one complaint per statement and none for what
follows from it.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from serq.diagnostics import Sink
from serq.syntax.build import BUILDERS, LONG, depth_of
from serq.syntax.mistakes import Surprise, explain
from serq.syntax.tables import Tables
from serq.syntax.tokens import BAD, END, STRING, WORD, Tokens
from serq.syntax.tree import Name, Text

ROOMS = {
    "_top": "program",
    "_item": "main",
    "_statement": "statements",
    "_device_item": "device",
    "_engine_item": "engine",
    "_schedule_line": "schedule",
    "_schedule_statement": "schedule",
    "_pool_option": "pool",
    "_queue_item": "queue",
    "_workload_item": "workload",
    "_request_line": "request",
    "_definition": "library",
}
"""The rules whose lists are rooms, the outer ones first where one state begins several."""

MOST_COMPLAINTS = 20
"""After this many, the rest of the text is skipped: it is hardly a program."""

DEEPEST_EXPRESSION = 400
"""Operators within operators that an expression may have."""

_KEPT = frozenset({"+", "-", "*", "/", "^", "<", "<=", ">", ">=", "==", "!=", "&&", "||", "!"})
"""Marks that come with a value; the others only separate."""

# A definition's braces hold statements if they begin with one of these and another word, even when
# the `;` is missing: the better complaint is then about the `;`.
_VERBS = frozenset({"set", "observe", "run", "hold", "grow", "load", "drop", "release", "choose", "mark"})


class _Room(NamedTuple):
    """Where on the stack a room is: `states[level]` is the state that reads its next element."""

    level: int
    rule: str


class Walk:
    """One reading of a program's tokens from a start rule of the grammar.

    skipped: words of the text that was dropped; complete: nothing was dropped; strays: closing
    braces at the outermost level, which the caller complains about.
    """

    def __init__(self, tables: Tables, tokens: Tokens, start: str, sink: Sink) -> None:
        self.tables = tables
        self.tokens = tokens
        self.start = start
        self.sink = sink
        self.states = [tables.starts[start]]
        self.values: list[Any] = []
        self.starts: list[int] = []
        self.index = 0
        self.last = -1
        self.shifted = 0
        self.skipped: set[str] = set()
        self.complete = True
        self.strays: list[int] = []
        self._complaints = 0
        self._shifted_at_complaint = -1
        self._too_deep = False

    def read(self) -> Any:
        """The value of the start rule, or None when nothing of it could be kept."""
        actions, gotos, rules = self.tables.actions, self.tables.gotos, self.tables.rules
        states, values, starts = self.states, self.values, self.starts
        kinds = self.tokens.kinds
        end_state = self.tables.ends[self.start]
        while True:
            index = self.index
            kind = self.kind_of(index, states[-1])
            action = actions[states[-1]].get(kind)
            while action is not None and action < 0:
                rule = rules[-1 - action]
                if rule.size == 1 and not rule.builder:
                    # A rule that only passes its value on: nothing moves but the state.
                    states.pop()
                    states.append(gotos[states[-1]][rule.origin])
                else:
                    self.reduce(rule)
                if kind == END and states[-1] == end_state:
                    return values[-1]
                action = actions[states[-1]].get(kind)
            if action is None:
                if kind != "NAME" and kinds[index] == WORD and "NAME" in actions[states[-1]]:
                    action = actions[states[-1]]["NAME"]
                    assert action >= 0
                elif self.recover():
                    continue
                else:
                    return None
            states.append(action)
            starts.append(index)
            values.append(self.value_of(index, kind))
            self.last = index
            self.index = index + 1
            self.shifted += 1

    # ------------------------------------------------------------ tokens

    def kind_of(self, index: int, state: int) -> str:
        """The terminal that the token at `index` is in `state`.

        A word is one of the language where the state expects it, unless what follows shows that
        it is a name: `max - 1`, `hold.route();`, `tool on;`.
        """
        kinds, texts = self.tokens.kinds, self.tokens.texts
        kind = kinds[index]
        if kind == WORD:
            text = texts[index]
            action = self.tables.actions[state]
            if text not in action or text not in self.tables.words:
                return "NAME"
            if "NAME" not in action:
                return text
            after = kinds[index + 1]
            if after == ".":
                return "NAME"
            if text in ("max", "min", "sum"):
                return text if after == WORD and texts[index + 2] == "in" else "NAME"
            if text == "on":
                return text if after == WORD else "NAME"
            return text
        if kind == "{" and "_EXPRESSION_OPENS" in self.tables.actions[state]:
            inside_is_statements = (
                kinds[index + 1] == "}"
                or index in self.tokens.inner_semicolon
                or (texts[index + 1] in _VERBS and kinds[index + 2] == WORD)
            )
            return "{" if inside_is_statements else "_EXPRESSION_OPENS"
        return kind

    def value_of(self, index: int, kind: str) -> Name | Text | None:
        """What a token leaves on the stack."""
        if kind == STRING:
            return Text(self.tokens.texts[index][1:-1], self.tokens.at(index, index))
        if kind in _KEPT or self.tokens.kinds[index] == WORD or kind == "NUMBER":
            return Name(self.tokens.texts[index], self.tokens.at(index, index))
        return None

    # ------------------------------------------------------------ the stack

    def reduce(self, rule: Any) -> None:
        """Replace the symbols of `rule` on the stack by what its builder makes of them."""
        states, values, starts = self.states, self.values, self.starts
        size = rule.size
        if size:
            first = starts[-size]
            taken = values[-size:]
            del states[-size:], values[-size:], starts[-size:]
        else:
            first = self.index
            taken = []
        kept: list[Any] = []
        keep = rule.keep
        if rule.builder == "[]" and keep and keep[0] in rule.splice:
            # A list that grows by one element: not copied, or long blocks would take quadratic time.
            kept = taken[keep[0]]
            keep = keep[1:]
        for place in keep:
            if place < 0:
                kept.append(None)
            elif place in rule.splice:
                kept += taken[place]
            else:
                kept.append(taken[place])
        value: Any
        if rule.builder == "[]":
            value = kept
        elif not rule.builder:
            value = kept[0]
        else:
            last = self.last if self.last >= first else first
            value = BUILDERS[rule.builder](*kept, self.tokens.at(first, last))
            if last - first >= LONG:
                value = self.bounded(rule.builder, value, kept)
        values.append(value)
        starts.append(first)
        states.append(self.tables.gotos[states[-1]][rule.origin])

    def bounded(self, builder: str, value: Any, kept: list[Any]) -> Any:
        """`value`, or a part of it when it is an expression that nests too deep to go on with."""
        return value

    def feed(self, kind: str) -> bool:
        """Shift a token that is not in the text; False if it does not belong here."""
        if not self.can(kind):
            return False
        while (action := self.tables.actions[self.states[-1]][kind]) < 0:
            self.reduce(self.tables.rules[-1 - action])
        self.states.append(action)
        self.values.append(None)
        self.starts.append(self.index)
        return True

    def can(self, kind: str) -> bool:
        """Whether a token of this kind would be accepted now. Changes nothing."""
        stack = list(self.states)
        while (action := self.tables.actions[stack[-1]].get(kind)) is not None:
            if action >= 0:
                return True
            rule = self.tables.rules[-1 - action]
            if rule.size:
                del stack[-rule.size :]
            stack.append(self.tables.gotos[stack[-1]][rule.origin])
        return False

    # ------------------------------------------------------------ after a mistake

    def recover(self) -> bool:
        """Say what is wrong at the current token and get ready to go on; False if that is hopeless."""
        self.settle()
        room = self.room()
        if room is None:
            self.sink_mistake(room)
            return False
        silent = self.shifted == self._shifted_at_complaint
        self._shifted_at_complaint = self.shifted
        return True
