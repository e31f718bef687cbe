"""Writing files so that a reader never meets half of one."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

import click


def write_file(path: str, text: str) -> None:
    """Write `text` to `path`, as `open_replacement` does. Raises OSError."""
    with open_replacement(path) as file:
        file.write(text.encode("utf-8"))


def refuse_overwriting(source: str, output: str | None) -> None:
    """Raise UsageError when an output, if there is one, would take the place of what it is made from.

    Links are looked through; devices, such as a terminal that is read from and written to, may be the same.
    """
    if output is None or not os.path.isfile(source) or not os.path.exists(output):
        return
    if os.path.samefile(source, output):
        raise click.UsageError(f"`{output}` is the file that is read; write to another one")


@contextmanager
def open_replacement(path: str) -> Iterator[BinaryIO]:
    """A file to write in, beside `path`, that takes its place when it is complete.

    An existing file keeps its permissions and, when the writing fails, its content. A device or a
    pipe is written directly. Raises OSError.
    """
    target = Path(path)
    if target.exists() and not target.is_file():
        if target.is_dir():
            raise IsADirectoryError(f"it is a folder: {path}")
        with target.open("wb") as file:
            yield file
        return
    target = target.resolve()  # a link stays a link to the new content
    handle, temporary = tempfile.mkstemp(prefix=f".{target.name}.", dir=target.parent)
    try:
        with open(handle, "wb") as file:
            yield file
        os.chmod(temporary, target.stat().st_mode & 0o777 if target.exists() else 0o666 & ~_umask())
        os.replace(temporary, target)
    except BaseException:
        os.unlink(temporary)
        raise


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask
