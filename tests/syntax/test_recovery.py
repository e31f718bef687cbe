"""Several mistakes in one text: one complaint for each, none for what follows from it."""

from __future__ import annotations

import pytest

from serq.syntax import tree
from tests.syntax.reading import PROGRAMS, read, shape


def codes(text: str) -> list[str]:
    return [c.code for c in read(text)[1]]


def lines(text: str) -> list[int]:
    return [c.at.line for c in read(text)[1] if c.at is not None]


def test_each_statement_has_its_own_complaint() -> None:
    text = """fn main() {
  server {
    set a = ;
    set b = 1;
    set c 2;
    loop { set d = ~; turn; }
  }
  gauge = 3;
  gauge h = 4;
  stage z : lifo;
}"""
    parsed, complaints = read(text)
    assert [c.at.line for c in complaints if c.at] == [3, 5, 6, 8, 10]
    server, gauge = parsed.tree.items
    assert isinstance(server, tree.Server) and isinstance(gauge, tree.Gauge)
    kept, loop = server.body.statements
    assert isinstance(kept, tree.Assign) and kept.name.text == "b"
    assert isinstance(loop, tree.Loop) and len(loop.body.statements) == 1
    assert not parsed.complete
    assert {"a", "c", "d", "z"} <= parsed.skipped
    assert not {"b", "h"} & parsed.skipped


@pytest.mark.parametrize(
    "text",
    [
        "fn main() { stage z : delay\n server { run z (cost(z, 1)) } }",
        "fn main() { server { set a = (1 + 2; set b = min(a, 3; } }",
        "fn main() { server { hold kv (cost(kv, 1) { set a = 1; } } }",
        "def f(x) { set a = x } fn main() { }",
    ],
)
def test_a_missing_mark_is_put_in_and_nothing_is_lost(text: str) -> None:
    parsed, complaints = read(text)
    assert complaints
    assert parsed.complete and not parsed.skipped


def test_a_mistake_in_a_header_drops_the_whole_statement() -> None:
    parsed, complaints = read("fn main() { server { while 1 { set a = ; set b = 2; } set c = 3; } }")
    assert [c.code for c in complaints] == ["SQ0116"]
    (server,) = parsed.tree.items
    assert isinstance(server, tree.Server)
    assert [shape(s)[1]["name"] for s in server.body.statements] == [("Name", {"text": "c"})]
    assert {"a", "b"} <= parsed.skipped


def test_a_block_left_open_is_told_once_where_the_next_item_begins() -> None:
    text = "fn main() {\n  server {\n    observe a = 1;\n  workload { arrive none; }\n  gauge g = 1;\n}\n"
    parsed, (complaint,) = read(text)
    assert complaint.at is not None and (complaint.at.line, complaint.at.column) == (4, 3)
    assert complaint.notes[0].at is not None and complaint.notes[0].at.line == 2
    assert [type(item) for item in parsed.tree.items] == [tree.Server, tree.Workload, tree.Gauge]


def test_a_block_left_open_at_the_end_keeps_what_was_read() -> None:
    parsed, (complaint,) = read("fn main() {\n  gauge g = 1;\n  server { set a = 1; set b =")
    assert complaint.code == "SQ0112"
    assert [type(item) for item in parsed.tree.items] == [tree.Gauge, tree.Server]
    assert parsed.skipped == {"set", "b"}


def test_one_brace_too_many_is_told_once() -> None:
    assert lines("fn main() {\n server {\n set a = 1; }\n }\n gauge g = 1;\n stage z : delay;\n}\n") == [5]
    assert codes("fn main() { }\n}\n}\n") == ["SQ0123"]


def test_one_brace_too_few_is_told_once() -> None:
    assert lines("fn main() {\n server\n set a = 1;\n set b = 2;\n }\n gauge g = 1;\n}\n") == [3]


def test_an_unclosed_comment_or_string_is_told_once() -> None:
    assert codes("fn main() {\n server { /* set a = 1; }\n}\n") == ["SQ0102"]
    assert codes('use "std/args;\nfn main() { }\n') == ["SQ0103"]


def test_complaints_end_after_a_while() -> None:
    assert len(codes("fn main() { server { " + "set a = ; " * 500 + "} }")) == 20


def test_a_misplaced_item_is_read_all_the_same() -> None:
    parsed, complaints = read("pool p { cap 4; }\nfn main() { gauge g = 1; }\nstage z : delay;\n")
    assert [c.code for c in complaints] == ["SQ0163", "SQ0162"]
    assert [type(item) for item in parsed.tree.items] == [tree.Pool, tree.Gauge, tree.Stage]


@pytest.mark.parametrize("file", PROGRAMS, ids=lambda f: f.stem)
def test_a_mistake_added_to_a_program_changes_nothing_else(file: object) -> None:
    """After `fn main() {`, a broken item: one complaint, and the same tree as without it."""
    text = file.read_text(encoding="utf-8")  # type: ignore[attr-defined]
    parsed, complaints = read(text.replace("fn main() {", "fn main() { gauge broken = ; ", 1))
    assert len(complaints) == 1
    assert shape(parsed.tree) == shape(read(text)[0].tree)
    assert parsed.skipped == {"gauge", "broken"}
