"""Tables of the iterations of a run, as the pages show them."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import serq
from serq.machine.loop import Machine
from serq.machine.records import Outcome
from serq.machine.run import run_program
from serq.machine.settings import Settings
from serq.machine.stages.engine import EngineMember

COLUMNS: dict[str, Callable[[EngineMember], Any]] = {
    "engine": lambda e: e.name if e.index is None else f"{e.name}[{e.index}]",
    "start": lambda e: e.machine.now,
    "end": lambda e: e.machine.now + e._execute(),
    "batch": lambda e: show_batch(e),
    "tokens": lambda e: e.tokens,
    "prefilled": lambda e: e.prefilled,
    "decoders": lambda e: e.decoders,
    "residents": lambda e: e.present,
    "demand": lambda e: e.demand(),
    "served": lambda e: e.served,
    "arrived": lambda e: e.machine.arrived,
    "attention": lambda e: e.attention,
    "waiting": lambda e: e.waiting_count(),
    "used": lambda e: e.memory.used if e.memory else 0,
}
"""What a column of that heading shows, read as an iteration starts (semantics, "What a claim reads")."""


def show_batch(engine: EngineMember) -> str:
    """`A p4, B d1`: sessions by letter, prefill and decode tokens, in serving order."""
    parts = []
    for run, tokens in engine.residents.batch_runs():
        name = chr(ord("A") + run.session.serial) if run.session.serial < 26 else f"#{run.session.serial}"
        parts.append(f"{name} {'d' if run.is_decode else 'p'}{show_cell(tokens)}")
    return ", ".join(parts) or "–"


def show_cell(value: object) -> str:
    return f"{value:.10g}" if isinstance(value, float) else str(value)


class IterationLog:
    """Watches a run and keeps one row per iteration."""

    def __init__(self, columns: list[str]) -> None:
        self.columns = columns
        self.rows: list[list[str]] = []

    def watch(self, machine: Machine) -> None:
        for engine in machine.engines:
            engine.on_iteration.append(lambda e=engine: self._add(e))

    def _add(self, engine: EngineMember) -> None:
        self.rows.append([show_cell(COLUMNS[name](engine)) for name in self.columns])

    def finish(self, machine: Machine) -> list[Outcome]:
        return []


def iteration_table(program: Path, heading: str, horizon: float, arrivals: int | None) -> list[str]:
    """The lines of the table whose first line is `heading`, for a run with seed 1."""
    columns = [cell.strip() for cell in heading.strip("|").split("|")]
    log = IterationLog(columns)
    run_program(serq.compile(program), Settings(horizon, arrivals=arrivals), [log])
    rows = ["| " + " | ".join(row) + " |" for row in log.rows]
    return [heading, "|" + "---|" * len(columns), *rows]
