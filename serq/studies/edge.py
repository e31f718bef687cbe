"""Between which two values of an input does a program stop to be stable? `serq stability --param`.

A search by halving. It starts from two ends with different verdicts and keeps a bracket: an end that is
stable and one that is not. A value in the midst that cannot be decided is too near to the edge; then the
two halves around it are halved in turn, towards it.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

from attrs import asdict, frozen

from serq.ir.program import Program
from serq.report.report import plain_value
from serq.studies.looks import Patience
from serq.studies.stability import Stability, judge_stability

MOST_PROBES = 24
"""Values that a search looks at."""


@frozen
class Probe:
    """A value of the parameter and what was found there."""

    value: float
    found: Stability


@frozen
class Edge:
    """Where a program stops to be stable.

    stable, unstable: the values nearest to the edge with these verdicts, None if there is none (then
    there is no edge in the range, or it was not found). probes: in the order in which they were looked at.
    in_time: the search was not ended by a deadline, which leaves the bracket wide.
    """

    parameter: str
    stable: float | None
    unstable: float | None
    probes: tuple[Probe, ...]
    in_time: bool = True

    @property
    def middle(self) -> float | None:
        """The middle of the bracket; None without one."""
        if self.stable is None or self.unstable is None:
            return None
        return (self.stable + self.unstable) / 2

    def to_dict(self) -> dict[str, Any]:
        """The JSON form: plain dictionaries and lists."""
        return asdict(self, value_serializer=plain_value) | {"middle": self.middle}


def find_edge(
    program_at: Callable[[float], Program],
    parameter: str,
    low: float,
    high: float,
    patience: Patience,
    *,
    seed: int,
    jobs: int,
    progress: Callable[[float], None] | None = None,
) -> Edge:
    """Search between two values of a parameter, until the bracket is narrow: `patience.resolution` of its
    middle, or of either side of a value that cannot be decided.

    program_at: the program with a value of the parameter. progress: called with the number of values
    looked at, and the part of the events that the present one may take. Every value is judged under the same
    seeds. When `patience.deadline` has passed, the search ends with what it has. Raises what
    `judge_stability` does.
    """
    probes: list[Probe] = []

    def within(events: float) -> None:
        if progress is not None:
            progress(len(probes) + min(1.0, events / patience.most_events))

    def look(value: float) -> str:
        found = judge_stability(program_at(value), patience, seed=seed, jobs=jobs, progress=within)
        probes.append(Probe(value, found))
        return found.verdict

    def is_late() -> bool:
        return time.time() > patience.deadline

    ends = {look(low): low, look(high): high}
    if not {"stable", "unstable"} <= ends.keys():
        return Edge(parameter, ends.get("stable"), ends.get("unstable"), tuple(probes), not is_late())
    stable, unstable = ends["stable"], ends["unstable"]
    # What cannot be decided: its ends towards the stable and towards the unstable side.
    doubt: tuple[float, float] | None = None
    while len(probes) < MOST_PROBES and not is_late():
        inner = (
            (stable, unstable) if doubt is None else max((stable, doubt[0]), (doubt[1], unstable), key=_width)
        )
        if _width(inner) <= patience.resolution * max(abs(inner[0]), abs(inner[1])):
            return Edge(parameter, stable, unstable, tuple(probes))
        value = (inner[0] + inner[1]) / 2
        match look(value):
            case "stable":
                stable = value
            case "unstable":
                unstable = value
            case _ if doubt is None:
                doubt = (value, value)
            case _:
                doubt = (value, doubt[1]) if inner == (stable, doubt[0]) else (doubt[0], value)
    return Edge(parameter, stable, unstable, tuple(probes), not is_late())


def _width(ends: tuple[float, float]) -> float:
    return abs(ends[1] - ends[0])
