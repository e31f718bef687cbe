"""The tokens of a program that are printed, and which of them each node of the tree covers."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from itertools import accumulate

from attrs import frozen

from serq.source import Span
from serq.syntax import tree
from serq.syntax.tokens import WORD, Tokens


@frozen
class Draft:
    """Tokens with the places of nodes in them; the last token is the empty one at the end.

    texts, places: what each token says, and the line and column it was written at. words: which are
    words of letters.
    partner: of a bracket, the index of its other half. starts, ends: the token at which a node that
    starts or ends at this place (line, column) does so, also where that token is left out.
    """

    texts: list[str]
    places: list[tuple[int, int]]
    words: list[bool]
    partner: dict[int, int]
    starts: dict[tuple[int, int], int]
    ends: dict[tuple[int, int], int]

    @classmethod
    def of(cls, tokens: Tokens) -> Draft:
        """Every token of a program."""
        places = list(zip(tokens.lines, tokens.columns, strict=True))
        ends = [(line, column + len(text)) for (line, column), text in zip(places, tokens.texts, strict=True)]
        return cls(
            tokens.texts,
            places,
            [kind == WORD for kind in tokens.kinds],
            tokens.partner,
            {place: i for i, place in enumerate(places)},
            # The end of the text may be at the end of its last token, and is not meant then.
            {place: i for i, place in reversed(list(enumerate(ends)))},
        )

    def without(self, dropped: Collection[int]) -> Draft:
        """The draft without some of its tokens."""
        kept = [i for i in range(len(self.texts)) if i not in dropped]
        # How many kept tokens stand before each token: its new index, if it is kept itself.
        before = list(accumulate((i not in dropped for i in range(len(self.texts))), initial=0))
        return Draft(
            [self.texts[i] for i in kept],
            [self.places[i] for i in kept],
            [self.words[i] for i in kept],
            {before[i]: before[j] for i, j in self.partner.items() if i not in dropped},
            {at: before[i] for at, i in self.starts.items()},
            {at: before[i + 1] - 1 for at, i in self.ends.items()},
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
