"""What a session does: the statements of the server and of the client's blocks.

`tool` and `transfer` are written out as runs and loads, uses of definitions by their bodies.
Statements take no time except `run`, `hold`, `grow` and `join`.
"""

from __future__ import annotations

from typing import TypeAlias, Union

from attrs import frozen

from serq.ir.expr import Expr, Place
from serq.ir.fields import Record, location
from serq.source import Span


@frozen(eq=False, repr=False)
class Set(Record):
    """Assigns a session attribute."""

    attribute: str
    value: Expr
    at: Span | None = location()


@frozen(eq=False, repr=False)
class Observe(Record):
    """Records a sample of observation `name`, with the time, the session and its turn."""

    name: str
    value: Expr
    at: Span | None = location()


@frozen(eq=False, repr=False)
class Run(Record):
    """Work at a stage, until it is done. On an engine `mode` is "prefill" or "decode" (tokens).

    places: one, or several for a flow. growing: the pool whose hold grows with the position.
    """

    places: tuple[Place, ...]
    mode: str | None
    work: Expr
    growing: Place | None = None
    at: Span | None = location()


@frozen(eq=False, repr=False)
class HoldPart(Record):
    """What a hold takes of one pool; `reserve` is the room required at admission."""

    place: Place
    units: Expr
    reserve: Expr | None = None
    at: Span | None = location()


@frozen(eq=False, repr=False)
class Binding(Record):
    """A name of `at admission`, kept as an attribute when the body starts if `kept`."""

    name: str
    value: Expr
    kept: bool
    at: Span | None = location()


@frozen(eq=False, repr=False)
class Hold(Record):
    """Waits in the queue of the first part's pool, holds all parts during the body, gives them back.

    Bindings are written out in `units`, `reserve` and `reuse`.
    """

    parts: tuple[HoldPart, ...]
    body: Block
    reuse: Expr | None = None
    bindings: tuple[Binding, ...] = ()
    cache: Expr | None = None
    lease: tuple[Place, Expr] | None = None
    at: Span | None = location()


@frozen(eq=False, repr=False)
class Grow(Record):
    place: Place
    amount: Expr
    at: Span | None = location()


@frozen(eq=False, repr=False)
class Load(Record):
    place: Place
    amount: Expr
    at: Span | None = location()


@frozen(eq=False, repr=False)
class Drop(Record):
    place: Place
    at: Span | None = location()


@frozen(eq=False, repr=False)
class Release(Record):
    place: Place
    at: Span | None = location()


@frozen(eq=False, repr=False)
class Branch(Record):
    """`then` if the test is 1, `otherwise` if it is 0, a run error if it is something else."""

    test: Expr
    then: Block
    otherwise: Block
    at: Span | None = location()


@frozen(eq=False, repr=False)
class While(Record):
    test: Expr
    body: Block
    at: Span | None = location()


@frozen(eq=False, repr=False)
class Loop(Record):
    body: Block
    at: Span | None = location()


@frozen(eq=False, repr=False)
class Choose(Record):
    """`attribute` becomes the index 0 … count−1 with the least keys, ties to the smaller index."""

    attribute: str
    count: Expr
    keys: tuple[Expr, ...]
    at: Span | None = location()


@frozen(eq=False, repr=False)
class Fork(Record):
    body: Block
    at: Span | None = location()


@frozen(eq=False, repr=False)
class Join(Record):
    at: Span | None = location()


@frozen(eq=False, repr=False)
class Turn(Record):
    """Starts a turn: the workload's `turn` block, then the server's statements."""

    at: Span | None = location()


@frozen(eq=False, repr=False)
class End(Record):
    """Ends the session."""

    at: Span | None = location()


Statement: TypeAlias = Union[
    Set, Observe, Run, Hold, Grow, Load, Drop, Release, Branch, While, Loop, Choose, Fork, Join,
    Turn, End,
]  # fmt: skip

Block: TypeAlias = tuple[Statement, ...]


def blocks_of(s: Statement) -> tuple[Block, ...]:
    """The blocks directly inside a statement."""
    match s:
        case Branch(then=then, otherwise=otherwise):
            return (then, otherwise)
        case While(body=body) | Loop(body=body) | Fork(body=body) | Hold(body=body):
            return (body,)
        case _:
            return ()
