"""`serq search`: a small workload that breaks a claim, or under which a policy does badly."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import partial
from math import inf
from random import Random
from time import monotonic
from typing import TYPE_CHECKING

import click

import serq
from serq.spelling import closest
from serq.tools.inputs import replacements
from serq.tools.saying import print_exact, remark, writing
from serq.tools.settings import check_settings

if TYPE_CHECKING:
    from serq.ir.program import Program
    from serq.report import Report
    from serq.source import SourceFile
    from serq.tools.searching import Range

MOST_OF_THE_TIME = 0.1
"""The part of a search's time that one optimum may take."""

_RANGE = re.compile(r"(-?\d+)\.\.(-?\d+)(?:\*(\d+))?")


@click.command(
    "search",
    short_help="Look for a small workload that breaks a claim.",
    options_metavar="--over NAME=LOW..HIGH (--claim NAME | --gauge NAME --against WHAT) [OPTIONS]",
    epilog="""\b
Examples:
  serq search alg3_literal.sq --over lens=1..9*6 --over alpha=0..4 --claim fair
  serq search isjl.sq --over lens=1..6*6 --over alpha=1..5 --set B=3 \\
    --gauge T --against optimum --below 0.75""",
)
@click.argument("file")
@click.option(
    "--over",
    "over",
    multiple=True,
    required=True,
    metavar="NAME=LOW..HIGH[*MOST]",
    help="An input that varies: whole numbers from LOW to HIGH, for a list up to MOST of them (6).",
)
@click.option("--claim", metavar="NAME", help="Look for a workload under which this claim fails.")
@click.option(
    "--gauge", metavar="NAME", help="Look for a workload under which this gauge ends high, against …"
)
@click.option(
    "--against",
    metavar="WHAT",
    help="… what it is in another program (a FILE with the same inputs), or `optimum`: the least makespan "
    "of a fair schedule of the inputs lens, B and alpha.",
)
@click.option(
    "--below", type=float, default=1.0, metavar="R", help="Stop when what it is against is below R of it (1)."
)
@click.option("--seconds", type=float, default=60.0, metavar="S", help="Search so long at most (60).")
@click.option(
    "--horizon", type=float, default=1e6, metavar="T", help="When every run ends, clock units (1e6)."
)
@click.option("--seed", type=int, default=1, metavar="N", help="Selects what is tried (1).")
@click.option("-o", "--output", metavar="OUT", help="Write the program to this file, not to standard output.")
@replacements
def search_command(
    file: str,
    over: tuple[str, ...],
    claim: str | None,
    gauge: str | None,
    against: str | None,
    below: float,
    seconds: float,
    horizon: float,
    seed: int,
    output: str | None,
    sets: dict[str, str],
    defs: dict[str, str],
) -> int:
    """Look for a small workload that breaks a claim, or under which a policy does badly.

    Tries random inputs and small changes of the best of them, makes what it finds as small as it can, and
    prints FILE with it as the inputs' defaults. Exits with 0 if it found one, with 3 if it did not.
    """
    from serq.tools.searching import Finding, Search, claim_score, show_value, with_inputs

    if defs:
        raise click.UsageError("a search varies inputs; write the definition into the program")
    check_settings(horizon=horizon, seed=seed)
    for name, value in (("--below", below), ("--seconds", seconds)):
        if not 0 < value < inf:
            raise click.UsageError(f"{name} is a number above 0, not {value:g}")
    if (claim is None) == (gauge is None) or (gauge is None) != (against is None):
        raise click.UsageError("say what to look for: --claim NAME, or --gauge NAME --against WHAT")
    source = _read(file)
    program = serq.compile(source.name, source=source.text, sets=sets)
    ranges = {name: r for name, r in (_range(text, program) for text in over)}
    goal = 0.0
    if claim is not None:
        _known("claim", claim, [c.name for c in program.claims])
        score = claim_score(claim)
    else:
        assert gauge is not None and against is not None
        _known("gauge", gauge, [g.name for g in program.gauges])
        most = seconds * MOST_OF_THE_TIME
        score, goal = _ratio(gauge, against, source.name, horizon, program, most), below - 1e-12
    search = Search(source, sets, ranges, horizon, score, goal, monotonic() + seconds)
    found: Finding | None = search.run(Random(seed))
    if found is None and search.refused is not None:
        raise search.refused
    if found is None or found.score > goal:
        best = "" if found is None or claim is not None else f"; the least ratio was {found.score:.4f}"
        remark(f"nothing found in {search.tried} runs{search.failures()}{best}")
        return 3
    what = f"claim {claim} fails" if claim is not None else f"{against} is {found.score:.4f} of {gauge}"
    where = ", ".join(f"{name} = {show_value(value)}" for name, value in found.workload.items())
    remark(f"found in {search.tried} runs: {what} for {where}")
    text = f"// Found by a search: {what}.\n" + with_inputs(source, {**sets, **found.workload})
    if output is None:
        print_exact(text)
    else:
        from serq.tools.writing import write_file

        with writing(output):
            write_file(output, text)
    return 0


