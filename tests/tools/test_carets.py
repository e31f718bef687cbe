"""Carets stand under what a message is about, whatever is written before it and whatever shows it."""

from __future__ import annotations

import sys
from io import BytesIO, TextIOWrapper
from pathlib import Path

import pytest

from serq.tools.cli import run_command

WIDTHS = {
    "a": {"utf-8": 1, "ascii": 1, "latin-1": 1, "cp1252": 1},
    "é": {"utf-8": 1, "ascii": 4, "latin-1": 1, "cp1252": 1},  # \xe9
    "—": {"utf-8": 1, "ascii": 6, "latin-1": 6, "cp1252": 1},  # \u2014
    "漢": {"utf-8": 2, "ascii": 6, "latin-1": 6, "cp1252": 6},
    "👍": {"utf-8": 2, "ascii": 10, "latin-1": 10, "cp1252": 10},  # \U0001f44d
    "e\u0301": {"utf-8": 1, "ascii": 7, "latin-1": 7, "cp1252": 7},  # an accent upon the letter
    "\x07": {"utf-8": 1, "ascii": 6, "latin-1": 6, "cp1252": 6},  # shown as U+FFFD
    "\u202e": {"utf-8": 1, "ascii": 6, "latin-1": 6, "cp1252": 6},  # the same: it would turn the line round
}
"""Columns that a terminal takes for a text."""


def complaint_about(
    line: str, encoding: str, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> tuple[str, str]:
    """The line and the carets under it, as a stream of this encoding gets them."""
    path = folder / "p.sq"
    path.write_text(line, encoding="utf-8")
    stream = TextIOWrapper(BytesIO(), encoding=encoding, newline="")
    monkeypatch.setattr(sys, "stderr", stream)
    assert run_command(["check", str(path)]) == 1
    stream.flush()
    assert isinstance(stream.buffer, BytesIO)
    shown = stream.buffer.getvalue().decode(encoding).split("\n")
    (at,) = (i for i, text in enumerate(shown) if text.startswith("  1 | "))
    return shown[at].removeprefix("  1 | "), shown[at + 1].removeprefix("    | ")


@pytest.mark.parametrize("encoding", ["utf-8", "ascii", "latin-1", "cp1252"])
@pytest.mark.parametrize("before", WIDTHS)
def test_a_caret_stands_under_its_character(
    before: str, encoding: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    line = f"fn main() {{ /* {before * 3} */ gauge g = lost; }}"
    _, carets = complaint_about(line, encoding, tmp_path, monkeypatch)
    start = len("fn main() { /* ") + 3 * WIDTHS[before][encoding] + len(" */ gauge g = ")
    assert carets == " " * start + "^^^^"


@pytest.mark.parametrize(
    ("name", "encoding", "wide"),
    [("é", "utf-8", 1), ("é", "ascii", 4), ("漢字", "utf-8", 4), ("漢é", "ascii", 10), ("xé", "cp1252", 2)],
)
def test_carets_are_as_wide_as_what_is_marked(
    name: str, encoding: str, wide: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    line = f"fn main() {{ gauge g = {name}; }}"
    shown, carets = complaint_about(line, encoding, tmp_path, monkeypatch)
    assert carets == " " * len("fn main() { gauge g = ") + "^" * wide
    assert shown == line.encode(encoding, "backslashreplace").decode(encoding)


def test_a_tab_before_a_caret_is_a_tab(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    _, carets = complaint_about("fn main() {\té\tgauge g = lost; }", "utf-8", tmp_path, monkeypatch)
    assert carets.startswith(" " * len("fn main() {") + "\t")
