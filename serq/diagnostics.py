"""What is said about a program that is wrong: records, the sink they go to, and their one renderer.

Call sites give a code and facts; the words live in `serq.codes`. A mistake of serq's own is an
`InternalError`, never a diagnostic.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from attrs import define, field, frozen

from serq.codes import CODES
from serq.source import SourceFile, Span


@frozen
class Note:
    """A second place a message is about (a first declaration, the use of a definition)."""

    message: str
    at: Span | None = None


@frozen
class Diagnostic:
    """One complaint: its code, where, what is wrong, and one way out.

    at: None for what is no place in a text. severity: "error", or "doubt" for a remark about a program that
    can be run. source: the file of `at`, so that its line can be shown.
    """

    code: str
    message: str
    at: Span | None = None
    help: str | None = None
    notes: tuple[Note, ...] = ()
    severity: str = "error"
    source: SourceFile | None = field(default=None, eq=False, repr=False)


class ProgramError(Exception):
    """The program is refused, or its run cannot go on.

    diagnostics: every complaint, in the order of their places; at least one.
    """

    def __init__(self, diagnostics: Iterable[Diagnostic]) -> None:
        self.diagnostics: tuple[Diagnostic, ...] = tuple(diagnostics)
        super().__init__("\n".join(show_diagnostic(d) for d in self.diagnostics))


class InternalError(Exception):
    """A defect of serq: something it relies on was not so. The command line exits with 70."""


class ProcessEnded(Exception):
    """A process that did a part of the work is gone, by no fault of serq. The command line exits with 1."""


@define
class Sink:
    """Collects complaints while the passes go on.

    sources: the files that spans may point into, by the name in `Span.file`.
    """

    sources: dict[str, SourceFile] = field(factory=dict)
    diagnostics: list[Diagnostic] = field(factory=list)

    def say(
        self,
        code: str,
        at: Span | None = None,
        *,
        notes: Iterable[Note] = (),
        help: str | None = None,
        **facts: Any,
    ) -> None:
        """Record a complaint: `facts` fill the code's sentence, `help` replaces its cure."""
        self.diagnostics.append(diagnose(code, at, notes=notes, help=help, sources=self.sources, **facts))

    @property
    def errors(self) -> list[Diagnostic]:
        """The complaints that refuse the program, by place (those without a place last)."""
        return sorted(
            (d for d in self.diagnostics if d.severity == "error"),
            key=lambda d: (d.at is None, (d.at.line, d.at.column) if d.at else ()),
        )

    def raise_errors(self) -> None:
        """Raise `ProgramError` when anything said so far refuses the program."""
        if errors := self.errors:
            raise ProgramError(errors)


def diagnose(
    code: str,
    at: Span | None = None,
    *,
    notes: Iterable[Note] = (),
    help: str | None = None,
    sources: Mapping[str, SourceFile] | None = None,
    **facts: Any,
) -> Diagnostic:
    """One complaint in the register's words."""
    entry = CODES[code]
    facts = {name: _cut(fact) for name, fact in facts.items()}
    cure = help if help is not None else (entry.help.format(**facts) if entry.help else None)
    source = sources.get(at.file) if sources and at is not None else None
    return Diagnostic(code, entry.title.format(**facts), at, cure, tuple(notes), entry.severity, source)


_LONGEST = 200


def _cut(fact: Any) -> Any:
    """A fact as a message says it: a name as long as a page is cut in its middle."""
    if not isinstance(fact, str) or len(fact) <= _LONGEST:
        return fact
    return f"{fact[: _LONGEST // 2]}…{fact[-_LONGEST // 4 :]}"


# Text of a program may hold what would move the cursor, ring the bell or turn the direction of reading; a
# tab keeps its width.
_UNSEEN = {
    code: "\N{REPLACEMENT CHARACTER}"
    for code in (
        *range(9), *range(10, 32), *range(127, 160), 0x2028, 0x2029, *range(0x202A, 0x202F),
        *range(0x2066, 0x206A),
    )
}  # fmt: skip


def show_diagnostic(d: Diagnostic, encoding: str = "utf-8") -> str:
    """A complaint as people read it: place, code, sentence, the source line with a caret, the cure.

    encoding: of the stream it is for. Characters that it does not have are left in, to be escaped there
    (`\\xe9`); carets stand where that puts their characters.
    """
    head = f"{d.severity}[{d.code}]: {d.message}"
    lines = [f"{_place(d.at)}: {head}" if d.at is not None else head]
    if d.at is not None and d.source is not None:
        lines += _excerpt(d.source, d.at, encoding)
    if d.help:
        lines.append(f"  help: {d.help}")
    for note in d.notes:
        lines.append(f"  note: {_place(note.at)}: {note.message}" if note.at else f"  note: {note.message}")
        if note.at is not None and d.source is not None and note.at.file == d.source.name:
            lines += _excerpt(d.source, note.at, encoding)
    return "\n".join(line.translate(_UNSEEN) for line in lines)


def diagnostic_to_dict(d: Diagnostic) -> dict[str, Any]:
    """A complaint for tools: `code`, `severity`, `message`, `help`, `at`, `notes`."""

    def place(at: Span | None) -> dict[str, Any] | None:
        if at is None:
            return None
        return {
            "file": at.file, "line": at.line, "column": at.column,
            "end_line": at.end_line, "end_column": at.end_column,
        }  # fmt: skip

    return {
        "code": d.code,
        "severity": d.severity,
        "message": d.message,
        "help": d.help,
        "at": place(d.at),
        "notes": [{"message": n.message, "at": place(n.at)} for n in d.notes],
    }


def _place(at: Span | None) -> str:
    if at is None:
        return ""
    return f"{at.file or '<program>'}:{at.line}:{at.column}"


_WIDEST = 160


def _excerpt(source: SourceFile, at: Span, encoding: str) -> list[str]:
    """The line of `at` with carets under it; a very long line is cut around the place."""
    text = source.line(at.line)
    end = at.end_column if at.end_line == at.line else len(text) + 1
    start = at.column - 1
    width = max(1, min(end - at.column, len(text) - start))
    cut = max(0, start - _WIDEST // 2) if len(text) > _WIDEST else 0
    shown = text[cut : cut + _WIDEST]
    width = max(1, min(width, _WIDEST - (start - cut)))
    before, marked = text[cut:start], text[start : start + width]
    # Tabs are kept under the line so that the caret stands where the terminal shows the place.
    pad = "\t".join(" " * _columns(part, encoding) for part in before.split("\t"))
    pad += " " * (start - cut - len(before))
    carets = "^" * max(1, _columns(marked, encoding))
    number = str(at.line)
    return [f"  {number} | {shown}", f"  {' ' * len(number)} | {pad}{carets}"]


def _columns(text: str, encoding: str) -> int:
    """How wide a terminal shows a text; characters that the encoding does not have are escaped."""
    if text.isascii() and text.isprintable():
        return len(text)
    text = text.translate(_UNSEEN)
    return sum(map(_width, text.encode(encoding, "backslashreplace").decode(encoding)))


def _width(character: str) -> int:
    """Columns of one character: East Asian wide ones take two, what is put upon another one none."""
    from unicodedata import category, east_asian_width

    if category(character) in ("Mn", "Me", "Cf"):
        return 0
    return 2 if east_asian_width(character) in "WF" else 1
