"""Does the backlog stay, or grow for ever? `serq stability` and `serq.stability`.

A stream of sessions is *stable* for a program when the backlog (sessions that have come and not gone)
keeps returning, *unstable* when it grows without end, by the part of the arrivals that nobody can
serve. A run is finite, so both are told from growth:

- Several runs, from an empty system, are looked at after N arrivals: by which part of the second half of
  the arrivals has the backlog grown? The seeds give a t interval for that part.
- In an overloaded system most of the noise of that growth comes from how fast sessions happened to
  arrive; where the rate of the stream is known, the time that the arrivals took is a control variable
  (S. S. Lavenberg and P. D. Welch, "A perspective on the use of control variables to increase the
  efficiency of Monte Carlo simulations", Management Science 27, 1981).
- If that does not decide, N is doubled. A system at its edge grows like the square root of N, so that
  growth in proportion to N shows in the end. The intervals of all looks hold together with the
  confidence asked for (Bonferroni).

Beside the verdict stand the facts that people look for: returns to the empty system and the cycles
between them, which are independent (the regenerative method: M. A. Crane and A. J. Lemoine, An
Introduction to the Regenerative Method for Simulation Analysis, Springer 1977), and the load that the
stream brings over the most that the engine can compute (`serq.studies.capacity`).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

from attrs import asdict, frozen

from serq.diagnostics import ProgramError, diagnose
from serq.ir.program import Program
from serq.ir.workload import NoArrivals, Poisson, Renewal, Slotted
from serq.report.inference import deviation, student_t
from serq.report.report import plain_value
from serq.studies.capacity import arrival_rate, most_tokens_per_time
from serq.studies.course import Course, FollowSeeds
from serq.studies.workers import results_in_order
from serq.tools.running import with_source

FIRST_LOOK = 200
"""Arrivals of the shortest runs; doubled from look to look."""

MOST_LOOKS = 9
"""So the longest runs have 51200 arrivals."""

FEWEST_GONE = 30
"""Sessions that must have gone, all runs together, in each of the last two quarters before growth counts."""

RISING = 1.25
"""While the last quarter lets go more than so many times the third, the system is still filling up."""

AT_EDGE = 0.6
"""Growth of a system at its edge, as a part of its standard deviation between runs.

