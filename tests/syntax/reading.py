"""Reading programs in tests, in one line."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from serq.diagnostics import Diagnostic, Sink
from serq.source import SourceFile
from serq.syntax import tree
from serq.syntax.parse import Parsed, parse_expression, parse_program

PROGRAMS = sorted((Path(__file__).parent / "programs").glob("*.sq"))
"""Well-formed programs that use every form of the language between them."""


def read(text: str) -> tuple[Parsed, list[Diagnostic]]:
    """What a text says, and the complaints in the order of their places."""
    sink = Sink()
    return parse_program(SourceFile("test.sq", text), sink), sink.errors


def read_well(text: str) -> tree.Program:
    """The tree of a text about which there is nothing to say."""
    parsed, complaints = read(text)
    assert not complaints, complaints
    assert parsed.complete and not parsed.skipped
    return parsed.tree


def read_expression(text: str) -> tree.Expr:
    sink = Sink()
    expression = parse_expression(SourceFile("test", text), sink)
    assert expression is not None and not sink.diagnostics, sink.diagnostics
    return expression


def statements(text: str) -> tuple[tree.Statement, ...]:
    """The statements of a server's block."""
    (server,) = read_well(f"fn main() {{ server {{ {text} }} }}").items
    assert isinstance(server, tree.Server)
    return server.body.statements


def nodes(value: Any) -> Iterator[tree.Node]:
    """Every node in a tree, outermost first."""
    if isinstance(value, tuple):
        for part in value:
            yield from nodes(part)
    elif isinstance(value, tree.Node):
        yield value
        for name in value.__match_args__:
            yield from nodes(getattr(value, name))


def shape(value: Any) -> Any:
    """A tree without its places."""
    if isinstance(value, tuple):
        return tuple(shape(part) for part in value)
    if isinstance(value, tree.Node):
        places = {"at", "mark", "main"}
        parts = {n: shape(getattr(value, n)) for n in value.__match_args__ if n not in places}
        return type(value).__name__, parts
    return value
