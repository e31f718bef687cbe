"""`serq trace`, as typed."""

from __future__ import annotations

import gzip
import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from serq.tools.cli import run_command
from serq.tools.tracing import trace_command
from serq.traces import FORMATS, UNITS
from serq.traces.formats import ROLES, TURN

Shell = Callable[..., subprocess.CompletedProcess[str]]

AZURE = "TIMESTAMP,ContextTokens,GeneratedTokens\n2024-05-10 00:00:00,374,44\n2024-05-10 00:00:02,396,109\n"
ROWS = "session,turn,new,out,think\n0,1,374,44,0\n1,1,396,109,0\n"


@pytest.fixture
def azure(tmp_path: Path) -> Path:
    path = tmp_path / "azure.csv"
    path.write_text(AZURE)
    return path


def test_rows_go_out_and_what_was_done_is_said_beside(shell: Shell, azure: Path) -> None:
    done = shell("trace", "convert", str(azure))
    assert (done.returncode, done.stdout, done.stderr) == (0, ROWS, "azure: 2 turns in 2 sessions\n")


def test_standard_input_and_output(process: Shell) -> None:
    done = process("trace", "convert", "-", "-o", "-", input=AZURE)
    assert (done.returncode, done.stdout) == (0, ROWS)


def test_a_file_appears_whole_or_not_at_all(shell: Shell, azure: Path) -> None:
    out = azure.with_name("turns.csv")
    assert shell("trace", "convert", str(azure), "-o", str(out)).stdout == ""
    assert out.read_text() == ROWS
    azure.write_text(AZURE + "x,1,2\n")
    done = shell("trace", "convert", str(azure), "-o", str(out))
    assert (done.returncode, done.stdout) == (1, "")
    assert "SQ0953" in done.stderr
    assert out.read_text() == ROWS
    assert sorted(p.name for p in azure.parent.iterdir()) == ["azure.csv", "turns.csv"]


