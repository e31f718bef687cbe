"""Console blocks: commands with what they print, run in a folder with the programs of the page."""

from __future__ import annotations

import os
import shlex
import subprocess
import sys
from collections.abc import Sequence
from contextlib import chdir, redirect_stderr, redirect_stdout
from io import StringIO
from pathlib import Path

from attrs import define, field

from serq.tools.cli import run_command

CUT = "…"
"""A line of a block that stands for any number of printed lines."""


@define
class Console:
    """A shell that stands in `folder`.

    `serq …` is run in this process, anything else by bash; status: of the last command.
    """

    folder: Path
    status: int = 0
    _log: list[str] = field(factory=list)

    def replay(self, lines: Sequence[str]) -> list[str]:
        """The block as it is when its commands are run again: prompts, and what they print now."""
        out: list[str] = []
        for command in commands_of(lines):
            out += command
            out += self.run("\n".join(line[2:] for line in command)).splitlines()
        return [line.rstrip() for line in out]

    def run(self, command: str) -> str:
        if command == "echo $?":
            return f"{self.status}\n"
        if command.startswith("serq ") and not set(command) & set("|<>;&$`*\n"):
            return self._run_here(shlex.split(command)[1:])
        return self._run_shell(command)

    def _run_here(self, arguments: list[str]) -> str:
        out = StringIO()
        with chdir(self.folder), redirect_stdout(out), redirect_stderr(out):
            self.status = run_command(arguments)
        return out.getvalue()

    def _run_shell(self, command: str) -> str:
        tools = self.folder / ".bin"
        if not tools.exists():
            tools.mkdir()
            for name, call in (("serq", "-m serq"), ("python", "")):
                (tools / name).write_text(f'#!/bin/sh\nexec "{sys.executable}" {call} "$@"\n')
                (tools / name).chmod(0o755)
        root = str(Path(__file__).parents[2])
        environment = os.environ | {"PATH": f"{tools}:{os.environ['PATH']}", "PYTHONPATH": root}
        done = subprocess.run(
            ["bash", "-c", command],
            cwd=self.folder,
            env=environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            timeout=120,
            check=False,
        )
        self.status = done.returncode
        return done.stdout


def commands_of(lines: Sequence[str]) -> list[list[str]]:
    """The lines of each command of a block, with their prompts."""
    commands: list[list[str]] = []
    for line in lines:
        if line.startswith("$ "):
            commands.append([line])
        elif line.startswith("> ") and commands:
            commands[-1].append(line)
    return commands


def agrees(shown: Sequence[str], printed: Sequence[str]) -> bool:
    """Whether a block shows what was printed; a line `…` stands for any lines."""
    if CUT not in shown:
        return list(shown) == list(printed)
    at = list(shown).index(CUT)
    head, tail = shown[:at], shown[at + 1 :]
    if list(printed[:at]) != list(head):
        return False
    return any(agrees(tail, printed[start:]) for start in range(at, len(printed) + 1))
