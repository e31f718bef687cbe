"""Writes what is special about one program, in C: its expressions, its schedule, its sessions, its claims.

Numbers of the program become parameters, so that a program that is run with other inputs has the same
text, and is not compiled again.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from importlib.resources import files
from math import inf

from attrs import define, field

from serq.diagnostics import InternalError
from serq.ir.expr import Draw, Expr, Num
from serq.ir.laws import LEAST_ALPHA, LEAST_CHANCE, LEAST_SHAPE, MOST_STAGES, MOST_VARIATION
from serq.ir.schedule import Admit, Advance, ScheduleBranch, ScheduleStatement, SetRegister
from serq.ir.server import Block, Branch, End, Hold, Loop, Observe, Run, Set, Statement, Turn, While
from serq.ir.workload import SMALLEST_GAP, Poisson, Renewal
from serq.machine.laws import LEAST, LEAST_POSITIVE
from serq.machine.native.expressions import CLAIM_READS, RUN_READS, ExpressionWriter
from serq.machine.native.fragment import Native
from serq.machine.native.layout import declarations
from serq.machine.sessions import is_lasting
from serq.machine.watch import Watch

BOUNDS = {
    "MOST_STAGES": repr(float(MOST_STAGES)),
    "LEAST_CHANCE": repr(LEAST_CHANCE),
    "LEAST_SHAPE": repr(LEAST_SHAPE),
    "LEAST_ALPHA": repr(LEAST_ALPHA),
    "MOST_VARIATION": repr(MOST_VARIATION),
    "LEAST": repr(LEAST),
    "LEAST_POSITIVE": repr(LEAST_POSITIVE),
}
"""Of the parameters and the values of draws, as `kernel.c` calls them."""

OWN = "/* ------------------------------------------------------------ the program's own */\n"
"""Above what is written for a program."""


@define
class _Session:
    """What a session does, cut into pieces at which it can stop.

    at: the piece being written. starts: where the body of each hold begins.
    """

    pieces: list[list[str]] = field(factory=lambda: [[]])
    at: int = 0
    starts: dict[int, int] = field(factory=dict)

    def add(self, *lines: str) -> None:
        self.pieces[self.at] += lines

    def new(self) -> int:
        self.pieces.append([])
        return len(self.pieces) - 1

    def go(self, to: int) -> None:
        self.add(f"pc = {to}; break;")


class NativeWriter(ExpressionWriter):
    """Writes a program of the fragment in C.

    slots: places of the attributes. series: those of observations, after the client's times. watches:
    what is asked of every iteration. numbers: filled with the parameters, in their order.
    """

    def __init__(
        self,
        native: Native,
        slots: Mapping[str, int],
        series: Mapping[str, int],
        watches: Sequence[Watch],
    ) -> None:
        super().__init__(native, slots)
        self.series = series
        self.watches = watches
        self.functions: list[str] = []
        self.session = _Session()

    # ------------------------------------------------------------ functions

    def define(self, head: str, lines: Iterable[str]) -> None:
        """Add a function; what a function of `i` reads of the session `i` is in `A`."""
        body = list(lines)
        if "int64_t i)" in head and any("A[" in line for line in body):
            body.insert(0, "double *A = &m->attributes[i * ATTRIBUTES];")
        self.functions.append("\n".join((f"static {head}", "{", *(f"    {line}" for line in body), "}", "")))

    def choose(self, head: str, cases: Mapping[str, str], otherwise: str) -> None:
        """Add a function that returns something else in each case."""
        lines = [f"if ({case}) return {answer};" for case, answer in cases.items()]
        self.define(head, [*lines, f"return {otherwise};"])

    def text(self) -> str:
        """The whole machine of the program."""
        native, engine = self.native, self.native.engine
        arrival = native.program.workload.arrival if native.program.workload else None
        schedule = engine.schedule
        self.define("double token_cap(Run *m)", [f"return {self.value(engine.tokens_cap)};"])
        lets = [f"m->lets[{n}] = {self.value(let.value)};" for n, let in enumerate(schedule.lets)]
        self.define("void read_lets(Run *m)", lets or ["(void)m;"])
        each = "INFINITY" if schedule.each_at_most is None else self.value(schedule.each_at_most)
        self.define("double each_at_most(Run *m)", ["(void)m;", f"return {each};"])
        self.define("void form(Run *m)", self._schedule(schedule.statements))
        self.define("double execute(Run *m)", [f"return {self.value(engine.execute)};"])
        self._watch()
        gauges = native.program.gauges
        shown = [f"show_gauge(m, {n}, {self.value(g.value, {})});" for n, g in enumerate(gauges)]
        self.define("void read_gauges(Run *m)", shown or ["(void)m;"])
        self._holds()
        self._client()
        self._arrivals()
        constants = {
            "ATTRIBUTES": len(self.slots),
            "POOLS": len(native.program.pools),
            "STAGES": len(native.stages),
            "SERIES": 3 + len(self.series),
            "REGISTERS": len(engine.registers),
            "LETS": len(schedule.lets),
            "CLAIMS": len(self.watches),
            "GAUGES": len(gauges),
            "MADE_HERE": int(native.made_here),
            "FIRST_AT_0": int(isinstance(arrival, Poisson)),
            "SMALLEST_GAP": repr(SMALLEST_GAP),
            "MEMORY": native.memory,
            **BOUNDS,
            "GRANULE": "INFINITY" if engine.granule == inf else repr(engine.granule or 0.0),
        }
        headers = "".join(f"#include <{name}.h>\n" for name in ("math", "stdint", "stdlib", "string"))
        counts = "".join(f"#define {name} ({value})\n" for name, value in constants.items())
        kernel = files("serq.machine.native").joinpath("kernel.c").read_text(encoding="utf-8")
        return "\n".join((headers, declarations(), counts, kernel, OWN, *self.functions))

    def _watch(self) -> None:
        lines = []
        for n, watch in enumerate(self.watches):
            looked_for = "t" if watch.some else "!t"
            lines += [
                "{",
                f"    int t = {self.truth(watch.value, CLAIM_READS)};",
                f"    Claim *claim = &m->claims[{n}];",
                "    claim->checked++;",
                "    claim->failures += !t;",
                f"    if ({looked_for} && claim->first < 0) claim->first = m->now;",
                "}",
            ]
        self.define("void watch(Run *m)", lines or ["(void)m;"])

    def _arrivals(self) -> None:
        """How sessions are made, and the time between two."""
        workload, gap = self.native.program.workload, "INFINITY"
        session = self.session = _Session()
        if workload is not None and self.native.made_here:
            self.source = "FROM_WORKLOAD"
            self._block(workload.init)
            self.source = "FROM_ARRIVALS"
            match workload.arrival:
                case Poisson(rate=rate):
                    gap = self.value(Draw("exp", (Num(1.0 / rate),)))
                case Renewal(gap=e):
                    gap = self.value(e)
        lines = ["int64_t pc = 0;", "double v, t;", "(void)m; (void)i; (void)v; (void)t; (void)pc;"]
        session.add("return;")
        self.define("void init_session(Run *m, int64_t i)", [*lines, *self._pieces(session)])
        self.define("double next_gap(Run *m)", ["(void)m;", f"return {gap};"])

    # ------------------------------------------------------------ the schedule

    def _schedule(self, statements: Sequence[ScheduleStatement]) -> list[str]:
        """The lines of statements; those that may end early are functions of their own."""
        lines = []
        for s in statements:
            match s:
                case Advance() | Admit():
                    name = f"statement{len(self.functions)}"
                    body = self._advance(s) if isinstance(s, Advance) else self._admit(s)
                    self.define(f"void {name}(Run *m)", body)
                    lines.append(f"{name}(m);")
                case ScheduleBranch(test=test, then=then, otherwise=otherwise):
                    lines += ["{", f"    double t = {self.value(test)};", "    if (t == 1) {"]
                    lines += [f"        {line}" for line in self._schedule(then)]
                    lines += ["    } else if (t == 0) {"]
                    lines += [f"        {line}" for line in self._schedule(otherwise)]
                    lines += ["    } else {", "        stop(m);", "    }", "}"]
                case SetRegister(register=name, value=value):
                    register = f"m->registers[{self.register(name)}]"
                    lines += [f"{register} = {self.value(value)};", f"if (!isfinite({register})) stop(m);"]
                case _:
                    raise InternalError(f"the compiled machine has no {type(s).__name__}")
        return lines

    def _allowed(self, only: Expr | None) -> str:
        if only is None:
            return ""
        name = f"only{len(self.functions)}"
        self.define(f"int {name}(Run *m, int64_t i)", ["(void)i;", f"return {self.truth(only, RUN_READS)};"])
        return f" && {name}(m, i)"

    def _advance(self, s: Advance) -> list[str]:
        lines, allowed = ["int64_t count = unserved(m);"], self._allowed(s.only)
        for phase in ("1", "0") if s.order == "decode first" else ("",):
            ours = f" && m->sessions[i].decode == {phase}" if phase else ""
            lines += [
                "for (int64_t k = 0; k < count; k++) {",
                "    int64_t i = m->scratch_list[k];",
                "    if (m->left <= 0 || m->status != MORE) return;",
                f"    if (m->sessions[i].stage == ENGINE{ours}{allowed} && !serve(m, i)) return;",
                "}",
            ]
        return lines

    def _admit(self, s: Admit) -> list[str]:
        allowed = self._allowed(s.only)
        lines = ["take_returned(m);", "while (m->left > 0 && !m->refused && m->status == MORE) {"]
        if s.condition is not None:
            lines += [
                f"    double t = {self.value(s.condition)};",
                "    if (t != 0 && t != 1) stop(m);",
                "    if (t == 0) return;",
            ]
        return [
            *lines,
            "    int64_t count = admit_head(m);",
            "    if (count < 0) return;",
            "    for (int64_t k = 0; k < count; k++) {",
            "        int64_t i = m->newcomer_list[k];",
            "        if (m->left <= 0 || m->sessions[i].stage != ENGINE) continue;",
            f"        if (1{allowed} && !serve(m, i)) return;",
            "    }",
            "}",
        ]

    # ------------------------------------------------------------ holds

    def _holds(self) -> None:
        holds, self.source = self.native.holds, "FROM_SESSION"
        parts = {
            f"h == {h} && k == {n}": part for h, hold in enumerate(holds) for n, part in enumerate(hold.parts)
        }

        def amount(e: Expr | None, otherwise: str) -> str:
            return otherwise if e is None else self.value(e, {})

        def lasts(e: Expr | None) -> str:
            return str(int(e is not None and is_lasting(e)))

        def of_hold(answers: Iterable[str]) -> dict[str, str]:
            return {f"h == {h}": answer for h, answer in enumerate(answers)}

        self.choose("int part_count(int64_t h)", of_hold(str(len(hold.parts)) for hold in holds), "0")
        pools = {case: str(self.native.pool(part.place.name)) for case, part in parts.items()}
        self.choose("int part_pool(int64_t h, int k)", pools, "0")
        units = {case: amount(part.units, "0") for case, part in parts.items()}
        self.choose("double part_units(Run *m, int64_t h, int k, int64_t i)", units, "0")
        reserves = {case: amount(part.reserve, "0") for case, part in parts.items()}
        self.choose("double part_reserve(Run *m, int64_t h, int k, int64_t i)", reserves, "0")
        last = {case: lasts(part.units) for case, part in parts.items()}
        self.choose("int units_last(int64_t h, int k)", last, "0")
        last = {case: lasts(part.reserve) for case, part in parts.items()}
        self.choose("int reserve_lasts(int64_t h, int k)", last, "0")
        caches = of_hold(str(int(hold.cache is not None)) for hold in holds)
        self.choose("int leaves_prefix(int64_t h)", caches, "0")
        left = of_hold(amount(hold.cache, "0") for hold in holds)
        self.choose("double prefix_left(Run *m, int64_t h, int64_t i)", left, "0")
        used = of_hold(amount(hold.reuse, "INFINITY") for hold in holds)
        self.choose("double prefix_used(Run *m, int64_t h, int64_t i)", used, "0")

    # ------------------------------------------------------------ sessions

    def _client(self) -> None:
        session, workload = self.session, self.native.program.workload
        if workload is None:
            raise InternalError("a program without a workload has no sessions")
        self.turn_block = workload.turn
        self.server = session.new()
        self._block(workload.session)
        session.add("return 1;")
        session.at = self.server
        self._block(self.native.program.server)
        session.add("pc = m->sessions[i].back; break;")
        lines = ["int64_t pc = m->sessions[i].pc;", "double v, t;", "(void)v; (void)t;"]
        lines += self._pieces(session)
        self.define("int go_on(Run *m, int64_t i)", [*lines, "return 0;"])
        starts = {f"h == {h}": str(pc) for h, pc in session.starts.items()}
        self.choose("int64_t body_start(int64_t h)", starts, "0")

    @staticmethod
    def _pieces(session: _Session) -> list[str]:
        """The pieces, one after the other as control goes."""
        lines = ["while (m->status == MORE) switch (pc) {"]
        for number, piece in enumerate(session.pieces):
            lines += [f"case {number}:", *(f"    {line}" for line in piece)]
        return [*lines, "}"]

    def _block(self, block: Block) -> None:
        for s in block:
            self._statement(s)

    def _statement(self, s: Statement) -> None:
        session = self.session
        match s:
            case Set(attribute=name, value=value):
                session.add(f"A[{self.slots[name]}] = {self.value(value, {})};")
            case Observe(name=name, value=value):
                session.add(
                    f"v = {self.value(value, {})};",
                    "if (v != v) stop(m);",
                    f"add_sample(m, {self.series[name]}, i, v);",
                )
            case Run():
                self._run(s)
            case Hold():
                self._hold(s)
            case Branch(test=test, then=then, otherwise=otherwise):
                arms, after = (session.new(), session.new()), session.new()
                self._fork(test, *arms)
                for at, arm in zip(arms, (then, otherwise), strict=True):
                    session.at = at
                    self._block(arm)
                    session.go(after)
                session.at = after
            case While(test=test, body=body):
                head, inner, after = session.new(), session.new(), session.new()
                session.go(head)
                session.at = head
                self._fork(test, inner, after)
                self._repeat(inner, body, head)
                session.at = after
            case Loop(body=body):
                head, after = session.new(), session.new()
                session.go(head)
                self._repeat(head, body, head)
                session.at = after
            case Turn():
                after = session.new()
                session.add("start_turn(m, i);")
                self.source = "FROM_WORKLOAD"
                self._block(self.turn_block)
                self.source = "FROM_SESSION"
                session.add(f"m->sessions[i].back = {after};")
                session.go(self.server)
                session.at = after
                session.add("end_turn(m, i);")
            case End():
                session.add("return 1;")
                session.at = session.new()
            case _:
                raise InternalError(f"the compiled machine has no {type(s).__name__}")

    def _fork(self, test: Expr, then: int, otherwise: int) -> None:
        self.session.add(
            f"t = {self.value(test, {})};",
            "if (t != 0 && t != 1) { stop(m); break; }",
            f"pc = t == 1 ? {then} : {otherwise}; break;",
        )

    def _repeat(self, at: int, body: Block, head: int) -> None:
        """The body of a loop, in piece `at`; then it goes back to `head`."""
        self.session.at = at
        self.session.add("if (!passes_on(m, i)) return 0;")
        self._block(body)
        self.session.go(head)

    def _run(self, s: Run) -> None:
        session, at = self.session, self.native.stage(s.places[0].name)
        after = session.new()
        session.add(f"v = {self.value(s.work, {})};", f"m->sessions[i].pc = {after};")
        if at:
            session.add(f"run_delay(m, i, {at}, v);")
        else:
            growing = -1 if s.growing is None else self.native.pool(s.growing.name)
            session.add(f"run_engine(m, i, {int(s.mode == 'decode')}, v, {growing});")
        session.add("return 0;")
        session.at = after

    def _hold(self, s: Hold) -> None:
        session = self.session
        h = next(n for n, hold in enumerate(self.native.holds) if hold is s)
        body = session.starts[h] = session.new()
        session.add(f"if (ask(m, i, {h})) return 1;", f"m->sessions[i].pc = {body};", "return 0;")
        session.at = body
        for binding in s.bindings:
            if binding.kept:
                self._statement(Set(binding.name, binding.value))
        self._block(s.body)
        session.add("end_hold(m, i);")
