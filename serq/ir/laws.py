"""The laws of draws: which parameters have a meaning, and what is expected of a draw.

How many parameters each takes is in `serq.ir.moments.LAWS`; how a value is drawn, in
`serq.machine.draws`.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from math import inf

from serq.source import SourceFile, Span

MOST_STAGES = 1_000_000
"""Exponentials that `~erlang` may sum, which it does one by one."""

MOST_COUNT = 1_000_000
"""Largest mean of `~poisson` and number of trials of `~binomial`: their search takes about √m steps."""

LEAST_SHAPE = 0.01
"""Smallest shape of `~gamma` and `~weibull`; below it nearly every draw would be too small for a double."""

LEAST_CHANCE = 1e-15
"""Smallest probability of `~geometric`: the wait for a success has to be a whole number."""

LEAST_ALPHA = 0.1
"""Smallest exponent of `~pareto`; below it draws would be too large for a double."""

MOST_VARIATION = 1e6
"""Largest coefficient of variation of `~lognormal`; nothing real comes near."""

ROUNDING = 1e-9
"""How far from 1 the probabilities of a table may sum."""

Parameters = Sequence[float | None]
"""Of a draw; None for one that is not known yet."""


def law_fault(law: str, parameters: Parameters) -> str | None:
    """What is wrong with the parameters of a draw, or None."""
    match law, parameters:
        case "exp", (mean,):
            return _mean_fault(mean)
        case "uniform", (a, b):
            if any(end is not None and not -inf < end < inf for end in (a, b)):
                return "its ends are finite numbers"
            if a is not None and b is not None and a > b:
                return "its lower end comes first"
        case "erlang", (k, mean):
            if k is not None and not 1 <= k <= MOST_STAGES:
                return f"it sums from 1 to {MOST_STAGES} exponentials"
            return _mean_fault(mean)
        case "h2", (mean, variation):
            if variation is not None and variation != variation:
                return "its squared variation is a number"
            return _mean_fault(mean)
        case "bernoulli", (p,):
            return _chance_fault(p)
        case "poisson", (mean,):
            if mean is not None and not 0 <= mean <= MOST_COUNT:
                return f"its mean is a number from 0 to {MOST_COUNT}"
        case "binomial", (n, p):
            if n is not None and not (0 <= n <= MOST_COUNT and n == int(n)):
                return f"its number of trials is whole, from 0 to {MOST_COUNT}"
            return _chance_fault(p)
        case "geometric", (p,):
            if p is not None and not LEAST_CHANCE <= p <= 1:
                return f"its probability of a success is a number from {LEAST_CHANCE:g} to 1"
        case "gamma" | "weibull", (shape, mean):
            if shape is not None and not LEAST_SHAPE <= shape < inf:
                return f"its shape is a finite number, at least {LEAST_SHAPE:g}"
            return _mean_fault(mean)
        case "lognormal", (mean, cv):
            if cv is not None and not 0 <= cv <= MOST_VARIATION:
                return f"its coefficient of variation is a number from 0 to {MOST_VARIATION:g}"
            return _mean_fault(mean)
        case "pareto", (alpha, least):
            if alpha is not None and not LEAST_ALPHA <= alpha < inf:
                return f"its exponent is a finite number, at least {LEAST_ALPHA:g}"
            if least is not None and not 0 <= least < inf:
                return "its least value is a finite number, at least 0"
        case "table", _:
            return _table_fault(parameters)
    return None


def law_mean(law: str, parameters: Sequence[float]) -> float | None:
    """The expectation of a draw with parameters that have a meaning; None for samples from a file."""
    match law, parameters:
        case "exp" | "det" | "poisson" | "bernoulli", (mean,):
            return mean
        case "erlang" | "gamma" | "weibull", (_, mean):
            return mean
        case "h2" | "lognormal", (mean, _):
            return mean
        case "uniform", (a, b):
            return (a + b) / 2
        case "binomial", (n, p):
            return n * p
        case "geometric", (p,):
            return 1 / p
        case "pareto", (alpha, least):
            return alpha * least / (alpha - 1) if alpha > 1 else inf
        case "table", _:
            return math.fsum(v * p for v, p in zip(parameters[::2], parameters[1::2], strict=True))
    return None


def show_draw(law: str, parameters: Sequence[str], at: Span | None, source: SourceFile | None) -> str:
    """A draw as its program writes it, from the parameters, each shown already.

    at: its place; source: of its program, None if that is not known. `branch with (p)` is `~bernoulli(p)`.
    """
    if law == "table":
        parameters = [f"{v}: {p}" for v, p in zip(parameters[::2], parameters[1::2], strict=True)]
    within = ", ".join(parameters)
    text = "~"
    if at is not None and source is not None and at.file in ("", source.name):
        text = source.line(at.line)[at.column - 1 :]
    is_branch = law == "bernoulli" and not text.startswith("~")
    return f"branch with ({within})" if is_branch else f"~{law}({within})"


def _mean_fault(mean: float | None) -> str | None:
    if mean is not None and not 0 <= mean < inf:
        return "a mean is a finite number, at least 0"
    return None


def _chance_fault(p: float | None) -> str | None:
    if p is not None and not 0 <= p <= 1:
        return "a probability is a number from 0 to 1"
    return None


def _table_fault(parameters: Parameters) -> str | None:
    """Values are finite; probabilities are some, and sum to 1 if all are known."""
    if any(value is not None and not -inf < value < inf for value in parameters[::2]):
        return "its values are finite numbers"
    chances = [p for p in parameters[1::2] if p is not None]
    for p in chances:
        if fault := _chance_fault(p):
            return fault
    total = math.fsum(chances)
    if len(chances) == len(parameters) // 2 and not abs(total - 1) <= ROUNDING:
        return f"its probabilities sum to {total:.10g}, and they have to sum to 1"
    return None
