"""What the commands say: results on standard output, complaints on standard error, files when whole."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, TextIO

import click

from serq.diagnostics import Diagnostic, ProgramError, diagnose, show_diagnostic

_MOST_SHOWN = 20
_QUIET = "serq.quiet"


def quiet_option(command: Callable[..., Any]) -> Callable[..., Any]:
    """The option of a command that may be asked to keep its remarks to itself."""

    def keep(context: click.Context, _: click.Parameter, value: bool) -> None:
        context.meta[_QUIET] = value

    return click.option(
        "-q", "--quiet", is_flag=True, is_eager=True, expose_value=False, callback=keep,
        help="Say nothing on standard error but errors: no progress, no notes, no doubts.",
    )(command)  # fmt: skip


def is_quiet() -> bool:
    """Whether the present command was asked for results and errors only."""
    context = click.get_current_context(silent=True)
    return context is not None and bool(context.meta.get(_QUIET))


def remark(text: str) -> None:
    """A note on standard error about what a command does, which nobody has to act upon."""
    if not is_quiet():
        print(text, file=sys.stderr)


def complain(diagnostics: Sequence[Diagnostic]) -> None:
    """The first complaints on standard error, and how to see the others."""
    shown = [d for d in diagnostics if d.severity == "error" or not is_quiet()]
    if len(shown) > _MOST_SHOWN:  # what refuses the program must not be lost among doubts
        shown.sort(key=lambda d: d.severity != "error")
    for d in shown[:_MOST_SHOWN]:
        print(show_diagnostic(d, _encoding(sys.stderr)), file=sys.stderr)
    if (more := len(shown) - _MOST_SHOWN) > 0:
        print(f"… and {more} more: `serq check --json` has all of them", file=sys.stderr)


def print_text(text: str) -> None:
    """Text for people on standard output, ending in one line break."""
    with writing("standard output", quoted=False):
        sys.stdout.write(text if text.endswith("\n") else text + "\n")


def print_exact(text: str) -> None:
    """Text for programs on standard output: UTF-8 whatever the terminal speaks, nothing escaped."""
    whole = text if text.endswith("\n") else text + "\n"
    with writing("standard output", quoted=False):
        sys.stdout.flush()
        if hasattr(sys.stdout, "buffer"):
            sys.stdout.buffer.write(whole.encode("utf-8"))
        else:  # somebody listens in Python
            sys.stdout.write(whole)


@contextmanager
def writing(path: str, quoted: bool = True) -> Iterator[None]:
    """What the system says about an output becomes a message (SQ0930) that names it."""
    try:
        yield
    except BrokenPipeError:
        raise
    except (OSError, UnicodeEncodeError) as error:
        shown = f"`{path}`" if quoted else path
        if isinstance(error, UnicodeEncodeError):
            reason = "a name has letters that this system cannot write"
        elif isinstance(error, FileExistsError):
            reason = "it is a file, not a folder"
        else:
            reason = error.strerror or str(error)
        raise ProgramError([diagnose("SQ0930", path=shown, reason=reason)]) from None


def flush_output(code: int) -> int:
    """Empty the buffers while a full disk can still be reported."""
    try:
        with writing("standard output", quoted=False):
            sys.stdout.flush()
    except BrokenPipeError:
        return abandon_output()
    except ProgramError as error:
        complain(error.diagnostics)
        return abandon_output()
    return code


def abandon_output() -> int:
    """Point standard output nowhere, or Python would complain about it once more while it ends."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    return 1


def can_show(characters: str, stream: TextIO) -> bool:
    """Whether a stream takes these characters as they are."""
    try:
        characters.encode(_encoding(stream))
    except UnicodeEncodeError:
        return False
    return True


def _encoding(stream: TextIO) -> str:
    return getattr(stream, "encoding", None) or "utf-8"


def use_plain_streams() -> None:
    """A name that the terminal cannot show is escaped; it is no reason to fail.

    Raises ProgramError when there is no standard output to write results to.
    """
    if sys.stderr is None:
        sys.stderr = open(os.devnull, "w", encoding="utf-8")  # noqa: SIM115
    if sys.stdout is None:
        sys.stdout = open(os.devnull, "w", encoding="utf-8")  # noqa: SIM115
        raise ProgramError([diagnose("SQ0930", path="standard output", reason="it is closed")])
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="backslashreplace")
