"""Sessions: what a client does, as one generated Python generator per program.

The statements of the workload's `session` block, with the server's inside every `turn;`, become a
generator function of a `Session`. It yields whenever the session blocks and is resumed when it is
made ready; local control flow is Python's own.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Sequence
from math import inf
from typing import TYPE_CHECKING, Any

from serq.diagnostics import InternalError
from serq.ir.expr import Expr, Observable, Place, RegisterRead, Var, walk
from serq.ir.server import (
    Block,
    Branch,
    Choose,
    Drop,
    End,
    Grow,
    Hold,
    Load,
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
    from serq.machine.pools import Growth, Held, Part, Waiting
    from serq.machine.stages.base import StageMember
    from serq.machine.trace import TracedTurn
    from serq.source import Span

STATEMENT_LIMIT = 1_000_000
"""Loop passes of one session at one instant; beyond that the run stops."""


class Preempted(BaseException):
    """Thrown into a session that has lost a hold: the statement whose execution `asked` for it starts over.

    Not an Exception, so that nothing but that statement will catch it.
    """

    def __init__(self, asked: object) -> None:
        super().__init__()
        self.asked = asked


class Session:
    """One client: its attributes, where it stands, and the tokens of its present turn.

    attributes: by slot, `Machine.slots` names them. admission: number of its latest hold admission,
    infinite if it never held anything. holds, leases: what it has, the outermost first. stage: where
    it works now. waiting, growth: what it waits for. restart: thrown when it goes on. woken_by: what
    made it ready without letting time pass, a hold that was admitted again or a run of no work. recorded:
    the turns of the trace that it replays. in_turn: whether a turn is under way.
    Of the present turn: turn_started; first_token (None before there is one) and last_token, times;
    tokens so far; decoded: it has got a decode token; ttft_known: the time to the first token is
    recorded, which no later prefill replaces then; token_at: the engine that gave the last token;
    lost_token_at: the same, when a hold was lost since.
    """

    __slots__ = (
        "admission", "attributes", "decoded", "draws", "ended", "first_token", "growth", "holds",
        "in_turn", "last_token", "leases", "lost_token_at", "passes", "program", "recorded", "restart",
        "serial", "stage", "token_at", "tokens", "ttft_known", "turn_started", "waiting", "wakes",
        "woke_at", "woken_by",
    )  # fmt: skip

    def __init__(self, serial: int, attributes: list[float], draws: Stream) -> None:
        self.serial = serial
        self.attributes = attributes
        self.draws = draws
        self.program: Generator[None, None, bool]
        self.admission = inf
        self.holds: list[Held] = []
        self.leases: list[Part] = []
        self.waiting: Waiting | None = None
        self.growth: Growth | None = None
        self.stage: StageMember | None = None
        self.restart: Preempted | None = None
        self.token_at: StageMember | None = None
        self.lost_token_at: StageMember | None = None
        self.recorded: Sequence[TracedTurn] = ()
        self.ended = False
        self.woke_at = -1.0
        self.woken_by: Waiting | Span | None = None
        self.wakes = 0
        self.passes = 0
        self.turn_started = 0.0
        self.first_token: float | None = None
        self.last_token = 0.0
        self.tokens = 0
        self.decoded = False
        self.ttft_known = False
        self.in_turn = False

    def decodes(self) -> bool:
        """Whether the session's present run is a decode."""
        return self.stage is not None and self.stage.is_decode(self)


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
                at, v = self.scope.lend("at", s.at), self.fresh("v")
                add(f"{v} = float({self.value(value)})")
                add(f"if {v} != {v}: m.bad_observation({name!r}, s, {at})")
                add(f"{samples}.add(m.now, s.serial, int({turn}), {v})")
            case Run():
                self._run(s)
            case Hold():
                self._hold(s)
            case Release(place=place):
                pool = self.scope.pool(place, self.value)
                add(f"m.holds.release(s, {pool})")
            case Drop(place=place):
                add(f"m.holds.drop(s, {self.scope.pool(place, self.value)})")
            case Grow(place=place, amount=amount):
                at = self.scope.lend("at", s.at)
                arguments = f"s, {self.scope.pool(place, self.value)}, {self.value(amount)}, {at}"
                add(f"if m.holds.grow({arguments}): yield")
            case Load(place=place, amount=amount):
                at = self.scope.lend("at", s.at)
                arguments = f"s, {self.scope.pool(place, self.value)}, {self.value(amount)}, {at}"
                add(f"m.holds.load({arguments})")
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
        part = "None"
        if s.growing is not None:
            part = f"m.holds.growing(s, {self.scope.pool(s.growing, self.value)}, {at})"
        add(f"if {w} > 0: {stage}.join(s, {s.mode!r}, {w}, {part})")
        # No work is done at once: the session goes to the end of the line of ready ones.
        add(f"elif {w} == 0: m.do_nothing(s, {at})")
        add(f"else: m.bad_amount({w}, s, {at})")
        add("yield")

    def _hold(self, s: Hold) -> None:
        add = self.lines.add
        code = self.scope.lend("hold", compile_hold(self.machine, s))
        h = self.fresh("h")
        add(f"if m.holds.ask(s, {code}): return True")
        if any(pool.preempt is not None for pool in self.machine.program.pools):
            asked, waits = self.fresh("a"), self.fresh("w")
            add(f"{asked}, {waits} = s.waiting.asked, True")
            add("while True:")
            self.lines.level += 1
            add("try:")
            self.lines.level += 1
            # The hold may be lost before its body has begun; who starts over has been admitted again.
            add(f"if {waits}:")
            add(f"    {waits} = False")
            add("    yield")
            self._body(s, code, h)
            self.lines.level -= 1
            add("except Preempted as lost:")
            add(f"    if lost.asked is not {asked}: raise")
            add("    continue")
            add("break")
            self.lines.level -= 1
        else:
            add("yield")
            self._body(s, code, h)
        add(f"m.holds.end(s, {h})")

    def _body(self, s: Hold, code: str, h: str) -> None:
        self.lines.add(f"{h} = s.holds[-1]")
        if any(b.kept for b in s.bindings):
            self.lines.add(f"{code}.keep(s)")
        self.block(s.body)

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


