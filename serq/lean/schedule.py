"""A schedule as a tree: what follows a `branch` stands in both of its ways, as in `Model.lean`."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import TypeAlias, Union, assert_never

from attrs import frozen

from serq.diagnostics import Sink
from serq.ir import schedule as ir
from serq.ir.expr import Binary, Expr, Num, RegisterRead, Var
from serq.ir.stage import Engine
from serq.lean.terms import (
    ZERO,
    Constant,
    Number,
    Proposition,
    Reader,
    Term,
    as_number,
    as_proposition,
    denominator,
    scaled,
    spelling,
)
from serq.source import Span

MOST_STEPS = 60
"""Steps of a tree; every `branch` doubles what follows it."""


@frozen
class Clause:
    """An expression of the program and its Lean text."""

    expr: Expr
    text: str


@frozen
class Done:
    """The end of the iteration's statements."""


@frozen
class Advance:
    """only: None for everybody. keys: None for `decode first`, () for standing order."""

    only: Clause | None
    keys: tuple[Clause, ...] | None
    after: Steps


@frozen
class Alone:
    """The first prefill, and nobody else."""

    after: Steps


@frozen
class Admit:
    """only, condition: None where there is none."""

    only: Clause | None
    condition: Clause | None
    after: Steps


@frozen
class Assign:
    """`set`, of a register by its number."""

    register: int
    value: Clause
    after: Steps


@frozen
class Branch:
    """`branch`."""

    test: Clause
    yes: Steps
    no: Steps


Steps: TypeAlias = Union[Done, Advance, Alone, Admit, Assign, Branch]

DECODES = Proposition("r.decoding = true", opposite="r.decoding = false")

RUNNING: Mapping[str, Term] = {
    "running.count": Number("v.count"),
    "running.decoding": Number("v.decoding"),
    "waiting.count": Number("v.waiting"),
}
"""What everything in a schedule reads of an engine `v`."""

ONLY: Mapping[str, Term] = {
    "decoding": DECODES,
    "remaining": Number("(r.remaining : Int)"),
    **RUNNING,
}
"""What `only` and keys read, of a run `r` as well."""

PLAN: Mapping[str, Term] = {
    **RUNNING,
    "running.preempted": ZERO,
    "waiting.admitted": Number("v.admitted"),
    "batch.tokens": Number("v.tokens"),
    "batch.prefilled": Number("v.prefilled"),
}
"""What `branch`, `while` and `set` read."""


def register_names(engine: Engine) -> list[str]:
    """The registers by their number in the model; each of an array is one of its own."""
    names = []
    for r in engine.registers:
        names += [r.name] if r.size is None else [f"{r.name}[{k}]" for k in range(r.size)]
    return names


def registers_of(engine: Engine, variable: str) -> dict[str, Term]:
    """The registers as a schedule, `execute` or a claim reads them, of `variable`."""
    return {name: Number(f"{variable}.register {k}", 90) for k, name in enumerate(register_names(engine))}


