"""ISJL and its variants, event by event, from their description alone: the programs are held against it."""

from __future__ import annotations

from collections.abc import Sequence


def isjl(
    lens: Sequence[int],
    B: int,
    alpha: float,
    *,
    beta: float | None = None,
    sizes: Sequence[int] | None = None,
    release: Sequence[int] | None = None,
    shortest_first: bool = False,
    packs: bool = True,
    literal: bool = False,
) -> list[int]:
    """The first step of each request.

    sizes: what is planned with, the lengths by default. release: when each request comes. shortest_first:
    the order within a pack. packs: without them only Phase TWO is left. literal: Algorithm 3 as printed.
    """
    n = len(lens)
    size = list(lens if sizes is None else sizes)
    comes = [0] * n if release is None else list(release)
    beta = alpha if beta is None else beta
    start = [-1] * n
    t = 0
    while any(s < 0 for s in start):
        there = [i for i in range(n) if start[i] < 0 and comes[i] <= t]
        if not there:
            t = min(comes[i] for i in range(n) if start[i] < 0)
            continue
        t = _round(t, lens, size, comes, start, B, alpha, beta, shortest_first, packs, literal)
    return start


def _round(
    t0: int,
    lens: Sequence[int],
    size: list[int],
    comes: list[int],
    start: list[int],
    B: int,
    alpha: float,
    beta: float,
    shortest_first: bool,
    packs: bool,
    literal: bool,
) -> int:
    """One round, from t0 until nothing runs and nothing is planned; the time of its end."""
    n = len(lens)
    rank = sorted((i for i in range(n) if start[i] < 0 and comes[i] <= t0), key=lambda i: (-size[i], i))
    lanes: list[list[int]] = [[] for _ in range(B)]
    bound: int | None = None
    delay, many = 0.0, 0
    if packs and len(rank) > 1 and size[rank[1]] > alpha:
        many = min(B, sum(size[i] > alpha for i in rank))
        if many > 1:
            first = size[rank[0]]
            cap = [min(2 * alpha, first - size[rank[j]] + beta) for j in range(many)]
            total = [0] * B
            for i in rank[many:]:
                if size[i] > cap[many - 1]:
                    continue
                places = [j for j in range(many, B) if total[j] + size[i] <= alpha]
                places += [j for j in range(many - 1, 0, -1) if total[j] + size[i] <= cap[j]]
                if places:
                    lanes[places[0]].append(i)
                    total[places[0]] += size[i]
            if shortest_first:
                lanes = [sorted(pack, key=lambda i: (size[i], i)) for pack in lanes]
            delay = min(max(max(total) - alpha, 0), alpha)
            if literal:
                delay = min(max(total[many - 1] - alpha, 0), alpha)
                for j in range(1, many):
                    lanes[j].append(rank[j])
        bound = rank[0] if many > 1 or not literal else None
    planned = {i for pack in lanes for i in pack} | ({bound} if bound is not None else set())
    running: dict[int, int] = {}  # lane -> request
    t = t0
    while True:
        for lane, i in list(running.items()):
            if start[i] + lens[i] <= t:
                del running[lane]
        if t > t0 and not running and all(start[i] >= 0 for i in planned):
            return t

        def may_start(now: int = t) -> bool:
            return all(now - start[i] <= alpha for i in running.values())

        for lane in range(B):
            if lane in running:
                continue
            if lanes[lane]:
                if literal or may_start():
                    running[lane] = lanes[lane].pop(0)
                    start[running[lane]] = t
            elif (
                lane == 0
                and bound is not None
                and start[bound] < 0
                and t >= t0 + delay
                and (literal or may_start())
            ):
                running[lane] = bound
                start[bound] = t
        for lane in range(B):
            waits = lanes[lane] or (lane == 0 and bound is not None and start[bound] < 0)
            if lane in running or waits or (t < t0 + delay and not literal):
                continue
            others = [i for i in range(n) if start[i] < 0 and comes[i] <= t and i not in planned]
            if not others or not may_start():
                break
            i = min(others, key=lambda i: (-size[i], i))
            running[lane] = i
            start[i] = t
        t += 1
