"""Characters -> tokens: numbers, words, strings, marks, and where each stands.

Whether a word is a word of the language or a name is not known here: the parser says so, by place.
What is no token at all becomes a token of kind `BAD`, which no rule accepts, so that the parser
meets it where it stands and there is one complaint per statement.
"""

from __future__ import annotations

import re

from attrs import define, field, frozen

from serq.source import SourceFile, Span

WORD, NUMBER, STRING, BAD, END = "WORD", "NUMBER", "STRING", "BAD", "$END"

_NUMBER = r"(?:[0-9][0-9_]*(?:\.[0-9_]*)?|\.[0-9][0-9_]*)(?:[eE][+-]?[0-9]+)?"
_TOKEN = re.compile(
    r"(?P<SPACE>[ \t\r\n]+)"
    r"|(?P<WORD>[^\W\d]\w*)"
    rf"|(?P<NUMBER>(?>{_NUMBER}))(?!\.)"
    rf"|(?P<POINTS>{_NUMBER}[0-9_.]*)"
    r"|(?P<COMMENT>//[^\n]*|/\*.*?\*/)"
    r"|(?P<OPEN>/\*)"
    r"|(?P<MARK><=|>=|==|!=|&&|\|\||[-+*/^<>!?:~=,;.(){}\[\]])"
    r'|(?P<STRING>"[^"\n]*")'
    r'|(?P<UNCLOSED>"[^\n]*)'
    r"|(?P<BAD>.)",
    re.DOTALL,
)

# Words that begin a statement and its parenthesis, and are no function's name.
_TESTS = frozenset({"branch", "while", "run", "execute"})

_CLOSES = {"(": ")", "[": "]", "{": "}"}


@frozen
class Comment:
    """A comment as written, with `//` or `/* */`."""

    text: str
    at: Span


@define
class Tokens:
    """A program's tokens, column by column, ended by one of kind `END`.

    kinds: WORD, NUMBER, STRING, BAD, END, or a mark such as `<=` itself; lines, columns: where each starts.
    partner: the index of a bracket's other half, or -1 when it has none.
    bodies: the opening braces with a `;` or a block right inside: no expression has either.
    unclosed: braces that are never closed, outer ones first.
    strays: closing braces that close nothing.
    troubles: for a BAD token, which lexical rule it breaks.
    too_deep: the first bracket nested deeper than a parser should be asked to follow, or None.
    """

    kinds: list[str] = field(factory=list)
    texts: list[str] = field(factory=list)
    lines: list[int] = field(factory=list)
    columns: list[int] = field(factory=list)
    partner: dict[int, int] = field(factory=dict)
    bodies: set[int] = field(factory=set)
    unclosed: list[int] = field(factory=list)
    strays: list[int] = field(factory=list)
    troubles: dict[int, str] = field(factory=dict)
    comments: list[Comment] = field(factory=list)
    too_deep: int | None = None
    name: str = ""

    def at(self, first: int, last: int) -> Span:
        """The stretch from token `first` to token `last`, both included."""
        column = self.columns[last]
        return Span(
            self.lines[first],
            self.columns[first],
            self.lines[last],
            column + len(self.texts[last]),
            self.name,
        )

    def goes_on_as_statement(self, index: int) -> bool:
        """Whether the word at `index` is followed as only the first word of a statement or item is.

        Words such as `queue` or `batch` may also stand in the midst of an expression.
        """
        after = self.kinds[index + 1]
        return after in (WORD, STRING, "{") or (after == "(" and self.texts[index] in _TESTS)


def _close(tokens: Tokens, open_brackets: list[int], index: int) -> None:
    """Pair the closing bracket at `index` with what it closes, if anything.

    A closing brace also ends round and square brackets left open inside its block.
    """
    closing = tokens.texts[index]
    while open_brackets:
        opening = open_brackets[-1]
        if _CLOSES[tokens.texts[opening]] == closing:
            tokens.partner[opening] = index
            tokens.partner[index] = opening
            open_brackets.pop()
            return
        if closing != "}":
            return
        open_brackets.pop()
    if closing == "}":
        tokens.strays.append(index)


DEEPEST = 200
"""Brackets in brackets that a program may have."""


def read_tokens(source: SourceFile) -> Tokens:
    """Cut `source` into tokens; never complains, what is wrong becomes BAD tokens."""
    tokens = Tokens(name=source.name)
    kinds, texts, lines, columns = tokens.kinds, tokens.texts, tokens.lines, tokens.columns
    text = source.text
    # A byte-order mark is no character of the program: columns start after it.
    mark = 1 if text.startswith("\ufeff") else 0
    line = 1
    line_start = mark
    open_brackets: list[int] = []
    for match in _TOKEN.finditer(text, mark):
        kind = match.lastgroup
        start = match.start()
        lexeme = match.group()
        if kind in ("SPACE", "COMMENT"):
            breaks = lexeme.count("\n")
            place = (line, start - line_start + 1)
            if breaks:
                line += breaks
                line_start = start + lexeme.rfind("\n") + 1
            if kind == "COMMENT":
                at = Span(*place, line, match.end() - line_start + 1, source.name)
                tokens.comments.append(Comment(lexeme, at))
            continue
        index = len(kinds)
        lines.append(line)
        columns.append(start - line_start + 1)
        texts.append(lexeme)
        if kind == "MARK":
            kinds.append(lexeme)
            if lexeme in "([{":
                if lexeme == "{" and open_brackets:
                    tokens.bodies.add(open_brackets[-1])
                open_brackets.append(index)
                if len(open_brackets) > DEEPEST and tokens.too_deep is None:
                    tokens.too_deep = index
            elif lexeme in ")]}":
                _close(tokens, open_brackets, index)
            elif lexeme == ";" and open_brackets:
                tokens.bodies.add(open_brackets[-1])
        elif kind in (WORD, NUMBER, STRING):
            kinds.append(kind)
        else:
            kinds.append(BAD)
            tokens.troubles[index] = kind or BAD
            if kind == "OPEN":
                break
    tokens.unclosed = [opening for opening in open_brackets if texts[opening] == "{"]
    kinds.append(END)
    texts.append("")
    last_line = text.rfind("\n") + 1
    lines.append(text.count("\n") + 1)
    columns.append(len(text) - (last_line or mark) + 1)
    return tokens
