"""Expressions as Lean terms, with exact values.

A number is an integer term of Lean over a constant denominator, so that `a / 3 <= b` becomes
`a ≤ b * 3` and nothing is rounded. A test is a proposition. Subtraction is on Int and goes below 0.

It is one file: every operator knows how tightly the others bind.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Mapping
from fractions import Fraction
from functools import partial, reduce
from typing import TypeAlias, Union, assert_never

from attrs import frozen

from serq.diagnostics import InternalError, Sink
from serq.ir.expr import (
    Attr,
    Binary,
    Conditional,
    Draw,
    Expr,
    Fold,
    Func,
    Item,
    Local,
    LoopName,
    Num,
    Observable,
    RegisterRead,
    RequestField,
    Summary,
    Survey,
    Unary,
    Var,
    children,
)
from serq.source import Span

# How tightly Lean's operators bind; an argument of a function has to be an ATOM.
ATOM, CALL, NEGATION, PRODUCT, SUM, COMPARISON, NOT, AND, OR = 100, 90, 75, 70, 65, 50, 40, 35, 30

MOST_LEVELS = 60
"""Operators inside each other. One may cost three levels in Lean, whose elaborator allows some 200."""

LARGEST = 2**53
"""Every whole number below this is a double, and is read as the one that was written."""


@frozen
class Constant:
    """A number that is known."""

    value: Fraction


ZERO = Constant(Fraction(0))


TICKS = "ticks"
"""How many ticks make a unit of the clock, where that is left open."""


@frozen
class Number:
    """The Int term `text`, whose outermost operator binds at `level`, divided by `over` (> 0).

    clocks: and by `ticks`, so many times.
    """

    text: str
    level: int = ATOM
    over: int = 1
    clocks: int = 0


@frozen
class Proposition:
    """The proposition `text`; as a number it is 0 or 1. opposite: its negation, where that is shorter."""

    text: str
    level: int = COMPARISON
    opposite: str = ""


Term: TypeAlias = Union[Constant, Number, Proposition]

_TRUTH = ("True", "False")

COMPARISONS = {"<": "<", "<=": "≤", ">": ">", ">=": "≥", "==": "=", "!=": "≠"}
_SYMMETRIC = ("==", "!=")


@frozen
class Reader:
    """Translates the expressions that stand at one place.

    where: how messages name the place. readings: what can be read there, by its spelling in the
    program. complaints: reasons against the expression (SQ0802 to SQ0806, SQ0809) go here.
    """

    where: str
    readings: Mapping[str, Term]
    complaints: Sink

    def term(self, e: Expr, at: Span | None = None) -> Term | None:
        """`e` in Lean, or None when a complaint says why not. at: the place of what holds `e`."""
        if depth(e) > MOST_LEVELS:
            self.complaints.say("SQ0809", e.at or at, where=self.where, limit=MOST_LEVELS)
            return None
        return self._term(e, e.at or at)

    def _term(self, e: Expr, at: Span | None) -> Term | None:
        at = e.at or at
        match e:
            case Num(value=value):
                return self._constant(value, at)
            case Attr() | Var() | RegisterRead() | Local() | Observable() | Summary():
                return self._reading(e, at)
            case LoopName() | Item() | RequestField() | Survey():
                what = {Item: "a number of a list", Survey: "an aggregate over requests"}
                cure = "state a program without scheduling by requests"
                self.complaints.say("SQ0801", at, what=what.get(type(e), "a request's field"), cure=cure)
                return None
            case Draw(law=law):
                self.complaints.say("SQ0806", at, function=f"~{law}")
                return None
            case Func(function=function) if function not in _FUNCTIONS:
                self.complaints.say("SQ0806", at, function=function)
                return None
            case Binary(operator="^"):
                self.complaints.say("SQ0806", at, function="^", help="write the power as a product")
                return None
            case Func() | Fold() | Unary() | Binary() | Conditional():
                # Every operand is translated before any is missed, so that each says what it has to say.
                operands = [self._term(x, at) for x in children(e)]
                terms = [x for x in operands if x is not None]
                return self._operation(e, terms, at) if len(terms) == len(operands) else None
            case _:
                assert_never(e)

    def _operation(
        self, e: Func | Fold | Unary | Binary | Conditional, terms: list[Term], at: Span | None
    ) -> Term | None:
        sign = _arithmetic(e)
        if sign and not all(is_binary(denominator(as_number(x))) for x in terms):
            # One quotient of whole numbers is rounded once, and its `floor`, its `ceil` and comparisons are
            # right; a run goes on with other numbers than Lean where it is an operand, as in `n / 49 * 49`.
            self.complaints.say("SQ0804", at, what=f"an operand of `{sign}` that is a quotient")
            return None
        match e:
            case Func(function="floor" | "ceil" as function) if clocks(as_number(terms[0])):
                what = f"{function} of the clock of sessions that come at any times"
                self.complaints.say("SQ0806", at, function=what)
                return None
            case Func(function=function):
                return _FUNCTIONS[function](*map(as_number, terms))
            case Fold(kind=kind):
                return reduce(_FOLDS[kind], map(as_number, terms))
            case Unary(operator="-"):
                return minus(as_number(terms[0]))
            case Unary():
                return negated(as_proposition(terms[0]))
            case Binary(operator="/", right=right):
                return self._quotient(as_number(terms[0]), terms[1], right.at or at)
            case Binary(operator=sign):
                return _binary(sign, terms[0], terms[1])
            case Conditional():
                return choice(as_proposition(terms[0]), terms[1], terms[2])

    def _constant(self, value: float, at: Span | None) -> Term | None:
        exact = constant(value)
        if exact is None and math.isfinite(value):
            self.complaints.say("SQ0804", at, what=f"the number {value!r}")
        elif exact is None:
            self.complaints.say("SQ0806", at, function=repr(value))
        return exact

    def _reading(self, e: Expr, at: Span | None) -> Term | None:
        found = self.readings.get(spelling(e))
        if found is None:
            known = ", ".join(f"`{name}`" for name in self.readings) or "numbers only"
            self.complaints.say("SQ0802", at, where=self.where, name=spelling(e), known=known)
        return found

    def _quotient(self, a: Constant | Number, b: Term, at: Span | None) -> Term | None:
        if isinstance(b, Constant) and b.value:
            return product(a, Constant(1 / b.value))
        divisor = "0" if isinstance(b, Constant) else "something that varies"
        self.complaints.say("SQ0805", at, where=self.where, divisor=divisor)
        return None


def _arithmetic(e: Expr) -> str:
    """The sign of a sum, a difference, a product or a quotient; "" for what rounds nothing."""
    match e:
        case Binary(operator="+" | "-" | "*" | "/" as sign):
            return sign
        case Fold(kind="sum"):
            return "sum"
    return ""


def constant(value: float) -> Constant | None:
    """A double as the number it was written as, or None when it only approximates that number."""
    if not math.isfinite(value) or abs(value) >= LARGEST or Fraction(value) != Fraction(repr(value)):
        return None
    return Constant(Fraction(value))


def is_binary(denominator: int) -> bool:
    """Whether a double can hold parts of one over `denominator`: whether that is a power of two."""
    return denominator & (denominator - 1) == 0


def whole(x: Term | None) -> int | None:
    """The value of a term that is a known whole number."""
    if isinstance(x, Constant) and x.value.denominator == 1:
        return x.value.numerator
    return None


def spelling(e: Expr) -> str:
    """How a program writes something it reads."""
    match e:
        case Observable(function=function, place=place):
            # A single resource may be written with the index 0.
            index = "" if place.index in (None, Num(0)) else "[…]"
            return f"{function}({place.name}{index}{', …' if e.arguments else ''})"
        case Summary(function=function, observation=observation):
            return f"{function}({observation})"
        case RegisterRead(name=name, index=index) if index is not None:
            return f"{name}[{int(index.value) if isinstance(index, Num) else '…'}]"
        case Attr() | Var() | RegisterRead() | Local():
            return e.name
        case _:
            raise InternalError(f"{type(e).__name__} reads nothing")


def depth(e: Expr) -> int:
    """How many operators stand inside each other; the terms of an aggregate nest like a sum."""
    deepest = 0
    stack = [(e, 1)]
    while stack:
        node, level = stack.pop()
        deepest = max(deepest, level)
        if deepest > MOST_LEVELS:
            break
        inner = level + (len(node.terms) if isinstance(node, Fold) else 1)
        stack.extend((child, inner) for child in children(node))
    return deepest


# ------------------------------------------------------------------- conversions


def as_number(x: Term) -> Constant | Number:
    """A term where the language wants a number."""
    return Number(f"truth ({x.text})", CALL) if isinstance(x, Proposition) else x


def as_proposition(x: Term) -> Proposition:
    """A term where the language wants a test: anything but 0 is true."""
    match x:
        case Constant(value=value):
            return Proposition("True" if value else "False", ATOM)
        case Number():
            return Proposition(f"{inside(x.text, x.level, SUM)} ≠ 0")
        case Proposition():
            return x


def inside(text: str, level: int, wanted: int) -> str:
    """`text` as an operand that has to bind at least as tightly as `wanted`."""
    return text if level >= wanted else f"({text})"


def denominator(x: Constant | Number) -> int:
    """What `x` is divided by in Lean."""
    return x.value.denominator if isinstance(x, Constant) else x.over


def clocks(x: Constant | Number) -> int:
    """How many times `x` is divided by `ticks` in Lean."""
    return 0 if isinstance(x, Constant) else x.clocks


def scaled(x: Constant | Number, by: int, ticks: int = 0) -> tuple[str, int]:
    """The integer term of `x * by`, for `by` a positive multiple of its denominator.

    ticks: and of `ticks`, so many times, no fewer than `x` is divided by it.
    """
    if isinstance(x, Constant):
        whole = x.value * by
        text, level = str(whole.numerator), ATOM if whole >= 0 else NEGATION
        missing = ticks if whole else 0
    else:
        factor = by // x.over
        text, level = x.text, x.level
        if factor != 1:
            text, level = f"{inside(text, level, PRODUCT)} * {factor}", PRODUCT
        missing = ticks - x.clocks
    for _ in range(missing):
        text, level = f"{inside(text, level, PRODUCT)} * {TICKS}", PRODUCT
    return text, level


def _together(a: Constant | Number, b: Constant | Number) -> tuple[int, int]:
    """A denominator for both, and how many times `ticks` stands beside it."""
    return math.lcm(denominator(a), denominator(b)), max(clocks(a), clocks(b))


# --------------------------------------------------------------------- operators


def plus(a: Constant | Number, b: Constant | Number, sign: str = "+") -> Constant | Number:
    """`a + b`, or `a - b`."""
    if isinstance(a, Constant) and isinstance(b, Constant):
        return Constant(a.value + b.value if sign == "+" else a.value - b.value)
    over = _together(a, b)
    left, right = inside(*scaled(a, *over), SUM), inside(*scaled(b, *over), SUM + 1)
    return Number(f"{left} {sign} {right}", SUM, *over)


def product(a: Constant | Number, b: Constant | Number) -> Constant | Number:
    """`a * b`."""
    if isinstance(a, Constant) and isinstance(b, Constant):
        return Constant(a.value * b.value)
    over = denominator(a) * denominator(b), clocks(a) + clocks(b)
    (x, left), (y, right) = (scaled(z, denominator(z), clocks(z)) for z in (a, b))
    if x == "1":
        return Number(y, right, *over)
    if y == "1":
        return Number(x, left, *over)
    return Number(f"{inside(x, left, PRODUCT)} * {inside(y, right, PRODUCT + 1)}", PRODUCT, *over)


def minus(a: Constant | Number) -> Constant | Number:
    """`-a`."""
    if isinstance(a, Constant):
        return Constant(-a.value)
    return Number(f"-{inside(a.text, a.level, ATOM)}", NEGATION, a.over, a.clocks)


def absolute(a: Constant | Number) -> Constant | Number:
    """`abs(a)`."""
    if isinstance(a, Constant):
        return Constant(abs(a.value))
    return Number(f"(Int.natAbs {inside(a.text, a.level, ATOM)} : Int)", ATOM, a.over, a.clocks)


def rounded(a: Constant | Number, up: bool) -> Constant | Number:
    """`ceil` or `floor`."""
    if isinstance(a, Constant):
        return Constant(Fraction(math.ceil(a.value) if up else math.floor(a.value)))
    if a.over == 1:
        return a
    if up:
        return Number(f"ceilDiv {inside(a.text, a.level, ATOM)} {a.over}", CALL)
    # Lean's Int division by a positive number rounds down.
    return Number(f"{inside(a.text, a.level, PRODUCT)} / {a.over}", PRODUCT)


def extreme(function: str, a: Constant | Number, b: Constant | Number) -> Constant | Number:
    """`min` or `max`."""
    if isinstance(a, Constant) and isinstance(b, Constant):
        return Constant(min(a.value, b.value) if function == "min" else max(a.value, b.value))
    over = _together(a, b)
    left, right = inside(*scaled(a, *over), ATOM), inside(*scaled(b, *over), ATOM)
    return Number(f"{function} {left} {right}", CALL, *over)


def compared(sign: str, a: Term, b: Term) -> Proposition:
    """A comparison, by multiplying both sides with their denominators."""
    if isinstance(a, Constant) and isinstance(b, Proposition) and sign in _SYMMETRIC:
        a, b = b, a
    if isinstance(a, Proposition) and isinstance(b, Constant) and sign in _SYMMETRIC and b.value in (0, 1):
        # `decoding == 1` is `decoding`, `decoding == 0` is `!decoding`.
        return a if (b.value == 1) == (sign == "==") else negated(a)
    x, y = as_number(a), as_number(b)
    if isinstance(x, Constant) and isinstance(y, Constant):
        return as_proposition(Constant(Fraction(_COMPARE[sign](x.value, y.value))))
    over = _together(x, y)
    left, right = inside(*scaled(x, *over), SUM), inside(*scaled(y, *over), SUM)
    return Proposition(f"{left} {COMPARISONS[sign]} {right}")


def negated(a: Proposition) -> Proposition:
    """`!a`."""
    if a.text in _TRUTH:
        return Proposition("False" if a.text == "True" else "True", ATOM)
    if a.opposite:
        return Proposition(a.opposite, a.level, a.text)
    return Proposition(f"¬ {inside(a.text, a.level, ATOM)}", NOT)


def both(a: Proposition, b: Proposition) -> Proposition:
    """`a && b`."""
    for x, y in ((a, b), (b, a)):
        if x.text in _TRUTH:
            return y if x.text == "True" else x
    return Proposition(f"{inside(a.text, a.level, AND + 1)} ∧ {inside(b.text, b.level, AND)}", AND)


def either(a: Proposition, b: Proposition) -> Proposition:
    """`a || b`."""
    for x, y in ((a, b), (b, a)):
        if x.text in _TRUTH:
            return x if x.text == "True" else y
    return Proposition(f"{inside(a.text, a.level, OR + 1)} ∨ {inside(b.text, b.level, OR)}", OR)


def choice(condition: Proposition, a: Term, b: Term) -> Term:
    """`condition ? a : b`: a test if both outcomes are, otherwise a number."""
    if isinstance(a, Proposition) and isinstance(b, Proposition):
        return either(both(condition, a), both(negated(condition), b))
    x, y = as_number(a), as_number(b)
    over = _together(x, y)
    # The type has to be said: with numerals alone Lean would choose Nat, where 1 - 2 is 0.
    outcome, other = scaled(x, *over)[0], scaled(y, *over)[0]
    return Number(f"(if {condition.text} then {outcome} else {other} : Int)", ATOM, *over)


def _binary(sign: str, a: Term, b: Term) -> Term:
    match sign:
        case "+" | "-":
            return plus(as_number(a), as_number(b), sign)
        case "*":
            return product(as_number(a), as_number(b))
        case "&&":
            return both(as_proposition(a), as_proposition(b))
        case "||":
            return either(as_proposition(a), as_proposition(b))
        case _:
            return compared(sign, a, b)


_COMPARE: dict[str, Callable[[Fraction, Fraction], bool]] = {
    "<": operator.lt, "<=": operator.le, ">": operator.gt, ">=": operator.ge,
    "==": operator.eq, "!=": operator.ne,
}  # fmt: skip

_FUNCTIONS: dict[str, Callable[..., Constant | Number]] = {
    "min": partial(extreme, "min"),
    "max": partial(extreme, "max"),
    "abs": absolute,
    "floor": partial(rounded, up=False),
    "ceil": partial(rounded, up=True),
}

_FOLDS: dict[str, Callable[[Constant | Number, Constant | Number], Constant | Number]] = {
    "sum": plus,
    "min": partial(extreme, "min"),
    "max": partial(extreme, "max"),
}
