"""Random streams: what each draw depends on, so that two schedules under one seed meet the same requests.

Generator: numpy's Philox, whose output is a function of a key (made from the seed by `SeedSequence`) and
a counter, the same on every platform. Streams (semantics, section 11): arrivals, trace and machine per
run; workload per (session, turn); session per session; leg per (session, leg). The counters of sessions
that follow each other follow each other, so that the first draws of many are made at once.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from functools import lru_cache
from itertools import chain
from math import inf
from typing import Any

from serq.ir.laws import MOST_STAGES, law_fault
from serq.machine import laws
from serq.source import Span

SOURCES = {"arrivals": 0, "trace": 1, "machine": 2, "workload": 3, "session": 4, "leg": 5}

FIRST = 16
"""Draws of a stream that are made along with those of its neighbours: four for each count."""
TOGETHER = 256
"""Streams whose first draws are made at once."""


@lru_cache(maxsize=8)
def key_of(seed: int) -> Any:
    """The two words of 64 bits that tell the generators of a seed from all others."""
    from numpy import uint64
    from numpy.random import SeedSequence

    return SeedSequence(seed).generate_state(2, uint64)


def _generator(seed: int, *counter: int) -> Any:
    from numpy import array, uint64
    from numpy.random import Generator, Philox

    return Generator(Philox(key=key_of(seed), counter=array(counter, uint64)))


@lru_cache(maxsize=64)
def _together(seed: int, source: int, part: int, block: int) -> list[float]:
    """The first draws of the streams of neighbouring sessions; part: their turn or leg."""
    made = _generator(seed, block * TOGETHER * (FIRST // 4), part, source, 0)
    values: list[float] = made.random(TOGETHER * FIRST).tolist()
    return values


def _later(seed: int, source: int, serial: int, part: int) -> Iterator[float]:
    """All further draws of a stream."""
    made = _generator(seed, 0, serial, part, 1 + source)
    while True:
        yield from made.random(FIRST).tolist()


def _uniforms(seed: int, source: int, serial: int | None, part: int) -> Iterator[float]:
    """The draws of a stream, uniform on [0, 1); serial: None for a stream of the whole run."""
    if serial is None:
        return _later(seed, source, 0, 0)
    block, at = divmod(serial, TOGETHER)
    first = _together(seed, source, part, block)[at * FIRST : (at + 1) * FIRST]
    return chain(first, _later(seed, source, serial, part))


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
    """The draws from one source. Nothing is made before the first draw: most streams never draw.

    serial, part: of a session, and its turn or leg; None for a source of the whole run. `at` is where a
    draw is written, for the message about parameters outside its law (`OutsideLaw`).
    """

    __slots__ = ("_next", "_part", "_seed", "_serial", "_source")

    def __init__(self, seed: int, source: str, serial: int | None = None, part: int = 0) -> None:
        self._seed = seed
        self._source = SOURCES[source]
        self._serial = serial
        self._part = part
        self._next: Callable[[], float] | None = None

    def uniform01(self) -> float:
        """Uniform on [0, 1)."""
        if self._next is None:
            self._next = _uniforms(self._seed, self._source, self._serial, self._part).__next__
        return self._next()

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
        total = 0.0
        for _ in range(math.floor(k)):  # `sum` rounds in another way in each version of Python.
            total += self._exponential(mean / k)
        return total

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

    def poisson(self, mean: float, at: Span | None = None) -> float:
        """The number of points of a Poisson process in a time that brings `mean` of them on average."""
        self._check("poisson", (mean,), at)
        return float(laws.poisson(self.uniform01(), mean))

    def binomial(self, n: float, p: float, at: Span | None = None) -> float:
        """Successes among n trials, each with probability p."""
        self._check("binomial", (n, p), at)
        return float(laws.binomial(self.uniform01(), int(n), p))

    def geometric(self, p: float, at: Span | None = None) -> float:
        """Trials up to and including the first success: 1 + floor(ln(1 - U) / ln(1 - p))."""
        self._check("geometric", (p,), at)
        u = self.uniform01()
        return 1.0 if p == 1 else 1.0 + math.floor(math.log1p(-u) / math.log1p(-p))

    def gamma(self, shape: float, mean: float, at: Span | None = None) -> float:
        """Gamma of the given mean, with squared coefficient of variation 1/shape."""
        self._check("gamma", (shape, mean), at)
        drawn = laws.gamma(self.uniform01, shape) * (mean / shape)
        return drawn or (laws.LEAST_POSITIVE if mean > 0 else 0.0)

    def lognormal(self, mean: float, cv: float, at: Span | None = None) -> float:
        """exp(N) of the given mean and coefficient of variation: N has variance s = ln(1 + cv^2)."""
        self._check("lognormal", (mean, cv), at)
        s = math.log1p(cv * cv)
        return mean * math.exp(math.sqrt(s) * laws.normal(self.uniform01()) - s / 2)

    def weibull(self, shape: float, mean: float, at: Span | None = None) -> float:
        """mean / Gamma(1 + 1/shape) times (-ln(1 - U))^(1/shape)."""
        self._check("weibull", (shape, mean), at)
        stretched: float = (-math.log1p(-self.uniform01())) ** (1 / shape)
        return mean / math.gamma(1 + 1 / shape) * stretched

    def pareto(self, alpha: float, least: float, at: Span | None = None) -> float:
        """At least `least`, above x with probability (least/x)^alpha: least (1 - U)^(-1/alpha)."""
        self._check("pareto", (alpha, least), at)
        above: float = (1 - self.uniform01()) ** (-1 / alpha)
        return least * above

    def table(self, parameters: tuple[float, ...], at: Span | None = None) -> float:
        """A value of a table whose parameters are not constant: value, probability, value, …"""
        self._check("table", parameters, at)
        return laws.Table(parameters).at(self.uniform01())

    def pick(self, source: laws.Table | laws.Recorded) -> float:
        """A value of a constant table, or a sample of a file."""
        return source.at(self.uniform01())

    def _check(self, law: str, parameters: tuple[float, ...], at: Span | None) -> None:
        if law_fault(law, parameters) is not None:
            self._refuse(law, parameters, at)

    def _refuse(self, law: str, parameters: tuple[float, ...], at: Span | None) -> None:
        raise OutsideLaw(law, parameters, law_fault(law, parameters) or "", at, self._serial)
