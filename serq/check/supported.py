"""Constructs of the language that are checked but have no meaning in the machine yet.

`NOT_YET` is the whole list: deleting a line lets the construct through.
"""

from __future__ import annotations

from collections.abc import Iterator

from serq.check.complaints import Complaints
from serq.check.readings import readings, statements_of
from serq.ir.expr import Observable, walk
from serq.ir.program import Program
from serq.ir.server import Drop, Fork, Grow, Hold, Join, Load, Run, Statement
from serq.ir.stage import SharedProcessor
from serq.source import Span

NOT_YET: dict[str, str] = {
    "ps": "a `ps` stage",
    "flow": "a run over several stages",
    "fork": "`fork`",
    "join": "`join`",
    "est_lambda": "`est_lambda`",
    "est_rho": "`est_rho`",
    "est_wait": "`est_wait`",
    "price": "`price`",
}
"""Construct -> how a message names it."""


def check_supported(program: Program, complaints: Complaints) -> None:
    """Refuse what the machine would not know how to run."""
    for construct, at in constructs(program):
        if construct in NOT_YET:
            complaints.say("SQ0901", at, construct=NOT_YET[construct])


def constructs(program: Program) -> Iterator[tuple[str, Span | None]]:
    """Everything in a program that `NOT_YET` may name."""
    if program.workload is not None and program.workload.trace is not None:
        yield "trace", program.workload.trace.at
    for stage in program.stages:
        if isinstance(stage, SharedProcessor):
            yield "ps", stage.at
    for pool in program.pools:
        options = {
            "block": pool.block, "evict": pool.evict_keys, "preempt": pool.preempt,
            "reserve held": pool.reserve_held or None, "spill": pool.spill,
        }  # fmt: skip
        yield from ((name, pool.at) for name, option in options.items() if option is not None)
    for statement in statements_of(program):
        yield from ((name, statement.at) for name in constructs_of(statement))
    for reading in readings(program):
        for node in walk(reading.expr):
            if isinstance(node, Observable):
                yield node.function, node.at


def constructs_of(statement: Statement) -> Iterator[str]:
    """What `NOT_YET` may name in one statement."""
    match statement:
        case Run(places=places, growing=growing):
            if growing is not None:
                yield "growing"
            if len(places) > 1:
                yield "flow"
        case Hold(reuse=reuse, cache=cache, lease=lease):
            clauses = {"reuse": reuse, "cache": cache, "lease": lease}
            yield from (name for name, clause in clauses.items() if clause is not None)
        case Grow():
            yield "grow"
        case Load():
            yield "load"
        case Drop():
            yield "drop"
        case Fork():
            yield "fork"
        case Join():
            yield "join"
        case _:
            pass
