"""Random streams: what each draw depends on, so that two schedules under one seed meet the same requests.

Generator: numpy's PCG64 seeded by `SeedSequence(entropy=seed, spawn_key=(source, *ids))`, which numpy
keeps the same on every platform. Streams (semantics, section 11): arrivals, trace and machine per run;
workload per (session, turn); session per session; leg per (session, leg).
"""

from __future__ import annotations

import math
from collections.abc import Callable
from math import inf

from serq.ir.laws import MOST_STAGES, law_fault
from serq.source import Span

SOURCES = {"arrivals": 0, "trace": 1, "machine": 2, "workload": 3, "session": 4, "leg": 5}


class OutsideLaw(Exception):
    """A draw whose parameters have no meaning; the machine says so with the time (SQ0621).

    at: where the draw is written, None if the stream was not told. serial: the session that draws.
    """

    def __init__(
        self, law: str, parameters: tuple[float, ...], fault: str, at: Span | None, serial: int | None
    ) -> None:
        super().__init__(f"~{law}{parameters}: {fault}")
        self.law = law
        self.parameters = parameters
        self.fault = fault
        self.at = at
        self.serial = serial


class Stream:
    """The draws from one source. The generator is made at the first draw: most streams never draw.

    `at` is where a draw is written, for the message about parameters outside its law (`OutsideLaw`).
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

    def exp(self, mean: float, at: Span | None = None) -> float:
        """Exponential of the given mean, -m ln(1 - U)."""
        if not 0 <= mean < inf:
            self._refuse("exp", (mean,), at)
        return self._exponential(mean)

    def _exponential(self, mean: float) -> float:
        return -mean * math.log1p(-self.uniform01())

    def det(self, x: float, at: Span | None = None) -> float:
        """x itself; a draw for every check."""
        return x

    def uniform(self, a: float, b: float, at: Span | None = None) -> float:
        """a + (b - a) U."""
        if not -inf < a <= b < inf:
            self._refuse("uniform", (a, b), at)
        return a + (b - a) * self.uniform01()

    def erlang(self, k: float, mean: float, at: Span | None = None) -> float:
        """Sum of floor(k) exponentials of mean m/k each."""
        if not (1 <= k <= MOST_STAGES and 0 <= mean < inf):
            self._refuse("erlang", (k, mean), at)
        return sum(self._exponential(mean / k) for _ in range(math.floor(k)))

    def h2(self, mean: float, variance: float, at: Span | None = None) -> float:
        """Two-phase hyperexponential with balanced means; `variance` is the squared variation, at least 1."""
        if not 0 <= mean < inf or variance != variance:
            self._refuse("h2", (mean, variance), at)
        v = max(variance, 1.0)
        p = (1.0 + math.sqrt((v - 1.0) / (v + 1.0))) / 2.0 if v < inf else 1.0
        weight = p if self.uniform01() < p else 1.0 - p
        return self._exponential(mean / (2.0 * weight)) if weight > 0 else inf

    def bernoulli(self, p: float, at: Span | None = None) -> float:
        """1 with probability p, else 0."""
        if not 0 <= p <= 1:
            self._refuse("bernoulli", (p,), at)
        return 1.0 if self.uniform01() < p else 0.0

    def _refuse(self, law: str, parameters: tuple[float, ...], at: Span | None) -> None:
        source, *ids = self._key
        serial = ids[0] if source in (SOURCES["workload"], SOURCES["session"], SOURCES["leg"]) else None
        raise OutsideLaw(law, parameters, law_fault(law, parameters) or "", at, serial)
