"""Tokens, their arrangement and the comments between them -> text."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate

from attrs import frozen

from serq.syntax.layout.arrange import INDENT, Arrangement, Group, Space
from serq.syntax.layout.comments import Margin, Side
from serq.syntax.layout.draft import Draft
from serq.syntax.layout.paper import Paper

FARTHEST = 0.6
"""Of the width: what begins further right has no lines aligned under it, they are indented instead."""


@frozen
class _Frame:
    """Where lines begin now, and whether everything goes on one."""

    indent: int
    is_flat: bool = False


def print_tokens(draft: Draft, arrangement: Arrangement, margins: Sequence[Margin], width: int) -> str:
    """The text of a program, on lines of `width` columns where that is possible."""
    return _Printer(draft, arrangement, margins, width).print()


class _Printer:
    """widths: of all up to each token, on one line. breaks: lines that certainly end before it.

    tails: columns that what follows takes on the line of the token before, whatever breaks.
    """

    def __init__(self, draft: Draft, arrangement: Arrangement, margins: Sequence[Margin], width: int) -> None:
        self.texts = draft.texts
        self.arrangement = arrangement
        self.margins = margins
        self.paper = Paper(width)
        self.frames = [_Frame(0)]
        gaps = [self.gap(i) for i in range(len(self.texts))]
        lengths = [len(text) for text in self.texts]
        self.breaks = list(accumulate(map(self.must_break, range(len(self.texts)))))
        self.widths = list(accumulate(map(sum, zip(gaps, lengths, strict=True))))
        self.tails = [0] * (len(self.texts) + 1)
        for i in reversed(range(len(self.texts))):
            self.tails[i] = self.gap(i, Side.AFTER)
            if not self.must_break(i) and arrangement.spaces[i] is not Space.SOFT:
                self.tails[i] = gaps[i] + lengths[i] + self.tails[i + 1]

    def gap(self, i: int, side: Side | None = None) -> int:
        """Columns before a token on one line; side: only of comments on this side."""
        comments = sum(c.width for c in self.margins[i].comments if side in (None, c.side))
        is_blank = self.arrangement.spaces[i] in (Space.BLANK, Space.SOFT)
        return comments + (is_blank and side is None)

    def must_break(self, i: int) -> bool:
        """Whether a line ends before a token whatever fits."""
        is_line = self.arrangement.spaces[i] is Space.LINE
        return is_line or any(comment.breaks for comment in self.margins[i].comments)

    # ------------------------------------------------------------ printing

    def print(self) -> str:
        """Every token after what stands before it."""
        ends: dict[int, int] = {}
        for i, text in enumerate(self.texts):
            self.separate(i)
            for group in self.arrangement.groups.get(i, ()):
                self.begin(group)
                ends[group.last] = ends.get(group.last, 0) + 1
            self.paper.write(text)
            del self.frames[len(self.frames) - ends.pop(i, 0) :]
            if i in self.arrangement.opens:
                frame = self.frames[-1]
                self.frames.append(_Frame(frame.indent + INDENT, frame.is_flat))
        return self.paper.text()

    def begin(self, group: Group) -> None:
        """Decide whether a group goes on one line from here, and where its lines begin if not."""
        around = self.frames[-1]
        first, last = group.first, group.last
        width = self.widths[last] - self.widths[first] + len(self.texts[first])
        room = self.paper.width - self.paper.column - self.tails[last + 1]
        if around.is_flat or (self.breaks[last] == self.breaks[first] and width <= room):
            frame = _Frame(around.indent, is_flat=True)
        elif group.indent is not None:
            frame = _Frame(around.indent + group.indent)
        elif self.paper.column <= FARTHEST * self.paper.width:
            frame = _Frame(self.paper.column)
        else:
            frame = _Frame(around.indent + INDENT)
        self.frames.append(frame)

    def separate(self, i: int) -> None:
        """Write what stands before a token: comments, a blank or the end of a line."""
        paper = self.paper
        margin, space = self.margins[i], self.arrangement.spaces[i]
        closes = i in self.arrangement.closes
        # Empty lines are kept between the elements of a list, not at its ends.
        at_end = closes or i == len(self.texts) - 1
        may_part = at_end or i in self.arrangement.elements
        at_beginning = i == 0 or i - 1 in self.arrangement.opens
        ends = space is Space.LINE or (space is Space.SOFT and not self.frames[-1].is_flat)
        is_separate = False
        for comment in margin.comments:
            apart = comment.apart and may_part and not at_beginning
            if comment.side is Side.LINE_END:
                paper.comment(comment.text)
                ends = True
            elif comment.side is Side.OWN_LINE:
                paper.end_line(self.frames[-1].indent, apart)
                paper.write(comment.text)
                at_beginning, ends = False, True
            elif comment.side is Side.BEFORE and ends and not is_separate:
                paper.end_line(self.frames[-1].indent, apart)
                paper.write(comment.text)
                is_separate = True
            else:
                paper.write_apart(comment.text)
                is_separate = comment.side is Side.BEFORE
        if closes:
            self.frames.pop()
        if is_separate:
            paper.write(" ")
        elif ends:
            apart = margin.apart and may_part and not (at_end or at_beginning)
            paper.end_line(self.frames[-1].indent, apart)
        elif space is not Space.NONE:
            paper.write(" ")
        elif margin.comments and i > 0 and self.texts[i] not in (")", "]", ",", ";"):
            paper.write_apart("")
