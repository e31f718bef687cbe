"""A line on the terminal while a long run goes on."""

from __future__ import annotations

import sys
import time
from types import TracebackType


class Progress:
    """Shows how far a run has come, on a terminal, once it has taken a while.

    Called with the clock; as a context manager it leaves the terminal as it was.
    """

    PATIENCE = 2.0
    """Seconds before anything is shown."""
    INTERVAL = 0.2
    """Seconds between two changes of the line."""

    def __init__(self, horizon: float) -> None:
        """horizon: clock units, > 0."""
        self._horizon = horizon
        self._begun = time.monotonic()
        self._next = self._begun + self.PATIENCE
        self._shown = False
        self._terminal = sys.stderr.isatty()

    def __call__(self, now: float) -> None:
        """Take note that the run has reached `now`."""
        seconds = time.monotonic()
        if not self._terminal or seconds < self._next:
            return
        self._next = seconds + self.INTERVAL
        self._shown = True
        done = min(1.0, max(0.0, now / self._horizon))
        left = (seconds - self._begun) * (1 - done) / done if done > 0 else float("inf")
        bar = "█" * round(24 * done)
        sys.stderr.write(f"\r\x1b[K{bar:·<24} {done:4.0%}  {_duration(left)} left")
        sys.stderr.flush()

    def __enter__(self) -> Progress:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._shown:
            sys.stderr.write("\r\x1b[K")
            sys.stderr.flush()


def _duration(seconds: float) -> str:
    if seconds >= 86400:
        return "days"
    minutes, rest = divmod(int(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{rest:02}" if hours else f"{minutes}:{rest:02}"
