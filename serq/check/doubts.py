"""Doubts: what is legal, and looks like a slip. Said only to those who ask (`serq check --pedantic`).

Some are seen in the text alone, since constants and definitions are written out later; others in the
program. An input may have another value in the next run: what depends on one is never doubted for
being constant.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from serq.check.complaints import Complaints, UsedSpan
from serq.check.expressions import Expressions
from serq.check.fold import constant
from serq.check.readings import places_of, readings, schedule_statements, statements_of
from serq.check.show import count, number
from serq.check.trees import reads, shape, walk
from serq.diagnostics import Note
from serq.ir.claim import Gauge
from serq.ir.expr import (
    Attr,
    Binary,
    Draw,
    Expr,
    Observable,
    RegisterRead,
    RequestField,
    Summary,
    Survey,
    Var,
)
from serq.ir.expr import walk as walk_expr
from serq.ir.program import Program
from serq.ir.schedule import Admit, Advance, ScheduleBranch, SetRegister
from serq.ir.server import Branch, Hold, Observe, Run, While
from serq.ir.stage import Engine
from serq.source import Span
from serq.syntax import tree

ARITHMETIC = ("+", "-", "*", "/", "^")


def find_doubts(parsed: tree.Program, program: Program, x: Expressions) -> None:
    """Say everything that is suspicious about a program that is otherwise fine.

    parsed: its text, definitions not yet written out.
    """
    complaints = x.complaints
    items = (*parsed.before, *parsed.items)
    own = [item for item in items if item.at.file == parsed.at.file]
    varying = varying_places(items)
    doubt_unread_names(own, items, complaints)
    doubt_unread_state(program, complaints)
    doubt_unused(program, own, complaints)
    doubt_repeated(own, complaints)
    doubt_equal_arms(own, complaints)
    doubt_claims(program, complaints, varying)
    guards = doubt_guards(program, complaints, varying)
    doubt_comparisons(program, x.constant_tests, complaints, varying | guards)
    doubt_draws(program, complaints)
    doubt_samples(program, complaints, varying)


# -------------------------------------------------------------------- what depends on an input

Place = tuple[str, int, int, int, int]


def place(at: Span) -> Place:
    """A place as a key, whether or not it is seen through the use of a definition."""
    return (at.file, at.line, at.column, at.end_line, at.end_column)


def varying_places(items: Iterable[tree.Item]) -> set[Place]:
    """The places of all expressions that read an input, or a constant computed from one."""
    varying: set[str] = set()
    for item in items:
        if isinstance(item, tree.Input) or (isinstance(item, tree.Let) and varying & set(reads(item.value))):
            varying.add(item.name.text)
    if not varying:
        return set()
    return {
        place(node.at)
        for item in items
        for node in walk(item)
        if not isinstance(node, tree.Name) and varying & set(reads(node))
    }


def is_settled(at: Span | None, varying: set[Place]) -> bool:
    """Whether what stands here is the same in every run and at every use."""
    return at is not None and not isinstance(at, UsedSpan) and place(at) not in varying


# -------------------------------------------------------------------- read by nothing, used by nothing


def doubt_unread_names(own: Sequence[tree.Item], items: Sequence[tree.Item], complaints: Complaints) -> None:
    """Constants, inputs, definitions and their parameters, time resources, `let`s of schedules."""
    read: Counter[str] = Counter()
    for item in items:
        read.update(reads(item))
        read.update(node.name.text for node in walk(item) if isinstance(node, tree.Call | tree.Use))

    def look(kind: str, name: tree.Name, inside: Any = None) -> None:
        found = read[name.text] if inside is None else sum(1 for n in reads(inside) if n == name.text)
        if not found:
            complaints.say("SQ0701", name.at, kind=kind, name=name.text)

    for item in own:
        match item:
            case tree.Let(name=name):
                look("constant", name)
            case tree.Input(name=name):
                look("input", name)
            case tree.Definition(name=name, parameters=parameters, body=body):
                look("definition", name)
                for parameter in parameters:
                    look("parameter", parameter, body)
            case tree.Device(items=parts):
                for part in parts:
                    if isinstance(part, tree.TimeResource):
                        look("time resource", part.name)
                        for parameter in part.parameters:
                            look("parameter", parameter, part.body)
            case tree.Engine():
                for node in walk(item):
                    if isinstance(node, tree.ScheduleLet):
                        look("schedule's `let`", node.name)
            case _:
                pass


def doubt_unread_state(program: Program, complaints: Complaints) -> None:
    """Attributes and registers that are only assigned; a register that only counts itself is."""
    attributes: set[str] = set()
    registers: set[str] = set()
    own_updates: Counter[str] = Counter()
    for stage in program.stages:
        if isinstance(stage, Engine):
            for s in schedule_statements(stage.schedule.statements):
                if isinstance(s, SetRegister):
                    own_updates.update(registers_in(s.value) & {s.register})
    times: Counter[str] = Counter()
    for reading in readings(program):
        attributes |= {
            node.name
            for node in walk_expr(reading.expr)
            if isinstance(node, Attr) or (isinstance(node, RequestField) and node.kind == "attribute")
        }
        times.update(registers_in(reading.expr))
    registers = {name for name, seen in times.items() if seen > own_updates[name]}
    for attribute in program.attributes:
        if attribute.name not in attributes and "." not in attribute.name:
            kind = "hidden attribute" if attribute.hidden else "attribute"
            complaints.say("SQ0701", attribute.at, kind=kind, name=attribute.name)
    for stage in program.stages:
        for register in stage.registers if isinstance(stage, Engine) else ():
            if register.name not in registers:
                complaints.say("SQ0701", register.at, kind="register", name=register.name)


def registers_in(e: Expr) -> set[str]:
    """The registers that an expression reads."""
    return {node.name for node in walk_expr(e) if isinstance(node, RegisterRead)}


def doubt_unused(program: Program, own: Sequence[tree.Item], complaints: Complaints) -> None:
    """Devices without an engine, stages at which nothing runs, pools that nobody holds."""
    busy = {pool.spill.via for pool in program.pools if pool.spill is not None}
    held = {pool.spill.tier for pool in program.pools if pool.spill is not None}
    for s in statements_of(program):
        if isinstance(s, Run):
            busy |= {p.name for p in s.places}
        elif isinstance(s, Hold):
            held |= {p.name for p in places_of(s)}
    engines = {stage.device for stage in program.stages if isinstance(stage, Engine)}
    for item in own:
        match item:
            case tree.Device(name=name) if name.text not in engines:
                unused = "no engine's: nothing runs on it"
                complaints.say("SQ0709", name.at, kind="device", name=name.text, unused=unused)
            case tree.Engine(name=tree.Name() as name) if name.text not in busy:
                unused = "idle: nothing runs there"
                complaints.say("SQ0709", name.at, kind="engine", name=name.text, unused=unused)
            case tree.Stage(name=name) if name.text not in busy:
                unused = "idle: nothing runs there"
                complaints.say("SQ0709", name.at, kind="stage", name=name.text, unused=unused)
            case tree.Pool(name=name) if name.text not in held:
                unused = "held by nobody"
                complaints.say("SQ0709", name.at, kind="pool", name=name.text, unused=unused)
            case _:
                pass


# -------------------------------------------------------------------- seen in the text


OPTIONS: dict[type, str] = {
    tree.CapOption: "cap", tree.BlockOption: "block", tree.EvictOption: "evict",
    tree.PreemptOption: "preempt", tree.QueueOption: "queue", tree.ReserveOption: "reserve held",
    tree.SpillOption: "spill", tree.Granule: "granule", tree.Arrive: "arrive", tree.Trace: "trace",
}  # fmt: skip


def doubt_repeated(own: Sequence[tree.Item], complaints: Complaints) -> None:
    """Items of which the last counts."""
    for item in own:
        first: dict[str, Span] = {}
        for part in parts_of(item):
            kind = part.kind if isinstance(part, tree.WorkloadBlock) else OPTIONS.get(type(part))
            if kind is None:
                continue
            if kind in first:
                note = Note("the one here does not count", first[kind])
                complaints.say("SQ0702", part.at, item=kind, notes=[note])
            first[kind] = part.at


def parts_of(item: tree.Item) -> Iterator[Any]:
    """The parts of an item that may be given once."""
    match item:
        case tree.Pool(options=options):
            yield from options
        case tree.Workload(items=items) | tree.Engine(items=items):
            yield from items
        case _:
            pass


def doubt_equal_arms(own: Sequence[tree.Item], complaints: Complaints) -> None:
    """Branches and conditionals that come to the same either way."""
    for item in own:
        for node in walk(item):
            arms: tuple[Any, Any]
            match node:
                case tree.Branch(then=then, otherwise=otherwise):
                    arms = then.statements, () if otherwise is None else otherwise.statements
                case tree.ScheduleBranch(then=then, otherwise=otherwise):
                    arms = then, otherwise or ()
                case tree.Conditional(then=then, otherwise=otherwise):
                    arms = then, otherwise
                case _:
                    continue
            if shape(arms[0]) == shape(arms[1]):
                what = "conditional" if isinstance(node, tree.Conditional) else "`branch`"
                complaints.say("SQ0706", node.at, what=what)


# -------------------------------------------------------------------- constant where something should vary


def doubt_claims(program: Program, complaints: Complaints, varying: set[Place]) -> None:
    """Claims and gauges that would be the same in an empty system, and claims that are no tests."""
    for claim in program.claims:
        value = claim.value
        if isinstance(value, Summary) or (isinstance(value, Binary) and value.operator in ARITHMETIC):
            complaints.say("SQ0710", claim.at, name=claim.name)
    for figure in (*program.gauges, *program.claims):
        value, kind = figure.value, "gauge" if isinstance(figure, Gauge) else "claim"
        nodes = list(walk_expr(value))
        live = any(isinstance(n, Observable | Summary | RegisterRead | Attr | Survey) for n in nodes)
        if live or any(isinstance(n, Var) and n.name != "now" for n in nodes):
            continue
        known = constant(value)
        if known is not None and not is_settled(value.at, varying):
            continue
        told = "reads the clock alone" if known is None else f"is always {number(known)}"
        complaints.say("SQ0703", figure.at, kind=kind, name=figure.name, reads=told)


def doubt_guards(program: Program, complaints: Complaints, varying: set[Place]) -> set[Place]:
    """Tests of statements that are constant; the places of those that are doubted."""
    said: set[Place] = set()
    for statement, test in guards_of(program):
        value = constant(test)
        if value is not None and test.at is not None and is_settled(test.at, varying):
            complaints.say("SQ0705", test.at, statement=statement, value=number(value))
            said.add(place(test.at))
    return said


def guards_of(program: Program) -> Iterator[tuple[str, Expr]]:
    """Every test that decides about a statement, with the statement's word."""
    for s in statements_of(program):
        if isinstance(s, Branch):
            yield "branch", s.test
        elif isinstance(s, While):
            yield "while", s.test
    for stage in program.stages:
        if not isinstance(stage, Engine):
            continue
        for step in schedule_statements(stage.schedule.statements):
            if isinstance(step, ScheduleBranch):
                yield "branch", step.test
            if isinstance(step, Advance | Admit) and step.only is not None:
                yield "only", step.only
            if isinstance(step, Admit) and step.condition is not None:
                yield "while", step.condition
    for pool in program.pools:
        if pool.spill is not None:
            yield "spill … when", pool.spill.condition
    for claim in program.claims:
        if claim.given is not None:
            yield "given", claim.given


