"""Turns of many conversations mixed in one file: which belong together, and what lies between them.

The turns are kept by column. A session is kept as 16 bytes made from its name, whatever its length: two
names of a trace of ten million turns get the same ones with a chance of one in 10^24.
"""

from __future__ import annotations

from array import array
from hashlib import blake2b
from typing import TYPE_CHECKING

from attrs import define, field

from serq.traces.batch import Batch
from serq.traces.formats import ELAPSED, NEW, OUT, THINK, TIME, UNITS
from serq.traces.reading import TraceFile

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    Floats = npt.NDArray[np.float64]
    Ints = npt.NDArray[np.int64]

KEY_BYTES = 16
MICROSECOND = 6
"""Decimals of a second that times are recorded with; what is beyond is noise of subtracting them."""


@define
class Kept:
    """All turns read so far. columns: role -> values, as in a batch."""

    columns: dict[str, array[float]] = field(factory=dict)
    _keys: bytearray = field(factory=bytearray)
    _known: bool = False

    def __len__(self) -> int:
        return len(self.columns.get(NEW, ()))

    def add(self, batch: Batch) -> None:
        """Keep the turns of a batch."""
        if batch.sessions is not None:
            self._known = True
            self._keys += _keys_of(batch.sessions, len(self))
        for role, values in batch.columns.items():
            self.columns.setdefault(role, array("d")).extend(values)

    def group(self, trace: TraceFile, *, pause: bool = False, history: bool = False) -> Grouped:
        """The turns by session, in the order of their times, or of the file where it has none.

        trace: where they come from. pause, history: as in a `Conversion`. The turns are given away.
        """
        import numpy as np

        columns = {role: np.frombuffer(values) for role, values in self.columns.items()}
        count = len(self)
        keys = np.frombuffer(self._keys, dtype=np.uint64).reshape(-1, 2)
        self.columns = {}
        if TIME in columns and (columns[TIME][1:] < columns[TIME][:-1]).any():
            by_time = np.argsort(columns[TIME], kind="stable")
            columns = {role: values[by_time] for role, values in columns.items()}
            keys = keys[by_time] if self._known else keys
        if self._known:
            order = np.lexsort((keys[:, 1], keys[:, 0]))
            fresh = np.ones(count, dtype=bool)
            fresh[1:] = (keys[order[1:]] != keys[order[:-1]]).any(axis=1)
        else:
            order = np.arange(count)
            fresh = np.ones(count, dtype=bool)
        del keys
        grouped = _group(columns, order, fresh)
        if THINK not in columns:
            columns[THINK] = grouped.think(trace, pause)
        if history:
            grouped.take_off_history()
        return grouped


@define
class Grouped:
    """Turns in the order of their requests.

    columns: role -> values. sessions: numbers from 0 in the order of first requests; turns: from 1.
    lengths: turns of each session. earlier, later: rows of turns that follow each other in a session.
    restarted: see `Converted`.
    """

    columns: dict[str, Floats]
    sessions: Ints
    turns: Ints
    lengths: Ints
    earlier: Ints
    later: Ints
    restarted: int = 0

    def think(self, trace: TraceFile, pause: bool) -> Floats:
        """Seconds between a turn and the next of its session, 0 for the last one."""
        import numpy as np

        think = np.zeros(self.sessions.size)
        if TIME in self.columns:
            times = self.columns[TIME]
            gaps = (times[self.later] - times[self.earlier]) * UNITS[trace.time_unit or "s"]
            if pause:
                gaps -= self.columns[ELAPSED][self.earlier] * UNITS[trace.unit or "s"]
            think[self.earlier] = np.maximum(gaps.round(MICROSECOND), 0)
        return think

    def take_off_history(self) -> None:
        """Make `new` what a prompt has beyond the prompt and the answer before it."""
        new, out = self.columns[NEW], self.columns[OUT]
        adds = new[self.later] - new[self.earlier] - out[self.earlier]
        goes_on = adds >= 0
        self.columns[NEW] = new.copy()
        self.columns[NEW][self.later[goes_on]] = adds[goes_on]
        self.restarted = int(adds.size - goes_on.sum())


def _group(columns: dict[str, Floats], order: Ints, fresh: npt.NDArray[np.bool_]) -> Grouped:
    """order: rows by session; fresh: where in that order a session begins."""
    import numpy as np

    count = order.size
    starts = np.flatnonzero(fresh)
    lengths = np.diff(starts, append=count)
    first_come = np.argsort(order[starts])
    number = np.empty_like(first_come)
    number[first_come] = np.arange(starts.size)
    sessions = np.empty(count, dtype=np.int64)
    sessions[order] = np.repeat(number, lengths)
    turns = np.empty(count, dtype=np.int64)
    turns[order] = np.arange(1, count + 1) - np.repeat(starts, lengths)
    earlier, later = order[:-1][~fresh[1:]], order[1:][~fresh[1:]]
    return Grouped(columns, sessions, turns, lengths[first_come], earlier, later)


def _keys_of(names: list[str], first_row: int) -> bytes:
    """16 bytes for each name; "" is another session each time."""
    keys = {name: blake2b(name.encode(), digest_size=KEY_BYTES).digest() for name in set(names)}
    if "" not in keys:
        return b"".join(map(keys.__getitem__, names))
    return b"".join(
        keys[name] if name else row.to_bytes(KEY_BYTES, "big") for row, name in enumerate(names, first_row)
    )

