"""The judge of a program's claims (semantics, section 9)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from serq.ir.claim import AtEnd, Claim, EveryIteration, SomeIteration
from serq.ir.expr import Expr, Num, Place
from serq.ir.program import Program
from serq.machine.code import compile_truth
from serq.machine.loop import Machine
from serq.machine.records import Outcome
from serq.machine.scope import CLAIM_VARIABLES, RunScope
from serq.machine.sessions import Session
from serq.machine.stages.engine import EngineMember


class Judge:
    """Watches a run and answers its claims, in the program's order."""

    def __init__(self, program: Program) -> None:
        self.verdicts: list[IterationVerdict | EndVerdict] = [
            EndVerdict(c) if isinstance(c, AtEnd) else IterationVerdict(c) for c in program.claims
        ]

    def watch(self, machine: Machine) -> None:
        for verdict in self.verdicts:
            verdict.watch(machine)

    def finish(self, machine: Machine) -> list[Outcome]:
        return [verdict.finish(machine) for verdict in self.verdicts]


class Scoped:
    """What every claim has: its `given`, broken by the first session that does not satisfy it."""

    def __init__(self, claim: Claim) -> None:
        self.claim = claim
        self.broken_by: int | None = None

    def watch_given(self, machine: Machine) -> None:
        given = self.claim.given
        if given is None:
            return
        scope = RunScope(machine, attributes="s.attributes")
        satisfied = compile_truth(given, scope, "s", scope.lent)

        def look(session: Session) -> None:
            if self.broken_by is None and not satisfied(session):
                self.broken_by = session.serial

        machine.on_session.append(look)

    def note(self) -> str | None:
        return None if self.broken_by is None else f"session {self.broken_by} fails `given`"


class IterationVerdict(Scoped):
    """`every iteration` and `some iteration`: read as each iteration starts."""

    claim: EveryIteration | SomeIteration

    def __init__(self, claim: EveryIteration | SomeIteration) -> None:
        super().__init__(claim)
        self.checked = 0
        self.failures = 0
        self.first: float | None = None

    def watch(self, machine: Machine) -> None:
        self.watch_given(machine)
        engine = member_of(machine, self.claim.engine)
        true = compile_claim(machine, engine, self.claim.value)
        first_of = isinstance(self.claim, SomeIteration)

        def look() -> None:
            if self.broken_by is not None:
                return
            self.checked += 1
            holds = bool(true())
            if not holds:
                self.failures += 1
            if holds == first_of and self.first is None:
                self.first = machine.now

        engine.on_iteration.append(look)

    def finish(self, machine: Machine) -> Outcome:
        every = isinstance(self.claim, EveryIteration)
        if self.broken_by is not None:
            result = "out_of_scope"
        elif every:
            result = "fails" if self.failures else "holds"
        else:
            result = "not_witnessed" if self.first is None else "witnessed"
        kind = "every_iteration" if every else "some_iteration"
        return Outcome(self.claim.name, kind, result, self.checked, self.failures, self.first, self.note())


class EndVerdict(Scoped):
    """`at end`: read once, when no session is live any more."""

    claim: AtEnd

    def watch(self, machine: Machine) -> None:
        self.watch_given(machine)

    def finish(self, machine: Machine) -> Outcome:
        name = self.claim.name
        if self.broken_by is not None:
            return Outcome(name, "at_end", "out_of_scope", 0, 0, None, self.note())
        if machine.live:
            live = f"{machine.live} session{'s' * (machine.live > 1)} live at the end"
            return Outcome(name, "at_end", "not_evaluated", 0, 0, None, live)
        scope = RunScope(machine)
        if compile_truth(self.claim.value, scope, "", scope.lent)():
            return Outcome(name, "at_end", "holds", 1, 0, None, None)
        return Outcome(name, "at_end", "fails", 1, 1, machine.now, None)


def member_of(machine: Machine, place: Place) -> EngineMember:
    """The engine, or the member with a constant index, that a claim is about."""
    index = int(place.index.value) if isinstance(place.index, Num) else 0
    member: EngineMember = machine.stages[place.name][index]
    return member


def compile_claim(machine: Machine, engine: EngineMember, value: Expr) -> Callable[[], Any]:
    """The claim's expression over the iteration that `engine` is about to start."""
    scope = RunScope(machine, CLAIM_VARIABLES)
    scope.lent["e"] = engine
    return compile_truth(value, scope, "", scope.lent)
