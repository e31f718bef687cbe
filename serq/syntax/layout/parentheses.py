"""Which parentheses mean nothing to the parser and nothing to a reader.

Left out: a second pair around a pair; a pair around a whole value, argument or index; around a
number, a name or a call; around an operand that binds more tightly anyway. Kept as written, though
not needed: `(a && b) || c`, comparisons and tests in a conditional, a conditional before `:`, mixed
`*` and `/`, and whatever stands next to a `-`, `!` or `^` that people read in two ways.
"""

from __future__ import annotations

from typing import get_args

from serq.syntax import tree
from serq.syntax.layout.draft import Draft, children
from serq.syntax.tree import Binary, Conditional, Expr, Unary

LEVELS = {
    "||": 1, "&&": 2, "<": 3, "<=": 3, ">": 3, ">=": 3, "==": 3, "!=": 3,
    "+": 4, "-": 4, "*": 5, "/": 5, "^": 6,
}  # fmt: skip
"""How tightly operators bind, the loosest first."""

_LOGIC, _COMPARISON, _SUM, _PRODUCT, _POWER = 2, 3, 4, 5, 6

EXPRESSIONS: tuple[type[tree.Node], ...] = get_args(Expr)

_BEFORE = frozenset({*LEVELS, "!", "(", "[", "{", ",", "=", "?", ":"})
"""What stands before a parenthesis that only groups."""

_BARE = (tree.Capacity, tree.TokensCap, tree.Granule, tree.CapOption, tree.BlockOption, tree.Serve)
"""Forms whose value follows a word without parentheses; any that are there are the author's."""


def redundant_parentheses(program: tree.Program, draft: Draft) -> set[int]:
    """The tokens `(` and `)` that are left out."""
    dropped: set[int] = set()
    pending: list[tree.Node] = [program]
    while pending:
        node = pending.pop()
        parts = children(node)
        pending += parts
        for part in parts:
            if isinstance(part, EXPRESSIONS):
                pairs = _pairs(node, part, draft)
                # Of several pairs the inner one is as good as all.
                kept = 0 if _is_plain(node, part) else 1
                dropped.update(i for pair in pairs[kept:] for i in pair)
    return dropped


def _pairs(node: tree.Node, part: tree.Node, draft: Draft) -> list[tuple[int, int]]:
    """The pairs of parentheses directly around `part` that only group, the inner one first."""
    first, last = draft.range(node.at)
    opening, closing = draft.range(part.at)
    pairs: list[tuple[int, int]] = []
    while True:
        opening, closing = opening - 1, closing + 1
        if opening < first or closing > last or draft.texts[opening] != "(":
            return pairs
        if draft.partner.get(opening) != closing:
            return pairs
        # After a word and the like they belong to its form: `branch (…)`, `min(…)`, `line[0] (…)`.
        if draft.texts[opening - 1] not in _BEFORE and not isinstance(node, _BARE):
            return pairs
        pairs.append((opening, closing))


def _is_plain(around: tree.Node, part: tree.Node) -> bool:
    """Whether `part` says the same to everybody without parentheses."""
    if not isinstance(part, (Binary, Unary, Conditional, tree.Aggregate)):
        return True
    if isinstance(around, tree.Draw) and isinstance(part, Conditional):
        return not around.chances
    if isinstance(around, Conditional):
        return _is_plain_outcome(around, part)
    if isinstance(around, Binary):
        return _is_plain_operand(around, part)
    return not isinstance(around, Unary)


def _is_plain_outcome(around: Conditional, part: tree.Node) -> bool:
    if isinstance(part, Conditional):
        return part is around.otherwise
    return not isinstance(part, Binary) or LEVELS[part.operator] > _COMPARISON


def _is_plain_operand(around: Binary, part: tree.Node) -> bool:
    level = LEVELS[around.operator]
    if isinstance(part, Unary):
        if part.operator == "!":
            return level <= _LOGIC
        return level <= _COMPARISON or (part is around.left and level < _POWER)
    if not isinstance(part, Binary):
        return False
    inner = LEVELS[part.operator]
    if inner == level and part is around.left:
        return level in (*range(_COMPARISON), _SUM) or around.operator == part.operator == "*"
    return inner > max(level, _LOGIC)
