"""The Lean file as a whole: golden texts, names, one model."""

from __future__ import annotations

import os
import re
from pathlib import Path

import pytest

import serq
from serq.lean import emit_lean
from serq.lean.module import module_body, module_stem
from serq.lean.names import KEYWORDS, doc_comment, lean_name
from tests.lean.programs import FASTERTRANSFORMER, PACKAGE, ROOT, SARATHI, small, stated


def same(path: Path, text: str) -> None:
    """`text` is what the file holds; with SERQ_BLESS=1 it is written there first."""
    if os.environ.get("SERQ_BLESS"):
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    assert text == path.read_text(encoding="utf-8")


EXAMPLES = [SARATHI, FASTERTRANSFORMER]


@pytest.mark.parametrize("program", EXAMPLES, ids=lambda p: p.stem)
def test_the_lean_package_holds_the_claims_of_the_examples_and_their_proofs(program: Path) -> None:
    emitted = serq.claims_in_lean(program, prove=True)
    same(PACKAGE / "Generated" / f"{program.stem}.lean", emitted.statements)
    assert emitted.proofs is not None
    same(PACKAGE / "Proofs" / f"{program.stem}.lean", emitted.proofs)


def test_the_lean_package_says_what_is_proved() -> None:
    imports, examples = [], []
    for program in EXAMPLES:
        imports.append(f"public import Serq.Proofs.{program.stem}")
        for v in serq.claims_in_lean(program, prove=True).verdicts:
            assert v.status == "proved"
            name = f"{program.stem}.{v.claim.name}"
            examples.append(f"/-- By {' and '.join(v.by)}. -/\nexample : Claims.{name} := Proofs.{name}")
    text = "\n\n".join([
        "module", "\n".join(imports), "/-! Each claim of the examples with its proof. -/",
        "namespace Serq", *examples, "end Serq",
    ])  # fmt: skip
    same(PACKAGE / "Proved.lean", text + "\n")


def test_a_statement_carries_the_whole_model_or_imports_it() -> None:
    program = serq.compile(SARATHI)
    alone, importing = emit_lean(program), emit_lean(program, import_model=True)
    assert module_body("Model") in alone and "import" not in alone
    assert importing.startswith("module\n\npublic import Serq.Model\n\n/-!")
    body = alone.split("end Serq\n\n", 1)[1]
    assert importing.endswith(body)
    assert len(module_body("Model").splitlines()) > 300


def test_the_same_program_gives_the_same_text() -> None:
    assert emit_lean(serq.compile(SARATHI)) == emit_lean(serq.compile(SARATHI))


def test_nothing_is_proved_unasked_and_nothing_left_open() -> None:
    text = emit_lean(serq.compile(FASTERTRANSFORMER))
    assert not re.search(r"\b(sorry|axiom|theorem|example|Mathlib)\b", text)
    proven = serq.emit_lean(FASTERTRANSFORMER, prove=True)
    assert not re.search(r"\b(sorry|axiom|native_decide|Mathlib|skipKernelTC)\b", proven)


def test_lines_have_at_most_100_columns() -> None:
    for file in PACKAGE.rglob("*.lean"):
        if file.parent.name != "Proofs" and file.stem != "Proved":
            assert max(map(len, file.read_text(encoding="utf-8").splitlines())) <= 100, file


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
    assert (
        "\nprotected def max : Prop :=\n  EveryIteration program_ workload fun i => max i.tokens 2 > 1\n"
        in text
    )
    assert "\ndef program_ : Program where\n" in text
    assert "\nprotected def program : Prop :=\n" in text
    assert "\ndef c : Prop :=\n" in text


@pytest.mark.parametrize(
    ("stem", "module"),
    [("dai_sarathi", "dai_sarathi"), ("a-b c", "a_b_c"), ("end", "program_end"), ("2nd", "program_2nd")],
)
def test_a_module_has_a_plain_name(stem: str, module: str) -> None:
    assert module_stem(stem) == module


@pytest.mark.parametrize("text", ["a -/* b */ c", "a /-b", "--/-/- /- -/-/", "-/"])
def test_a_quotation_neither_ends_its_comment_nor_opens_another(text: str) -> None:
    inside = doc_comment(text).removeprefix("/--").removesuffix(" -/")
    assert "-/" not in inside and "/-" not in inside


def test_inputs_are_stated_with_the_values_they_were_given() -> None:
    source = 'use "std/args";\n' + small(items='let budget = args.number("b", 8);', cap="budget")
    program = serq.compile("small.sq", source=source, sets={"b": 16})
    text = emit_lean(program, import_model=True)
    assert "Its inputs here: budget = 16." in text and "budget := 16\n" in text


def test_the_documentation_shows_what_is_generated() -> None:
    page = (ROOT / "docs" / "lean.md").read_text(encoding="utf-8")
    shown = re.findall(r"```lean\n(.*?)```", page, re.DOTALL)
    (excerpt,) = (block for block in shown if "def program" in block)
    assert excerpt in (PACKAGE / "Generated" / "dai_fastertransformer.lean").read_text(encoding="utf-8")
    (claim,) = (block for block in shown if "def token_rate" in block)
    assert claim in (PACKAGE / "Generated" / "dai_sarathi.lean").read_text(encoding="utf-8")
