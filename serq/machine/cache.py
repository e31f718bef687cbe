"""The prefix cache of a pool: units that ended holds left behind, one entry per session.

An entry is its session's own until it is consumed or replaced; what a hold did not reuse is *dead*:
nobody can use it, but it stays until it is evicted (semantics, section 6).
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from serq.machine.sessions import Session


class Entry:
    """A cached prefix: `units` of `session`, released at `released`, as number `number`.

    attributes: the session's at release, for eviction keys once it has ended or the entry is dead.
    """

    __slots__ = ("attributes", "dead", "number", "released", "session", "units")

    def __init__(self, session: Session, units: float, released: float, number: int) -> None:
        self.session = session
        self.units = units
        self.released = released
        self.number = number
        self.dead = False
        self.attributes = list(session.attributes)

    def piece(self, units: float) -> Entry:
        """A part of the entry, of the same age."""
        piece = Entry(self.session, units, self.released, self.number)
        piece.attributes, piece.dead = self.attributes, self.dead
        return piece

    def read(self) -> list[float]:
        """The attributes that an eviction key sees."""
        return self.attributes if self.dead or self.session.ended else self.session.attributes


class PrefixCache:
    """Entries in the order of their release; `units` is their sum."""

    def __init__(self) -> None:
        self.units = 0.0
        self.keys: Callable[[Entry], tuple[float, ...]] | None = None
        self._entries: OrderedDict[int, Entry] = OrderedDict()
        self._own: dict[Session, Entry] = {}

    def own_units(self, session: Session) -> float:
        """Units that the session's next hold could use."""
        entry = self._own.get(session)
        return 0.0 if entry is None else entry.units

    def consume(self, session: Session, units: float) -> float:
        """Take up to `units` of the session's entry; what is left of it is dead. Returns the units."""
        entry = self._own.pop(session, None)
        if entry is None:
            return 0.0
        taken = min(entry.units, units)
        entry.units -= taken
        entry.dead = True
        self.units -= taken
        if entry.units <= 0:
            del self._entries[entry.number]
        return taken

    def leave(self, session: Session, units: float, now: float, number: int) -> None:
        """The session leaves `units` behind, in place of whatever entry it has; 0 leaves none."""
        self.drop(session)
        if units > 0:
            entry = self._entries[number] = self._own[session] = Entry(session, units, now, number)
            self.units += entry.units

    def add(self, session: Session, units: float, now: float, number: int) -> None:
        """More units for the session's entry, which is as old as its first ones."""
        entry = self._own.get(session)
        if entry is None:
            self.leave(session, units, now, number)
        else:
            entry.units += units
            self.units += units

    def drop(self, session: Session) -> None:
        entry = self._own.pop(session, None)
        if entry is not None:
            del self._entries[entry.number]
            self.units -= entry.units

    def least(self) -> Entry:
        """The entry to evict first: least keys, ties by release; without keys the oldest release."""
        if self.keys is None:
            return next(iter(self._entries.values()))
        keys = self.keys
        return min(self._entries.values(), key=lambda e: (keys(e), e.number))

    def cut(self, entry: Entry, units: float) -> bool:
        """Take `units` from the end of an entry; True when it vanished."""
        entry.units -= units
        self.units -= units
        if entry.units > 0:
            return False
        del self._entries[entry.number]
        if not entry.dead:
            del self._own[entry.session]
        return True
