"""Texts that nobody wrote: whatever they are, reading ends with a tree or with a complaint."""

from __future__ import annotations

import re
from random import Random

from hypothesis import example, given
from hypothesis import strategies as st

from serq.diagnostics import show_diagnostic
from serq.syntax.parse import Parsed
from serq.syntax.tables import load_tables
from tests.syntax.reading import PROGRAMS, nodes, read, shape

TEXTS = [file.read_text(encoding="utf-8") for file in PROGRAMS]
SPLIT = re.compile(r"(\s+|\w+|//[^\n]*|/\*.*?\*/|\"[^\"\n]*\"|.)", re.DOTALL)
PIECES = [[piece for piece in SPLIT.findall(text) if piece] for text in TEXTS]
"""Each program in pieces: words, marks, blanks, comments."""

words = sorted(load_tables().words)
tokens = st.sampled_from(
    [
        *words,
        *"+-*/^<>!?:~=,;.(){}[]",
        "<=",
        ">=",
        "==",
        "!=",
        "&&",
        "||",
        "a",
        "kv",
        "1",
        "2.5",
        "1..2",
        '"s"',
        '"',
    ]
)


def check(text: str) -> Parsed:
    """Read `text`; whatever is said has a place in it and can be shown."""
    parsed, complaints = read(text)
    lines = text.split("\n")
    for complaint in complaints:
        at = complaint.at
        assert at is not None
        assert 1 <= at.line <= len(lines) and 1 <= at.column <= len(lines[at.line - 1]) + 1, show_diagnostic(
            complaint
        )
        assert show_diagnostic(complaint)
    assert complaints or (parsed.complete and not parsed.skipped and parsed.tree.main is not None)
    assert all(node.at.file == "test.sq" for node in nodes(parsed.tree))
    return parsed


@given(st.lists(tokens, max_size=40).map(" ".join))
def test_any_tokens_end_in_a_tree_or_a_complaint(soup: str) -> None:
    check(soup)
    check(f"fn main() {{ {soup} }}")
    check(f"fn main() {{ server {{ {soup} }} }}")
    check(f"fn main() {{ engine e on gpu {{ schedule {{ {soup} }} {soup} }} }}")


@given(st.text(max_size=60))
@example("\ufeff")
@example("\r\n\x0b\x0c\x1c\u2028")
@example("٣ ² é _ \U0001d7d9")
def test_any_characters_end_in_a_tree_or_a_complaint(text: str) -> None:
    check(text)
    check(f"fn main() {{ gauge g = {text}; }}")


@given(st.data())
def test_a_program_with_pieces_lost_or_doubled_ends_in_a_tree_or_a_complaint(data: st.DataObject) -> None:
    pieces = list(data.draw(st.sampled_from(PIECES)))
    for _ in range(data.draw(st.integers(1, 3))):
        place = data.draw(st.integers(0, len(pieces) - 1))
        change = data.draw(st.sampled_from(["lose", "double", "cut", "put"]))
        if change == "lose":
            del pieces[place]
        elif change == "double":
            pieces.insert(place, pieces[place])
        elif change == "cut":
            del pieces[place:]
        else:
            pieces.insert(place, f" {data.draw(tokens)} ")
        if not pieces:
            break
    check("".join(pieces))


@given(st.sampled_from(PIECES), st.integers(0, 2**32))
def test_blanks_and_comments_change_places_only(pieces: list[str], seed: int) -> None:
    choose = Random(seed).choice
    blanks = ["", "", " ", "\n", "\r\n", "\t", " // a comment; }\n", " /* another { */ "]
    moved = [
        (choose(blanks) if piece[0].isspace() or piece[0] in ";{}(),[]" else "") + piece for piece in pieces
    ]
    assert shape(check("".join(moved)).tree) == shape(check("".join(pieces)).tree)
