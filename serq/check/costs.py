"""A cost is read only where every path has assigned it."""

from __future__ import annotations

from collections.abc import Iterable
from collections.abc import Set as AbstractSet

from attrs import frozen

from serq.check.complaints import Complaints
from serq.check.holds import assigned_in
from serq.check.readings import statement_readings
from serq.ir.expr import Attr, walk
from serq.ir.program import Program
from serq.ir.server import (
    Branch,
    Choose,
    Hold,
    Run,
    Set,
    Statement,
    blocks_of,
)
from serq.source import Span

Names = frozenset[str]


def check_costs(program: Program, complaints: Complaints) -> None:
    """Complain about costs that are read before every path has assigned them."""
    costs = frozenset(a.name for a in program.attributes if a.kind == "cost")
    if not costs:
        return
    paths = CostPaths(costs, complaints)
    made: Names = frozenset()
    if program.workload is not None:
        paths.block(program.workload.session, frozenset())
        made = frozenset(assigned_in(program.workload.session))
    # what the client makes of its own stages, it makes before the server reads it, or not at all
    paths.block(program.server, made)


@frozen
class CostPaths:
    """The walk over the paths; `assigned` is what all paths up to a statement have assigned."""

    costs: Names
    complaints: Complaints

    def block(self, block: Iterable[Statement], assigned: Names) -> Names:
        """What is assigned after a block."""
        after = set(assigned)
        for s in block:
            self.read(s, after)
            match s:
                case Set(attribute=name) | Choose(attribute=name):
                    after.add(name)
                case Branch(then=then, otherwise=otherwise):
                    before = frozenset(after)
                    after |= self.block(then, before) & self.block(otherwise, before)
                case Hold(body=body):
                    after |= self.block(body, frozenset(after))
                case _:
                    # a loop's body may not run at all, a leg's assignments stay in the leg
                    for inner in blocks_of(s):
                        self.block(inner, frozenset(after))
        return frozenset(after)

    def read(self, s: Statement, assigned: AbstractSet[str]) -> None:
        """Complain about the costs that a statement reads too early."""
        for reading in statement_readings(s, {}):
            for node in walk(reading.expr):
                if isinstance(node, Attr) and node.name in self.costs and node.name not in assigned:
                    self.complaints.missing("SQ0316", blamed(s) or node.at, name=node.name)


def blamed(s: Statement) -> Span | None:
    """The resource that a statement uses, None if it uses none."""
    match s:
        case Run(places=(first, *_)):
            return first.at
        case Hold(parts=(first, *_)):
            return first.at
        case _:
            return None
