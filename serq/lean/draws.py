"""What a draw may be: a range that holds every value, and which values are possible.

A statement speaks of every value in the range, so that what is proved holds for the law; a witness
takes possible values only, so that it is a run of the program itself. A value is possible when it, or
every interval around it, has a probability above 0, however small.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction

from attrs import frozen

from serq.ir.expr import Binary, Draw, Expr, Num
from serq.lean.bounds import Bound, Range, rounded
from serq.lean.linear import Formula, Linear, NotLinear, Translator, at_most, number, variable
from serq.lean.terms import LARGEST

WHOLE = ("bernoulli", "poisson", "binomial", "geometric")
"""Laws over whole numbers; a table is one as well when its values are."""


@frozen
class Support:
    """Every value of a draw lies from `low` to `high`.

    dense: every interval between the two is possible; every whole number between them, for a law over
    whole numbers. values: the possible ones where they are few; empty otherwise.
    """

    low: Bound
    high: Bound
    dense: bool = False
    values: tuple[Fraction, ...] = ()

    @property
    def range(self) -> Range:
        return self.low, self.high


EVERYTHING = Support(-math.inf, math.inf)


@frozen
class Whole:
    """The whole numbers that a draw may give: none outside `least` to `most`, None for no bound.

    possible: those between these two are, or only `values` where there are some; None if it is not known.
    """

    least: int | None
    most: int | None
    possible: Range | None = None
    values: tuple[int, ...] = ()

    def admits(self, value: int) -> bool:
        """Whether a draw may give `value`."""
        if self.values:
            return value in self.values
        return self.possible is not None and self.possible[0] <= value <= self.possible[1]

    def nearest(self, value: int) -> int | None:
        """The possible value next to `value`; None when it is not known which are."""
        if self.values:
            return min(self.values, key=lambda v: (abs(v - value), v))
        if self.possible is None:
            return None
        return int(max(self.possible[0], min(self.possible[1], value)))


def support(law: str, parameters: Sequence[float | None]) -> Support:
    """The values of a law. parameters: None for one that is not a constant."""
    known = [p for p in parameters if p is not None]
    if len(known) < len(parameters) or law == "empirical":
        return _whatever(law)
    match law, known:
        case "uniform", (a, b) if a < b:
            return Support(Fraction(a), Fraction(b), dense=True)
        case "bernoulli", (p,):
            return _of([v for v, chance in ((0, 1 - p), (1, p)) if chance > 0])
        case "binomial", (n, p) if 0 < p < 1 and n:
            return Support(Fraction(0), Fraction(n), dense=True)
        case "geometric", (p,) if p < 1:
            return Support(Fraction(1), math.inf, dense=True)
        case "pareto", (_, least) if least > 0:
            return Support(Fraction(least), math.inf, dense=True)
        case (("poisson" | "exp"), (mean,)) if mean > 0:
            return Support(Fraction(0), math.inf, dense=True)
        case (("erlang" | "gamma" | "weibull"), (_, mean)) if mean > 0:
            return Support(Fraction(0), math.inf, dense=True)
        case "h2", (mean, _) if mean > 0:
            return Support(Fraction(0), math.inf, dense=True)
        case "lognormal", (mean, variation) if mean > 0 and variation > 0:
            return Support(Fraction(0), math.inf, dense=True)
        case "table", _:
            return _of([v for v, chance in zip(known[::2], known[1::2], strict=True) if chance > 0])
    return _whatever(law)


def _of(values: Sequence[float]) -> Support:
    if not values or not all(map(math.isfinite, values)):
        return EVERYTHING
    found = tuple(sorted({Fraction(v) for v in values}))
    return Support(found[0], found[-1], values=found)


def _whatever(law: str) -> Support:
    """What is true of a law with any parameters."""
    if law in ("uniform", "det", "table", "empirical"):
        return EVERYTHING
    return Support(Fraction(law == "geometric"), Fraction(1) if law == "bernoulli" else math.inf)


def whole_values(law: str, s: Support) -> Whole | None:
    """The values of a draw that is not rounded; None when they may be no whole numbers."""
    if law not in WHOLE and not (s.values and all(v.denominator == 1 for v in s.values)):
        return None
    return _whole("floor", s, whole=True)


def rounded_values(function: str, law: str, s: Support) -> Whole:
    """The values of the `floor` or `ceil` of a draw."""
    return _whole(function, s, whole=law in WHOLE)


def _whole(function: str, s: Support, whole: bool) -> Whole:
    low, high = (rounded(function, x) for x in s.range)
    values = tuple(sorted({int(rounded(function, v)) for v in s.values}))
    possible: Range | None = None
    if s.dense and whole:
        possible = low, high
    elif s.dense and function == "floor":
        # The upper end itself has no probability, the lower one neither.
        possible = low, rounded("ceil", high) - 1
    elif s.dense:
        possible = rounded("floor", s.low) + 1, high
    return Whole(_integer(low), _integer(high), possible, values)


def _integer(x: Bound) -> int | None:
    return int(x) if -LARGEST < x < LARGEST else None


def possible_gaps(e: Expr) -> Range | None:
    """Two ends between which every gap between arrivals is possible; None when they are not known.

    e: a draw, moved or multiplied by constants.
    """
    match e:
        case Draw(law=law, arguments=arguments):
            s = support(law, [x.value if isinstance(x, Num) else None for x in arguments])
            return s.range if s.dense and law not in WHOLE else None
        case Binary(operator="+", left=Num(value=by), right=inner):
            return _moved(inner, by)
        case Binary(operator="+" | "-" as sign, left=inner, right=Num(value=by)):
            return _moved(inner, by if sign == "+" else -by)
        case Binary(operator="*", left=Num(value=by), right=inner):
            return _stretched(inner, by)
        case Binary(operator="*" | "/" as sign, left=inner, right=Num(value=by)):
            return _stretched(inner, by if sign == "*" else 1 / by)
    return None


def _moved(e: Expr, by: float) -> Range | None:
    found = possible_gaps(e)
    return None if found is None else (found[0] + Fraction(by), found[1] + Fraction(by))


def _stretched(e: Expr, by: float) -> Range | None:
    found = possible_gaps(e)
    return None if found is None or by <= 0 else (found[0] * Fraction(by), found[1] * Fraction(by))


@frozen
class Variable:
    """A draw: any of its whole `values`, and any other in their range. law: as the program writes it."""

    name: str
    law: str
    values: Whole

    @property
    def natural(self) -> bool:
        """Whether it is never below 0."""
        return self.values.least is not None and self.values.least >= 0

    @property
    def type(self) -> str:
        """Its type in Lean."""
        return "Nat" if self.natural else "Int"

    @property
    def limits(self) -> list[tuple[str, str]]:
        """What a statement says of it, each with a name for it."""
        least, most = self.values.least, self.values.most
        found = [(f"least_{self.name}", f"{least} ≤ {self.name}")] if least else []
        if most is not None:
            found.append((f"limit_{self.name}", f"{self.name} ≤ {most}"))
        return found

    @property
    def formulas(self) -> list[Formula]:
        """The same for linear arithmetic."""
        x, found = variable(self.name), []
        if self.values.least is not None:
            found.append(at_most(number(self.values.least), x))
        if self.values.most is not None:
            found.append(at_most(x, number(self.values.most)))
        return found


def lengths_of(
    expressions: list[Expr], variables: tuple[Variable, ...]
) -> tuple[list[Linear], list[Formula]] | None:
    """Expressions over draws as sums, with what is true of them; None if they are not linear."""
    translator = Translator({"serial": variable("serial"), **{v.name: variable(v.name) for v in variables}})
    facts = [at_most(number(0), variable("serial"))]
    for v in variables:
        facts += v.formulas
    try:
        values = [translator.number(e) for e in expressions]
    except NotLinear:
        return None
    return values, [*facts, *translator.side]
