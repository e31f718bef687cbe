"""Words that are close to one another: what a misspelt word may have meant."""

from __future__ import annotations

from collections.abc import Iterable

_LONGEST = 60
"""Letters of a word that is compared at all: counting slips takes time in the square of them."""


def closest(word: str, known: Iterable[str]) -> str | None:
    """The one word of `known` that `word` is probably a slip for; None when there is none or several.

    One slip in a word of up to four letters, two in a longer one, see `slips`.
    """
    if len(word) > _LONGEST:
        return None
    limit = 1 if len(word) < 5 else 2
    found: dict[int, list[str]] = {}
    for other in known:
        if other != word and abs(len(other) - len(word)) <= limit < max(len(word), len(other)):
            found.setdefault(slips(word, other), []).append(other)
    least = min(found, default=limit + 1)
    return found[least][0] if least <= limit and len(found[least]) == 1 else None


def slips(a: str, b: str) -> int:
    """How many letters to add, drop, replace or swap with a neighbour to turn `a` into `b`."""
    previous: list[int] = []
    row = list(range(len(b) + 1))
    for i, letter in enumerate(a):
        earlier, previous, row = previous, row, [i + 1]
        for j, other in enumerate(b):
            best = min(previous[j] + (letter != other), previous[j + 1] + 1, row[j] + 1)
            if i and j and letter == b[j - 1] and a[i - 1] == other:
                best = min(best, earlier[j - 1] + 1)
            row.append(best)
    return row[-1]
