"""Lists of numbers: their values in the text, and those given from outside."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from serq.source import SourceFile, Span
from serq.syntax import tree

if TYPE_CHECKING:
    from serq.check.expand import ParseExpression
    from serq.check.expressions import Expressions

_PLAIN = re.compile(r"\s*-?(\d+\.?\d*|\.\d+)([eE][-+]?\d+)?\s*")

Given = str | float | Sequence[float]
"""What an input is given: a number, several, or the text of constant expressions."""


def given_file(external: str) -> str:
    """What stands for the file of a value from outside, in the places of complaints."""
    return f"--set {external}"


def list_values(
    values: Sequence[tree.Expr], order: int, x: Expressions, name: str
) -> tuple[float, ...] | None:
    """The numbers of a list in the text; None when one has no value, which is then already said."""
    found = [x.constant(value, order) for value in values]
    for value, written in zip(found, values, strict=True):
        if value is not None and value != value:
            x.complaints.say("SQ0513", written.at, name=name)
            return None
    numbers = tuple(value for value in found if value is not None)
    return numbers if len(numbers) == len(values) else None


def given_list(
    external: str, given: Given, order: int, x: Expressions, parse_expression: ParseExpression
) -> tuple[float, ...] | None:
    """The list that an input was given: numbers, or the text `4, 4, 1`, perhaps in brackets."""
    if not isinstance(given, str):
        numbers = tuple(map(float, given)) if isinstance(given, Sequence) else (float(given),)
        text = ", ".join(map(repr, numbers))
    else:
        text = given
    source = SourceFile(given_file(external), text)
    at = Span(1, 1, 1, 1 + len(text), source.name)
    x.complaints.sink.sources.setdefault(source.name, source)
    if isinstance(given, str):
        inner = text.strip()
        start = text.find("[") + 1 if inner.startswith("[") and inner.endswith("]") else 0
        found = [
            text_value(piece, source, place, order, x, parse_expression)
            for piece, place in pieces(text[start : text.rfind("]")] if start else text, start)
            if inner not in ("", "[]")
        ]
        if any(value is None for value in found):
            return None
        numbers = tuple(value for value in found if value is not None)
    if not numbers:
        x.complaints.say("SQ0259", at, name=external)
        return None
    if any(value != value for value in numbers):
        x.complaints.say("SQ0513", at, name=external)
        return None
    return numbers


def pieces(text: str, start: int) -> Iterator[tuple[str, int]]:
    """What stands between the commas of `text` that are not in parentheses, with its place."""
    depth, begun = 0, 0
    for i, letter in enumerate(f"{text},"):
        depth += (letter == "(") - (letter == ")")
        if (letter == "," and depth == 0) or i == len(text):
            yield text[begun:i], start + begun
            begun = i + 1


def text_value(
    piece: str, source: SourceFile, place: int, order: int, x: Expressions, parse_expression: ParseExpression
) -> float | None:
    """One number of a list given as text; complaints point into the whole text."""
    if _PLAIN.fullmatch(piece):
        return float(piece)
    # Blanks keep the columns of the whole text.
    expression = parse_expression(SourceFile(source.name, " " * place + piece), x.complaints.sink)
    return None if expression is None else x.constant(expression, order)
