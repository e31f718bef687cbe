"""Names that loops and aggregates over requests bind, in a program that another program wrote.

A program that was read from text meets these rules while it is lowered (`serq.check.requested`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from attrs import evolve, frozen

from serq.check.complaints import Complaints
from serq.check.readings import readings
from serq.ir.expr import Expr, Item, LoopName, RegisterRead, RequestField, Survey, children
from serq.ir.moments import BUILT_IN_SIZES, BUILT_IN_VALUES, REQUEST_FIELDS, SETS, Moment
from serq.ir.program import Program
from serq.ir.schedule import (
    Admit,
    AdmitOne,
    Advance,
    AdvanceOne,
    Break,
    ForIndex,
    ForRequests,
    ScheduleBranch,
    ScheduleStatement,
    SetName,
    SetRegister,
    SetTag,
)
from serq.ir.stage import Engine
from serq.source import Span

KINDS = ("max", "min", "sum", "count")


@frozen
class Around:
    """What stands around a part. requests: the set of each name. loop: whether one is there."""

    engine: str | None
    requests: Mapping[str, str]
    names: frozenset[str] = frozenset()
    loop: bool = False


def check_loops(program: Program, complaints: Complaints) -> None:
    """Every name of a request, a pass or a list means something where it stands."""
    Loops(program, complaints).check()


class Loops:
    """What a program declares, while its schedules are looked through."""

    def __init__(self, program: Program, complaints: Complaints) -> None:
        self.program = program
        self.complaints = complaints
        self.engines = {s.name: s for s in program.stages if isinstance(s, Engine)}
        self.attributes = {a.name for a in program.attributes} | {*BUILT_IN_SIZES, *BUILT_IN_VALUES}
        self.lists = {numbers.name for numbers in program.lists}

    def check(self) -> None:
        """Schedules with what their loops bind; all other expressions with nothing around."""
        for engine in self.engines.values():
            self.block(engine.schedule.statements, Around(engine.name, {}))
        single = [e.name for e in self.engines.values() if e.size is None]
        only = single[0] if len(self.engines) == 1 and single else None
        for reading in readings(self.program):
            if reading.moment is not Moment.PLAN:
                engine_name = only if reading.moment is Moment.GAUGE else reading.engine
                self.expression(reading.expr, Around(engine_name, {}))

    def known(self, kind: str, name: str, fits: bool, at: Span | None) -> None:
        """Complain about a name that means nothing here."""
        if not fits:
            self.complaints.say("SQ0280", at, kind=kind, name=name)

    def block(self, statements: Sequence[ScheduleStatement], around: Around) -> None:
        """Statements, each knowing the `let`s above it."""
        for s in statements:
            self.statement(s, around)
            if isinstance(s, SetName):
                around = evolve(around, names=around.names | {s.name})

    def statement(self, s: ScheduleStatement, around: Around) -> None:
        """One statement and what is inside it."""
        match s:
            case ScheduleBranch(test=test, then=then, otherwise=otherwise):
                self.expression(test, around)
                self.block(then, around)
                self.block(otherwise, around)
            case SetRegister(value=value, index=index):
                self.expression(value, around)
                if index is not None:
                    self.expression(index, around)
            case SetTag(request=request, tag=tag, value=value):
                self.known("request", request, request in around.requests, s.at)
                self.known("tag", tag, self.is_tag(tag, around), s.at)
                self.expression(value, around)
            case SetName(name=name, value=value):
                self.known("loop around `let`", name, around.loop, s.at)
                self.expression(value, around)
            case ForRequests(request=request, among=among, body=body, keys=keys, where=where):
                self.known("set", among, among in ("running", "waiting"), s.at)
                inside = evolve(around, requests={**around.requests, request: among}, loop=True)
                for e in (*keys, *(() if where is None else (where,))):
                    self.expression(e, inside)
                self.block(body, inside)
            case ForIndex(name=name, body=body):
                self.block(body, evolve(around, names=around.names | {name}, loop=True))
            case Break():
                if not around.loop:
                    self.complaints.say("SQ0562", s.at)
            case AdmitOne(request=request):
                self.known("waiting request", request, around.requests.get(request) == "waiting", s.at)
            case AdvanceOne(request=request):
                self.known("running request", request, around.requests.get(request) == "running", s.at)
            case Admit(only=only, condition=condition):
                for part in (only, condition):
                    if part is not None:
                        self.expression(part, around)
            case Advance(only=only, keys=keys):
                for part in (only, *keys):
                    if part is not None:
                        self.expression(part, around)
            case _:
                pass

    def is_tag(self, name: str, around: Around) -> bool:
        """Whether the engine around keeps this tag."""
        engine = self.engines.get(around.engine or "")
        return engine is not None and any(tag.name == name for tag in engine.tags)

    def expression(self, e: Expr, around: Around) -> None:
        """An expression with what is bound around it."""
        match e:
            case LoopName(name=name):
                self.known("name of a loop", name, name in around.names, e.at)
            case Item(name=name):
                self.known("list", name, name in self.lists, e.at)
            case RegisterRead(engine=engine, name=name, index=index):
                registers = self.engines[engine].registers if engine in self.engines else ()
                arrays = {r.name for r in registers if r.size is not None}
                self.known("array of registers", name, (index is not None) == (name in arrays), e.at)
            case RequestField(request=request, name=name, kind=kind):
                self.known("request", request, request in around.requests, e.at)
                among = around.requests.get(request, "")
                sets = REQUEST_FIELDS[name].sets if name in REQUEST_FIELDS else ()
                fits = {
                    "field": among in sets, "attribute": name in self.attributes,
                    "tag": self.is_tag(name, around),
                }  # fmt: skip
                self.known("field of a request", name, fits.get(kind, False), e.at)
            case Survey(kind=kind, request=request, among=among, engine=engine, body=body):
                self.known("aggregate", kind, kind in KINDS, e.at)
                self.known("set", among, among in SETS, e.at)
                self.known("engine of an aggregate", engine, engine == around.engine, e.at)
                self.expression(body, evolve(around, requests={**around.requests, request: among}))
                return
            case _:
                pass
        for part in children(e):
            self.expression(part, around)
