"""Random streams: what each draw depends on, so that two schedules under one seed meet the same requests.

Generator: numpy's PCG64 seeded by `SeedSequence(entropy=seed, spawn_key=(source, *ids))`, which numpy
keeps the same on every platform. Streams (semantics, section 11): arrivals, trace and machine per run;
workload per (session, turn); session per session; leg per (session, leg).
"""

from __future__ import annotations

import math
from collections.abc import Callable

SOURCES = {"arrivals": 0, "trace": 1, "machine": 2, "workload": 3, "session": 4, "leg": 5}


class Stream:
    """The draws from one source. The generator is made at the first draw: most streams never draw.

    Parameters are not checked here, as the language defines (a negative mean gives negative values).
    """

    __slots__ = ("_key", "_seed", "_uniform")

    def __init__(self, seed: int, source: str, *ids: int) -> None:
        self._seed = seed
        self._key = (SOURCES[source], *ids)
        self._uniform: Callable[[], float] | None = None

    def uniform01(self) -> float:
        """Uniform on [0, 1)."""
        if self._uniform is None:
            from numpy.random import PCG64, Generator, SeedSequence

            bits = PCG64(SeedSequence(self._seed, spawn_key=self._key))
            self._uniform = Generator(bits).random
        return self._uniform()

    def exp(self, mean: float) -> float:
        """Exponential of the given mean, -m ln(1 - U)."""
        return -mean * math.log1p(-self.uniform01())

    def det(self, x: float) -> float:
        """x itself; a draw for every check."""
        return x

    def uniform(self, a: float, b: float) -> float:
        """a + (b - a) U."""
        return a + (b - a) * self.uniform01()

    def erlang(self, k: float, mean: float) -> float:
        """Sum of max(1, floor(k)) exponentials of mean m/k each."""
        if not 1 <= k < math.inf:
            k = 1.0 if not k >= 1 else k
        stages = max(1, math.floor(k)) if k < math.inf else 1
        return sum(self.exp(mean / k) for _ in range(stages))

    def h2(self, mean: float, variance: float) -> float:
        """Two-phase hyperexponential with balanced means; `variance` is the squared variation, at least 1."""
        v = max(variance, 1.0)
        p = (1.0 + math.sqrt((v - 1.0) / (v + 1.0))) / 2.0 if v < math.inf else 1.0
        weight = p if self.uniform01() < p else 1.0 - p
        return self.exp(mean / (2.0 * weight)) if weight > 0 else math.inf

    def bernoulli(self, p: float) -> float:
        """1 with probability p, else 0."""
        return 1.0 if self.uniform01() < p else 0.0
