"""Ranges of expressions: whether a duration is above 0 for every batch.

Only for expressions that `terms` can translate.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from fractions import Fraction
from typing import TypeAlias

from serq.diagnostics import InternalError
from serq.ir.expr import Binary, Conditional, Expr, Fold, Func, Num, Unary, children
from serq.lean.terms import spelling

Bound: TypeAlias = Fraction | float
"""Exact, or one of the two infinities."""

Range: TypeAlias = tuple[Bound, Bound]
"""Every value lies between the two, ends included."""


def batch_ranges(budget: int, registers: Iterable[str] = ()) -> tuple[Mapping[str, Range], ...]:
    """What `execute` can read of a batch under a budget of tokens, in two cases that cover all.

    A batch has a prefill token or a decode. One range for each reading could not say so, and
    `a * batch.prefilled + b * batch.decoding` would seem to reach 0.
    """

    def case(prefilled: int, decoding: int) -> dict[str, Range]:
        most = Fraction(budget)
        return {
            "batch.tokens": (Fraction(1), most),
            "batch.prefilled": (Fraction(prefilled), most),
            "batch.decoding": (Fraction(decoding), most),
            "running.count": (Fraction(1), math.inf),
            "waiting.count": (Fraction(0), math.inf),
            **dict.fromkeys(registers, (-math.inf, math.inf)),
        }

    return case(prefilled=1, decoding=0), case(prefilled=0, decoding=1)


def range_of(e: Expr, readings: Mapping[str, Range]) -> Range:
    """A range that holds every value of `e`, when its readings lie in theirs."""
    inner = [range_of(x, readings) for x in children(e)]
    match e:
        case Num(value=value):
            return Fraction(value), Fraction(value)
        case Unary(operator="-"):
            ((low, high),) = inner
            return -high, -low
        case Unary():
            return Fraction(0), Fraction(1)
        case Binary(operator="*"):
            return _product(*inner)
        case Binary(operator="/"):
            inverse = 1 / inner[1][0]
            return _product(inner[0], (inverse, inverse))
        case Binary(operator="+"):
            return _sum(inner)
        case Binary(operator="-"):
            low, high = inner[1]
            return _sum([inner[0], (-high, -low)])
        case Binary():
            return Fraction(0), Fraction(1)
        case Fold(kind="sum"):
            return _sum(inner)
        case Func(function="min") | Fold(kind="min"):
            return min(low for low, _ in inner), min(high for _, high in inner)
        case Func(function="max") | Fold(kind="max"):
            return max(low for low, _ in inner), max(high for _, high in inner)
        case Func(function="abs"):
            ((low, high),) = inner
            return max(low, -high, Fraction(0)), max(-low, high)
        case Func(function=function):
            ((low, high),) = inner
            return rounded(function, low), rounded(function, high)
        case Conditional():
            outcomes = inner[1:]
            return min(low for low, _ in outcomes), max(high for _, high in outcomes)
    try:
        return readings[spelling(e)]
    except KeyError:
        raise InternalError(f"no range for {spelling(e)}") from None


def rounded(function: str, x: Bound) -> Bound:
    """`floor` or `ceil` of an end of a range."""
    if math.isinf(x):
        return x
    return Fraction(math.ceil(x) if function == "ceil" else math.floor(x))


def _sum(ranges: list[Range]) -> Range:
    return sum((low for low, _ in ranges), Fraction(0)), sum((high for _, high in ranges), Fraction(0))


def _product(a: Range, b: Range) -> Range:
    # 0 times an infinity is 0 here: the other factor is finite, however large.
    corners = [x * y if x and y else Fraction(0) for x in a for y in b]
    return min(corners), max(corners)
