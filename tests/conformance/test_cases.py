"""Programs with the answers a correct implementation gives, run through the Python interface.

A case is `NAME.sq` and `NAME.json` somewhere under `cases/`, and under the folder that the
environment variable SERQ_CONFORMANCE names, if it does. The JSON says how to run the program
(`horizon`, `warmup`, `seed`, `arrivals`, `sets`) and what to expect, in `expect`: a part of the
report, or `error` with `when`, `line` and `col`, or `random` with figures over several seeds.
"""

from __future__ import annotations

import json
import math
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import serq

HERE = Path(__file__).parent / "cases"
FOLDERS = [HERE] + [Path(f) for f in [os.environ.get("SERQ_CONFORMANCE", "")] if f]
SEEDS = range(1, 6)
Z = 4.5  # standard errors allowed between two means over few seeds


def find_cases() -> Iterator[Any]:
    """Every case as a parameter, named after its place."""
    for folder in FOLDERS:
        for path in sorted(folder.rglob("*.json")):
            if path.with_suffix(".sq").exists():
                case = json.loads(path.read_text(encoding="utf-8"))
                name = path.relative_to(folder).with_suffix("").as_posix()
                slow = [pytest.mark.slow] if "random" in case["expect"] else []
                yield pytest.param(path.with_suffix(".sq"), case, id=name, marks=slow)


def answer(program: Path, case: dict[str, Any], seed: int | None = None) -> dict[str, Any]:
    """The report of a case's run."""
    compiled = serq.compile(program, sets=case.get("sets", {}))
    report = serq.run(
        compiled,
        horizon=case["horizon"],
        warmup=case.get("warmup", 0),
        seed=case["seed"] if seed is None else seed,
        arrivals=case.get("arrivals"),
    )
    return report.to_dict()


@pytest.mark.parametrize(("program", "case"), list(find_cases()))
def test_a_case_gives_its_answer(program: Path, case: dict[str, Any]) -> None:
    expect = case["expect"]
    if "error" in expect:
        check_refusal(program, case, expect["error"])
    elif "random" in expect:
        check_figures(program, case, expect["random"])
    else:
        assert list(differences(expect, answer(program, case), "report")) == []


def check_refusal(program: Path, case: dict[str, Any], error: dict[str, Any]) -> None:
    """The program is refused at the place that the case names."""
    with pytest.raises(serq.ProgramError) as caught:
        answer(program, case)
    at = caught.value.diagnostics[0].at
    if error.get("line") is not None:
        assert at is not None, caught.value
        assert at.line == error["line"], caught.value
        # Elsewhere a column is where one implementation happens to point.
        assert at.column == error["col"] or not program.is_relative_to(HERE), caught.value


def check_figures(program: Path, case: dict[str, Any], random: dict[str, Any]) -> None:
    """The means over a few seeds agree with the recorded ones, as far as chance allows."""
    reports = [answer(program, case, seed) for seed in SEEDS]
    for name, figure in random["figures"].items():
        mean = sum(find_figure(report, name) for report in reports) / len(reports)
        room = Z * figure["sd"] * math.sqrt(1 / random["seeds"] + 1 / len(reports))
        assert abs(mean - figure["mean"]) <= room + 1e-9 * abs(figure["mean"]), name


def find_figure(report: dict[str, Any], path: str) -> float:
    """A figure by its path, such as `stages.e[1].utilization`."""
    head, _, rest = path.partition(".")
    if not rest:
        return report[head]
    who, _, field = rest.rpartition(".")
    if head not in ("stages", "pools"):
        return report[head][who][field]
    name, bracket, index = who.removesuffix("]").partition("[")
    wanted = (name, int(index) if bracket else None)
    return next(row[field] for row in report[head] if (row["name"], row["index"]) == wanted)


def differences(want: Any, got: Any, path: str) -> Iterator[str]:
    """Where `got` is not what `want` says; what `want` leaves out is not compared."""
    if isinstance(want, dict):
        for key, value in want.items():
            if isinstance(got, dict) and key in got:
                yield from differences(value, got[key], f"{path}.{key}")
            elif value not in (None, [], {}):
                yield f"{path}.{key} is missing"
    elif isinstance(want, list) and isinstance(got, list):
        if len(want) != len(got):
            yield f"{path} has {len(got)} entries, not {len(want)}"
        for a, b in zip(want, got, strict=False):
            label = f"[{a['name']}]" if isinstance(a, dict) and "name" in a else "[]"
            yield from differences(a, b, path + label)
    elif is_number(want) and is_number(got):
        if not math.isclose(want, got, rel_tol=1e-9, abs_tol=1e-12):
            yield f"{path} is {got!r}, not {want!r}"
    elif want != got or isinstance(want, bool) != isinstance(got, bool):
        yield f"{path} is {got!r}, not {want!r}"


def is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)
