"""The settings of a run and what makes them meaningless."""

from __future__ import annotations

import math
import os
from collections.abc import Iterator
from numbers import Integral, Real
from typing import TYPE_CHECKING, Any

from serq.diagnostics import Diagnostic, ProgramError, diagnose

if TYPE_CHECKING:
    from serq.ir.program import Program


def check_settings(
    *,
    horizon: float,
    warmup: float = 0.0,
    seed: int = 1,
    arrivals: int | None = None,
    reservoir: int | None = None,
) -> None:
    """Refuse settings that no program can be run with.

    horizon, warmup: clock units, 0 <= warmup < horizon, both finite; seed: whole, >= 0;
    arrivals, reservoir: whole, >= 1, or None.
    Raises ProgramError (SQ0920 to SQ0924, SQ0934) with every complaint.
    """
    if complaints := list(_complaints(horizon, warmup, seed, arrivals, reservoir)):
        raise ProgramError(complaints)


MOST_SEEDS = 1_000_000
"""Runs of one command."""


def check_replication(seeds: Any, jobs: Any) -> None:
    """Refuse numbers of seeds and of processes that mean nothing (SQ0928, SQ0929)."""
    complaints = []
    if not _is_whole(seeds) or not 1 <= seeds <= MOST_SEEDS:
        complaints.append(diagnose("SQ0928", value=_show(seeds), most=MOST_SEEDS))
    if not _is_whole(jobs) or jobs < 1:
        complaints.append(diagnose("SQ0929", value=_show(jobs)))
    if complaints:
        raise ProgramError(complaints)


def check_test(probability: Any, confidence: Any, half_width: Any, most: Any) -> None:
    """Refuse a test of a probability that means nothing (SQ0937): all are fractions, `most` is whole."""
    asked = [
        ("probability", probability, 0, 1, "above 0 and below 1"),
        ("confidence", confidence, 0.5, 1, "above 0.5 and below 1"),
    ]
    if half_width is not None and _is_time(probability) and 0 < probability < 1:
        widest = min(probability, 1 - probability)
        wanted = f"above 0 and below {widest:.6g}: both ends are probabilities"
        asked.append(("half width", half_width, 0, widest, wanted))
    complaints = [
        diagnose("SQ0937", what=what, value=_show(value), wanted=wanted)
        for what, value, low, high, wanted in asked
        if not (_is_time(value) and low < value < high)
    ]
    if not _is_whole(most) or not 1 <= most <= MOST_SEEDS:
        wanted = f"a whole number, from 1 to {MOST_SEEDS}"
        complaints.append(
            diagnose("SQ0937", what="greatest number of runs", value=_show(most), wanted=wanted)
        )
    if complaints:
        raise ProgramError(complaints)


def check_patience(
    seeds: Any, confidence: Any, resolution: Any, most_events: Any, seconds: Any = None
) -> None:
    """Refuse what a look at stability cannot be asked for (SQ0937)."""
    asked = [
        ("number of runs", seeds, _is_whole(seeds) and 4 <= seeds <= MOST_SEEDS, "whole, at least 4"),
        ("confidence", confidence, _is_time(confidence) and 0.5 < confidence < 1, "above 0.5 and below 1"),
        ("resolution", resolution, _is_time(resolution) and 0.001 <= resolution <= 0.5, "from 0.001 to 0.5"),
        (
            "greatest number of events", most_events, _is_whole(most_events) and most_events >= 1,
            "whole, at least 1",
        ),
        ("time", seconds, seconds is None or (_is_time(seconds) and seconds > 0), "above 0, in seconds"),
    ]  # fmt: skip
    complaints = [
        diagnose("SQ0937", what=what, value=_show(value), wanted=wanted)
        for what, value, good, wanted in asked
        if not good
    ]
    if complaints:
        raise ProgramError(complaints)


def check_arrivals(program: Program, arrivals: int | None) -> None:
    """Refuse a number of arrivals when the sessions are not a stream that could be cut (SQ0925)."""
    if arrivals is None:
        return
    arrival = program.workload.arrival if program.workload is not None else None
    kind = _KEYWORDS.get(type(arrival).__name__, "none")
    if kind not in ("poisson", "renewal", "slotted", "stages"):
        sources = {program.source.name: program.source} if program.source else None
        at = arrival.at if arrival is not None else None
        raise ProgramError([diagnose("SQ0925", at, sources=sources, kind=kind)])


def with_trace(program: Program, path: str) -> Program:
    """The program with its turns read from `path`, in the order its own trace asks for.

    path: relative to the folder of the process, not of the program. Raises ProgramError (SQ0927)
    when the program has no sessions.
    """
    from attrs import evolve

    from serq.ir.workload import Trace

    workload = program.workload
    if workload is None:
        raise ProgramError([diagnose("SQ0927")])
    trace = workload.trace or Trace("", at=workload.at)
    return evolve(program, workload=evolve(workload, trace=evolve(trace, path=os.path.abspath(path))))


_KEYWORDS = {
    "Poisson": "poisson",
    "Renewal": "renewal",
    "Slotted": "slotted",
    "Stages": "stages",
    "Closed": "closed",
    "Batch": "batch",
    "Timed": "at",
    "NoArrivals": "none",
}


def _complaints(horizon: Any, warmup: Any, seed: Any, arrivals: Any, reservoir: Any) -> Iterator[Diagnostic]:
    horizon_is_good = _is_time(horizon) and horizon > 0
    if not horizon_is_good:
        yield diagnose("SQ0920", value=_show(horizon))
    if not _is_time(warmup) or warmup < 0:
        yield diagnose("SQ0921", value=_show(warmup))
    elif horizon_is_good and warmup >= horizon:
        yield diagnose("SQ0922", warmup=_show(warmup), horizon=_show(horizon))
    if not _is_whole(seed) or seed < 0:
        yield diagnose("SQ0923", value=_show(seed))
    if arrivals is not None and (not _is_whole(arrivals) or arrivals < 1):
        yield diagnose("SQ0924", value=_show(arrivals))
    if reservoir is not None and (not _is_whole(reservoir) or reservoir < 1):
        yield diagnose("SQ0934", value=_show(reservoir))


def _is_time(value: Any) -> bool:
    return isinstance(value, Real) and not isinstance(value, bool) and _is_finite(value)


def _is_finite(value: Any) -> bool:
    try:
        return math.isfinite(value)
    except OverflowError:  # a whole number beyond the doubles
        return False


def _is_whole(value: Any) -> bool:
    return isinstance(value, Integral) and not isinstance(value, bool)


def _show(value: Any) -> str:
    if not isinstance(value, Real) or isinstance(value, bool):
        return f"{value!r:.40}, {type(value).__name__}"
    text = f"{value:g}" if isinstance(value, float) else str(value)
    return text if len(text) <= 40 else text[:37] + "…"
