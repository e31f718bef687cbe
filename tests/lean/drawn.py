"""Random programs that can be stated, with the iterations they go through."""

from __future__ import annotations

import random
from itertools import islice
from typing import NamedTuple

import serq
from serq.lean.fragment import Fragment, read_fragment
from serq.lean.steps import Iteration, Stepper
from serq.lean.witness import World, sessions_of
from tests.lean.programs import small


class Case(NamedTuple):
    """A random program: the parts of `small`, its sessions, and its first iterations.

    rows: as `serq.lean.steps` finds them, which tests compare with the machine and with Lean.
    """

    parts: dict[str, str]
    fragment: Fragment
    world: World
    rows: list[Iteration]

    @property
    def horizon(self) -> float:
        """A time before which it does not matter how many sessions come later."""
        last = self.rows[-1].now if self.rows else 0
        if self.world.gap == 0:
            return last + 0.5
        return min(last + 0.5, self.world.gap * (self.world.count + 1) - 0.5)


ONLY = [
    "", "", "", "only (running.decoding > 0 ? decoding : !decoding)",
    "only (decoding || running.count > 2)", "only (remaining < 4)", "only (!decoding)",
    "only (n < 3 || decoding)", "only (waiting.count == 0 || decoding)",
]  # fmt: skip
ORDERS = [
    "", "admission", "decode first", "decode first", "by (remaining)", "by (-remaining, decoding)",
    "by (n * remaining)", "by (decoding, remaining / 2)",
]  # fmt: skip
TESTS = ["running.count > 2", "n > 2 && batch.tokens > 0", "running.decoding == 0", "batch.tokens < 3"]
SETS = ["n + 1", "min(5, n + running.count)", "n > 3 ? 0 : n + 1", "batch.tokens - n", "floor(n / 2) + 1"]
CONDITIONS = ["", "while (running.preempted == 0)", "while (waiting.admitted < 1)", "while (n < 4)"]


def random_case(seed: int, rows: int = 25) -> Case:
    """Small numbers, so that arrivals and ends of iterations often meet at one instant."""
    draw = random.Random(seed)
    most = draw.choice([None, None, draw.randint(1, 6)])
    slots = draw.choice([None, None, draw.randint(1, 4)])
    cap = f" each at most ({most})" if most else ""

    def advance() -> str:
        return f"advance running {draw.choice(ONLY)} {draw.choice(ORDERS)}{cap};"

    def statement(depth: int = 0) -> str:
        kind = draw.choice(["advance", "advance", "set", "branch", "admit"])
        if kind == "branch" and depth < 1:
            inner = " ".join(statement(1) for _ in range(draw.randint(1, 2)))
            return f"branch ({draw.choice(TESTS)}) {{ {inner} }} else {{ {advance()} }}"
        if kind == "set":
            return f"set n = {draw.choice(SETS)};"
        if kind == "admit":
            return (
                f"admit waiting {draw.choice(['', '', 'only (!decoding)'])} {draw.choice(CONDITIONS)}{cap};"
            )
        return advance()

    exclusive = slots is None and draw.random() < 0.1
    if exclusive:
        schedule = f"exclusive prefill{cap}; admit waiting while (running.preempted == 0){cap};"
    else:
        schedule = " ".join([statement() for _ in range(draw.randint(0, 2))] + [advance()])
        if slots is not None:
            schedule += f" admit waiting {draw.choice(CONDITIONS)}{cap};"
        if "set n" not in schedule:
            schedule += " set n = 7 - n;"
    lengths = ["{}", "{}", "{}", "1 + serial", "max(1, {} - serial)"]

    def run() -> str:
        length = draw.choice(lengths).format(draw.randint(1, 7))
        return f"run e {draw.choice(['prefill', 'decode'])} (cost(e, {length}));"

    runs = " ".join(run() for _ in range(draw.randint(1, 4)))
    gap = draw.choice([0, draw.randint(1, 9), draw.randint(1, 9)])
    sessions = draw.randint(2, 5)
    units = draw.choice([1, 1, 2])
    base, slope, each = draw.randint(1, 4), draw.randint(0, 3), draw.randint(0, 2)
    parts = dict(
        cap=str(draw.randint(1, 9)),
        engine="state n = 1;" + (f" s cap {units * slots};" if slots else ""),
        items="pool s on e { }" if slots else "",
        schedule=schedule,
        execute=f"{base} + {slope} * ceil(batch.tokens / 3) + {each} * running.count",
        workload=f"arrive renewal({gap});" if gap else f"arrive batch({sessions});",
        server=f"hold s (cost(s, {units})) {{ {runs} }}" if slots else runs,
    )
    fragment = read_fragment(serq.compile("drawn.sq", source=small(**parts)))
    world = World(sessions, gap, gap, {})
    found = (i for _, i in Stepper(fragment).states(sessions_of(fragment, world)) if i is not None)
    return Case(parts, fragment, world, list(islice(found, rows)))
