"""Text -> tree: the front of this room.

In: a `SourceFile`. Out: `Parsed`, or one expression. Complaints go to the sink; an author's
mistake raises nothing.
"""

from __future__ import annotations

from functools import cache

from attrs import frozen

from serq.diagnostics import Note, Sink
from serq.source import SourceFile, Span
from serq.syntax import tree
from serq.syntax.build import Main
from serq.syntax.tables import Tables, load_tables
from serq.syntax.tokens import DEEPEST, Comment, Tokens, read_tokens
from serq.syntax.walk import Walk

LONGEST = 1024 * 1024
"""Characters that a program may have."""

_BEFORE_MAIN = (tree.Import, tree.Let, tree.Input, tree.ListLet, tree.ListInput, tree.Definition)


@frozen
class Parsed:
    """What the text of a program says.

    tree: what could be read; skipped: the words of text that was dropped after a mistake, among
    which there may be declarations; complete: nothing was dropped.
    """

    tree: tree.Program
    skipped: frozenset[str]
    complete: bool
    comments: tuple[Comment, ...]


def parse_program(source: SourceFile, sink: Sink) -> Parsed:
    """Read a whole program; several mistakes are found in one reading."""
    tokens = _tokens(source, sink)
    if tokens is None:
        whole = Span(1, 1, 1, 1, source.name)
        return Parsed(tree.Program((), (), None, whole), frozenset(), False, ())
    walk = Walk(_tables(), tokens, "program", sink)
    items: tuple[tree.Item | Main, ...] = walk.read() or ()
    program = _arrange(items, walk, tokens, sink)
    return Parsed(program, frozenset(walk.skipped), walk.complete, tuple(tokens.comments))


def parse_library(source: SourceFile, sink: Sink) -> tuple[tree.Item, ...]:
    """Read a file of definitions: only `use`, `let` and `def`."""
    tokens = _tokens(source, sink)
    if tokens is None:
        return ()
    items: tuple[tree.Item, ...] = Walk(_tables(), tokens, "library", sink).read() or ()
    return items


def parse_expression(source: SourceFile, sink: Sink) -> tree.Expr | None:
    """Read one expression, such as the value of an input; None after a complaint."""
    said = len(sink.diagnostics)
    tokens = _tokens(source, sink)
    if tokens is None:
        return None
    expression: tree.Expr | None = Walk(_tables(), tokens, "expr", sink).read()
    return expression if len(sink.diagnostics) == said else None


@cache
def _tables() -> Tables:
    return load_tables()


def _tokens(source: SourceFile, sink: Sink) -> Tokens | None:
    """The tokens of a text, or None when it is refused as a whole."""
    sink.sources.setdefault(source.name, source)
    if len(source.text) > LONGEST:
        sink.say("SQ0107", Span(1, 1, 1, 1, source.name), size=len(source.text), most=LONGEST)
        return None
    tokens = read_tokens(source)
    if tokens.too_deep is not None:
        sink.say("SQ0108", tokens.at(tokens.too_deep, tokens.too_deep), most=DEEPEST)
        return None
    return tokens


def _arrange(items: tuple[tree.Item | Main, ...], walk: Walk, tokens: Tokens, sink: Sink) -> tree.Program:
    """The parts of a program around its `main`; says so when they are not where they belong.

    What is misplaced counts as inside `main`, so that its names are known.
    """
    before: list[tree.Item] = []
    inside: list[tree.Item] = []
    late: list[tree.Item] = []
    main: Main | None = None
    has_main = any(isinstance(item, Main) for item in items)
    for item in items:
        if isinstance(item, Main):
            inside += item.items
            if item.name.text != "main":
                sink.say("SQ0164", item.name.at, read=item.name.text)
            elif main is not None:
                sink.say("SQ0161", item.name.at, notes=[Note("the first one is here", main.name.at)])
            main = main or item
        elif main is not None:
            late.append(item)
        elif isinstance(item, _BEFORE_MAIN):
            before.append(item)
        else:
            inside.append(item)
            if has_main:
                sink.say("SQ0163", item.at)
    if main is None and walk.complete:
        sink.say("SQ0160", Span(1, 1, 1, 1, tokens.name))
    if walk.displaced:
        # The brace that is to blame has been told of.
        pass
    elif main is not None and late:
        end = main.at
        brace = Span(end.end_line, end.end_column - 1, end.end_line, end.end_column, end.file)
        help = "remove the `}` that ends it too early" if tokens.strays else None
        sink.say("SQ0162", late[0].at, notes=[Note("`main` ends here", brace)], help=help)
    elif tokens.strays:
        sink.say("SQ0123", tokens.at(tokens.strays[0], tokens.strays[0]), read="}")
    whole = tokens.at(0, len(tokens.kinds) - 1)
    return tree.Program(tuple(before), (*inside, *late), main.name.at if main else None, whole)
