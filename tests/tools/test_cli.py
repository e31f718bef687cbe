"""The command line: what it prints where, and how it ends."""

from __future__ import annotations

import fcntl
import json
import os
import pty
import re
import signal
import struct
import subprocess
import sys
import termios
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

import serq
from serq.tools.cli import run_command
from serq.tools.reading import LARGEST_JSON, LARGEST_TEXT
from tests.support.amounts import share

Shell = Callable[..., subprocess.CompletedProcess[str]]

GOOD = """\
fn main() {
  device gpu { }
  engine e on gpu { tokens cap 4; schedule { advance running; } execute (1); }
  workload { arrive renewal(10); }
  server { run e prefill (cost(e, 5)); observe done = now; }
  gauge present_runs = queue(e);
  claim small: every iteration of e (tokens <= 4);
}
"""
WRONG = GOOD.replace("tokens cap 4", "tokens cap 0")
FAILING = GOOD.replace("tokens <= 4", "tokens <= 3")
UNANSWERED = GOOD.replace("every iteration of e (tokens <= 4)", "some iteration of e (tokens > 4)")
STUCK = GOOD.replace("execute (1)", "execute (0)")
BATCH = GOOD.replace("renewal(10)", "batch(2)")
INPUT = 'use "std/args";\n' + GOOD.replace("cost(e, 5)", "cost(e, n)").replace(
    "fn main() {", 'fn main() {\n  let n = args.number("size", 5);'
)
DEFINED = "def words() { 5 }\n" + GOOD.replace("cost(e, 5)", "cost(e, words())")


class Ending:
    """How a command ended."""

    def __init__(self, code: int, out: str, err: str) -> None:
        self.code, self.out, self.err = code, out, err
        assert "Traceback" not in err


@pytest.fixture
def ask(capsys: pytest.CaptureFixture[str]) -> Callable[..., Ending]:
    """Runs a command in this process."""

    def run(*arguments: object) -> Ending:
        capsys.readouterr()
        code = run_command([str(a) for a in arguments])
        return Ending(code, *capsys.readouterr())

    return run


Ask = Callable[..., Ending]


@pytest.fixture
def write(tmp_path: Path) -> Callable[[str], Path]:
    """A program's text in a file."""

    def to_file(text: str, name: str = "p.sq") -> Path:
        path = tmp_path / name
        path.write_text(text, encoding="utf-8")
        return path

    return to_file


Write = Callable[..., Path]


# ---------------------------------------------------------------- endings


@pytest.mark.parametrize(
    ("program", "code"), [(GOOD, 0), (FAILING, 1), (UNANSWERED, 3), (WRONG, 1), (STUCK, 1)]
)
def test_the_exit_code_says_how_a_run_ended(ask: Ask, write: Write, program: str, code: int) -> None:
    assert ask("run", write(program), "--horizon", 50).code == code


def test_a_report_is_printed_also_when_a_claim_fails(ask: Ask, write: Write) -> None:
    ending = ask("run", write(FAILING), "--horizon", 50)
    assert "small  every iteration  fails at 10.0000 (5 of 9 iterations)" in ending.out
    assert ending.err == ""


@pytest.mark.parametrize("program", [WRONG, STUCK])
def test_a_refused_program_prints_nothing_but_its_complaint(ask: Ask, write: Write, program: str) -> None:
    ending = ask("run", write(program), "--horizon", 50, "--json")
    assert ending.out == ""
    assert ending.err.count("error[SQ") == 1
    assert "  3 |   engine e on gpu" in ending.err, "the line of the program is shown"


