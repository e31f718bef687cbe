"""Everything public says what it is."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

import serq

PACKAGE = Path(__file__).parents[2] / "serq"
FILES = sorted(PACKAGE.rglob("*.py"))
LONGEST = 400


def is_record(node: ast.ClassDef) -> bool:
    """A class of fields only: its name is the word of the language, its fields say the rest."""
    return all(isinstance(part, ast.AnnAssign) for part in node.body)


def undocumented(body: list[ast.stmt]) -> Iterator[str]:
    for node in body:
        if not isinstance(node, ast.ClassDef | ast.FunctionDef) or node.name.startswith("_"):
            continue
        bare = isinstance(node, ast.ClassDef) and is_record(node)
        if ast.get_docstring(node) is None and not bare:
            yield f"line {node.lineno}: {node.name}"


@pytest.mark.parametrize("file", FILES, ids=lambda f: str(f.relative_to(PACKAGE)))
def test_public_names_have_docstrings(file: Path) -> None:
    tree = ast.parse(file.read_text(encoding="utf-8"))
    assert ast.get_docstring(tree), "the file does not say what it is"
    assert list(undocumented(tree.body)) == []


@pytest.mark.parametrize("file", FILES, ids=lambda f: str(f.relative_to(PACKAGE)))
def test_a_long_file_says_why_it_is_one(file: Path) -> None:
    text = file.read_text(encoding="utf-8")
    doc = ast.get_docstring(ast.parse(text)) or ""
    assert len(text.splitlines()) <= LONGEST or "one file" in doc


@pytest.mark.parametrize("name", [name for name in serq.__all__ if not name.startswith("__")])
def test_the_front_door_is_described_down_to_its_methods(name: str) -> None:
    thing = getattr(serq, name)
    assert thing.__doc__
    if isinstance(thing, type):
        for word, part in vars(thing).items():
            if not word.startswith("_") and (callable(part) or isinstance(part, property)):
                assert part.__doc__, word
