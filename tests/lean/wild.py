"""Random programs with claims of which some are true and some are not, and runs that they can have."""

from __future__ import annotations

import random
from collections.abc import Callable
from fractions import Fraction
from typing import NamedTuple

from serq.lean.fragment import Fragment
from serq.lean.witness import Witness, fineness
from tests.lean.drawn import ONLY, ORDERS


class Wild(NamedTuple):
    """A program in parts: `text` puts them together.

    draws: the attributes that are drawn, as text, with what the law allows. gap: what the law of gaps
    allows; None where no gap is known exactly, so that there must be no witness.
    """

    engine: str
    items: str
    arrive: str
    gap: Callable[[Fraction], bool] | None
    draws: list[tuple[str, Callable[[int], bool]]]
    lengths: list[str]
    slot: int
    claims: list[str]

    def text(self, arrive: str, drawn: list[str], more: str = "") -> str:
        init = " ".join(f"set x{k} = {value};" for k, value in enumerate(drawn))
        runs = " ".join(
            f"run e {'decode' if k % 2 else 'prefill'} (cost(e, {length}));"
            for k, length in enumerate(self.lengths)
        )
        held = f"hold s (cost(s, 1)) {{ {runs} }}" if self.slot else runs
        return (
            f"{more} fn main() {{ device gpu {{ }} engine e on gpu {{ {self.engine} }} {self.items}\n"
            f"workload {{ {arrive and f'arrive {arrive};'} init {{ {init} }} }}\n"
            f"server {{ {held} observe o = 3; }}\n" + "\n".join(self.claims) + "\n}\n"
        )

    @property
    def source(self) -> str:
        return self.text(self.arrive, [text for text, _ in self.draws])

    def replayed(self, f: Fragment, witness: Witness) -> str:
        """The run of a witness as a program without chance."""
        unit, world = f.ticks * fineness(f), witness.world
        times = [Fraction(world.start + k * world.gap, unit) for k in range(world.count)]
        listed = ", ".join(repr(float(t)) for t in times)
        drawn = [str(world.draws[f"x{k}"]) for k in range(len(self.draws))]
        if not times:
            return self.text("", drawn)
        return self.text("at (times)", drawn, f"let times = [{listed}];")


DRAWS: list[tuple[str, Callable[[int], bool]]] = [
    ("floor(~uniform(-6, 2))", lambda x: -6 <= x < 2),
    ("ceil(~uniform(-1.5, 3))", lambda x: -1 <= x <= 3),
    ("~binomial(3, 0.5)", lambda x: 0 <= x <= 3),
    ("~bernoulli(0.5)", lambda x: x in (0, 1)),
    ("~bernoulli(1)", lambda x: x == 1),
    ("floor(~exp(2))", lambda x: x >= 0),
    ("ceil(~exp(2))", lambda x: x >= 1),
    ("~geometric(0.5)", lambda x: x >= 1),
    ("~poisson(2)", lambda x: x >= 0),
    ("~table(2: 0.5, -3: 0.25, 9: 0, 6: 0.25)", lambda x: x in (2, -3, 6)),
    ("floor(~pareto(2, 3.5))", lambda x: x >= 3),
]
LENGTHS = ["max(1, {x})", "max(1, 4 - {x})", "1 + abs({x})", "1 + ceil(abs({x}) / 3)", "min(9, max(2, {x}))"]
ARRIVALS: list[tuple[str, Callable[[Fraction], bool] | None]] = [
    ("renewal(7)", lambda g: g == 7),
    ("renewal(20)", lambda g: g == 20),
    ("renewal(4.25)", lambda g: g == Fraction(17, 4)),
    ("renewal(~det(9))", lambda g: g == 9),
    ("renewal(1000.1)", None),
    ("renewal(40 / 3)", None),
    ("renewal(5 + floor(~exp(3)))", None),
    ("renewal(~exp(9))", lambda g: g > 0),
    ("renewal(30 + ~exp(3))", lambda g: g > 30),
    ("renewal(~uniform(12, 13))", lambda g: 12 < g < 13),
    ("renewal(~uniform(3, 40))", lambda g: 3 < g < 40),
    ("poisson(0.125)", lambda g: g > 0),
    ("batch(1)", lambda g: g == 0),
    ("batch(6)", lambda g: g == 0),
]
EXECUTES = ["5", "1 + batch.tokens", "0.5 + ceil(batch.tokens / 3)", "2 + running.count", "max(1, n)"]
SETS = [
    "set n = n > 3 ? 0 : n + 1;", "set f[1] = batch.tokens;", "set f[0] = f[1] + 1;",
    "set f[2] = min(f[2] + 1, 4);", "set n = running.count;",
]  # fmt: skip
TESTS = [
    "served + demand <= arrived * {a}", "served + tokens <= arrived * {a} + {b}", "tokens <= {b}",
    "tokens == demand || tokens == {cap}", "served * {a} <= {b} * now", "residents <= {b}",
    "arrived * {a} <= now", "now >= {a}", "now <= {a} * 9", "n <= {b}", "f[0] == f[1]", "f[1] <= {b}",
    "f[2] == 1", "f[2] + n <= {a}", "prefilled == 0 || decoders == 0", "arrived * {a} <= served + {c}",
    "demand >= {b}", "arrived == {b}", "served >= 0 && now >= 0", "tokens == tokens", "decoders > {b}",
    "ceil(served / 3) * 3 >= served", "residents >= 2 || {b} > 3", "tokens > {cap}", "now != {a}",
]  # fmt: skip
ENDS = [
    "count(o) <= {b}", "total(o) == 3 * count(o)", "now >= {a}", "now <= {c}", "count(o) * {a} <= now",
    "total(o) > {b}", "now != {a}",
]  # fmt: skip
GIVENS = ["serial < {b}", "x0 <= {b}", "x0 == {b}", "x0 >= 0 && serial <= {b}", "x0 + serial < 9", "x0 < {b}"]


