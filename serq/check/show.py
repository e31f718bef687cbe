"""Numbers and counts as messages write them."""

from __future__ import annotations

import math


def count(n: int, noun: str) -> str:
    """`1 argument`, `2 arguments`."""
    return f"{n} {noun}" if n == 1 else f"{n} {noun}s"


def article(noun: str) -> str:
    """`a pool`, `an engine`."""
    return f"an {noun}" if noun[0] in "aeio" else f"a {noun}"


def number(x: float) -> str:
    """A number as an author would write it."""
    if x != x:
        return "NaN"
    if math.isinf(x):
        return "inf" if x > 0 else "-inf"
    return str(int(x)) if x == int(x) and abs(x) < 1e15 else repr(float(x))
