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

MOVING = frozenset({"now", "served", "demand"})
"""What changes within a stride."""
WHOLE = {"tokens", "prefilled", "decoders", "residents", "arrived", *MOVING}
FLIPPED = {"<": ">=", "<=": ">", ">": "<=", ">=": "<"}


@frozen
class Spans:
    """true, false: the answer holds between two equal answers. exact: what must stay below 2^53 for it."""

    true: bool
    false: bool
    exact: tuple[Expr, ...] = ()


def varies(e: Expr, moving: frozenset[str] = MOVING) -> bool:
    """Whether the answer may change where only `moving` does."""
    return any(isinstance(node, Var) and node.name in moving for node in walk(e))


def between(e: Expr, moving: frozenset[str] = MOVING) -> Spans:
    """What is known of a question between two equal answers, where `moving` changes evenly."""
    if not varies(e, moving):
        return Spans(True, True)
    match e:
        case Unary(operator="!", operand=operand):
            inner = between(operand, moving)
            return Spans(inner.false, inner.true, inner.exact)
        case Binary(operator="&&", left=left, right=right):
            a, b = between(left, moving), between(right, moving)
            # Both parts are true at both ends; but either may have been the false one.
            one = not varies(left, moving) or not varies(right, moving)
            return Spans(a.true and b.true, one and a.false and b.false, a.exact + b.exact)
        case Binary(operator="||", left=left, right=right):
            a, b = between(left, moving), between(right, moving)
            one = not varies(left, moving) or not varies(right, moving)
            return Spans(one and a.true and b.true, a.false and b.false, a.exact + b.exact)
        case Binary(operator=op, left=left, right=right) if op in FLIPPED or op in ("==", "!="):
            size = _magnitude(left, moving), _magnitude(right, moving)
            if size[0] is None or size[1] is None:
                return Spans(False, False)
            exact = (Binary("+", size[0], size[1]),)
            return Spans(op != "!=", op != "==", exact)
    return Spans(False, False)


def _magnitude(e: Expr, moving: frozenset[str]) -> Expr | None:
    """A bound of everything that computing `e` meets, if `e` is straight in what moves and whole."""
    match e:
        case Num(value=value) if is_whole(value):
            return Num(abs(value))
        case Var(name=name) if name in WHOLE:
            return Func("abs", (e,))
        case Unary(operator="-", operand=operand):
            return _magnitude(operand, moving)
        case Binary(operator="+" | "-", left=left, right=right):
            return _both("+", left, right, moving)
        case Binary(operator="*", left=left, right=right) if not (
            varies(left, moving) and varies(right, moving)
        ):
            return _both("*", left, right, moving)
    return None


def _both(operator: str, left: Expr, right: Expr, moving: frozenset[str]) -> Expr | None:
    a, b = _magnitude(left, moving), _magnitude(right, moving)
    return None if a is None or b is None else Binary(operator, a, b)