def wild_program(seed: int) -> Wild:
    """Sessions of random lengths, arrays of registers, slots, gaps of every kind."""
    draw = random.Random(seed)
    cap, slot = draw.randint(1, 8), draw.choice([0, 0, draw.randint(1, 3)])
    cut = draw.choice(["", "", f"each at most ({draw.randint(1, 4)})"])
    advances = " ".join(
        f"advance running {draw.choice(['', *ONLY])} {draw.choice(ORDERS)} {cut};"
        for _ in range(draw.randint(1, 2))
    )
    first, last = draw.choice(["", *SETS]), draw.choice(["", *SETS])
    admit = f"admit waiting {cut};" if slot else ""
    schedule = f"{first} {advances} {draw.choice([f'advance running {cut};', ''])} {admit} {last}"
    if draw.random() < 0.15:
        schedule = f"exclusive prefill {cut}; admit waiting while (running.preempted == 0) {cut};"
    draws = [draw.choice(DRAWS) for _ in range(draw.choice([0, 1, 1, 2]))]
    lengths = []
    for _ in range(draw.randint(1, 3)):
        chosen = draw.choice(LENGTHS).format(x=f"x{draw.randrange(len(draws))}") if draws else ""
        lengths.append(chosen if draws and draw.random() < 0.7 else str(draw.randint(1, 7)))
    arrive, gap = draw.choice(ARRIVALS)
    claims = []
    for k in range(12):
        test = draw.choice(TESTS).format(
            a=draw.randint(1, 20), b=draw.randint(0, 6), c=draw.randint(1, 90), cap=cap
        )
        end = draw.choice(ENDS).format(a=draw.randint(1, 40), b=draw.randint(0, 6), c=draw.randint(1, 90))
        given = draw.choice(GIVENS).format(b=draw.randint(-3, 6))
        restricted = f" given ({given})" if draw.random() < 0.3 and (draws or "x0" not in given) else ""
        kind = draw.choice(["every iteration of e", "every iteration of e", "some iteration of e", "at end"])
        claims.append(f"claim c{k}{restricted}: {kind} ({end if kind == 'at end' else test});")
    engine = (
        f"{f's cap {slot};' if slot else ''} state n = 1; state f[3] = 1; tokens cap {cap}; "
        f"schedule {{ {schedule} }} execute ({draw.choice(EXECUTES)});"
    )
    return Wild(engine, "pool s on e { }" if slot else "", arrive, gap, draws, lengths, slot, claims)