def write_program(machine: Machine) -> Callable[[Session, list[float]], Generator[None, None, bool]]:
    """The generator function of the whole program: `client(s, attributes)`."""
    program = machine.program
    workload = program.workload
    if workload is None:
        raise InternalError("a program without a workload has no sessions")
    scope = RunScope(machine, attributes="A", draws="s.draws", session="s")
    scope.lent["Preempted"] = Preempted
    scope.lent["range"] = range
    scope.lent["int"] = int
    source = ""
    if workload.turn:
        scope.lent["turn_block"] = write_plain_block(machine, "turn", workload.turn)
    for name, block in (("serve", program.server), ("client", workload.session)):
        writer = SessionWriter(machine, scope, f"{name}_part")
        writer.block(block)
        source += "".join(writer.writer.subs)
        # The unreachable yield makes a generator of a body that never blocks.
        source += f"def {name}(s, A):\n" + "\n".join(writer.lines.text)
        source += "\n    return False\n    yield\n"
    client: Callable[[Session, list[float]], Generator[None, None, bool]] = build(
        source, "client", scope.lent
    )
    machine.sources["session"] = source
    return client


def write_plain_block(machine: Machine, name: str, block: Block) -> Callable[[Session, list[float]], Any]:
    """`init` or `turn`, by its name: statements that never block, drawing from the workload's own stream."""
    scope = RunScope(machine, attributes="A", draws="m.workload_draws", session="s")
    scope.lent["int"] = int
    writer = SessionWriter(machine, scope)
    writer.block(block)
    source = "".join(writer.writer.subs) + "def block(s, A):\n" + "\n".join(writer.lines.text) + "\n"
    function: Callable[[Session, list[float]], Any] = build(source, "block", scope.lent)
    machine.sources[name] = source
    return function


def is_lasting(e: Expr) -> bool:
    """Whether `e` reads only attributes and numbers: then a demand above the cap can never fit."""
    return not any(isinstance(node, (Observable, Var, RegisterRead)) for node in walk(e))


def compile_hold(machine: Machine, hold: Hold) -> HoldCode:
    """The header of a hold as functions of its session."""

    def function(e: Expr) -> Callable[[Session], float]:
        scope = RunScope(machine, attributes="s.attributes", draws="s.draws", session="s")
        return compile_value(e, scope, "s", scope.lent)

    def member(places: Sequence[Place]) -> Callable[[Session], Any]:
        scope = RunScope(machine, attributes="s.attributes", session="s")
        writer = Writer(scope, "s")
        members = ", ".join(scope.pool(place, writer.value) for place in places)
        source = "".join(writer.subs) + f"def pools(s):\n    return [{members}]\n"
        found: Callable[[Session], Any] = build(source, "pools", scope.lent)
        return found

    lease = None
    if hold.lease is not None:
        leased, lasts = member([hold.lease[0]]), function(hold.lease[1])
        lease = ((lambda s: leased(s)[0]), lasts)
    keep = None
    if any(b.kept for b in hold.bindings):
        keep = write_keeper(machine, hold)
    return HoldCode(
        statement=hold,
        pools=member([part.place for part in hold.parts]),
        units=tuple(function(p.units) for p in hold.parts),
        reserves=tuple(None if p.reserve is None else function(p.reserve) for p in hold.parts),
        judged=tuple(
            (is_lasting(p.units), p.reserve is not None and is_lasting(p.reserve)) for p in hold.parts
        ),
        keep=keep,
        reuse=None if hold.reuse is None else function(hold.reuse),
        cache=None if hold.cache is None else function(hold.cache),
        lease=lease,
    )


def write_keeper(machine: Machine, hold: Hold) -> Callable[[Session], None]:
    """Sets the bindings of `at admission` that the body reads."""
    scope = RunScope(machine, attributes="A", session="s")
    writer = SessionWriter(machine, scope)
    for binding in hold.bindings:
        if binding.kept:
            writer.statement(Set(binding.name, binding.value))
    body = "\n".join(writer.lines.text)
    source = "".join(writer.writer.subs) + f"def keep(s):\n    A = s.attributes\n{body}\n"
    keep: Callable[[Session], None] = build(source, "keep", scope.lent)
    return keep
