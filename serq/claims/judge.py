"""The judge of a program's claims (semantics, section 9)."""

from __future__ import annotations

import math
from collections.abc import Mapping

from serq.ir.claim import AtEnd, Claim, EveryIteration, SomeIteration
from serq.ir.expr import Binary, Conditional, Expr, Num, Place, Summary, Unary, walk
from serq.ir.program import Program
from serq.machine.code import compile_truth
from serq.machine.loop import Machine
from serq.machine.records import Outcome
from serq.machine.scope import RunScope
from serq.machine.stages.engine import EngineMember
from serq.machine.summaries import UNDEFINED_OF_NONE
from serq.machine.watch import Given, Watch

NO_PREMISE = "its premise never came true"


class Judge:
    """Watches a run and answers its claims, in the program's order.

    pedantic: of a claim that holds, also tell whether its premise ever came true, and note what it holds by.
    """

    def __init__(self, program: Program, pedantic: bool = False) -> None:
        self.verdicts: list[IterationVerdict | EndVerdict] = [
            EndVerdict(c, pedantic) if isinstance(c, AtEnd) else IterationVerdict(c, pedantic)
            for c in program.claims
        ]

    def watch(self, machine: Machine) -> None:
        for verdict in self.verdicts:
            verdict.watch(machine)

    def finish(self, machine: Machine) -> list[Outcome]:
        return [verdict.finish(machine) for verdict in self.verdicts]


class Scoped:
    """What every claim has: its `given`, broken by the first session that does not satisfy it.

    premise: what has to be true before the claim says anything, None if it always does or nobody asks.
    """

    def __init__(self, claim: Claim, pedantic: bool = False) -> None:
        self.claim = claim
        self.pedantic = pedantic
        self.given: Given | None = None
        asked = pedantic and not isinstance(claim, SomeIteration)
        self.premise = premise_of(claim.value) if asked else None

    def watch(self, machine: Machine) -> None:
        """Before a run: ask for what has to be known of it."""
        self.given = None
        if self.claim.given is not None:
            self.given = Given(self.claim.given)
            machine.givens.append(self.given)

    @property
    def broken_by(self) -> int | None:
        return None if self.given is None else self.given.broken_by

    def note(self) -> str | None:
        return None if self.broken_by is None else f"session {self.broken_by} fails `given`"


class IterationVerdict(Scoped):
    """`every iteration` and `some iteration`: read as each iteration starts."""

    claim: EveryIteration | SomeIteration
    asked: Watch

    def watch(self, machine: Machine) -> None:
        super().watch(machine)
        some = isinstance(self.claim, SomeIteration)
        self.asked = Watch(self.claim.value, some, self.given, self.premise)
        member_of(machine, self.claim.engine).watches.append(self.asked)

    def finish(self, machine: Machine) -> Outcome:
        asked = self.asked
        if self.broken_by is not None:
            result = "out_of_scope"
        elif asked.some:
            result = "not_witnessed" if asked.first is None else "witnessed"
        else:
            result = "fails" if asked.failures else "holds"
        kind = "some_iteration" if asked.some else "every_iteration"
        needed = asked.needed or asked.premise is None
        vacuous = NO_PREMISE if result == "holds" and asked.checked > 0 and not needed else None
        note = self.note() if self.broken_by is not None else asked.witness
        return Outcome(
            self.claim.name, kind, result, asked.checked, asked.failures, asked.first,
            f"holds only because {vacuous}" if vacuous else note, vacuous,
        )  # fmt: skip


class EndVerdict(Scoped):
    """`at end`: read once, when no session is live any more."""

    claim: AtEnd

    def finish(self, machine: Machine) -> Outcome:
        name = self.claim.name
        if self.broken_by is not None:
            return Outcome(name, "at_end", "out_of_scope", 0, 0, None, self.note())
        if machine.live:
            live = f"{machine.live} session{'s' * (machine.live > 1)} live at the end"
            return Outcome(name, "at_end", "not_evaluated", 0, 0, None, live)
        if self.is_true(machine, self.claim.value):
            vacuous = self.vacuous(machine)
            note = f"holds only because {vacuous}" if self.pedantic and vacuous else None
            return Outcome(name, "at_end", "holds", 1, 0, None, note, vacuous)
        return Outcome(name, "at_end", "fails", 1, 1, machine.now, None)

    def vacuous(self, machine: Machine) -> str | None:
        """Why it holds without having been put to the test; None if it was.

        An aggregate that has no sample is 0. A claim owes its truth to that if it is false when such an
        aggregate is large, or small, or no number.
        """
        if self.premise is not None and not self.is_true(machine, self.premise):
            return NO_PREMISE
        empty = [
            node
            for node in walk(self.claim.value)
            if isinstance(node, Summary)
            and node.function in UNDEFINED_OF_NONE
            and not machine.samples_read(node).values
        ]
        others = (dict.fromkeys(map(id, empty), x) for x in (math.inf, -math.inf, math.nan) if empty)
        if all(self.is_true(machine, self.claim.value, assumed) for assumed in others):
            return None
        names = dict.fromkeys(node.observation for node in empty)
        return f"there is no sample of {' and '.join(names)}"

    @staticmethod
    def is_true(machine: Machine, e: Expr, assumed: Mapping[int, float] | None = None) -> bool:
        scope = RunScope(machine, assumed=assumed or {})
        return bool(compile_truth(e, scope, "", scope.lent)())


def premise_of(value: Expr) -> Expr | None:
    """What has to be true for the last part of an implication to matter, or None if there is none.

    `!p || q` and `p ? q : 1` say "if p then q", `a < b || c || q` says "if neither, then q".
    """
    match value:
        case Binary(operator="||", left=left):
            return Unary("!", left)
        case Conditional(test=test, otherwise=Num(value=number)) if number != 0:
            return test
        case Conditional(test=test, then=Num(value=number)) if number != 0:
            return Unary("!", test)
        case _:
            return None


def member_of(machine: Machine, place: Place) -> EngineMember:
    """The engine, or the member with a constant index, that a claim is about."""
    index = int(place.index.value) if isinstance(place.index, Num) else 0
    member: EngineMember = machine.stages[place.name][index]
    return member
