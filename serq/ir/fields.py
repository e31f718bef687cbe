"""What the records of a program share: how they are made and compared, and where they were written.

Records are attrs classes without generated comparisons: `Record` has one for all, so that these many
small classes cost little when serq starts.
"""

from __future__ import annotations

from typing import Any

from attrs import field


class Record:
    """A part of a program: equal to another of its class with equal fields, wherever they stand."""

    __slots__ = ()
    __match_args__: tuple[str, ...] = ()

    def __eq__(self, other: object) -> bool:
        if type(self) is not type(other):
            return NotImplemented
        return all(getattr(self, n) == getattr(other, n) for n in self.__match_args__)

    def __hash__(self) -> int:
        return hash((type(self), *(getattr(self, n) for n in self.__match_args__)))

    def __repr__(self) -> str:
        fields = ", ".join(f"{n}={getattr(self, n)!r}" for n in self.__match_args__)
        return f"{type(self).__name__}({fields})"


def location() -> Any:
    """The span a record was read from: for messages only, not part of ==, hash or repr.

    Keyword-only, which is also what keeps it out of the fields that `Record` compares.
    """
    return field(default=None, kw_only=True)
