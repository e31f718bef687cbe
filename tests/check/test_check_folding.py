"""Folding computes what a run would compute, in doubles, and never raises."""

from __future__ import annotations

import math
from collections.abc import Callable

from hypothesis import given
from hypothesis import strategies as st

from serq import values
from serq.check import fold
from serq.check.fold import POISON, compute_binary, compute_unary
from serq.ir.expr import Attr, Binary, Conditional, Expr, Fold, Func, Num, Unary, walk
from tests.check.cases import check

NUMBERS = st.floats() | st.sampled_from([0.0, -0.0, 1.0, -1.0, 0.5, 2.0, math.inf, -math.inf])
OPERATORS = ["+", "-", "*", "/", "^", "<", "<=", ">", ">=", "==", "!=", "&&", "||"]


def built(numbers: bool) -> st.SearchStrategy[Expr]:
    """Expressions, folded while they are built (`numbers`) or over attributes that hold the values."""
    leaves: st.SearchStrategy[Expr] = NUMBERS.map(Num)
    if not numbers:
        leaves = leaves | st.sampled_from("xy").map(Attr)

    def inner(parts: st.SearchStrategy[Expr]) -> st.SearchStrategy[Expr]:
        return st.one_of(
            st.builds(fold.unary, st.sampled_from("-!"), parts),
            st.builds(fold.binary, st.sampled_from(OPERATORS), parts, parts),
            st.builds(fold.conditional, parts, parts, parts),
            st.builds(fold.func, st.sampled_from(["min", "max"]), st.tuples(parts, parts)),
            st.builds(
                fold.func, st.sampled_from(["abs", "floor", "ceil", "sqrt", "exp", "ln"]), st.tuples(parts)
            ),
            st.builds(
                fold.aggregate,
                st.sampled_from(["sum", "min", "max"]),
                st.lists(parts, min_size=1, max_size=3),
            ),
        )

    return st.recursive(leaves, inner, max_leaves=12)


def value(e: Expr, attributes: dict[str, float]) -> float:
    """What a machine computes, written the plain way."""
    match e:
        case Num(value=x):
            return x
        case Attr(name=name):
            return attributes[name]
        case Unary(operator=operator, operand=operand):
            return compute_unary(operator, value(operand, attributes))
        case Binary(operator=operator, left=left, right=right):
            return compute_binary(operator, value(left, attributes), value(right, attributes))
        case Conditional(test=test, then=then, otherwise=otherwise):
            return value(then if value(test, attributes) != 0 else otherwise, attributes)
        case Func(function=function, arguments=arguments):
            return float(values.FUNCTIONS[function](*(value(a, attributes) for a in arguments)))
        case Fold(kind=kind, terms=terms):
            join: Callable[[float, float], float] = (
                (lambda a, b: a + b) if kind == "sum" else values.FUNCTIONS[kind]
            )
            total = value(terms[0], attributes)
            for term in terms[1:]:
                total = join(total, value(term, attributes))
            return total
    raise AssertionError(e)


def same(a: float, b: float) -> bool:
    return (a != a and b != b) or (a == b and math.copysign(1, a) == math.copysign(1, b))


def put_in(e: Expr, attributes: dict[str, float]) -> Expr:
    """`e` with numbers for its attributes, folded on the way."""
    match e:
        case Attr(name=name):
            return Num(attributes[name])
        case Unary(operator=operator, operand=operand):
            return fold.unary(operator, put_in(operand, attributes))
        case Binary(operator=operator, left=left, right=right):
            return fold.binary(operator, put_in(left, attributes), put_in(right, attributes))
        case Conditional(test=test, then=then, otherwise=otherwise):
            parts = (put_in(part, attributes) for part in (test, then, otherwise))
            return fold.conditional(*parts)
        case Func(function=function, arguments=arguments):
            return fold.func(function, [put_in(a, attributes) for a in arguments])
        case Fold(kind=kind, terms=terms):
            return fold.aggregate(kind, [put_in(t, attributes) for t in terms])
        case _:
            return e


@given(built(numbers=True))
def test_a_closed_expression_is_a_number(e: Expr) -> None:
    assert isinstance(e, Num)


@given(built(numbers=False), NUMBERS, NUMBERS)
def test_folding_is_evaluation(e: Expr, x: float, y: float) -> None:
    attributes = {"x": x, "y": y}
    folded = put_in(e, attributes)
    assert isinstance(folded, Num)
    assert same(folded.value, value(e, attributes))


@given(built(numbers=False))
def test_only_what_is_closed_is_folded(e: Expr) -> None:
    """Every closed part is a number, and no attribute is lost."""
    for node in walk(e):
        if isinstance(node, Unary | Binary | Conditional | Func | Fold):
            assert any(isinstance(part, Attr) for part in walk(node))


def test_poison_spreads() -> None:
    assert fold.binary("+", POISON, Num(1)) is POISON
    assert fold.conditional(Num(1), Num(1), POISON) is POISON
    assert fold.aggregate("sum", [Num(1), POISON]) is POISON
    assert fold.constant(POISON) is None


def test_numbers_without_a_value_are_values_of_expressions() -> None:
    program, errors = check("fn main() { let big = 1e300 ^ 2; gauge g = big - big; gauge h = 1 / 0; }")
    assert program is not None, errors
    assert [str(g.value) for g in program.gauges] == ["Num(value=nan)", "Num(value=inf)"]
