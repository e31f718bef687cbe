"""Sessions: what a client does, as one generated Python generator per program.

The statements of the workload's `session` block, with the server's inside every `turn;`, become a
generator function of a `Session`. It yields whenever the session blocks and is resumed when it is
made ready; local control flow is Python's own.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from math import inf
from typing import TYPE_CHECKING, Any

from serq.diagnostics import InternalError
from serq.ir.expr import Expr, Observable, RegisterRead, Var, walk
from serq.ir.server import (
    Block,
    Branch,
    Choose,
    End,
    Hold,
    Loop,
    Observe,
    Release,
    Run,
    Set,
    Statement,
    Turn,
    While,
)
from serq.machine.code import Writer, build, compile_value
from serq.machine.draws import Stream
from serq.machine.pools import HoldCode
from serq.machine.scope import RunScope

if TYPE_CHECKING:
    from serq.machine.loop import Machine
    from serq.machine.pools import Held, Waiting
    from serq.machine.stages.base import StageMember

STATEMENT_LIMIT = 1_000_000
"""Loop passes of one session at one instant; beyond that the run stops."""


class Session:
    """One client: its attributes, where it stands, and the tokens of its present turn.

    attributes: by slot, `Machine.slots` names them. admission: number of its latest hold admission,
    infinite if it never held anything. first_token (None before there is one), last_token: times;
    first_engine: where a prefill gave the first one.
    tokens: of this turn so far. decoded: the turn has got a decode token. ttft_known: recorded.
    """

    __slots__ = (
        "admission", "attributes", "decoded", "draws", "first_engine", "first_token", "holds",
        "last_token", "passes", "program", "serial", "tokens", "ttft_known", "turn_started", "waiting",
        "wakes", "woke_at",
    )  # fmt: skip

    def __init__(self, serial: int, attributes: list[float], draws: Stream) -> None:
        self.serial = serial
        self.attributes = attributes
        self.draws = draws
        self.program: Iterator[None] = iter(())
        self.admission = inf
        self.holds: list[Held] = []
        self.waiting: Waiting | None = None
        self.woke_at = -1.0
        self.wakes = 0
        self.passes = 0
        self.turn_started = 0.0
        self.first_token: float | None = None
        self.first_engine: StageMember | None = None
        self.last_token = 0.0
        self.tokens = 0
        self.decoded = False
        self.ttft_known = False


class _Lines:
    """Source being written, with its indentation."""

    def __init__(self) -> None:
        self.text: list[str] = []
        self.level = 1

    def add(self, line: str) -> None:
        self.text.append("    " * self.level + line)


class SessionWriter:
    """Writes the statements of blocks as the body of a generator function of `s`."""

    def __init__(self, machine: Machine, scope: RunScope, prefix: str = "sub") -> None:
        self.machine = machine
        self.scope = scope
        self.writer = Writer(scope, "s, A", prefix)
        self.lines = _Lines()
        self.depth = 0

    def value(self, e: Expr) -> str:
        return self.writer.value(e)

    def fresh(self, prefix: str) -> str:
        self.depth += 1
        return f"{prefix}{self.depth}"

    def block(self, block: Block) -> None:
        if not block:
            self.lines.add("pass")
        for statement in block:
            self.statement(statement)

    def indented(self, block: Block) -> None:
        self.lines.level += 1
        self.block(block)
        self.lines.level -= 1

    def statement(self, s: Statement) -> None:
        add = self.lines.add
        match s:
            case Set(attribute=name, value=value):
                add(f"{self.scope.attribute(name)} = float({self.value(value)})")
            case Observe(name=name, value=value):
                samples = self.scope.lend("samples", self.machine.observes[name])
                turn = self.scope.attribute("turn_no")
                add(f"{samples}.add(m.now, s.serial, int({turn}), float({self.value(value)}))")
            case Run():
                self._run(s)
            case Hold():
                self._hold(s)
            case Release(place=place):
                pool = self.scope.pool(place, self.value)
                add(f"m.release(s, {pool})")
            case Branch(test=test, then=then, otherwise=otherwise):
                at = self.scope.lend("at", s.at)
                t = self.fresh("t")
                add(f"{t} = {self.value(test)}")
                add(f"if {t} == 1:")
                self.indented(then)
                add(f"elif {t} == 0:")
                self.indented(otherwise)
                add("else:")
                add(f"    m.bad_guard({t}, s, {at})")
            case While(test=test, body=body):
                at = self.scope.lend("at", s.at)
                t = self.fresh("t")
                add("while True:")
                self.lines.level += 1
                add(f"{t} = {self.value(test)}")
                add(f"if {t} == 0: break")
                add(f"if {t} != 1: m.bad_guard({t}, s, {at})")
                add(f"m.pass_loop(s, {at})")
                self.block(body)
                self.lines.level -= 1
            case Loop(body=body):
                at = self.scope.lend("at", s.at)
                add("while True:")
                self.lines.level += 1
                add(f"m.pass_loop(s, {at})")
                self.block(body)
                self.lines.level -= 1
            case Choose():
                self._choose(s)
            case Turn():
                add("m.start_turn(s)")
                if self.machine.program.workload and self.machine.program.workload.turn:
                    add("turn_block(s, A)")
                add("if (yield from serve(s, A)): return True")
                add("m.end_turn(s)")
            case End():
                add("return True")
            case _:
                raise InternalError(f"the machine has no {type(s).__name__}")

    def _run(self, s: Run) -> None:
        add = self.lines.add
        at = self.scope.lend("at", s.at)
        stage, w = self.fresh("p"), self.fresh("w")
        add(f"{stage} = {self.scope.stage(s.places[0], self.value)}")
        add(f"{w} = {self.value(s.work)}")
        if s.mode == "decode":
            add(f"{stage}.begin_decode(s)")
        add(f"if {w} > 0: {stage}.join(s, {s.mode!r}, {w})")
        # No work is done at once: the session goes to the end of the line of ready ones.
        add(f"elif {w} == 0: m.make_ready(s)")
        add(f"else: m.bad_amount({w}, s, {at})")
        add("yield")

    def _hold(self, s: Hold) -> None:
        add = self.lines.add
        code = self.scope.lend("hold", compile_hold(self.machine, s))
        h = self.fresh("h")
        add(f"if m.ask(s, {code}): return True")
        add("yield")
        add(f"{h} = s.holds[-1]")
        if any(b.kept for b in s.bindings):
            add(f"{code}.keep(s)")
        self.block(s.body)
        add(f"m.end_hold(s, {h})")

    def _choose(self, s: Choose) -> None:
        at = self.scope.lend("at", s.at)
        slot = self.scope.attribute(s.attribute)
        keys = "".join(self.value(k) + ", " for k in s.keys)
        n, best, chosen = self.fresh("n"), self.fresh("b"), self.fresh("c")
        add = self.lines.add
        add(f"{n} = m.whole({self.value(s.count)}, s, {at})")
        add(f"{best} = None; {chosen} = 0.0")
        add(f"for {n}i in range({n}):")
        add(f"    {slot} = float({n}i)")
        add(f"    {n}k = ({keys})")
        add(f"    if {best} is None or {n}k < {best}: {best} = {n}k; {chosen} = float({n}i)")
        add(f"{slot} = {chosen}")


def write_program(machine: Machine) -> Callable[[Session, list[float]], Iterator[None]]:
    """The generator function of the whole program: `client(s, attributes)`."""
    program = machine.program
    workload = program.workload
    if workload is None:
        raise InternalError("a program without a workload has no sessions")
    scope = RunScope(machine, attributes="A", draws="s.draws")
    scope.lent["range"] = range
    scope.lent["int"] = int
    source = ""
    if workload.turn:
        scope.lent["turn_block"] = write_plain_block(machine, workload.turn)
    for name, block in (("serve", program.server), ("client", workload.session)):
        writer = SessionWriter(machine, scope, f"{name}_part")
        writer.block(block)
        source += "".join(writer.writer.subs)
        # The unreachable yield makes a generator of a body that never blocks.
        source += f"def {name}(s, A):\n" + "\n".join(writer.lines.text)
        source += "\n    return False\n    yield\n"
    client: Callable[[Session, list[float]], Iterator[None]] = build(source, "client", scope.lent)
    machine.sources["session"] = source
    return client


def write_plain_block(machine: Machine, block: Block) -> Callable[[Session, list[float]], Any]:
    """`init` or `turn`: statements that never block, drawing from the workload's own stream."""
    scope = RunScope(machine, attributes="A", draws="m.workload_draws")
    scope.lent["int"] = int
    writer = SessionWriter(machine, scope)
    writer.block(block)
    source = "".join(writer.writer.subs) + "def block(s, A):\n" + "\n".join(writer.lines.text) + "\n"
    function: Callable[[Session, list[float]], Any] = build(source, "block", scope.lent)
    return function