def doubt_comparisons(
    program: Program, folded: Iterable[tuple[Span, float]], complaints: Complaints, varying: set[Place]
) -> None:
    """Comparisons of constants, and of an expression with itself.

    folded: the comparisons that turned into numbers while the text was read.
    """
    for at, value in folded:
        if is_settled(at, varying):
            complaints.say("SQ0704", at, value="true" if value else "false")
    for reading in readings(program):
        for node in walk_expr(reading.expr):
            if not isinstance(node, Binary) or node.operator not in ALWAYS or node.left != node.right:
                continue
            if not any(isinstance(n, Draw) for n in walk_expr(node.left)) and is_settled(node.at, set()):
                complaints.say("SQ0704", node.at, value=ALWAYS[node.operator])


ALWAYS = {"==": "true", "<=": "true", ">=": "true", "!=": "false", "<": "false", ">": "false"}
"""What a comparison of a number with itself gives."""


def doubt_draws(program: Program, complaints: Complaints) -> None:
    """Parameters that a law rounds or raises."""
    for reading in readings(program):
        for node in walk_expr(reading.expr):
            if not isinstance(node, Draw):
                continue
            known = [constant(a) for a in node.arguments]
            instead = ""
            if node.law == "erlang" and known[0] is not None and known[0] != int(known[0]):
                stages = int(known[0])
                instead = f"it had {count(stages, 'stage')} and {number(stages / known[0])} of its mean"
            if node.law == "h2" and known[1] is not None and known[1] < 1:
                instead = "its squared variation were 1"
            if instead:
                shown = ", ".join("…" if p is None else number(p) for p in known)
                complaints.say("SQ0707", node.at, law=node.law, parameters=shown, instead=instead)


def doubt_samples(program: Program, complaints: Complaints, varying: set[Place]) -> None:
    """Observations of a constant, unless another statement observes the same name."""
    observed = Counter(s.name for s in statements_of(program) if isinstance(s, Observe))
    for s in statements_of(program):
        if isinstance(s, Observe) and observed[s.name] == 1:
            value = constant(s.value)
            if value is not None and s.at is not None and is_settled(s.value.at, varying):
                complaints.say("SQ0708", s.at, name=s.name, value=number(value))
