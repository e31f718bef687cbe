"""Claims over a stride: what two answers, at its first and last iteration, say about those between.

While a batch repeats, `now`, `served` and `demand` change by the same amount in every iteration and
nothing else changes. So a comparison of sums of them, with whole coefficients, is one of two straight
lines: if it is true at both ends, it is true between. That holds for numbers as computed as long as
all of them are whole and below 2^53, which is looked at by the magnitudes in `Spans.exact`.
"""

from __future__ import annotations

from attrs import frozen

from serq.ir.expr import Binary, Expr, Func, Num, Unary, Var, walk
from serq.values import is_whole

MOVING = {"now", "served", "demand"}
WHOLE = {"tokens", "prefilled", "decoders", "residents", "arrived", *MOVING}
FLIPPED = {"<": ">=", "<=": ">", ">": "<=", ">=": "<"}


@frozen
class Spans:
    """true, false: the answer holds between two equal answers. exact: what must stay below 2^53 for it."""

    true: bool
    false: bool
    exact: tuple[Expr, ...] = ()


def varies(e: Expr) -> bool:
    """Whether the answer may change within a stride."""
    return any(isinstance(node, Var) and node.name in MOVING for node in walk(e))


def between(e: Expr) -> Spans:
    """What is known of a question between two equal answers."""
    if not varies(e):
        return Spans(True, True)
    match e:
        case Unary(operator="!", operand=operand):
            inner = between(operand)
            return Spans(inner.false, inner.true, inner.exact)
        case Binary(operator="&&", left=left, right=right):
            a, b = between(left), between(right)
            # Both parts are true at both ends; but either may have been the false one.
            one = not varies(left) or not varies(right)
            return Spans(a.true and b.true, one and a.false and b.false, a.exact + b.exact)
        case Binary(operator="||", left=left, right=right):
            a, b = between(left), between(right)
            one = not varies(left) or not varies(right)
            return Spans(one and a.true and b.true, a.false and b.false, a.exact + b.exact)
        case Binary(operator=op, left=left, right=right) if op in FLIPPED or op in ("==", "!="):
            size = _magnitude(left), _magnitude(right)
            if size[0] is None or size[1] is None:
                return Spans(False, False)
            exact = (Binary("+", size[0], size[1]),)
            return Spans(op != "!=", op != "==", exact)
    return Spans(False, False)


def _magnitude(e: Expr) -> Expr | None:
    """A bound of everything that computing `e` meets, if `e` is straight in what moves and whole."""
    match e:
        case Num(value=value) if is_whole(value):
            return Num(abs(value))
        case Var(name=name) if name in WHOLE:
            return Func("abs", (e,))
        case Unary(operator="-", operand=operand):
            return _magnitude(operand)
        case Binary(operator="+" | "-", left=left, right=right):
            return _both("+", left, right)
        case Binary(operator="*", left=left, right=right) if not (varies(left) and varies(right)):
            return _both("*", left, right)
    return None


def _both(operator: str, left: Expr, right: Expr) -> Expr | None:
    a, b = _magnitude(left), _magnitude(right)
    return None if a is None or b is None else Binary(operator, a, b)