def is_lasting(e: Expr) -> bool:
    """Whether `e` reads only attributes and numbers: then a demand above the cap can never fit."""
    return not any(isinstance(node, (Observable, Var, RegisterRead)) for node in walk(e))


def compile_hold(machine: Machine, hold: Hold) -> HoldCode:
    """The header of a hold as functions of its session."""

    def function(e: Expr) -> Callable[[Session], float]:
        scope = RunScope(machine, attributes="s.attributes")
        return compile_value(e, scope, "s", scope.lent)

    scope = RunScope(machine, attributes="s.attributes")
    writer = Writer(scope, "s")
    members = "".join(scope.pool(part.place, writer.value) + ", " for part in hold.parts)
    source = "".join(writer.subs) + f"def pools(s):\n    return ({members})\n"
    keep = None
    if any(b.kept for b in hold.bindings):
        keep = write_keeper(machine, hold)
    return HoldCode(
        statement=hold,
        pools=build(source, "pools", scope.lent),
        units=tuple(function(p.units) for p in hold.parts),
        reserves=tuple(None if p.reserve is None else function(p.reserve) for p in hold.parts),
        judged=tuple(
            (is_lasting(p.units), p.reserve is not None and is_lasting(p.reserve))
            for p in hold.parts
        ),
        keep=keep,
    )


def write_keeper(machine: Machine, hold: Hold) -> Callable[[Session], None]:
    """Sets the bindings of `at admission` that the body reads."""
    scope = RunScope(machine, attributes="A", draws=None)
    writer = SessionWriter(machine, scope)
    for binding in hold.bindings:
        if binding.kept:
            writer.statement(Set(binding.name, binding.value))
    body = "\n".join(writer.lines.text)
    source = "".join(writer.writer.subs) + f"def keep(s):\n    A = s.attributes\n{body}\n"
    keep: Callable[[Session], None] = build(source, "keep", scope.lent)
    return keep

