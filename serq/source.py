"""Places in program text: a `Span` says where something was written, a `SourceFile` shows it."""

from __future__ import annotations

from attrs import field, frozen


@frozen
class Span:
    """A stretch of one file, from (line, column) up to and excluding (end_line, end_column).

    Lines and columns count from 1; columns count characters, so a tab is one column.
    """

    line: int
    column: int
    end_line: int
    end_column: int
    file: str = ""

    @property
    def start(self) -> Span:
        """The empty span at the first character: where a caret alone is wanted."""
        return Span(self.line, self.column, self.line, self.column, self.file)

    def to(self, other: Span) -> Span:
        """The stretch from the beginning of this span to the end of `other`."""
        return Span(self.line, self.column, other.end_line, other.end_column, self.file)


@frozen
class SourceFile:
    """A file's text with the name it is shown under; first: the number of its first line, for an excerpt."""

    name: str
    text: str
    first: int = 1
    lines: tuple[str, ...] = field(init=False, repr=False, eq=False)

    @lines.default
    def _split(self) -> tuple[str, ...]:
        # Only "\n" ends a line, as in the lexer: str.splitlines also cuts at form feeds and U+2028.
        return tuple(line.rstrip("\r") for line in self.text.split("\n"))

    def line(self, number: int) -> str:
        """Line `number` (from 1) without its end, or "" when there is none."""
        at = number - self.first
        return self.lines[at] if 0 <= at < len(self.lines) else ""