@pytest.mark.parametrize(
    "arguments",
    [
        [],
        ["--nonsense"],
        ["fly"],
        ["run"],
        ["check"],
        ["run", "MISSING"],
        ["run", "MISSING", "--horizon"],
        ["run", "MISSING", "--horizon", "soon"],
        ["run", "MISSING", "--horizon", "0"],
        ["run", "MISSING", "--horizon", "-1"],
        ["run", "MISSING", "--horizon", "nan"],
        ["run", "MISSING", "--horizon", "inf"],
        ["run", "MISSING", "--horizon", "1", "--warmup", "-1"],
        ["run", "MISSING", "--horizon", "1", "--warmup", "inf"],
        ["run", "MISSING", "--horizon", "1", "--warmup", "1"],
        ["run", "MISSING", "--horizon", "1", "--seed", "-1"],
        ["run", "MISSING", "--horizon", "1", "--seed", "1.5"],
        ["run", "MISSING", "--horizon", "1", "--arrivals", "0"],
        ["run", "MISSING", "--horizon", "1", "--arrivals", "many"],
        ["run", "MISSING", "--horizon", "1", "--set", "k"],
        ["run", "MISSING", "--horizon", "1", "--set", "k="],
        ["run", "MISSING", "--horizon", "1", "--set", "=1"],
        ["run", "MISSING", "--horizon", "1", "--def", "f"],
        ["run", "MISSING", "--horizon", "1", "--output", "x"],
        ["run", "MISSING", "MISSING", "--horizon", "1"],
        ["run", "MISSING", "--horizon", "1", "--", "k", "1"],
        ["run", "MISSING", "--horizon", "1", "--", "--k"],
        ["run", "MISSING", "--horizon", "1", "--", "--1k=2"],
        ["check", "MISSING", "--horizon", "1"],
        ["ir", "MISSING", "MISSING"],
        ["explain", "SQ9999"],
    ],
)
def test_wrong_use_exits_with_2_before_the_program_is_opened(ask: Ask, arguments: list[str]) -> None:
    ending = ask(*arguments)
    assert ending.code == 2
    assert ending.out == ""
    assert "Error: " in ending.err or "Commands:" in ending.err
    assert "SQ0910" not in ending.err


def test_all_settings_without_meaning_are_named(ask: Ask) -> None:
    said = ask("run", "MISSING", "--horizon", "-1", "--warmup", "-2", "--seed", "-3", "--arrivals", 0).err
    for words in ("horizon is -1", "warm-up is -2", "seed is -3", "number of arrivals is 0"):
        assert words in said


@pytest.mark.parametrize("command", ["run", "check", "ir", "emit-lean", "dump", "explain"])
def test_every_command_explains_itself_with_an_example(ask: Ask, command: str) -> None:
    ending = ask(command, "--help")
    assert ending.code == 0
    assert "Example:\n    serq " + command in ending.out


def test_help_lists_the_exit_codes_and_version_is_plain(ask: Ask) -> None:
    ending = ask("--help")
    assert ending.code == 0
    for code in ("0 ", "1 ", "2 ", "3 ", "70 "):
        assert f"\n    {code}" in ending.out
    assert ask("--version").out == f"serq {serq.__version__}\n"


# ---------------------------------------------------------------- files


def test_files_that_are_no_programs_have_their_own_sentences(ask: Ask, tmp_path: Path) -> None:
    cases: dict[str, tuple[bytes | None, str]] = {
        "missing.sq": (None, "SQ0910"),
        "empty.sq": (b"", "SQ0915"),
        "blank.sq": (b" \n\t\n", "SQ0915"),
        "binary.sq": (bytes(range(256)), "SQ0914"),
        "nul.sq": (b"fn main() { \0 }", "SQ0914"),
        "latin.sq": ("fn main() { } // é".encode("latin-1"), "SQ0913"),
        "huge.sq": (b"// " + b"x" * LARGEST_TEXT, "SQ0916"),
        "many.sq": (b"fn main() { }\n" * share(2**15), "SQ01"),
        "deep.sq": (b"fn main() { gauge g = " + b"(" * 100_000 + b"; }", "SQ"),
        "open.sq": (b"fn main() { " * 1000, "SQ01"),
        "closed.sq": (b"fn main() { }" + b"}" * 1000, "SQ01"),
        "empty.json": (b"", "SQ0915"),
        "other.json": (b"{}", "SQ0941"),
        "text.json": (b"fn main() { }", "SQ0940"),
        "deep.json": (b"[" * 1_000_000, "SQ0944"),
        "huge.json": (b" " * (LARGEST_JSON + 1), "SQ0916"),
    }
    for name, (content, code) in cases.items():
        if content is not None:
            (tmp_path / name).write_bytes(content)
        for command in (["run", tmp_path / name, "--horizon", 1], ["check", tmp_path / name]):
            begun = time.monotonic()
            ending = ask(*command)
            assert ending.code == 1, name
            assert ending.out == "", name
            assert f"error[{code}" in ending.err, (name, ending.err[:500])
            assert time.monotonic() - begun < 20, name
            assert len(ending.err) < 20_000, name


