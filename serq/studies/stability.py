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
- Growth that is a small part of all arrivals may be all that a class of sessions brings. So the same is
  asked of every place where jobs wait, as a part of the jobs that came there; and of the age of the oldest
  session present, in arrivals: whoever is never served, or waits in a line of his own that grows, makes
  it grow in proportion to N, however seldom his like may come.
- Sessions that stay long fill a system up long before the first of them goes, and then it grows no more.
  So growth counts only when what is there also takes longer to go, once nobody comes any more: a
  backlog of the unserved drains in a time in proportion to its size, sessions in service do not.
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
import time
from collections.abc import Callable, Sequence
from typing import Any

from attrs import asdict, frozen

from serq.diagnostics import ProgramError, diagnose
from serq.ir.program import Program
from serq.ir.workload import NoArrivals, Poisson, Renewal, Slotted
from serq.report.report import plain_value
from serq.studies.capacity import arrival_rate, most_tokens_per_time
from serq.studies.course import Course, FollowSeeds
from serq.studies.looks import MOST_LOOKS, Growth, Look, Patience, growth_of, half_width, look_at
from serq.studies.workers import results_in_order
from serq.tools.running import with_source

FIRST_LOOK = 200
"""Arrivals of the shortest runs; doubled from look to look, to 51200."""

UNUSED_AFTER = 6_400
"""Arrivals of each run after which a place to which nobody came counts as one that is not used."""

SLOWER = 0.5
"""The part of the growth of what is there by which its time to drain has to grow, or it is filling up.

What nobody serves drains in proportion to itself; what is in service, in the same time however much it is.
"""

LEAST_TIME = 0.5
"""The part of their mean time that arrivals have to take, or they are a burst, which is no evidence."""


@frozen
class Stability:
    """Whether a program keeps up with its stream, and what the answer rests on.

    verdict: `stable`, `unstable` or `undecided`; reason: why, as a sentence. confidence: of the intervals
    of all looks together. resolution: loads within this part of the edge may get any verdict. seeds: of
    the runs. looks: the last one decides; none when the first could not be finished. returns: how often,
    in all runs of the last look, a session came to an empty system; cycle, cycle_ci: mean time between
    two of these, with the half width of its interval, None without enough. backlog: sessions at the end,
    oldest: arrivals since the oldest of them came, means over the runs; None without a look. load: tokens
    that the stream brings over `token_rate`, the most that the engine can compute in a unit of time;
    None where the program has no such bound. events: handled, all looks together.
    """

    verdict: str
    reason: str
    confidence: float
    resolution: float
    seeds: tuple[int, ...]
    looks: tuple[Look, ...]
    returns: int
    cycle: float | None
    cycle_ci: float | None
    backlog: float | None
    oldest: float | None
    load: float | None
    token_rate: float | None
    events: int

    def to_dict(self) -> dict[str, Any]:
        """The JSON form: plain dictionaries and lists."""
        return asdict(self, value_serializer=plain_value)


def deadline_in(seconds: float | None) -> float:
    """The deadline so many seconds from now; without a number there is none."""
    return math.inf if seconds is None else time.time() + seconds


def judge_stability(
    program: Program,
    patience: Patience,
    *,
    seed: int,
    jobs: int,
    progress: Callable[[float], None] | None = None,
) -> Stability:
    """Look at longer and longer runs until growth is certain, or its absence.

    seed: the first of the runs' seeds. jobs: processes; the result is the same for any number, unless the
    deadline passes. progress: called with the events handled. Raises ProgramError when the program has no
    stream of sessions (SQ0938), or when a run cannot go on.
    """
    check_stream(program)
    seeds = range(seed, seed + patience.seeds)
    work = FollowSeeds.of(program, patience.deadline)
    rate = arrival_rate(program)
    looks: list[Look] = []
    before: list[Course] = []
    courses: list[Course] = []
    events, arrivals = 0, FIRST_LOOK
    verdict, reason = "undecided", ""
    try:
        while verdict == "undecided" and len(looks) < MOST_LOOKS:
            if looks and events + 2 * sum(c.events for c in courses) > patience.most_events:
                reason += TOO_MANY
                break
            most = (patience.most_events - events) // patience.seeds
            latest: list[Course] = []
            for course in results_in_order(work, [(s, arrivals, most) for s in seeds], jobs):
                if course is None:
                    break
                latest.append(course)
                events += course.events
                if progress is not None:
                    progress(events)
            if len(latest) < len(seeds):
                reason += TOO_LATE if time.time() > patience.deadline else TOO_MANY
                break
            before, courses = courses, latest
            looks.append(look_at(courses, arrivals, rate, patience))
            verdict, reason = decide(looks[-1], courses, before, rate, patience)
            arrivals *= 2
    except ProgramError as error:
        raise with_source(error, program) from None
    cycles = [b - a for c in courses for a, b in zip(c.empties, c.empties[1:], strict=False)]
    bound = most_tokens_per_time(program)
    ends = [c.marks[-1] for c in courses]
    return Stability(
        verdict=verdict,
        reason=reason.removeprefix("; "),
        confidence=patience.confidence,
        resolution=patience.resolution,
        seeds=tuple(seeds),
        looks=tuple(looks),
        # A first session always comes to an empty system.
        returns=len(cycles),
        cycle=math.fsum(cycles) / len(cycles) if cycles else None,
        cycle_ci=half_width(cycles, patience.confidence) if len(cycles) > 1 else None,
        backlog=sum(end.backlog for end in ends) / len(ends) if ends else None,
        oldest=sum(end.oldest for end in ends) / len(ends) if ends else None,
        load=_load(courses, rate, bound),
        token_rate=bound,
        events=events,
    )


