"""How many there are: registers of an array, passes of a loop, numbers of a list, and their indices."""

from __future__ import annotations

import math

from serq.check.complaints import Complaints
from serq.check.fold import constant
from serq.check.limits import LARGEST_FAMILY, MOST_PASSES, is_count
from serq.check.readings import readings, schedule_statements
from serq.check.show import count, number
from serq.ir.expr import Expr, Item, RegisterRead, walk
from serq.ir.program import Program
from serq.ir.schedule import ForIndex, SetRegister
from serq.ir.stage import Engine
from serq.source import Span


def check_counts(program: Program, complaints: Complaints) -> None:
    """Complain about numbers of things that cannot be, and constant indices that name none of them."""
    for stage in program.stages:
        if isinstance(stage, Engine):
            check_engine_counts(stage, complaints)
    check_indices(program, complaints)


def check_engine_counts(engine: Engine, complaints: Complaints) -> None:
    """How many registers an array has, how many passes a loop."""
    counts = [(r.name, r.size, "registers", LARGEST_FAMILY, r.at) for r in engine.registers]
    for s in schedule_statements(engine.schedule.statements):
        if isinstance(s, ForIndex):
            # a loop may have no pass
            counts.append((s.name, max(s.count, 1) if s.count >= 0 else s.count, "passes", MOST_PASSES, s.at))
    for name, size, what, most, at in counts:
        if size is not None and not is_count(size, most):
            complaints.say("SQ0519", at, name=name, value=size, what=what, limit=most)


def check_indices(program: Program, complaints: Complaints) -> None:
    """A constant index of a list or an array names one of its numbers."""
    sizes = {numbers.name: len(numbers.values) for numbers in program.lists}
    for stage in program.stages:
        if isinstance(stage, Engine):
            sizes |= {register.name: register.size or 1 for register in stage.registers}
    for numbers in program.lists:
        if not numbers.values:
            complaints.say("SQ0259", numbers.at, name=numbers.name)
    for reading in readings(program):
        for node in walk(reading.expr):
            if isinstance(node, Item | RegisterRead) and node.index is not None and node.name in sizes:
                check_index(node.name, node.index, sizes[node.name], node.at, complaints)
    for stage in program.stages:
        for s in schedule_statements(stage.schedule.statements) if isinstance(stage, Engine) else ():
            if isinstance(s, SetRegister) and s.index is not None and s.register in sizes:
                check_index(s.register, s.index, sizes[s.register], s.at, complaints)


def check_index(name: str, index: Expr, size: int, at: Span | None, complaints: Complaints) -> None:
    """One index, if it is constant."""
    value = constant(index)
    if value is not None and not (0 <= value < size and value == math.floor(value)):
        complaints.say(
            "SQ0518", at, name=name, index=number(value), size=count(size, "number"), last=size - 1
        )
