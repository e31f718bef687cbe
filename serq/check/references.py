"""Every name in a program means something of the right kind.

A program that was read from text meets these rules while it is lowered; one that was written by
another program, as JSON, meets them here.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Protocol

from serq.check.complaints import Complaints
from serq.check.loops import check_loops
from serq.check.readings import places_of, readings, schedule_statements, statements_of
from serq.ir.claim import AtEnd
from serq.ir.expr import (
    COMPARISONS,
    Attr,
    Binary,
    Draw,
    Expr,
    Fold,
    Func,
    Local,
    Num,
    Observable,
    RegisterRead,
    Summary,
    Unary,
    Var,
    walk,
)
from serq.ir.moments import (
    AGGREGATES,
    BUILT_IN_SIZES,
    BUILT_IN_VALUES,
    CLIENT_TIMES,
    FUNCTIONS,
    LAWS,
    OBSERVABLES,
    POOL_OBSERVABLES,
    SUMMARIES,
    VARIABLES,
)
from serq.ir.program import Program
from serq.ir.schedule import Advance, SetRegister
from serq.ir.server import Choose, Hold, Observe, Run, Set, Statement
from serq.ir.stage import Engine
from serq.source import Span

OPERATORS = frozenset(
    {"+", "-", "*", "/", "^", "<", "<=", ">", ">=", "==", "!=", "&&", "||"}
)  # fmt: skip


ORDERS = ("admission", "decode first", "by")


def check_references(program: Program, complaints: Complaints) -> None:
    """Complain about names that nothing declares, and words that the language does not have."""
    References(program, complaints).check()


def is_part(name: str) -> bool:
    """Whether a name is one of a queue or of a cost record: `Q.got`, `need.kv`, `D.nic.latency`."""
    return "." in name and all(part.isidentifier() for part in name.split("."))


class Named(Protocol):
    """A record that a program knows by a name."""

    @property
    def name(self) -> str: ...
    @property
    def at(self) -> Span | None: ...


def fits_law(draw: Draw) -> bool:
    """Whether a draw has the parameters of its law."""
    if draw.law == "table":
        return len(draw.arguments) >= 2 and len(draw.arguments) % 2 == 0 and draw.file is None
    return LAWS.get(draw.law) == len(draw.arguments) and (draw.law == "empirical") == (draw.file is not None)


def fits_summary(summary: Summary) -> bool:
    """Whether an aggregate over samples has what it compares with, or its level, and nothing else."""
    match summary.function:
        case "share":
            return summary.operator in COMPARISONS and summary.argument is not None
        case "quantile":
            return summary.operator is None and isinstance(summary.argument, Num)
        case function:
            return function in SUMMARIES and summary.operator is None and summary.argument is None


class References:
    """What a program declares, while its parts are looked through."""

    def __init__(self, program: Program, complaints: Complaints) -> None:
        self.program = program
        self.complaints = complaints
        self.engines = {s.name for s in program.stages if isinstance(s, Engine)}
        self.stages = {s.name for s in program.stages}
        self.pools = {p.name for p in program.pools}
        self.devices = {d.name for d in program.devices}
        self.attributes = {a.name for a in program.attributes} | {*BUILT_IN_SIZES, *BUILT_IN_VALUES}
        engines = [s for s in program.stages if isinstance(s, Engine)]
        self.registers = {(e.name, r.name) for e in engines for r in e.registers}
        self.locals = {let.name for e in engines for let in e.schedule.lets}

    def check(self) -> None:
        """Look through the whole program."""
        self.declarations()
        check_loops(self.program, self.complaints)
        for s in statements_of(self.program):
            self.statement(s)
        for reading in readings(self.program):
            for node in walk(reading.expr):
                self.expression(node)
        for claim in self.program.claims:
            if not isinstance(claim, AtEnd):
                self.known("engine", claim.engine.name, self.engines, claim.at)

    def known(self, kind: str, name: str, names: set[str], at: Span | None) -> None:
        """Complain unless `name` is one of `names`."""
        if name not in names:
            self.complaints.say("SQ0280", at, kind=kind, name=name)

    def word(self, kind: str, word: str, fits: bool, at: Span | None) -> None:
        """Complain about a word that means nothing, or is used in a way that means nothing."""
        if not fits:
            self.complaints.say("SQ0281", at, kind=kind, word=word)

    def declarations(self) -> None:
        """Names are declared once, and the records that refer to each other agree."""
        program = self.program
        read = (*program.stages, *program.pools, *program.attributes)
        shown = (*program.devices, *program.gauges, *program.claims)
        registers = [r for s in program.stages if isinstance(s, Engine) for r in s.registers]
        tags = [t for s in program.stages if isinstance(s, Engine) for t in s.tags]
        for record in (*read, *shown, *registers, *tags, *program.lists):
            if not record.name.isidentifier() and not is_part(record.name):
                self.complaints.say("SQ0281", record.at, kind="name", word=record.name)
        self.unique((*read, *shown), set())
        # What is shown may have the name of a register: no expression reads it.
        self.unique((*registers, *tags), {record.name for record in read})
        self.unique(program.lists, {record.name for record in (*read, *registers, *tags)})
        if len(set(program.observes)) < len(program.observes):
            twice = next(n for n in program.observes if program.observes.count(n) > 1)
            self.complaints.say("SQ0210", None, kind="observation", name=twice)
        for stage in program.stages:
            if isinstance(stage, Engine):
                self.known("device", stage.device, self.devices, stage.at)
                for s in schedule_statements(stage.schedule.statements):
                    if isinstance(s, Advance):
                        fits = s.order in ORDERS and bool(s.keys) == (s.order == "by")
                        self.word("order", s.order, fits, s.at)
                    if isinstance(s, SetRegister) and (stage.name, s.register) not in self.registers:
                        self.complaints.say("SQ0280", s.at, kind="register", name=s.register)
        for pool in program.pools:
            for engine in (pool.engine, pool.memory_of):
                if engine is not None:
                    self.known("engine", engine, self.engines, pool.at)
            if pool.preempt is not None:
                fits = pool.preempt.requeue in ("head", "tail")
                self.word("place in a queue", pool.preempt.requeue, fits, pool.preempt.at)
            if pool.spill is not None:
                self.known("pool", pool.spill.tier, self.pools, pool.spill.at)
                self.known("stage", pool.spill.via, self.stages, pool.spill.at)
        if program.share is not None:
            self.word("sharing rule", program.share, program.share in ("maxmin", "bottleneck"), None)
        for attribute in program.attributes:
            fits = attribute.kind in ("size", "value", "cost")
            self.word("kind of attribute", attribute.kind, fits, attribute.at)

    def unique(self, records: Iterable[Named], taken: set[str]) -> None:
        """Complain about a second record of a name, and about one of a name that is taken."""
        for record in records:
            if record.name in taken:
                self.complaints.say("SQ0210", record.at, kind="name", name=record.name)
            taken.add(record.name)

    def statement(self, s: Statement) -> None:
        """The resources and attributes that a statement names."""
        for place in places_of(s):
            served = isinstance(s, Run) and any(place is p for p in s.places)
            kind, names = ("stage", self.stages) if served else ("pool", self.pools)
            self.known(kind, place.name, names, place.at)
        match s:
            case Set(attribute=name) | Choose(attribute=name):
                self.known("attribute", name, self.attributes, s.at)
            case Observe(name=name):
                self.known("observation", name, set(self.program.observes), s.at)
            case Run(places=places, mode=mode):
                self.word("run without a stage", "run", bool(places), s.at)
                engine = any(p.name in self.engines for p in places)
                known = all(p.name in self.stages for p in places)
                fits = mode in (("prefill", "decode") if engine else (None,))
                self.word("mode of a run", str(mode), fits or not known, s.at)
            case Hold(parts=parts):
                self.word("hold of nothing", "hold", bool(parts), s.at)
            case _:
                pass

    def expression(self, node: Expr) -> None:
        """One part of an expression."""
        at = node.at
        match node:
            case Attr(name=name):
                self.known("attribute", name, self.attributes, at)
            case Var(name=name):
                self.known("variable", name, set(VARIABLES), at)
            case RegisterRead(engine=engine, name=name):
                if (engine, name) not in self.registers:
                    self.complaints.say("SQ0280", at, kind="register", name=name)
            case Local(name=name):
                self.known("`let`", name, self.locals, at)
            case Observable(function=function, place=place, arguments=arguments):
                self.word("call", function, function in OBSERVABLES, at)
                if function in POOL_OBSERVABLES:
                    self.known("pool", place.name, self.pools, at)
                elif function == "budget_left":
                    self.known("engine", place.name, self.engines, at)
                else:
                    self.known("stage", place.name, self.stages, at)
                wanted = 2 if function == "price" else 0
                self.word("number of arguments for", function, len(arguments) == wanted, at)
            case Summary(function=function, observation=observation):
                self.word("call", function, fits_summary(node), at)
                self.known("observation", observation, {*self.program.observes, *CLIENT_TIMES}, at)
            case Func(function=function, arguments=arguments):
                self.word("function", function, FUNCTIONS.get(function) == len(arguments), at)
            case Draw(law=law):
                self.word("distribution", law, fits_law(node), at)
            case Fold(kind=kind, terms=terms):
                self.word("aggregate", kind, kind in AGGREGATES and bool(terms), at)
            case Unary(operator=operator):
                self.word("operator", operator, operator in ("-", "!"), at)
            case Binary(operator=operator):
                self.word("operator", operator, operator in OPERATORS, at)
            case _:
                pass