TOO_MANY = "; longer runs would take more events than they may (--most-events)"
TOO_LATE = "; the time is up (--time)"


def decide(
    look: Look, courses: Sequence[Course], before: Sequence[Course], rate: float | None, patience: Patience
) -> tuple[str, str]:
    """The verdict of a look, and why. before: the runs of the look before it; none if it is the first.
    rate: of the stream, None where it is not known.

    Unstable: the backlog, or a line, is steep, though the arrivals took their time, nobody came to an empty
    system in the last quarter, and what is there takes longer to go than before. Stable: all are flat, and
    so is the age of the oldest session.
    """
    grown: list[tuple[Growth | None, str, str]] = [(look.growth, "the backlog grows", "sessions come")]
    grown += [(line.growth, f"the line at {line.name} grows", "jobs come to it") for line in look.lines]
    took = math.fsum(c.marks[-1].time - c.marks[0].time for c in courses) / len(courses)
    second = look.arrivals - look.arrivals // 2
    is_burst = took <= 0 if rate is None else took * rate < LEAST_TIME * second
    emptied = any(c.empties and c.empties[-1] > c.marks[1].time for c in courses)
    doubt = ""
    for k, (growth, what, while_) in enumerate(grown):
        if growth is None or not growth.is_steep(patience):
            continue
        if is_burst:
            doubt = doubt or f"{what}, but these arrivals came in bursts, more than there will be on average"
        elif emptied:
            doubt = doubt or f"{what}, but the system has been empty since"
        elif not _drains_slower(courses, before, k, patience.one_look):
            doubt = doubt or f"{what}, but may still be filling up: what is there does not take longer to go"
        else:
            return "unstable", f"{what} as long as {while_}"
    if doubt:
        return "undecided", doubt
    if look.oldest.is_steep(patience):
        return "undecided", "the oldest sessions in the backlog grow older, and may never go"
    if not look.growth.is_flat(patience.resolution / 2):
        return "undecided", "neither growth of the backlog nor its absence is certain"
    for line in look.lines:
        if line.growth is None and (line.came or look.arrivals < UNUSED_AFTER):
            jobs = "1 job" if line.came == 1 else f"{line.came} jobs"
            return "undecided", f"{jobs} at {line.name} are too few to tell whether its line grows"
        if line.growth is not None and not line.growth.is_flat(patience.resolution):
            return "undecided", f"neither growth of the line at {line.name} nor its absence is certain"
    if not look.oldest.is_flat(patience.resolution):
        return "undecided", "the backlog does not grow, but its oldest sessions may grow older"
    return "stable", "the backlog does not grow"


def _drains_slower(courses: Sequence[Course], before: Sequence[Course], k: int, confidence: float) -> bool:
    """Whether the backlog (k = 0), or line k - 1, certainly takes longer to go than at the look before.

    Longer by more than SLOWER of the part by which it has grown. The runs of two looks have the same seeds.
    """
    pairs = [(_left(was, k), _left(now, k)) for was, now in zip(before, courses, strict=False)]
    if pairs and all(now[1] == math.inf for _, now in pairs):
        return True
    pairs = [(was, now) for was, now in pairs if was[1] < math.inf and now[1] < math.inf]
    size, drain = sum(was[0] for was, _ in pairs), math.fsum(was[1] for was, _ in pairs)
    if len(pairs) < 4 or not size or not drain:
        return False
    size, drain = size / len(pairs), drain / len(pairs)
    slower = [(now[1] - was[1]) / drain - SLOWER * (now[0] - was[0]) / size for was, now in pairs]
    return growth_of(slower, confidence).low > 0


def _left(course: Course, k: int) -> tuple[float, float]:
    """How many were there at the last arrival, and how long it took until half of them had gone."""
    if k == 0:
        return course.marks[-1].backlog, course.drain
    return course.lines[k - 1].present[-1], course.lines[k - 1].drain


def check_stream(program: Program) -> None:
    """Refuse programs whose sessions do not keep coming at a steady rate (SQ0938)."""
    arrival = program.workload.arrival if program.workload is not None else NoArrivals()
    if not isinstance(arrival, Poisson | Renewal | Slotted):
        word = "none" if isinstance(arrival, NoArrivals) else type(arrival).__name__.lower()
        kind = f"`arrive {word}`"
    elif arrival_rate(program) == 0:
        kind = "a rate of 0"
    else:
        return
    sources = {program.source.name: program.source} if program.source else None
    raise ProgramError([diagnose("SQ0938", arrival.at, sources=sources, kind=kind)])


def _load(courses: Sequence[Course], rate: float | None, bound: float | None) -> float | None:
    """Tokens for each session, mean over the runs, times the rate, over the bound."""
    work = [c.work for c in courses if c.work is not None]
    if rate is None or bound is None or not work:
        return None
    return rate * math.fsum(work) / len(work) / bound
