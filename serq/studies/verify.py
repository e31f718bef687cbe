"""Is a claim true on at least a fraction p of the paths? `serq verify` and `serq.verify`.

Each seed is a path, drawn independently, and a claim is true or false on it. Wald's sequential test
looks at one after the other and stops as soon as it may.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterator
from contextlib import closing
from decimal import Decimal
from itertools import count, islice
from typing import Any

from attrs import asdict, define, evolve, frozen

from serq.diagnostics import ProgramError, diagnose
from serq.ir.claim import AtEnd
from serq.ir.jsonform import program_from_json, program_to_json
from serq.ir.program import Program
from serq.machine.records import Outcome
from serq.machine.settings import Settings
from serq.report.inference import Interval, most_failures, wilson
from serq.report.replications import FALSE, MOST_SEEDS_NAMED, TRUE
from serq.report.report import plain_value
from serq.report.show_replications import show_interval
from serq.report.table import show_bound, show_count, show_number, show_percent
from serq.spelling import closest
from serq.studies.workers import results_in_order
from serq.tools.running import record_run, with_source


@define
class SequentialTest:
    """Wald's test of a probability of being true, at least `high` against at most `low`.

    risk: bound of both errors: to say no when the probability is at least `high`, and to say yes when it
    is at most `low`. evidence: the logarithm of the likelihood ratio so far, `low` over `high`.

    It says no when the ratio reaches 1/risk, and yes when it falls to risk. By Wald's own inequality the
    two errors are then at most `risk` each; his thresholds (1 - b)/a and b/(1 - a), which look a little
    sooner, bound only their sum.
    Source: A. Wald, "Sequential tests of statistical hypotheses", Annals of Mathematical Statistics 16
    (1945); for models of systems, H. L. S. Younes and R. G. Simmons, "Probabilistic verification of
    discrete event systems using acceptance sampling", Computer Aided Verification 2002.
    """

    low: float
    high: float
    risk: float
    evidence: float = 0.0

    def take(self, is_true: bool) -> None:
        """One more path."""
        if is_true:
            self.evidence += math.log(self.low / self.high)
        elif self.high < 1:
            self.evidence += math.log((1 - self.low) / (1 - self.high))
        else:
            self.evidence = math.inf

    @property
    def answer(self) -> str | None:
        """`yes`, `no`, or None as long as more paths are needed."""
        if self.evidence >= -math.log(self.risk):
            return "no"
        return "yes" if self.evidence <= math.log(self.risk) else None


@frozen
class Verification:
    """What the paths say of a claim.

    answer: `yes`, it is true on at least `probability` of the paths, `no`, it is not, or `undecided`:
    `most` paths were not enough. confidence: if it is true on at least probability + half_width of the
    paths, `no` is said with a probability of at most 1 - confidence, and so is `yes` if it is true on at
    most probability - half_width. Between the two either may be said.

    paths: on which it is true or false; true: on how many; out_of_scope: paths that break its `given`,
    which count for neither. interval: Wilson's for the probability of being true, as if the number of
    paths had been fixed before. failures_at_most: what the probability of being false can be when no path
    was false (the rule of three), else None. first_seed, last_seed: of the paths. false_seeds: of those
    on which it is false, the first few. looked_at: paths on which it is true that were asked whether it was
    put to the test; vacuous: on how many of these it was not; vacuous_because: why, on the first of them.
    """

    claim: str
    answer: str
    probability: float
    half_width: float
    confidence: float
    paths: int
    true: int
    out_of_scope: int
    interval: Interval
    failures_at_most: float | None
    first_seed: int
    last_seed: int
    false_seeds: tuple[int, ...]
    looked_at: int = 0
    vacuous: int = 0
    vacuous_because: str | None = None

    def to_dict(self) -> dict[str, Any]:
        """The JSON form: plain dictionaries and lists."""
        return asdict(self, value_serializer=plain_value)


PREMISES = 10
"""Paths on which a claim about iterations is asked whether its premise came true."""


@frozen
class JudgeSeeds:
    """The work of answering one claim under one seed after another: its outcome.

    last_pedantic: the last seed under which it is looked whether the claim's premise came true.
    """

    program: str
    settings: Settings
    last_pedantic: float

    @classmethod
    def of(cls, program: Program, claim: str, settings: Settings) -> JudgeSeeds:
        """The work for a claim of a checked program; the other claims are left out."""
        alone = tuple(c for c in program.claims if c.name == claim)
        # What asks every iteration for a premise is slow: a few paths show whether it ever comes true.
        slow = not all(isinstance(c, AtEnd) for c in alone)
        last = settings.seed + PREMISES - 1 if slow else math.inf
        return cls(program_to_json(evolve(program, claims=alone)), settings, last)

    def start(self) -> Callable[[int], Outcome]:
        """What answers the claim under a seed."""
        program = program_from_json(self.program, "<program>")

        def perform(seed: int) -> Outcome:
            pedantic = seed <= self.last_pedantic
            return record_run(program, evolve(self.settings, seed=seed), pedantic=pedantic).outcomes[0]

        return perform


def verify(
    program: Program,
    claim: str,
    settings: Settings,
    *,
    probability: float,
    half_width: float | None,
    confidence: float,
    most: int,
    jobs: int,
    progress: Callable[[float], None] | None = None,
) -> Verification:
    """Test a claim of the program on the paths of `settings.seed` and the seeds after it.

    half_width: None for half the distance to the nearer of 0 and 1, at most 0.05. most: paths to look at.
    jobs: processes; the answer is the same for any number. progress: called with the number of paths.
    Raises ProgramError when there is no such claim (SQ0935), when it is not answered on a path (SQ0936),
    or when a run cannot go on.
    """
    _find_claim(program, claim)
    work = JudgeSeeds.of(program, claim, settings)
    width = _usual_half_width(probability) if half_width is None else half_width
    test = SequentialTest(probability - width, probability + width, 1 - confidence)
    outside = 0
    answers: list[bool] = []
    false: list[int] = []
    reasons: list[str | None] = []
    seed = settings.seed
    try:
        for seed, outcome in _paths(work, claim, most, jobs):
            if progress is not None:
                progress(seed - settings.seed + 1)
            if outcome.result == "out_of_scope":
                outside += 1
                continue
            is_true = outcome.result in TRUE
            if is_true and seed <= work.last_pedantic:
                reasons.append(outcome.vacuous)
            answers.append(is_true)
            test.take(is_true)
            if not is_true and len(false) < MOST_SEEDS_NAMED:
                false.append(seed)
            if test.answer is not None:
                break
    except ProgramError as error:
        raise with_source(error, program) from None
    true = sum(answers)
    vacuous = [reason for reason in reasons if reason is not None]
    return Verification(
        claim=claim,
        answer=test.answer or "undecided",
        probability=probability,
        half_width=width,
        confidence=confidence,
        paths=len(answers),
        true=true,
        out_of_scope=outside,
        interval=wilson(true, len(answers), confidence),
        failures_at_most=most_failures(len(answers), confidence) if answers and not false else None,
        first_seed=settings.seed,
        last_seed=seed,
        false_seeds=tuple(false),
        looked_at=len(reasons),
        vacuous=len(vacuous),
        vacuous_because=vacuous[0] if vacuous else None,
    )


def _usual_half_width(probability: float) -> float:
    """Half the distance to the nearer of 0 and 1, at most 0.05; of the digits that are written, for
    1 - 0.9 is not 0.1 among doubles."""
    p = Decimal(repr(float(probability)))
    return float(min(Decimal("0.05"), p / 2, (1 - p) / 2))


def _paths(work: JudgeSeeds, claim: str, most: int, jobs: int) -> Iterator[tuple[int, Outcome]]:
    """Each seed with what became of the claim there."""
    seeds = list(islice(count(work.settings.seed), most))
    with closing(results_in_order(work, seeds, jobs)) as results:
        for seed, outcome in zip(seeds, results, strict=True):
            if outcome.result not in (*TRUE, *FALSE, "out_of_scope"):
                reason = outcome.note or outcome.result
                raise ProgramError([diagnose("SQ0936", name=claim, seed=seed, reason=reason)])
            yield seed, outcome


def _find_claim(program: Program, name: str) -> None:
    known = [c.name for c in program.claims]
    if name not in known:
        near = closest(name, known)
        help = f"did you mean `{near}`?" if near else None
        raise ProgramError([diagnose("SQ0935", help=help, name=name, known=", ".join(known) or "none")])


# ---------------------------------------------------------------- saying it


def verification_to_json(found: Verification, command: str) -> str:
    """The verification as one line of JSON, without a line end, with what shows a path on which it fails."""
    document = found.to_dict() | {"failing_command": _failing_command(found, command)}
    return json.dumps(document, allow_nan=False, ensure_ascii=False)


def show_verification(found: Verification, command: str) -> str:
    """The answer with its bounds and what it rests on; command: what shows a path, without its seed."""
    p, width, risk = found.probability, found.half_width, 1 - found.confidence
    many = show_count(found.paths, "path")
    answers = {
        "yes": f"yes, it is true on at least {p:g} of the paths, to within {width:.6g}",
        "no": f"no, it is true on fewer than {p:g} of the paths, to within {width:.6g}",
        "undecided": f"undecided: {many} {'does' if found.paths == 1 else 'do'} not tell whether it is true "
        f"on {p:g} of them",
    }
    if not found.paths:
        out = show_count(found.out_of_scope, "path")
        answers["undecided"] = f"undecided: every path breaks its given, so that {out} told nothing"
    false = found.paths - found.true
    lines = [f"claim {found.claim}: {answers[found.answer]}"]
    if found.vacuous:
        number = "all" if found.vacuous == found.looked_at else str(found.vacuous)
        first = "first " if found.looked_at < found.true else ""
        paths = f"{first}{show_count(found.looked_at, 'path')}"
        why = f"only because {found.vacuous_because}"
        lines.append(f"  vacuous   on {number} of the {paths} on which it is true, {why}")
    seeds = f"seeds {found.first_seed} to {found.last_seed}"
    if found.first_seed == found.last_seed:
        seeds = f"seed {found.first_seed}"
    broken = ""
    if found.out_of_scope and found.paths:
        broken = f"; {found.out_of_scope} more break{'s' * (found.out_of_scope == 1)} its given"
    lines.append(f"  paths     {found.paths}, {seeds}: true on {found.true}, false on {false}{broken}")
    if found.paths:
        lines.append(
            f"  true on   {show_number(found.true / found.paths)} of the paths, "
            f"{show_percent(found.confidence)} interval {show_interval(found.interval)}, Wilson"
        )
    if found.failures_at_most is not None:
        lines.append(
            f"  false on  at most {show_bound(found.failures_at_most)} of the paths, since none of "
            f"{found.paths} was (rule of three)"
        )
    lines.append(
        f"  errors    `no` in at most {risk:.3g} of cases where it is true on {p + width:.6g} or more, "
        f"`yes` in at most {risk:.3g} where on {p - width:.6g} or fewer"
    )
    if failing := _failing_command(found, command):
        lines.append(f"  it fails under: {failing}")
    return "\n".join(lines)


def _failing_command(found: Verification, command: str) -> str | None:
    return f"{command} --seed {found.false_seeds[0]}" if found.false_seeds else None


EXIT = {"yes": 0, "no": 1, "undecided": 3}
"""How a verification ends its process."""
