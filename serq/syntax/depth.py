"""How deep an expression nests, without recursion: programs may be made to nest very deep."""

from __future__ import annotations

from serq.syntax import tree
from serq.syntax.tree import Expr


def parts(e: Expr) -> tuple[Expr, ...]:
    """The expressions directly inside `e`."""
    if isinstance(e, tree.Binary):
        return (e.left, e.right)
    if isinstance(e, tree.Unary):
        return (e.operand,)
    if isinstance(e, tree.Conditional):
        return (e.test, e.then, e.otherwise)
    if isinstance(e, tree.Call):
        return e.arguments
    if isinstance(e, tree.Draw):
        return (*e.arguments, *e.chances)
    if isinstance(e, tree.Aggregate):
        return (e.bound, e.body)
    if isinstance(e, tree.Reference) and e.index is not None:
        return (e.index,)
    return ()


def depth(e: Expr, known: dict[Expr, int]) -> int:
    """Levels of nesting in `e`, 1 for a number or a name.

    known: depths found before; the one of `e` is added, so that asking for every operator of a
    long chain from the inside out takes linear time in all.
    """
    deepest = 1
    left = [(e, 1)]
    while left:
        node, level = left.pop()
        if node in known:
            deepest = max(deepest, level + known[node] - 1)
        else:
            deepest = max(deepest, level)
            left += [(part, level + 1) for part in parts(node)]
    known[e] = deepest
    return deepest
