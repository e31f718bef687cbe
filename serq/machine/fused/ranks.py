"""Where runs stand in line: the order of a schedule, as pieces of the loop.

A run's rank does not change while it is passed over, and falls by one with each token of a decode if it
reads `remaining`. So whoever is served stays before whoever is not, and the line keeps itself in order:
a segment is a stretch of it, sorted by what ranks are but for the tick they have in common.
"""

from __future__ import annotations

from collections.abc import Iterable

from attrs import frozen

from serq.ir.expr import Attr, Expr, Num, Observable, RegisterRead, Var, walk
from serq.ir.schedule import Advance, ScheduleStatement
from serq.machine.stages.classed import tells_apart


@frozen
class Order:
    """The keys of a schedule that tell runs of one phase apart.

    early: keys before `remaining`, late: those after it, or all if it is not among them.
    """

    early: tuple[Expr, ...] = ()
    remaining: bool = False
    late: tuple[Expr, ...] = ()


def find_order(statements: Iterable[ScheduleStatement]) -> Order | None:
    """The order that the loop keeps its line in; None if it cannot."""
    advances = [s for s in statements if isinstance(s, Advance)]
    apart = [s for s in advances if any(tells_apart(key) for key in s.keys)]
    if not apart:
        return Order()
    if len(advances) > 1:
        return None
    keys = apart[0].keys
    by_remaining = [k for k, key in enumerate(keys) if isinstance(key, Var) and key.name == "remaining"]
    if len(by_remaining) > 1 or not all(_stays(key) for k, key in enumerate(keys) if k not in by_remaining):
        return None
    if not by_remaining:
        return Order(late=keys)
    at = by_remaining[0]
    return Order(keys[:at], True, keys[at + 1 :])


def _stays(key: Expr) -> bool:
    """Whether a key is the same as long as a run is at the engine."""
    for node in walk(key):
        match node:
            case Var(name="decoding" | "admission") | Attr() | Num():
                pass
            case Var() | Observable() | RegisterRead():
                return False
    return True


@frozen
class Ranks:
    """The pieces for one order: of request i, of a segment's entry j, of the prefill at q.

    prefill, decode: the rank of a request that joins, a decode of n tokens. entry: how a member stands
    in its segment. member: the rank of an entry. cut: the entry before which a prefill stands. retick:
    the entries of a segment whose ticks have changed.
    """

    prefill: str
    decode: str
    entry: str
    member: str
    cut: str
    retick: str

    @classmethod
    def of(cls, order: Order) -> Ranks:
        """The pieces for an order."""
        if not order.remaining:
            return cls("place[i]", "place[i]", "(place[i], i)", "j[0]", "(pre_rank[q],)", "pass")
        if not order.early:
            return cls(
                prefill="(remaining[i], place[i])",
                decode="(n, place[i])",
                entry="(due[i], place[i], i)",
                member="(j[0] - tick[g], j[1])",
                cut="(pre_rank[q][0] + tick[g], pre_rank[q][1])",
                retick="line[small] = [(due[j[2]], j[1], j[2]) for j in line[small]]",
            )
        return cls(
            prefill="(early[i], remaining[i], place[i])",
            decode="(early[i], n, place[i])",
            entry="(early[i], due[i], place[i], i)",
            member="(j[0], j[1] - tick[g], j[2])",
            cut="(pre_rank[q][0], pre_rank[q][1] + tick[g], pre_rank[q][2])",
            retick="line[small] = [(j[0], due[j[3]], j[2], j[3]) for j in line[small]]",
        )
