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
    Ints = npt.NDArray[np.signedinteger]

KEY_BYTES = 16
MICROSECOND = 6
"""Decimals of a second that times are recorded with; what is beyond is noise of subtracting them."""


@define
class Kept:
    """All turns read so far. columns: role -> values, as in a batch."""

    columns: dict[str, array[float]] = field(factory=dict)
    _keys: bytearray = field(factory=bytearray)
    _alone: bool = True  # every turn is a session of its own

    def __len__(self) -> int:
        return len(self.columns.get(NEW, ()))

    def add(self, batch: Batch) -> None:
        """Keep the turns of a batch."""
        if batch.sessions is not None:
            self._alone = False
            self._keys += _keys_of(batch.sessions, len(self))
        for role, values in batch.columns.items():
            self.columns.setdefault(role, array("d")).extend(values)

    def group(self, trace: TraceFile, *, pause: bool = False, history: bool = False) -> Grouped:
        """The turns by session, in the order of their times, or of the file where it has none.

        trace: where they come from. pause, history: as in a `Conversion`. The turns are given away.
        """
        import numpy as np

        columns = {role: np.frombuffer(values) for role, values in self.columns.items()}
        keys = np.frombuffer(self._keys, dtype=np.uint64).reshape(-1, 2)
        self.columns, self._keys = {}, bytearray()
        if TIME in columns and (columns[TIME][1:] < columns[TIME][:-1]).any():
            by_time = np.argsort(columns[TIME], kind="stable")
            for role in columns:
                columns[role] = columns[role][by_time]
            if not self._alone:
                keys = keys[by_time]
        grouped = _single_turns(columns) if self._alone else _grouped(columns, keys)
        del keys
        pairs = grouped.pairs()
        if THINK not in columns:
            columns[THINK] = _think(columns, pairs, trace, pause)
        if history:
            grouped.restarted = _take_off_history(columns, pairs)
        return grouped


@define
class Grouped:
    """Turns in the order of their requests.

    columns: role -> values. order: rows by session, the sessions in no particular order; starts: where
    in it each session begins. restarted: see `Converted`.
    """

    columns: dict[str, Floats]
    order: Ints
    starts: Ints
    restarted: int = 0

    @property
    def lengths(self) -> Ints:
        """Turns of each session, in the order of `starts`."""
        import numpy as np

        return np.diff(self.starts, append=self.order.size)

    def pairs(self) -> tuple[Ints, Ints]:
        """The rows of turns that have a next one in their session, and the rows of those next ones."""
        import numpy as np

        begins = np.zeros(self.order.size, dtype=bool)
        begins[self.starts] = True
        return self.order[:-1][~begins[1:]], self.order[1:][~begins[1:]]

    def by_session(self) -> tuple[Ints, Ints, Ints]:
        """All rows, session by session in the order of first requests; of each its session, from 0, and
        its turn, from 1.
        """
        import numpy as np

        first_come = np.argsort(self.order[self.starts])
        lengths = self.lengths[first_come]
        kind = self.order.dtype
        begins = (np.cumsum(lengths) - lengths).astype(kind)
        turns = np.arange(self.order.size, dtype=kind)
        turns -= np.repeat(begins, lengths)
        rows = self.order[np.repeat(self.starts[first_come], lengths) + turns]
        turns += 1
        return rows, np.repeat(np.arange(lengths.size, dtype=kind), lengths), turns


def _single_turns(columns: dict[str, Floats]) -> Grouped:
    import numpy as np

    rows = np.arange(columns[NEW].size)
    return Grouped(columns, rows, rows)


def _grouped(columns: dict[str, Floats], keys: npt.NDArray[np.uint64]) -> Grouped:
    """keys: two numbers for each row, the same in all rows of a session."""
    import numpy as np

    order = np.lexsort((keys[:, 1], keys[:, 0]))
    if order.size < 2**31:
        order = order.astype(np.int32)
    begins = np.zeros(order.size, dtype=bool)
    begins[0] = True
    for half in (0, 1):
        sorted_keys = keys[order, half]
        begins[1:] |= sorted_keys[1:] != sorted_keys[:-1]
    return Grouped(columns, order, np.flatnonzero(begins).astype(order.dtype))


def _think(columns: dict[str, Floats], pairs: tuple[Ints, Ints], trace: TraceFile, pause: bool) -> Floats:
    """Seconds between a turn and the next of its session, 0 for the last one."""
    import numpy as np

    think = np.zeros(columns[NEW].size)
    if TIME in columns:
        earlier, later = pairs
        gaps = (columns[TIME][later] - columns[TIME][earlier]) * UNITS[trace.request_unit or "s"]
        if pause:
            gaps -= columns[ELAPSED][earlier] * UNITS[trace.unit or "s"]
        think[earlier] = np.maximum(gaps.round(MICROSECOND), 0)
    return think


def _take_off_history(columns: dict[str, Floats], pairs: tuple[Ints, Ints]) -> int:
    """Make `new` what a prompt has beyond the prompt and the answer before it; see `Converted.restarted`."""
    earlier, later = pairs
    adds = columns[NEW][later] - columns[NEW][earlier] - columns[OUT][earlier]
    goes_on = adds >= 0
    columns[NEW] = columns[NEW].copy()
    columns[NEW][later[goes_on]] = adds[goes_on]
    return int(adds.size - goes_on.sum())


def _keys_of(names: list[str], first_row: int) -> bytes:
    """16 bytes for each name; "" is another session each time."""
    keys = {name: blake2b(name.encode(), digest_size=KEY_BYTES).digest() for name in set(names)}
    if "" not in keys:
        return b"".join(map(keys.__getitem__, names))
    return b"".join(
        keys[name] if name else row.to_bytes(KEY_BYTES, "big") for row, name in enumerate(names, first_row)
    )