def _read(file: str) -> SourceFile:
    from serq.tools.reading import read_source

    if file.endswith(".json"):
        raise click.UsageError("a search changes the text of a program: give the .sq file")
    return read_source(file)


def _range(text: str, program: Program) -> tuple[str, Range]:
    """What `--over` says of one input."""
    from serq.tools.searching import Range

    name, equals, rest = text.partition("=")
    found = _RANGE.fullmatch(rest.strip())
    if not equals or found is None or int(found[1]) > int(found[2]):
        raise click.BadParameter(f"`{text}` is not of the form NAME=LOW..HIGH or NAME=LOW..HIGH*MOST")
    lists = [numbers.external for numbers in program.lists if numbers.external is not None]
    name = name.strip()
    _known("input", name, [*lists, *(i.external for i in program.inputs)])
    if name not in lists and found[3] is not None:
        raise click.BadParameter(f"`{name}` is one number: write `{name}={found[1]}..{found[2]}`")
    if found[3] is not None and int(found[3]) < 1:
        raise click.BadParameter(f"`{name}` has at least one number: write `{name}={found[1]}..{found[2]}*6`")
    most = int(found[3] or 6) if name in lists else None
    return name, Range(int(found[1]), int(found[2]), most)


def _known(kind: str, name: str, names: list[str], where: str = "the program") -> None:
    if name not in names:
        near = closest(name, names)
        cure = f"did you mean `{near}`?" if near else f"there are {', '.join(names) or 'none'}"
        raise click.UsageError(f"{where} has no {kind} `{name}`; {cure}")


def _ratio(
    gauge: str, against: str, file: str, horizon: float, program: Program, most: float
) -> Callable[[Program, Report], float]:
    """The score of a search for a low ratio. most: seconds that one optimum may take."""
    from serq.tools.searching import last_value, optimum, ratio_score, same_folder

    if against == "optimum":
        given = {numbers.external for numbers in program.lists} | {i.external for i in program.inputs}
        missing = [name for name in ("lens", "B", "alpha") if name not in given]
        if missing:
            raise click.UsageError(f"the optimum is of the inputs lens, B and alpha; {missing[0]} is not one")
        return ratio_score(gauge, partial(optimum, seconds=most))
    source = _read(same_folder(file, against))
    rival = serq.compile(source.name, source=source.text)
    _known("gauge", gauge, [g.name for g in rival.gauges], source.name)
    inputs = {numbers.external for numbers in rival.lists} | {i.external for i in rival.inputs}

    def other(program: Program) -> float:
        values = {numbers.external: numbers.values for numbers in program.lists} | {
            i.external: i.value for i in program.inputs
        }
        sets = {name: value for name, value in values.items() if name is not None and name in inputs}
        report = serq.run(serq.compile(source.name, source=source.text, sets=sets), horizon=horizon)
        return last_value(report, gauge)

    return ratio_score(gauge, other)
