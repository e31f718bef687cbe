"""`set`, `Size` and `Cost`: who may assign what, and values of one kind only."""

from __future__ import annotations

from collections.abc import Sequence

from serq.check import fold
from serq.check.expressions import Expressions
from serq.check.side import Side
from serq.check.standing import Typed
from serq.check.trees import NOWHERE
from serq.diagnostics import Note
from serq.ir.moments import BUILT_IN_SIZES, BUILT_IN_VALUES
from serq.ir.server import Set, Statement
from serq.source import Span
from serq.syntax import tree


def lower_set(s: tree.Assign, side: Side, x: Expressions) -> Sequence[Statement]:
    """An assignment of a single value."""
    name = s.name.text
    value = x.lower(s.value, side.standing())
    if name == NOWHERE:
        return ()
    if s.verb == "Size" and not side.is_workload:
        x.complaints.say("SQ0321", s.name.at, name=name)
    elif check_owner(s.name, s.at, side, x) and not value.wrong:
        if value.cost is not None and side.name in ("init", "turn"):
            x.complaints.say("SQ0322", s.value.at, block=side.name)
        elif value.cost is not None and s.verb == "Size":
            x.complaints.say("SQ0312", s.value.at)
        elif value.cost is None and s.verb == "Cost":
            x.complaints.say("SQ0323", s.value.at, name=name)
        else:
            note_kind(name, value, s.value.at, x)
            return (Set(name, value.expr, at=s.at),)
    return (Set(name, fold.POISON, at=s.at),)


def check_owner(written: tree.Name, at: Span, side: Side, x: Expressions) -> bool:
    """The workload owns sizes, the scheduler `cached` and `computed`, a hold its own names."""
    name = written.text
    if name in x.names.bindings:
        note = Note("it is bound here", x.names.bindings[name])
        x.complaints.say(
            "SQ0228", written.at, kind="attribute", name=name, other="bound at admission", notes=[note]
        )
        return False
    if side.is_workload:
        if name in BUILT_IN_VALUES:
            x.complaints.say("SQ0324", at, name=name)
        return name not in BUILT_IN_VALUES
    if name in BUILT_IN_SIZES or "workload" in x.names.sides.get(name, ()):
        first = x.names.attributes.get(name)
        notes = [] if first is None else [Note(f"`{name}` is first assigned here", first)]
        x.complaints.say("SQ0320", at, name=name, notes=notes)
        return False
    return True


def note_kind(name: str, value: Typed, at: Span, x: Expressions) -> None:
    """Keep what kind of value an attribute holds: the same at every assignment."""
    first = x.names.kinds.setdefault(name, (value.cost, at))
    if first[0] != value.cost:
        note = Note("the other assignment is here", first[1])
        x.complaints.say("SQ0325", at, name=name, notes=[note])
    elif value.cost is not None:
        x.names.costs[name] = value.cost


def lower_record(s: tree.CostRecord, side: Side, x: Expressions) -> Sequence[Statement]:
    """`Cost x = { R: e, S: e };`: one cost per resource, evaluated in the written order."""
    if side.name in ("init", "turn"):
        x.complaints.say("SQ0322", s.at, block=side.name)
        return ()
    statements: list[Statement] = []
    seen: set[str] = set()
    for resource, e in s.parts:
        reference = tree.Reference(resource, None, None, resource.at)
        found = x.resource(reference, "pool or stage")
        value = x.plain(e, side.standing())
        if resource.text in seen:
            x.complaints.say("SQ0210", resource.at, kind="part of the cost", name=resource.text)
        elif found is not None:
            full = f"{s.name.text}.{resource.text}"
            note_kind(full, Typed(value, frozenset({found.name})), e.at, x)
            statements.append(Set(full, value, at=s.at))
        seen.add(resource.text)
    return statements
