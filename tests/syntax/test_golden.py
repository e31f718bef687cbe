"""What is said of malformed programs: one program and its messages for every code of the room.

After a change of wording, `SERQ_BLESS=1 python -m pytest tests/syntax/test_golden.py` rewrites the
messages; a person then reads the difference.
"""

from __future__ import annotations

import os
import re
from pathlib import Path

import pytest

from serq.codes.syntax import CODES
from serq.diagnostics import Sink, show_diagnostic
from serq.source import SourceFile
from serq.syntax.parse import parse_program

GOLDEN = Path(__file__).parent / "golden"
PROGRAMS = sorted(GOLDEN.glob("*.sq"))

ELSEWHERE = {
    "SQ0107": "a program of more than a million characters, see test_bounds.py",
    "SQ0145": "only of an expression that stands alone, see test_expressions.py",
}
"""Codes without a file here, with the reason."""


def messages(file: Path) -> str:
    sink = Sink()
    parse_program(SourceFile(file.name, file.read_bytes().decode()), sink)
    return "".join(f"{show_diagnostic(d)}\n" for d in sink.errors)


@pytest.mark.parametrize("file", PROGRAMS, ids=lambda f: f.stem)
def test_a_malformed_program_gets_its_messages(file: Path) -> None:
    expected = file.with_suffix(".txt")
    if "SERQ_BLESS" in os.environ:
        expected.write_text(messages(file), encoding="utf-8")
    assert messages(file) == expected.read_text(encoding="utf-8")


@pytest.mark.parametrize("file", [f for f in PROGRAMS if f.stem.startswith("SQ")], ids=lambda f: f.stem)
def test_a_file_gets_the_code_it_is_named_after(file: Path) -> None:
    said = re.findall(r"error\[(SQ\d+)\]", messages(file))
    assert file.stem[:6] in said


def test_every_code_has_a_malformed_program() -> None:
    shown = {file.stem[:6] for file in PROGRAMS} | set(ELSEWHERE)
    assert set(CODES) - shown == set()


@pytest.mark.parametrize("file", PROGRAMS, ids=lambda f: f.stem)
def test_no_message_speaks_of_the_parser(file: Path) -> None:
    """Names of terminals (SEMICOLON, LPAR), of states and of Python classes stay inside."""
    words = {
        w
        for line in messages(file).splitlines()
        if " | " not in line
        for w in re.findall(r"[A-Z_]{2,}", line)
    }
    assert words <= {"NUL", "UTF", "NAME", "ENGINE", "DEVICE", "POOL", "STAGE", "SQ", "U"}
