"""The iterations of a small program, by playing its events one after the other.

Written from semantics, sections 2 to 4 and 9, for programs with one engine and no holds. It shares
nothing with serq: neither with its machine nor with its Lean model.
"""

from __future__ import annotations

import heapq
from collections.abc import Callable
from typing import NamedTuple


class Iteration(NamedTuple):
    """What a claim reads when an iteration starts; the fields of `Iteration` in model.lean, in order."""

    now: int
    tokens: int
    prefilled: int
    decoders: int
    residents: int
    demand: int
    served: int
    arrived: int


def everyone(decoding: bool, residents: int, decodes: int) -> bool:
    """An `advance running` without `only`."""
    return True


def one_phase(decoding: bool, residents: int, decodes: int) -> bool:
    """`only (running.decoding > 0 ? decoding : !decoding)`."""
    return decoding if decodes > 0 else not decoding


def iterations(
    *,
    budget: int,
    execute: Callable[[int, int, int, int], int],
    server: list[tuple[str, int]],
    sessions: int,
    gap: int | None = None,
    most: int | None = None,
    schedule: tuple[tuple[str, Callable[[bool, int, int], bool]], ...] = (("admission", everyone),),
    limit: int = 30,
) -> list[Iteration]:
    """The first `limit` iterations at most.

    execute: of tokens, prefilled, decoding and residents. server: mode and tokens of each run of a
    session. gap: between arrivals; None for all sessions at 0. schedule: order and `only` of each
    `advance running`.
    """
    events: list[tuple[int, int, str]] = []
    number = 0
    line: list[list[int]] = []  # session, place in `server`, tokens left: in joining order
    batch: list[tuple[list[int], int]] = []  # in the order of serving; empty when the engine is idle
    now = served = arrived = 0
    rows: list[Iteration] = []

    def schedule_event(time: int, kind: str) -> None:
        nonlocal number
        heapq.heappush(events, (time, number, kind))
        number += 1

    def decodes(run: list[int]) -> bool:
        return server[run[1]][0] == "decode"

    def want(run: list[int]) -> int:
        return min(1, run[2]) if decodes(run) else min(run[2], most or run[2])

    def join(session: int, place: int) -> None:
        if place < len(server):
            line.append([session, place, server[place][1]])

    def start() -> None:
        left, decoding = budget, sum(map(decodes, line))
        for order, only in schedule:
            waiting = [run for run in line if all(run is not other for other, _ in batch)]
            if order == "decode first":
                waiting.sort(key=lambda run: not decodes(run))
            for run in waiting:
                if left and only(decodes(run), len(line), decoding):
                    batch.append((run, min(want(run), left)))
                    left -= batch[-1][1]
        if batch:
            tokens = sum(given for _, given in batch)
            members = sum(decodes(run) for run, _ in batch)
            prefilled = sum(given for run, given in batch if not decodes(run))
            residents, demand = len(line), sum(map(want, line))
            rows.append(Iteration(now, tokens, prefilled, members, residents, demand, served, arrived))
            schedule_event(now + execute(tokens, prefilled, members, residents), "end")

    if gap is None:
        for session in range(sessions):
            join(session, 0)
        arrived = sessions
        start()
    elif sessions:
        schedule_event(gap, "arrival")
    while events and len(rows) < limit:
        now, _, kind = heapq.heappop(events)
        if kind == "arrival":
            join(arrived, 0)
            arrived += 1
            if gap is not None and arrived < sessions:
                schedule_event(now + gap, "arrival")
        else:
            for run, given in batch:
                run[2] -= given
                served += given
            finished = [run for run, _ in batch if run[2] == 0]
            line[:] = [run for run in line if run[2] > 0]
            batch.clear()
            for session, place, _ in finished:
                join(session, place + 1)
        if not batch and line and not (events and events[0][0] == now):
            start()
    return rows
