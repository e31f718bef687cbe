"""A record of every iteration, for whoever wants to look at a run closely or compare two."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

from serq.machine.records import Iteration, Outcome


class Recorded(Protocol):
    """A machine that shows its iterations as they start."""

    on_iteration: list[Callable[[Iteration], None]]


class Recorder:
    """An observer of either machine. `iterations`: those started so far, of all engines."""

    def __init__(self) -> None:
        self.iterations: list[Iteration] = []

    def watch(self, machine: Recorded) -> None:
        """Ask to see every iteration."""
        machine.on_iteration.append(self.iterations.append)

    def finish(self, machine: Recorded) -> list[Outcome]:
        """A recorder judges nothing."""
        return []
