"""Runs of the policies of Yao and Zhou, and their schedules step by step."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from random import Random
from typing import Any

from attrs import frozen

import serq
from serq.report import Report

FOLDER = Path(__file__).parents[2] / "examples" / "papers" / "yao_zhou"
HORIZON = 1e6


@frozen
class Schedule:
    """What a run left behind. gauges: their last values."""

    report: Report
    start: list[float]
    completion: list[float]

    def gauge(self, name: str) -> float:
        return self.report.gauges[name].values[-1]

    def claim(self, name: str) -> str:
        return self.report.claim(name).result


def run(policy: str, lens: Sequence[int], B: int, alpha: float, **sets: Any) -> Schedule:
    """One instance under the program `policy`, with its default inputs but for those given."""
    program = serq.compile(FOLDER / f"{policy}.sq", sets={"lens": lens, "B": B, "alpha": alpha, **sets})
    report = serq.run(program, horizon=HORIZON)
    return Schedule(report, by_session(report, "start"), by_session(report, "completion"))


def by_session(report: Report, name: str) -> list[float]:
    o = report.observes[name]
    return [float(value) for _, value in sorted(zip(o.sessions, o.samples, strict=True))]


def instance(random: Random, most: int = 40, slots: int = 8) -> tuple[list[int], int, int]:
    """Lengths, slots and alpha, drawn."""
    longest = random.choice((3, 8, 25))
    lens = [random.randint(1, longest) for _ in range(random.randint(1, most))]
    return lens, random.randint(1, slots), random.randint(0, longest)


def extents(start: Sequence[float], lens: Sequence[int]) -> list[float]:
    """Per step with somebody running: by how much the first member is ahead of the last."""
    steps: dict[int, list[float]] = {}
    for s, n in zip(start, lens, strict=True):
        for t in range(int(s), int(s) + n):
            steps.setdefault(t, []).append(s)
    return [max(members) - min(members) for _, members in sorted(steps.items())]
