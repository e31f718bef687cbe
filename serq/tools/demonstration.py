"""What the examples of codes really print: their commands, run in a folder of their own."""

from __future__ import annotations

import shlex
from contextlib import chdir, redirect_stderr, redirect_stdout
from io import StringIO
from pathlib import Path
from tempfile import TemporaryDirectory

from attrs import frozen

from serq.codes.example import Example
from serq.tools.cli import run_command


@frozen
class Demonstration:
    """What a command printed, complaints and results as they came, and its exit code."""

    text: str
    status: int


def demonstrate(example: Example, mended: bool = False) -> Demonstration:
    """Run the command of an example in this process, in a folder with its files.

    mended: with the files that make it go well.
    """
    files = {**example.files, **example.fixed} if mended else example.files
    said = StringIO()
    with TemporaryDirectory() as folder:
        for name, content in files.items():
            Path(folder, name).write_bytes(content)
        with chdir(folder), redirect_stdout(said), redirect_stderr(said):
            status = run_command(shlex.split(example.command)[1:])
    return Demonstration(said.getvalue(), status)
