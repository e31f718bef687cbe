"""What a session runs: runs in a row, of lengths that are known or drawn, under one slot or none.

A length is an expression over `serial` and over *draws*, variables that stand for any whole number in
the range of their law. A claim's `given` says which of them count.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from contextlib import suppress

from attrs import define, evolve, field, frozen

from serq.diagnostics import Note, Sink
from serq.ir.expr import (
    Attr,
    Binary,
    Conditional,
    Draw,
    Expr,
    Fold,
    Func,
    Local,
    Num,
    Unary,
    walk,
)
from serq.ir.moments import BUILT_IN_SIZES, BUILT_IN_VALUES
from serq.ir.pool import Pool
from serq.ir.program import Program
from serq.ir.server import (
    Block,
    Branch,
    Choose,
    Drop,
    End,
    Fork,
    Grow,
    Hold,
    Join,
    Load,
    Loop,
    Observe,
    Release,
    Run,
    Set,
    Statement,
    Turn,
    While,
    blocks_of,
)
from serq.ir.workload import NoArrivals, Workload
from serq.lean.draws import Support, Variable, Whole, lengths_of, rounded_values, support, whole_values
from serq.lean.linear import Formula, Linear, at_most, follows, number
from serq.lean.terms import LARGEST, Constant, Number, Reader, Term, as_number, denominator, whole
from serq.source import Span

REFUSED: dict[type[Statement], str] = {
    Grow: "grow", Load: "load", Drop: "drop", Release: "release",
    Branch: "branch", While: "while", Loop: "loop", Choose: "choose", Fork: "fork", Join: "join",
}  # fmt: skip
"""Statements without a meaning in `Model.lean`, with the words that open them."""

_CURE = "what can be stated is `run`, `set` and `observe` in a row, all runs under one slot or none"


@frozen
class Slot:
    """The pool whose slots sessions hold: `units` of `cap` each."""

    pool: str
    units: int
    cap: int

    @property
    def count(self) -> int:
        """How many sessions may hold one at once."""
        return self.cap // self.units


@frozen
class Path:
    """What every session does.

    phases: mode ("prefill" or "decode") and length of its runs, in order. variables: the draws in
    them. slot: what it holds meanwhile. at_init: its attributes after `init`, as far as known.
    observed: what it records under each name, once each; None for what is not known.
    """

    phases: tuple[tuple[str, Expr], ...]
    variables: tuple[Variable, ...]
    slot: Slot | None
    at_init: Mapping[str, Expr]
    observed: Mapping[str, tuple[Expr | None, ...]]

    @property
    def constant(self) -> tuple[tuple[str, int], ...] | None:
        """Mode and tokens of the runs, when they are the same for every session."""
        if not all(isinstance(e, Num) for _, e in self.phases):
            return None
        return tuple((mode, int(e.value)) for mode, e in self.phases if isinstance(e, Num))

    def readings(self) -> dict[str, Term]:
        """What a length reads, as Lean terms: session number `k` and its draws."""
        names = {v.name: Number(f"({v.name} : Int)") for v in self.variables}
        return {"serial": Number("(k : Int)"), **names}

    def total(self) -> tuple[Linear, list[Formula]] | None:
        """The tokens of all runs, and what is true of them; None if that is not linear."""
        lengths = lengths_of([e for _, e in self.phases], self.variables)
        if lengths is None:
            return None
        total = number(0)
        for length in lengths[0]:
            total = total + length
        return total, lengths[1]


def session_path(program: Program, engine: str, complaints: Sink) -> Path:
    """What every session runs at `engine`. Reasons against go to `complaints` (SQ0801, SQ0803)."""
    workload = program.workload or Workload(NoArrivals())
    names = (*BUILT_IN_SIZES, *BUILT_IN_VALUES, *(a.name for a in program.attributes))
    values: dict[str, Expr] = {name: Num(0) for name in names if name != "serial"}
    values["serial"] = Attr("serial")
    pools = {p.name: p for p in program.pools}
    walker = _Walker(workload, program.server, engine, pools, complaints, values)
    walker.follow(workload.init)
    at_init = dict(walker.values)
    walker.follow(workload.session or (Turn(),))
    if walker.slot is not None:
        for at in walker.outside:
            cure = "put all runs of a session under the slot, in one `hold`"
            complaints.say("SQ0801", at, what="a run outside the `hold`", cure=cure)
    observed = {name: tuple(walker.observed.get(name, ())) for name in program.observes}
    return Path(tuple(walker.phases), tuple(walker.variables), walker.slot, at_init, observed)


class _Unknown(Exception):
    """An expression reads something that a statement cannot speak of."""


@define
class _Walker:
    """A session on its way through its statements.

    values: attributes that are known, over `serial` and draws. unknown: where the others were set.
    lost: after a statement that may go several ways; nothing is said about values from there on.
    """

    workload: Workload
    server: Block
    engine: str
    pools: Mapping[str, Pool]
    complaints: Sink
    values: dict[str, Expr]
    phases: list[tuple[str, Expr]] = field(factory=list)
    variables: list[Variable] = field(factory=list)
    unknown: dict[str, Span | None] = field(factory=dict)
    outside: list[Span | None] = field(factory=list)
    observed: dict[str, list[Expr | None]] = field(factory=dict)
    slot: Slot | None = None
    holding: bool = False
    lost: bool = False
    ended: bool = False

    def follow(self, block: Block) -> None:
        for s in block:
            if self.ended:
                return
            match s:
                case Set(attribute=attribute, value=value):
                    self._set(attribute, value, s.at)
                case Observe(name=name, value=value):
                    self.observed.setdefault(name, []).append(self._value(value)[0])
                case Run():
                    self._run(s)
                case Hold():
                    self._hold(s)
                case Turn():
                    turn = self.values["turn_no"]
                    assert isinstance(turn, Num)
                    self.values["turn_no"] = Num(turn.value + 1)
                    self.follow(self.workload.turn)
                    self.follow(self.server)
                case End():
                    self.ended = True
                case _:
                    self._refuse(s)

    # ------------------------------------------------------------ values

    def _set(self, attribute: str, value: Expr, at: Span | None) -> None:
        known, _ = self._value(value)
        self.values.pop(attribute, None)
        self.unknown.pop(attribute, None)
        if known is None:
            self.unknown[attribute] = at
        else:
            self.values[attribute] = known

    def _value(self, e: Expr) -> tuple[Expr | None, tuple[Note, ...]]:
        """The value of `e` over `serial` and draws, or otherwise what keeps it from being known."""
        drawn = len(self.variables)
        with suppress(_Unknown):
            known = self._known(e)
            term = Reader("a length", self._readings(), Sink()).term(known)
            if isinstance(term, Constant):
                return Num(float(term.value)), ()
            if term is not None:
                return known, ()
        del self.variables[drawn:]
        read = {x.name for x in walk(e) if isinstance(x, Attr)}
        notes = [Note(f"`{name}` is set here", at) for name, at in self.unknown.items() if name in read]
        if any(isinstance(x, Draw) for x in walk(e)):
            notes.append(Note("a draw of this law is a whole number only inside `floor` or `ceil`"))
        return None, tuple(notes)

    def _readings(self) -> dict[str, Term]:
        return Path((), tuple(self.variables), None, {}, {}).readings()

    def _known(self, e: Expr) -> Expr:
        match e:
            case Num():
                return e
            case Attr(name=name) if name in self.values:
                return self.values[name]
            case Draw(law="det", arguments=(x,)):
                return self._known(x)
            case Func(function="floor" | "ceil" as function, arguments=(Draw(law=law) as drawn,)) if (
                law != "det"
            ):
                values = rounded_values(function, law, self._support(drawn))
                return self._drawn(f"{function}(~{law})", values)
            case Draw(law=law) if (whole := whole_values(law, self._support(e))) is not None:
                return self._drawn(f"~{law}", whole)
            case Func(arguments=arguments):
                return evolve(e, arguments=tuple(self._known(x) for x in arguments))
            case Fold(terms=terms):
                return evolve(e, terms=tuple(self._known(x) for x in terms))
            case Unary(operand=operand):
                return evolve(e, operand=self._known(operand))
            case Binary(left=left, right=right):
                return evolve(e, left=self._known(left), right=self._known(right))
            case Conditional(test=test, then=then, otherwise=otherwise):
                return evolve(
                    e, test=self._known(test), then=self._known(then), otherwise=self._known(otherwise)
                )
        raise _Unknown

    def _drawn(self, law: str, values: Whole) -> Expr:
        v = Variable(f"x{len(self.variables)}", law, values)
        self.variables.append(v)
        return Local(v.name)

    def _support(self, e: Draw) -> Support:
        parameters: list[float | None] = []
        for x in e.arguments:
            known = self.values.get(x.name) if isinstance(x, Attr) else x
            parameters.append(known.value if isinstance(known, Num) else None)
        return support(e.law, parameters)

    # ------------------------------------------------------------ runs

    def _run(self, s: Run) -> None:
        if not self._stands_at_the_engine(s) or self.lost:
            return
        if not self.holding:
            self.outside.append(s.at)
        length, notes = self._value(s.work)
        at = s.work.at or s.at
        if length is None or not self._is_whole(length):
            self.complaints.say(
                "SQ0803", at, notes=notes, what="the length of this run",
                wanted="a whole number of tokens, the same for every session or rounded draws",
            )  # fmt: skip
        elif isinstance(length, Num) and length.value == 0:
            # It takes no time, but it may change who joins first of those that go on at one instant.
            self.complaints.say("SQ0801", s.at, what="a run of 0 tokens", cure="leave the run out")
        elif not self._is_positive(length):
            self.complaints.say(
                "SQ0803", at, notes=notes, what="the length of this run",
                wanted="one that is above 0 for every session, such as max(1, …)",
            )  # fmt: skip
        elif s.mode is not None:
            self.phases.append((s.mode, length))

    def _is_whole(self, length: Expr) -> bool:
        if isinstance(length, Num):
            return length.value == math.floor(length.value) and 0 <= length.value <= LARGEST
        term = Reader("a length", self._readings(), Sink()).term(length)
        return term is not None and denominator(as_number(term)) == 1

    def _is_positive(self, length: Expr) -> bool:
        found = lengths_of([length], tuple(self.variables))
        return bool(found and follows(at_most(number(1), found[0][0]), found[1]))

    def _stands_at_the_engine(self, s: Run) -> bool:
        """Whether `s` is a plain run at the engine; says so if not."""
        if len(s.places) > 1:
            self.complaints.say("SQ0801", s.at, what="a run over several stages", cure=_CURE)
            return False
        place = s.places[0]
        if place.name != self.engine:
            self.complaints.say(
                "SQ0801", place.at or s.at, what=f"a run at `{place.name}`",
                cure="state a program whose sessions run on its engine only",
            )  # fmt: skip
            return False
        if s.growing is not None:
            self.complaints.say("SQ0801", s.growing.at or s.at, what="`growing`", cure=_CURE)
        return s.growing is None

    # ------------------------------------------------------------ slots

    def _hold(self, s: Hold) -> None:
        if (fault := self._hold_fault(s)) is not None:
            at, what = fault
            self.complaints.say("SQ0801", at or s.at, what=what, cure=_CURE)
            self.lost = True
            self._name_refused(list(s.body))
            return
        self.slot = self._slot_of(s)
        self.holding = True
        self.follow(s.body)
        self.holding = False

    def _hold_fault(self, s: Hold) -> tuple[Span | None, str] | None:
        """The place and the name of what makes `s` more than one slot of the engine, if anything does."""
        if len(s.parts) > 1:
            return s.at, "a `hold` of several pools"
        if self.slot is not None:
            return s.at, "a second `hold`"
        part = s.parts[0]
        pool = self.pools[part.place.name]
        if pool.engine != self.engine:
            return s.at, f"a `hold` of `{pool.name}`, which the engine does not admit,"
        extras = {
            "`reserve`": part.reserve, "`reuse`": s.reuse, "`at admission`": s.bindings or None,
            "`cache`": s.cache, "`lease`": s.lease,
        }  # fmt: skip
        for word, extra in extras.items():
            if extra is not None:
                return s.at, word
        options = {
            "a family of slots": pool.size, "`block`": pool.block, "`queue by`": pool.queue_keys,
            "`reserve held`": pool.reserve_held or None, "`spill`": pool.spill,
        }  # fmt: skip
        for what, option in options.items():
            if option is not None:
                return pool.at, what
        if self._slot_of(s) is None:
            return part.units.at or s.at, "a `hold` of units that are not whole and known, or never fit,"
        return None

    def _slot_of(self, s: Hold) -> Slot | None:
        part = s.parts[0]
        cap = self.pools[part.place.name].cap
        known, _ = self._value(part.units)
        units = None if known is None else whole(Reader("units", {}, Sink()).term(known))
        if units is None or not 1 <= units <= cap <= LARGEST or cap != math.floor(cap):
            return None
        return Slot(part.place.name, units, int(cap))

    # ------------------------------------------------------------ what is refused

    def _refuse(self, refused: Statement) -> None:
        """Say that `refused` has no meaning, and what else has none among the statements inside it."""
        self.lost = True
        self._name_refused([refused])

    def _name_refused(self, stack: list[Statement]) -> None:
        while stack:
            s = stack.pop()
            match s:
                case Set() | Observe() | Turn() | End():
                    pass
                case Run():
                    self._stands_at_the_engine(s)
                case Hold():
                    self.complaints.say("SQ0801", s.at, what="`hold` at this place", cure=_CURE)
                    stack.extend(s.body)
                case _:
                    self.complaints.say("SQ0801", s.at, what=f"`{REFUSED[type(s)]}`", cure=_CURE)
                    stack.extend(inner for block in blocks_of(s) for inner in block)
