"""Arithmetic of the language: IEEE doubles that never raise.

Python raises on division by zero, on overflow in `**` and on domains of logarithms; the language
gives infinities and not-a-number instead. Each function takes and returns floats.
"""

from __future__ import annotations

import math
from collections.abc import Callable

INF = math.inf
NAN = math.nan
DONE = 1e-9
"""Tokens: a run that needs no more than this is done; it is what rounding leaves of a subtraction."""


def divide(a: float, b: float) -> float:
    """a / b; x/0 is an infinity, 0/0 not a number."""
    try:
        return a / b
    except ZeroDivisionError:
        if a == 0 or a != a:
            return NAN
        return math.copysign(INF, a) * math.copysign(1.0, b)


def power(a: float, b: float) -> float:
    """a ^ b as IEEE pow: overflow is infinite, a negative base with a fractional exponent is NaN."""
    try:
        return math.pow(a, b)
    except OverflowError:
        return -INF if a < 0 and b % 2 == 1 else INF
    except ValueError:
        if a == 0:  # 0 ^ negative
            return math.copysign(INF, a) if b % 2 == 1 else INF
        return NAN


def floor(x: float) -> float:
    """The largest whole number not above x; infinities and NaN stay."""
    return float(math.floor(x)) if -INF < x < INF else x


def ceil(x: float) -> float:
    """The smallest whole number not below x; infinities and NaN stay."""
    return float(math.ceil(x)) if -INF < x < INF else x


def minimum(a: float, b: float) -> float:
    """The smaller; a value that is not a number gives way to the other."""
    return a if a < b or b != b else b


def maximum(a: float, b: float) -> float:
    """The larger; a value that is not a number gives way to the other."""
    return a if a > b or b != b else b


def sqrt(x: float) -> float:
    """The square root; of a negative number it is not a number."""
    return math.sqrt(x) if x >= 0 else NAN


def exp(x: float) -> float:
    """e to the power x; overflow is infinite."""
    try:
        return math.exp(x)
    except OverflowError:
        return INF


def ln(x: float) -> float:
    """The natural logarithm; -inf at 0, not a number below."""
    if x > 0:
        return math.log(x)
    return -INF if x == 0 else NAN


FUNCTIONS: dict[str, Callable[..., float]] = {
    "min": minimum,
    "max": maximum,
    "abs": abs,
    "floor": floor,
    "ceil": ceil,
    "sqrt": sqrt,
    "exp": exp,
    "ln": ln,
}
"""The language's functions by name."""


def is_whole(x: float) -> bool:
    """Whether x is a finite whole number that a double holds exactly with its neighbours."""
    return -9007199254740992.0 <= x <= 9007199254740992.0 and x == math.floor(x)


def show(x: float) -> str:
    """A number as messages write it: whole numbers without a point."""
    if -1e15 < x < 1e15 and x == int(x):
        return str(int(x))
    return repr(float(x))
