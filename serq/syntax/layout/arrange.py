"""Blanks between tokens, places where a line may break, and what is kept on one line if it fits.

The rules: a statement goes on one line if it fits, else it breaks before its clauses, and its
expressions before their operators, the outermost first. Continued lines are indented by two, by four
before a block, or stand under the beginning of what they continue. A block of at most three
statements, without braces of its own, stays on one line if it was written on one and its statement
fits there.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from enum import Enum, auto
from itertools import accumulate
from typing import get_args

from attrs import define, field, frozen

from serq.syntax import tree
from serq.syntax.layout.draft import Draft, children
from serq.syntax.layout.parentheses import LEVELS

INDENT = 2
CONTINUED = 4
MOST_TOGETHER = 3
"""Statements that a block on one line may have."""

_ELEMENTS: tuple[type[tree.Node], ...] = (
    *get_args(tree.Item), *get_args(tree.Statement), *get_args(tree.EngineItem), *get_args(tree.PoolOption),
    *get_args(tree.ScheduleStatement), *get_args(tree.QueueItem), *get_args(tree.WorkloadItem),
    tree.TimeResource, tree.ScheduleLet, tree.RequestStep,
)  # fmt: skip
"""What stands in lists between braces, each on a line of its own."""

CLAUSES: dict[type[tree.Node], frozenset[str]] = {
    tree.Advance: frozenset({"only", "each"}),
    tree.Order: frozenset({"admission", "decode", "by"}),
    tree.Admit: frozenset({"only", "while", "each", "taking"}),
    tree.Hold: frozenset({"reuse", "at", "lease"}),
    tree.Part: frozenset({"reserve"}),
    tree.Run: frozenset({"growing"}),
    tree.RequestStep: frozenset({"growing"}),
    tree.Choose: frozenset({"by"}),
    tree.For: frozenset({"by", "where"}),
    tree.Transfer: frozenset({"from", "to"}),
    tree.Entry: frozenset({"from", "to"}),
    tree.SpillOption: frozenset({"via", "when"}),
    tree.PreemptOption: frozenset({"requeue"}),
}
"""Words of a form before which its line may break."""

CLOSE = (
    tree.Call, tree.Draw, tree.Use, tree.Definition, tree.Arrive, tree.StageKind, tree.Input, tree.ListInput,
    tree.Program,
)  # fmt: skip
"""Forms whose parenthesis follows its name without a blank."""

NAMING = (tree.CostRecord, tree.Draw, tree.Hold, tree.Copy, tree.Relation)
"""Forms with lists of values that have names: `{ R: e, S: e }`, `at admission (x = e, y = f)`."""


class Space(Enum):
    """What is between two tokens."""

    NONE = auto()
    BLANK = auto()
    SOFT = auto()
    """A blank, or the end of a line where the group around it does not fit on one."""
    LINE = auto()
    """The end of a line."""


@frozen
class Group:
    """Tokens that go on one line if they fit; if not, lines end at every `SOFT` between them.

    indent: columns by which those lines are indented against the line around; None aligns them with
    the first token.
    """

    first: int
    last: int
    indent: int | None = 0


@define
class Arrangement:
    """spaces: before each token. groups: by their first token, outer ones first.

    elements: the tokens that begin a statement, item or option. opens, closes: braces between which
    lines are indented.
    """

    spaces: list[Space] = field(factory=list)
    groups: dict[int, list[Group]] = field(factory=dict)
    elements: set[int] = field(factory=set)
    opens: set[int] = field(factory=set)
    closes: set[int] = field(factory=set)


def arrange(program: tree.Program, draft: Draft) -> Arrangement:
    """How the tokens of a program are set."""
    return _Arranger(program, draft).arrange()


class _Arranger:
    """owners: for each token, the node it belongs to itself, not by a node inside."""

    def __init__(self, program: tree.Program, draft: Draft) -> None:
        self.program = program
        self.draft = draft
        self.texts = draft.texts
        self.owners: list[tree.Node] = [program] * len(draft.texts)
        self.groups: list[Group] = []
        self.soft: set[int] = set()
        self.elements: set[int] = set()
        # The next opening brace at or after each token.
        self.braces = [0] * len(draft.texts)
        brace = len(draft.texts)
        for i in reversed(range(len(draft.texts))):
            brace = i if self.texts[i] == "{" else brace
            self.braces[i] = brace

    def arrange(self) -> Arrangement:
        if self.program.main is not None:
            first = self.draft.range(self.program.main)[0] - 1
            self.add_element(first, self.draft.partner[self.braces[first]], self.program)
        pending: list[tuple[tree.Node, tree.Node]] = [(self.program, self.program)]
        while pending:
            node, around = pending.pop()
            parts = children(node)
            self.visit(node, around, list(self.own_tokens(node, parts)))
            pending += ((part, node) for part in parts)
        spaces = list(map(self.space, range(len(self.texts))))
        arrangement = Arrangement(spaces, elements=self.elements)
        self.set_braces(arrangement)
        # Sorting keeps groups of the same tokens in the order they were added in.
        for group in sorted([*self.brackets(), *self.groups], key=lambda g: (g.first, -g.last)):
            arrangement.groups.setdefault(group.first, []).append(group)
        return arrangement

    def visit(self, node: tree.Node, around: tree.Node, own: list[int]) -> None:
        """Everything that a node says about its tokens; `own` are those of no node inside."""
        first, last = self.draft.range(node.at)
        for i in own:
            self.owners[i] = node
        words = CLAUSES.get(type(node))
        if words:
            self.soft.update(i for i in own if self.draft.words[i] and self.texts[i] in words)
        if isinstance(node, _ELEMENTS):
            self.add_element(first, last, node)
        match node:
            case tree.Part():
                self.groups.append(Group(first, last, INDENT))
            case tree.Claim():
                self.soft.add(self.draft.range(node.value.at)[0] - 1)
            case tree.Binary():
                self.soft.add(self.draft.range(node.mark)[0])
                if not self.is_link(node, around):
                    self.groups.append(Group(first, last, self.deeper(node, around)))
            case tree.Conditional():
                mark, colon = (i for i in own if self.texts[i] in ("?", ":"))
                self.soft |= {mark, colon}
                if not self.is_link(node, around):
                    self.groups.append(Group(first, last, self.deeper(node, around)))
                self.groups.append(Group(first, colon - 1, INDENT))

    def own_tokens(self, node: tree.Node, parts: Iterable[tree.Node]) -> Iterator[int]:
        """The tokens of a node between its parts."""
        at, last = self.draft.range(node.at)
        for part in parts:
            start, end = self.draft.range(part.at)
            yield from range(at, start)
            at = end + 1
        yield from range(at, last + 1)

    # ------------------------------------------------------------ expressions

    def is_link(self, node: tree.Binary | tree.Conditional, around: tree.Node) -> bool:
        """Whether an operator goes on with the chain around it, as the first `+` of `a + b + c`."""
        if isinstance(node, tree.Conditional):
            return isinstance(around, tree.Conditional) and node is around.otherwise and self.is_bare(node)
        if not isinstance(around, tree.Binary) or not self.is_bare(node):
            return False
        return LEVELS[node.operator] == LEVELS[around.operator]

    def is_bare(self, node: tree.Node) -> bool:
        first, last = self.draft.range(node.at)
        return self.texts[first - 1] != "(" or self.draft.partner.get(first - 1) != last + 1

    def deeper(self, node: tree.Node, around: tree.Node) -> int:
        """The indentation of operators: of those in an operand, or in a value with a name in a list."""
        is_operand = isinstance(around, (tree.Binary, tree.Unary, tree.Conditional))
        is_named = isinstance(around, NAMING) and self.texts[self.draft.range(node.at)[0] - 1] in ("=", ":")
        return INDENT if is_named or (is_operand and self.is_bare(node)) else 0

    # ------------------------------------------------------------ statements

    def add_element(self, first: int, last: int, node: tree.Node) -> None:
        """A statement, item or option: its header, its braces, and what follows them."""
        self.elements.add(first)
        self.groups.append(Group(first, last))
        brace = self.braces[first]
        if brace > last:
            self.groups.append(Group(first, last, INDENT))
        elif isinstance(node, tree.Hold):
            self.groups.append(Group(first + 1, brace - 1, None))
            units = self.draft.range(node.parts[0].at.to(node.parts[-1].at))
            self.groups.append(Group(*units))
            if (end := self.draft.partner[brace]) < last:
                self.groups.append(Group(end + 1, last, CONTINUED))
        else:
            self.groups.append(Group(first, brace - 1, CONTINUED))

    def brackets(self) -> Iterator[Group]:
        """What stands between round or square brackets, under its beginning."""
        for opening, closing in self.draft.partner.items():
            if self.texts[opening] in "([" and closing > opening + 1:
                yield Group(opening + 1, closing - 1, None)

    def set_braces(self, arrangement: Arrangement) -> None:
        """Lines and indentation of everything between braces, and of the program as a whole."""
        spaces = arrangement.spaces
        around = [Space.LINE]
        begun = list(accumulate(i in self.elements for i in range(len(self.texts))))
        for i, text in enumerate(self.texts):
            if text == "{":
                closing = self.draft.partner[i]
                together = begun[closing] - begun[i] <= MOST_TOGETHER and self.braces[i + 1] > closing
                is_short = together and self.draft.places[i][0] == self.draft.places[closing][0]
                is_list = not isinstance(self.owners[i], (tree.CostRecord, tree.Definition))
                around.append(Space.LINE if is_list and not is_short else Space.SOFT)
                arrangement.opens.add(i)
                arrangement.closes.add(closing)
                spaces[i + 1] = around[-1]
                if closing == i + 1:
                    spaces[closing] = Space.BLANK
            elif text == "}":
                if self.texts[i - 1] != "{":
                    spaces[i] = around[-1]
                around.pop()
            elif i in self.elements:
                spaces[i] = around[-1]
        spaces[0] = spaces[-1] = Space.LINE

    # ------------------------------------------------------------ tokens

    def space(self, i: int) -> Space:
        """What is between a token and the one before it within a statement."""
        if i == 0:
            return Space.NONE
        before, text, owner = self.texts[i - 1], self.texts[i], self.owners[i]
        if text == "[" and isinstance(owner, (tree.ListLet, tree.ListInput)):
            return Space.SOFT if before == "," else Space.BLANK
        if before in ("(", "[", "~", ".") or text in (")", "]", ",", ";", ".", "["):
            return Space.NONE
        if before in ("-", "!") and isinstance(self.owners[i - 1], tree.Unary):
            return Space.NONE
        if text == ":" and isinstance(owner, (tree.Claim, tree.CostRecord, tree.Draw)):
            return Space.NONE
        if text == "(" and before != "," and (isinstance(owner, CLOSE) or self.is_call_of_nothing(i)):
            return Space.NONE
        return Space.SOFT if i in self.soft or before == "," else Space.BLANK

    def is_call_of_nothing(self, i: int) -> bool:
        return isinstance(self.owners[i], (tree.Entry, tree.Copy)) and self.texts[i + 1] == ")"
