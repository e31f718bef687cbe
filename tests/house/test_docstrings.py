"""Everything public says what it is."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

PACKAGE = Path(__file__).parents[2] / "serq"
FILES = sorted(PACKAGE.rglob("*.py"))
LONGEST = 400


def is_record(node: ast.ClassDef) -> bool:
    """A class of fields only: its name is the word of the language, its fields say the rest."""
    return all(isinstance(part, ast.AnnAssign) for part in node.body)


def undocumented(body: list[ast.stmt], inside: str = "") -> Iterator[str]:
    for node in body:
        if not isinstance(node, ast.ClassDef | ast.FunctionDef) or node.name.startswith("_"):
            continue
        is_property_setter = any(isinstance(d, ast.Attribute) for d in node.decorator_list)
        bare = isinstance(node, ast.ClassDef) and is_record(node)
        if ast.get_docstring(node) is None and not bare and not is_property_setter:
            yield f"line {node.lineno}: {inside}{node.name}"
        if isinstance(node, ast.ClassDef):
            yield from undocumented(node.body, f"{node.name}.")


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
