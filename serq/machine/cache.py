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

    owner: the session; once the entry is dead, something that tells it apart and that its pieces
    share. attributes: the session's at release, or when the entry died, for eviction keys once the
    session has ended or the entry is dead.
    """

    __slots__ = ("attributes", "number", "owner", "released", "session", "units")

    def __init__(self, session: Session, units: float, released: float, number: int) -> None:
        self.session = session
        self.units = units
        self.released = released
        self.number = number
        self.owner: object = session
        self.attributes = list(session.attributes)

    @property
    def dead(self) -> bool:
        """Whether nobody can use it any more."""
        return self.owner is not self.session

    def die(self) -> None:
        """Its session has consumed what it could of it."""
        self.owner = object()
        self.attributes = list(self.session.attributes)

    def piece(self, units: float) -> Entry:
        """A part of the entry, of the same age."""
        piece = Entry(self.session, units, self.released, self.number)
        piece.attributes, piece.owner = self.attributes, self.owner
        return piece

    @property
    def user(self) -> Session | None:
        """The session that can still use it, if any: a key reads what that one waits for and has cached."""
        return None if self.dead or self.session.ended else self.session

    @property
    def awaited(self) -> bool:
        """Whether its user waits in the queue of some pool."""
        user = self.user
        return user is not None and user.waiting is not None

    def read(self) -> list[float]:
        """The attributes that an eviction key sees."""
        return self.attributes if self.user is None else self.session.attributes


class PrefixCache:
    """Entries in the order of their release; `units` is their sum."""

    def __init__(self) -> None:
        self.units = 0.0
        self.keys: Callable[[Entry], tuple[float, ...]] | None = None
        self._entries: OrderedDict[int, Entry] = OrderedDict()
        self._by_owner: dict[object, Entry] = {}

    def entries(self) -> list[Entry]:
        """Every entry, the oldest first."""
        return list(self._entries.values())

    def own_units(self, session: Session | None) -> float:
        """Units that the session's next hold could use; without a session none."""
        entry = None if session is None else self._by_owner.get(session)
        return 0.0 if entry is None else entry.units

    def put_own(self, session: Session, units: float) -> None:
        """An entry of the session that is counted already."""
        self._by_owner[session] = Entry(session, units, 0.0, 0)

    def consume(self, session: Session, units: float) -> float:
        """Take up to `units` of the session's entry; what is left of it is dead. Returns the units."""
        entry = self._by_owner.pop(session, None)
        if entry is None:
            return 0.0
        taken = min(entry.units, units)
        entry.units -= taken
        entry.die()
        self.units -= taken
        if entry.units > 0:
            self._by_owner[entry.owner] = entry
        else:
            del self._entries[entry.number]
        return taken

    def leave(self, session: Session, units: float, now: float, number: int) -> None:
        """The session leaves `units` behind, in place of whatever entry it has; 0 changes nothing."""
        if units > 0:
            self.drop(session)
            self._insert(Entry(session, units, now, number))

    def add(self, piece: Entry, now: float, number: int) -> None:
        """Take in a piece of another cache, with what is here of its owner, as an entry of this instant."""
        entry = self._by_owner.get(piece.owner)
        if entry is not None:
            piece.units += entry.units
            del self._entries[entry.number]
            self.units -= entry.units
        piece.released, piece.number = now, number
        self._insert(piece)

    def _insert(self, entry: Entry) -> None:
        self._entries[entry.number] = self._by_owner[entry.owner] = entry
        self.units += entry.units

    def drop(self, session: Session) -> None:
        entry = self._by_owner.pop(session, None)
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
        del self._by_owner[entry.owner]
        return True
