"""`serq fmt`: which files it writes, what it says, and how it ends."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from serq.diagnostics import InternalError
from serq.tools import fmt
from serq.tools.cli import run_command

UNTIDY = "fn main() { // one\n\n  stage desk:fifo;\n}\n"
TIDY = "fn main() {  // one\n  stage desk : fifo;\n}\n"
WRONG = "fn main() { stage desk : lifo; }\n"

Format = Callable[..., tuple[int, str, str]]


@pytest.fixture
def ask(capsys: pytest.CaptureFixture[str]) -> Format:
    """Runs `serq fmt` in this process: its exit code, what it printed, and its complaints."""

    def run(*arguments: object) -> tuple[int, str, str]:
        capsys.readouterr()
        code = run_command(["fmt", *map(str, arguments)])
        out, err = capsys.readouterr()
        assert "Traceback" not in err
        return code, out, err

    return run


def write(folder: Path, **texts: str) -> list[Path]:
    paths = [folder / f"{name}.sq" for name in texts]
    for path, text in zip(paths, texts.values(), strict=True):
        path.write_bytes(text.encode())
    return paths


def test_files_are_rewritten_when_that_changes_them(ask: Format, tmp_path: Path) -> None:
    untidy, tidy = write(tmp_path, untidy=UNTIDY, tidy=TIDY)
    os.utime(tidy, (1, 1))
    untidy.chmod(0o640)
    assert ask(untidy, tidy) == (0, f"{untidy}: rewritten\n", "")
    assert (untidy.read_text(), tidy.read_text()) == (TIDY, TIDY)
    assert tidy.stat().st_mtime == 1
    assert untidy.stat().st_mode & 0o777 == 0o640
    assert sorted(f.name for f in tmp_path.iterdir()) == ["tidy.sq", "untidy.sq"]
    assert ask(untidy, tidy) == (0, "", "")


def test_check_names_what_would_change_and_writes_nothing(ask: Format, tmp_path: Path) -> None:
    untidy, tidy = write(tmp_path, untidy=UNTIDY, tidy=TIDY)
    assert ask("--check", tidy, untidy) == (1, f"{untidy}: would be rewritten\n", "")
    assert untidy.read_text() == UNTIDY
    assert ask("--check", tidy) == (0, "", "")


def test_diff_is_a_patch(ask: Format, tmp_path: Path) -> None:
    untidy, tidy = write(tmp_path, untidy=UNTIDY.removesuffix("\n"), tidy=TIDY)
    code, out, err = ask("--diff", tidy, untidy)
    assert (code, err) == (0, "")
    assert out.splitlines() == [
        f"--- {untidy}", f"+++ {untidy}", "@@ -1,4 +1,3 @@",
        "-fn main() { // one", "-", "-  stage desk:fifo;", "-}", "\\ No newline at end of file",
        "+fn main() {  // one", "+  stage desk : fifo;", "+}",
    ]  # fmt: skip
    assert ask("--diff", "--check", untidy) == (1, out, "")
    assert untidy.read_text() == UNTIDY.removesuffix("\n")
    assert ask("--diff", "--check", tidy) == (0, "", "")


def test_line_ends_of_other_systems_change_too(ask: Format, tmp_path: Path) -> None:
    (path,) = write(tmp_path, other=TIDY.replace("\n", "\r\n"))
    assert ask("--check", path)[0] == 1
    assert ask(path)[0] == 0
    assert path.read_bytes() == TIDY.encode()


def test_a_malformed_program_is_left_alone_and_the_others_are_not(ask: Format, tmp_path: Path) -> None:
    wrong, untidy = write(tmp_path, wrong=WRONG, untidy=UNTIDY)
    code, out, err = ask(wrong, tmp_path / "nowhere.sq", untidy)
    assert (code, out) == (1, f"{untidy}: rewritten\n")
    assert err.startswith(f"{wrong}:1:26: error[SQ0128]")
    assert "error[SQ0910]" in err
    assert wrong.read_text() == WRONG


def test_a_refused_program_is_laid_out_all_the_same(ask: Format, tmp_path: Path) -> None:
    """What it means is for `serq check` to say."""
    (path,) = write(tmp_path, refused="fn main() { gauge g=nobody; }")
    assert ask(path)[0] == 0
    assert path.read_text() == "fn main() { gauge g = nobody; }\n"


@pytest.mark.skipif(os.name != "posix" or os.geteuid() == 0, reason="everything can be written here")
def test_a_file_that_cannot_be_written_is_reported(ask: Format, tmp_path: Path) -> None:
    (path,) = write(tmp_path, untidy=UNTIDY)
    tmp_path.chmod(0o500)
    code, out, err = ask(path)
    tmp_path.chmod(0o700)
    assert (code, out) == (1, "")
    assert f"error[SQ0930]: cannot write `{path}`" in err


def test_a_failing_write_leaves_the_file(
    ask: Format, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    untidy, other = write(tmp_path, untidy=UNTIDY, other=UNTIDY)
    replace = os.replace

    def fail(source: str, target: Path) -> None:
        if Path(target).name == "untidy.sq":
            raise OSError(28, "No space left on device")
        replace(source, target)

    monkeypatch.setattr(os, "replace", fail)
    code, out, err = ask(untidy, other)
    assert (code, out) == (1, f"{other}: rewritten\n")
    assert "error[SQ0930]" in err
    assert (untidy.read_text(), other.read_text()) == (UNTIDY, TIDY)


def test_standard_input_goes_to_standard_output(
    shell: Callable[..., subprocess.CompletedProcess[str]],
) -> None:
    for text in (UNTIDY, TIDY):
        done = shell("fmt", "-", input=text)
        assert (done.returncode, done.stdout, done.stderr) == (0, TIDY, "")
    done = shell("fmt", "-", input=WRONG)
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr.startswith("<stdin>:1:26: error[SQ0128]")
    done = shell("fmt", "--check", "-", input=UNTIDY)
    assert (done.returncode, done.stdout) == (1, "<stdin>: would be rewritten\n")


def test_a_layout_that_would_change_the_program_is_a_defect(
    ask: Format, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (path,) = write(tmp_path, untidy=UNTIDY)
    whole = fmt.lay_out.__globals__
    monkeypatch.setitem(whole, "print_tokens", lambda *_: "fn main() { }\n")
    with pytest.raises(InternalError):
        fmt.format_file(str(path), check=False, diff=False)
    code, out, err = ask(path)
    assert (code, out) == (70, "")
    assert "internal error" in err
    assert path.read_text() == UNTIDY


def test_the_command_explains_itself(ask: Format) -> None:
    code, out, _ = ask("--help")
    assert code == 0
    assert "Example:\n    serq fmt" in out
    assert ask()[0] == 2
    assert ask("--nonsense", "p.sq")[0] == 2
    assert ask("p.json")[0] == 2
