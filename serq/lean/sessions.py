"""What a session runs, when that is the same for every session: runs of constant length in a row."""

from __future__ import annotations

from attrs import define, field

from serq.diagnostics import Note, Sink
from serq.ir.expr import Attr, Expr, walk
from serq.ir.moments import BUILT_IN_SIZES, BUILT_IN_VALUES
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
from serq.lean.terms import ZERO, Constant, Reader, whole
from serq.source import Span

REFUSED: dict[type[Statement], str] = {
    Hold: "hold", Grow: "grow", Load: "load", Drop: "drop", Release: "release",
    Branch: "branch", While: "while", Loop: "loop", Choose: "choose", Fork: "fork", Join: "join",
}  # fmt: skip
"""Statements without a meaning in `model.lean`, with the words that open them."""

_CURE = "what can be stated is `run`, `set` and `observe` in a row, without holds"


def session_runs(program: Program, engine: str, complaints: Sink) -> tuple[tuple[str, int], ...]:
    """The runs of every session, in order: mode ("prefill" or "decode") and tokens, above 0.

    engine: the only stage a run may be at. Reasons against go to `complaints` (SQ0801, SQ0803).
    """
    workload = program.workload or Workload(NoArrivals())
    names = (*BUILT_IN_SIZES, *BUILT_IN_VALUES, *(a.name for a in program.attributes))
    values = {name: ZERO for name in names if name != "serial"}
    path = _Path(workload, program.server, engine, complaints, values)
    path.follow(workload.init)
    path.follow(workload.session or (Turn(),))
    return tuple(path.runs)


@define
class _Path:
    """A session on its way through its statements.

    values: attributes that are known. unknown: where the others were set. lost: after a statement
    that may go several ways; nothing is said about values from there on.
    """

    workload: Workload
    server: Block
    engine: str
    complaints: Sink
    values: dict[str, Constant]
    runs: list[tuple[str, int]] = field(factory=list)
    unknown: dict[str, Span | None] = field(factory=dict)
    lost: bool = False
    ended: bool = False

    def follow(self, block: Block) -> None:
        for s in block:
            if self.ended:
                return
            match s:
                case Set(attribute=attribute, value=value):
                    self._set(attribute, value, s.at)
                case Observe():
                    pass
                case Run():
                    self._run(s)
                case Turn():
                    self.values["turn_no"] = Constant(self.values["turn_no"].value + 1)
                    self.follow(self.workload.turn)
                    self.follow(self.server)
                case End():
                    self.ended = True
                case _:
                    self._refuse(s)

    def _set(self, attribute: str, value: Expr, at: Span | None) -> None:
        known, _ = self._value(value)
        self.values.pop(attribute, None)
        self.unknown.pop(attribute, None)
        if known is None:
            self.unknown[attribute] = at
        else:
            self.values[attribute] = known

    def _value(self, e: Expr) -> tuple[Constant | None, tuple[Note, ...]]:
        """The value of `e` if it is the same for every session, and otherwise what makes it differ."""
        term = Reader("a length", self.values, Sink()).term(e)
        if isinstance(term, Constant):
            return term, ()
        read = {x.name for x in walk(e) if isinstance(x, Attr)}
        notes = [Note(f"`{name}` is set here", at) for name, at in self.unknown.items() if name in read]
        if "serial" in read:
            notes.append(Note("`serial` is another number for every session"))
        return None, tuple(notes)

    def _run(self, s: Run) -> None:
        if not self._stands_at_the_engine(s) or self.lost:
            return
        length, notes = self._value(s.work)
        tokens = whole(length)
        if tokens is None or tokens < 0:
            self.complaints.say(
                "SQ0803", s.work.at or s.at, notes=notes, what="the length of this run",
                wanted="a number of tokens that is the same for every session",
            )  # fmt: skip
        elif tokens == 0:
            # It takes no time, but it may change who joins first of those that go on at one instant.
            self.complaints.say("SQ0801", s.at, what="a run of 0 tokens", cure="leave the run out")
        elif s.mode is not None:
            self.runs.append((s.mode, tokens))

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

    def _refuse(self, refused: Statement) -> None:
        """Say that `refused` has no meaning, and what else has none among the statements inside it."""
        self.lost = True
        stack = [refused]
        while stack:
            s = stack.pop()
            match s:
                case Set() | Observe() | Turn() | End():
                    pass
                case Run():
                    self._stands_at_the_engine(s)
                case _:
                    self.complaints.say("SQ0801", s.at, what=f"`{REFUSED[type(s)]}`", cure=_CURE)
                    stack.extend(inner for block in blocks_of(s) for inner in block)
