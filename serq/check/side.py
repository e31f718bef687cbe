"""Whose statements are lowered."""

from __future__ import annotations

from collections.abc import Mapping

from attrs import field, frozen

from serq.check import fold
from serq.check.standing import Bound, Standing
from serq.check.trees import NOWHERE
from serq.ir.expr import Place
from serq.ir.moments import Moment
from serq.ir.server import Run
from serq.source import Span


@frozen
class Side:
    """A block of the server or of the workload.

    name: "server", "session", "init" or "turn". order: the position of its item in the program.
    bound: the names of `at admission` around the statements.
    """

    name: str
    order: int
    bound: Mapping[str, Bound] = field(factory=dict)

    @property
    def is_workload(self) -> bool:
        """Whether the client's side is meant."""
        return self.name != "server"

    def standing(self, moment: Moment = Moment.SESSION, blame: Span | None = None) -> Standing:
        """Where an expression of these statements stands."""
        return Standing(moment, self.order, bound=self.bound, blame=blame, client=self.is_workload)


def nowhere(at: Span) -> Run:
    """A run at a place about which a complaint was made; time passes in it."""
    return Run((Place(NOWHERE, at=at),), None, fold.POISON, at=at)
