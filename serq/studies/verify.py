"""Is a claim true on at least a fraction p of the paths? `serq verify` and `serq.verify`.

Each seed is a path, drawn independently, and a claim is true or false on it. Wald's sequential test
looks at one after the other and stops as soon as it may.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterator
from contextlib import closing
from itertools import count, islice
from typing import Any

from attrs import asdict, define, evolve, frozen

from serq.diagnostics import ProgramError, diagnose
from serq.ir.jsonform import program_from_json, program_to_json
from serq.ir.program import Program
from serq.machine.settings import Settings
from serq.report.inference import Interval, most_failures, wilson
from serq.report.replications import FALSE, MOST_SEEDS_NAMED, TRUE
from serq.report.report import plain_value
from serq.report.show_replications import show_interval
from serq.report.table import show_number
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
    on which it is false, the first few.
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

    def to_dict(self) -> dict[str, Any]:
        """The JSON form: plain dictionaries and lists."""
        return asdict(self, value_serializer=plain_value)


@frozen
class JudgeSeeds:
    """The work of answering one claim under one seed after another: its result and the reason for none."""

    program: str
    settings: Settings

    @classmethod
    def of(cls, program: Program, claim: str, settings: Settings) -> JudgeSeeds:
        """The work for a claim of a checked program; the other claims are left out."""
        alone = tuple(c for c in program.claims if c.name == claim)
        return cls(program_to_json(evolve(program, claims=alone)), settings)

    def start(self) -> Callable[[int], tuple[str, str | None]]:
        """What answers the claim under a seed."""
        program = program_from_json(self.program, "<program>")

        def perform(seed: int) -> tuple[str, str | None]:
            outcome = record_run(program, evolve(self.settings, seed=seed)).outcomes[0]
            return outcome.result, outcome.note

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
    width = min(0.05, probability / 2, (1 - probability) / 2) if half_width is None else half_width
    test = SequentialTest(probability - width, probability + width, 1 - confidence)
    outside = 0
    answers: list[bool] = []
    false: list[int] = []
    seed = settings.seed
    try:
        for seed, is_true in _paths(program, claim, settings, most, jobs):
            if progress is not None:
                progress(seed - settings.seed + 1)
            if is_true is None:
                outside += 1
                continue
            answers.append(is_true)
            test.take(is_true)
            if not is_true and len(false) < MOST_SEEDS_NAMED:
                false.append(seed)
            if test.answer is not None:
                break
    except ProgramError as error:
        raise with_source(error, program) from None
    true = sum(answers)
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
    )


def _paths(
    program: Program, claim: str, settings: Settings, most: int, jobs: int
) -> Iterator[tuple[int, bool | None]]:
    """Each seed with whether the claim is true there; None where its `given` is broken."""
    seeds = list(islice(count(settings.seed), most))
    work = JudgeSeeds.of(program, claim, settings)
    with closing(results_in_order(work, seeds, jobs)) as results:
        for seed, (result, note) in zip(seeds, results, strict=True):
            if result not in (*TRUE, *FALSE, "out_of_scope"):
                raise ProgramError([diagnose("SQ0936", name=claim, seed=seed, reason=note or result)])
            yield seed, None if result == "out_of_scope" else result in TRUE


def _find_claim(program: Program, name: str) -> None:
    known = [c.name for c in program.claims]
    if name not in known:
        near = closest(name, known)
        help = f"did you mean `{near}`?" if near else None
        raise ProgramError([diagnose("SQ0935", help=help, name=name, known=", ".join(known) or "none")])


# ---------------------------------------------------------------- saying it


def verification_to_json(found: Verification) -> str:
    """The verification as one line of JSON, without a line end."""
    return json.dumps(found.to_dict(), allow_nan=False, ensure_ascii=False)


def show_verification(found: Verification, command: str) -> str:
    """The answer with its bounds and what it rests on; command: what shows a path, without its seed."""
    p, width, risk = found.probability, found.half_width, 1 - found.confidence
    answers = {
        "yes": f"yes, it is true on at least {p:g} of the paths, to within {width:.6g}",
        "no": f"no, it is true on fewer than {p:g} of the paths, to within {width:.6g}",
        "undecided": f"undecided: {found.paths} paths do not tell whether it is true on {p:g} of them",
    }
    false = found.paths - found.true
    lines = [
        f"claim {found.claim}: {answers[found.answer]}",
        f"  paths     {found.paths}, seeds {found.first_seed} to {found.last_seed}: "
        f"true on {found.true}, false on {false}"
        + (f"; {found.out_of_scope} more break its given" if found.out_of_scope else ""),
        f"  true on   {show_number(found.true / max(found.paths, 1))} of the paths, "
        f"{100 * found.confidence:.4g} % interval {show_interval(found.interval)}, Wilson",
    ]
    if found.failures_at_most is not None:
        lines.append(
            f"  false on  at most {found.failures_at_most:.3g} of the paths, since none of "
            f"{found.paths} was (rule of three)"
        )
    lines.append(
        f"  errors    `no` in at most {risk:.3g} of cases where it is true on {p + width:.6g} or more, "
        f"`yes` in at most {risk:.3g} where on {p - width:.6g} or fewer"
    )
    if found.false_seeds:
        lines.append(f"  it fails under: {command} --seed {found.false_seeds[0]}")
    return "\n".join(lines)


EXIT = {"yes": 0, "no": 1, "undecided": 3}
"""How a verification ends its process."""