def test_the_messages_of_one_file_have_an_end(ask: Ask, write: Write) -> None:
    lines = ask("check", write("fn main() { }\n" + "pool p { }\n" * 100)).err.splitlines()
    assert sum("error[SQ" in line for line in lines) <= 20


def test_a_folder_and_an_unreadable_file(ask: Ask, tmp_path: Path, write: Write) -> None:
    assert "SQ0911" in ask("check", tmp_path).err
    assert "SQ0912" in ask("check", f"{write(GOOD)}/p.sq").err
    if os.geteuid() != 0:
        path = write(GOOD)
        path.chmod(0)
        assert "SQ0912" in ask("check", path).err


def test_a_byte_that_is_not_utf8_has_a_place(ask: Ask, tmp_path: Path) -> None:
    path = tmp_path / "p.sq"
    path.write_bytes("// ä\nfn ".encode() + b"\xff")
    assert f"{path}:2:4: error[SQ0913]" in ask("check", path).err


def test_a_program_can_come_from_standard_input(shell: Shell) -> None:
    done = shell("run", "-", "--horizon", "50", input=GOOD)
    assert done.returncode == 0
    assert "small" in done.stdout
    assert "<stdin>:3:" in shell("check", "-", input=WRONG).stderr


# ---------------------------------------------------------------- check


def test_check_has_a_line_for_each_good_program_and_goes_on_after_a_bad_one(ask: Ask, write: Write) -> None:
    good, wrong, other = write(GOOD), write(WRONG, "wrong.sq"), write("fn main() { }", "other.sq")
    ending = ask("check", good, wrong, other, "nowhere.sq")
    assert ending.code == 1
    summary = f"{good}: ok, 1 engine, 1 observation, 1 gauge, 1 claim"
    assert ending.out == f"{summary}\n{other}: ok, nothing to run\n"
    assert ending.err.count("error[SQ") == 2
    assert ask("check", good, other).code == 0


def test_check_as_json(ask: Ask, write: Write) -> None:
    good, wrong = write(GOOD), write(WRONG, "wrong.sq")
    ending = ask("check", good, wrong, "nowhere.sq", "--json")
    assert (ending.code, ending.err) == (1, "")
    first, second, third = json.loads(ending.out)
    assert first == {"file": str(good), "ok": True, "diagnostics": []}
    assert second["ok"] is False
    assert second["diagnostics"][0]["at"]["line"] == 3
    assert third["diagnostics"][0]["code"] == "SQ0910"


# ---------------------------------------------------------------- inputs and definitions


