"""Definitions are written out: the program without `def`, each use replaced by its body.

A use becomes a copy of the body in which every parameter is its argument; the copy's places are
`UsedSpan`s, so that a later complaint says where the definition was used. Bodies are expanded when
they are defined, hence a definition sees only the ones above it and cannot reach itself.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, TypeVar

from attrs import define, field, frozen

from serq.check.complaints import Complaints, used_at
from serq.check.expressions import DEEPEST
from serq.check.resolve import LARGEST
from serq.check.show import count
from serq.check.trees import (
    assigned,
    draws,
    is_bare,
    live_read,
    nothing,
    nothing_like,
    nothing_runs,
    occurrences,
    reads,
    rebuild,
)
from serq.check.words import CALLABLE, SUPPLIED, WORDS
from serq.diagnostics import Note, Sink
from serq.source import SourceFile, Span
from serq.syntax import tree

T = TypeVar("T")
ParseExpression = Callable[[SourceFile, Sink], "tree.Expr | None"]


@frozen
class Body:
    """A definition, its body expanded. names: what the body assigns or binds."""

    name: tree.Name
    parameters: tuple[str, ...]
    body: tree.Expr | tree.Block
    names: frozenset[str]

    @property
    def is_expression(self) -> bool:
        return not isinstance(self.body, tree.Block)


def expand_definitions(
    program: tree.Program,
    complaints: Complaints,
    replaced: Mapping[str, str],
    parse_expression: ParseExpression,
) -> tuple[tuple[tree.Item, ...], tuple[tree.Item, ...], Expander]:
    """The items above `main` and in it, without definitions and without their uses.

    replaced: expressions that take the place of definitions' bodies, by name.
    """
    expander = Expander(complaints)
    items = (*program.before, *program.items)
    expander.later = {i.name.text: i.name for i in reversed(items) if isinstance(i, tree.Definition)}
    outside = parse_replacements(expander.later, replaced, complaints, parse_expression)

    def kept(part: Sequence[tree.Item]) -> Iterator[tree.Item]:
        for item in part:
            if isinstance(item, tree.Definition):
                expander.define(item, outside.get(item.name.text))
            else:
                yield expander.expand(item)

    before = tuple(kept(program.before))
    return before, tuple(kept(program.items)), expander


def parse_replacements(
    known: Mapping[str, tree.Name],
    replaced: Mapping[str, str],
    complaints: Complaints,
    parse_expression: ParseExpression,
) -> dict[str, tree.Expr]:
    """The bodies given from outside, by the name of their definition."""
    parsed: dict[str, tree.Expr] = {}
    for name, text in replaced.items():
        source = SourceFile(f"--def {name}", text)
        complaints.sink.sources.setdefault(source.name, source)
        if name not in known:
            at = Span(1, 1, 1, 1 + len(text), source.name)
            complaints.unknown("SQ0214", name, at, {n: d.at for n, d in known.items()})
            continue
        expression = parse_expression(source, complaints.sink)
        if expression is not None:
            parsed[name] = expression
    return parsed


@define
class Expander:
    """The definitions seen so far, and what writing them out has cost.

    later: the definitions of the whole program, for messages about the order.
    """

    complaints: Complaints
    later: dict[str, tree.Name] = field(factory=dict)
    known: dict[str, Body] = field(factory=dict)
    written: int = 0
    inside: str | None = None
    _measures: dict[Any, tuple[int, int]] = field(factory=dict)

    # ---------------------------------------------------------------- definitions

    def define(self, definition: tree.Definition, outside: tree.Expr | None) -> None:
        """Check a definition and keep it, its body expanded."""
        name = definition.name
        if name.text in self.known:
            note = Note(f"`{name.text}` is first defined here", self.known[name.text].name.at)
            self.complaints.say("SQ0210", name.at, kind="definition", name=name.text, notes=[note])
            return
        if name.text in WORDS or name.text in CALLABLE:
            self.complaints.say("SQ0220", name.at, kind="definition", name=name.text)
        elif name.text in SUPPLIED:
            self.complaints.say("SQ0221", name.at, kind="definition", name=name.text)
        parameters: list[str] = []
        for parameter in definition.parameters:
            if parameter.text in parameters:
                self.complaints.say("SQ0211", parameter.at, name=parameter.text)
            elif parameter.text in WORDS or parameter.text in CALLABLE:
                self.complaints.say("SQ0220", parameter.at, kind="parameter", name=parameter.text)
            elif parameter.text in SUPPLIED:
                self.complaints.say("SQ0221", parameter.at, kind="parameter", name=parameter.text)
            parameters.append(parameter.text)
        raw = definition.body
        if outside is not None:
            if isinstance(raw, tree.Block):
                self.complaints.say("SQ0215", outside.at, name=name.text)
            else:
                raw = outside
        names = frozenset(assigned(raw))
        for parameter in definition.parameters:
            if parameter.text in names:
                note = Note(f"`{parameter.text}` is a parameter here", parameter.at)
                self.complaints.say("SQ0216", name.at, name=parameter.text, notes=[note])
        self.inside = name.text
        body = self.expand(raw)
        self.inside = None
        self.known[name.text] = Body(name, tuple(parameters), body, names)

    # ---------------------------------------------------------------- expansion

    def expand(self, node: T) -> T:
        """`node` with every use of a definition in it written out."""
        if not self.later:
            return node
        if isinstance(node, tree.Block):
            return self.expand_block(node)  # type: ignore[return-value]
        if isinstance(node, tree.Call) and (node.name.text in self.later):
            return self.expand_call(node)  # type: ignore[return-value]
        return rebuild(node, self.expand)

    def expand_block(self, block: tree.Block) -> tree.Block:
        """A block with the statements of every definition it uses."""
        statements: list[tree.Statement] = []
        for statement in block.statements:
            if isinstance(statement, tree.Use):
                statements.extend(self.expand_use(statement))
            else:
                statements.append(self.expand(statement))
        if len(statements) == len(block.statements) and all(
            a is b for a, b in zip(statements, block.statements, strict=True)
        ):
            return block
        return tree.Block(tuple(statements), block.at)

    def expand_call(self, call: tree.Call) -> tree.Expr:
        """The body of an expression definition, for a call of it."""
        body = self.find(call.name, call.at)
        arguments = self.expand(call.arguments)
        if body is None:
            return nothing(call.at)
        if isinstance(body.body, tree.Block):
            self.complaints.say("SQ0217", call.at, name=call.name.text)
            return nothing(call.at)
        if not self.accept(body, arguments, call.at, statements=False):
            return nothing(call.at)
        return self.substitute(body, body.body, arguments, call.at)

    def expand_use(self, use: tree.Use) -> Sequence[tree.Statement]:
        """The statements of a definition, for a use of it; others are left as they are."""
        if use.name.text not in self.later:
            return (tree.Use(use.name, self.expand(use.arguments), use.at),)
        body = self.find(use.name, use.at)
        arguments = self.expand(use.arguments)
        if body is None:
            return (nothing_runs(use.at),)
        if not isinstance(body.body, tree.Block):
            self.complaints.say("SQ0218", use.at, name=use.name.text)
            return (nothing_runs(use.at),)
        if not self.accept(body, arguments, use.at, statements=True):
            return (nothing_runs(use.at),)
        return self.substitute(body, body.body, arguments, use.at).statements

    def find(self, name: tree.Name, at: Span) -> Body | None:
        """The definition that a use means; one that comes later, or itself, is refused."""
        body = self.known.get(name.text)
        if body is None:
            later = self.later[name.text]
            if name.text == self.inside and name.at.file.startswith("--def "):
                note = Note(f"the body that it replaces is that of `{name.text}`", later.at)
                self.complaints.say(
                    "SQ0212", name.at, name=name.text, notes=[note], help="write the formula out"
                )
            elif name.text == self.inside:
                self.complaints.say("SQ0212", later.at, name=name.text)
            elif self.inside is not None:
                note = Note(f"`{name.text}` is used here", name.at)
                self.complaints.say("SQ0213", later.at, name=name.text, by=self.inside, notes=[note])
            else:
                note = Note(f"`{name.text}` is defined here", later.at)
                self.complaints.say("SQ0219", at, name=name.text, notes=[note])
        return body

    def accept(self, body: Body, arguments: Sequence[tree.Expr], at: Span, *, statements: bool) -> bool:
        """Whether the arguments can take the parameters' places."""
        name, say = body.name.text, self.complaints.say
        declared = [Note(f"`{name}` is defined here", body.name.at)]
        if len(arguments) != len(body.parameters):
            takes = count(len(body.parameters), "argument")
            say("SQ0301", at, name=name, takes=takes, got=len(arguments), notes=declared)
            return False
        for parameter, argument in zip(body.parameters, arguments, strict=True):
            facts: dict[str, Any] = {"function": name, "parameter": parameter, "notes": declared}
            if draws(argument) and (times := occurrences(body.body, parameter)) > 1:
                say("SQ0222", at, times=times, **facts)
                return False
            if caught := sorted(body.names & set(reads(argument))):
                say("SQ0223", at, read=caught[0], **facts)
                return False
            if statements and (live := live_read(argument)):
                say("SQ0224", at, read=live, **facts)
                return False
        return True

    def substitute(self, body: Body, what: T, arguments: Sequence[tree.Expr], at: Span) -> T:
        """A copy of the body with the arguments in the parameters' places."""
        if self.written > LARGEST:  # said so when it happened
            return nothing_like(what, at)
        if self.depth(what) + max((self.depth(a) for a in arguments), default=0) > 3 * DEEPEST:
            self.complaints.say("SQ0561", at, limit=DEEPEST)
            return nothing_like(what, at)
        bindings = dict(zip(body.parameters, arguments, strict=True))
        copy = self.copy(what, bindings, at)
        if self.written > LARGEST:
            self.complaints.say("SQ0560", at, name=body.name.text, limit=LARGEST)
            return nothing_like(what, at)
        return copy

    def copy(self, node: T, bindings: Mapping[str, tree.Expr], use: Span) -> T:
        """`node` as it reads at `use`, parameters replaced."""
        if isinstance(node, tuple):
            return tuple(self.copy(part, bindings, use) for part in node)  # type: ignore[return-value]
        if isinstance(node, Span):
            return used_at(node, use)  # type: ignore[return-value]
        if not isinstance(node, tree.Node):
            return node
        self.written += 1
        if self.written > LARGEST:
            return node
        if isinstance(node, tree.Reference) and node.name.text in bindings:
            self.written += self.size(bindings[node.name.text])
            return self.copy_reference(node, bindings, use)  # type: ignore[return-value]
        if isinstance(node, tree.CostRecord):
            return self.copy_record(node, bindings, use)  # type: ignore[return-value]
        parts = {name: self.copy(getattr(node, name), bindings, use) for name in node.__match_args__}
        return type(node)(**parts)

    def copy_reference(self, node: tree.Reference, bindings: Mapping[str, tree.Expr], use: Span) -> tree.Expr:
        """A parameter's reading: its argument, with the index or member that the body adds."""
        argument = bindings[node.name.text]
        if node.index is None and node.member is None:
            return argument
        index = None if node.index is None else self.copy(node.index, bindings, use)
        at = used_at(node.at, use)
        match argument:
            case tree.Reference(member=None, name=name, index=own) if index is None or own is None:
                return tree.Reference(name, index or own, node.member, at)
        self.complaints.say("SQ0225", at, name=node.name.text)
        return nothing(at)

    def copy_record(
        self, node: tree.CostRecord, bindings: Mapping[str, tree.Expr], use: Span
    ) -> tree.CostRecord:
        """A cost record: its resources are names, which a parameter may stand for."""
        parts = []
        for resource, cost in node.parts:
            argument = bindings.get(resource.text)
            if isinstance(argument, tree.Reference) and is_bare(argument):
                resource = argument.name
            parts.append((resource, self.copy(cost, bindings, use)))
        return tree.CostRecord(self.copy(node.name, {}, use), tuple(parts), used_at(node.at, use))

    def depth(self, node: Any) -> int:
        """How deep `node` is nested."""
        return self.measure(node)[0]

    def size(self, node: Any) -> int:
        """How many parts `node` has, those that it shares counted each time."""
        return self.measure(node)[1]

    def measure(self, node: Any) -> tuple[int, int]:
        """Depth and size of a node or of several."""
        if isinstance(node, tuple):
            parts = [self.measure(part) for part in node]
            return max((d for d, _ in parts), default=0), sum(n for _, n in parts)
        if not isinstance(node, tree.Node):
            return 0, 0
        known = self._measures.get(node)
        if known is None:
            depth, size = self.measure(tuple(getattr(node, n) for n in node.__match_args__))
            known = self._measures[node] = depth + 1, size + 1
        return known
