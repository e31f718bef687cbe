"""Orders of those who wait that last from one iteration to the next.

A loop over waiting requests that is sorted by what cannot change while they wait (attributes of their
sessions, numbers of the program) keeps them sorted: what it costs to begin is what came and went.
"""

from __future__ import annotations

from bisect import bisect_left, insort
from collections.abc import Callable, Iterator
from operator import itemgetter
from typing import TYPE_CHECKING, Any

from serq.ir.expr import Binary, Conditional, Expr, Fold, Func, Num, RequestField, Unary, walk
from serq.machine.pools import Moves

if TYPE_CHECKING:
    from serq.machine.pools import PoolMember, Waiting

_LAST = itemgetter(-1)


class WaitingOrder:
    """Who waits in the queues `lines`, by a key that lasts, ties by the queue.

    What is kept of each: key, queue and number in it, and the hold. Only `begin` changes the order.
    """

    __slots__ = ("_entries", "_key", "_known", "_lines", "_moves", "_seen")

    def __init__(self, lines: list[PoolMember], key: Callable[[Waiting], Any]) -> None:
        self._lines = lines
        self._moves = []
        for line in lines:
            line.moves = line.moves or Moves()
            self._moves.append(line.moves)
        self._key = key
        self._entries: list[tuple[Any, int, int, Waiting]] = []
        self._known: dict[int, tuple[Any, int, int, Waiting]] = {}
        self._seen: list[tuple[int, int]] = []

    def begin(self) -> Iterator[Waiting]:
        """Those who wait now, in order."""
        lines = self._lines
        if any(line.returned for line in lines):
            # Who lost a hold stands before the whole queue; that is rare, and no order by numbers.
            holds = [waiting for line in lines for waiting in (*line.returned, *line.queue.values())]
            return iter(sorted(holds, key=self._key))
        seen = [(moves.forgotten, len(moves.made)) for moves in self._moves]
        if seen != self._seen:
            if [forgotten for forgotten, _ in seen] == [forgotten for forgotten, _ in self._seen]:
                for place, (_, made) in enumerate(self._seen):
                    self._follow(place, made)
            else:
                self._sort()
            self._seen = seen
        return map(_LAST, self._entries)

    def _sort(self) -> None:
        entries = [
            (self._key(waiting), place, waiting.number, waiting)
            for place, line in enumerate(self._lines)
            for waiting in line.queue.values()
        ]
        self._known = {entry[2]: entry for entry in entries}
        self._entries = sorted(entries)

    def _follow(self, place: int, since: int) -> None:
        """Take in what has happened in one queue."""
        queue = self._lines[place].queue
        for waiting in self._moves[place].made[since:]:
            number = waiting.number
            known = self._known.pop(number, None)
            if known is not None:
                del self._entries[bisect_left(self._entries, known)]
            if number in queue:
                self._known[number] = entry = (self._key(waiting), place, number, waiting)
                insort(self._entries, entry)


def lasts(e: Expr, request: str) -> bool:
    """Whether `e` says nothing but what cannot change while the request of that name waits."""
    return all(
        isinstance(part, Num | Unary | Binary | Conditional | Func | Fold)
        or (isinstance(part, RequestField) and part.kind == "attribute" and part.request == request)
        for part in walk(e)
    )
