"""The walk over the parse tables, and how it goes on after a mistake.

After a mistake the walk drops the statement or item it stands in and goes on with the next one of
the same room (see `rooms.py`), so that there is one complaint per statement and none for what
follows from it.
"""

from __future__ import annotations

from typing import Any

from serq.diagnostics import Sink
from serq.source import Span
from serq.syntax import tree
from serq.syntax.build import BUILDERS
from serq.syntax.depth import depth
from serq.syntax.mistakes import explain
from serq.syntax.rooms import ROOMS, room_rule, words_by_room
from serq.syntax.surprise import Mistake, Surprise
from serq.syntax.tables import Rule, Tables
from serq.syntax.tokens import END, NUMBER, STRING, WORD, Tokens
from serq.syntax.tree import Name, Text

MOST_COMPLAINTS = 20
"""After this many the rest of the text is skipped: it is hardly a program."""

MOST_RECOVERIES = 1000
"""The same, for mistakes that were not worth a complaint."""

DEEPEST_EXPRESSION = 400
"""Operators and calls within one another that an expression may have."""

_KEPT = frozenset({"+", "-", "*", "/", "^", "<", "<=", ">", ">=", "==", "!=", "&&", "||", "!"})
"""Marks that come with a value; the others only separate."""

_CHAINS = frozenset({"binary", "unary", "conditional"})
"""Builders whose nodes nest without brackets, whose number is limited already."""

# A definition's braces hold statements if they begin with one of these and another word, even when
# the `;` is missing: the better complaint is then about the `;`.
_VERBS = frozenset({"set", "observe", "run", "hold", "grow", "load", "drop", "release", "choose", "mark"})

# With a parenthesis these begin no statement, for no definition has their names: they are clauses of
# the `hold` before, perhaps in the wrong order.
_CLAUSES = frozenset({"reserve", "reuse", "cache"})


class _TooDeep(Exception):
    """An expression nests too deep; the complaint is in the sink."""


