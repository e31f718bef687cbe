"""`serq dump`: what a program becomes, step by step."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

from serq.tools.cli import run_command

TEXT = """\
use "lib.sq";
fn main() {
  device gpu { }
  engine e on gpu { tokens cap 4; schedule { advance running; } execute (1 + batch.tokens); }
  workload { arrive renewal(10); init { set long = 5; } turn { set asked = now; } }
  server { run e prefill (cost(e, twice(long))); observe took = now - asked; }
  claim small: every iteration of e (tokens <= 4);
}
"""


@pytest.fixture
def program(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.chdir(tmp_path)
    Path("lib.sq").write_text("def twice(x) { 2 * x }\n")
    Path("p.sq").write_text(TEXT)
    return "p.sq"


def dumped(capsys: pytest.CaptureFixture[str], *arguments: str) -> str:
    assert run_command(["dump", *arguments]) == 0
    out, err = capsys.readouterr()
    assert err == ""
    return out


def test_the_tree_has_the_words_of_the_text_and_of_its_libraries(
    program: str, capsys: pytest.CaptureFixture[str]
) -> None:
    tree = dumped(capsys, "--after", "tree", program)
    for word in ("gpu", "twice", "asked", "took", "small"):
        assert f"Name(text={word!r})" in tree
    assert max(map(len, tree.splitlines())) <= 110


def test_the_ir_is_what_serq_ir_prints(program: str, capsys: pytest.CaptureFixture[str]) -> None:
    shown = dumped(capsys, "--after", "ir", program)
    assert run_command(["ir", program]) == 0
    assert shown == capsys.readouterr().out


def python_of(code: str) -> str:
    return code.partition("# ---- in C")[0]


def test_the_code_is_python_under_headings(program: str, capsys: pytest.CaptureFixture[str]) -> None:
    code = dumped(capsys, "--after", "code", program)
    headings = re.findall(r"^# ---- ([\w ]+) -+$", code, re.MULTILINE)
    assert [h for h in headings if h not in ("loop", "in C")] == [
        "schedule of e", "init", "turn", "session", "claims of e"
    ]  # fmt: skip
    defined = {node.name for node in ast.parse(python_of(code)).body if isinstance(node, ast.FunctionDef)}
    assert {"serve", "client", "watch"} <= defined


def test_the_loop_of_a_common_program_comes_first(root: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code = dumped(capsys, "--after", "code", str(root / "examples" / "hello.sq"))
    headings = re.findall(r"^# ---- ([\w ]+) -+$", code, re.MULTILINE)
    assert headings == ["loop", "schedule of llm", "init", "session", "claims of llm", "in C"]
    assert isinstance(ast.parse(python_of(code)).body[0], ast.FunctionDef)


def test_code_has_the_inputs_given(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    path = tmp_path / "p.sq"
    path.write_text(
        'use "std/args";\nfn main() { let n = args.number("n", 1); stage z : delay;\n'
        "  workload { arrive batch(1); } server { run z (cost(z, n)); } }"
    )
    assert "1234.0" in dumped(capsys, "--after", "code", str(path), "--set", "n=1234")


def test_a_dump_goes_to_a_file(program: str, capsys: pytest.CaptureFixture[str]) -> None:
    for step in ("tree", "ir", "code"):
        shown = dumped(capsys, "--after", step, program)
        assert dumped(capsys, "--after", step, program, "-o", "out.txt") == ""
        assert Path("out.txt").read_text(encoding="utf-8") == shown


@pytest.mark.parametrize(
    "arguments",
    [["p.sq"], ["--after", "lunch", "p.sq"], ["--after", "tree", "p.json"],
     ["--after", "tree", "p.sq", "--set", "n=1"], ["--after", "code", "p.sq", "-o", "p.sq"]],
)  # fmt: skip
def test_wrong_use_exits_with_2(program: str, arguments: list[str]) -> None:
    assert run_command(["dump", *arguments]) == 2


@pytest.mark.parametrize("step", ["tree", "ir", "code"])
def test_a_program_that_is_refused_has_no_dump(
    program: str, step: str, capsys: pytest.CaptureFixture[str]
) -> None:
    Path(program).write_text(TEXT.replace("tokens cap 4;", "tokens cap;"))
    assert run_command(["dump", "--after", step, program]) == 1
    out, err = capsys.readouterr()
    assert (out, "p.sq:4:31: error[SQ01" in err) == ("", True)


def test_a_trace_that_is_missing_is_said_with_its_place(
    program: str, capsys: pytest.CaptureFixture[str]
) -> None:
    Path(program).write_text(TEXT.replace("renewal(10);", 'renewal(10); trace "lost.csv";'))
    assert run_command(["dump", "--after", "code", program]) == 1
    assert "p.sq:5:" in capsys.readouterr().err
