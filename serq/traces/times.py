"""When requests came: numbers in some unit, or dates."""

from __future__ import annotations

from array import array
from collections.abc import Sequence
from datetime import datetime

from attrs import define

from serq.traces.batch import read_number


@define
class Clock:
    """Reads the times of one file: all of them numbers, or all of them dates, as the first one is.

    dates: None until there was one. Dates become seconds from the first one; microseconds count, finer
    digits do not.
    """

    dates: bool | None = None
    _origin: datetime | None = None

    def read(self, text: str) -> float | None:
        """One time; None when it is none."""
        if not self.dates and (value := read_number(text)) is not None:
            self.dates = False
            return value
        if self.dates is False:
            return None
        try:
            date = datetime.fromisoformat(text.strip())
            if self._origin is None:
                self._origin = date
            seconds = (date - self._origin).total_seconds()
        except (ValueError, TypeError):  # TypeError: with a time zone and without one
            return None
        self.dates = True
        return seconds

    def read_all(self, texts: Sequence[str]) -> array[float] | None:
        """Many times at once; None when one of them is none."""
        if self.dates is None and (not texts or self.read(texts[0]) is None):
            return None
        try:
            if self.dates:
                origin, read = self._origin, datetime.fromisoformat
                return array("d", [(read(text) - origin).total_seconds() for text in texts])  # type: ignore[operator]
            return array("d", map(float, texts))
        except (ValueError, TypeError):
            return None
