"""The tree of well-formed programs: what its nodes are, and that each covers exactly its text."""

from __future__ import annotations

from pathlib import Path

import pytest

from serq.source import SourceFile, Span
from serq.syntax import tree
from serq.syntax.build import BUILDERS
from tests.syntax.reading import PROGRAMS, nodes, read, read_expression, read_well, shape, statements

EXPRESSIONS = (
    tree.Number, tree.Call, tree.Draw, tree.Aggregate, tree.Unary, tree.Binary, tree.Conditional,
)  # fmt: skip


def text_at(source: SourceFile, at: Span) -> str:
    lines = [source.line(n) for n in range(at.line, at.end_line + 1)]
    lines[-1] = lines[-1][: at.end_column - 1]
    lines[0] = lines[0][at.column - 1 :]
    return "\n".join(lines)


@pytest.mark.parametrize("file", PROGRAMS, ids=lambda f: f.stem)
def test_a_node_covers_exactly_its_text(file: Path) -> None:
    source = SourceFile("test.sq", file.read_text(encoding="utf-8"))
    for node in nodes(read_well(source.text)):
        at = node.at
        assert at.file == source.name
        shown = text_at(source, at)
        if isinstance(node, tree.Program):
            continue
        assert shown and shown == shown.strip(), node
        if isinstance(node, tree.Name):
            assert shown == node.text
        elif isinstance(node, EXPRESSIONS):
            assert shape(read_expression(shown)) == shape(node)
        elif isinstance(node, tree.Block):
            assert shown[0] + shown[-1] == "{}"
        elif not isinstance(node, (tree.Reference, tree.Text)):
            assert shown[0].isalpha() or (isinstance(node, tree.Where) and shown[0] == "[")
        for name in node.__match_args__:
            for part in (
                getattr(node, name) if isinstance(getattr(node, name), tuple) else [getattr(node, name)]
            ):
                if isinstance(part, tree.Node):
                    assert (at.line, at.column) <= (part.at.line, part.at.column)
                    assert (part.at.end_line, part.at.end_column) <= (at.end_line, at.end_column)


def test_the_programs_use_every_class_of_the_tree() -> None:
    used = {type(node) for file in PROGRAMS for node in nodes(read_well(file.read_text(encoding="utf-8")))}
    classes = {c for c in vars(tree).values() if isinstance(c, type) and issubclass(c, tree.Node)}
    assert classes - used == {tree.Node}


def test_the_programs_use_every_builder(monkeypatch: pytest.MonkeyPatch) -> None:
    called: set[str] = set()
    for name, builder in list(BUILDERS.items()):

        def spy(*values: object, name: str = name, builder: object = builder) -> object:
            called.add(name)
            return builder(*values)  # type: ignore[operator]

        monkeypatch.setitem(BUILDERS, name, spy)
    for file in PROGRAMS:
        read(file.read_text(encoding="utf-8"))
    assert set(BUILDERS) - called == {"library"}


def test_a_hold_keeps_its_clauses_apart() -> None:
    (hold,) = statements(
        "hold a (1), b (2) reserve (3) reuse (4) at admission (x = 5, y = 6) { end; } cache (7) lease b (8);"
    )
    assert isinstance(hold, tree.Hold)
    assert [part.place.name.text for part in hold.parts] == ["a", "b"]
    assert [shape(part.reserve) for part in hold.parts] == [None, ("Number", {"value": 3})]
    assert [name.text for name, _ in hold.bindings] == ["x", "y"]
    assert [shape(e) for e in (hold.reuse, hold.cache)] == [("Number", {"value": n}) for n in (4, 7)]
    assert hold.lease is not None and hold.lease[0].name.text == "b"
    assert len(hold.body.statements) == 1


def test_a_plain_hold_has_no_clauses() -> None:
    (hold,) = statements("hold a (1) { }")
    assert isinstance(hold, tree.Hold)
    assert (hold.reuse, hold.bindings, hold.cache, hold.lease) == (None, (), None, None)


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("run e prefill (1);", "prefill"), ("run e decode (1) growing kv;", "decode"), ("run z (1);", None),
        ("run prefill (1);", None), ("run prefill prefill (1);", "prefill"),
    ],
)  # fmt: skip
def test_a_run_has_a_mode_when_it_says_so(text: str, kind: str | None) -> None:
    (run,) = statements(text)
    assert isinstance(run, tree.Run)
    assert (run.mode.text if run.mode else None) == kind
    assert len(run.places) == 1


def test_a_let_after_a_statement_of_a_schedule_is_kept_apart() -> None:
    program = read_well(
        "fn main() { engine e on gpu { schedule { let a = 1; advance running; let b = 2; admit waiting; } } }"
    )
    (engine,) = program.items
    assert isinstance(engine, tree.Engine)
    (schedule,) = engine.items
    assert isinstance(schedule, tree.Schedule)
    assert [let.name.text for let in schedule.lets] == ["a"]
    assert [let.name.text for let in schedule.late_lets] == ["b"]
    assert [type(s) for s in schedule.statements] == [tree.Advance, tree.Admit]


@pytest.mark.parametrize(
    ("body", "holds"),
    [
        ("{ }", tree.Block), ("{ set a = 1; }", tree.Block), ("{ branch (x) { } }", tree.Block),
        ("{ hold p (x) { } }", tree.Block), ("{ loop { end; } }", tree.Block), ("{ x }", tree.Reference),
        ("{ end + 1 }", tree.Binary), ("{ max(x, 1) }", tree.Call), ("{ (x) }", tree.Reference),
        ("{ turn }", tree.Reference), ("{ max j in 3 (j) }", tree.Aggregate), ("{ f(x); }", tree.Block),
    ],
)  # fmt: skip
def test_braces_of_a_definition_hold_statements_or_one_expression(body: str, holds: type) -> None:
    (definition,) = read_well(f"def d(x) {body} fn main() {{ }}").before
    assert isinstance(definition, tree.Definition)
    assert type(definition.body) is holds


def test_before_and_inside_main_are_kept_apart() -> None:
    program = read_well('use "std/args"; let a = 1; def f() { } fn main() { let b = 2; share maxmin; }')
    assert [type(item).__name__ for item in program.before] == ["Import", "Let", "Definition"]
    assert [type(item).__name__ for item in program.items] == ["Let", "Share"]
    assert program.main is not None and program.main.column == 43


def test_comments_are_kept_with_their_places() -> None:
    parsed, _ = read("// one\nfn main() { /* two\n three */ } // four")
    assert [(c.text, c.at.line, c.at.column, c.at.end_line, c.at.end_column) for c in parsed.comments] == [
        ("// one", 1, 1, 1, 7),
        ("/* two\n three */", 2, 13, 3, 10),
        ("// four", 3, 13, 3, 20),
    ]


def test_a_node_shows_its_parts_without_places() -> None:
    assert repr(read_expression("a + 1")) == (
        "Binary(operator='+', left=Reference(name=Name(text='a'), index=None, member=None), "
        "right=Number(value=1.0))"
    )