@pytest.mark.parametrize(
    "arguments",
    [
        ["--set", "size=8"],
        ["--set", "size=3+5"],
        ["--set", "size=1", "--set", "size=8"],
        ["--", "--size", "8"],
        ["--", "--size=8"],
        ["--set", "size=1", "--", "--size", "2", "--size", "8"],
    ],
)
def test_inputs_are_supplied_and_the_last_counts(ask: Ask, write: Write, arguments: list[str]) -> None:
    path = write(INPUT)
    figures = {}
    for label, more in {"default": [], "asked": arguments}.items():
        report = json.loads(ask("run", path, "--horizon", 50, "--json", *more).out)
        figures[label] = report["stages"][0]["mean_service"]
    assert figures == {"default": 2, "asked": 2}  # 5 or 8 tokens, 4 in an iteration
    ending = ask("run", path, "--horizon", 50, "--json", "--set", "size=9")
    assert json.loads(ending.out)["stages"][0]["mean_service"] == 3


def test_an_unknown_input_is_refused(ask: Ask, write: Write) -> None:
    ending = ask("check", write(INPUT), "--set", "sise=8")
    assert ending.code == 1
    assert "sise" in ending.err


def test_a_definition_is_replaced(ask: Ask, write: Write) -> None:
    ending = ask("run", write(DEFINED), "--horizon", 50, "--json", "--def", "words=2 * 6")
    assert json.loads(ending.out)["stages"][0]["mean_service"] == 3


def test_arrivals_count_a_stream_only(ask: Ask, write: Write) -> None:
    ending = ask("run", write(GOOD), "--horizon", 50, "--arrivals", 2, "--json")
    assert json.loads(ending.out)["end"] == 22
    refused = ask("run", write(BATCH), "--horizon", 50, "--arrivals", 2)
    assert refused.code == 1
    assert ":4:" in refused.err
    assert "SQ0925" in refused.err


def test_a_trace_needs_sessions(ask: Ask, write: Write, tmp_path: Path) -> None:
    ending = ask("run", write("fn main() { }"), "--horizon", 50, "--trace", tmp_path / "t.csv")
    assert (ending.code, ending.out) == (1, "")
    assert "SQ0927" in ending.err


def test_a_trace_from_outside_is_replayed(ask: Ask, write: Write) -> None:
    trace = write("session,turn,new,out,think\n0,1,7,0,0\n", "t.csv")
    path = write(GOOD.replace("cost(e, 5)", "cost(e, 5 + new)"))
    figures = [
        json.loads(ask("run", path, "--horizon", 50, "--json", *more).out)["stages"][0]["mean_service"]
        for more in ([], ["--trace", trace])
    ]
    assert figures == [2, 3]  # 5 and 12 tokens, 4 in an iteration
    missing = ask("run", path, "--horizon", 50, "--trace", trace.parent / "no.csv")
    assert (missing.code, missing.out) == (1, "")
    assert "no.csv" in missing.err


# ---------------------------------------------------------------- programs as JSON


@pytest.mark.slow
def test_a_program_runs_from_json_as_from_its_text(ask: Ask, root: Path, tmp_path: Path) -> None:
    for path in sorted((root / "examples").rglob("*.sq")):
        if path.parent.name == "lib":  # definitions for other programs
            continue
        saved = tmp_path / "p.json"
        saved.write_text(ask("ir", path).out, encoding="utf-8")
        for more in ([], ["--json"]):
            text = ask("run", path, "--horizon", 500_000, *more)
            again = ask("run", saved, "--horizon", 500_000, *more)
            assert (again.code, again.out, again.err) == (text.code, text.out, text.err)


def test_messages_about_a_program_from_json_name_the_place_in_its_text(ask: Ask, write: Write) -> None:
    path = write(STUCK)
    saved = write(ask("ir", path).out, "p.json")
    ending = ask("run", saved, "--horizon", 50)
    assert ending.code == 1
    assert ending.err.startswith(f"{path}:3:")


def test_a_program_from_json_is_checked(ask: Ask, write: Write) -> None:
    body = json.loads(ask("ir", write(GOOD)).out)
    body["claims"][0]["value"] = {"node": "Attr", "name": "nobody"}
    ending = ask("run", write(json.dumps(body), "p.json"), "--horizon", 50)
    assert (ending.code, ending.out) == (1, "")
    assert "error[SQ" in ending.err


