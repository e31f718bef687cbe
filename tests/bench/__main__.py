"""`python -m tests.bench`: how fast serq is, and how fast the reference implementation (extra `peer`) is.

Every run is a process of its own; ours and the peer's take turns, so that what else the machine does
meets both. A ratio is how much CPU time the peer takes for an iteration, by ours; a large one is good for
serq. Where programs draw, the two draw differently and have somewhat different runs.
"""

from __future__ import annotations

import argparse
import json
import platform
from collections.abc import Iterator
from fnmatch import fnmatch
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from typing import Any

from attrs import asdict

import serq
from tests.bench.measure import MOST_S, Result, compare, rate, run_command, run_library
from tests.bench.rows import ROOT, ROWS, Row

HEAD = ("program", "horizon", "iterations", "ours it/s", "peer it/s", "peer/ours", "least", "most")
LINE = "{:<28} {:>8} {:>10} {:>10} {:>10} {:>9} {:>7} {:>7}"


def options() -> argparse.Namespace:
    """What the command line says."""
    parser = argparse.ArgumentParser(prog="python -m tests.bench", description=__doc__)
    parser.add_argument("--quick", action="store_true", help="only the shortest horizon of each row")
    parser.add_argument("--long", action="store_true", help="longer horizons too")
    parser.add_argument(
        "--only", metavar="NAME", action="append", help="rows of that name; * and ? stand for any"
    )
    parser.add_argument("--pairs", type=int, default=3, metavar="N", help="runs of each side (3)")
    parser.add_argument("--commands", action="store_true", help="time whole commands, start to end")
    parser.add_argument("--json", metavar="FILE", help="write the results there")
    return parser.parse_args()


def chosen(asked: argparse.Namespace) -> Iterator[tuple[Row, float]]:
    """Rows and horizons to measure."""
    for row in ROWS:
        if asked.only and not any(fnmatch(row.name, pattern) for pattern in asked.only):
            continue
        if asked.quick:
            yield row, row.horizons[0]
        else:
            yield from ((row, h) for h in row.horizons + (row.long if asked.long else ()))


def show(result: Result) -> str:
    """A line of the table."""
    ratios = result.ratios
    spread = (f"{x:.2f}" for x in (median(ratios), min(ratios), max(ratios))) if ratios else ("-", "-", "-")
    rates = (f"{x:,.0f}" if x else "-" for x in (rate(result.ours), rate(result.peer)))
    iterations = result.ours[0].iterations
    return LINE.format(result.row.name, f"{result.horizon:g}", f"{iterations:,.0f}", *rates, *spread)


def to_json(result: Result) -> dict[str, Any]:
    """A result as it is written down."""
    ratios = result.ratios
    return {
        "name": result.row.name,
        "file": result.row.file.relative_to(ROOT).as_posix(),
        "sets": result.row.sets,
        "defs": result.row.defs,
        "horizon": result.horizon,
        "ours": [asdict(t) for t in result.ours],
        "peer": [asdict(t) for t in result.peer],
        "ratio": {"least": min(ratios), "median": median(ratios), "most": max(ratios)} if ratios else None,
    }


def write(file: Path, commands: bool, peer: str, results: list[Result]) -> None:
    """All results so far: a long table that is interrupted leaves what it has."""
    written = {
        "python": platform.python_version(),
        "serq": serq.__version__,
        "pyserq": peer,
        "commands": commands,
        "results": [to_json(result) for result in results],
    }
    file.write_text(json.dumps(written, indent=1) + "\n", encoding="utf-8")


def main() -> None:
    asked = options()
    try:
        peer = version("pyserq")
    except PackageNotFoundError:
        raise SystemExit("the peer is not installed: pip install -e '.[peer]'") from None
    print(f"Python {platform.python_version()}, serq {serq.__version__}, pyserq {peer}, {asked.pairs} pairs")
    print(LINE.format(*HEAD))
    results = []
    run = run_command if asked.commands else run_library
    with TemporaryDirectory() as folder:
        for row, horizon in chosen(asked):
            for result in compare(row, horizon, asked.pairs, run, Path(folder)):
                results.append(result)
                print(show(result), flush=True)
                if asked.json:
                    write(Path(asked.json), asked.commands, peer, results)
    if any(not result.peer for result in results):
        print(f"-: the peer takes more than {MOST_S} s there, and is measured on a shorter run")


if __name__ == "__main__":
    main()
