"""Expressions evaluated exactly, with fractions instead of doubles.

Only for expressions that `terms` can translate; the value is the one that their Lean term has.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Mapping
from fractions import Fraction

from serq.diagnostics import InternalError
from serq.ir.expr import Binary, Conditional, Expr, Fold, Func, Num, Unary
from serq.lean.terms import spelling

COMPARE: Mapping[str, Callable[[Fraction, Fraction], bool]] = {
    "<": operator.lt, "<=": operator.le, ">": operator.gt, ">=": operator.ge,
    "==": operator.eq, "!=": operator.ne,
}  # fmt: skip

_FOLDS: Mapping[str, Callable[[list[Fraction]], Fraction]] = {
    "sum": lambda xs: sum(xs, Fraction(0)),
    "min": min,
    "max": max,
}


def evaluate(e: Expr, readings: Mapping[str, Fraction | int]) -> Fraction:
    """The value of `e`. readings: the value of whatever it reads, by its spelling in the program."""
    match e:
        case Num(value=value):
            return Fraction(value)
        case Unary(operator="-", operand=operand):
            return -evaluate(operand, readings)
        case Unary(operand=operand):
            return Fraction(not evaluate(operand, readings))
        case Binary(operator="&&", left=left, right=right):
            return Fraction(bool(evaluate(left, readings) and evaluate(right, readings)))
        case Binary(operator="||", left=left, right=right):
            return Fraction(bool(evaluate(left, readings) or evaluate(right, readings)))
        case Binary(operator=sign, left=left, right=right):
            return _operation(sign, evaluate(left, readings), evaluate(right, readings))
        case Fold(kind=kind, terms=terms):
            return _FOLDS[kind]([evaluate(x, readings) for x in terms])
        case Func(function=function, arguments=arguments):
            return _function(function, [evaluate(x, readings) for x in arguments])
        case Conditional(test=test, then=then, otherwise=otherwise):
            return evaluate(then if evaluate(test, readings) else otherwise, readings)
    try:
        return Fraction(readings[spelling(e)])
    except KeyError:
        raise InternalError(f"no value for {spelling(e)}") from None


def _operation(sign: str, a: Fraction, b: Fraction) -> Fraction:
    match sign:
        case "+":
            return a + b
        case "-":
            return a - b
        case "*":
            return a * b
        case "/":
            return a / b
    return Fraction(COMPARE[sign](a, b))


def _function(function: str, xs: list[Fraction]) -> Fraction:
    match function:
        case "min":
            return min(xs)
        case "max":
            return max(xs)
        case "abs":
            return abs(xs[0])
        case "floor":
            return Fraction(math.floor(xs[0]))
        case "ceil":
            return Fraction(math.ceil(xs[0]))
    raise InternalError(f"no exact {function}")
