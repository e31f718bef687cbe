"""The header of a hold: what it takes, the names of `at admission`, and its clauses."""

from __future__ import annotations

from collections.abc import Mapping

from attrs import evolve, frozen

from serq.check import fold
from serq.check.expressions import Expressions
from serq.check.places import word_before
from serq.check.side import Side
from serq.check.standing import Bound, Standing, Typed
from serq.check.trees import reads
from serq.ir.expr import Attr, Binary, Conditional, Draw, Expr, Fold, Func, Num, Place, Unary, walk
from serq.ir.moments import Moment
from serq.ir.server import Binding, Block, Hold, HoldPart
from serq.syntax import tree


@frozen
class Header:
    """A hold without its body.

    complete: all of its pools are known. inside: the side of the statements in its body.
    """

    parts: tuple[HoldPart, ...]
    complete: bool
    bindings: tuple[Binding, ...]
    reuse: Expr | None
    cache: Expr | None
    lease: tuple[Place, Expr] | None
    inside: Side

    def around(self, body: Block, s: tree.Hold) -> Hold:
        """The hold with this header."""
        return Hold(self.parts, body, self.reuse, self.bindings, self.cache, self.lease, at=s.at)


def lower_header(s: tree.Hold, side: Side, x: Expressions) -> Header:
    """Everything of a hold but its body. The names of `at admission` are written out in it."""
    here = side.standing(blame=s.parts[0].place.at)
    bound, bindings = lower_bindings(s, side, x)
    written_out = evolve(here, bound={**side.bound, **bound})
    admitted = evolve(written_out, moment=Moment.ADMIT)
    parts = [part for p in s.parts if (part := lower_part(p, admitted, x)) is not None]
    pools = frozenset(part.place.name for part in parts)
    reuse = cache = lease = None
    if s.reuse is not None and s.cache is None:
        x.complaints.missing("SQ0585", word_before(s.reuse.at, "reuse", x.complaints))
    elif s.reuse is not None:
        reuse = lower_clause(s.reuse, pools, admitted, x)
    if s.cache is not None:
        cache = lower_clause(s.cache, pools, written_out, x)
    if s.lease is not None:
        place, time = x.place(s.lease[0], "pool", here), x.plain(s.lease[1], written_out)
        lease = None if place is None else (place, time)
    inside = evolve(side, bound={**side.bound, **readable(bindings, bound)})
    complete = len(parts) == len(s.parts)
    return Header(tuple(parts), complete, bindings, reuse, cache, lease, inside)


def lower_part(part: tree.Part, here: Standing, x: Expressions) -> HoldPart | None:
    """What the hold takes of one pool; None when the pool is not known."""
    place = x.place(part.place, "pool", evolve(here, moment=Moment.SESSION))
    inside = evolve(here, blame=part.place.at)
    amounts = (part.units,) if part.reserve is None else (part.units, part.reserve)
    if place is None:
        for e in amounts:
            x.lower(e, inside)
        return None
    lowered = [x.cost_of(e, frozenset({place.name}), inside) for e in amounts]
    return HoldPart(place, lowered[0], lowered[1] if len(lowered) > 1 else None, at=part.place.at)


def lower_clause(e: tree.Expr, pools: frozenset[str], here: Standing, x: Expressions) -> Expr:
    """A `cache` or `reuse`: a cost of all the hold's pools together."""
    return x.cost_of(e, pools, here) if pools else x.lower(e, here).expr


# -------------------------------------------------------------------- at admission


def lower_bindings(s: tree.Hold, side: Side, x: Expressions) -> tuple[dict[str, Bound], tuple[Binding, ...]]:
    """The names of `at admission`, each seeing the ones before it."""
    bound: dict[str, Bound] = {}
    bindings: list[Binding] = []
    names = [name.text for name, _ in s.bindings]
    read = set(reads(s.body))
    for i, (name, e) in enumerate(s.bindings):
        if name.text in names[:i]:
            x.complaints.say("SQ0210", name.at, kind="name at admission", name=name.text)
            continue
        ahead = sorted(set(names[i:]) & set(reads(e)))
        if ahead:
            x.complaints.say("SQ0361", name.at, name=name.text, reads=ahead[0])
            value = Typed(fold.POISON)
        else:
            here = side.standing(Moment.ADMIT, name.at)
            value = x.lower(e, evolve(here, bound={**side.bound, **bound}))
        if any(isinstance(node, Draw) for node in walk(value.expr)):
            x.complaints.say("SQ0418", name.at, name=name.text)
            value = Typed(fold.POISON)
        kept = name.text in read and is_kept(value.expr)
        if name.text in read and not kept and not value.wrong:
            x.complaints.say("SQ0360", name.at, name=name.text)
        bound[name.text] = Bound(value, sum(1 for _ in walk(value.expr)))
        bindings.append(Binding(name.text, value.expr, kept, at=name.at))
        if kept:
            x.names.kept.setdefault(name.text, name.at)
        if kept and value.cost is not None:
            x.names.costs[name.text] = value.cost
    return bound, tuple(bindings)


_STAYS = (Num, Attr, Unary, Binary, Conditional, Func, Fold)


def is_kept(value: Expr) -> bool:
    """Whether a name may be read in the body: its expression reads attributes and numbers only."""
    return not fold.is_poison(value) and all(isinstance(node, _STAYS) for node in walk(value))


def readable(bindings: tuple[Binding, ...], bound: Mapping[str, Bound]) -> dict[str, Bound]:
    """What the names of `at admission` mean in the body: attributes, if they are kept."""
    return {
        b.name: Bound(
            Typed(Attr(b.name, at=b.at), bound[b.name].value.cost) if b.kept else Typed(fold.POISON)
        )
        for b in bindings
    }
