"""Schedules made ready to run: a whole schedule becomes one Python function.

Loops, branches, registers and `let`s are written as Python's own; serving and admitting are calls of
the engine (`stages.schedule`).
"""

from __future__ import annotations

from collections.abc import Sequence
from math import inf
from typing import TYPE_CHECKING, Any

from attrs import define, field

from serq.ir.expr import Binary, Expr, LoopName, Num, Unary
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
from serq.ir.schedule import ScheduleStatement as Statement
from serq.machine.code import COMPARISONS, Writer, build
from serq.machine.scope import ENGINE_VARIABLES, RunScope
from serq.machine.stages.orders import WaitingOrder, lasts
from serq.machine.stages.schedule import Step, exclusive_prefill, serving_step
from serq.machine.surveys import MEMBERS, is_number, may_fail
from serq.values import show

if TYPE_CHECKING:
    from serq.machine.stages.engine import EngineMember

PASS_LIMIT = 1_000_000
"""Passes that the loops of one iteration may make."""


def compile_schedule(engine: EngineMember, statements: Sequence[Statement]) -> Step:
    """The schedule as one function: what happens in an iteration."""
    if statements and isinstance(statements[0], ExclusivePrefill):
        return exclusive_prefill(engine, statements)
    return ScheduleWriter(engine).compile(statements)


