"""The colours for editors have the words of the grammar, and know what a program is made of."""

from __future__ import annotations

import importlib.util
import json
import re
import shutil
import subprocess
from pathlib import Path
from types import ModuleType

import pytest

from serq.source import SourceFile
from serq.syntax.tokens import NUMBER, STRING, WORD, read_tokens

EDITORS = Path(__file__).parents[2] / "editors"
EXAMPLES = sorted((EDITORS.parent / "examples").rglob("*.sq"))


@pytest.fixture(scope="module")
def make() -> ModuleType:
    spec = importlib.util.spec_from_file_location("make_editors", EDITORS / "make.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_files_are_those_that_are_made(make: ModuleType) -> None:
    """Written again by `python editors/make.py`."""
    for name, text in make.files().items():
        assert (EDITORS / name).read_text(encoding="utf-8") == text, name


def scope_of(patterns: list[tuple[str, re.Pattern[str]]], line: str, at: int) -> str:
    """The first pattern that matches at a place, as an editor looks for it; "" for none."""
    return next((name for name, pattern in patterns if pattern.match(line, at)), "")


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda p: p.stem)
def test_every_token_of_the_examples_is_coloured(make: ModuleType, path: Path) -> None:
    grammar = json.loads(make.textmate())
    patterns = [(p["name"], re.compile(p["match"])) for p in grammar["patterns"] if "match" in p]
    source = SourceFile(path.name, path.read_text(encoding="utf-8"))
    tokens, words = read_tokens(source), set(make.words())
    kinds = {NUMBER: "constant.numeric.serq", STRING: "string.quoted.double.serq"}
    for kind, text, line, column in zip(
        tokens.kinds, tokens.texts, tokens.lines, tokens.columns, strict=True
    ):
        scope = scope_of(patterns, source.line(line), column - 1)
        if kind in kinds:
            assert scope == kinds[kind], (line, text)
        elif kind == WORD and text in words:
            assert scope in ("keyword.control.serq", "variable.other.member.serq"), (line, text)
    for comment in tokens.comments:
        if comment.text.startswith("//"):
            at = comment.at
            assert scope_of(patterns, source.line(at.line), at.column - 1).startswith("comment.line")


def test_vim_reads_its_file(make: ModuleType, tmp_path: Path) -> None:
    if shutil.which("vim") is None:
        pytest.skip("vim is not installed")
    words = ["-c", f"source {EDITORS / 'vim/syntax/serq.vim'}", "-c", f"redir! > {tmp_path / 'out'}",
             "-c", "silent syntax list serqWord", "-c", "redir END", "-c", "qa!"]  # fmt: skip
    subprocess.run(["vim", "-u", "NONE", "-es", *words], check=False, timeout=20)
    listed = (tmp_path / "out").read_text(encoding="utf-8")
    assert all(re.search(rf"\b{word}\b", listed) for word in make.words())
