"""What the commands say: results on standard output, complaints on standard error, files when whole."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from serq.diagnostics import Diagnostic, ProgramError, diagnose, show_diagnostic

_MOST_SHOWN = 20


def complain(diagnostics: Sequence[Diagnostic]) -> None:
    """The first complaints on standard error; somebody who has mended those asks again."""
    for d in diagnostics[:_MOST_SHOWN]:
        print(show_diagnostic(d), file=sys.stderr)
    if (more := len(diagnostics) - _MOST_SHOWN) > 0:
        print(f"… and {more} more", file=sys.stderr)


def print_text(text: str) -> None:
    """Text on standard output, ending in one line break."""
    with writing("standard output", quoted=False):
        sys.stdout.write(text if text.endswith("\n") else text + "\n")


@contextmanager
def writing(path: str, quoted: bool = True) -> Iterator[None]:
    """What the system says about an output becomes a message (SQ0930) that names it."""
    try:
        yield
    except BrokenPipeError:
        raise
    except OSError as error:
        shown = f"`{path}`" if quoted else path
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


def use_plain_streams() -> None:
    """A name that the terminal cannot show is escaped; it is no reason to fail."""
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="backslashreplace")