@frozen
class ScheduleReader:
    """Reads the statements of `engine`'s schedule; reasons against go to `complaints`.

    slots: whether the engine admits sessions. Otherwise nobody waits, and `admit waiting` does nothing.
    """

    engine: Engine
    slots: bool
    complaints: Sink

    def read(self) -> Steps:
        """The whole schedule."""
        steps = self._steps(self.engine.schedule.statements, Done())
        if _size(steps) > MOST_STEPS:
            self._refuse(
                f"a schedule of more than {MOST_STEPS} steps", self.engine.schedule.at,
                "put fewer statements after a `branch`",
            )  # fmt: skip
        return steps

    def _steps(self, statements: tuple[ir.ScheduleStatement, ...], after: Steps) -> Steps:
        for position in reversed(range(len(statements))):
            after = self._step(statements[position], after)
            if _size(after) > MOST_STEPS:
                break
        return after

    def _step(self, s: ir.ScheduleStatement, after: Steps) -> Steps:
        match s:
            case ir.Advance():
                return Advance(self._only(s.only, s.at), self._keys(s), after)
            case ir.Admit():
                if not self.slots:
                    return after
                return Admit(self._only(s.only, s.at), self._test("`while`", s.condition, s.at), after)
            case ir.ScheduleBranch(test=test, then=then, otherwise=otherwise):
                condition = self._test("`branch`", test, s.at)
                yes, no = self._steps(then, after), self._steps(otherwise, after)
                return yes if condition is None else Branch(condition, yes, no)
            case ir.SetRegister():
                return self._assign(s, after)
            case ir.ExclusivePrefill():
                return self._exclusive(s, after)
            case (
                ir.ForRequests() | ir.ForIndex() | ir.SetTag() | ir.Break() | ir.SetName() | ir.AdmitOne()
                | ir.AdvanceOne()
            ):  # fmt: skip
                self._refuse("a scheduling program", s.at, "state a schedule of `advance running`")
                return after
            case _:
                assert_never(s)

    def _only(self, e: Expr | None, at: Span | None) -> Clause | None:
        if e is None:
            return None
        return self._clause("`only`", {**ONLY, **registers_of(self.engine, "v")}, e, at)

    def _test(self, where: str, e: Expr | None, at: Span | None) -> Clause | None:
        """A test that has to be 0 or 1; None for one that is always 1."""
        if e is None:
            return None
        term = self._plan(where, e, at)
        if isinstance(term, Constant) and term.value == 1:
            return None
        if isinstance(term, Number) or (isinstance(term, Constant) and term.value):
            wanted = "a comparison, which is 0 or 1"
            self.complaints.say("SQ0803", e.at or at, what=f"the test of this {where}", wanted=wanted)
        if term is None:
            return None
        return None if as_proposition(term).text == "True" else Clause(e, as_proposition(term).text)

    def _keys(self, s: ir.Advance) -> tuple[Clause, ...] | None:
        if s.order == "decode first":
            return None
        readings = {**ONLY, **registers_of(self.engine, "v")}
        keys = []
        for key in s.keys if s.order == "by" else ():
            term = Reader("a key of `by`", readings, self.complaints).term(key, s.at)
            if term is not None:
                value = as_number(term)
                keys.append(Clause(key, scaled(value, denominator(value))[0]))
        return tuple(keys)

    def _assign(self, s: ir.SetRegister, after: Steps) -> Steps:
        target = spelling(RegisterRead(self.engine.name, s.register, s.index))
        names = register_names(self.engine)
        if target not in names:
            cure = "set each by its number, in a `branch`"
            self._refuse(f"`set {s.register}[…]` with an index that varies", s.at, cure)
            return after
        term = self._plan("`set`", s.value, s.at)
        value = ZERO if term is None else as_number(term)
        if denominator(value) != 1:
            self.complaints.say(
                "SQ0803", s.value.at or s.at, what=f"the register `{s.register}`",
                wanted="a whole number, with floor or ceil",
            )  # fmt: skip
        return Assign(names.index(target), Clause(s.value, scaled(value, denominator(value))[0]), after)

    def _exclusive(self, s: ir.ExclusivePrefill, after: Steps) -> Steps:
        if self.slots:
            cure = "state an engine whose sessions need no slot, or a schedule of `advance running`"
            self._refuse("`exclusive prefill` with a slot to be admitted to", s.at, cure)
        prefills = Binary(">", Var("running.count"), Var("running.decoding"))
        return Branch(Clause(prefills, "v.count > v.decoding"), Alone(Done()), Advance(None, (), Done()))

    def _plan(self, where: str, e: Expr, at: Span | None) -> Term | None:
        readings = {**PLAN, **registers_of(self.engine, "v")}
        return Reader(where, readings, self.complaints).term(e, at)

    def _clause(self, where: str, readings: Mapping[str, Term], e: Expr, at: Span | None) -> Clause | None:
        term = Reader(where, readings, self.complaints).term(e, at)
        text = as_proposition(term or ZERO).text
        return None if text == "True" else Clause(Num(0) if text == "False" else e, text)

    def _refuse(self, what: str, at: Span | None, cure: str) -> None:
        self.complaints.say("SQ0801", at or self.engine.at, what=what, cure=cure)


def _size(steps: Steps) -> int:
    match steps:
        case Done():
            return 1
        case Branch(yes=yes, no=no):
            return 1 + _size(yes) + _size(no)
        case _:
            return 1 + _size(steps.after)


# ------------------------------------------------------------------------- text


def schedule_text(steps: Steps) -> str:
    """The tree as a Lean term."""
    match steps:
        case Done():
            return ".done"
        case Advance(only=only, keys=keys, after=after):
            return f".advance {_only(only)} {_keys(keys)} {_inner(after)}"
        case Alone(after=after):
            return f".alone {_inner(after)}"
        case Admit(only=only, condition=condition, after=after):
            return f".admit {_only(only)} {_test(condition)} {_inner(after)}"
        case Assign(register=register, value=value, after=after):
            return f".assign {register} (fun {_used('v', value.text)} => {value.text}) {_inner(after)}"
        case Branch(test=test, yes=yes, no=no):
            return f".branch {_test(test)} {_inner(yes)} {_inner(no)}"


def _inner(steps: Steps) -> str:
    return ".done" if isinstance(steps, Done) else f"({schedule_text(steps)})"


def _only(only: Clause | None) -> str:
    if only is None:
        return "everyone"
    return f"(fun {_used('v', only.text)} {_used('r', only.text)} => {_decided(only.text)})"


def _keys(keys: tuple[Clause, ...] | None) -> str:
    if keys is None:
        return "decodeFirst"
    if not keys:
        return "standing"
    text = ", ".join(key.text for key in keys)
    return f"(fun {_used('v', text)} {_used('r', text)} => [{text}])"


def _test(test: Clause | None) -> str:
    if test is None:
        return "always"
    return f"(fun {_used('v', test.text)} => {_decided(test.text)})"


def _decided(text: str) -> str:
    return "false" if text == "False" else f"decide ({text})"


def _used(variable: str, text: str) -> str:
    """A variable to bind, or `_` where it is not read."""
    return variable if re.search(rf"\b{variable}\.", text) else "_"
