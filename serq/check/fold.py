"""Builds expressions, computing what is closed: arithmetic on numbers becomes the number.

Nothing that an author wrote is dropped: `0 * x` stays, and so does the branch of a conditional
that is never taken, so that everything in it is checked. `POISON` stands for an expression about
which something was already said; whatever contains it is poison too.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from serq import values
from serq.ir.expr import Binary, Conditional, Expr, Fold, Func, Num, Unary
from serq.source import Span

POISON = Num(math.nan)
"""An expression that is wrong; only its identity matters."""


def is_poison(e: Expr | None) -> bool:
    """Whether a complaint was made about an expression."""
    return e is POISON


def constant(e: Expr | None) -> float | None:
    """The number that an expression is, or None (also for poison)."""
    return e.value if isinstance(e, Num) and e is not POISON else None


def unary(operator: str, operand: Expr, at: Span | None = None) -> Expr:
    """`-x` or `!x`."""
    if is_poison(operand):
        return POISON
    if isinstance(operand, Num):
        return Num(compute_unary(operator, operand.value), at=at)
    return Unary(operator, operand, at=at)


def binary(operator: str, left: Expr, right: Expr, at: Span | None = None) -> Expr:
    """An operator between two expressions."""
    if is_poison(left) or is_poison(right):
        return POISON
    if isinstance(left, Num) and isinstance(right, Num):
        return Num(compute_binary(operator, left.value, right.value), at=at)
    return Binary(operator, left, right, at=at)


def conditional(test: Expr, then: Expr, otherwise: Expr, at: Span | None = None) -> Expr:
    """`test ? then : otherwise`."""
    if any(is_poison(e) for e in (test, then, otherwise)):
        return POISON
    if isinstance(test, Num) and isinstance(then, Num) and isinstance(otherwise, Num):
        return Num(then.value if test.value != 0 else otherwise.value, at=at)
    return Conditional(test, then, otherwise, at=at)


def func(function: str, arguments: Sequence[Expr], at: Span | None = None) -> Expr:
    """A function of the language."""
    if any(is_poison(e) for e in arguments):
        return POISON
    numbers = [e.value for e in arguments if isinstance(e, Num)]
    if len(numbers) == len(arguments):
        return Num(float(values.FUNCTIONS[function](*numbers)), at=at)
    return Func(function, tuple(arguments), at=at)


def aggregate(kind: str, terms: Sequence[Expr], at: Span | None = None) -> Expr:
    """An aggregate written out; at least one term."""
    if any(is_poison(e) for e in terms):
        return POISON
    numbers = [e.value for e in terms if isinstance(e, Num)]
    if len(numbers) == len(terms):
        total = numbers[0]
        for x in numbers[1:]:
            total = total + x if kind == "sum" else values.FUNCTIONS[kind](total, x)
        return Num(total, at=at)
    return Fold(kind, tuple(terms), at=at)


def compute_unary(operator: str, x: float) -> float:
    """`-x`, or `!x`: 1 for 0, 0 for anything else."""
    return -x if operator == "-" else float(x == 0)


def compute_binary(operator: str, a: float, b: float) -> float:
    """Double arithmetic that never raises; tests give 0 or 1."""
    match operator:
        case "+":
            return a + b
        case "-":
            return a - b
        case "*":
            return a * b
        case "/":
            return values.divide(a, b)
        case "^":
            return values.power(a, b)
        case "<":
            return float(a < b)
        case "<=":
            return float(a <= b)
        case ">":
            return float(a > b)
        case ">=":
            return float(a >= b)
        case "==":
            return float(a == b)
        case "!=":
            return float(a != b)
        case "&&":
            return float(a != 0 and b != 0)
        case _:
            return float(a != 0 or b != 0)
