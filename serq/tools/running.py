"""One run: the machine, the judge of the claims and whoever else watches, wired together."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from serq.diagnostics import ProgramError

if TYPE_CHECKING:
    from serq.ir.program import Program
    from serq.machine.records import RunRecord
    from serq.machine.settings import Settings
    from serq.source import SourceFile, Span


def record_run(
    program: Program,
    settings: Settings,
    *,
    pedantic: bool = False,
    plain: bool = False,
    progress: Callable[[float, int], None] | None = None,
) -> RunRecord:
    """Run a program and judge its claims; what the run leaves behind.

    Raises ProgramError when the run cannot go on, its complaints able to show the program's lines.
    """
    from serq.claims.judge import Judge
    from serq.machine.run import run_program

    try:
        if plain:
            from serq.machine.plain.loop import run_plain

            return run_plain(program, settings, progress=progress)
        return run_program(program, settings, [Judge(program, pedantic)], progress=progress)
    except ProgramError as error:
        raise with_source(error, program) from error.__cause__


def with_source(error: ProgramError, program: Program) -> ProgramError:
    """The same complaints, able to show the lines of the program or of a library that it uses."""
    from attrs import evolve

    return ProgramError(
        evolve(d, source=_file_of(d.at, program)) if d.source is None and d.at is not None else d
        for d in error.diagnostics
    )


def _file_of(at: Span, program: Program) -> SourceFile | None:
    """The file that a place is in; None for a library that cannot be read any more."""
    from serq.tools.reading import read_source

    if program.source is None or at.file in ("", program.source.name):
        return program.source
    try:
        return read_source(at.file)
    except ProgramError:
        return None