@pytest.mark.parametrize("name", ["azure.csv", "./azure.csv", "link.csv", "other.csv"])
def test_a_trace_is_not_replaced_by_what_is_made_of_it(
    azure: Path, name: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(azure.parent)
    Path("link.csv").symlink_to("azure.csv")
    Path("other.csv").hardlink_to("azure.csv")
    for command in (["convert", "azure.csv", "-o", name], ["show", "azure.csv", "--plot", name]):
        assert run_command(["trace", *command]) == 2
    assert "is the file that is read" in capsys.readouterr().err
    assert azure.read_text() == AZURE


def test_packed_output_is_the_same_each_time(shell: Shell, azure: Path) -> None:
    out = azure.with_name("turns.csv.gz")
    contents = set()
    for _ in range(2):
        assert shell("trace", "convert", str(azure), "-o", str(out)).returncode == 0
        contents.add(out.read_bytes())
    (content,) = contents
    assert gzip.decompress(content).decode() == ROWS


def test_what_was_passed_over_or_left_out_is_said(shell: Shell, tmp_path: Path) -> None:
    path = tmp_path / "b.csv"
    path.write_text(
        "Timestamp,Session ID,Elapsed time,Request tokens,Response tokens\n"
        "5,a,1,10,4\n4,b,1,10,2\n6,a,1,12,4\nx,a,1,1,1\n7,b,1,1,0\n"
    )
    done = shell("trace", "convert", str(path), "--skip-bad", "--drop-failed", "--history")
    assert done.stderr.splitlines() == [
        "burstgpt: 3 turns in 2 sessions",
        "  passed over: 1 row that could not be read",
        "  left out: 1 request without an answer",
        "  put in order of time: 1 request below a later one",
        "  counted whole: 1 prompt shorter than the session's history",
    ]
    done = shell("trace", "convert", str(path), "--skip-bad", "--no-sessions")
    assert done.stderr.splitlines()[2] == "  out of order, and left so: 1 request below a later one"


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--from", "azur"], "did you mean `azure`?"),
        (["--time-unit", "fortnight"], "there are us, ms, s, min, h"),
        (["--input-unit", "mss"], "did you mean `ms`?"),
        (["--columns", "neu=a"], "did you mean `new`?"),
        (["--columns", "new"], "`new` is not of the form ROLE=NAME"),
        (["--chars-per-token", "0"], "0 is not in the range of 0.01 to"),
        (["--chars-per-token", "-1"], "-1 is not in the range"),
        (["--chars-per-token", "nan"], "nan is not in the range"),
        (["--chars-per-token", "inf"], "inf is not in the range"),
        (["--chars-per-token", "1e-320"], "is not in the range"),
        (["--chars-per-token", "four"], "'four' is not a valid float"),
        (["--think", "soon"], "'gap'"),
    ],
)
def test_wrong_use_is_told_apart(
    azure: Path, arguments: list[str], words: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run_command(["trace", "convert", str(azure), *arguments]) == 2
    said = capsys.readouterr()
    assert words in said.err
    assert said.out == ""


@pytest.mark.parametrize("path", ["nowhere.csv", ".", "no\0where"])
def test_what_is_no_file_is_said(path: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run_command(["trace", "show", path]) == 1
    assert capsys.readouterr().err.startswith("error[SQ091")


def test_an_output_that_cannot_be_written_is_said(shell: Shell, azure: Path) -> None:
    done = shell("trace", "convert", str(azure), "-o", str(azure / "turns.csv"))
    assert done.returncode == 1
    assert "error[SQ0930]" in done.stderr
    with open("/dev/full", "w") as full:
        command = [sys.executable, "-m", "serq", "trace", "convert", str(azure)]
        done = subprocess.run(command, stdout=full, stderr=subprocess.PIPE, text=True, check=False)
    assert done.returncode == 1
    assert "error[SQ0930]: cannot write standard output" in done.stderr


def test_a_reader_who_has_had_enough_is_no_fault(azure: Path) -> None:
    azure.write_text(AZURE + "2024-05-10 00:00:02,396,109\n" * 200_000)
    command = f"{sys.executable} -m serq trace convert {azure} | head -1; echo ${{PIPESTATUS[0]}}"
    done = subprocess.run(["bash", "-c", command], capture_output=True, text=True, check=True)
    assert done.stdout == "session,turn,new,out,think\n1\n"
    assert done.stderr == ""


def test_figures_as_text_and_as_json(shell: Shell, azure: Path) -> None:
    text = shell("trace", "show", str(azure)).stdout
    assert "prompt, tokens  374   385  374  396  396  396" in text
    assert "256 to 511  2  ████" in text
    summary = json.loads(shell("trace", "show", str(azure), "--json").stdout)
    assert summary["format"] == "azure"
    assert (summary["turns"], summary["sessions"], summary["span"], summary["rate"]) == (2, 2, 2.0, 0.5)
    assert summary["figures"]["out"] == {
        "count": 2, "min": 44, "mean": 76.5, "p50": 44, "p90": 109, "p99": 109, "max": 109,
    }  # fmt: skip
    assert summary["histograms"]["out"] == {"edges": [32, 64, 128], "counts": [1, 1]}


def test_a_terminal_without_block_characters_gets_others(process: Shell, azure: Path) -> None:
    done = process("trace", "show", str(azure), env=os.environ | {"PYTHONIOENCODING": "ascii"})
    assert done.returncode == 0
    assert f"256 to 511  2  {'#' * 40}" in done.stdout


def test_the_help_names_every_format_unit_and_role() -> None:
    show = trace_command.commands["show"]
    text = (show.epilog or "") + " ".join(getattr(p, "help", "") or "" for p in show.params)
    for name in [*FORMATS, *UNITS, *(role for role in ROLES if role != TURN)]:
        assert f"{name}" in text.replace(",", " ").split() or f" {name}" in text, name


def test_a_picture_is_drawn(shell: Shell, azure: Path) -> None:
    pytest.importorskip("matplotlib", reason="matplotlib draws")
    picture = azure.with_name("out.png")
    done = shell("trace", "show", str(azure), "--plot", str(picture))
    assert (done.returncode, done.stderr) == (0, "")
    assert picture.read_bytes().startswith(b"\x89PNG")
    done = shell("trace", "show", str(azure), "--plot", str(azure.with_name("out.txt")))
    assert (done.returncode, "no kind of picture" in done.stderr) == (2, True)


def test_without_matplotlib_the_extra_is_named(
    azure: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    monkeypatch.setitem(sys.modules, "matplotlib.backends.backend_agg", None)
    assert run_command(["trace", "show", str(azure), "--plot", "out.png"]) == 2
    assert "pip install 'serq[plot]'" in capsys.readouterr().err


def test_times_further_apart_than_a_number_can_tell_have_no_rate(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "far.csv"
    path.write_text("Timestamp,Request tokens,Response tokens\n0,5,2\n1e308,5,2\n-1e308,3,3\n")
    assert run_command(["trace", "show", str(path)]) == 0
    shown = capsys.readouterr().out
    assert "turns     3" in shown and "per second" not in shown
