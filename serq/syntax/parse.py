"""Tokens -> tree.

In: a `SourceFile`. Out: `Parsed`. Complaints go to the sink; the author's mistakes raise nothing.

No word of the language is reserved: a word token is read as a word of the language where the
tables expect that word, and as a name elsewhere.
"""

from __future__ import annotations

from functools import cache
from typing import Any

from attrs import frozen

from serq.diagnostics import Sink
from serq.source import SourceFile, Span
from serq.syntax import tree
from serq.syntax.build import BUILDERS
from serq.syntax.tables import Tables, load_tables
from serq.syntax.tokens import END, NUMBER, STRING, WORD, Comment, Tokens, read_tokens
from serq.syntax.tree import Name, Text


@frozen
class Parsed:
    """What the text of a program says.

    skipped: the words in text that recovery threw away: names declared there are not known.
    complete: nothing was thrown away.
    """

    tree: tree.Program
    skipped: frozenset[str]
    complete: bool
    comments: tuple[Comment, ...]


@cache
def _tables() -> Tables:
    return load_tables()


def parse_program(source: SourceFile, sink: Sink) -> Parsed:
    """Read a whole program; every complaint goes to `sink`."""
    sink.sources.setdefault(source.name, source)
    tokens = read_tokens(source)
    run = _Run(_tables(), tokens, "program", sink)
    items = run.parse() or ()
    return Parsed(_program(items, tokens), frozenset(), True, tuple(tokens.comments))


def parse_expression(source: SourceFile, sink: Sink) -> tree.Expr | None:
    """Read one expression, such as the value of `--set name=…`; None when something was said."""
    sink.sources.setdefault(source.name, source)
    tokens = read_tokens(source)
    expression: tree.Expr | None = _Run(_tables(), tokens, "expr", sink).parse()
    return expression


def _program(items: tuple[Any, ...], tokens: Tokens) -> tree.Program:
    before: list[Any] = []
    inside: list[Any] = []
    main: Span | None = None
    for item in items:
        if isinstance(item, _Main):
            main = item.name.at
            inside += item.items
        elif isinstance(item, (tree.Import, tree.Let, tree.Input, tree.Definition)):
            before.append(item)
        else:
            inside.append(item)
    end = len(tokens.kinds) - 1
    return tree.Program(tuple(before), tuple(inside), main, tokens.at(0, end))


@frozen
class _Main:
    name: Name
    items: tuple[Any, ...]
    at: Span


_BUILDERS = BUILDERS | {
    "main": lambda name, *rest: _Main(name, rest[:-1], rest[-1]),
    "program": lambda *rest: rest[:-1],
    "library": lambda *rest: rest[:-1],
}


class _Run:
    """One walk over the tables."""

    def __init__(self, tables: Tables, tokens: Tokens, start: str, sink: Sink) -> None:
        self.tables = tables
        self.tokens = tokens
        self.start = start
        self.sink = sink

    def parse(self) -> Any:
        tables, tokens = self.tables, self.tokens
        end_state = tables.ends[self.start]
        states = [tables.starts[self.start]]
        values: list[Any] = []
        starts: list[int] = []
        kinds, texts = tokens.kinds, tokens.texts
        index = 0
        last = -1
        while True:
            kind = kinds[index]
            state = states[-1]
            if kind == WORD:
                kind = self.word(index, state)
            elif kind == "{" and "_EXPRESSION_OPENS" in tables.actions[state]:
                kind = self.brace(index)
            while True:
                action = tables.actions[states[-1]].get(kind)
                if action is None:
                    self.sink.say("SQ0100", tokens.at(index, index), read=texts[index])
                    return None
                if action >= 0:
                    break
                rule = tables.rules[-1 - action]
                size = rule.size
                if size == 1 and not rule.builder:
                    states.pop()
                else:
                    first = starts[-size] if size else index
                    if size:
                        taken = values[-size:]
                        del values[-size:], starts[-size:], states[-size:]
                    else:
                        taken = []
                    values.append(self.build(rule, taken, first, last))
                    starts.append(first)
                states.append(tables.gotos[states[-1]][rule.origin])
                if kind == END and states[-1] == end_state:
                    return values[-1]
            states.append(action)
            starts.append(index)
            if kind[0].isalpha() or kind in _KEPT:
                at = tokens.at(index, index)
                if kind == STRING:
                    values.append(Text(texts[index][1:-1], at))
                else:
                    values.append(Name(texts[index], at))
            else:
                values.append(None)
            last = index
            index += 1

    def build(self, rule: Any, taken: list[Any], first: int, last: int) -> Any:
        if rule.builder == "[]":
            if rule.keep and rule.keep[0] in rule.splice:
                out = taken[rule.keep[0]]
                keep = rule.keep[1:]
            else:
                out, keep = [], rule.keep
        else:
            out, keep = [], rule.keep
        for place in keep:
            if place < 0:
                out.append(None)
            elif place in rule.splice:
                out += taken[place]
            else:
                out.append(taken[place])
        if rule.builder == "[]":
            return out
        if not rule.builder:
            return out[0]
        return _BUILDERS[rule.builder](*out, self.tokens.at(first, max(first, last)))

    def word(self, index: int, state: int) -> str:
        """Whether the word at `index` is one of the language here: its terminal, or NAME."""
        text = self.tokens.texts[index]
        actions = self.tables.actions[state]
        if text not in actions or text not in self.tables.words:
            return "NAME"
        if "NAME" not in actions:
            return text
        kinds, texts = self.tokens.kinds, self.tokens.texts
        after = kinds[index + 1]
        if after == ".":
            return "NAME"
        if text in ("max", "min", "sum"):
            return text if after == WORD and texts[index + 2] == "in" else "NAME"
        if text == "on":
            return text if after == WORD else "NAME"
        return text

    def brace(self, index: int) -> str:
        """`{` of a definition: statements when empty or with a `;` of its own, else an expression."""
        if self.tokens.kinds[index + 1] == "}" or index in self.tokens.inner_semicolon:
            return "{"
        return "_EXPRESSION_OPENS"


_KEPT = {"+", "-", "*", "/", "^", "<", "<=", ">", ">=", "==", "!=", "&&", "||", "!"}
