"""Linear arithmetic over whole numbers: what follows from what.

A formula is built from expressions of a program; `follows` says whether it is true wherever some
facts are. The method is Fourier's and Motzkin's: pairs of inequalities are added so that a variable
goes away, each divided by its greatest common divisor and rounded, until 0 ≤ -1 is left. Lean's
`omega` does the same and more, so that what is found here it finds as well; what is not found may
still be true.

Min, max, abs, `? :` and tests as numbers are told apart into cases; a rounded quotient is a variable
of its own between its two bounds.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from fractions import Fraction
from functools import reduce
from typing import TypeAlias, Union

from attrs import define, field, frozen

from serq.ir.expr import Binary, Conditional, Expr, Fold, Func, Num, Unary
from serq.lean.terms import spelling

MOST_CASES = 3000
MOST_INEQUALITIES = 400


class NotLinear(Exception):
    """An expression multiplies two things that vary, or has too many cases."""


@frozen
class Linear:
    """A sum of variables with factors, and a constant."""

    factors: Mapping[str, Fraction] = field(factory=dict)
    constant: Fraction = Fraction(0)

    def __add__(self, other: Linear) -> Linear:
        factors = dict(self.factors)
        for name, factor in other.factors.items():
            factors[name] = factors.get(name, Fraction(0)) + factor
        return Linear({n: f for n, f in factors.items() if f}, self.constant + other.constant)

    def __sub__(self, other: Linear) -> Linear:
        return self + other.times(Fraction(-1))

    def times(self, by: Fraction | int) -> Linear:
        if not by:
            return Linear()
        return Linear({n: f * by for n, f in self.factors.items()}, self.constant * by)


def variable(name: str) -> Linear:
    """One variable, which stands for a whole number."""
    return Linear({name: Fraction(1)})


def number(value: Fraction | int) -> Linear:
    """A constant."""
    return Linear({}, Fraction(value))


@frozen
class AtMost0:
    """`x <= 0`."""

    x: Linear


@frozen
class All:
    """Every part is true."""

    parts: tuple[Formula, ...]


@frozen
class Any:
    """Some part is true."""

    parts: tuple[Formula, ...]


Formula: TypeAlias = Union[AtMost0, All, Any]

TRUE, FALSE = All(()), Any(())


def at_most(a: Linear, b: Linear) -> Formula:
    """`a <= b`."""
    return AtMost0(a - b)


def below(a: Linear, b: Linear) -> Formula:
    """`a < b`, of numbers that are whole when multiplied with their common denominator."""
    difference = a - b
    denominator = reduce(
        math.lcm, (f.denominator for f in (*difference.factors.values(), difference.constant)), 1
    )
    return AtMost0(difference + number(Fraction(1, denominator)))


def equal(a: Linear, b: Linear) -> Formula:
    """`a == b`."""
    return All((at_most(a, b), at_most(b, a)))


def negation(f: Formula) -> Formula:
    """`not f`."""
    match f:
        case AtMost0(x=x):
            return below(number(0), x)
        case All(parts=parts):
            return Any(tuple(negation(p) for p in parts))
        case Any(parts=parts):
            return All(tuple(negation(p) for p in parts))


# ------------------------------------------------------------------- translation


@define
class Translator:
    """Translates expressions. side: what is true of the variables that it has brought in."""

    readings: Mapping[str, Linear]
    side: list[Formula] = field(factory=list)
    fresh: int = 0

    def truth(self, e: Expr) -> Formula:
        """`e` where the language wants a test."""
        match e:
            case Unary(operator="!", operand=operand):
                return negation(self.truth(operand))
            case Binary(operator="&&", left=left, right=right):
                return All((self.truth(left), self.truth(right)))
            case Binary(operator="||", left=left, right=right):
                return Any((self.truth(left), self.truth(right)))
            case Binary(operator=sign, left=left, right=right) if sign in _COMPARISONS:
                return _COMPARISONS[sign](self.number(left), self.number(right))
            case Conditional(test=test, then=then, otherwise=otherwise):
                condition = self.truth(test)
                return Any((
                    All((condition, self.truth(then))),
                    All((negation(condition), self.truth(otherwise))),
                ))  # fmt: skip
        value = self.number(e)
        return negation(equal(value, number(0)))

    def number(self, e: Expr) -> Linear:
        """`e` where the language wants a number. Raises NotLinear."""
        match e:
            case Num(value=value):
                if not math.isfinite(value):
                    raise NotLinear
                return number(Fraction(value))
            case Unary(operator="-", operand=operand):
                return self.number(operand).times(-1)
            case Binary(operator="+", left=left, right=right):
                return self.number(left) + self.number(right)
            case Binary(operator="-", left=left, right=right):
                return self.number(left) - self.number(right)
            case Binary(operator="*", left=left, right=right):
                return self._product(self.number(left), self.number(right))
            case Binary(operator="/", left=left, right=right):
                divisor = self.number(right)
                if divisor.factors or not divisor.constant:
                    raise NotLinear
                return self.number(left).times(1 / divisor.constant)
            case Binary() | Unary():
                return self._choice(self.truth(e), number(1), number(0))
            case Conditional(test=test, then=then, otherwise=otherwise):
                return self._choice(self.truth(test), self.number(then), self.number(otherwise))
            case Fold(kind=kind, terms=terms):
                values = [self.number(x) for x in terms]
                if kind == "sum":
                    return reduce(Linear.__add__, values)
                return reduce(lambda a, b: self._extreme(kind, a, b), values)
            case Func(function="min" | "max" as kind, arguments=(a, b)):
                return self._extreme(kind, self.number(a), self.number(b))
            case Func(function="abs", arguments=(a,)):
                inside = self.number(a)
                return self._extreme("max", inside, inside.times(-1))
            case Func(function="ceil" | "floor" as kind, arguments=(a,)):
                return self._rounded(kind, self.number(a))
        return self.readings[spelling(e)]

    def _product(self, a: Linear, b: Linear) -> Linear:
        if a.factors and b.factors:
            raise NotLinear
        return b.times(a.constant) if not a.factors else a.times(b.constant)

    def _fresh(self) -> Linear:
        self.fresh += 1
        return variable(f"?{self.fresh}")

    def _choice(self, condition: Formula, a: Linear, b: Linear) -> Linear:
        """A variable for `condition ? a : b`, counted in parts in which both are whole."""
        if not (a - b).factors and a.constant == b.constant:
            return a
        scale = math.lcm(_denominator(a), _denominator(b))
        value = self._fresh()
        self.side.append(Any((
            All((condition, equal(value, a.times(scale)))),
            All((negation(condition), equal(value, b.times(scale)))),
        )))  # fmt: skip
        return value.times(Fraction(1, scale))

    def _extreme(self, kind: str, a: Linear, b: Linear) -> Linear:
        first = at_most(a, b) if kind == "min" else at_most(b, a)
        return self._choice(first, a, b)

    def _rounded(self, kind: str, a: Linear) -> Linear:
        value = self._fresh()
        # Of all the numbers with this denominator none lies between a whole one and the one below it.
        gap = number(1 - Fraction(1, _denominator(a)))
        if kind == "ceil":
            self.side += [at_most(a, value), at_most(value, a + gap)]
        else:
            self.side += [at_most(value, a), at_most(a, value + gap)]
        return value


def _denominator(x: Linear) -> int:
    return reduce(math.lcm, (f.denominator for f in (*x.factors.values(), x.constant)), 1)


_COMPARISONS: Mapping[str, Callable[[Linear, Linear], Formula]] = {
    "<": below,
    "<=": at_most,
    ">": lambda a, b: below(b, a),
    ">=": lambda a, b: at_most(b, a),
    "==": equal,
    "!=": lambda a, b: negation(equal(a, b)),
}


# ---------------------------------------------------------------------- decision


def follows(claim: Formula, facts: Sequence[Formula]) -> bool:
    """Whether `claim` is true wherever all the facts are, as far as can be found out."""
    try:
        return all(_impossible(case) for case in _cases([*facts, negation(claim)]))
    except NotLinear:
        return False


def greatest(x: Linear, facts: Sequence[Formula]) -> Fraction | None:
    """A bound of `x` from above wherever the facts are true; None if there is none."""
    bounds = []
    try:
        for case in _cases([*facts, equal(variable("greatest"), x)]):
            rest = _without(case, keep="greatest")
            if rest is None:
                continue
            found = [-r.constant / r.factors["greatest"] for r in rest if r.factors.get("greatest", 0) > 0]
            if not found:
                return None
            bounds.append(min(found))
    except NotLinear:
        return None
    return max(bounds, default=None)


def _cases(formulas: Sequence[Formula]) -> Iterator[list[Linear]]:
    """The cases in which all the formulas are true, each as what is at most 0 in it."""
    budget = [MOST_CASES]
    yield from _split(list(formulas), [], budget)


def _split(formulas: list[Formula], known: list[Linear], budget: list[int]) -> Iterator[list[Linear]]:
    known, choices = list(known), []
    stack = list(formulas)
    while stack:
        f = stack.pop()
        match f:
            case AtMost0(x=x):
                known.append(x)
            case All(parts=parts):
                stack.extend(parts)
            case Any(parts=()):
                return
            case Any(parts=(part,)):
                stack.append(part)
            case Any():
                choices.append(f)
    if choices and _impossible(known):
        return
    if not choices:
        budget[0] -= 1
        if budget[0] < 0:
            raise NotLinear
        yield known
        return
    first = min(choices, key=lambda c: len(c.parts))
    others = [c for c in choices if c is not first]
    for part in first.parts:
        yield from _split([part, *others], known, budget)


def _impossible(known: Sequence[Linear]) -> bool:
    return _without(known, keep="") is None


def _without(known: Sequence[Linear], keep: str) -> list[Linear] | None:
    """What is left when every variable but `keep` is gone; None when it is a contradiction."""
    rows = _tight(known, keep)
    while rows is not None:
        if (solved := _solve(rows, keep)) is not None:
            rows = _tight(solved, keep)
            continue
        names = {n for r in rows for n in r.factors if n != keep}
        if not names:
            return rows
        ups = {n: sum(r.factors.get(n, 0) > 0 for r in rows) for n in names}
        downs = {n: sum(r.factors.get(n, 0) < 0 for r in rows) for n in names}
        name = min(names, key=lambda n: (ups[n] * downs[n] - ups[n] - downs[n], n))
        above = [r for r in rows if r.factors.get(name, 0) > 0]
        under = [r for r in rows if r.factors.get(name, 0) < 0]
        rest = [r for r in rows if not r.factors.get(name, 0)]
        for a in above:
            for b in under:
                rest.append(a.times(-b.factors[name]) + b.times(a.factors[name]))
        if len(rest) > MOST_INEQUALITIES:
            raise NotLinear
        rows = _tight(rest, keep)
    return None


def _solve(rows: Sequence[Linear], keep: str) -> list[Linear] | None:
    """The rows without a variable that one of their equations gives; None if no equation does."""
    known = {tuple(sorted(r.factors.items())): r for r in rows}
    for r in rows:
        opposite = known.get(tuple(sorted((n, -f) for n, f in r.factors.items())))
        if opposite is None or opposite.constant != -r.constant:
            continue
        for name, factor in sorted(r.factors.items()):
            if abs(factor) == 1 and name != keep:
                value = (variable(name).times(factor) - r).times(factor)
                return [_replaced(x, name, value) for x in rows if x is not r and x is not opposite]
    return None


def _replaced(x: Linear, name: str, value: Linear) -> Linear:
    factor = x.factors.get(name)
    return x if factor is None else x - variable(name).times(factor) + value.times(factor)


def _tight(rows: Sequence[Linear], keep: str) -> list[Linear] | None:
    """Rows of whole numbers without a common divisor, the strongest of each direction."""
    best: dict[tuple[tuple[str, Fraction], ...], Fraction] = {}
    for r in rows:
        if not r.factors:
            if r.constant > 0:
                return None
            continue
        scale = reduce(math.lcm, (f.denominator for f in r.factors.values()), 1)
        divisor = reduce(math.gcd, (int(f * scale) for f in r.factors.values()), 0)
        by = Fraction(scale, divisor)
        constant = r.constant * by
        if keep not in r.factors:
            constant = Fraction(math.ceil(constant))
        key = tuple(sorted((n, f * by) for n, f in r.factors.items()))
        if key not in best or best[key] < constant:
            best[key] = constant
    for key, constant in best.items():
        opposite = tuple((n, -f) for n, f in key)
        if opposite in best and constant + best[opposite] > 0:
            return None
    return [Linear(dict(key), constant) for key, constant in best.items()]
