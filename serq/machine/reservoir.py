"""A reservoir: so many of a run's samples, each with the same probability, in place of all of them.

Vitter, "Random sampling with a reservoir", ACM TOMS 11 (1985), algorithm R: sample t, counted from 0,
takes the place of one of the N kept with probability N/(t+1). What is kept depends on the seed and on the
samples alone, not on how often it is looked at.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from serq.ir.claim import AtEnd
from serq.ir.expr import Summary, walk
from serq.machine.records import Outcome, Samples

if TYPE_CHECKING:
    from serq.machine.loop import Machine

OFTEN = 4096
"""Samples beyond those kept that may gather before they are looked at."""


class Reservoirs:
    """An observer of a run that keeps `size` samples of each observation and client time.

    Those that a claim at the end adds up are kept whole. Samples before the warm-up count for nothing.
    """

    def __init__(self, size: int, warmup: float, seed: int) -> None:
        self.size = size
        self.warmup = warmup
        self.seed = seed
        self._kept: list[_Reservoir] = []

    def watch(self, machine: Machine) -> None:
        """Begin anew, with the samples of another machine."""
        claims = [claim.value for claim in machine.program.claims if isinstance(claim, AtEnd)]
        whole = {node.observation for e in claims for node in walk(e) if isinstance(node, Summary)}
        series = [*machine.observes.items(), *machine.client.items()]
        self._kept = [
            _Reservoir(samples, self.size, (self.seed, number))
            for number, (name, samples) in enumerate(series)
            if name not in whole
        ]

    def finish(self, machine: Machine) -> list[Outcome]:
        """What is left is put in order of time; nothing is judged."""
        for reservoir in self._kept:
            reservoir.take_in(self.warmup)
            reservoir.sort()
        return []

    def watched(self, progress: Callable[[float, int], None] | None) -> Callable[[float, int], None]:
        """`progress`, which also takes samples in when there are many."""

        def look(now: float, iterations: int) -> None:
            for reservoir in self._kept:
                if len(reservoir.samples.times) > self.size + OFTEN:
                    reservoir.take_in(self.warmup)
            if progress is not None:
                progress(now, iterations)

        return look


class _Reservoir:
    """The samples of one series; `order`: which of all samples each one is."""

    def __init__(self, samples: Samples, size: int, seed: tuple[int, int]) -> None:
        import numpy as np

        self.samples = samples
        self.size = size
        self.order: Any = np.zeros(0, np.int64)
        self._random = np.random.Generator(np.random.Philox(np.random.SeedSequence(seed)))
        samples.seen = 0

    def take_in(self, warmup: float) -> None:
        """Decide about the samples that have come since the last time."""
        import numpy as np

        samples, kept = self.samples, len(self.order)
        columns = [np.array(column) for column in samples.columns()]
        fresh = kept + np.flatnonzero(columns[0][kept:] >= warmup)
        first = samples.seen or 0
        number = np.arange(first, first + len(fresh))
        samples.seen = first + len(fresh)
        # One uniform number for each sample, so that it is the same however many come together.
        place = np.floor(self._random.random(len(fresh)) * (number + 1)).astype(np.int64)
        place[number < self.size] = number[number < self.size]
        stays = place < self.size
        size = min(self.size, samples.seen)
        self.order = np.resize(self.order, size) if kept else np.zeros(size, np.int64)
        self.order[place[stays]] = number[stays]
        for column, values in zip(samples.columns(), columns, strict=True):
            held = np.resize(values[:kept], size) if kept else np.zeros(size, values.dtype)
            held[place[stays]] = values[fresh[stays]]
            del column[:]
            column.frombytes(held.tobytes())

    def sort(self) -> None:
        """In the order in which they were recorded, which intervals rest on."""
        import numpy as np

        order = np.argsort(self.order)
        for column in self.samples.columns():
            held = np.array(column)[order]
            del column[:]
            column.frombytes(held.tobytes())