class Walk:
    """One reading of a program's tokens from a start rule of the grammar.

    skipped: the words of the text that was dropped; complete: nothing was dropped.
    displaced: a `}` too many was told by what follows it.
    """

    def __init__(self, tables: Tables, tokens: Tokens, start: str, sink: Sink) -> None:
        self.tables = tables
        self.tokens = tokens
        self.start = start
        self.sink = sink
        self.skipped: set[str] = set()
        self.complete = True
        self.displaced = False
        # The stack: `values[i]` was read from token `starts[i]` on, coming from `states[i]`.
        self.states = [tables.starts[start]]
        self.values: list[Any] = []
        self.starts: list[int] = []
        self.index = 0
        self.last = -1
        self.depths: dict[tree.Expr, int] = {}
        self.shifted = 0
        self.shifted_at_complaint = -1
        self.complaints = 0
        self.recoveries = 0

    def read(self) -> Any:
        """The value of the start rule, or None when nothing of it could be kept."""
        try:
            return self.follow()
        except _TooDeep:
            self.complete = False
            self.skipped.update(self.words(0, len(self.tokens.kinds)))
            return None

    def follow(self) -> Any:
        """The walk itself: shift a token, or reduce by a rule, as the tables say."""
        actions, rules = self.tables.actions, self.tables.rules
        states, values, starts = self.states, self.values, self.starts
        end_state = self.tables.ends[self.start]
        while True:
            index = self.index
            kind = self.kind_of(index, states[-1])
            action = actions[states[-1]].get(kind)
            while action is not None and action < 0:
                rule = rules[-1 - action]
                if rule.passes:
                    states[-1] = self.tables.pass_on(states[-2], states[-1], kind)
                else:
                    self.reduce(rule)
                if kind == END and states[-1] == end_state:
                    return values[-1]
                action = actions[states[-1]].get(kind)
            if action is None:
                # Tables merge places, so a word may have been taken for one of another place.
                if self.kind_of(index, states[-1]) == kind and not self.recover():
                    return None
                continue
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
            if text in _CLAUSES and kinds[index + 1] == "(" and action.get("NAME", 0) < 0:
                return text
            if text not in self.tables.words or text not in action:
                return "NAME"
            if "NAME" not in action:
                return text
            after = kinds[index + 1]
            if text == "args":
                is_input = (
                    after == "." and texts[index + 2] in ("number", "numbers") and kinds[index + 3] == "("
                )
                return text if is_input else "NAME"
            if after == ".":
                return text if text == "kvt" else "NAME"
            if text in ("max", "min", "sum", "count"):
                return text if after == WORD and texts[index + 2] == "in" else "NAME"
            if text == "tag":
                return "NAME" if after != WORD or kinds[index + 2] != "=" else text
            if text == "on":
                return text if after == WORD else "NAME"
            return text
        if kind == "{" and "_EXPRESSION_OPENS" in self.tables.actions[state]:
            holds_statements = (
                kinds[index + 1] == "}"
                or index in self.tokens.bodies
                or (texts[index + 1] in _VERBS and kinds[index + 2] == WORD)
            )
            return "{" if holds_statements else "_EXPRESSION_OPENS"
        return kind

    def value_of(self, index: int, kind: str) -> Name | Text | None:
        """What a token leaves on the stack."""
        if kind in _KEPT or kind == "NAME" or kind == NUMBER or self.tokens.kinds[index] == WORD:
            return Name(self.tokens.texts[index], self.tokens.at(index, index))
        if kind == STRING:
            return Text(self.tokens.texts[index][1:-1], self.tokens.at(index, index))
        return None

    # ------------------------------------------------------------ the stack

    def reduce(self, rule: Rule) -> None:
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
        value: Any
        if rule.builder == "[]":
            value = rule.arrange(taken)
        elif not rule.builder:
            value = taken[rule.keep[0]]
        else:
            last = self.last if self.last > first else first
            value = BUILDERS[rule.builder](*rule.arrange(taken), self.tokens.at(first, last))
            # A shorter stretch cannot nest too deep.
            if last - first >= DEEPEST_EXPRESSION and rule.builder in _CHAINS:
                self.check_depth(value, self.tokens.at(first, first))
        values.append(value)
        starts.append(first)
        states.append(self.tables.gotos[states[-1]][rule.origin])

    def check_depth(self, node: tree.Expr, at: Span) -> None:
        """Give up on the program when `node` nests deeper than the passes can follow."""
        if depth(node, self.depths) > DEEPEST_EXPRESSION:
            self.sink.say("SQ0109", at, most=DEEPEST_EXPRESSION)
            raise _TooDeep

    def can(self, kind: str) -> bool:
        """Whether a token of this kind would be accepted now. Changes nothing."""
        stack = list(self.states)
        while not (kind == END and stack[-1] == self.tables.ends[self.start]):
            action = self.tables.actions[stack[-1]].get(kind)
            if action is None:
                return False
            if action >= 0:
                return True
            rule = self.tables.rules[-1 - action]
            if rule.size:
                del stack[-rule.size :]
            stack.append(self.tables.gotos[stack[-1]][rule.origin])
        return True

    def expected(self) -> list[str]:
        """Every kind of token that would be accepted now."""
        return [kind for kind in {*self.tables.actions[self.states[-1]], END} if self.can(kind)]

    def feed(self, kind: str) -> bool:
        """Shift a token that is missing in the text; False if it does not belong here."""
        if not self.can(kind):
            return False
        while (action := self.tables.actions[self.states[-1]][kind]) < 0:
            self.reduce(self.tables.rules[-1 - action])
        self.states.append(action)
        self.values.append(None)
        self.starts.append(self.index)
        return True

    def settle(self) -> None:
        """Finish the statements and lists that are complete whatever follows them."""
        ended = self.last >= 0 and self.tokens.kinds[self.last] in (";", "}")
        while room_rule(self.tables, self.states[-1]) is None:
            row = self.tables.actions[self.states[-1]].values()
            reductions = {action for action in row if action < 0}
            if len(reductions) != 1 or (not ended and any(action >= 0 for action in row)):
                return
            self.reduce(self.tables.rules[-1 - reductions.pop()])

    def level(self) -> int | None:
        """The depth in the stack of the room around the current token."""
        for level in range(len(self.states) - 1, -1, -1):
            if room_rule(self.tables, self.states[level]) is not None:
                return level
        return None

    # ------------------------------------------------------------ after a mistake

    def recover(self) -> bool:
        """Say what is wrong at the current token and get ready to go on; False if that is hopeless."""
        self.settle()
        level = self.level()
        first = self.starts[level] if level is not None and level < len(self.values) else self.index
        if level is None:
            first = 0
        elif self.index == first + 1 and self.tokens.kinds[first] == WORD and self.is_name(first, level):
            # A name began the statement and nothing came of it: the name is what is wrong.
            del self.states[level + 1 :], self.values[level:], self.starts[level:]
            self.index = first
        surprise = self.surprise(level, first)
        mistake = explain(surprise)
        # Nothing was read since the last complaint: this one would only follow from it.
        if self.shifted != self.shifted_at_complaint:
            self.shifted_at_complaint = self.shifted
            self.say(mistake, surprise)
        if level is None:
            self.complete = False
            return False
        if mistake.insert and self.feed(mistake.insert):
            # A `{` is put in where a `}` would otherwise be one too many.
            self.displaced |= mistake.insert == "{"
            return True
        self.recoveries += 1
        hopeless = self.complaints == MOST_COMPLAINTS or self.recoveries == MOST_RECOVERIES
        if hopeless or self.tokens.kinds[self.index] == END:
            self.drop(level, first, len(self.tokens.kinds) - 1)
            return self.close_rooms(END)
        if mistake.closes:
            self.complete = False
            return self.close_rooms(self.tokens.texts[self.index])
        self.drop(level, first, self.resume(first, level))
        return True

    def say(self, mistake: Mistake, surprise: Surprise) -> None:
        """Complain, unless the cause was or will be told: one `}` too many misplaces all that follows."""
        if self.tokens.strays:
            if mistake.code == "SQ0123" and surprise.kind == "}":
                return
            if mistake.code == "SQ0121":
                if self.displaced:
                    return
                self.displaced = True
        self.complaints += 1
        self.sink.say(mistake.code, mistake.at, notes=mistake.notes, help=mistake.help, **mistake.facts)

    def surprise(self, level: int | None, first: int) -> Surprise:
        """The current token, for `mistakes` to look at."""
        tables = self.tables
        room = "expression"
        here: frozenset[str] = frozenset()
        block: int | None = None
        if level is not None:
            rule = room_rule(tables, self.states[level])
            assert rule is not None
            room = ROOMS[rule]
            here = self.begins(level)
            brace = level - 1
            while brace >= 0 and self.tokens.kinds[self.starts[brace]] != "{":
                brace -= 1
            block = self.starts[brace] if brace >= 0 else None
        return Surprise(
            tokens=self.tokens,
            index=self.index,
            first=first,
            room=room,
            here=here,
            outside=self.begins_outside(level),
            block=block,
            can=self.can,
            expected=self.expected,
            rooms=lambda: words_by_room(tables),
        )

    def is_name(self, index: int, level: int) -> bool:
        """Whether the room at `level` reads the word at `index` as a name."""
        return self.kind_of(index, self.states[level]) == "NAME"

    def begins(self, level: int) -> frozenset[str]:
        """The words that begin something in the room at `level` of the stack."""
        return frozenset(self.tables.actions[self.states[level]]) & self.tables.words

    def begins_outside(self, level: int | None) -> frozenset[str]:
        """The words that begin something in the rooms around the one at `level`."""
        found: frozenset[str] = frozenset()
        for outer in range(level or 0):
            if room_rule(self.tables, self.states[outer]) is not None:
                found |= self.begins(outer)
        return found

    def resume(self, first: int, level: int) -> int:
        """Where the room at `level` goes on after the statement that begins at token `first`.

        After its `;` or its block; before the `}` of the room; before a line that plainly begins
        the next statement, or an item when some block is not closed.
        """
        kinds, texts, partner = self.tokens.kinds, self.tokens.texts, self.tokens.partner
        words = self.begins(level)
        if self.tokens.unclosed:
            words |= self.begins_outside(level)
        i = self.index
        while kinds[i] != END:
            kind = kinds[i]
            if kind == ";":
                return i + 1
            if kind == "{":
                i = partner.get(i, i)
                if kinds[i] == "}" and kinds[i + 1] not in (";", ")", ",") and texts[i + 1] not in (
                    "else", "reuse", "cache", "lease",
                ):  # fmt: skip
                    return i + 1
            elif kind == "}" and partner.get(i, -1) < first:
                return i + 1 if i not in partner else i
            elif kind == WORD and i > first and texts[i] in words:
                starts_line = self.tokens.lines[i - 1] < self.tokens.lines[i]
                if starts_line and self.tokens.goes_on_as_statement(i):
                    return i
            i += 1
        return i

    def drop(self, level: int, first: int, resume: int) -> None:
        """Forget what the room at `level` has read since `first`, and go on at `resume`."""
        self.complete = False
        self.skipped.update(self.words(first, resume))
        del self.states[level + 1 :], self.values[level:], self.starts[level:]
        # What was dropped leaves an empty list, for rooms that must not be empty.
        rule = room_rule(self.tables, self.states[level])
        assert rule is not None
        self.index = resume
        self.last = resume - 1
        if not self.can("}") and self.tables.actions[self.states[level]].get("}") is None:
            self.states.append(self.tables.gotos[self.states[level]][rule])
            self.values.append([])
            self.starts.append(resume)

    def close_rooms(self, until: str) -> bool:
        """Close blocks until a token of kind `until` is accepted; False if that never happens."""
        while not self.can(until):
            if not self.feed("}"):
                return False
        return True

    def words(self, first: int, end: int) -> list[str]:
        """The words among the tokens from `first` up to and excluding `end`."""
        t = self.tokens
        return [t.texts[i] for i in range(first, end) if t.kinds[i] == WORD]
