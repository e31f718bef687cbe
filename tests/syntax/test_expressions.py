"""What an expression means is first how its parts belong together."""

from __future__ import annotations

import math
from typing import Any

import pytest

from serq.diagnostics import Sink
from serq.source import SourceFile
from serq.syntax import tree
from serq.syntax.depth import depth
from serq.syntax.parse import parse_expression
from tests.syntax.reading import read_expression, shape

OPERATIONS: dict[str, Any] = {
    "+": lambda a, b: a + b, "-": lambda a, b: a - b, "*": lambda a, b: a * b, "/": lambda a, b: a / b,
    "^": lambda a, b: a**b, "<": lambda a, b: a < b, "<=": lambda a, b: a <= b, ">": lambda a, b: a > b,
    ">=": lambda a, b: a >= b, "==": lambda a, b: a == b, "!=": lambda a, b: a != b,
    "&&": lambda a, b: bool(a and b), "||": lambda a, b: bool(a or b),
}  # fmt: skip


def value(e: tree.Expr, given: dict[str, float] | None = None) -> float:
    """The value of an expression over numbers: enough of the language to see how it was read."""
    given = given or {}
    if isinstance(e, tree.Number):
        return e.value
    if isinstance(e, tree.Reference):
        return given[e.name.text]
    if isinstance(e, tree.Unary):
        operand = value(e.operand, given)
        return -operand if e.operator == "-" else float(not operand)
    if isinstance(e, tree.Binary):
        return float(OPERATIONS[e.operator](value(e.left, given), value(e.right, given)))
    if isinstance(e, tree.Conditional):
        return value(e.then if value(e.test, given) else e.otherwise, given)
    if isinstance(e, tree.Aggregate):
        terms = [value(e.body, given | {e.variable.text: j}) for j in range(int(value(e.bound, given)))]
        return {"sum": sum, "max": max, "min": min}[e.kind.text](terms)
    raise AssertionError(e)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("-2 ^ 2", -4), ("2 ^ 3 ^ 2", 512), ("2 ^ -1", 0.5), ("!0 + 1", 2), ("!1 == 0", 1),
        ("1 - -2", 3), ("--2", 2), ("(1 < 2) == (3 < 4)", 1), ("1 ? 0 ? 1 : 2 : 3", 2),
        ("0 ? 1 : 0 ? 2 : 3", 3), ("sum k in 3 (k) * 2", 6), ("2 * sum k in 3 (k + 1) ^ 2", 72),
        ("10 - 2 - 3", 5), ("16 / 4 / 2", 2), ("1 + 2 * 3", 7), ("(1 + 2) * 3", 9), ("2 * -3 ^ 2", -18),
        ("1 || 0 && 0", 1), ("1 < 2 && 3 > 2", 1), ("1 + 1 == 2", 1), ("0 || 2", 1), ("-2 * -3", 6),
        ("max j in (1 + 2) (j * j) - 1", 3), ("min j in n (5 - j)", 2), ("!(1 - 1)", 1),
        ("1 /* one */ + // two\n 2", 3),
    ],
)  # fmt: skip
def test_operators_bind_as_in_the_language(text: str, expected: float) -> None:
    assert value(read_expression(text), {"n": 4}) == expected


@pytest.mark.parametrize(
    ("text", "number"),
    [
        ("7", 7), ("2.5", 2.5), (".5", 0.5), ("5.", 5), ("1e3", 1000), ("1E-2", 0.01), ("2.e+1", 20),
        ("1_000", 1000), ("1_0.0_1", 10.01), ("007", 7), ("1e999", math.inf), ("1_", 1),
    ],
)  # fmt: skip
def test_a_number_is_a_double(text: str, number: float) -> None:
    assert shape(read_expression(text)) == ("Number", {"value": number})


@pytest.mark.parametrize(
    "text",
    [
        "max", "sum", "on", "end", "batch", "in", "max - 1", "sum.x", "min + max", "cost", "NAME", "NUMBER",
        "prefill ? run : while", "größe", "_", "x1", "kv[j]", "P[i].kv", "running.count", "queue(P[1])",
        "cost(kv, reqs[0], need)", "max max in max (max)", "sum in in in (in)", "f()", "max(1, 2)",
    ],
)  # fmt: skip
def test_words_of_the_language_are_names_in_an_expression(text: str) -> None:
    read_expression(text)


def test_a_reference_keeps_its_parts() -> None:
    assert shape(read_expression("P[i].kv")) == (
        "Reference",
        {
            "name": ("Name", {"text": "P"}),
            "index": (
                "Reference", {"name": ("Name", {"text": "i"}), "index": None, "member": None},
            ),
            "member": ("Name", {"text": "kv"}),
        },
    )  # fmt: skip


@pytest.mark.parametrize(
    ("text", "code", "column"),
    [
        ("", "SQ0136", 1), ("1 +", "SQ0136", 4), ("2 n", "SQ0141", 3), ("(1", "SQ0111", 3),
        ("1; 2", "SQ0145", 2), ("1)", "SQ0145", 2), ("1, 2", "SQ0145", 2), ("1 < 2 < 3", "SQ0113", 7),
        ('"a"', "SQ0136", 1), ("0x10", "SQ0105", 2), ("#", "SQ0101", 1), ("1 = 2", "SQ0138", 3),
        ("sum k in 2 + 1 (k)", "SQ0116", 12), ("max in 3 (1)", "SQ0141", 5), ("set x = 3", "SQ0141", 5),
        ("1__ 0", "SQ0141", 5), ("1e1_0", "SQ0105", 4), ("1 ? 2", "SQ0114", 6), ("\0", "SQ0101", 1),
    ],
)  # fmt: skip
def test_a_text_that_is_no_expression_gets_one_complaint(text: str, code: str, column: int) -> None:
    sink = Sink()
    assert parse_expression(SourceFile("--set n", text), sink) is None
    (complaint,) = sink.diagnostics
    assert complaint.at is not None
    assert (complaint.code, complaint.at.line, complaint.at.column) == (code, 1, column)


@pytest.mark.parametrize(
    "text", ["1", "-1", "1 + 2", "1 + 2 + 3", "1 + 2 * 3", "f(1, g(2))", "a ? b : c", "x[1]"]
)
def test_depth_is_the_longest_way_down(text: str) -> None:
    def deepest(e: Any) -> int:
        if isinstance(e, tuple):
            return max(map(deepest, e), default=0)
        if not isinstance(e, tree.Node) or isinstance(e, tree.Name):
            return 0
        return 1 + max((deepest(getattr(e, name)) for name in e.__match_args__), default=0)

    e = read_expression(text)
    assert depth(e, {}) == deepest(e)