def test_inputs_of_a_program_from_json_are_fixed(ask: Ask, write: Write) -> None:
    path = write(INPUT)
    saved = write(ask("ir", path, "--set", "size=9").out, "p.json")
    report = json.loads(ask("run", saved, "--horizon", 50, "--json").out)
    assert report["stages"][0]["mean_service"] == 3
    assert "SQ0926" in ask("run", saved, "--horizon", 50, "--set", "size=9").err


# ---------------------------------------------------------------- outputs


def test_dump_writes_samples_and_gauges(ask: Ask, write: Write, tmp_path: Path) -> None:
    folder = tmp_path / "new" / "dump"
    assert ask("run", write(GOOD), "--horizon", 50, "--dump", folder).code == 0
    files = {str(f.relative_to(folder)) for f in folder.rglob("*") if f.is_file()}
    assert {"done.csv", "gauge/present_runs.csv"} <= files
    assert (folder / "done.csv").read_text().startswith("time,session,turn,value\n12,0,1,12\n")


def test_an_output_that_cannot_be_written_is_an_error_without_a_report(
    ask: Ask, write: Write, tmp_path: Path
) -> None:
    path = write(GOOD)
    for ending in (
        ask("run", path, "--horizon", 50, "--dump", path),
        ask("emit-lean", path, "-o", tmp_path / "no" / "Out.lean"),
        ask("emit-lean", path, "-o", f"{path}/lean"),
    ):
        assert (ending.code, ending.out) == (1, "")
        assert "error[SQ0930]: cannot write `" in ending.err


def test_emit_lean_writes_a_whole_file_or_none(ask: Ask, root: Path, tmp_path: Path) -> None:
    program = root / "examples/papers/dai_sarathi.sq"
    printed = ask("emit-lean", program)
    assert printed.code == 0
    assert "work_conserving" in printed.out
    target = tmp_path / "Out.lean"
    assert ask("emit-lean", program, "-o", target).out == ""
    assert target.read_text(encoding="utf-8") == printed.out
    assert ask("emit-lean", root / "README.md", "-o", target).code == 1
    assert target.read_text(encoding="utf-8") == printed.out
    assert [f.name for f in tmp_path.iterdir()] == ["Out.lean"]


def test_a_program_is_not_replaced_by_its_statements(ask: Ask, write: Write) -> None:
    path = write(GOOD)
    link = path.with_name("link.sq")
    link.symlink_to(path)
    for output in (path, link):
        ending = ask("emit-lean", path, "-o", output)
        assert (ending.code, ending.out, path.read_text()) == (2, "", GOOD)
        assert "is the file that is read" in ending.err


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no /dev/full here")
def test_a_full_disk_is_reported(root: Path) -> None:
    command = [sys.executable, "-m", "serq", "run", "examples/hello.sq", "--horizon", "100"]
    with open("/dev/full", "w") as full:
        done = subprocess.run(command, cwd=root, stdout=full, stderr=subprocess.PIPE, text=True)
    assert done.returncode == 1
    assert done.stderr.startswith("error[SQ0930]: cannot write standard output: No space left")
    assert len(done.stderr.splitlines()) == 2  # with the cure


def test_a_reader_who_leaves_is_no_trouble(root: Path) -> None:
    ask = f"{sys.executable} -m serq ir examples/hello.sq"
    command = f"{ask} | head -c 1 > /dev/null; echo ${{PIPESTATUS[0]}}"
    done = subprocess.run(["bash", "-c", command], cwd=root, capture_output=True, text=True)
    assert done.stderr == ""
    assert done.stdout in ("0\n", "1\n")  # 0 if it had written everything before the reader left


