"""Writes the fused loop of a program: the pieces of `text`, filled with what the program says.

It is one file: a method per piece, in the order of the loop.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from math import inf

from attrs import define, field

from serq.diagnostics import InternalError
from serq.ir.expr import Draw, Expr, Num, Observable, Summary
from serq.ir.schedule import Admit, Advance, ScheduleBranch, ScheduleStatement, SetRegister
from serq.ir.server import Block, Branch, Hold, Observe, Run, Set, Statement
from serq.ir.workload import Batch, Poisson, Renewal, Slotted
from serq.machine.code import Writer, number
from serq.machine.fused import cycle, text
from serq.machine.fused.cycle import repeats
from serq.machine.fused.fragment import Fused, Leave
from serq.machine.fused.ranks import Order, Ranks
from serq.machine.fused.spans import Spans, between, varies
from serq.machine.laws import Recorded, Table
from serq.machine.watch import Given, Watch

ENGINE = {
    "running.count": "present",
    "running.decoding": "decoding",
    "running.preempted": "0",
    "waiting.count": "waiting",
    "waiting.admitted": "admitted",
    "batch.tokens": "tokens",
    "batch.prefilled": "prefilled",
    "batch.decoding": "decoders",
    "batch.attention": "attention",
}
"""Variables of the engine's own clauses."""

CLAIM = {
    "tokens": "tokens",
    "prefilled": "prefilled",
    "decoders": "decoders",
    "attention": "attention",
    "residents": "present",
    "demand": "demand",
    "served": "served",
    "arrived": "arrived",
}
"""Variables of a claim over iterations."""

STATE = {
    "queue": "present",
    "busy": "batch_runs",
    "work": "unfinished",
    "used": "used",
    "holders": "holders",
    "queued": "waiting",
}

LISTS = "line, tick, last, mark, dealt, spare, unripe, ripening, parked, segment_of"
"""What `split` needs."""

_HOLE = re.compile(r"<([a-z][a-z ]*)>")


class TooDeep(Exception):
    """An expression is too deep to be written into the loop."""


def fill(piece: str, **holes: str) -> str:
    """A piece of text with its holes filled; a hole alone in a line takes the place of the line.

    Names of holes have `_` for a blank. A hole that is not named here is the piece of that name, or
    stays for whoever fills next.
    """
    named = {name.replace("_", " "): value for name, value in holes.items()}
    lines = []
    for line in piece.strip("\n").split("\n"):
        alone = _HOLE.fullmatch(line.strip())
        if alone and alone[1] in named:
            indent = line[: len(line) - len(line.lstrip())]
            lines += [indent + inner for inner in named[alone[1]].strip("\n").split("\n") if inner.strip()]
        else:
            lines.append(_HOLE.sub(lambda m: named.get(m[1], m[0]), line))
    return "\n".join(lines)


@define
class LoopScope:
    """How expressions of one place reach the state: a `serq.machine.code.Scope`."""

    fused: Fused
    variables: Mapping[str, str] = field(factory=dict)
    stream: str | None = None
    turn: str = "0.0"
    lend: Callable[[Draw], str] = field(kw_only=True)

    def attribute(self, name: str) -> str:
        if name == "serial":
            return "float(serial[i])"
        if name == "turn_no":
            return self.turn
        # What is never set stays as it began.
        return f"{attribute(self.fused, name)}[i]" if name in self.fused.attributes else "0.0"

    def variable(self, name: str) -> str:
        return "now" if name == "now" else self.variables[name]

    def register(self, engine: str, name: str) -> str:
        names = [r.name for r in self.fused.engine.registers]
        return f"register{names.index(name)}"

    def requested(self, node: Expr, writer: Writer) -> str:
        raise InternalError("a request in a loop that knows none")

    def local(self, name: str) -> str:
        names = [let.name for let in self.fused.engine.schedule.lets]
        return f"local{names.index(name)}"

    def observable(self, node: Observable, write: Callable[[Expr], str]) -> str:
        if node.function == "free":
            return f"({self.cap} - used)"
        return STATE[node.function]

    @property
    def cap(self) -> str:
        return number(inf if self.fused.pool is None else self.fused.pool.cap)

    def summary(self, node: Summary, write: Callable[[Expr], str]) -> str:
        raise InternalError("a summary before the end")

    def draw(self, node: Draw, parameters: str) -> str:
        if self.stream is None:
            raise InternalError("a draw where nothing may be drawn")
        if node.law in ("table", "empirical"):
            return f"{self.stream}.pick({self.lend(node)})"
        return f"{self.stream}.{node.law}({parameters})"


