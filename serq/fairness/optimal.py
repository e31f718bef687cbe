"""The shortest alpha-fair schedule: an integer program, and a search that shares nothing with it."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from math import floor, inf
from time import monotonic
from typing import Any

from serq.fairness.accounts import checked, grouping_bound

OUT_OF_TIME = 1
"""How `milp` says that a limit was reached."""

LATE = "the optimum was not found in the seconds given"

MISSING = "optimal_makespan needs scipy: pip install 'serq[opt]'; exact_makespan needs nothing"


def optimal_makespan(
    lengths: Sequence[int],
    B: int,
    alpha: float,
    *,
    release: Sequence[int] | None = None,
    seconds: float | None = None,
) -> int:
    """The least makespan of a fair schedule, in steps: the integer program of section 8.1, on HiGHS.

    lengths: tokens of each request, whole, at least 1. B: slots. alpha: tokens by which members of a
    batch may differ, `inf` for no limit. release: the first step at which each request may start, 0 by
    default. seconds: how long to look for it, without a limit by default.
    Whether a request starts in a step is a variable for each. Fairness is written as pairs of starts
    that exclude each other, which is equivalent to the paper's rows with a large constant and solves
    faster: two requests that overlap start within alpha of each other.
    Meant for some ten requests. Raises ValueError for lengths or slots that have no meaning,
    TimeoutError when time is up, ModuleNotFoundError without scipy (the extra `opt`).
    """
    lengths, starts, B = checked(lengths, B, alpha, release)
    if not lengths:
        return 0
    deadline = _Deadline(seconds)
    try:
        import numpy as np
        from scipy.optimize import Bounds, LinearConstraint, milp
        from scipy.sparse import lil_matrix
    except ModuleNotFoundError:
        raise ModuleNotFoundError(MISSING) from None
    horizon = _longest_first(lengths, starts, B)
    n, apart = len(lengths), _apart(lengths, alpha)
    # Variable of request i at step t: i * horizon + t; the last one is the makespan.
    makespan = n * horizon
    rows: list[tuple[dict[int, float], float, float]] = []
    for i, (length, first) in enumerate(zip(lengths, starts, strict=True)):
        steps = range(first, horizon - length + 1)
        rows.append(({i * horizon + t: 1.0 for t in steps}, 1.0, 1.0))
        ends = {i * horizon + t: float(t + length) for t in steps}
        rows.append(({**ends, makespan: -1.0}, -inf, 0.0))
        for t in steps:
            deadline.check()
            # Who starts further than alpha behind may not overlap; all of one later request in one row.
            for j in range(n):
                late = range(t + apart + 1, t + length)
                if j != i and late:
                    rows.append(
                        (
                            {i * horizon + t: 1.0, **{j * horizon + u: 1.0 for u in late if u < horizon}},
                            0.0,
                            1.0,
                        )
                    )
    for t in range(horizon):
        deadline.check()
        busy = {
            i * horizon + u: 1.0
            for i, length in enumerate(lengths)
            for u in range(max(0, t - length + 1), t + 1)
        }
        rows.append((busy, 0.0, float(B)))
    matrix: Any = lil_matrix((len(rows), makespan + 1))
    for k, (row, _, _) in enumerate(rows):
        deadline.check()
        for column, value in row.items():
            matrix[k, column] = value
    upper = np.ones(makespan + 1)
    for i, (length, first) in enumerate(zip(lengths, starts, strict=True)):
        allowed = np.zeros(horizon)
        allowed[first : horizon - length + 1] = 1.0
        upper[i * horizon : (i + 1) * horizon] = allowed
    upper[makespan] = horizon
    lower = np.zeros(makespan + 1)
    lower[makespan] = min(horizon, grouping_bound(lengths, B, alpha))
    objective = np.zeros(makespan + 1)
    objective[makespan] = 1.0
    solved = milp(
        objective,
        constraints=LinearConstraint(matrix.tocsr(), [r[1] for r in rows], [r[2] for r in rows]),
        integrality=np.ones(makespan + 1),
        bounds=Bounds(lower, upper),
        options={} if seconds is None else {"time_limit": deadline.left()},
    )
    if solved.status == OUT_OF_TIME:
        raise TimeoutError(LATE)
    if solved.x is None:
        raise RuntimeError(f"HiGHS found no schedule: {solved.message}")
    best: int = round(solved.fun)
    return best


def exact_makespan(
    lengths: Sequence[int],
    B: int,
    alpha: float,
    *,
    release: Sequence[int] | None = None,
    seconds: float | None = None,
) -> int:
    """The same by looking at every choice in every step, states remembered: for some seven short requests.

    Arguments and errors are those of `optimal_makespan`; nothing outside Python is needed.
    """
    lengths, starts, B = checked(lengths, B, alpha, release)
    deadline, apart = _Deadline(seconds), _apart(lengths, alpha)
    kinds = sorted(set(zip(lengths, starts, strict=True)), reverse=True)
    counts = tuple(list(zip(lengths, starts, strict=True)).count(kind) for kind in kinds)
    last = max(starts, default=0)

    @cache
    def steps(now: int, running: tuple[tuple[int, int], ...], waiting: tuple[int, ...]) -> float:
        """Steps from `now` on until all is done. running: (progress, remaining) of each."""
        if not running and not any(waiting):
            return 0
        deadline.check()
        best = inf
        for started in choices(now, running, waiting):
            members = [*running, *((0, kinds[k][0]) for k, many in enumerate(started) for _ in range(many))]
            if not members and now >= last:
                continue
            # Progress beyond alpha says no more than that nobody may join.
            further = sorted((min(p + 1, apart + 1), r - 1) for p, r in members if r > 1)
            left = tuple(w - s for w, s in zip(waiting, started, strict=True))
            best = min(best, 1 + steps(min(now + 1, last), tuple(further), left))
        return best

    def choices(
        now: int, running: tuple[tuple[int, int], ...], waiting: tuple[int, ...]
    ) -> list[tuple[int, ...]]:
        """How many of each kind may start now."""
        room = B - len(running) if all(p <= apart for p, _ in running) else 0
        found: list[tuple[int, ...]] = [()]
        for (_, first), many in zip(kinds, waiting, strict=True):
            most = many if first <= now else 0
            found = [(*c, k) for c in found for k in range(min(most, room - sum(c)) + 1)]
        return found

    return int(steps(0, (), counts))


class _Deadline:
    """When a search has to end: some seconds from now, or never."""

    def __init__(self, seconds: float | None) -> None:
        self._ends = inf if seconds is None else monotonic() + seconds

    def left(self) -> float:
        """Seconds until then."""
        return max(0.0, self._ends - monotonic())

    def check(self) -> None:
        if monotonic() > self._ends:
            raise TimeoutError(LATE)


def _apart(lengths: Sequence[int], alpha: float) -> int:
    """Whole tokens by which members of a batch may be apart; no more than matters."""
    return floor(min(alpha, max(lengths, default=0)))


def _longest_first(lengths: Sequence[int], starts: Sequence[int], B: int) -> int:
    """The makespan of static batches, longest first, when all are there: fair whatever alpha is."""
    return max(starts, default=0) + sum(sorted(lengths, reverse=True)[::B])
