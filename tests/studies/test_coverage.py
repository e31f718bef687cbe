"""Intervals over seeds contain the truth as often as they say."""

from __future__ import annotations

import pytest

from tests.studies.coverage import LENGTHS, SERVICES, times_covered


@pytest.mark.slow
@pytest.mark.long
@pytest.mark.parametrize("load", LENGTHS)
@pytest.mark.parametrize("queue", SERVICES)
def test_the_interval_over_seeds_covers_the_mean_number(queue: str, load: float) -> None:
    covered = times_covered(queue, load)
    assert 0.93 <= sum(covered) / len(covered) <= 0.97
