"""Random programs that can be stated, with the iterations they go through."""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import NamedTuple

from tests.lean.iterations import Iteration, everyone, iterations, one_phase


class Case(NamedTuple):
    """A random program: the parts of `small`, its number of sessions, and its first iterations.

    gap: between arrivals, None for all sessions at 0.
    """

    parts: dict[str, str]
    gap: int | None
    sessions: int
    rows: list[Iteration]


ONLY: dict[str, Callable[[bool, int, int], bool]] = {
    "": everyone,
    "only (running.decoding > 0 ? decoding : !decoding)": one_phase,
    "only (decoding || running.count > 2)": lambda decoding, residents, _: decoding or residents > 2,
}


def random_case(seed: int) -> Case:
    """Small numbers, so that arrivals and ends of iterations often meet at one instant."""
    draw = random.Random(seed)
    budget, most = draw.randint(1, 9), draw.choice([None, draw.randint(1, 6)])
    server = [(draw.choice(["prefill", "decode"]), draw.randint(1, 7)) for _ in range(draw.randint(1, 4))]
    base, slope, each = draw.randint(1, 4), draw.randint(0, 3), draw.randint(0, 2)
    gap = draw.choice([None, draw.randint(1, 9), draw.randint(1, 9)])
    sessions = draw.randint(2, 5)
    statements = [
        (draw.choice(["admission", "decode first"]), draw.choice(list(ONLY)))
        for _ in range(draw.randint(1, 2))
    ]
    cap = f" each at most ({most})" if most else ""
    parts = dict(
        cap=str(budget),
        schedule=" ".join(f"advance running {only} {order}{cap};" for order, only in statements),
        execute=f"{base} + {slope} * ceil(batch.tokens / 3) + {each} * running.count",
        workload=f"arrive batch({sessions});" if gap is None else f"arrive renewal({gap});",
        server=" ".join(f"run e {mode} (cost(e, {tokens}));" for mode, tokens in server),
    )
    rows = iterations(
        budget=budget,
        execute=lambda tokens, _p, _d, residents: base + slope * -(-tokens // 3) + each * residents,
        server=server,
        sessions=sessions,
        gap=gap,
        most=most,
        schedule=tuple((order, ONLY[only]) for order, only in statements),
        limit=25,
    )
    return Case(parts, gap, sessions, rows)