The backlog is then like a reflected Brownian motion, |B(N)|: from N/2 to N its mean grows by
0.80 (1 - 0.71) s √N = 0.23 s √N, and the growth varies by about 0.5 s √N from run to run.
"""


@frozen
class Look:
    """What the runs say after so many arrivals each.

    growth: by which part of the second half of the arrivals the backlog grew, mean over the runs; low,
    high: its interval. spread: standard deviation of that part from run to run. controlled: the time that
    the arrivals took was used as a control variable.
    """

    arrivals: int
    growth: float
    low: float
    high: float
    spread: float
    controlled: bool


@frozen
class Stability:
    """Whether a program keeps up with its stream, and what the answer rests on.

    verdict: `stable`, `unstable` or `undecided`. confidence: of the intervals of all looks together.
    resolution: loads within this part of the edge may get any verdict. seeds: of the runs. looks:
    the last one decides. returns: how often, in all runs of the last look, a session came to an empty
    system; cycle, cycle_ci: mean time between two of these, with the half width of its interval, None
    without enough. backlog: sessions at the end, mean over the runs. load: tokens that the stream brings
    over `token_rate`, the most that the engine can compute in a unit of time; None where the program has
    no such bound. events: handled, all looks together.
    """

    verdict: str
    confidence: float
    resolution: float
    seeds: tuple[int, ...]
    looks: tuple[Look, ...]
    returns: int
    cycle: float | None
    cycle_ci: float | None
    backlog: float
    load: float | None
    token_rate: float | None
    events: int

    def to_dict(self) -> dict[str, Any]:
        """The JSON form: plain dictionaries and lists."""
        return asdict(self, value_serializer=plain_value)


@frozen
class Patience:
    """How much a verdict may cost and how fine it has to be.

    seeds: runs of each look, at least 4. resolution: see `Stability`. most_events: of all looks together.
    """

    seeds: int = 12
    confidence: float = 0.95
    resolution: float = 0.05
    most_events: int = 20_000_000


def judge_stability(
    program: Program,
    patience: Patience,
    *,
    seed: int,
    jobs: int,
    progress: Callable[[float], None] | None = None,
) -> Stability:
    """Look at longer and longer runs until growth is certain, or its absence.

    seed: the first of the runs' seeds. jobs: processes; the result is the same for any number. progress:
    called with the events handled. Raises ProgramError when the program has no stream of sessions
    (SQ0938), or when a run cannot go on.
    """
    check_stream(program)
    seeds = range(seed, seed + patience.seeds)
    work = FollowSeeds.of(program)
    rate = arrival_rate(program)
    looks: list[Look] = []
    courses: list[Course] = []
    events, verdict, arrivals = 0, "undecided", FIRST_LOOK
    try:
        while verdict == "undecided" and len(looks) < MOST_LOOKS:
            if looks and events + 2 * sum(c.events for c in courses) > patience.most_events:
                break
            courses = []
            for course in results_in_order(work, [(s, arrivals) for s in seeds], jobs):
                courses.append(course)
                events += course.events
                if progress is not None:
                    progress(events)
            looks.append(look_at(courses, arrivals, rate, patience))
            verdict = decide(looks[-1], courses, patience)
            arrivals *= 2
    except ProgramError as error:
        raise with_source(error, program) from None
    cycles = [b - a for c in courses for a, b in zip(c.empties, c.empties[1:], strict=False)]
    bound = most_tokens_per_time(program)
    return Stability(
        verdict=verdict,
        confidence=patience.confidence,
        resolution=patience.resolution,
        seeds=tuple(seeds),
        looks=tuple(looks),
        # A first session always comes to an empty system.
        returns=len(cycles),
        cycle=math.fsum(cycles) / len(cycles) if cycles else None,
        cycle_ci=_halfwidth(cycles, patience.confidence) if len(cycles) > 1 else None,
        backlog=sum(c.marks[-1].backlog for c in courses) / len(courses),
        load=_load(courses, rate, bound),
        token_rate=bound,
        events=events,
    )


def look_at(courses: Sequence[Course], arrivals: int, rate: float | None, patience: Patience) -> Look:
    """The growth of the backlog over the second half of the arrivals, as a part of them."""
    second = arrivals - arrivals // 2
    ends = [(c.marks[0], c.marks[-1]) for c in courses]
    growth = [(end.backlog - half.backlog) / second for half, end in ends]
    one_look = 1 - (1 - patience.confidence) / MOST_LOOKS
    spread = deviation(growth)
    if rate is not None:
        late = [(end.time - half.time) * rate / second - 1 for half, end in ends]
        if controlled := _controlled(growth, late, one_look):
            mean, half_width = controlled
            return Look(arrivals, mean, mean - half_width, mean + half_width, spread, True)
    mean = math.fsum(growth) / len(growth)
    half_width = _halfwidth(growth, one_look)
    return Look(arrivals, mean, mean - half_width, mean + half_width, spread, False)


def decide(look: Look, courses: Sequence[Course], patience: Patience) -> str:
    """The verdict of a look.

    Unstable: more than a quarter of the resolution is certainly left behind, more than a system at its edge
    would leave behind, and the system has filled up. Stable: certainly less than half of the resolution,
    and perhaps nothing.
    """
    if look.high < patience.resolution / 2 and look.low <= 0:
        return "stable"
    third = sum(c.marks[1].gone - c.marks[0].gone for c in courses)
    fourth = sum(c.marks[2].gone - c.marks[1].gone for c in courses)
    filled = min(third, fourth) >= FEWEST_GONE and fourth <= RISING * third
    if filled and look.low > patience.resolution / 4 + AT_EDGE * look.spread:
        return "unstable"
    return "undecided"


def check_stream(program: Program) -> None:
    """Refuse programs whose sessions do not keep coming at a steady rate (SQ0938)."""
    arrival = program.workload.arrival if program.workload is not None else NoArrivals()
    if not isinstance(arrival, Poisson | Renewal | Slotted):
        kind = "none" if isinstance(arrival, NoArrivals) else type(arrival).__name__.lower()
        sources = {program.source.name: program.source} if program.source else None
        raise ProgramError([diagnose("SQ0938", arrival.at, sources=sources, kind=f"`arrive {kind}`")])


def _controlled(
    values: Sequence[float], control: Sequence[float], confidence: float
) -> tuple[float, float] | None:
    """The mean of `values` as if `control` had been at its mean of 0, with its half width; None if the
    control does not vary."""
    n = len(values)
    center, middle = math.fsum(control) / n, math.fsum(values) / n
    square = math.fsum((c - center) ** 2 for c in control)
    if n < 4 or square <= 1e-20:
        return None
    slope = math.fsum((c - center) * v for c, v in zip(control, values, strict=True)) / square
    rest = math.fsum((v - middle - slope * (c - center)) ** 2 for c, v in zip(control, values, strict=True))
    error = math.sqrt(rest / (n - 2) * (1 / n + center**2 / square))
    return middle - slope * center, student_t(n - 2, confidence) * error


def _halfwidth(values: Sequence[float], confidence: float) -> float:
    return student_t(len(values) - 1, confidence) * deviation(values) / math.sqrt(len(values))


def _load(courses: Sequence[Course], rate: float | None, bound: float | None) -> float | None:
    """Tokens for each session, mean over the runs, times the rate, over the bound."""
    work = [c.work for c in courses if c.work is not None]
    if rate is None or bound is None or not work:
        return None
    return rate * math.fsum(work) / len(work) / bound
