"""What laying out never does: change the program, lose a comment, or want to be done twice.

Programs are written in every way a person would not: torn apart at random between any two tokens, with
comments and needless parentheses put in.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from random import Random

import pytest
from attrs import evolve
from hypothesis import given, settings
from hypothesis import strategies as st

from serq.check import check_program
from serq.diagnostics import Sink
from serq.ir.program import Program
from serq.source import SourceFile
from serq.syntax import tree
from serq.syntax.layout.draft import Draft
from serq.syntax.layout.parentheses import EXPRESSIONS
from serq.syntax.layout.whole import WIDTH, lay_out
from serq.syntax.parse import parse_expression, parse_program
from serq.syntax.tokens import Tokens, read_tokens
from tests.support.amounts import share, thinned
from tests.support.programs import Sample, samples
from tests.syntax.reading import nodes, read, shape

ROOT = Path(__file__).parents[3]
FOLDERS = [ROOT / "examples", ROOT / "tests", *map(Path, filter(None, [os.environ.get("SERQ_CONFORMANCE")]))]


def is_well_formed(text: str) -> bool:
    _, complaints = read(text)
    return not complaints


FILES = [f for folder in FOLDERS for f in sorted(folder.rglob("*.sq"))]
TEXTS = {f: f.read_bytes().decode() for f in FILES}
GOOD = [f for f in FILES if is_well_formed(TEXTS[f])]
CORPUS = [TEXTS[f] for f in sorted(GOOD, key=lambda f: len(TEXTS[f]))]


def laid_out(text: str, width: int = WIDTH) -> str:
    sink = Sink()
    result = lay_out(SourceFile("test.sq", text), sink, width)
    assert result is not None and not sink.diagnostics
    return result


def tokens_of(text: str) -> Tokens:
    return read_tokens(SourceFile("test.sq", text))


def without_parentheses(text: str) -> list[str]:
    return [token for token in tokens_of(text).texts if token not in ("(", ")")]


def comments_of(text: str) -> list[str]:
    return [" ".join(comment.text.split()) for comment in tokens_of(text).comments]


def meaning(text: str) -> Program | None:
    """The typed program, without what claims quote of the text."""
    sink = Sink()
    parsed = parse_program(SourceFile("test.sq", text), sink)
    program = check_program(parsed.tree, sink, parse_expression=parse_expression)
    return program and evolve(program, claims=tuple(evolve(claim, text="") for claim in program.claims))


def check(text: str, width: int = WIDTH) -> str:
    """Everything that holds for every text; the text laid out."""
    result = laid_out(text, width)
    assert laid_out(result, width) == result
    assert shape(read(result)[0].tree) == shape(read(text)[0].tree)
    assert without_parentheses(result) == without_parentheses(text)
    assert comments_of(result) == comments_of(text)
    assert result.endswith("\n") and not result.endswith("\n\n") and "\n\n\n" not in result
    return result


# ---------------------------------------------------------------- programs as people wrote them


@pytest.mark.parametrize("file", thinned(GOOD, 8), ids=lambda f: "-".join(f.parts[-3:]))
def test_a_program_is_the_same_after_being_laid_out(file: Path) -> None:
    text = TEXTS[file]
    assert meaning(check(text)) == meaning(text)


@settings(max_examples=share(40))
@given(samples())
def test_a_checked_program_has_the_same_meaning_on_lines_that_fit(sample: Sample) -> None:
    before = meaning(sample.source)
    assert before is not None
    result = check(sample.source)
    assert meaning(result) == before
    assert max(map(len, result.splitlines())) <= WIDTH


# ---------------------------------------------------------------- programs as nobody wrote them

BLANKS = ("", "", "", "\n", "\n\n\n", "\t", "\r\n")
COMMENTS = (
    "// c\n", "// c \r\n", "//\n", "/* c */", "/**/", "/* c\n   c */", "/* c\n\n*/", "/* c\r\n c */",
    "// " + "wide " * 30 + "\n",
)  # fmt: skip

seeds = st.integers(0, 2**32)
widths = st.sampled_from((WIDTH, 1, 20, 40, 60))


def torn(text: str, gaps: Sequence[str], random: Random, often: float = 0.5) -> str:
    """The tokens of a text with other things between them."""
    tokens = tokens_of(text).texts
    parts = []
    for token in tokens:
        while random.random() < often:
            parts.append(random.choice(gaps))
        parts.append(token)
    return " ".join(parts)


def in_parentheses(text: str, random: Random) -> str:
    """The text with some of its expressions in more pairs of parentheses."""
    tokens = tokens_of(text)
    texts = list(tokens.texts)
    draft = Draft.of(tokens)
    for node in nodes(read(text)[0].tree):
        # Not around what may be the name of a resource.
        if isinstance(node, EXPRESSIONS) and not isinstance(node, tree.Reference) and random.random() < 0.3:
            first, last = draft.range(node.at)
            pairs = random.choice((1, 1, 2))
            texts[first] = "(" * pairs + texts[first]
            texts[last] += ")" * pairs
    return " ".join(texts)


@settings(max_examples=share(60))
@given(st.sampled_from(CORPUS), seeds, widths)
def test_comments_between_any_tokens_are_kept(text: str, seed: int, width: int) -> None:
    random = Random(seed)
    check(torn(text, (*BLANKS, *COMMENTS), random, often=random.choice((0.01, 0.1, 0.5))), width)


@settings(max_examples=share(60))
@given(st.sampled_from(CORPUS), seeds, widths)
def test_needless_parentheses_go_and_their_comments_stay(text: str, seed: int, width: int) -> None:
    random = Random(seed)
    crowded = in_parentheses(text, random)
    check(torn(crowded, (*BLANKS, *COMMENTS), random, often=random.choice((0.01, 0.1, 0.5))), width)


@settings(max_examples=share(60))
@given(st.sampled_from(CORPUS), seeds, widths)
def test_blanks_and_the_lines_of_a_statement_do_not_matter(text: str, seed: int, width: int) -> None:
    random = Random(seed)
    one = laid_out(torn(text, ("", "\n"), random, often=0.2), width)
    assert laid_out(written_otherwise(one, random), width) == one


def written_otherwise(text: str, random: Random) -> str:
    """The text with other blanks and line ends, except where those of the author count.

    They do at the ends of statements and blocks, and in a block that stands on one line.
    """
    tokens = tokens_of(text)
    parts = []
    on_one_line = [False]
    for i, token in enumerate(tokens.texts):
        ends = tokens.lines[i] - tokens.lines[i - 1] if i else 0
        is_between = tokens.texts[i - 1] in (";", "{", "}") or token in ("}", "")
        if ends > 1 or (ends and is_between):
            parts.append("\n" * ends)
        else:
            parts.append(random.choice((" ", "\t  ") if on_one_line[-1] else (" ", "\t", "\n")))
        if token == "{":
            on_one_line.append(tokens.lines[tokens.partner[i]] == tokens.lines[i])
        elif token == "}":
            on_one_line.pop()
        parts.append(token)
    return "".join(parts)
