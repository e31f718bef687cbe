"""Linear arithmetic: what it says follows does, and what the schemes rely on it finds."""

from __future__ import annotations

import itertools
import random
from fractions import Fraction

import pytest

import serq
from serq.ir.expr import Expr
from serq.lean.exact import evaluate
from serq.lean.linear import Formula, Translator, at_most, equal, follows, greatest, number, variable
from tests.lean.programs import small
from tests.support.amounts import thinned

NAMES = ("tokens", "demand", "served")
BOX = range(0, 6)


def claim(text: str) -> Expr:
    return serq.compile("small.sq", source=small(text)).claims[0].value


def inside() -> list[Formula]:
    """Each variable is one of `BOX`."""
    bounds = []
    for name in NAMES:
        bounds += [at_most(number(0), variable(name)), at_most(variable(name), number(BOX[-1]))]
    return bounds


def random_number(draw: random.Random, depth: int = 2) -> str:
    if depth == 0 or draw.random() < 0.3:
        return draw.choice([*NAMES, str(draw.randint(0, 6))])
    a, b = random_number(draw, depth - 1), random_number(draw, depth - 1)
    form = draw.choice([
        "{a} + {b}", "{a} - ({b})", "{c} * ({a})", "ceil(({a}) / {c})", "floor(({a}) / {c})", "min({a}, {b})",
        "max({a}, {b})", "abs({a})", "({a} < {b} ? {a} : {c})", "({a} > {b})",
    ])  # fmt: skip
    return form.format(a=a, b=b, c=draw.randint(1, 4))


def random_test(draw: random.Random, depth: int = 2) -> str:
    if depth == 0 or draw.random() < 0.4:
        sign = draw.choice(["<", "<=", ">", ">=", "==", "!="])
        return f"({random_number(draw)}) {sign} ({random_number(draw)})"
    a, b = random_test(draw, depth - 1), random_test(draw, depth - 1)
    return draw.choice([f"({a}) && ({b})", f"({a}) || ({b})", f"!({a})", f"(({a}) ? ({b}) : {a})"])


@pytest.mark.parametrize("seed", thinned(range(120), 10))
def test_what_follows_is_true_everywhere(seed: int) -> None:
    draw = random.Random(seed)
    e = claim(random_test(draw))
    translator = Translator({name: variable(name) for name in NAMES})
    formula = translator.truth(e)
    true_everywhere = all(
        evaluate(e, dict(zip(NAMES, point, strict=True))) for point in itertools.product(BOX, repeat=3)
    )
    assert not follows(formula, [*inside(), *translator.side]) or true_everywhere


@pytest.mark.slow
def test_random_tests_are_of_both_kinds() -> None:
    found = 0
    for seed in range(120):
        translator = Translator({name: variable(name) for name in NAMES})
        formula = translator.truth(claim(random_test(random.Random(seed))))
        found += follows(formula, [*inside(), *translator.side])
    assert 5 < found < 110


@pytest.mark.parametrize(
    ("text", "facts"),
    [
        ("demand < 8 || tokens == 8", ["tokens == 8 || tokens == demand", "tokens <= 8"]),
        ("tokens == min(demand, 8)", ["tokens == 8 || tokens == demand", "tokens <= 8", "tokens <= demand"]),
        ("served * 3 <= 6 * demand + 5", ["served <= 2 * demand + 1"]),
        ("2 * tokens != 2 * demand + 1", []),
        ("(tokens > 3) + (tokens <= 3) == 1", []),
        ("ceil(tokens / 4) <= 2", ["tokens <= 8"]),
        ("3 * floor(demand / 3) <= demand", []),
        ("abs(tokens - demand) <= 2", ["tokens <= demand + 2", "demand <= tokens + 2"]),
        ("decoders ? tokens >= 1 : 1", ["decoders <= tokens", "decoders >= 0"]),
    ],
)
def test_what_is_needed_is_found(text: str, facts: list[str]) -> None:
    names = (*NAMES, "decoders")
    translator = Translator({name: variable(name) for name in names})
    given = [translator.truth(claim(fact)) for fact in facts]
    formula = translator.truth(claim(text))
    assert follows(formula, [*given, *translator.side])
    if given:
        assert not follows(formula, [*given[1:], *translator.side])


def test_the_greatest_value_of_a_sum() -> None:
    t, q = variable("t"), variable("q")
    facts = [at_most(number(1), t), at_most(t, number(9)), at_most(t, q.times(4)), equal(t, variable("u"))]
    assert greatest(t.times(3) - q, facts) == Fraction(99, 4)  # 27 - 9/4
    assert greatest(q, facts) is None
    assert greatest(variable("u").times(2), facts) == 18
