"""How much of what could go on for ever the fast tests try; the slow tests try all of it.

The number stands in one place: the examples of the profile that `tests/conftest.py` has loaded.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import pytest
from hypothesis import settings

ParameterSet = type(pytest.param())


def share(full: int) -> int:
    """Of `full` in a run of the slow tests, how many in this run."""
    return max(1, full * settings().max_examples // 100)


def thinned(rows: Iterable[Any], every: int = 5) -> list[Any]:
    """Rows for `parametrize`: the first and each `every`th after it are fast, the others slow."""
    found = []
    for k, row in enumerate(rows):
        if not isinstance(row, ParameterSet):
            row = pytest.param(*(row if isinstance(row, tuple) else (row,)))
        marks = [*row.marks, pytest.mark.slow] if k % every else row.marks
        found.append(pytest.param(*row.values, marks=marks, id=row.id))
    return found
