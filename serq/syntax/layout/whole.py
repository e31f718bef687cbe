"""The front of the layout: the text of a program -> its text laid out."""

from __future__ import annotations

from serq.diagnostics import InternalError, Sink
from serq.source import SourceFile, Span
from serq.syntax import tree
from serq.syntax.layout.arrange import arrange
from serq.syntax.layout.comments import place_comments
from serq.syntax.layout.draft import Draft
from serq.syntax.layout.parentheses import redundant_parentheses
from serq.syntax.layout.printing import print_tokens
from serq.syntax.parse import Parsed, parse_program
from serq.syntax.tokens import read_tokens

WIDTH = 100
"""Columns that lines have."""


def lay_out(source: SourceFile, sink: Sink, width: int = WIDTH) -> str | None:
    """The text of a program or a library in its one layout; None, with complaints, when it is neither.

    width: columns that a line has; a long name or a comment may need more. The result is read again:
    InternalError rather than a text that says anything else.
    """
    parsed = _read(source, sink)
    if parsed is None:
        return None
    every = Draft.of(read_tokens(source))
    draft = every.without(redundant_parentheses(parsed.tree, every))
    margins = place_comments(parsed.comments, draft)
    text = print_tokens(draft, arrange(parsed.tree, draft), margins, width)
    again = _read(SourceFile(source.name, text), Sink())
    if again is None or not _say_the_same(parsed, again):
        raise InternalError(f"the layout of {source.name} would change the program; it is left as it is")
    return text


def _read(source: SourceFile, sink: Sink) -> Parsed | None:
    """A program, or a library: definitions without a `main`."""
    found = Sink()
    parsed = parse_program(source, found)
    is_library = bool(parsed.tree.before) and not parsed.tree.items
    if found.diagnostics and not (is_library and [d.code for d in found.diagnostics] == ["SQ0160"]):
        sink.sources.setdefault(source.name, source)
        sink.diagnostics += found.diagnostics
        return None
    return parsed


def _say_the_same(one: Parsed, other: Parsed) -> bool:
    """Whether two texts have the same tree and the same comments."""
    pending: list[tuple[object, object]] = [(one.tree, other.tree)]
    while pending:
        a, b = pending.pop()
        if type(a) is not type(b):
            return False
        if isinstance(a, tree.Node):
            pending += ((getattr(a, name), getattr(b, name)) for name in a.__match_args__)
        elif isinstance(a, tuple) and isinstance(b, tuple):
            if len(a) != len(b):
                return False
            pending += zip(a, b, strict=True)
        elif not isinstance(a, Span) and a != b:
            return False
    return [_words(c.text) for c in one.comments] == [_words(c.text) for c in other.comments]


def _words(comment: str) -> list[str]:
    return comment.split()
