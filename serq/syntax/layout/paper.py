"""Lines being written: their indentation, and the comments at their ends, which stand in columns."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from attrs import define

GAP = 2
"""Blanks between a line and the comment at its end."""


@define
class Line:
    """A line without its end; `comment` stands behind `text`, "" when there is none."""

    text: str
    comment: str = ""


class Paper:
    """Text that grows at its end, on lines of `width` columns."""

    def __init__(self, width: int) -> None:
        self.width = width
        self.lines = [Line("")]
        self.column = 0
        self.is_fresh = True

    def write(self, text: str) -> None:
        """Put text behind what is there; it may have several lines."""
        first, *more = text.split("\n")
        self.lines[-1].text += first
        self.lines += map(Line, more)
        self.column = len(self.lines[-1].text)
        self.is_fresh = self.is_fresh and not text

    def write_apart(self, text: str) -> None:
        """Put text behind what is there, with a blank between unless a bracket or nothing is there."""
        if not self.is_fresh and not self.lines[-1].text.endswith(("(", "[", " ")):
            text = " " + text
        self.write(text)

    def end_line(self, indent: int, apart: bool = False) -> None:
        """Go on with a new line; apart: an empty line is left between."""
        if self.is_fresh:
            self.lines.pop()
        if apart:
            self.lines.append(Line(""))
        self.lines.append(Line(" " * indent))
        self.column = indent
        self.is_fresh = True

    def comment(self, text: str) -> None:
        """Put a comment at the end of the line, which must end then."""
        self.lines[-1].comment = text

    def text(self) -> str:
        """All that was written."""
        lines = self.lines[:-1] if self.is_fresh else self.lines
        return "".join(f"{line}\n" for line in _in_columns(lines, self.width))


def _in_columns(lines: Sequence[Line], width: int) -> Iterator[str]:
    """The lines; comments at the ends of neighbours begin in one column unless they get too wide by it.

    One behind an opening brace is about what follows, and stands for itself.
    """
    done = 0
    while done < len(lines):
        end = done + 1
        column, longest = _extent(lines[done])
        while end < len(lines) and _is_in_column(lines[end - 1]) and _is_in_column(lines[end]):
            next_column, next_longest = _extent(lines[end])
            wider, longer = max(column, next_column), max(longest, next_longest)
            if wider + longer > width:
                break
            column, longest, end = wider, longer, end + 1
        for line in lines[done:end]:
            yield line.text.ljust(column) + line.comment if line.comment else line.text
        done = end


def _is_in_column(line: Line) -> bool:
    return bool(line.comment) and not line.text.endswith("{")


def _extent(line: Line) -> tuple[int, int]:
    """Where the comment of a line may begin, and how long it is."""
    return len(line.text) + GAP, len(line.comment)
