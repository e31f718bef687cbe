"""`tool` and `transfer` are written out as runs, loads and releases."""

from __future__ import annotations

from collections.abc import Sequence

from serq.check.expressions import Expressions
from serq.check.side import Side, nowhere
from serq.ir.server import Load, Release, Run, Statement
from serq.syntax import tree

ROLES = {"tool": ("tool",), "transfer": ("link", "transfer")}
"""The names of the stages that such a statement runs at when it names none."""


def lower_tool(s: tree.Tool, side: Side, x: Expressions) -> Sequence[Statement]:
    """`tool x;` is a run at the tool's stage with x as its work."""
    return (lower_run_of("tool", s, side, x),)


def lower_transfer(s: tree.Transfer, side: Side, x: Expressions) -> Sequence[Statement]:
    """`transfer (x) from P to Q (n);`: a run at the link, a load of Q, a release of P."""
    here = side.standing()
    run = lower_run_of("transfer", s, side, x)
    source, target = x.place(s.source, "pool", here), x.place(s.target, "pool", here)
    load = x.plain(s.load, here)
    if source is None or target is None:
        return (run,)
    return (run, Load(target, load, at=s.at), Release(source, at=s.at))


def lower_run_of(statement: str, s: tree.Tool | tree.Transfer, side: Side, x: Expressions) -> Statement:
    """The run that a `tool` or `transfer` makes, its plain amount taken as the work."""
    here = side.standing()
    amount = x.plain(s.amount, here)
    written = find_stages(statement, s, side, x)
    places = [x.place(place, "stage", here) for place in written]
    found = tuple(place for place in places if place is not None)
    engine = next((p for p in found if x.names.stages[p.name].kind == "engine"), None)
    if engine is not None:
        x.complaints.say("SQ0342", engine.at, statement=statement, engine=engine.name)
    if not found or len(found) < len(places) or engine is not None:
        return nowhere(s.at)
    return Run(found, None, amount, at=s.at)


def find_stages(
    statement: str, s: tree.Tool | tree.Transfer, side: Side, x: Expressions
) -> tuple[tree.Reference, ...]:
    """Where the run is: as written, or the one stage of the statement's name declared above."""
    if s.where is not None and s.where.places:
        return s.where.places
    names, stages = ROLES[statement], x.names.stages
    above = [n for n in names if n in stages and stages[n].order < side.order]
    if len(above) != 1:
        code = "SQ0341" if above else "SQ0340"
        shown = (" and " if above else " or ").join(f"`{n}`" for n in names)
        x.complaints.missing(code, s.at, statement=statement, stages=shown)
        return ()
    index = None if s.where is None else s.where.index
    return (tree.Reference(tree.Name(above[0], s.at), index, None, s.at),)
