"""Runs over several stages: flows that share the capacity of their stages."""

from __future__ import annotations

from serq.check.complaints import Complaints
from serq.check.fold import constant
from serq.check.readings import statements_of
from serq.ir.program import Program
from serq.ir.server import Run
from serq.ir.stage import Delay, Engine, Fifo, SharedProcessor

KINDS: dict[type, str] = {Engine: "an engine", Fifo: "a `fifo` stage", Delay: "a `delay` stage"}


def is_flow(run: object) -> bool:
    """Whether a statement is a run over several stages."""
    return isinstance(run, Run) and len(run.places) > 1


def check_flows(program: Program, complaints: Complaints) -> None:
    """A flow holds each of its stages once, and all are `ps` with a capacity that stays."""
    stages = {stage.name: stage for stage in program.stages}
    for run in statements_of(program):
        if not isinstance(run, Run) or len(run.places) < 2:
            continue
        if program.share is None:
            complaints.missing("SQ0335", run.at)
        seen: set[str] = set()
        for place in run.places:
            stage = stages.get(place.name)
            if stage is None:
                continue
            if place.name in seen:
                complaints.say("SQ0333", place.at, stage=place.name)
            seen.add(place.name)
            if not isinstance(stage, SharedProcessor):
                complaints.say("SQ0334", place.at, stage=place.name, kind=KINDS[type(stage)])
                continue
            capacity = constant(stage.capacity)
            if capacity is None or not capacity > 0:
                complaints.say("SQ0338", place.at, stage=place.name)
