"""Where a statement may read `cached`: in the body of a hold it is what that hold found.

Every admission sets it, those of holds without `cache` too. So it may not be read in the body of a hold that
never looked, nor where another hold may have been admitted inside.
"""

from __future__ import annotations

from collections.abc import Iterator

from attrs import frozen

from serq.check.complaints import Complaints
from serq.check.readings import statement_readings
from serq.diagnostics import Note
from serq.ir.expr import Attr, walk
from serq.ir.program import Program
from serq.ir.server import Block, Branch, Fork, Hold, Loop, Statement, Turn, While, blocks_of


def check_cached(program: Program, complaints: Complaints) -> None:
    """Complain about every `cached` that speaks of another admission than that of the hold around it."""
    if program.workload is not None:
        AdmissionPaths(program.server, complaints).block(program.workload.session, None, None)
    AdmissionPaths((), complaints).block(program.server, None, None)


@frozen
class AdmissionPaths:
    """The walk over a block: `around` is the hold it stands in, `inner` one that may be admitted since.

    turn: the statements that `turn;` stands for.
    """

    turn: Block
    complaints: Complaints

    def block(self, block: Block, around: Hold | None, inner: Hold | None) -> Hold | None:
        """Look at the statements; returns what `inner` is after them."""
        for s in block:
            if around is not None:
                self.readings(s, around, inner)
            match s:
                case Hold(body=body):
                    self.block(body, s, None)
                    inner = s
                case Branch(then=then, otherwise=otherwise):
                    one, other = self.block(then, around, inner), self.block(otherwise, around, inner)
                    inner = other if one is inner else one
                case While(body=body) | Loop(body=body):
                    # What one pass admits has been admitted in the next one.
                    inner = self.block(body, around, next(self.admitted(body), inner))
                case Fork(body=body):
                    self.block(body, None, None)  # a leg has holds of its own
                case Turn() if around is not None:
                    inner = AdmissionPaths((), self.complaints).block(self.turn, around, inner)
                case _:
                    pass
        return inner

    def admitted(self, block: Block) -> Iterator[Hold]:
        """The holds that a block asks for, without those inside them."""
        for s in block:
            match s:
                case Hold():
                    yield s
                case Turn():
                    yield from AdmissionPaths((), self.complaints).admitted(self.turn)
                case Fork():
                    pass
                case _:
                    for body in blocks_of(s):
                        yield from self.admitted(body)

    def readings(self, s: Statement, around: Hold, inner: Hold | None) -> None:
        """Complain about the `cached` that a statement itself reads."""
        if inner is None and around.cache is not None:
            return
        for reading in statement_readings(s, {}):
            for node in walk(reading.expr):
                if not (isinstance(node, Attr) and node.name == "cached"):
                    continue
                if inner is None:
                    self.complaints.missing("SQ0584", node.at, pools=_pools(around))
                else:
                    notes = [] if inner.at is None else [Note("admitted here", inner.at)]
                    pools, others = _pools(around), _pools(inner)
                    self.complaints.say("SQ0590", node.at, pools=pools, inner=others, notes=notes)


def _pools(hold: Hold) -> str:
    return ", ".join(f"`{part.place.name}`" for part in hold.parts)
