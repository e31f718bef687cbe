"""The grammar, its tables and its builders agree; kept tables are used only where they belong."""

from __future__ import annotations

import marshal
from pathlib import Path

import pytest
from lark import Lark, logger

from serq.syntax import tables
from serq.syntax.build import BUILDERS
from serq.syntax.rooms import ROOMS, words_by_room
from serq.syntax.surprise import THINGS
from serq.syntax.tables import STARTS, Tables, load_tables, make_tables, read_grammar


@pytest.fixture(scope="module")
def made() -> Tables:
    return make_tables(read_grammar())


@pytest.fixture
def places(made: Tables, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[Path]:
    """Two empty places for tables, in the order in which they are tried; `made` are the tables to keep."""
    found = [tmp_path / "package" / "serq.tables", tmp_path / "person" / "serq.tables"]
    monkeypatch.setattr(tables, "_places", lambda: [str(place) for place in found])
    monkeypatch.setattr(tables, "make_tables", lambda grammar: made)
    return found


def test_every_rule_has_its_builder_and_every_builder_its_rule(made: Tables) -> None:
    assert {rule.builder for rule in made.rules} - {"", "[]"} == set(BUILDERS)


def test_every_room_is_a_list_in_the_grammar_and_has_a_name(made: Tables) -> None:
    assert set(ROOMS) <= {rule.origin for rule in made.rules}
    assert all(rule.builder == "[]" for rule in made.rules if rule.origin in ROOMS)
    assert {*ROOMS.values(), "expression"} == set(THINGS)


def test_words_are_known_by_the_rooms_in_which_they_begin_something(made: Tables) -> None:
    rooms = words_by_room(made)
    assert rooms["session"] == ["workload"]
    assert set(rooms["pool"]) == {"program", "main", "queue"}
    assert set(rooms["set"]) == {"statements", "schedule"}


def test_tables_are_kept_and_read_back(
    places: list[Path], made: Tables, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert load_tables() == made
    assert places[0].exists() and not places[1].exists()
    assert list(places[0].parent.iterdir()) == [places[0]]
    monkeypatch.setattr(tables, "make_tables", None)
    assert load_tables() == made
    assert load_tables() is not made


def test_tables_go_to_the_person_where_the_package_cannot_be_written(
    places: list[Path], made: Tables
) -> None:
    places[0].parent.write_text("a file where a folder should be")
    assert load_tables() == made
    assert places[1].exists()


def test_tables_that_cannot_be_kept_are_made_each_time(places: list[Path], made: Tables) -> None:
    for place in places:
        place.parent.write_text("a file where a folder should be")
    assert load_tables() == made


@pytest.mark.parametrize(
    "kept",
    [
        b"",
        b"nonsense",
        marshal.dumps(()),
        marshal.dumps((1, "another grammar", [], [], [], {}, {}, frozenset())),
    ],
)
def test_kept_tables_that_are_broken_or_of_another_grammar_are_made_anew(
    kept: bytes, places: list[Path], made: Tables
) -> None:
    places[0].parent.mkdir()
    places[0].write_bytes(kept)
    assert load_tables() == made
    assert places[0].read_bytes() != kept


def test_the_grammar_leaves_nothing_to_a_tie_break(caplog: pytest.LogCaptureFixture) -> None:
    """Lark settles a conflict between shifting and reducing by itself, and says so only when asked."""
    logger.addHandler(caplog.handler)
    try:
        Lark(read_grammar(), parser="lalr", start=list(STARTS), debug=True)
    finally:
        logger.removeHandler(caplog.handler)
    assert "onflict" not in caplog.text
