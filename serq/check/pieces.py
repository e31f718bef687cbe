"""Small pieces of tree that a call of an entry, a transfer or a copy is made of."""

from __future__ import annotations

from collections.abc import Sequence

from serq.check.trees import changed
from serq.source import Span
from serq.syntax import tree


def held_places(s: tree.Statement) -> Sequence[tree.Reference]:
    """The pools that a statement holds or acts on."""
    match s:
        case tree.Hold(parts=parts):
            return [part.place for part in parts]
        case tree.Amount(place=place) | tree.GiveBack(place=place):
            return [place]
        case _:
            return []


def cost_of(place: tree.Reference, amount: tree.Expr, at: Span) -> tree.Call:
    """`cost(PLACE, amount)`."""
    return tree.Call(tree.Name("cost", at), (place, amount), at)


def wait(name: str, index: tree.Expr | None, time: tree.Expr, at: Span) -> tree.Run:
    """A fixed wait at the stage `NAME.latency`."""
    stage = tree.Reference(tree.Name(name, at), index, tree.Name("latency", at), at)
    return tree.Run((stage,), None, cost_of(stage, time, at), None, at)


def binary(operator: str, left: tree.Expr, right: tree.Expr, at: Span) -> tree.Binary:
    """An operator between two expressions."""
    return tree.Binary(operator, left, right, at, at)


def load_from_tier(
    stage: tree.Reference, pool: tree.Reference, tokens: tree.Expr, rate: tree.Expr, at: Span
) -> Sequence[tree.Statement]:
    """Work at the tier's stage, then the tokens are there."""
    work = cost_of(stage, binary("*", tokens, rate, at), at)
    return (
        tree.Run((stage,), None, work, None, at),
        tree.Amount("load", pool, cost_of(pool, tokens, at), at),
    )


def store_in_tier(
    stage: tree.Reference, pool: str, tokens: tree.Expr, rate: tree.Expr, at: Span
) -> tree.Hold:
    """A hold of the tier's pool that takes over the session's entry there and adds what is missing."""
    place = changed(stage, member=tree.Name(pool, at))
    cached = tree.Reference(tree.Name("cached", at), None, None, at)
    missing = binary("-", tokens, cached, at)
    added = tree.Call(tree.Name("max", at), (tree.Number(0, at), missing), at)
    kept = tree.Call(tree.Name("cachedin", at), (place,), at)
    body = (
        tree.Amount("grow", place, cost_of(place, added, at), at),
        tree.Run((stage,), None, cost_of(stage, binary("*", added, rate, at), at), None, at),
        tree.Amount("load", place, cost_of(place, added, at), at),
    )
    part = tree.Part(place, cost_of(place, kept, at), None, at)
    cache = cost_of(place, tokens, at)
    return tree.Hold((part,), None, (), tree.Block(body, at), cache, None, at)
