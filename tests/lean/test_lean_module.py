"""The Lean file as a whole: golden texts, names, one model."""

from __future__ import annotations

import os
import re
from pathlib import Path

import pytest

import serq
from serq.lean import emit_lean
from serq.lean.module import model_text
from serq.lean.names import KEYWORDS, doc_comment, lean_name
from tests.lean.programs import FASTERTRANSFORMER, ROOT, SARATHI, small, stated

PACKAGE = ROOT / "lean_export" / "Serq"


def same(path: Path, text: str) -> None:
    """`text` is what the file holds; with SERQ_BLESS=1 it is written there first."""
    if os.environ.get("SERQ_BLESS"):
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    assert text == path.read_text(encoding="utf-8")


@pytest.mark.parametrize("program", [SARATHI, FASTERTRANSFORMER], ids=lambda p: p.stem)
def test_the_lean_package_holds_the_statements_of_the_examples(program: Path) -> None:
    text = emit_lean(serq.compile(program), import_model=True)
    same(PACKAGE / "Generated" / f"{program.stem}.lean", text)


def test_the_lean_package_has_the_model_that_statements_are_given() -> None:
    same(PACKAGE / "Model.lean", (ROOT / "serq" / "lean" / "model.lean").read_text(encoding="utf-8"))


def test_a_statement_carries_the_whole_model_or_imports_it() -> None:
    program = serq.compile(SARATHI)
    alone, importing = emit_lean(program), emit_lean(program, import_model=True)
    assert model_text() in alone and "import" not in alone
    assert importing.startswith("module\n\npublic import Serq.Model\n\n/-!")
    body = alone.split("end Serq\n\n", 1)[1]
    assert importing.endswith(body)
    assert len(model_text().splitlines()) > 200


def test_the_same_program_gives_the_same_text() -> None:
    assert emit_lean(serq.compile(SARATHI)) == emit_lean(serq.compile(SARATHI))


def test_nothing_is_proved_or_left_open() -> None:
    text = emit_lean(serq.compile(FASTERTRANSFORMER))
    assert not re.search(r"\b(sorry|axiom|theorem|example|Mathlib)\b", text)


def test_lines_have_at_most_100_columns() -> None:
    for program in (SARATHI, FASTERTRANSFORMER):
        assert max(map(len, emit_lean(serq.compile(program)).splitlines())) <= 100


def test_a_claim_is_quoted_with_its_line() -> None:
    text = stated("\n\n" + small("tokens\n  > 0"))
    assert "/-- Line 11: `claim c: every iteration of e (tokens > 0);` -/\ndef c : Prop :=\n" in text


@pytest.mark.parametrize(
    ("name", "lean"),
    [
        ("token_rate", "token_rate"), ("end", "«end»"), ("by", "«by»"), ("_", "«_»"), ("_x", "_x"),
        ("größer", "«größer»"), ("λ", "«λ»"), ("dai-sarathi", "«dai-sarathi»"), ("a.b", "«a.b»"),
        ("a»b", "«a_b»"), ("Type", "«Type»"), ("2nd", "«2nd»"),
    ],
)  # fmt: skip
def test_a_name_is_one_component_of_a_lean_name(name: str, lean: str) -> None:
    assert lean_name(name) == lean


def test_the_words_of_lean_are_escaped() -> None:
    assert all(lean_name(word) == f"«{word}»" for word in KEYWORDS)


def test_a_claim_that_is_called_like_something_in_the_file_is_protected() -> None:
    claims = "claim max: every iteration of e (max(tokens, 2) > 1); claim program: some iteration of e (1);"
    text = stated(small(claims=claims))
    assert "\nprotected def max : Prop :=\n  EveryIteration program_ fun i => max i.tokens 2 > 1\n" in text
    assert "\ndef program_ : Program where\n" in text
    assert "\nprotected def program : Prop :=\n" in text
    assert "\ndef c : Prop :=\n" in text


@pytest.mark.parametrize("text", ["a -/* b */ c", "a /-b", "--/-/- /- -/-/", "-/"])
def test_a_quotation_neither_ends_its_comment_nor_opens_another(text: str) -> None:
    inside = doc_comment(text).removeprefix("/--").removesuffix(" -/")
    assert "-/" not in inside and "/-" not in inside


def test_inputs_are_stated_with_the_values_they_were_given() -> None:
    source = 'use "std/args";\n' + small(items='let budget = args.number("b", 8);', cap="budget")
    program = serq.compile("small.sq", source=source, sets={"b": 16})
    text = emit_lean(program, import_model=True)
    assert "Its inputs here: budget = 16." in text and "budget := 16\n" in text
