"""The register of codes and the code that uses it agree."""

from __future__ import annotations

import ast
import re
import string
from pathlib import Path

import pytest

from serq.codes import CODES

PACKAGE = Path(__file__).parents[2] / "serq"

RANGES = {
    "syntax": "SQ01", "names": "SQ02", "types": "SQ03", "moments": "SQ04", "limits": "SQ05",
    "machine": "SQ06", "doubts": "SQ07", "lean": "SQ08", "tools": "SQ09",
}  # fmt: skip


def codes_in(file: Path) -> set[str]:
    """The codes that a file passes on, as whole strings."""
    return {
        node.value
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8")))
        if isinstance(node, ast.Constant)
        and isinstance(node.value, str)
        and re.fullmatch(r"SQ\d{4}", node.value)
    }


def test_every_code_is_registered_and_used() -> None:
    files = [f for f in PACKAGE.rglob("*.py") if f.parent.name != "codes"]
    used = set().union(*map(codes_in, files))
    assert used - set(CODES) == set(), "used but not in the register"
    assert set(CODES) - used == set(), "in the register but never said"


@pytest.mark.parametrize("room", RANGES)
def test_a_code_lies_in_the_range_of_its_file(room: str) -> None:
    listed = codes_in(PACKAGE / "codes" / f"{room}.py")
    assert {code[:4] for code in listed} <= {RANGES[room]}


def test_no_code_is_listed_twice() -> None:
    assert len(CODES) == sum(len(codes_in(PACKAGE / "codes" / f"{room}.py")) for room in RANGES)


@pytest.mark.parametrize("code", CODES)
def test_the_words_of_a_code_can_be_filled_and_end_plainly(code: str) -> None:
    entry = CODES[code]
    for text in (entry.title, entry.help):
        assert not text.endswith((".", " ")), text
        for _, fact, spec, _ in string.Formatter().parse(text):
            assert fact is None or (fact.isidentifier() and not spec), f"{code}: {text}"
    assert entry.severity in ("error", "doubt")
