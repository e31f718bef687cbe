"""What can be stated: a program as the pieces of its Lean statement, or every reason against it.

One engine with a constant budget; sessions that arrive at a constant rate, all at once or at any
times, and run one run after the other, under one slot of the engine or none; claims about iterations.
Whatever else a program has is refused if it can change an iteration. A claim that reads something
else is left out and named; the others are stated.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from fractions import Fraction
from typing import assert_never

from attrs import evolve, frozen

from serq.diagnostics import Diagnostic, ProgramError, Sink
from serq.ir.claim import AtEnd, Claim, EveryIteration, SomeIteration
from serq.ir.expr import Attr, Binary, Conditional, Draw, Expr, Fold, Func, Num, Summary, Unary, walk
from serq.ir.program import Program
from serq.ir.stage import Engine
from serq.ir.workload import Batch, Closed, NoArrivals, Poisson, Renewal, Slotted, Stages, Timed
from serq.lean.bounds import Range, batch_ranges, range_of
from serq.lean.draws import possible_gaps
from serq.lean.schedule import Clause, ScheduleReader, Steps, register_names, registers_of
from serq.lean.sessions import Path, session_path
from serq.lean.terms import (
    LARGEST,
    ZERO,
    Constant,
    Number,
    Reader,
    Term,
    as_number,
    as_proposition,
    denominator,
    is_binary,
    plus,
    product,
    scaled,
    spelling,
    whole,
)
from serq.source import Span

MOST_REGISTERS = 64
"""Registers of an array; each is written out."""

QUANTIFIERS = {EveryIteration: "EveryIteration", SomeIteration: "SomeIteration", AtEnd: "AtEnd"}
"""The kinds of claim with a meaning, by their names in `Model.lean`."""

EXECUTE: Mapping[str, Term] = {
    "batch.tokens": Number("batch.tokens"),
    "batch.prefilled": Number("batch.prefilled"),
    "batch.decoding": Number("batch.decoding"),
    "running.count": Number("batch.running"),
    "waiting.count": Number("batch.waiting"),
}
"""What `execute` reads of a `batch`."""

ITERATION: Mapping[str, Term] = {
    name: Number(f"i.{name}")
    for name in ("demand", "tokens", "prefilled", "decoders", "residents", "served", "arrived", "now")
}
"""What a claim reads of an iteration `i`."""


@frozen
class Arrivals:
    """kind: "renewal" with a gap in ticks, "batch" with a number of sessions, or "any" times.

    from_0: whether the first of those comes at time 0. gaps: between these two, in units of the clock,
    every gap is possible; None where the program's own gaps are not known, and only what is true of any
    times is known to be true of them.
    """

    kind: str
    amount: int = 0
    from_0: bool = False
    gaps: Range | None = None


@frozen
class Stated:
    """A claim, and the proposition about an iteration `i`, or an end `e`, that its quantifier ranges over.

    given: the sessions it speaks of, over their attributes after `init`; None for all.
    """

    claim: Claim
    quantifier: str
    proposition: str
    given: Clause | None = None


@frozen
class Outside:
    """A claim that cannot be stated, and why not."""

    claim: Claim
    reasons: tuple[Diagnostic, ...]


@frozen
class Fragment:
    """A program that can be stated.

    budget, most: tokens. ticks: how many make one unit of the clock, so that every time is whole.
    execute: ticks, of a `batch`. registers: as they begin.
    """

    engine: Engine
    budget: int
    most: int | None
    schedule: Steps
    ticks: int
    execute: Clause
    registers: tuple[int, ...]
    path: Path
    arrivals: Arrivals
    claims: tuple[Stated, ...]
    outside: tuple[Outside, ...]

    @property
    def register_names(self) -> list[str]:
        """The registers by their number in the model."""
        return register_names(self.engine)


def stateable(program: Program) -> list[Diagnostic]:
    """Why `program` cannot be stated in Lean: every reason, by place. Empty when all of it can."""
    try:
        fragment = read_fragment(program)
    except ProgramError as refused:
        return list(refused.diagnostics)
    return [reason for outside in fragment.outside for reason in outside.reasons]


def read_fragment(program: Program) -> Fragment:
    """The program as what its statement needs. Raises ProgramError (SQ08xx) with every reason against.

    A claim that cannot be stated is no reason as long as another one can.
    """
    complaints = Sink()
    fragment = _read(program, complaints)
    # An aggregate is written out, so that one place in it may be refused many times.
    reasons = list(dict.fromkeys(complaints.errors))
    if fragment is None:
        raise ProgramError(reasons)
    if reasons or (fragment.outside and not fragment.claims):
        of_claims = [reason for outside in fragment.outside for reason in outside.reasons]
        raise ProgramError([*reasons, *of_claims])
    return fragment


def _read(program: Program, complaints: Sink) -> Fragment | None:
    engine = _the_engine(program, complaints)
    if engine is None:
        return None
    survey = _Survey(engine, complaints)
    budget = survey.tokens("`tokens cap`", engine.tokens_cap, engine.at)
    duration = survey.duration(budget)
    arrivals, gap = survey.arrivals(program)
    ticks = math.lcm(denominator(duration), denominator(gap))
    if arrivals.kind == "renewal":
        arrivals = Arrivals("renewal", int(gap.value * ticks))
    path = session_path(program, engine.name, complaints)
    most = survey.most()
    schedule = ScheduleReader(engine, path.slot is not None, complaints).read()
    registers = survey.registers()
    claims, outside = [], []
    for claim in program.claims:
        stated = survey.claim(claim, ticks, path, arrivals)
        if isinstance(stated, Stated):
            claims.append(stated)
        else:
            outside.append(stated)
    return Fragment(
        engine=engine, budget=budget, most=most, schedule=schedule, ticks=ticks,
        execute=Clause(engine.execute, scaled(duration, ticks)[0]), registers=registers, path=path,
        arrivals=arrivals, claims=tuple(claims), outside=tuple(outside),
    )  # fmt: skip


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
        engine = self.engine
        if engine.granule is not None:
            self._refuse("`granule`", engine.at, "state a program whose prefills may be cut anywhere")
        e = engine.schedule.each_at_most
        if e is None or e == Num(math.inf):
            return None
        return self.tokens("`each at most`", e, engine.schedule.at or engine.at)

    def registers(self) -> tuple[int, ...]:
        """The registers as they begin, whole numbers."""
        values: list[int] = []
        for r in self.engine.registers:
            if (r.size or 1) > MOST_REGISTERS:
                cure = f"state a program with no more than {MOST_REGISTERS} registers in an array"
                self.complaints.say(
                    "SQ0801", r.at or self.engine.at, what=f"an array of {r.size} registers", cure=cure
                )
                continue
            if r.initial != math.floor(r.initial) or abs(r.initial) > LARGEST:
                self.complaints.say(
                    "SQ0803", r.at or self.engine.at, what=f"the register `{r.name}`",
                    wanted="a whole number",
                )  # fmt: skip
                continue
            values += [int(r.initial)] * (r.size or 1)
        return tuple(values)

    def duration(self, budget: int) -> Constant | Number:
        """`execute`."""
        e = self.engine.execute
        readings = {**EXECUTE, **registers_of(self.engine, "batch")}
        term = Reader("`execute`", readings, self.complaints).term(e, self.engine.at)
        if term is None:
            return ZERO
        unit = denominator(as_number(term))
        if not is_binary(unit):
            # The clock of a run would be rounded, and what meets at one instant here might not there.
            self.complaints.say("SQ0804", e.at or self.engine.at, what=f"`execute` in parts of 1/{unit}")
        names = register_names(self.engine)
        if any(range_of(e, ranges)[0] <= 0 for ranges in batch_ranges(budget, names)):
            self.complaints.say("SQ0807", e.at or self.engine.at)
        return as_number(term)

    def arrivals(self, program: Program) -> tuple[Arrivals, Constant]:
        """How sessions come, and the gap if that is constant."""
        workload = program.workload
        nobody = Arrivals("batch", 0)
        if workload is None:
            return nobody, ZERO
        if workload.trace is not None:
            self._refuse("a trace", workload.trace.at, "give every session the same runs")
        match workload.arrival:
            case Renewal(gap=gap) as arrival:
                gap = gap.arguments[0] if isinstance(gap, Draw) and gap.law == "det" else gap
                term = Reader("`renewal`", {}, Sink()).term(gap, arrival.at)
                if isinstance(term, Constant) and is_binary(term.value.denominator):
                    return Arrivals("renewal"), term
                return Arrivals("any", gaps=possible_gaps(gap)), ZERO
            case Poisson():
                return Arrivals("any", from_0=True, gaps=(Fraction(0), math.inf)), ZERO
            case Batch(count=count):
                return Arrivals("batch", count), ZERO
            case NoArrivals():
                return nobody, ZERO
            case Stages():
                return Arrivals("any"), ZERO
            case Closed() | Slotted() | Timed() as arrival:
                cure = "state arrivals by `renewal(g)`, `poisson(r)` or `batch(n)`"
                self._refuse(f"`{type(arrival).__name__.lower()}`", arrival.at or workload.at, cure)
                return nobody, ZERO
            case _:
                assert_never(workload.arrival)

    def claim(self, claim: Claim, ticks: int, path: Path, arrivals: Arrivals) -> Stated | Outside:
        """The proposition of a claim, or what keeps it from having one."""
        reasons = Sink()
        at_end = isinstance(claim, AtEnd)
        if at_end:
            readings = self._end_readings(claim, ticks, path, reasons)
        else:
            readings = self._claim_readings(ticks, path)
        if arrivals.kind == "any":
            readings["now"] = Number("e.now" if at_end else "i.now", over=ticks, clocks=1)
        term = Reader(f"claim `{claim.name}`", readings, reasons).term(claim.value, claim.at)
        given = None
        if claim.given is not None:
            given = self._given(claim.given, claim, path, reasons)
        if term is None or reasons.errors:
            return Outside(claim, tuple(dict.fromkeys(reasons.errors)))
        return Stated(claim, QUANTIFIERS[type(claim)], as_proposition(term).text, given)

    def _claim_readings(self, ticks: int, path: Path) -> dict[str, Term]:
        engine = self.engine.name
        residents = Number("i.residents")
        readings = {
            **ITERATION,
            **registers_of(self.engine, "i"),
            "now": Number("i.now", over=ticks),
            f"queue({engine})": residents,
            f"busy({engine})": ZERO,
        }
        slot = path.slot
        if slot is not None:
            used = product(residents, Constant(ZERO.value + slot.units))
            readings[f"holders({slot.pool})"] = residents
            readings[f"queued({slot.pool})"] = Number("i.waiting")
            readings[f"used({slot.pool})"] = used
            readings[f"free({slot.pool})"] = plus(Constant(ZERO.value + slot.cap), used, "-")
        return readings

    def _end_readings(self, claim: Claim, ticks: int, path: Path, reasons: Sink) -> dict[str, Term]:
        readings: dict[str, Term] = {"now": Number("e.now", over=ticks)}
        for name, factor in end_factors(path).items():
            readings[name] = product(Number("e.sessions"), Constant(factor))
        for x in walk(claim.value):
            if isinstance(x, Summary) and spelling(x) not in readings:
                reasons.say("SQ0808", x.at or claim.at, what=f"`{spelling(x)}` in a claim at the end")
                readings[spelling(x)] = ZERO
        return readings

    def _given(self, e: Expr, claim: Claim, path: Path, reasons: Sink) -> Clause | None:
        known = substituted(e, path.at_init)
        where = f"`given` of claim `{claim.name}`"
        term = Reader(where, path.readings(), reasons).term(known, e.at or claim.at)
        return None if term is None else Clause(known, as_proposition(term).text)

    def _refuse(self, what: str, at: Span | None, cure: str) -> None:
        self.complaints.say("SQ0801", at or self.engine.at, what=what, cure=cure)


def end_factors(path: Path) -> dict[str, Fraction]:
    """Summaries that are a number of sessions times something known, which is given for each."""
    factors = {}
    for name, values in path.observed.items():
        factors[f"count({name})"] = Fraction(len(values))
        if all(isinstance(v, Num) for v in values):
            known = (Fraction(v.value) for v in values if isinstance(v, Num))
            factors[f"total({name})"] = sum(known, Fraction(0))
    return factors


def substituted(e: Expr, values: Mapping[str, Expr]) -> Expr:
    """`e` with attributes replaced by their values, as far as those are known."""
    match e:
        case Attr(name=name):
            return values.get(name, e)
        case Func(arguments=arguments):
            return evolve(e, arguments=tuple(substituted(x, values) for x in arguments))
        case Fold(terms=terms):
            return evolve(e, terms=tuple(substituted(x, values) for x in terms))
        case Unary(operand=operand):
            return evolve(e, operand=substituted(operand, values))
        case Binary(left=left, right=right):
            return evolve(e, left=substituted(left, values), right=substituted(right, values))
        case Conditional(test=test, then=then, otherwise=otherwise):
            return evolve(
                e, test=substituted(test, values), then=substituted(then, values),
                otherwise=substituted(otherwise, values),
            )  # fmt: skip
    return e
