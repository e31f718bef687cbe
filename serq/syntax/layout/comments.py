"""Where each comment goes: it stays with the tokens and the lines it was written between."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from enum import Enum, auto

from attrs import frozen

from serq.syntax.layout.draft import Draft
from serq.syntax.tokens import Comment

_CLOSERS = frozenset({")", "]", "}", ",", ";", ""})


class Side(Enum):
    """What a comment is written at."""

    LINE_END = auto()
    """`// …` after something on its line."""
    OWN_LINE = auto()
    """Alone on its lines, before what follows."""
    BEFORE = auto()
    """`/* … */` on the line of the token it precedes."""
    AFTER = auto()
    """`/* … */` on the line of the token it follows, where nothing or only punctuation follows it."""


@frozen
class Placed:
    """A comment that stands before some token.

    apart: whether an empty line was left above it.
    """

    text: str
    side: Side
    apart: bool

    @property
    def breaks(self) -> bool:
        """Whether lines end in or after it whatever fits."""
        return self.side in (Side.LINE_END, Side.OWN_LINE) or "\n" in self.text

    @property
    def width(self) -> int:
        """Columns it takes among tokens, with a blank."""
        return 0 if self.breaks else len(self.text) + 1


@frozen
class Margin:
    """What stands between a token and the one before: comments, and maybe an empty line at the end."""

    comments: tuple[Placed, ...] = ()
    apart: bool = False


def place_comments(comments: Sequence[Comment], draft: Draft) -> list[Margin]:
    """For each token, what is written before it."""
    margins = []
    line = 0
    for i, found in enumerate(_by_token(comments, draft)):
        below, _ = draft.places[i]
        margins.append(_margin(found, line, below, draft.texts[i]))
        line = below
    return margins


def _by_token(comments: Sequence[Comment], draft: Draft) -> Iterator[list[Comment]]:
    """For each token, the comments between it and the one before."""
    rest = iter(comments)
    comment = next(rest, None)
    for place in draft.places:
        found = []
        while comment is not None and (comment.at.line, comment.at.column) < place:
            found.append(comment)
            comment = next(rest, None)
        yield found


def _margin(comments: list[Comment], above: int, below: int, token: str) -> Margin:
    """above, below: the lines of the tokens around; token: the one that follows."""
    ends = [above, *(comment.at.end_line for comment in comments)]
    lines = [*(comment.at.line for comment in comments), below]
    apart = [line - end >= 2 for line, end in zip(lines, ends, strict=True)]
    placed: list[Placed] = []
    sticks = token not in _CLOSERS
    for i, comment in reversed(list(enumerate(comments))):
        starts_line = lines[i] > ends[i]
        is_block = comment.text.startswith("/*")
        sticks = sticks and is_block and lines[i + 1] == comment.at.end_line
        side = (
            Side.BEFORE if sticks
            else Side.OWN_LINE if starts_line
            else Side.AFTER if is_block
            else Side.LINE_END
        )  # fmt: skip
        text = comment.text.replace("\r\n", "\n") if is_block else comment.text.rstrip()
        placed.append(Placed(text, side, apart[i]))
    return Margin(tuple(reversed(placed)), apart[-1])
