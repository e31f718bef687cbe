"""`serq fmt`: one file of a program, laid out."""

from __future__ import annotations

import difflib

import click
from attrs import frozen

from serq.diagnostics import Sink
from serq.source import SourceFile
from serq.syntax.layout.whole import lay_out
from serq.tools.reading import STANDARD_INPUT, read_source
from serq.tools.writing import write_file


@frozen
class Outcome:
    """Whether a file was, or would be, changed; what is to be said on standard output, "" for nothing."""

    changed: bool
    said: str


def format_file(path: str, *, check: bool, diff: bool) -> Outcome:
    """Write the program at `path` in its one layout; "-" is standard input, and output.

    check: say whether it would change instead; diff: how. Neither writes to the file. Raises
    ProgramError when it is no well-formed program, and leaves it as it is; OSError when it cannot be
    written; UsageError for a program as JSON.
    """
    if path.endswith(".json"):
        raise click.UsageError(f"`{path}` is a program as JSON: only the text of a program has a layout")
    source = read_source(path)
    sink = Sink()
    text = lay_out(source, sink)
    sink.raise_errors()
    assert text is not None
    changed = text != source.text
    if diff:
        return Outcome(changed, _show_difference(source, text))
    if check:
        return Outcome(changed, f"{source.name}: would be rewritten" if changed else "")
    if path == STANDARD_INPUT:
        return Outcome(changed, text)
    if changed:
        write_file(path, text)
    return Outcome(changed, f"{path}: rewritten" if changed else "")


def _show_difference(source: SourceFile, text: str) -> str:
    """What changes, as `diff -u` shows it and `patch` reads it; "" when nothing does."""
    lines = difflib.unified_diff(_lines(source.text), _lines(text), source.name, source.name)
    unfinished = "\n\\ No newline at end of file\n"
    return "".join(line if line.endswith("\n") else line + unfinished for line in lines)


def _lines(text: str) -> list[str]:
    # Only "\n" ends a line, as everywhere in serq; str.splitlines cuts at more.
    *whole, rest = text.split("\n")
    return [f"{line}\n" for line in whole] + ([rest] if rest else [])
