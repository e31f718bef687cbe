"""The server decides nothing on what it cannot know yet.

A hidden attribute becomes known when a run whose work reads it has ended. Until then a test, a
choice, an amount of memory or an index must not read it, nor an attribute that was set from it.
Paths are joined cautiously: known after a branch is what both arms revealed, and the body of a loop
may not run at all.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from attrs import evolve, frozen

from serq.check.complaints import Complaints
from serq.check.readings import places_of, statements_in
from serq.ir.expr import Attr, Binary, Conditional, Expr, Observable, children, walk
from serq.ir.program import Program
from serq.ir.server import (
    Branch,
    Choose,
    Fork,
    Grow,
    Hold,
    Load,
    Loop,
    Run,
    Set,
    Statement,
    While,
)
from serq.source import Span

Names = frozenset[str]
NONE: Names = frozenset()


def check_hidden(program: Program, complaints: Complaints) -> None:
    """Complain about the server's decisions on hidden attributes that no run has revealed."""
    hidden = frozenset(a.name for a in program.attributes if a.hidden)
    if not hidden:
        return
    origins: Mapping[str, Names] = {name: frozenset({name}) for name in hidden}
    if program.workload is not None:
        workload = program.workload
        blocks = (*workload.init, *workload.turn, *workload.session)
        origins = workload_origins(list(statements_in(blocks)), origins)
    HiddenPaths(hidden, complaints).block(program.server, Knowledge(NONE, origins))


def workload_origins(statements: list[Statement], origins: Mapping[str, Names]) -> Mapping[str, Names]:
    """The hidden attributes behind every attribute that the workload sets, in whatever order."""
    while True:
        found = dict(origins)
        for s in statements:
            if isinstance(s, Set):
                behind = found.get(s.attribute, NONE) | origins_of(s.value, found)
                if behind:
                    found[s.attribute] = behind
        if found == origins:
            return found
        origins = found


@frozen
class Knowledge:
    """What the server knows at a point of its path.

    revealed: hidden attributes that a run has revealed. origins: for each attribute the hidden ones
    that its value was made from.
    """

    revealed: Names
    origins: Mapping[str, Names]

    def join(self, other: Knowledge) -> Knowledge:
        """What is known after either of two paths."""
        names = self.origins.keys() | other.origins.keys()
        origins = {n: self.origins.get(n, NONE) | other.origins.get(n, NONE) for n in names}
        return Knowledge(self.revealed & other.revealed, origins)


def origins_of(e: Expr, origins: Mapping[str, Names]) -> Names:
    """The hidden attributes behind the value of an expression."""
    return frozenset(
        name for node in walk(e) if isinstance(node, Attr) for name in origins.get(node.name, NONE)
    )


def surely_read(e: Expr) -> Names:
    """The attributes that every evaluation of `e` reads."""
    match e:
        case Attr(name=name):
            return frozenset({name})
        case Conditional(test=test, then=then, otherwise=otherwise):
            return surely_read(test) | (surely_read(then) & surely_read(otherwise))
        case Binary(operator="&&" | "||", left=left):
            return surely_read(left)
        case _:
            return frozenset(name for part in children(e) for name in surely_read(part))


@frozen
class HiddenPaths:
    """The walk over the server's paths."""

    hidden: Names
    complaints: Complaints

    def block(self, block: Iterable[Statement], known: Knowledge) -> Knowledge:
        for s in block:
            known = self.statement(s, known)
        return known

    def statement(self, s: Statement, known: Knowledge) -> Knowledge:
        for place in places_of(s):
            if place.index is not None:
                self.decide(place.index, f"the index of `{place.name}`", known, place.at)
        for node in indexed(s):
            self.decide(node, "an index", known, None)
        match s:
            case Set(attribute=name, value=value):
                return self.assign(name, value, known)
            case Run(work=work):
                behind = (known.origins.get(name, NONE) for name in surely_read(work))
                return evolve(known, revealed=known.revealed.union(*behind))
            case Grow(amount=amount) | Load(amount=amount):
                self.decide(amount, "an amount of memory", known, None)
            case Branch(test=test, then=then, otherwise=otherwise):
                self.decide(test, "a branch", known, s.at)
                return self.block(then, known).join(self.block(otherwise, known))
            case While(test=test, body=body):
                return self.loop(body, known, test, s.at)
            case Loop(body=body):
                return self.loop(body, known, None, s.at)
            case Choose(attribute=name, count=count, keys=keys):
                for e in (count, *keys):
                    self.decide(e, "a choice", known, None)
                return self.assign(name, count, known)
            case Hold():
                return self.hold(s, known)
            case Fork(body=body):
                self.block(body, known)
            case _:
                pass
        return known

    def assign(self, name: str, value: Expr, known: Knowledge) -> Knowledge:
        behind = origins_of(value, known.origins)
        return evolve(known, origins={**known.origins, name: behind})

    def loop(
        self, body: Iterable[Statement], known: Knowledge, test: Expr | None, at: Span | None
    ) -> Knowledge:
        """A body runs any number of times: knowledge shrinks until it stays."""
        while True:
            if test is not None:
                self.decide(test, "a loop", known, at)
            after = known.join(self.block(body, known))
            if after == known:
                return known
            known = after

    def hold(self, s: Hold, known: Knowledge) -> Knowledge:
        """Its header decides (the hidden names themselves are refused there by their moment)."""
        header = [e for part in s.parts for e in (part.units, part.reserve) if e is not None]
        header += [s.reuse] if s.reuse is not None else []
        for e in header:
            self.decide(e, "a hold's header", known, None, derived_only=True)
        inside = known
        for binding in s.bindings:
            if binding.kept:
                inside = self.assign(binding.name, binding.value, inside)
        inside = self.block(s.body, inside)
        if s.lease is not None:
            self.decide(s.lease[1], "a lease", inside, None)
        return inside

    def decide(
        self,
        e: Expr,
        what: str,
        known: Knowledge,
        at: Span | None,
        *,
        derived_only: bool = False,
    ) -> None:
        """Complain if a decision reads something that the scheduler does not know yet."""
        for node in walk(e):
            if not isinstance(node, Attr):
                continue
            unknown = known.origins.get(node.name, NONE) - known.revealed
            if not unknown:
                continue
            origin = min(unknown)
            if node.name not in self.hidden:
                self.complaints.missing("SQ0444", at or node.at, read=node.name, hidden=origin, what=what)
            elif not derived_only:
                self.complaints.missing("SQ0443", at or node.at, hidden=origin, what=what)


def indexed(s: Statement) -> Iterable[Expr]:
    """The indices in the live state that a decision of the server reads."""
    match s:
        case Branch(test=e) | While(test=e):
            parts: tuple[Expr, ...] = (e,)
        case Choose(count=count, keys=keys):
            parts = (count, *keys)
        case _:
            return
    for e in parts:
        for node in walk(e):
            if isinstance(node, Observable) and node.place.index is not None:
                yield node.place.index
