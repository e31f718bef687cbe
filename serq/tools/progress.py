"""A line on the terminal while a long run goes on."""

from __future__ import annotations

import os
import sys
import time
from types import TracebackType

from serq.tools.saying import can_show, is_quiet


class Progress:
    """Shows how far a run has come, on a terminal, once it has taken a while.

    Called with how much is done; as a context manager it leaves the terminal as it was.
    """

    PATIENCE = 2.0
    """Seconds before anything is shown."""
    INTERVAL = 0.2
    """Seconds between two changes of the line."""
    BAR = 20
    """Columns."""

    def __init__(self, whole: float, unit: str = "") -> None:
        """whole: what is done at the end, clock units or bytes, > 0. unit: of it, for people."""
        self._whole = whole
        self._unit = unit
        self._begun = time.monotonic()
        self._next = self._begun + self.PATIENCE
        self._shown = False
        self._terminal = sys.stderr.isatty() and os.environ.get("TERM") != "dumb" and not is_quiet()
        self._full, self._empty = "█·" if can_show("█·", sys.stderr) else "#."

    def __call__(self, done: float, iterations: int | None = None) -> None:
        """Take note of how much is done, in the unit of the whole; iterations: of a run, so far."""
        seconds = time.monotonic()
        if not self._terminal or seconds < self._next:
            return
        self._next = seconds + self.INTERVAL
        self._shown = True
        line = self._line(done, iterations, seconds - self._begun)
        sys.stderr.write(f"\r\x1b[K{line[: _columns() - 1]}")
        sys.stderr.flush()

    def _line(self, done: float, iterations: int | None, seconds: float) -> str:
        """`████····  40%  0:12 left  400,000 of 1,000,000  5,120 iterations/s`."""
        part = min(1.0, max(0.0, done / self._whole))
        left = seconds * (1 - part) / part if part > 0 else float("inf")
        bar = self._full * round(self.BAR * part)
        form = ",.0f" if self._whole >= 1000 else ".3g"
        facts = [f"{bar:{self._empty}<{self.BAR}} {part:4.0%}", f"{_duration(left)} left"]
        facts.append(f"{done:{form}} of {self._whole:{form}}{self._unit}")
        if iterations is not None and seconds > 0:
            facts.append(f"{iterations / seconds:,.0f} iterations/s")
        return "  ".join(facts)

    def __enter__(self) -> Progress:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._shown:
            sys.stderr.write("\r\x1b[K")
            sys.stderr.flush()


def _columns() -> int:
    """The width of the terminal; a line that is wider could not be taken back."""
    try:
        return os.get_terminal_size(sys.stderr.fileno()).columns or 80
    except (OSError, ValueError):
        return 80


def _duration(seconds: float) -> str:
    if seconds >= 86400:
        return "days"
    minutes, rest = divmod(int(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{rest:02}" if hours else f"{minutes}:{rest:02}"
