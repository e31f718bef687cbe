"""The commands that look at many runs: `serq run --seeds`, `serq verify`, `serq stability`."""

from __future__ import annotations

import shlex
from collections.abc import Callable, Mapping
from typing import Any

import click

import serq
from serq.diagnostics import ProgramError, diagnose
from serq.longfiles import is_number
from serq.source import SourceFile
from serq.tools.asking import open_program, usage_errors
from serq.tools.inputs import give, named_inputs, refused_in_range, replacements
from serq.tools.saying import print_exact, print_text
from serq.tools.settings import check_patience, check_replication, check_settings, check_test


def run_seeds(program: serq.Program, seeds: int, jobs: int | None, as_json: bool, **run: Any) -> int:
    """The rest of `serq run` when there are several seeds."""
    from serq.report import exit_status
    from serq.report.show_replications import replications_to_json, show_replications
    from serq.tools.progress import Progress

    with Progress(seeds, " seeds") as progress:
        found = serq.replicate(program, seeds=seeds, jobs=_cores(jobs), progress=progress, **run)
    if as_json:
        print_exact(replications_to_json(found))
    else:
        print_text(show_replications(found))
    statuses = {exit_status(report) for report in found.runs}
    return next(status for status in (1, 3, 0) if status in statuses)


def _study(command: Callable[..., Any]) -> Callable[..., Any]:
    """The options that studies share."""
    for decorate in (
        click.option("--json", "as_json", is_flag=True, help="Print the result as JSON."),
        click.option(
            "--jobs", type=int, metavar="J", help="Processes that share the runs (one for each core)."
        ),
        click.option("--seed", type=int, default=1, metavar="N", help="The first of the seeds (1)."),
        replacements,
    ):
        command = decorate(command)
    return command


@click.command(
    "verify",
    short_help="Test whether a claim is true on most paths.",
    options_metavar="--claim C --probability P --horizon T [OPTIONS]",
    epilog="""\b
Example:
  serq verify examples/engines/vllm.sq --claim none_starves --probability 0.9
      --horizon 10000000 --arrivals 100

\b
Exit codes: 0 yes, 1 no (or refused), 2 wrong use, 3 undecided""",
)
@click.argument("file")
@click.argument("inputs", nargs=-1, metavar="[-- --INPUT VALUE …]", type=click.UNPROCESSED)
@click.option("--claim", required=True, metavar="C", help="The claim, by its name.")
@click.option(
    "--probability", type=float, required=True, metavar="P", help="The part of the paths asked about."
)
@click.option("--horizon", type=float, required=True, metavar="T", help="When a run ends, clock units.")
@click.option("--arrivals", type=int, metavar="N", help="End a run when N sessions have come and gone.")
@click.option(
    "--confidence", type=float, default=0.95, metavar="C", help="How sure the answer is to be (0.95)."
)
@click.option(
    "--half-width", type=float, metavar="W", help="Probabilities within P ± W may get either answer."
)
@click.option("--most", type=int, default=10_000, metavar="N", help="Paths to look at, at most (10000).")
@_study
def verify_claim(
    file: str,
    inputs: tuple[str, ...],
    claim: str,
    probability: float,
    horizon: float,
    arrivals: int | None,
    confidence: float,
    half_width: float | None,
    most: int,
    sets: dict[str, str],
    defs: dict[str, str],
    seed: int,
    jobs: int | None,
    as_json: bool,
) -> int:
    """Is a claim true on at least a part P of the paths? Each seed is a path.

    Stops as soon as the answer is sure enough, and names a seed under which the claim fails.
    """
    for name, value in named_inputs(inputs):
        give(sets, name, value)
    with usage_errors():
        check_settings(horizon=horizon, seed=seed, arrivals=arrivals)
        check_test(probability, confidence, half_width, most)
        check_replication(1, 1 if jobs is None else jobs)
    program = open_program(file, sets, defs)

    from serq.studies.verify import EXIT, show_verification, verification_to_json
    from serq.tools.progress import Progress

    with Progress(most, " paths at most") as progress:
        found = serq.verify(
            program,
            claim=claim,
            probability=probability,
            horizon=horizon,
            arrivals=arrivals,
            seed=seed,
            confidence=confidence,
            half_width=half_width,
            most=most,
            jobs=_cores(jobs),
            progress=progress,
        )
    words = ["serq", "run", file, "--horizon", f"{horizon:.15g}"]
    words += [] if arrivals is None else ["--arrivals", str(arrivals)]
    words += [word for name, value in sets.items() for word in ("--set", f"{name}={value}")]
    words += [word for name, value in defs.items() for word in ("--def", f"{name}={value}")]
    command = shlex.join(words)
    if as_json:
        print_exact(verification_to_json(found, command))
    else:
        print_text(show_verification(found, command))
    return EXIT[found.answer]