def test_more_complaints_than_are_shown(write: Write, capsys: pytest.CaptureFixture[str]) -> None:
    """Twenty are shown, and the command that is named has the others as well."""
    path = write("fn main() {\n" + "".join(f"  gauge g{i} = lost{i};\n" for i in range(25)) + "}\n")
    assert run_command(["check", str(path)]) == 1
    said = capsys.readouterr().err
    assert said.count("error[SQ0201]") == 20
    assert said.endswith("… and 5 more: `serq check --json` has all of them\n")
    assert run_command(["check", "--json", str(path)]) == 1
    assert capsys.readouterr().out.count('"SQ0201"') == 25


SCRIPT = "from serq.__main__ import main; main()"
"""What an installation writes for the command `serq`."""


@pytest.mark.parametrize("begun", ["runpy.run_module('serq', run_name='__main__')", SCRIPT])
@pytest.mark.parametrize(
    "module", ["serq.tools", "attrs", "serq.codes.limits", "click", "serq.tools.studying"]
)
def test_interrupting_the_start_exits_with_130(module: str, begun: str, root: Path) -> None:
    """As soon as a module is looked for, which all are one after the other."""
    code = f"""
import os, runpy, signal, sys

class Interrupting:
    def find_spec(self, name, *rest):
        if name == {module!r}:
            os.kill(os.getpid(), signal.SIGINT)

signal.signal(signal.SIGINT, signal.default_int_handler)
sys.meta_path.insert(0, Interrupting())
sys.argv = ["serq", "check", "examples/hello.sq"]
{begun}
"""
    done = subprocess.run([sys.executable, "-c", code], cwd=root, capture_output=True, text=True)
    assert (done.returncode, done.stdout, done.stderr) == (130, "", "interrupted\n")