@define
class ScheduleWriter:
    """Writes one engine's schedule as a Python function, line by line."""

    engine: EngineMember
    scope: RunScope = field(init=False)
    lines: list[str] = field(factory=list)
    subs: list[str] = field(factory=list)
    count: int = 0
    loops: bool = False

    def __attrs_post_init__(self) -> None:
        self.scope = RunScope(self.engine.machine, ENGINE_VARIABLES)
        self.scope.lent["e"] = self.engine

    def compile(self, statements: Sequence[Statement]) -> Step:
        self.block(statements, 1)
        counter = ["    passes = 0\n"] if self.loops else []
        source = "".join([*self.subs, "def schedule():\n", *counter, *self.lines])
        engine = self.engine
        engine.machine.sources[f"schedule of {engine.name}"] = source
        function: Step = build(source, "schedule", self.scope.lent)
        return function

    # ------------------------------------------------------------ lines

    def line(self, depth: int, text: str) -> None:
        self.lines.append(f"{'    ' * depth}{text}\n")

    def name(self, kind: str) -> str:
        self.count += 1
        return f"{kind}{self.count}"

    def lend(self, thing: Any) -> str:
        return self.scope.lend("given", thing)

    def _writer(self) -> Writer:
        names = [n for n in dict.fromkeys(self.scope.requests.values())]
        return Writer(self.scope, ", ".join(names), self.name("sub"))

    def value(self, e: Expr) -> str:
        writer = self._writer()
        source = writer.value(e)
        self.subs += writer.subs
        return source

    def truth(self, e: Expr) -> str:
        writer = self._writer()
        source = writer.truth(e)
        self.subs += writer.subs
        return source

    # ------------------------------------------------------------ statements

    def block(self, statements: Sequence[Statement], depth: int) -> None:
        """What it binds is known to its end."""
        before = dict(self.scope.requests)
        for s in statements:
            self.statement(s, depth)
        if not statements:
            self.line(depth, "pass")
        self.scope.requests = before

    def statement(self, s: Statement, depth: int) -> None:
        match s:
            case Advance() | Admit():
                self.line(depth, f"{self.lend(serving_step(self.engine, s))}()")
            case ScheduleBranch(test=test, then=then, otherwise=otherwise):
                self.branch(s, test, then, otherwise, depth)
            case SetRegister():
                self.register(s, depth)
            case SetTag(request=request, tag=tag, value=value):
                slot = self.engine.tag_slots[tag]
                check = self.finite("SQ0647", tag, s)
                who = f"{self.scope.requests[request]}.session"
                self.line(depth, f"e.set_tag({who}, {slot}, {check}({self.value(value)}))")
            case SetName(name=name, value=value):
                source = self.value(value)
                local = self.name("n")
                self.line(depth, f"{local} = {source}")
                self.scope.requests = {**self.scope.requests, name: local}
            case ForIndex(count=count) if fills := self.fills(s):
                self.loop(s, depth - 1, count)
                for inner in fills:
                    self.fill(inner, count, depth)
            case ForIndex(name=name, count=count, body=body):
                number = self.name("n")
                self.line(depth, f"for {number} in range({count}):")
                self.loop(s, depth)
                self.scope.counted[number] = count
                self.body({**self.scope.requests, name: number}, body, depth)
            case ForRequests():
                self.requests(s, depth)
            case Break():
                self.line(depth, "break")
            case AdmitOne(request=request):
                self.line(depth, f"e.admit_one({self.scope.requests[request]}.session)")
            case AdvanceOne(request=request):
                self.line(depth, f"e.advance_one({self.scope.requests[request]})")
            case ExclusivePrefill():
                raise AssertionError("`exclusive prefill` comes first")

    def body(self, requests: dict[str, str], body: Sequence[Statement], depth: int) -> None:
        outer, self.scope.requests = self.scope.requests, requests
        self.block(body, depth + 1)
        self.scope.requests = outer

    def fills(self, s: ForIndex) -> list[SetRegister]:
        """The statements of a loop over numbers that gives registers of arrays one number, or none."""
        found = [
            inner
            for inner in s.body
            if isinstance(inner, SetRegister)
            and isinstance(inner.index, LoopName)
            and inner.index.name == s.name
            and s.count <= self.engine.register_sizes[inner.register]
            and isinstance(inner.value, Num)
            and -inf < inner.value.value < inf
        ]
        return found if len(found) == len(s.body) else []

    def fill(self, s: SetRegister, count: int, depth: int) -> None:
        """The first `count` registers of an array at once."""
        registers = self.scope.lend("registers", self.engine.registers)
        first = self.engine.register_slots[s.register]
        self.line(depth, f"{registers}[{first}:{first + count}] = [{self.value(s.value)}] * {count}")

    def loop(self, s: ForRequests | ForIndex, depth: int, count: int = 1) -> None:
        """A pass counts; `count`: as many at once."""
        machine = self.engine.machine
        self.loops = True
        self.line(depth + 1, f"passes += {count}")
        stop = self.lend(lambda: machine.fail("SQ0646", s.at))
        self.line(depth + 1, f"if passes > {PASS_LIMIT}: {stop}()")

    def requests(self, s: ForRequests, depth: int) -> None:
        """A loop over requests: a list made as it starts."""
        request = self.name("r")
        members = MEMBERS[s.among].format(e="e")
        outer = self.scope.requests
        self.scope.requests = dict(outer)
        self.scope.bind(s.request, request, "e")
        picked = "" if s.where is None else f" if {self.picked(s.where, s)}"
        over = f"[{request} for {request} in {members}{picked}]"
        keys = ", ".join(self.key(key, s) for key in s.keys)
        key = f"({keys},)" if len(s.keys) > 1 else keys
        if keys and s.among == "waiting" and self.keeps_order(s):
            function = build(f"def key({request}): return {key}\n", "key", self.scope.lent)
            over = f"{self.lend(WaitingOrder(self.engine.lines, function))}.begin()"
            if picked:
                kept = f"{request} for {request} in {over}{picked}"
                over = f"({kept})" if s.where is not None and lasts(s.where, s.request) else f"[{kept}]"
        elif keys:
            over = f"sorted({over}, key=lambda {request}: {key})"
        self.line(depth, f"for {request} in {over}:")
        self.loop(s, depth)
        inside = self.scope.requests
        self.scope.requests = outer
        self.body(inside, s.body, depth)

    def keeps_order(self, s: ForRequests) -> bool:
        """Whether the order of a loop lasts, and it does not matter in which order its members are picked."""
        if not all(lasts(key, s.request) for key in s.keys):
            return False
        return s.where is None or (is_test(s.where) and not may_fail(s.where))

    def picked(self, test: Expr, s: ForRequests) -> str:
        """Source of `where`; what is neither 0 nor 1 stops the run."""
        if is_test(test):
            return self.truth(test)
        machine = self.engine.machine

        def check(value: float) -> float:
            if value != 0 and value != 1:
                machine.bad_guard(value, None, test.at or s.at)
            return value

        return f"{self.lend(check)}({self.value(test)})"

    def key(self, key: Expr, s: ForRequests) -> str:
        """Source of one of the numbers that a loop sorts by; one that is NaN stops the run."""
        source = self.value(key)
        if is_number(key):
            return source
        machine = self.engine.machine
        stop = self.lend(lambda: machine.fail("SQ0648", key.at or s.at))
        return f"(k if (k := {source}) == k else {stop}())"

    def branch(
        self, s: ScheduleBranch, test: Expr, then: Sequence[Statement], other: Sequence[Statement], depth: int
    ) -> None:
        if is_test(test):
            self.line(depth, f"if {self.truth(test)}:")
        else:
            guard, machine = self.name("g"), self.engine.machine
            bad = self.lend(lambda value: machine.bad_guard(value, None, s.at))
            self.line(depth, f"{guard} = {self.value(test)}")
            self.line(depth, f"if {guard} != 0 and {guard} != 1: {bad}({guard})")
            self.line(depth, f"if {guard}:")
        self.block(then, depth + 1)
        if other:
            self.line(depth, "else:")
            self.block(other, depth + 1)

    def register(self, s: SetRegister, depth: int) -> None:
        registers, slot = (
            self.scope.lend("registers", self.engine.registers),
            str(self.engine.register_slots[s.register]),
        )
        if s.index is not None:
            size = self.engine.register_sizes[s.register]
            place = self.name("i")
            self.line(
                depth, f"{place} = {slot} + {self.scope.below(s.index, s.register, size, s.at, self.value)}"
            )
            slot = place
        if isinstance(s.value, Num) and -inf < s.value.value < inf:
            self.line(depth, f"{registers}[{slot}] = {self.value(s.value)}")
            return
        source, finite = self.value(s.value), self.finite("SQ0619", s.register, s)
        fresh = self.name("v")
        self.line(depth, f"{fresh} = float({source})")
        self.line(depth, f"if not -inf < {fresh} < inf: {finite}({fresh})")
        self.line(depth, f"{registers}[{slot}] = {fresh}")

    def finite(self, code: str, name: str, s: Statement) -> str:
        """A function that lets finite values through and stops the run at others."""
        machine = self.engine.machine

        def check(value: float) -> float:
            if not -inf < value < inf:
                machine.fail(code, s.at, name=name, value=show(value))
            return float(value)

        return self.lend(check)


def is_test(e: Expr) -> bool:
    """Whether the value is surely 0 or 1."""
    match e:
        case Binary(operator=op):
            return op in COMPARISONS or op in ("&&", "||")
        case Unary(operator="!"):
            return True
        case Num(value=value):
            return value in (0, 1)
        case _:
            return False
