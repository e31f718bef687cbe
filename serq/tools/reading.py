"""Reading programs from files: every way a file can be no program has a sentence of its own."""

from __future__ import annotations

import os
import sys
from typing import Any

from serq.diagnostics import ProgramError, diagnose
from serq.source import SourceFile, Span
from serq.spelling import closest

STANDARD_INPUT = "-"
LARGEST_TEXT = 4 * 2**20
"""Bytes of a program's text that are read."""
LARGEST_JSON = 64 * 2**20
"""Bytes of a program as JSON that are read."""


def read_source(path: str) -> SourceFile:
    """The text of the program at `path`; "-" is standard input.

    Raises ProgramError (SQ091x) when there is no such file, or it holds no text.
    """
    name = "<stdin>" if path == STANDARD_INPUT else path
    return SourceFile(name, _decode(_read(path, LARGEST_TEXT, "4 MB"), name))


def read_json_text(path: str) -> str:
    """The text of a program as JSON; raises as `read_source` does."""
    return _decode(_read(path, LARGEST_JSON, "64 MB"), path)


def _read(path: str, largest: int, limit: str) -> bytes:
    """The bytes at `path`, at most `largest` of them."""
    try:
        if path == STANDARD_INPUT and sys.stdin is None:
            raise _refusal("SQ0912", path=path, reason="standard input is closed")
        if path == STANDARD_INPUT:
            content = sys.stdin.buffer.read(largest + 1)
        else:
            with open(path, "rb") as file:
                content = file.read(largest + 1)
    except FileNotFoundError:
        raise _refusal("SQ0910", path=path, help=_near(path)) from None
    except IsADirectoryError:
        raise _refusal("SQ0911", path=path.rstrip(os.sep) or path) from None
    except OSError as error:
        raise _refusal("SQ0912", path=path, reason=error.strerror or str(error)) from None
    except ValueError:  # a NUL in the name
        raise _refusal("SQ0910", path=path.replace("\0", "\\0")) from None
    if len(content) > largest:
        raise _refusal("SQ0916", path=path, limit=limit)
    return content


def _decode(content: bytes, name: str) -> str:
    """The text of a file's bytes."""
    if not content.strip():
        raise _refusal("SQ0915", path=name)
    try:
        text = content.decode("utf-8")
    except UnicodeDecodeError as error:
        if b"\0" in content:
            raise _refusal("SQ0914", path=name) from None
        before = content[: error.start].decode("utf-8")
        line = before.count("\n") + 1
        column = len(before) - (before.rfind("\n") + 1) + 1
        at = Span(line, column, line, column + 1, name)
        raise _refusal("SQ0913", at, path=name, byte=f"0x{content[error.start]:02x}") from None
    if "\0" in text:
        raise _refusal("SQ0914", path=name)
    return text


def _near(path: str) -> str | None:
    """A cure for a path that names nothing, when its folder has one file of nearly that name."""
    folder, name = os.path.split(path)
    try:
        near = closest(name, os.listdir(folder or os.curdir))
    except OSError:
        return None
    return f"did you mean `{os.path.join(folder, near)}`?" if near is not None else None


def _refusal(code: str, at: Span | None = None, **facts: Any) -> ProgramError:
    return ProgramError([diagnose(code, at, **facts)])
