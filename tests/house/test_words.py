"""Words that have no place in the project."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
SHOWN = ("serq", "grammar", "examples", "lean_export")
FILES = [
    file
    for folder in SHOWN
    for file in sorted((ROOT / folder).rglob("*"))
    if file.suffix in {".py", ".lark", ".sq", ".lean", ".md", ".toml"}
] + sorted(ROOT.glob("*.md"))


@pytest.mark.parametrize("file", FILES, ids=lambda f: str(f.relative_to(ROOT)))
def test_a_file_speaks_of_the_project_alone(file: Path) -> None:
    text = file.read_text(encoding="utf-8")
    assert not re.search(r"/tmp\b|/wor[k]/|\bTODO\b|\bFIXME\b|\bXXX\b", text)


@pytest.mark.parametrize("word", ["util", "helper", "manager"])
def test_no_file_has_a_name_that_says_nothing(word: str) -> None:
    assert not [f for f in FILES if word in f.name]
