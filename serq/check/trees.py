"""The tree read generically: its nodes, the names in them, and copies with changed parts."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, TypeVar

from serq.ir.moments import OBSERVABLES
from serq.source import Span
from serq.syntax import tree

T = TypeVar("T")
N = TypeVar("N", bound=tree.Node)

NOWHERE = ""
"""The name of something about which a complaint was already made."""


def rebuild(node: T, change: Callable[[Any], Any]) -> T:
    """`node` with `change` applied to its parts; `node` itself if none of them changed."""
    if isinstance(node, tuple):
        changed_parts = tuple(change(part) for part in node)
        same = all(a is b for a, b in zip(node, changed_parts, strict=True))
        return node if same else changed_parts  # type: ignore[return-value]
    if not isinstance(node, tree.Node):
        return node
    parts = {}
    same = True
    for name in node.__match_args__:
        part = getattr(node, name)
        new = part if name == "at" else change(part)
        same = same and new is part
        parts[name] = new
    return node if same else type(node)(**parts)


def changed(node: N, **parts: Any) -> N:
    """A copy of a node with some parts replaced."""
    return type(node)(**{n: parts.get(n, getattr(node, n)) for n in node.__match_args__})


def walk(node: Any) -> Iterator[Any]:
    """`node` and every node of the tree inside it, outermost first."""
    stack = [node]
    while stack:
        node = stack.pop()
        if isinstance(node, tuple):
            stack.extend(reversed(node))
        elif isinstance(node, tree.Node):
            yield node
            stack.extend(reversed([getattr(node, name) for name in node.__match_args__]))


def shape(node: Any) -> object:
    """What a piece of the program says, wherever it stands."""
    if isinstance(node, tuple):
        return tuple(shape(part) for part in node)
    if not isinstance(node, tree.Node):
        return node
    return (type(node), *(shape(getattr(node, n)) for n in node.__match_args__ if n not in ("at", "mark")))


def is_bare(reference: tree.Reference) -> bool:
    """A name alone."""
    return reference.index is None and reference.member is None


def assigned(body: Any) -> Iterator[str]:
    """The names that statements or aggregates in `body` assign or bind."""
    for node in walk(body):
        match node:
            case tree.Assign() | tree.CostRecord() | tree.Choose() | tree.Mark():
                yield node.name.text
            case tree.Aggregate():
                yield node.variable.text
            case tree.Hold():
                yield from (name.text for name, _ in node.bindings)


def reads(e: Any) -> Iterator[str]:
    """The names that an expression reads."""
    return (node.name.text for node in walk(e) if isinstance(node, tree.Reference))


def draws(e: Any) -> bool:
    """Whether an expression has a draw in it."""
    return any(isinstance(node, tree.Draw) for node in walk(e))


def occurrences(body: Any, parameter: str) -> int:
    """How often `body` reads a name."""
    return sum(1 for name in reads(body) if name == parameter)


def live_read(e: Any) -> str | None:
    """What `e` reads that changes while statements run: the clock or live state, or None."""
    for node in walk(e):
        if isinstance(node, tree.Reference) and node.name.text == "now":
            return "now"
        if isinstance(node, tree.Call) and node.name.text in OBSERVABLES:
            return f"{node.name.text}(…)"
    return None


def nothing(at: Span) -> tree.Reference:
    """Stands for an expression about which a complaint was made."""
    return tree.Reference(tree.Name(NOWHERE, at), None, None, at)


def nothing_runs(at: Span) -> tree.Run:
    """Stands for statements about which a complaint was made; time passes in it."""
    return tree.Run((nothing(at),), None, nothing(at), None, at)


def nothing_like(what: T, at: Span) -> T:
    """Stands for the body of a definition about whose use a complaint was made."""
    if isinstance(what, tree.Block):
        return tree.Block((nothing_runs(at),), at)  # type: ignore[return-value]
    return nothing(at)  # type: ignore[return-value]