def attribute(fused: Fused, name: str) -> str:
    """The list that holds a session attribute; the names of a program may be Python's own words."""
    return f"attribute{fused.attributes.index(name)}"


class LoopWriter:
    """Writes the loop of one program.

    watches, givens: what is asked of its iterations and sessions. samples_of: of an `~empirical(…)`.
    cycles: whether it may pass over whole periods. lent: the tables and samples that the loop draws
    from, by their names there.
    """

    def __init__(
        self,
        fused: Fused,
        watches: list[Watch],
        givens: list[Given],
        samples_of: Callable[[Draw], Recorded],
        cycles: bool = True,
    ) -> None:
        self.fused = fused
        self.samples_of = samples_of
        self.lent: dict[str, Table | Recorded] = {}
        self.watches = watches
        self.givens = givens
        self.each = number(fused.each)
        self.ranks = Ranks.of(fused.order)
        self.times, why = repeats(fused, watches)
        self.cycles = cycles and why is None
        self.reads_demand = any(reads(w.value, "demand") for w in watches)

    # ------------------------------------------------------------ expressions

    def _scope(
        self, variables: Mapping[str, str] | None = None, stream: str | None = None, turn: str = "0.0"
    ) -> LoopScope:
        return LoopScope(self.fused, variables or {}, stream, turn, lend=self._lend)

    def _lend(self, draw: Draw) -> str:
        name = f"table{len(self.lent)}"
        constants = [a.value for a in draw.arguments if isinstance(a, Num)]
        self.lent[name] = Table(constants) if draw.file is None else self.samples_of(draw)
        return name

    def _write(self, e: Expr, scope: LoopScope, truth: bool = False) -> str:
        writer = Writer(scope, "")
        written = writer.truth(e) if truth else writer.value(e)
        if writer.subs:
            raise TooDeep
        return written

    def _clause(self, e: Expr, decoding: str | None = None, truth: bool = False) -> str:
        """An expression of the engine; `decoding`: of a run, in which phase it is."""
        names = ENGINE if decoding is None else {**ENGINE, "decoding": decoding}
        return self._write(e, self._scope(names, "machine_draws"), truth)

    def _asked(self, e: Expr) -> str:
        return self._write(e, self._scope(CLAIM), truth=True)

    # ------------------------------------------------------------ the whole

    def loop(self) -> str:
        """The source of the function `loop`."""
        program = self.fused.program
        gauges = ""
        for k, gauge in enumerate(program.gauges):
            value = self._write(gauge.value, self._scope())
            gauges += fill(text.GAUGE, value=value, name=f"gauge{k}", show=f"show{k}") + "\n"
        return (
            fill(text.SPLIT, lists=LISTS) + "\n\n\n"
            + fill(
                text.LOOP,
                start=self._start(),
                first_arrivals=self._first_arrivals(),
                sessions=self._sessions(forming=False),
                **{"try": self._try()},
                gauges=gauges or "pass",
                warm=text.WARM,
                finish=self._finish(),
                arrive=self._arrive(),
                end=fill(
                    text.END,
                    settle=text.SETTLE,
                    settle_pool=text.SETTLE_POOL,
                    claims=self._claims_end(),
                    gather=f"if seen is not None:\n{_indent(cycle.GATHER)}" if self.cycles else "pass",
                ),
            )
            + "\n"
        )  # fmt: skip

    def _start(self) -> str:
        fused, lines = self.fused, []
        columns = [
            "serial", "stage", "place", "remaining", "given", "room", "joined_at", "due", "total", "counted",
            "segment_of", "served_in", "started_at", "first_token", "last_token",
            "token_count", "decoded", "known", "units", "asked_at", "admission", "draws",
        ]  # fmt: skip
        names = [f"attribute{k}" for k in range(len(fused.attributes))]
        names += ["draws", *(["early"] if fused.order.early else [])]
        lines += [f"{name} = []" for name in names]
        lines.append(f"columns = ({', '.join(dict.fromkeys(columns + names))},)")
        series = ["ttft", "tpot", "response"] + [f"observe{k}" for k in range(len(fused.program.observes))]
        for name in series:
            parts = ", ".join(f"{name}_{part}" for part in ("times", "sessions", "turns", "values"))
            lines.append(f"{parts} = m.appenders({name!r})")
        for k, r in enumerate(fused.engine.registers):
            lines.append(f"register{k} = {number(r.initial)}")
        for k in range(len(fused.program.gauges)):
            lines.append(f"gauge{k}, show{k} = None, m.gauge({k})")
        for k in range(len(self.watches)):
            lines.append(f"failures{k}, first{k}, true{k} = 0, -1.0, False")
        for k in range(len(self.givens)):
            lines.append(f"broken{k} = -1")
        for k, watch in enumerate(self.watches):
            if watch.given is not None:
                lines.append(f"asked{k} = (-1, 0, -1.0)")
        lines.append("machine_draws, arrival_draws, seed = m.machine_draws, m.arrival_draws, m.seed")
        if self.cycles:
            lines.append("seen, look_at, verify_at, uneven = None, 64, -1, False")
        return "\n".join(lines)

    # ------------------------------------------------------------ arrivals

    def _first_arrivals(self) -> str:
        workload = self.fused.program.workload
        match workload.arrival if workload else None:
            case Batch(count=count):
                return f"for _ in range({count}):\n" + _indent(self._create())
            case Poisson():
                return "arrive_at = 0.0"
            case Renewal(gap=gap):
                first = f"arrive_at = {self._drawn(gap)}"
                return f"{first}\nif not SMALLEST_GAP <= arrive_at < inf:\n    return False"
            case Slotted():
                return "arrive_at, slot = 0.0, 0"
        return "pass"

    def _arrive(self) -> str:
        workload = self.fused.program.workload
        match workload.arrival if workload else None:
            case Poisson(rate=rate):
                gap = f"arrival_draws.exp({number(1.0 / rate)})"
            case Renewal(gap=e):
                gap = self._drawn(e)
            case Slotted(slot=slot, count=e):
                count = self._drawn(e)
                return fill(text.OPEN_SLOT, create=self._create(), count=count, slot=number(slot))
            case _:
                return "arrive_at = inf"
        return fill(text.ARRIVE, create=self._create(), gap=gap, cycle=self._cycle())

    def _cycle(self) -> str:
        """Looks whether the state at an arrival has come back, and passes over whole periods then."""
        if not self.cycles:
            return "pass"
        fused, parts = self.fused, [cycle.ROW]
        attributes = fused.attributes
        own = [f"attribute{k}[i]" + (" - now" if a in self.times else "") for k, a in enumerate(attributes)]
        if fused.pool is not None:
            own += ["units[i]", "asked_at[i] - now"]
        row = ", ".join(parts + own) + ")"
        times = ["started_at", "joined_at", "first_token", "last_token", "asked_at"]
        times += [f"attribute{k}" for k, a in enumerate(attributes) if a in self.times]
        shift = [f"{name} += x" for name in cycle.CLOCKS]
        shift.append("arrive_at = now + x")
        shift.append("for g in segs:\n    last[g] += x")
        shift.append("for i in range(len(serial)):\n    serial[i] += n * k")
        shift += [f"    {name}[i] += x" for name in times if name != "first_token"]
        shift.append("    if first_token[i] >= 0:\n        first_token[i] += x")
        count = ["n = arrived - counts[1]"]
        count += [f"{name} += k * ({name} - counts[{j}])" for j, name in enumerate(cycle.COUNTED)]
        failures = [f"failures{k}" for k in range(len(self.watches))]
        settled = []
        for k, watch in enumerate(self.watches):
            # All answers of a period the same, and of a kind that settles those between.
            spans = between(watch.value, cycle.SHIFTING)
            if not varies(watch.value, cycle.SHIFTING):
                continue
            fine = [f"expected[{k}] == 0"] if spans.true else []
            fine += [f"expected[{k}] == expected[-1]"] if spans.false else []
            settled.append(f"not ({' or '.join(fine)})")
            settled += [f"not 2 * {self._write(e, self._scope(CLAIM))} < WHOLE" for e in spans.exact]
        return fill(
            cycle.CYCLE,
            gather=cycle.GATHER,
            state=fill(cycle.STATE, row=row),
            counted=", ".join(cycle.COUNTED),
            failures=", ".join([*failures, "iterations"]),
            count="\n".join(count),
            shift="\n".join(shift),
            count_failures="\n".join(f"{f} += k * expected[{j}]" for j, f in enumerate(failures)) or "pass",
            more_failures=", ".join(f"{f} - false[{j}]" for j, f in enumerate([*failures, "iterations"])),
            inexact=" or ".join(settled) or "False",
        )  # fmt: skip

    def _drawn(self, e: Expr) -> str:
        """A gap, or how many come in a slot."""
        return self._write(e, self._scope(stream="arrival_draws"))

    def _create(self) -> str:
        fused, workload = self.fused, self.fused.program.workload
        lines = [f"attribute{k}[i] = 0.0" for k in range(len(fused.attributes))]
        if any(isinstance(node, Draw) for node in _nodes(fused.steps)):
            lines.append('draws[i] = Stream(seed, "session", serial[i])')
        init = workload.init if workload else ()
        if any(isinstance(node, Draw) for node in _nodes(init)):
            lines.append('stream = Stream(seed, "workload", serial[i], 0)')
        scope = self._scope(stream="stream")
        lines += [self._plain(s, scope) for s in init]
        for k, given in enumerate(self.givens):
            satisfied = self._write(given.value, self._scope(), truth=True)
            lines.append(f"if broken{k} < 0 and not {satisfied}:\n    broken{k} = serial[i]")
            for j, watch in enumerate(self.watches):
                if watch.given is given:
                    lines.append(f"    asked{j} = (iterations, failures{j}, first{j})")
        return fill(text.CREATE, init="\n".join(lines))

    # ------------------------------------------------------------ sessions

    def _sessions(self, forming: bool) -> str:
        """What a session does next: a chain of branches over where it stands."""
        fused, lines = self.fused, []
        scope = self._scope(stream="draws[i]", turn="1.0")
        turn = []
        if any(isinstance(node, Draw) for node in _nodes(fused.turn)):
            turn.append('stream = Stream(seed, "workload", serial[i], 1)')
        turn += [self._plain(s, self._scope(stream="stream", turn="1.0")) for s in fused.turn]
        parts = [[fill(text.START_TURN, turn="\n".join(turn) or "pass")]]
        for step in fused.steps:
            part = parts[-1]
            match step:
                case Run() | Hold():
                    part.append(f"stage[i] = {len(parts)}")
                    part.append(self._blocking(step, scope, forming))
                    parts.append([])
                case Leave():
                    part.append(fill(text.GIVE_BACK, settle_pool=text.SETTLE_POOL))
                case _:
                    part.append(self._plain(step, scope))
        parts[-1].append(fill(text.END_SESSION, know=text.KNOW))
        for k, part in enumerate(parts):
            lines.append(f"{'elif' if k else 'if'} stage[i] == {k}:")
            lines.append(_indent("\n".join(part)))
        return "\n".join(lines)

    def _blocking(self, step: Run | Hold, scope: LoopScope, forming: bool) -> str:
        if isinstance(step, Hold):
            value = self._write(step.parts[0].units, scope)
            return fill(text.ASK, value=value, cap=scope.cap, settle_pool=text.SETTLE_POOL)
        join = fill(
            text.JOIN,
            settle=text.SETTLE,
            place=self._place(step.mode == "decode"),
            newcomer="newcomers.append(i)" if forming else "pass",
            line_up=self._line_up(step.mode == "decode", forming),
        )
        first = ""
        if step.mode == "decode":
            first = "if first_token[i] == now:\n" + _indent(text.KNOW) + "\n"
        return f"w = {self._write(step.work, scope)}\n{first}{join}"

    def _place(self, decode: bool) -> str:
        """What sets where a run stands, but for the tokens it still needs."""
        order, held = self.fused.order, self.fused.pool is not None
        names = {"decoding": "1" if decode else "0", "admission": "float(admission[i])" if held else "inf"}
        number = "admission[i] << 32 | joined" if held else "joined"
        late = [self._write(key, self._scope(names, turn="1.0")) for key in order.late]
        lines = [f"place[i] = ({', '.join(late)}, {number})" if late else f"place[i] = {number}"]
        if order.early:
            early = [self._write(key, self._scope(names, turn="1.0")) for key in order.early]
            lines.append(f"early[i] = ({', '.join(early)},)")
        # What is not a number has no place in an order.
        for part in (["place[i]"] if late else []) + (["early[i]"] if order.early else []):
            lines.append(f"for v in {part}:\n    if v != v:\n        return False")
        return "\n".join(lines)

    def _line_up(self, decode: bool, forming: bool) -> str:
        ranks, order = self.ranks, self.fused.order
        if decode:
            return fill(
                text.LINE_UP_DECODE,
                served_already="mark[g] == iteration" if forming else "False",
                # The ranks of those served in this iteration have fallen already, its own has not.
                late_comer="if decoders:\n    return False" if forming and order.remaining else "pass",
                rank_of_decode=ranks.decode,
                rank_of_j=ranks.member,
                entry=ranks.entry,
            )
        return fill(text.LINE_UP_PREFILL, want_w=self._want("w"), rank_of_prefill=ranks.prefill)

    def _want(self, amount: str) -> str:
        """What a prefill of that many tokens could take in one iteration."""
        each = self.each
        return amount if self.fused.each == inf else f"({amount} if {amount} < {each} else {each})"

    def _plain(self, s: Statement | Leave, scope: LoopScope) -> str:
        match s:
            case Set(attribute=name, value=value):
                return f"{attribute(self.fused, name)}[i] = float({self._write(value, scope)})"
            case Observe(name=name, value=value):
                series = f"observe{self.fused.program.observes.index(name)}"
                return fill(
                    text.OBSERVE,
                    value=f"float({self._write(value, scope)})",
                    name=series,
                    turn="0" if scope.turn == "0.0" else "1",
                )
            case Branch(test=test, then=then, otherwise=otherwise):
                return fill(
                    text.BRANCH,
                    value=self._write(test, scope),
                    then="\n".join(self._plain(inner, scope) for inner in then) or "pass",
                    otherwise="\n".join(self._plain(inner, scope) for inner in otherwise) or "pass",
                )
        raise InternalError(f"the loop has no {type(s).__name__}")

    # ------------------------------------------------------------ an iteration

    def _try(self) -> str:
        fused = self.fused
        schedule = fused.engine.schedule
        lets = [f"local{k} = {self._clause(let.value)}" for k, let in enumerate(schedule.lets)]
        registers = ", ".join(f"register{k}" for k in range(len(fused.engine.registers)))
        if registers:
            lets.append(f"kept = ({registers},)")
        return fill(
            text.TRY,
            budget=self._clause(fused.engine.tokens_cap),
            lets="\n".join(lets) or "pass",
            statements="\n".join(self._statement(s) for s in schedule.statements) or "pass",
            claims=self._checks(range(len(self.watches)), kept=True) or "pass",
            lasts=f"{self._clause(fused.engine.execute)}",
            uneven="if lasts % 1:\n    uneven = True" if self.cycles else "pass",
            stride=self._stride() if fused.steady else "pass",
            count_batch=self._count_batch(),
            undo=f"if not (tokens or admitted):\n    ({registers},) = kept" if registers else "pass",
        )

    def _count_batch(self) -> str:
        nodes = [n for e in _all_expressions(self.fused) for n in e]
        if not any(isinstance(n, Observable) and n.function == "busy" for n in nodes):
            return "pass"
        return "batch_runs = sum(1 if i >= 0 else dealt[~i] for i in batch)"

    def _statement(self, s: ScheduleStatement) -> str:
        match s:
            case Advance():
                return self._advance(s)
            case Admit():
                return self._admit(s)
            case ScheduleBranch(test=test, then=then, otherwise=otherwise):
                return fill(
                    text.BRANCH,
                    value=self._clause(test),
                    then="\n".join(self._statement(inner) for inner in then) or "pass",
                    otherwise="\n".join(self._statement(inner) for inner in otherwise) or "pass",
                )
            case SetRegister(register=name, value=value, index=None):
                k = [r.name for r in self.fused.engine.registers].index(name)
                written = self._clause(value)
                return f"register{k} = float({written})\nif not -inf < register{k} < inf:\n    return False"
        raise InternalError(f"the loop has no {type(s).__name__}")

    def _serve_prefill(self) -> str:
        size = self.fused.engine.granule
        granule = "pass" if size is None else fill(text.GRANULE, size=number(size))
        return fill(text.SERVE_PREFILL, each=self.each, granule=granule)

    def _serve_segment(self) -> str:
        return fill(text.SERVE_SEGMENT, lists=LISTS)

    def _advance(self, s: Advance) -> str:
        decodes = fill(text.SERVE_DECODES, serve_segment=self._serve_segment())
        prefills = fill(text.SERVE_PREFILLS, serve_prefill=self._serve_prefill())
        in_order = fill(
            text.SERVE_IN_ORDER, serve_segment=self._serve_segment(), serve_prefill=self._serve_prefill(),
            lists=LISTS, rank_of_j=self.ranks.member, cut=self.ranks.cut,
        )  # fmt: skip
        lines = []
        if s.only is not None:
            lines.append(f"serve_decodes = {self._clause(s.only, '1', truth=True)}")
            lines.append(f"serve_prefills = {self._clause(s.only, '0', truth=True)}")
            decodes = f"if serve_decodes:\n{_indent(decodes)}"
            prefills = f"if serve_prefills:\n{_indent(prefills)}"
        if s.order == "decode first":
            return "\n".join([*lines, decodes, prefills])
        both = "serve_decodes and serve_prefills" if s.only is not None else "True"
        if s.order == "admission" or not s.keys or self.fused.order != Order():
            if s.only is None:
                return in_order
            otherwise = f"else:\n{_indent(decodes)}\n{_indent(prefills)}"
            return "\n".join([*lines, f"if {both}:\n{_indent(in_order)}", otherwise])
        first = ", ".join(self._clause(k, "1") for k in s.keys)
        second = ", ".join(self._clause(k, "0") for k in s.keys)
        lines.append(f"decode_keys, prefill_keys = ({first},), ({second},)")
        lines.append(f"if {both} and decode_keys == prefill_keys:\n{_indent(in_order)}")
        lines.append(f"elif decode_keys <= prefill_keys:\n{_indent(decodes)}\n{_indent(prefills)}")
        lines.append(f"else:\n{_indent(prefills)}\n{_indent(decodes)}")
        return "\n".join(lines)

    def _admit(self, s: Admit) -> str:
        condition = "pass"
        if s.condition is not None:
            condition = fill(text.CONDITION, value=self._clause(s.condition))
        if self.fused.pool is None:
            return f"while left > 0 and not refused:\n{_indent(condition)}\n    break"

        def allowed(decoding: str) -> str:
            return "True" if s.only is None else self._clause(s.only, decoding, truth=True)

        serve = fill(
            text.SERVE_NEWCOMER,
            prefill_allowed=allowed("0"),
            decode_allowed=allowed("1"),
            serve_prefill=self._serve_prefill(),
            serve_segment=self._serve_segment(),
        )
        return fill(
            text.ADMIT,
            condition=condition,
            cap=number(self.fused.pool.cap),
            settle_pool=text.SETTLE_POOL,
            sessions=self._sessions(forming=True),
            serve_newcomer=serve,
        )

    def _finish(self) -> str:
        ranks, order = self.ranks, self.fused.order
        place = "bisect(pre_rank, place[i]) - 1"
        again = (
            f"del pre[k], pre_rank[k]\np = {ranks.prefill}\nk = bisect(pre_rank, p)\n"
            "pre.insert(k, i)\npre_rank.insert(k, p)"
        )
        return fill(
            text.FINISH,
            find_prefill=f"k = bisect(pre_rank, {ranks.prefill}) - 1" if order.remaining else "pass",
            rank_prefill=again if order.remaining else "pass",
            find_done="pass" if order.remaining else f"k = 0 if pre[0] == i else {place}",
            ripe_order="ripe.sort(key=early.__getitem__)" if order.early else "pass",
            entry=ranks.entry,
            want_r=self._want("r"),
            gap_of_i=text.GAP,
            count_tokens=self._count_tokens(),
            tidy=fill(text.TIDY, rank_of_j=ranks.member, line_of_small=ranks.retick),
            settle=text.SETTLE,
        )

    def _count_tokens(self) -> str:
        order, lines = self.fused.order, []
        if order.remaining:
            lines.append("j.sort(key=due.__getitem__)")
        if order.early:
            lines.append("j.sort(key=early.__getitem__)")
        return fill(
            text.COUNT_TOKENS, gap_of_i=text.GAP, know=text.KNOW, ripening_order="\n".join(lines) or "pass"
        )

    # ------------------------------------------------------------ claims and strides

    def _checks(self, which: range | list[int], kept: bool = False) -> str:
        """Asks questions about the state as it is; kept: their answers are kept for a stride."""
        lines = []
        for k in which:
            watch, truth = self.watches[k], self._asked(self.watches[k].value)
            if kept or watch.some:
                lines.append(f"true{k} = {truth}")
                truth = f"true{k}"
            if watch.some:
                lines.append(f"if not true{k}:\n    failures{k} += 1")
                lines.append(f"elif first{k} < 0:\n    first{k} = now")
            else:
                lines.append(f"if not {truth}:\n    failures{k} += 1")
                lines.append(f"    if first{k} < 0:\n        first{k} = now")
        return "\n".join(lines)

    def _stride(self) -> str:
        moving = [k for k, w in enumerate(self.watches) if varies(w.value)]
        still = [k for k in range(len(self.watches)) if k not in moving]
        # A capped prefill's demand does not fall by what it is given; and ranks of prefills may fall.
        uneven = (self.reads_demand and self.fused.each < inf) or self.fused.order.remaining
        linear = "most = 1" if uneven else "pass"
        step = whole = "pass"
        if moving:
            step = fill(text.STEP_CLAIMS, checks=self._checks(moving))
            whole = self._whole_claims(moving)
        return fill(
            text.STRIDE,
            linear_demand=linear,
            first_tokens=fill(text.FIRST_TOKENS, count_tokens=self._count_tokens()),
            claims_of_whole_strides=whole,
            claims_of_a_step=step,
            want_of_i=self._want("remaining[i]"),
            claims_that_stand="\n".join(f"if not true{k}:\n    failures{k} += k" for k in still) or "pass",
        )

    def _whole_claims(self, moving: list[int]) -> str:
        """A question with one answer at both ends of a stride, if it has that between them too."""
        ends, uneven, same = [], [], []
        for k in moving:
            spans: Spans = between(self.watches[k].value)
            sure = []
            if spans.true:
                sure.append(f"(true{k} and end{k})")
            if spans.false:
                sure.append(f"not (true{k} or end{k})")
            ends.append(f"end{k} = {self._asked(self.watches[k].value)}")
            if not sure:
                uneven.append("True")
                continue
            uneven.append(f"not ({' or '.join(sure)})")
            for e in spans.exact:
                uneven.append(f"not {self._write(e, self._scope(CLAIM))} < WHOLE")
            if spans.false:
                same.append(f"if not true{k}:\n    failures{k} += k")
        return fill(
            text.WHOLE_CLAIMS,
            ends="\n".join(ends),
            uneven=" or ".join(uneven),
            checks=self._checks(moving),
            same="\n".join(same) or "pass",
        )

    def _claims_end(self) -> str:
        lines = []
        for k, watch in enumerate(self.watches):
            asked = f"(iterations, failures{k}, first{k})"
            if watch.given is not None:
                j = self.givens.index(watch.given)
                asked = f"asked{k} if broken{j} >= 0 else {asked}"
            lines.append(f"m.answer({k}, {asked})")
        lines += [f"m.broken({k}, broken{k})" for k in range(len(self.givens))]
        return "\n".join(lines) or "pass"


def reads(e: Expr, name: str) -> bool:
    """Whether an expression reads a variable."""
    from serq.ir.expr import Var, walk

    return any(isinstance(node, Var) and node.name == name for node in walk(e))


def _nodes(block: Block | tuple[Statement | Leave, ...]) -> list[Expr]:
    from serq.ir.expr import walk
    from serq.machine.fused.fragment import of_block

    return [node for e in of_block(block) for node in walk(e)]


def _all_expressions(fused: Fused) -> list[list[Expr]]:
    from serq.ir.expr import walk
    from serq.machine.fused.fragment import expressions

    return [list(walk(e)) for e in expressions(fused.program, fused.engine, fused.steps)]


def _indent(piece: str) -> str:
    return "\n".join(f"    {line}" for line in piece.strip("\n").split("\n"))
