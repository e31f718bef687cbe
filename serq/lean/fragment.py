"""What can be stated: a program as the pieces of its Lean statement, or every reason against it.

One engine with a constant budget that advances its runs in joining order; sessions that arrive at
a constant rate or all at once and run constant numbers of tokens, one run after the other; claims
about iterations. Whatever else a program has is refused if it can change an iteration.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import assert_never

from attrs import frozen

from serq.diagnostics import Diagnostic, ProgramError, Sink
from serq.ir.claim import AtEnd, Claim, EveryIteration, SomeIteration
from serq.ir.expr import Expr, Num
from serq.ir.program import Program
from serq.ir.schedule import (
    Admit,
    AdmitOne,
    Advance,
    AdvanceOne,
    Break,
    ExclusivePrefill,
    ForIndex,
    ForRequests,
    ScheduleBranch,
    SetName,
    SetRegister,
    SetTag,
)
from serq.ir.stage import Engine
from serq.ir.workload import Batch, Closed, NoArrivals, Poisson, Renewal, Slotted, Stages, Timed
from serq.lean.bounds import batch_ranges, range_of
from serq.lean.sessions import session_runs
from serq.lean.terms import (
    LARGEST,
    ZERO,
    Constant,
    Number,
    Proposition,
    Reader,
    Term,
    as_number,
    as_proposition,
    both,
    denominator,
    negated,
    scaled,
    whole,
)
from serq.source import Span

QUANTIFIERS = {EveryIteration: "EveryIteration", SomeIteration: "SomeIteration"}
"""The kinds of claim with a meaning, by their names in `model.lean`."""

DECODES = Proposition("r.decoding = true", opposite="r.decoding = false")

ONLY: Mapping[str, Term] = {
    "decoding": DECODES,
    "running.decoding": Number("running.decoding"),
    "running.count": Number("running.count"),
}
"""What `only` reads of a run `r` among `running`."""

EXECUTE: Mapping[str, Term] = {
    "batch.tokens": Number("batch.tokens"),
    "batch.prefilled": Number("batch.prefilled"),
    "batch.decoding": Number("batch.decoding"),
    "running.count": Number("batch.running"),
}
"""What `execute` reads of a `batch`."""

ITERATION: Mapping[str, Term] = {
    name: Number(f"i.{name}")
    for name in ("demand", "tokens", "prefilled", "decoders", "residents", "served", "arrived", "now")
}
"""What a claim reads of an iteration `i`."""


@frozen
class Stated:
    """A claim, and the proposition about an iteration `i` that its quantifier ranges over."""

    claim: Claim
    quantifier: str
    proposition: str


@frozen
class Fragment:
    """A program that can be stated.

    budget, most: tokens. schedule: the test of each `advance running`, about a run `r` among
    `running`. ticks: how many make one unit of the clock, so that every time is whole. execute:
    ticks, of a `batch`. server: mode and tokens of every run of a session. arrivals: "renewal" and
    the gap in ticks, or "batch" and the number of sessions.
    """

    engine: Engine
    budget: int
    most: int | None
    schedule: tuple[Proposition, ...]
    ticks: int
    execute: str
    server: tuple[tuple[str, int], ...]
    arrivals: tuple[str, int]
    claims: tuple[Stated, ...]


def stateable(program: Program) -> list[Diagnostic]:
    """Why `program` cannot be stated in Lean: every reason, by place. Empty when it can."""
    try:
        read_fragment(program)
    except ProgramError as refused:
        return list(refused.diagnostics)
    return []


def read_fragment(program: Program) -> Fragment:
    """The program as what its statement needs. Raises ProgramError (SQ08xx) with every reason against."""
    complaints = Sink()
    fragment = _read(program, complaints)
    # An aggregate is written out, so that one place in it may be refused many times.
    reasons = list(dict.fromkeys(complaints.errors))
    if fragment is None or reasons:
        raise ProgramError(reasons)
    return fragment


def _read(program: Program, complaints: Sink) -> Fragment | None:
    engine = _the_engine(program, complaints)
    if engine is None:
        return None
    survey = _Survey(engine, complaints)
    budget = survey.tokens("`tokens cap`", engine.tokens_cap, engine.at)
    duration = survey.duration(budget)
    kind, amount = survey.arrivals(program)
    ticks = math.lcm(denominator(duration), denominator(amount))
    return Fragment(
        engine=engine,
        budget=budget,
        most=survey.most(),
        schedule=survey.schedule(),
        ticks=ticks,
        execute=scaled(duration, ticks)[0],
        server=session_runs(program, engine.name, complaints),
        arrivals=(kind, int(amount.value * (ticks if kind == "renewal" else 1))),
        claims=tuple(stated for c in program.claims if (stated := survey.claim(c, ticks))),
    )


def _the_engine(program: Program, complaints: Sink) -> Engine | None:
    engines = [s for s in program.stages if isinstance(s, Engine)]
    cure = "state a program with one engine"
    if not engines:
        complaints.say("SQ0801", program.at, what="a program without an engine", cure=cure)
        return None
    for other in engines[1:]:
        complaints.say("SQ0801", other.at, what=f"a second engine, `{other.name}`,", cure=cure)
    if engines[0].size is not None:
        complaints.say("SQ0801", engines[0].at, what="a family of engines", cure=cure)
    return engines[0]


@frozen
class _Survey:
    """Reads the parts of a program with `engine`; a part with a complaint gives a stand-in."""

    engine: Engine
    complaints: Sink

    def tokens(self, what: str, e: Expr, at: Span | None) -> int:
        """A constant number of tokens, at least 1."""
        count = whole(Reader(what, {}, Sink()).term(e))
        if count is not None and 1 <= count <= LARGEST:
            return count
        self.complaints.say("SQ0803", e.at or at, what=what, wanted="a constant number of tokens, at least 1")
        return 1

    def most(self) -> int | None:
        """`each at most`."""
        schedule = self.engine.schedule
        e = schedule.each_at_most
        if e is None or e == Num(math.inf):
            return None
        return self.tokens("`each at most`", e, schedule.at or self.engine.at)

    def schedule(self) -> tuple[Proposition, ...]:
        """The test of each `advance running`."""
        engine = self.engine
        if engine.granule is not None:
            self._refuse("`granule`", engine.at, "state a program whose prefills may be cut anywhere")
        tests: list[Proposition] = []
        # Statements inside a branch are read for complaints only; the branch itself is one.
        stack = list(reversed(engine.schedule.statements))
        while stack:
            s = stack.pop()
            match s:
                case Advance():
                    tests += self._advance(s)
                case Admit():
                    pass  # Without holds nobody waits, so it admits nobody.
                case ScheduleBranch(then=then, otherwise=otherwise):
                    self._refuse("`branch` in a schedule", s.at, "write the choice as an `only`")
                    stack.extend(reversed(then + otherwise))
                case ExclusivePrefill():
                    self._refuse("`exclusive prefill`", s.at, "state a schedule of `advance running`")
                case SetRegister():
                    self._refuse("`set` in a schedule", s.at, "state a schedule without registers")
                case ForRequests() | ForIndex() | SetTag() | Break() | SetName() | AdmitOne() | AdvanceOne():
                    self._refuse("a scheduling program", s.at, "state a schedule of `advance running`")
                case _:
                    assert_never(s)
        return tuple(tests)

    def _advance(self, s: Advance) -> list[Proposition]:
        if s.order == "by":
            self._refuse("the order `by`", s.at, "order by `admission`, or `decode first`")
        only = Proposition("True")
        if s.only is not None:
            only = as_proposition(Reader("`only`", ONLY, self.complaints).term(s.only, s.at) or ZERO)
        if s.order != "decode first":
            return [only]
        prefills = negated(DECODES)
        return [DECODES, prefills] if s.only is None else [both(only, DECODES), both(only, prefills)]

    def duration(self, budget: int) -> Constant | Number:
        """`execute`."""
        e = self.engine.execute
        term = Reader("`execute`", EXECUTE, self.complaints).term(e, self.engine.at)
        if term is None:
            return ZERO
        unit = denominator(as_number(term))
        if unit & (unit - 1):
            # The clock of a run would be rounded, and what meets at one instant here might not there.
            self.complaints.say("SQ0804", e.at or self.engine.at, what=f"`execute` in parts of 1/{unit}")
        if any(range_of(e, ranges)[0] <= 0 for ranges in batch_ranges(budget)):
            self.complaints.say("SQ0807", e.at or self.engine.at)
        return as_number(term)

    def arrivals(self, program: Program) -> tuple[str, Constant]:
        """ "renewal" and the gap, or "batch" and the number of sessions."""
        workload = program.workload
        nobody = ("batch", ZERO)
        if workload is None:
            return nobody
        if workload.trace is not None:
            self._refuse("a trace", workload.trace.at, "give every session the same runs")
        match workload.arrival:
            case Renewal(gap=gap) as arrival:
                term = Reader("`renewal`", {}, self.complaints).term(gap, arrival.at)
                return "renewal", term if isinstance(term, Constant) else ZERO
            case Batch(count=count):
                return "batch", Constant(ZERO.value + count)
            case NoArrivals():
                return nobody
            case Poisson() | Closed() | Slotted() | Stages() | Timed() as arrival:
                kind = "at" if isinstance(arrival, Timed) else type(arrival).__name__.lower()
                cure = "state arrivals by `renewal(g)` with a constant gap, or `batch(n)`"
                self._refuse(f"`{kind}`", arrival.at or workload.at, cure)
                return nobody
            case _:
                assert_never(workload.arrival)

    def claim(self, claim: Claim, ticks: int) -> Stated | None:
        """The proposition of a claim."""
        if isinstance(claim, AtEnd):
            self.complaints.say("SQ0808", claim.at, what="a claim at the end")
            return None
        if claim.given is not None:
            self.complaints.say("SQ0808", claim.given.at or claim.at, what="`given`")
        engine = self.engine.name
        readings = {
            **ITERATION,
            "now": Number("i.now", over=ticks),
            f"queue({engine})": ITERATION["residents"],
            f"busy({engine})": ZERO,
        }
        term = Reader(f"claim `{claim.name}`", readings, self.complaints).term(claim.value, claim.at)
        if term is None:
            return None
        return Stated(claim, QUANTIFIERS[type(claim)], as_proposition(term).text)

    def _refuse(self, what: str, at: Span | None, cure: str) -> None:
        self.complaints.say("SQ0801", at or self.engine.at, what=what, cure=cure)
