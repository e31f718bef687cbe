"""A program as JSON in which one value is changed runs, or is refused with a sentence; never else."""

from __future__ import annotations

import copy
import json
import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import serq
from serq.ir.jsonform import program_to_json

ROOT = Path(__file__).parents[2]
CASES = ROOT / "tests" / "conformance" / "cases"
PROGRAMS = [
    ROOT / "examples" / "hello.sq",
    CASES / "memory" / "preempt_latest.sq",
    CASES / "memory" / "spill_to_lower_shelf.sq",
    CASES / "engine" / "register_alternates.sq",
    CASES / "engine" / "turns_and_think.sq",
]
Where = tuple[str | int, ...]


def values(x: Any, path: Where = ()) -> Iterator[tuple[Where, Any]]:
    items = x.items() if isinstance(x, dict) else enumerate(x) if isinstance(x, list) else ()
    for key, value in items:
        if key != "at":
            yield (*path, key), value
            yield from values(value, (*path, key))


def damage(value: Any, others: list[Any], pick: random.Random) -> Any:
    """Something else in the place of `value`, of the same JSON type or not."""
    match value:
        case bool():
            return not value
        case str():
            return pick.choice(["", "x", "serial", "now", *(o for o in others if isinstance(o, str))])
        case int() | float():
            return pick.choice([0, -1, 1.5, 1e308, "inf", None, [], 2])
        case list():
            return pick.choice([[], value + value, value[1:]])
        case _:
            return copy.deepcopy(pick.choice(others))


def try_damages(program: Path, folder: Path, every: int) -> None:
    whole = json.loads(program_to_json(serq.compile(program)))
    places = list(values(whole))
    others = [value for _, value in places]
    pick = random.Random(program.name)
    file = folder / "damaged.json"
    outcomes = set()
    for path, value in places[pick.randrange(every) :: every]:
        broken = copy.deepcopy(whole)
        inner = broken
        for key in path[:-1]:
            inner = inner[key]
        inner[path[-1]] = damage(value, others, pick)
        file.write_text(json.dumps(broken))
        try:
            serq.run(file, horizon=4)
            outcomes.add("ran")
        except serq.ProgramError:
            outcomes.add("refused")
    assert outcomes == {"ran", "refused"}


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda p: p.stem)
def test_some_damages(program: Path, tmp_path: Path) -> None:
    try_damages(program, tmp_path, every=5)


@pytest.mark.slow
@pytest.mark.parametrize("program", PROGRAMS, ids=lambda p: p.stem)
def test_every_value_damaged(program: Path, tmp_path: Path) -> None:
    try_damages(program, tmp_path, every=1)
