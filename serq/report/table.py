"""Aligned tables for people: what the text report is made of."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from decimal import ROUND_CEILING, Decimal
from typing import Generic, TypeVar

from attrs import frozen

GUTTER = "  "

Row = TypeVar("Row")


@frozen
class Column(Generic[Row]):
    """A column of figures: its heading, the figure of a row, and whether it may be left out when empty."""

    heading: str
    figure: Callable[[Row], float | None]
    optional: bool = False


def show_figures(heading: str, rows: Sequence[tuple[str, Row]], columns: Iterable[Column[Row]]) -> str:
    """A table of figures, one line per named row; optional columns that say nothing are left out."""
    shown = [c for c in columns if not c.optional or any(c.figure(row) for _, row in rows)]
    return show_table(
        [heading, *(c.heading for c in shown)],
        [[name, *(show_number(c.figure(row)) for c in shown)] for name, row in rows],
        left=1,
    )


def show_table(headings: Sequence[str], rows: Iterable[Sequence[str]], left: int) -> str:
    """Lines with the cells of each column under each other: the first `left` columns flush left."""
    lines = [headings, *rows]
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]

    def line(cells: Sequence[str]) -> str:
        padded = (
            cell.ljust(width) if i < left else cell.rjust(width)
            for i, (cell, width) in enumerate(zip(cells, widths, strict=True))
        )
        return GUTTER.join(padded).rstrip()

    return "\n".join(map(line, lines))


def show_number(x: float | None) -> str:
    """A figure for people: whole numbers in full, others to six digits and never less than their whole part.

    Nothing for None and for what is not finite, which JSON has as null.
    """
    if x is None or not math.isfinite(x):
        return ""
    size = abs(x)
    if size < 1e15 and x == int(x):
        return str(int(x))
    if not 1e-4 <= size < 1e15:
        return f"{x:.6g}"
    decimals = max(0, 5 - math.floor(math.log10(size)))
    text = f"{x:.{decimals}f}"
    return text.rstrip("0").rstrip(".") if decimals else text


ROUNDING = 1e-12
"""Relative to a mean: what is smaller comes from the digits of a double, not from the seeds."""


def above_rounding(spread: float | None, mean: float) -> float | None:
    """The spread of a figure; 0 for one that is rounding."""
    return 0.0 if spread is not None and spread <= ROUNDING * abs(mean) else spread


def show_count(n: int, what: str) -> str:
    """`1 session`, `2 sessions`."""
    return f"{n} {what}" if n == 1 else f"{n} {what}s"


def show_percent(part: float) -> str:
    """`95 %`: four digits, or as many as tell a part from the whole."""
    digits = next(d for d in range(4, 18) if part == 1 or f"{100 * part:.{d}g}" != "100")
    return f"{100 * part:.{digits}g} %"


def show_bound(x: float, digits: int = 3) -> str:
    """An upper bound to so many digits: rounded up, for below it would be none."""
    exact = Decimal(repr(x))
    if not exact:
        return "0"
    unit = Decimal(1).scaleb(exact.adjusted() - digits + 1)
    return f"{float(exact.quantize(unit, ROUND_CEILING)):.{digits}g}"
