"""Everything is read at a moment when it exists."""

from __future__ import annotations

from serq.check.complaints import Complaints
from serq.check.readings import Reading, readings
from serq.ir.expr import (
    Attr,
    Draw,
    Expr,
    Local,
    Num,
    Observable,
    RegisterRead,
    RequestField,
    Summary,
    Survey,
    Var,
    walk,
)
from serq.ir.moments import READS, SURVEYED, VARIABLES, Moment
from serq.ir.program import Program

ENGINE = frozenset({Moment.CAP, Moment.KEY, Moment.ONLY, Moment.PLAN, Moment.EXECUTE})
"""The moments inside an engine, where the list names are used."""

REGISTERS = ENGINE | {Moment.ADMIT, Moment.SELECT, Moment.ITERATION}
"""Moments at which the registers of one engine are read; gauges and end claims read all."""

# One value, one name: the bare names belong to claims over iterations, the lists to engines.
BARE = {
    "residents": ("running.count",),
    "tokens": ("batch.tokens",),
    "prefilled": ("batch.prefilled",),
    "decoders": ("batch.decoding", "running.decoding"),
    "kv_decode": ("batch.kv_decode", "running.kv_decode"),
    "kv_prefill": ("batch.kv_prefill", "running.kv_prefill"),
    "attention": ("batch.attention",),
}
SAME = {name: (bare, *others) for bare, others in BARE.items() for name in others}


def check_moments(program: Program, complaints: Complaints) -> None:
    """Complain about every part of an expression that does not exist when it is read."""
    hidden = frozenset(a.name for a in program.attributes if a.hidden)
    headers: set[int] = set()
    for reading in readings(program):
        for node in walk(reading.expr):
            # a name of `at admission` is written out in the header: what is wrong in it is said once
            if reading.moment is Moment.ADMIT and id(node) in headers:
                continue
            headers.add(id(node))
            check_node(node, reading, hidden, complaints)


def check_node(node: Expr, reading: Reading, hidden: frozenset[str], complaints: Complaints) -> None:
    """One part of an expression against the row of its moment."""
    moment, at = reading.moment, node.at
    reads = READS[moment]
    match node:
        case Attr(name=name):
            if moment is Moment.GAP:
                complaints.say("SQ0410", reading.blame, reads=f"`{name}`")
            elif not reads.attributes:
                complaints.say("SQ0401", at, name=name, moment=moment.value)
            elif name in hidden and not reads.hidden:
                complaints.say("SQ0440", reading.blame or at, name=name, moment=moment.value)
            elif name == "computed" and moment is Moment.VICTIM:
                complaints.say("SQ0411", at)
        case Var(name=name):
            check_variable(node, name, reading, complaints)
        case Draw(law=law):
            if not reads.draws:
                complaints.say("SQ0405", reading.blame or at, law=law, moment=moment.value)
        case Observable(function=function):
            check_observable(node, function, reading, complaints)
        case Summary(function=function):
            if moment is not Moment.END:
                complaints.say("SQ0409", at, function=function, moment=moment.value)
        case RegisterRead(engine=engine, name=name):
            if moment in (Moment.GAUGE, Moment.END):
                pass
            elif moment not in REGISTERS or reading.engine != engine:
                complaints.say("SQ0408", at, name=name, engine=engine)
        case Survey(among=among):
            if among not in SURVEYED.get(moment, ()):
                complaints.say("SQ0460", at, among=among, moment=moment.value)
        case RequestField(name=name, kind="attribute"):
            if name in hidden:
                complaints.say("SQ0440", reading.blame or at, name=name, moment=moment.value)
        case Local(name=name):
            if not reading.locals:
                complaints.say("SQ0412", at, name=name)
        case _:
            pass


def check_variable(node: Var, name: str, reading: Reading, complaints: Complaints) -> None:
    """A context variable: does it exist here, and under this name."""
    moment = reading.moment
    variable = VARIABLES.get(name)
    if variable is None or moment in variable.moments:
        return
    if moment is Moment.GAP:
        complaints.say("SQ0410", reading.blame or node.at, reads=f"`{name}`")
        return
    if name == "now":
        complaints.say("SQ0406", node.at, moment=moment.value)
        return
    others = BARE.get(name, ()) if name in BARE else SAME.get(name, ())
    proper = next((other for other in others if moment in VARIABLES[other].moments), None)
    if proper is not None:
        complaints.say("SQ0403", node.at, name=name, proper=proper, moment=moment.value)
        return
    if name.startswith(("running.", "waiting.", "batch.")) and moment not in ENGINE:
        complaints.say("SQ0404", node.at, name=name, moment=moment.value)
        return
    where = one_of([m.value for m in Moment if m in variable.moments])
    complaints.say("SQ0402", node.at, name=name, doc=variable.doc, moment=moment.value, where=where)


def check_observable(node: Observable, function: str, reading: Reading, complaints: Complaints) -> None:
    """Live state: not everywhere, and in gauges and claims of one fixed member."""
    moment = reading.moment
    if moment is Moment.GAP:
        complaints.say("SQ0410", reading.blame, reads=f"`{function}(…)`")
        return
    allowed = READS[moment].observables
    own = moment is Moment.PLAN and function == "budget_left" and node.place.name == reading.engine
    if function not in allowed or own:
        complaints.say("SQ0407", node.at, function=function, moment=moment.value)
        return
    index = node.place.index
    if moment in (Moment.GAUGE, Moment.ITERATION) and not isinstance(index, Num | None):
        complaints.say("SQ0413", node.place.at, name=node.place.name, moment=moment.value)


def one_of(words: list[str]) -> str:
    """`a`, `a or b`, `a, b or c`."""
    if len(words) < 2:
        return "".join(words)
    return f"{', '.join(words[:-1])} or {words[-1]}"
