"""Intervals over seeds contain the truth as often as they say."""

from __future__ import annotations

import pytest

from tests.studies.coverage import LENGTHS, REPETITIONS, SERVICES, times_covered


@pytest.mark.slow
@pytest.mark.long
@pytest.mark.parametrize("load", LENGTHS)
def test_the_interval_over_seeds_covers_the_mean_number(load: float) -> None:
    """In 93 to 97 % of the repetitions of all queues; those of one alone vary by 1.5 % by chance."""
    covered = {queue: times_covered(queue, load) / REPETITIONS for queue in SERVICES}
    assert all(0.9 <= part <= 0.99 for part in covered.values()), covered
    # Near the edge the means of runs are skewed, and intervals have the truth a little too seldom.
    least = 0.93 if load < 0.9 else 0.91
    assert least <= sum(covered.values()) / len(covered) <= 0.97, covered
