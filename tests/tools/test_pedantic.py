"""`--pedantic` on the command line: doubts are said, and change no exit code."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from serq.tools.cli import run_command

PROGRAM = """\
let spare = 3;
fn main() {
  device gpu { }
  engine e on gpu { tokens cap 4; schedule { advance running; } execute (1); }
  workload { arrive batch(1); }
  server { run e prefill (cost(e, 5)); }
  claim full: every iteration of e (demand < 99 || tokens == 4);
}
"""


@pytest.fixture
def program(tmp_path: Path) -> str:
    """A program with a constant that nothing reads, and a claim that holds vacuously."""
    path = tmp_path / "p.sq"
    path.write_text(PROGRAM, encoding="utf-8")
    return str(path)


def test_check_says_doubts_when_asked(program: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run_command(["check", program]) == 0
    assert capsys.readouterr().err == ""
    assert run_command(["check", "--pedantic", program]) == 0
    out, err = capsys.readouterr()
    assert "1:5: doubt[SQ0701]: nothing reads the constant `spare`" in err
    assert "ok, 1 engine, 1 claim" in out


def test_doubts_are_in_the_json(program: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run_command(["check", "--pedantic", "--json", program]) == 0
    (result,) = json.loads(capsys.readouterr().out)
    assert result["ok"] and [d["severity"] for d in result["diagnostics"]] == ["doubt"]


def test_run_tells_what_holds_vacuously(program: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run_command(["run", program, "--horizon", "9"]) == 0
    plain, err = capsys.readouterr()
    assert "vacuous" not in plain and err == ""
    assert run_command(["run", program, "--horizon", "9", "--pedantic"]) == 0
    asked, err = capsys.readouterr()
    line = "vacuous: claim full holds only because its premise never came true"
    assert asked.splitlines()[-1] == line and "SQ0701" in err
    assert plain.rstrip() == asked.removesuffix(line + "\n").rstrip()
