"""Programs in two lines, and runs of them.

`program` writes the text that every small program shares: one engine `e` with a budget of 4 tokens
and iterations that last 1, a delay `z`, and whatever a test is about.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence

import serq
from serq.claims.judge import Judge
from serq.machine.loop import Machine
from serq.machine.records import Outcome, RunRecord
from serq.machine.run import run_program
from serq.machine.settings import Settings
from serq.machine.stages.engine import EngineMember

SERVE = "run e prefill (cost(e, 5)); run e decode (cost(e, 2));"


def engine(
    schedule: str = "advance running;", cap: str = "4", execute: str = "1", more: str = "", name: str = "e"
) -> str:
    """An engine `name` with a device of its own. more: registers, a granule, capacities it holds."""
    clauses = f"{more} tokens cap {cap}; schedule {{ {schedule} }} execute ({execute});"
    return f"device d_{name} {{ }} engine {name} on d_{name} {{ {clauses} }}"


def program(
    server: str = SERVE, *items: str, arrive: str = "batch(1)", workload: str = "", engine: str = engine()
) -> str:
    """A program. items: more declarations; workload: what stands in it beside `arrive`."""
    parts = [engine, "stage z : delay;", *items]
    text = "\n  ".join(parts)
    return (
        f"fn main() {{\n  {text}\n  workload {{ arrive {arrive}; {workload} }}\n  server {{ {server} }}\n}}\n"
    )


def record(
    source: str, horizon: float = 20.0, seed: int = 1, *, observers: Sequence = (), **more
) -> RunRecord:
    """The record of a run, claims judged. more: warmup, arrivals."""
    return execute(serq.compile(source=source), horizon, seed, observers=observers, **more)


def execute(
    compiled: serq.Program, horizon: float = 20.0, seed: int = 1, *, observers: Sequence = (), **more
) -> RunRecord:
    """The same for a program that is compiled already."""
    settings = Settings(float(horizon), seed=seed, **more)
    return run_program(compiled, settings, [Judge(compiled), *observers])


def report(source: str, horizon: float = 20.0, **settings) -> serq.Report:
    """The report of a run."""
    return serq.run(serq.compile(source=source), horizon=horizon, **settings)


# ---------------------------------------------------------------- what happens in iterations


class Batches:
    """An observer that writes down every batch of an engine: `A p3 B d1`, in serving order."""

    def __init__(self, engine: str = "e") -> None:
        self.engine = engine
        self.starts: list[float] = []
        self.texts: list[str] = []

    def watch(self, machine: Machine) -> None:
        member: EngineMember = machine.stages[self.engine][0]

        def look() -> None:
            self.starts.append(machine.now)
            self.texts.append(" ".join(served(member)) or "nobody")

        member.on_iteration.append(look)

    def finish(self, machine: Machine) -> list[Outcome]:
        return []


def served(member: EngineMember) -> Iterable[str]:
    for run, tokens in member.residents.batch_runs():
        yield f"{chr(ord('A') + run.session.serial)} {'d' if run.is_decode else 'p'}{tokens:g}"


def batches(source: str, horizon: float = 20.0, **settings) -> str:
    """The batches of engine `e`, one after the other: `A p3 B p1 · B p2`."""
    seen = Batches()
    record(source, horizon, observers=[seen], **settings)
    return " · ".join(seen.texts)


def starts(source: str, horizon: float = 20.0, **settings) -> list[float]:
    """When the iterations of engine `e` start."""
    seen = Batches()
    record(source, horizon, observers=[seen], **settings)
    return seen.starts


def samples(source: str, name: str, horizon: float = 20.0, **settings) -> list[float]:
    """All samples of an observation, in recorded order."""
    return list(record(source, horizon, **settings).observes[name].values)


def gaps(tally) -> Counter[float]:
    """How often each gap between tokens occurred, of a stage's tally; in no order."""
    found: Counter[float] = Counter()
    for gap, count in zip(tally.gaps, tally.gap_counts, strict=True):
        found[gap] += count
    return found
