"""Laws whose draws take more than a formula, and the samples of a file.

Every draw is made of uniform numbers on [0, 1) from the stream that asks; one uniform number unless
the function says otherwise.
"""

from __future__ import annotations

import math
import os
from array import array
from bisect import bisect_right
from collections.abc import Callable, Sequence
from itertools import accumulate
from pathlib import Path
from statistics import NormalDist
from typing import Any, NoReturn

from serq.diagnostics import Note, ProgramError, diagnose
from serq.ir.expr import Draw
from serq.longfiles import NotTextError, open_chunks, text_blocks
from serq.source import SourceFile, Span

LEAST = 2.0**-54
"""Stands for a uniform number that is 0 where a logarithm or a quantile needs one above it."""

LEAST_POSITIVE = 5e-324
"""What a draw that is above 0 in principle is at least, however much it is rounded."""

_STANDARD = NormalDist()


def normal(u: float) -> float:
    """Standard normal, the quantile at u (Wichura, AS 241, Applied Statistics 37, 1988)."""
    return _STANDARD.inv_cdf(u or LEAST)


def gamma(uniform: Callable[[], float], shape: float) -> float:
    """Gamma with scale 1: rejection from a cubed normal, a few uniform numbers.

    Marsaglia and Tsang, "A simple method for generating gamma variables", ACM TOMS 26 (2000); a shape
    below 1 by a draw of shape + 1 times U^(1/shape), as they say.
    """
    if shape < 1:
        whole = gamma(uniform, shape + 1)
        power: float = (uniform() or LEAST) ** (1 / shape)
        return whole * power
    d = shape - 1 / 3
    c = 1 / math.sqrt(9 * d)
    while True:
        x = normal(uniform())
        v = (1 + c * x) ** 3
        if v > 0 and math.log(uniform() or LEAST) < 0.5 * x * x + d - d * v + d * math.log(v):
            return d * v


def poisson(u: float, mean: float) -> int:
    """Poisson, for a mean of 0 or more."""
    if mean == 0:
        return 0
    mode = math.floor(mean)
    height = math.exp(mode * math.log(mean) - mean - math.lgamma(mode + 1))
    return _search(u, mode, height, lambda k: mean / (k + 1), lambda k: k / mean)


def binomial(u: float, n: int, p: float) -> int:
    """Binomial: successes among n trials of probability p."""
    if p > 0.5:
        return n - binomial(u, n, 1 - p)
    if p == 0 or n == 0:
        return 0
    odds = p / (1 - p)
    mode = math.floor((n + 1) * p)
    ways = math.lgamma(n + 1) - math.lgamma(mode + 1) - math.lgamma(n - mode + 1)
    height = math.exp(ways + mode * math.log(p) + (n - mode) * math.log1p(-p))
    return _search(
        u, mode, height, lambda k: (n - k) / (k + 1) * odds, lambda k: k / ((n - k + 1) * odds)
    )  # fmt: skip


def _search(
    u: float, mode: int, height: float, up: Callable[[int], float], down: Callable[[int], float]
) -> int:
    """Inversion by sequential search from the mode outwards: the value at which u is used up.

    height: the probability of the mode; up(k), down(k): those of k + 1 and k - 1 over that of k.
    Exact whatever the order of the search; from the mode it takes about a standard deviation of steps.
    Source: Devroye, Non-Uniform Random Variate Generation, Springer 1986, section III.2.
    """
    u -= height
    if u < 0:
        return mode
    above = below = mode
    high = low = height
    while high > 0 or low > 0:
        high *= up(above)
        above += 1
        u -= high
        if u < 0:
            return above
        if below > 0:
            low *= down(below)
            below -= 1
            u -= low
            if u < 0:
                return below
        else:
            low = 0.0
    return mode  # What rounding leaves of the sum of all probabilities.


class Table:
    """Values with probabilities that sum to 1: the first value whose cumulative probability is above U."""

    __slots__ = ("_cumulative", "_values")

    def __init__(self, parameters: Sequence[float]) -> None:
        """parameters: value, probability, value, …"""
        pairs = [(v, p) for v, p in zip(parameters[::2], parameters[1::2], strict=True) if p > 0]
        self._values = [v for v, _ in pairs]
        # The last value takes what rounding leaves.
        self._cumulative = list(accumulate(p for _, p in pairs))[:-1]

    def at(self, u: float) -> float:
        """The value at u."""
        return self._values[bisect_right(self._cumulative, u)]


class Recorded:
    """Samples of a file, each as likely as any other: the one at ⌊n U⌋."""

    __slots__ = ("_samples",)

    def __init__(self, samples: Sequence[float]) -> None:
        self._samples = samples

    def at(self, u: float) -> float:
        """The sample at u."""
        return self._samples[int(u * len(self._samples))]


# ---------------------------------------------------------------- samples of a file


def read_samples(draw: Draw, program_file: str) -> array[float]:
    """The numbers of an `~empirical("FILE")`: one on each line, under a heading or not.

    A heading begins as a name does: a number with a fault in it is none. Empty lines are passed over; a
    file packed with gzip is unpacked. Raises ProgramError with the place in the file (SQ0626 to SQ0628).
    """
    assert draw.file is not None
    path = Path(program_file).parent / draw.file
    samples: array[float] = array("d")
    try:
        with open_chunks(path) as chunks:
            for first, text in text_blocks(chunks):
                for number, line in enumerate(text.removesuffix("\n").split("\n"), start=first):
                    _take(samples, number, line, draw, str(path))
    except OSError as error:
        reason = os.strerror(error.errno) if error.errno else str(error)
        raise ProgramError([diagnose("SQ0626", draw.at, path=draw.file, reason=reason)]) from error
    except NotTextError as error:
        reason = "it is not UTF-8"
        raise ProgramError([diagnose("SQ0626", draw.at, path=draw.file, reason=reason)]) from error
    if not samples:
        raise ProgramError([diagnose("SQ0628", draw.at, path=draw.file)])
    return samples


def _take(samples: array[float], number: int, line: str, draw: Draw, path: str) -> None:
    """Add the number on a line."""
    text = line.strip()
    if not text:
        return
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if math.isfinite(value) and "_" not in text:
        samples.append(value)
    elif number > 1 or not _is_heading(text):
        _refuse("SQ0627", number, line, draw, path, text=text[:40])


def _is_heading(text: str) -> bool:
    """Whether a first line names the samples: `tokens`, `"prompt length"`, `# of tokens`."""
    name = text.strip("\"'")
    names_number = name.lower() in ("nan", "inf", "infinity")
    return name[:1] in ("_", "#") or (name[:1].isalpha() and not names_number)


def _refuse(code: str, number: int, line: str, draw: Draw, path: str, **facts: Any) -> NoReturn:
    start = len(line) - len(line.lstrip()) + 1
    at = Span(number, start, number, start + len(line.strip()), path)
    notes = [Note("the program reads the file here", draw.at)]
    source = SourceFile(path, line, number)
    raise ProgramError([diagnose(code, at, notes=notes, sources={path: source}, **facts)])
