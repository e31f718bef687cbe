"""Looking for a small workload that breaks a claim, or under which a program does badly.

Inputs are drawn at random and changed a little where that helps, until time is up; what was found is
then made smaller as long as it shows the same.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping
from random import Random
from time import monotonic
from typing import TYPE_CHECKING

import click
from attrs import define, field, frozen

import serq
from serq.diagnostics import ProgramError, Sink
from serq.source import SourceFile, Span

if TYPE_CHECKING:
    from serq.ir.program import Program
    from serq.report import Report

Value = float | tuple[float, ...]
Workload = dict[str, Value]
"""Values of inputs, by external name."""


@frozen
class Range:
    """What an input may be: a whole number from `low` to `high`, or a list of at most `most` of them."""

    low: int
    high: int
    most: int | None = None

    def draw(self, random: Random) -> Value:
        """Some value, shorter lists and smaller numbers as often as long and large ones."""
        high = random.randint(self.low, self.high)
        if self.most is None:
            return float(high)
        return tuple(float(random.randint(self.low, high)) for _ in range(random.randint(1, self.most)))

    def change(self, value: Value, random: Random) -> Value:
        """A value close to `value`."""
        if not isinstance(value, tuple):
            return self._near(value, random)
        at = random.randrange(len(value))
        match random.randrange(4):
            case 0 if len(value) > 1:
                return value[:at] + value[at + 1 :]
            case 1 if self.most is not None and len(value) < self.most:
                return (*value, random.choice(value))
            case _:
                return (*value[:at], self._near(value[at], random), *value[at + 1 :])

    def _near(self, number: float, random: Random) -> float:
        if random.randrange(3):
            return min(self.high, max(self.low, number + random.choice((-2, -1, 1, 2))))
        return float(random.randint(self.low, self.high))

    def smaller(self, value: Value) -> Iterator[Value]:
        """Values that are simpler than `value`, the much simpler ones first."""
        if not isinstance(value, tuple):
            yield from self._below(value)
            return
        if len(value) > 1:
            yield from (value[:at] + value[at + 1 :] for at in range(len(value)))
        for at, number in enumerate(value):
            for less in self._below(number):
                yield (*value[:at], less, *value[at + 1 :])

    def _below(self, number: float) -> Iterator[float]:
        middle = float((self.low + int(number)) // 2)
        yield from (x for x in dict.fromkeys((float(self.low), middle, number - 1)) if self.low <= x < number)


@frozen
class Finding:
    """A workload with its score: the lower, the closer to what is looked for."""

    workload: Workload
    score: float


class TimeUp(Exception):
    """The time of a search is over, in the middle of a run perhaps."""


@define
class Search:
    """A search at work.

    source: the program's text. fixed: inputs that stay. ranges: those that vary. horizon: of every run.
    score: how close a run comes to what is looked for; found, when it is at most `goal`. deadline: of
    the clock on the wall. tried: runs so far. refused: the first refusal of a workload, if any, and
    refusals how many there were. unjudged: workloads whose optimum took too long.
    """

    source: SourceFile
    fixed: Mapping[str, str]
    ranges: Mapping[str, Range]
    horizon: float
    score: Callable[[Program, Report], float]
    goal: float
    deadline: float
    tried: int = 0
    refused: ProgramError | None = None
    refusals: int = 0
    unjudged: int = 0
    _known: dict[tuple[tuple[str, Value], ...], float] = field(factory=dict)

    def run(self, random: Random) -> Finding | None:
        """The least workload found that reaches the goal; without one, the best there was, if any."""
        best: Finding | None = None
        try:
            while best is None or best.score > self.goal:
                best = self.step(best, random)
        except TimeUp:
            return best
        return self.shrink(best)

    def step(self, best: Finding | None, random: Random) -> Finding | None:
        """One more workload: drawn anew, or close to the best so far."""
        if best is None or random.randrange(3):
            workload = {name: r.draw(random) for name, r in self.ranges.items()}
        else:
            workload = dict(best.workload)
            for _ in range(random.randint(1, 3)):
                name = random.choice(list(self.ranges))
                workload[name] = self.ranges[name].change(workload[name], random)
        score = self.try_out(workload)
        if score is None or (best is not None and score >= best.score):
            return best
        return Finding(workload, score)

    def shrink(self, found: Finding) -> Finding:
        """The same finding with fewer and smaller numbers, as small as single steps can make it."""
        level = max(found.score, self.goal)
        while True:
            try:
                smaller = next((f for f in self.simpler(found) if f.score <= level), None)
            except TimeUp:
                return found
            if smaller is None:
                return found
            found = smaller

    def simpler(self, found: Finding) -> Iterator[Finding]:
        """The workloads that are one step simpler, with their scores."""
        for name, r in self.ranges.items():
            for value in r.smaller(found.workload[name]):
                workload = {**found.workload, name: value}
                score = self.try_out(workload)
                if score is not None:
                    yield Finding(workload, score)

    def try_out(self, workload: Workload) -> float | None:
        """The score of a run; None for a workload that the program does not take."""
        key = tuple(workload.items())
        if key in self._known:
            self.check_time()
            return self._known[key]
        self.tried += 1
        try:
            program = serq.compile(self.source.name, source=self.source.text, sets={**self.fixed, **workload})
            report = serq.run(program, horizon=self.horizon, progress=lambda *_: self.check_time())
            score = self.score(program, report)
        except ProgramError as error:
            self.refused = self.refused or error
            self.refusals += 1
            self.check_time()
            return None
        except TimeoutError:
            self.unjudged += 1
            self.check_time()
            return None
        self._known[key] = score
        self.check_time()
        return score

    def failures(self) -> str:
        """What became of the runs that say nothing, for a remark."""
        parts = [f"{self.refusals} of them refused"] if self.refusals else []
        parts += [f"the optimum of {self.unjudged} took too long"] if self.unjudged else []
        return f" ({', '.join(parts)})" if parts else ""

    def check_time(self) -> None:
        """Raises TimeUp when the deadline has passed."""
        if monotonic() > self.deadline:
            raise TimeUp


# ---------------------------------------------------------------- what is looked for


def claim_score(name: str) -> Callable[[Program, Report], float]:
    """0 or less when the claim is broken: the more of its iterations fail, the lower."""

    def score(_: Program, report: Report) -> float:
        claim = report.claim(name)
        if claim.result not in ("fails", "not_witnessed"):
            return 1.0
        return -claim.failures / max(1, claim.checked)

    return score


def ratio_score(gauge: str, against: Callable[[Program], float]) -> Callable[[Program, Report], float]:
    """What another schedule needs over what this one does: the last value of a gauge, such as steps."""

    def score(program: Program, report: Report) -> float:
        mine = last_value(report, gauge)
        return against(program) / mine if mine > 0 else 1.0

    return score


def last_value(report: Report, gauge: str) -> float:
    """What a gauge shows at the end of a run."""
    return float(report.gauges[gauge].values[-1])


def optimum(program: Program, seconds: float | None = None) -> float:
    """The least makespan of a fair schedule of the inputs `lens`, `B`, `alpha`, perhaps `release`.

    seconds: how long to look for it; beyond, TimeoutError.
    """
    from serq.fairness import exact_makespan, optimal_makespan

    lists = {numbers.external: numbers.values for numbers in program.lists}
    numbers = {i.external: i.value for i in program.inputs}
    lens = [int(n) for n in lists["lens"]]
    release = lists.get("release")
    few = len(lens) <= 8 and sum(lens) <= 64
    best = exact_makespan if few else optimal_makespan
    starts = None if release is None else [int(t) for t in release]
    try:
        return float(best(lens, int(numbers["B"]), numbers["alpha"], release=starts, seconds=seconds))
    except ModuleNotFoundError:
        raise click.UsageError(
            f"the optimum of {len(lens)} requests of {sum(lens)} tokens needs scipy: pip install 'serq[opt]'"
        ) from None


# ---------------------------------------------------------------- what was found, as a program


def with_inputs(source: SourceFile, values: Mapping[str, Value | str]) -> str:
    """The text of a program with these values as the defaults of its inputs."""
    from serq.syntax import tree
    from serq.syntax.parse import parse_program

    lines = source.text.splitlines(keepends=True)
    program = parse_program(source, Sink()).tree
    places: list[tuple[Span, str]] = []
    for item in program.items:
        if isinstance(item, tree.ListInput) and item.external.text in values:
            places.append((item.values[0].at.to(item.values[-1].at), show_value(values[item.external.text])))
        elif isinstance(item, tree.Input) and item.external.text in values:
            places.append((item.default.at, show_value(values[item.external.text])))
    for at, text in sorted(places, key=lambda p: (p[0].line, p[0].column), reverse=True):
        head = lines[at.line - 1][: at.column - 1]
        tail = lines[at.end_line - 1][at.end_column - 1 :]
        lines[at.line - 1 : at.end_line] = [head + text + tail]
    return "".join(lines)


def show_value(value: Value | str) -> str:
    """A value as a program writes it."""
    if isinstance(value, str):
        return value.strip().removeprefix("[").removesuffix("]")
    if isinstance(value, tuple):
        return ", ".join(f"{number:g}" for number in value)
    return f"{value:g}"


def same_folder(path: str, other: str) -> str:
    """A path that is relative to the folder of `path`, or to the present one if there is no such file."""
    beside = os.path.join(os.path.dirname(path), other)
    return beside if os.path.exists(beside) else other
