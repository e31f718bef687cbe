"""What a random program is drawn with: choices, expressions, and the names declared so far."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import TypeVar

from attrs import define, field, frozen
from hypothesis import strategies as st

T = TypeVar("T")
Draw = Callable[[st.SearchStrategy[T]], T]
Text = st.SearchStrategy[str]
Names = tuple[str, ...]

CONSTANTS = ("0", "1", "2", "3", "0.5", "4")
COMPARISONS = ("<", "<=", "==", ">", ">=", "!=")


@frozen
class Taste:
    """What random programs may contain.

    whole: amounts and budgets are whole numbers. phased: schedules tell runs apart by their phase
    only, so that engines may serve them in classes. holds: pools and holds. crowd: the most sessions
    of a batch. draws: draws with one outcome. random: times, lengths and turns of the way are drawn.
    """

    whole: bool = False
    phased: bool = False
    holds: bool = True
    crowd: int = 5
    draws: bool = True
    random: bool = False


@cache
def indices(count: int) -> st.SearchStrategy[int]:
    return st.integers(0, count - 1)


def reads(functions: str, places: Names) -> Names:
    """Calls of each function on each place: reads("queue busy", ("e",)) is queue(e), busy(e)."""
    return tuple(f"{function}({place})" for function in functions.split() for place in places)


@define
class Draft:
    """A program being drawn.

    engines, lines: single stages with and without iterations; engine_families, line_families: size
    by name. pools: single pools; held: those that enclose the statement being drawn. registers: of
    engine `e`. has_memory: `kv` is the memory of `e`. loops: counters used so far.
    """

    draw: Draw
    taste: Taste
    engines: list[str] = field(factory=list)
    lines: list[str] = field(factory=list)
    engine_families: dict[str, int] = field(factory=dict)
    line_families: dict[str, int] = field(factory=dict)
    pools: list[str] = field(factory=list)
    held: list[str] = field(factory=list)
    registers: list[str] = field(factory=list)
    has_memory: bool = False
    loops: int = 0

    # ------------------------------------------------------------ choices

    def one(self, *choices: str) -> str:
        """One of the choices; a failing program shrinks towards the first."""
        return choices[self.draw(indices(len(choices)))]

    def chance(self, of: int = 2) -> bool:
        """True in about one case out of `of`, shrinking towards False."""
        return self.draw(indices(of)) == of - 1

    def number(self, *names: str, depth: int = 0) -> str:
        """An expression over `names`, finite where they are."""
        if depth == 2 or not self.chance(2 + depth):
            return self.one(*CONSTANTS, *names)
        first, second = (self.number(*names, depth=depth + 1) for _ in range(2))
        return self.one(
            f"({first} {self.one(*'+-*')} {second})",
            f"{self.one('min', 'max')}({first}, {second})",
            f"{self.one('floor', 'ceil', 'abs', '-')}({first} / 2)",
            f"({self.test(*names, depth=depth + 1)} ? {first} : {second})",
            f"({self.one('sum', 'max')} j{depth} in 2 ({first} - j{depth} * {second}))",
        )

    def test(self, *names: str, depth: int = 0) -> str:
        """A test over `names`."""
        left = self.one(*names, "1")
        compared = f"{left} {self.one(*COMPARISONS)} {self.number(*names, depth=depth + 1)}"
        if depth or not self.chance(3):
            return compared
        other = self.test(*names, depth=1)
        return self.one(f"({compared}) && ({other})", f"({compared}) || ({other})", f"!({compared})")

    # ------------------------------------------------------------ what can be read

    @property
    def families(self) -> dict[str, int]:
        return self.engine_families | self.line_families

    def iterating(self) -> Names:
        """Engines and members of engine families."""
        return (*self.engines, *members(self.engine_families))

    def state(self) -> Names:
        """Live state, unfinished work excepted, which some moments may not read."""
        places = (*self.iterating(), *self.lines, *members(self.line_families))
        return (*reads("queue busy", places), *reads("used free holders queued", tuple(self.pools)))

    def work(self) -> Names:
        return reads("work", (*self.iterating(), *self.lines, *members(self.line_families)))


def members(families: dict[str, int]) -> Names:
    return tuple(f"{name}[{i}]" for name, size in families.items() for i in range(size))
