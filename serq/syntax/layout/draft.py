"""The tokens of a program that are printed, and which of them each node of the tree covers."""

from __future__ import annotations

from collections.abc import Collection, Iterator

from attrs import frozen

from serq.source import Span
from serq.syntax import tree
from serq.syntax.tokens import WORD, Tokens


@frozen
class Draft:
    """Tokens with the places of nodes in them; the last token is the empty one at the end.

    texts, lines: what each token says, and the line it was written on; words: which are words.
    partner: of a bracket, the index of its other half. starts, ends: the token at which a node that
    starts or ends at this place (line, column) does so, also where that token is left out.
    """

    texts: list[str]
    lines: list[int]
    words: list[bool]
    partner: dict[int, int]
    starts: dict[tuple[int, int], int]
    ends: dict[tuple[int, int], int]

    @classmethod
    def of(cls, tokens: Tokens) -> Draft:
        """Every token of a program."""
        places = list(zip(tokens.lines, tokens.columns, tokens.texts, strict=True))
        return cls(
            tokens.texts,
            tokens.lines,
            [kind == WORD for kind in tokens.kinds],
            tokens.partner,
            {(line, column): i for i, (line, column, _) in enumerate(places)},
            {(line, column + len(text)): i for i, (line, column, text) in enumerate(places)},
        )

    def without(self, dropped: Collection[int]) -> Draft:
        """The draft without some of its tokens."""
        kept = [i for i in range(len(self.texts)) if i not in dropped]
        place = {old: new for new, old in enumerate(kept)}
        after: list[int] = []
        count = 0
        for i in range(len(self.texts)):
            after.append(count)
            count += i not in dropped
        return Draft(
            [self.texts[i] for i in kept],
            [self.lines[i] for i in kept],
            [self.words[i] for i in kept],
            {place[i]: place[j] for i, j in self.partner.items() if i in place},
            {at: after[i] for at, i in self.starts.items()},
            {at: after[i] - (i in dropped) for at, i in self.ends.items()},
        )

    def range(self, at: Span) -> tuple[int, int]:
        """The first and the last token of a stretch of text."""
        return self.starts[at.line, at.column], self.ends[at.end_line, at.end_column]


def children(node: tree.Node) -> list[tree.Node]:
    """The nodes directly inside `node`, in the order of the text."""
    found: list[tree.Node] = []
    for name in node.__match_args__:
        found += _nodes(getattr(node, name))
    return sorted(found, key=lambda part: (part.at.line, part.at.column))


def _nodes(value: object) -> Iterator[tree.Node]:
    if isinstance(value, tree.Node):
        yield value
    elif isinstance(value, tuple):
        for part in value:
            yield from _nodes(part)
