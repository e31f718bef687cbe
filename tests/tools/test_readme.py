"""What README.md shows is what happens.

`console` blocks are run with bash and compared with what was printed, `python` blocks are doctests,
`sq` blocks are files of examples/. With SERQ_BLESS=1 the printed outputs are written into README.md
instead, for a person to read in the diff.
"""

from __future__ import annotations

import doctest
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
README = ROOT / "README.md"
FENCE = re.compile(r"^```(\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def blocks(kind: str) -> list[str]:
    """The contents of the fenced blocks of one kind."""
    return [body for k, body in FENCE.findall(README.read_text(encoding="utf-8")) if k == kind]


@pytest.fixture(scope="module")
def environment(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """An environment in which `serq` is this checkout."""
    folder = tmp_path_factory.mktemp("bin")
    command = folder / "serq"
    command.write_text(f'#!/bin/sh\nexec {sys.executable} -m serq "$@"\n')
    command.chmod(0o755)
    return os.environ | {"PATH": f"{folder}:{os.environ['PATH']}", "PYTHONPATH": str(ROOT)}


def printed(block: str, environment: dict[str, str]) -> str:
    """The block with the outputs its commands have now."""
    text = ""
    for command in re.findall(r"^\$ (.*)$", block, re.MULTILINE):
        done = subprocess.run(
            ["bash", "-c", command],
            cwd=ROOT,
            env=environment,
            text=True,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
        )
        # Blanks at line ends are an accident of tables, and editors remove them.
        text += f"$ {command}\n" + re.sub(r" +$", "", done.stdout, flags=re.MULTILINE)
    return text


@pytest.mark.parametrize("number", range(len(blocks("console"))))
def test_a_console_block_shows_what_is_printed(number: int, environment: dict[str, str]) -> None:
    block = blocks("console")[number]
    now = printed(block, environment)
    if os.environ.get("SERQ_BLESS"):
        text = README.read_text(encoding="utf-8")
        README.write_text(text.replace(f"```console\n{block}```", f"```console\n{now}```"), encoding="utf-8")
    else:
        assert now == block


def test_the_program_is_the_example() -> None:
    example = (ROOT / "examples/hello.sq").read_text(encoding="utf-8")
    if os.environ.get("SERQ_BLESS"):
        text = README.read_text(encoding="utf-8")
        block = blocks("sq")[0]
        README.write_text(text.replace(f"```sq\n{block}```", f"```sq\n{example}```"), encoding="utf-8")
    assert blocks("sq") == [example]


def test_the_python_block_is_a_session(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)
    for block in blocks("python"):
        session = doctest.DocTestParser().get_doctest(block, {}, "README.md", "README.md", 0)
        runner = doctest.DocTestRunner(optionflags=doctest.ELLIPSIS | doctest.IGNORE_EXCEPTION_DETAIL)
        assert runner.run(session).failed == 0


@pytest.mark.parametrize("page", ["README.md", "CONTRIBUTING.md"])
def test_links_lead_somewhere(page: str) -> None:
    text = (ROOT / page).read_text(encoding="utf-8")
    for target in re.findall(r"\]\(([^)#]+)\)", text):
        assert target.startswith("https://") or (ROOT / target).exists(), target


@pytest.mark.slow
def test_the_first_command_works_in_a_fresh_copy(tmp_path: Path) -> None:
    """As written: environment, installation, and the report of the shipped example."""
    copy = tmp_path / "serq"
    left_out = shutil.ignore_patterns(".*", "__pycache__", "node_modules", "build", "dist")
    shutil.copytree(ROOT, copy, ignore=left_out)
    command = blocks("sh")[0]
    done = subprocess.run(["bash", "-c", command], cwd=copy, capture_output=True, text=True, timeout=900)
    if re.search(r"No matching distribution|Connection|Temporary failure", done.stderr):
        pytest.skip("packages cannot be installed here")
    assert done.returncode == 0, done.stderr
    table = blocks("console")[0].split("\n", 1)[1]
    assert table.splitlines()[0] in done.stdout
    for line in table.splitlines():
        assert line in done.stdout
