"""Programs before and after being laid out.

After a change of the rules, `SERQ_BLESS=1 python -m pytest tests/syntax/layout` rewrites what comes
after; a person then reads the difference.
"""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from serq.diagnostics import Sink
from serq.source import SourceFile
from serq.syntax.layout.whole import lay_out
from tests.syntax.reading import read, read_well, shape

GOLDEN = sorted((Path(__file__).parent / "golden").iterdir())
# A file of definitions alone is no program, but a library.
MALFORMED = [
    file
    for file in sorted((Path(__file__).parent.parent / "golden").glob("*.sq"))
    if file.stem != "SQ0160-no-main"
]


def laid_out(text: str) -> str | None:
    return lay_out(SourceFile("test.sq", text), Sink())


@pytest.mark.parametrize("folder", GOLDEN, ids=lambda f: f.name)
def test_a_program_is_laid_out_like_this(folder: Path) -> None:
    before, after = folder / "before.sq", folder / "after.sq"
    result = laid_out(before.read_text(encoding="utf-8"))
    assert result is not None
    if "SERQ_BLESS" in os.environ:
        after.write_text(result, encoding="utf-8")
    assert result == after.read_text(encoding="utf-8")
    assert laid_out(result) == result
    assert shape(read_well(result)) == shape(read_well(before.read_text(encoding="utf-8")))


@pytest.mark.parametrize("file", MALFORMED, ids=lambda f: f.stem)
def test_a_malformed_program_is_left_alone(file: Path) -> None:
    sink = Sink()
    text = file.read_bytes().decode()
    assert lay_out(SourceFile("test.sq", text), sink) is None
    assert [d.code for d in sink.errors] == [d.code for d in read(text)[1]]


@pytest.mark.parametrize(
    ("text", "result"),
    [
        ("fn main() { }", "fn main() { }\n"),
        ("\n\n// c\n\n\nfn main(){}\n\n\n// d\n\n", "// c\n\nfn main() { }\n\n// d\n"),
        ("let a = 1; // c\r\n\r\nfn main() {\r\n}\r\n", "let a = 1;  // c\n\nfn main() { }\n"),
        ("fn main() { /* c\r\n d */ }", "fn main() { /* c\n d */ }\n"),
        ("fn main() { // c\t \n}", "fn main() {  // c\n}\n"),
        ("let a=1;def f(x){2*x}// c", "let a = 1;\ndef f(x) { 2 * x }  // c\n"),
        ("let a = // c\n 1; fn main() { }", "let a =  // c\n  1;\nfn main() { }\n"),
    ],
    ids=range(7),
)  # fmt: skip
def test_ends_of_texts_and_lines(text: str, result: str) -> None:
    assert laid_out(text) == result


def test_the_deepest_programs_are_laid_out() -> None:
    for expression in (
        "(" * 190 + "1" + ")" * 190,
        "f(" * 190 + "1" + ")" * 190,
        "-" * 399 + "1",
        " + ".join(["a"] * 399),
        " ^ ".join(["a"] * 399),
        "a ? 1 : " * 398 + "2",
    ):
        text = laid_out(f"fn main() {{ gauge g = {expression}; }}")
        assert text is not None
        assert laid_out(text) == text
    assert laid_out("fn main() { server " + "{ loop " * 190 + "{ }" + " }" * 191) is not None
