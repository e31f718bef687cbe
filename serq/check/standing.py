"""Where an expression stands, and what it is: a plain quantity or a cost of resources."""

from __future__ import annotations

from collections.abc import Mapping

from attrs import field, frozen

from serq.check.fold import POISON, is_poison
from serq.ir.expr import Expr
from serq.ir.moments import Moment
from serq.source import Span
from serq.syntax import tree


@frozen
class Typed:
    """An expression with its kind: a cost of some resources, or a plain quantity (None)."""

    expr: Expr
    cost: frozenset[str] | None = None

    @property
    def wrong(self) -> bool:
        return is_poison(self.expr)


WRONG = Typed(POISON)


@frozen
class Bound:
    """What a name stands for within an expression, with the size of it."""

    value: Typed
    size: int = 1


@frozen
class Requested:
    """What a name of a request ranges over: "running", "waiting" or "batch", of an engine."""

    among: str
    engine: str


@frozen
class Standing:
    """Where an expression stands.

    order: the position of its item among the program's, None for any. engine: the engine whose clause it is.
    bound: names that stand for expressions here. requests: names of requests, of loops and aggregates
    around. names: numbers and `let`s of the loops around. loop: there is one. locals: a schedule's
    `let`s. times: the device's time resources, in `execute` only. blame: where a complaint about
    costs goes, None for the place itself. client: it stands in the workload.
    """

    moment: Moment
    order: int | None
    engine: str | None = None
    bound: Mapping[str, Bound] = field(factory=dict)
    requests: Mapping[str, Requested] = field(factory=dict)
    names: frozenset[str] = frozenset()
    loop: bool = False
    locals: frozenset[str] = frozenset()
    times: Mapping[str, tree.TimeResource] = field(factory=dict)
    blame: Span | None = None
    client: bool = False


def shown(resources: frozenset[str]) -> str:
    """Resources of a cost as messages write them."""
    return ", ".join(f"`{r}`" for r in sorted(resources))


def kind(value: Typed) -> str:
    """What a value is, as messages write it."""
    return "a plain quantity" if value.cost is None else f"a cost of {shown(value.cost)}"