def test_interrupting_a_run_exits_with_130(root: Path, write: Write) -> None:
    path = write(GOOD)
    dump = path.with_name("dump")  # made before the run begins
    command = [sys.executable, "-m", "serq", "run", str(path), "--horizon", "1e12", "--dump", str(dump)]
    run = subprocess.Popen(command, cwd=root, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    while not dump.exists() and run.poll() is None:
        time.sleep(0.02)
    time.sleep(0.3)
    run.send_signal(signal.SIGINT)
    out, err = run.communicate(timeout=20)
    assert (run.returncode, out, err) == (130, "", "\ninterrupted\n")


@pytest.fixture
def on_terminal(monkeypatch: pytest.MonkeyPatch) -> Callable[..., str]:
    """What a command, given by its words, writes to standard error when that is a terminal of some width."""
    monkeypatch.setenv("TERM", "xterm")

    def ask(*words: object, columns: int = 80, encoding: str = "utf-8") -> str:
        screen, keyboard = pty.openpty()
        fcntl.ioctl(keyboard, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
        shown: list[bytes] = []
        reader = threading.Thread(target=read_all, args=(screen, shown))
        reader.start()
        with open(keyboard, "w", encoding=encoding, newline="") as terminal:
            monkeypatch.setattr(sys, "stderr", terminal)
            run_command([str(word) for word in words])
        reader.join()
        os.close(screen)
        return b"".join(shown).decode()

    return ask


def read_all(screen: int, shown: list[bytes]) -> None:
    """Read what is written to a terminal until nobody writes there any more, which is an error on Linux."""
    with suppress(OSError):
        while content := os.read(screen, 1 << 16):
            shown.append(content)


def long_run(monkeypatch: pytest.MonkeyPatch, path: Path) -> tuple[object, ...]:
    """A run that shows its progress at once, not only when it has taken a while."""
    from serq.tools.progress import Progress

    monkeypatch.setattr(Progress, "PATIENCE", 0.0)
    monkeypatch.setattr(Progress, "INTERVAL", 0.0)
    return ("run", path, "--horizon", 4_000, "--plain")


def test_progress_is_shown_on_a_terminal_and_taken_away(
    on_terminal: Callable[..., str], write: Write, monkeypatch: pytest.MonkeyPatch
) -> None:
    lines = on_terminal(*long_run(monkeypatch, write(GOOD))).split("\r\x1b[K")
    assert lines[0] == lines[-1] == ""
    shape = r"█*·* +(\d+)%  \d:\d\d left  ([\d,]+) of 4,000  [\d,]+ iterations/s"
    shown = [found for line in lines[1:-1] if (found := re.fullmatch(shape, line))]
    assert len(shown) > len(lines) - 10  # the first ones say that there are days left
    for line in shown:
        assert abs(int(line[1]) - int(line[2].replace(",", "")) / 40) <= 0.6


def test_progress_fits_a_terminal(
    on_terminal: Callable[..., str], write: Write, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = long_run(monkeypatch, write(GOOD))
    lines = on_terminal(*run, columns=40).split("\r\x1b[K")
    assert max(map(len, lines)) == 39
    assert on_terminal(*run, encoding="ascii").split("\r\x1b[K")[-2].startswith("#" * 20)


def test_progress_is_for_people_who_look(
    on_terminal: Callable[..., str], ask: Ask, write: Write, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = long_run(monkeypatch, write(GOOD))
    assert ask(*run).err == ""
    assert on_terminal(*run, "--quiet") == ""
    monkeypatch.setenv("TERM", "dumb")
    assert on_terminal(*run) == ""


def test_a_short_run_shows_no_progress(on_terminal: Callable[..., str], write: Write) -> None:
    assert on_terminal("run", write(GOOD), "--horizon", 20_000) == ""


def test_a_value_given_again_is_remarked_upon(ask: Ask, write: Write) -> None:
    path = write(INPUT)
    again = ["--set", "size=1", "--set", "size=8"]
    note = "note: `size` is given more than once: 8 takes the place of 1\n"
    for command in (["check", path], ["ir", path], ["run", path, "--horizon", 5]):
        assert ask(*command, *again).err == note
        assert ask(*command, *again, "--quiet").err == ""
        assert ask(*command, "--set", "size=8", "--set", "size=8").err == ""
    assert ask("run", path, "--horizon", 5, "--set", "size=1", "--", "--size", 8).err == note
    again = ["--def", "words=1", "--def", "words=2"]
    assert ask("check", write(DEFINED), *again).err == note.replace("size", "words").replace("8", "2")


def test_quiet_keeps_errors_and_no_doubts(ask: Ask, write: Write) -> None:
    doubtful = write("fn main() { let a = 1; let a = 2; }")
    assert "doubt[SQ0290]" in ask("check", doubtful).err
    assert ask("check", doubtful, "-q").err == ""
    assert "error[SQ" in ask("check", write(WRONG), "--quiet").err


# ---------------------------------------------------------------- defects


def broken(*_: Any, **__: Any) -> Any:
    raise KeyError("nonsense")


@pytest.mark.parametrize(
    "command", [["run", "--horizon", "5"], ["check"], ["ir"], ["emit-lean"], ["dump", "--after", "code"]]
)
def test_a_defect_is_called_one(
    ask: Ask, write: Write, monkeypatch: pytest.MonkeyPatch, command: list[str]
) -> None:
    monkeypatch.setattr("serq.tools.loading._load_text", broken)
    ending = ask(*command, write(GOOD))
    assert (ending.code, ending.out) == (70, "")
    assert "internal error[SQ0000]: KeyError: 'nonsense'" in ending.err
    assert "report it" in ending.err


def test_serq_debug_shows_where_a_defect_is(write: Write, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("serq.tools.loading._load_text", broken)
    monkeypatch.setenv("SERQ_DEBUG", "1")
    with pytest.raises(KeyError, match="nonsense"):
        run_command(["check", str(write(GOOD))])


def test_an_error_is_not_lost_among_doubts(ask: Ask, write: Write) -> None:
    said = ask("check", write("fn main() {\n" + "  let a = 1;\n" * 40 + "  let b = zzz;\n}\n"))
    assert said.code == 1
    assert "error[SQ0204]" in said.err.splitlines()[0]


def test_emit_lean_writes_a_package_and_a_table(ask: Ask, root: Path, tmp_path: Path) -> None:
    program, folder = root / "examples/papers/dai_fastertransformer.sq", tmp_path / "lean"
    told = ask("emit-lean", program, "-o", folder, "--prove")
    assert told.code == 0 and told.err == ""
    assert told.out.splitlines() == [
        "not_work_conserving  45  proved by witness: 2 sessions, 11 steps, at 93500: demand 291, tokens 1",
        "token_rate           48  proved by token rate",
    ]
    written = sorted(str(f.relative_to(folder)) for f in folder.rglob("*") if f.is_file())
    assert written == [
        "Serq/Generated/dai_fastertransformer.lean", "Serq/Lemmas.lean", "Serq/Model.lean",
        "Serq/Proofs/dai_fastertransformer.lean", "Serq/Schemes.lean", "lakefile.toml", "lean-toolchain",
    ]  # fmt: skip
    listing = json.loads(ask("emit-lean", program, "--prove", "--json").out)
    assert [c["verdict"] for c in listing["claims"]] == ["proved", "proved"]
    assert listing["claims"][0]["witness"] == {
        "sessions": 2, "steps": 11, "now": 93500.0, "demand": 291, "tokens": 1,
    }  # fmt: skip
    assert "theorem not_work_conserving" in listing["lean"] and listing["files"] == []


def test_emit_lean_leaves_the_claims_of_another_program_alone(ask: Ask, root: Path, tmp_path: Path) -> None:
    source = (root / "examples/papers/dai_fastertransformer.sq").read_text()
    source = source.replace('"../lib', f'"{root}/examples/lib')
    for name in ("my prog.sq", "my_prog.sq"):
        (tmp_path / name).write_text(source)
    assert ask("emit-lean", tmp_path / "my prog.sq", "-o", tmp_path / "lean").code == 0
    assert ask("emit-lean", tmp_path / "my prog.sq", "-o", tmp_path / "lean").code == 0
    told = ask("emit-lean", tmp_path / "my_prog.sq", "-o", tmp_path / "lean")
    assert told.code == 1 and "it holds the claims of `my prog.sq`" in told.err
    assert "«my prog»" in (tmp_path / "lean/Serq/Generated/my_prog.lean").read_text()


def test_emit_lean_names_the_claims_that_it_leaves_out(ask: Ask, root: Path, tmp_path: Path) -> None:
    source = (root / "examples/papers/dai_sarathi.sq").read_text().replace("demand <", "kv_decode <")
    (tmp_path / "p.sq").write_text(source)
    told = ask("emit-lean", tmp_path / "p.sq")
    assert told.code == 0 and "def token_rate" in told.out and "def work_conserving" not in told.out
    assert "outside the fragment: claim `work_conserving` reads `kv_decode`" in told.err
    assert ", line 43" in told.err


@pytest.mark.parametrize(
    ("before", "after", "code"),
    [
        ("execute (c", "execute (~exp(3) + c", "SQ0806"),
        ("device gpu { }", "device gpu { } device g { } engine f on g { tokens cap 2;"
         " schedule { advance running; } execute (1); }", "SQ0801"),
        ("run llm decode", "pause;", ""),
    ],
)  # fmt: skip
def test_emit_lean_refuses_a_program_outside_the_fragment_and_writes_nothing(
    ask: Ask, root: Path, tmp_path: Path, before: str, after: str, code: str
) -> None:
    source = (root / "examples/papers/dai_sarathi.sq").read_text().replace(before, after, 1)
    (tmp_path / "p.sq").write_text(source)
    told = ask("emit-lean", tmp_path / "p.sq", "--prove", "-o", tmp_path / "lean")
    assert told.code == 1 and f"error[{code}" in told.err and told.out == ""
    assert [f.name for f in tmp_path.iterdir()] == ["p.sq"]