@click.command(
    "stability",
    short_help="Find out whether a program keeps up with its stream.",
    options_metavar="[--param NAME=LOW:HIGH] [OPTIONS]",
    epilog="""\b
Example:
  serq stability examples/papers/dai_random/sarathi.sq --set load=0.95

\b
Exit codes: 0 stable (or an edge found), 1 unstable (or refused), 2 wrong use, 3 undecided""",
)
@click.argument("file")
@click.argument("inputs", nargs=-1, metavar="[-- --INPUT VALUE …]", type=click.UNPROCESSED)
@click.option("--param", metavar="NAME=LOW:HIGH", help="Search for the edge of stability in this input.")
@click.option(
    "--resolution", type=float, default=0.05, metavar="R", help="How near to the edge to look (0.05)."
)
@click.option(
    "--confidence", type=float, default=0.95, metavar="C", help="How sure a verdict is to be (0.95)."
)
@click.option("--seeds", type=int, default=12, metavar="N", help="Runs of each look (12).")
@click.option(
    "--most-events",
    type=int,
    default=100_000_000,
    metavar="N",
    help="Events to handle for a verdict (100000000).",
)
@click.option(
    "--time", "seconds", type=float, default=600.0, metavar="S", help="Seconds until it ends undecided (600)."
)
@_study
def judge_stability(
    file: str,
    inputs: tuple[str, ...],
    param: str | None,
    resolution: float,
    confidence: float,
    seeds: int,
    most_events: int,
    seconds: float,
    sets: dict[str, str],
    defs: dict[str, str],
    seed: int,
    jobs: int | None,
    as_json: bool,
) -> int:
    """Does the backlog of a program stay, or grow without end?

    With --param, where in a range of an input is the edge between the two?
    """
    for name, value in named_inputs(inputs):
        give(sets, name, value)
    with usage_errors():
        check_settings(horizon=1.0, seed=seed)
        check_patience(seeds, confidence, resolution, most_events, seconds)
        check_replication(1, 1 if jobs is None else jobs)
        ends = None if param is None else _range(param, sets)

    from serq.studies.edge import MOST_PROBES
    from serq.studies.show import show_edge, show_stability, study_to_json
    from serq.tools.progress import Progress

    asked: dict[str, Any] = {
        "seed": seed, "seeds": seeds, "confidence": confidence, "resolution": resolution,
        "most_events": most_events, "seconds": seconds, "jobs": _cores(jobs),
    }  # fmt: skip
    if ends is None:
        program = open_program(file, sets, defs)
        with Progress(most_events, " events at most") as progress:
            found = serq.stability(program, progress=progress, **asked)
        if as_json:
            print_exact(study_to_json(found))
        else:
            print_text(show_stability(found))
        return {"stable": 0, "unstable": 1, "undecided": 3}[found.verdict]
    name, low, high = ends
    try:
        program = open_program(file, {**sets, name: repr(low)}, defs)
    except ProgramError as error:
        raise refused_in_range(error, name, low, SourceFile("--param", param or "")) from None
    text = program.source.text if program.source is not None else None
    given: dict[str, Any] = {"source": text, "sets": sets, "defs": defs}
    with Progress(MOST_PROBES, " values at most") as progress:
        edge = serq.find_edge(file, parameter=name, low=low, high=high, progress=progress, **given, **asked)
    if as_json:
        print_exact(study_to_json(edge))
    else:
        print_text(show_edge(edge))
    return 0 if edge.middle is not None else 3


def _range(text: str, sets: Mapping[str, str]) -> tuple[str, float, float]:
    """`NAME=LOW:HIGH`."""
    name, equals, ends = text.partition("=")
    name = name.strip()
    first, _, second = ends.partition(":")
    if not (name.isidentifier() and equals and first.strip() and second.strip()):
        fault = "it is not of this form"
    elif (colons := ends.count(":")) > 1:
        fault = f"it has {colons + 1} numbers"
    elif not is_number(bad := first) or not is_number(bad := second):
        fault = f"`{bad.strip()}` is not a finite number"
    elif not (low := float(first)) < (high := float(second)):
        fault = f"{first.strip()} is not below {second.strip()}"
    elif name in sets:
        fault = f"{name} is set to {sets[name]} as well"
    else:
        return name, low, high
    raise ProgramError([diagnose("SQ0939", text=text, fault=fault)])


def _cores(jobs: int | None) -> int:
    from serq.studies.workers import usable_cores

    return usable_cores() if jobs is None else jobs
