"""What commands are asked: programs to open, settings that have to mean something."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import click

import serq
from serq.diagnostics import ProgramError
from serq.tools.saying import complain


def open_program(
    file: str, sets: dict[str, str], defs: dict[str, str], pedantic: bool = False
) -> serq.Program:
    """The program of a command, its doubts already said."""
    from serq.tools.loading import load_program

    result = load_program(file, None, sets, defs, pedantic=pedantic)
    if result.program is None:
        raise ProgramError(result.diagnostics)
    complain(result.diagnostics)
    return result.program


@contextmanager
def usage_errors() -> Iterator[None]:
    """Complaints about settings are wrong use of the command here, and exit with 2."""
    try:
        yield
    except ProgramError as error:
        words = [f"{d.message}{'; ' + d.help if d.help else ''} ({d.code})" for d in error.diagnostics]
        raise click.UsageError("\n       ".join(words), click.get_current_context()) from None
