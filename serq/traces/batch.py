"""Turns by column, as the readers give them: some thousand at a time."""

from __future__ import annotations

from array import array
from collections.abc import Sequence
from itertools import compress

from attrs import define, field

from serq.longfiles import is_number
from serq.traces.formats import FORCED, NEW, OUT

WANTED = {
    NEW: "a whole number of tokens, 0 or more",
    OUT: "a whole number of tokens, 0 or more",
    "think": "a time, 0 or more",
    "elapsed": "a time, 0 or more",
    FORCED: "a number",
    "session": "a number",
    "time": "a time: a number, or a date such as 2024-05-10 00:00:00.009930",
}
"""What a field must be, by role."""


@define
class Batch:
    """Some turns of a file, in its order; all columns of one length.

    columns: role -> values, `new` and `out` always; times in the unit of the file, dates in seconds from
    the first one. sessions: the conversation of each turn, "" for a request on its own; None when every
    turn is.
    """

    columns: dict[str, array[float]] = field(factory=dict)
    sessions: list[str] | None = None

    def __len__(self) -> int:
        return len(self.columns[NEW])

    def keep(self, which: Sequence[bool]) -> Batch:
        """The turns of which this says so."""
        columns = {role: array("d", compress(values, which)) for role, values in self.columns.items()}
        sessions = None if self.sessions is None else list(compress(self.sessions, which))
        return Batch(columns, sessions)

    @staticmethod
    def empty(roles: list[str], sessions: bool) -> Batch:
        """A batch to be filled row by row."""
        return Batch({role: array("d") for role in roles}, [] if sessions else None)


def read_number(text: str) -> float | None:
    """A finite number written plainly; None for anything else."""
    return float(text) if is_number(text) else None


def fits(role: str, value: float, whole: bool) -> bool:
    """Whether a number can be what the role says; whole: tokens come one by one."""
    if role in (NEW, OUT):
        return value >= 0 and (not whole or value.is_integer())
    return value >= 0 or role not in ("think", "elapsed")
