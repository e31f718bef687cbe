"""Absurd texts: refused in bounded time and memory, never with a crash."""

from __future__ import annotations

import time

import pytest

from serq.syntax.parse import LONGEST
from tests.support.amounts import share
from tests.syntax.reading import read

N = share(40_000)

TEXTS = {
    "braces": "{" * N,
    "parentheses": "fn main() { gauge g = " + "(" * N,
    "closing": "}" * N,
    "semicolons": ";" * N,
    "words": "x " * N,
    "one word": "x" * N,
    "sum": "fn main() { gauge g = " + "1 + " * N + "1; }",
    "powers": "fn main() { gauge g = " + "2 ^ " * N + "1; }",
    "signs": "fn main() { gauge g = " + "-" * N + "1; }",
    "conditionals": "fn main() { gauge g = " + "1 ? 2 : " * N + "1; }",
    "comments": "/*" * N,
    "quotes": '"' * N,
    "characters": "%" * N,
    "statements": "fn main() { server { " + "set a = ; " * N + "} }",
    "unknown": "fn main() { server { " + "foo; " * N + "} }",
    "definitions": "def f() { " * N,
    "points": "1." * N,
    "lines": "\n" * N,
    "elses": "fn main() { server { " + "else { } " * N + "} }",
    "openers": "fn main() { gauge g = f(" + "a[" * 150 + ";" * N,
}


@pytest.mark.parametrize("text", TEXTS.values(), ids=TEXTS)
def test_an_absurd_text_is_refused_soon(text: str) -> None:
    started = time.process_time()
    _, complaints = read(text)
    assert complaints and all(c.at is not None for c in complaints)
    assert len(complaints) <= 21
    assert time.process_time() - started < 20 * max(len(text) / 1e6, 0.2)


def test_a_long_program_is_read_in_linear_time() -> None:
    def seconds(n: int) -> float:
        text = "fn main() { server { " + "set a = b + min(c, 2) * 3; " * n + "} }"
        started = time.process_time()
        assert not read(text)[1]
        return time.process_time() - started

    n = share(1000)
    seconds(100)
    assert seconds(16 * n) < 40 * max(seconds(n), 0.01)


def test_a_huge_text_is_refused_before_it_is_read() -> None:
    started = time.process_time()
    _, (complaint,) = read("(" * (LONGEST + 1))
    assert complaint.code == "SQ0107"
    assert time.process_time() - started < 0.5


@pytest.mark.parametrize(("levels", "code"), [(199, None), (200, "SQ0108")])
def test_brackets_nest_two_hundred_deep(levels: int, code: str | None) -> None:
    _, complaints = read(f"fn main() {{ gauge g = {'(' * levels}1{')' * levels}; }}")
    assert [c.code for c in complaints] == ([code] if code else [])


@pytest.mark.parametrize(("operators", "code"), [(399, None), (400, "SQ0109")])
def test_operators_nest_four_hundred_deep(operators: int, code: str | None) -> None:
    for chain in (f"{'1 + ' * operators}1", f"{'2 ^ ' * operators}1", f"{'-' * operators}1"):
        _, complaints = read(f"fn main() {{ gauge g = {chain}; }}")
        assert [c.code for c in complaints] == ([code] if code else [])
