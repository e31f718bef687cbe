"""Records of runs worked out by hand, and golden files.

The first two runs are the worked examples of the semantics (sections 12 and 13): every number below
is read off their tables, none comes from the code under test.
"""

from __future__ import annotations

import os
from array import array
from collections.abc import Callable, Iterable
from pathlib import Path

import pytest

from serq.machine.records import Outcome, PoolTally, RunRecord, Samples, Series, StageTally

Sample = tuple[float, int, int, float]


def samples(*rows: Sample) -> Samples:
    """Samples from (time, session, turn, value)."""
    made = Samples()
    for row in rows:
        made.add(*row)
    return made


def series(*points: tuple[float, float]) -> Series:
    """A series from (time, value)."""
    return Series(array("d", [t for t, _ in points]), array("d", [v for _, v in points]))


def gaps(pairs: Iterable[tuple[float, int]]) -> dict[str, array]:
    """The two gap columns of a stage's tally from (gap, how often)."""
    pairs = list(pairs)
    return {"gaps": array("d", [g for g, _ in pairs]), "gap_counts": array("q", [n for _, n in pairs])}


@pytest.fixture
def chunked_prefill() -> RunRecord:
    """Section 12: one engine, budget 4, an iteration of b tokens lasts 1 + 2b; sessions A = 0, B = 1."""
    response = ((41.0, 0, 1, 31.0), (44.0, 1, 1, 24.0))
    return RunRecord(
        horizon=50.0,
        end=44.0,
        warmup=0.0,
        seed=1,
        events=8,
        arrivals=2,
        ended=2,
        turns=2,
        live_at_end=0,
        live_area=31.0 + 24.0,
        observes={"response": samples(*response)},
        client={
            "ttft": samples((22.0, 0, 1, 12.0), (36.0, 1, 1, 16.0)),
            "tpot": samples((41.0, 0, 1, 9.5), (44.0, 1, 1, 4.0)),
            "response": samples(*response),
        },
        gauges={"jobs": series((0.0, 0.0), (10.0, 1.0), (20.0, 2.0), (41.0, 1.0), (44.0, 0.0))},
        outcomes=[Outcome("full", "every_iteration", "holds", 6, 0, None, None)],
        stages=[
            StageTally(
                "e",
                None,
                True,
                area=31.0 + 24.0,
                busy_time=34.0,
                completed=4,
                service_sum=12.0 + 16.0 + 19.0 + 8.0,
                iterations=6,
                prefill_only=9.0 + 3.0 + 9.0,
                decode_only=5.0 + 3.0,
                mixed=5.0,
                decode_area=5.0 * 1 + 5.0 * 2 + 3.0 * 1,
                decode_starts=3,
                decode_sum=1 + 2 + 1,
                decode_duration=5.0 + 5.0 + 3.0,
                **gaps([(14.0, 1), (5.0, 1), (5.0, 1), (3.0, 1)]),
            )
        ],
        pools=[],
    )


@pytest.fixture
def preemption() -> RunRecord:
    """Section 13: memory for 12 tokens, three sessions, one preempted; every iteration lasts 1."""
    return RunRecord(
        horizon=10.0,
        end=10.0,
        warmup=0.0,
        seed=1,
        events=9,
        arrivals=3,
        ended=3,
        turns=3,
        live_at_end=0,
        live_area=4.0 + 6.0 + 9.0,
        observes={
            "start": samples((0, 0, 1, 0), (1, 1, 1, 1), (2, 2, 1, 2), (4, 2, 1, 4)),
            "done": samples((4, 0, 1, 4), (6, 1, 1, 6), (9, 2, 1, 9)),
        },
        client={
            "ttft": samples((1, 0, 1, 1), (3, 1, 1, 3), (6, 2, 1, 6)),
            "tpot": samples((4, 0, 1, 1), (6, 1, 1, 1), (9, 2, 1, 1)),
            "response": samples((4, 0, 1, 4), (6, 1, 1, 6), (9, 2, 1, 9)),
        },
        gauges={"used_kv": series(*enumerate([4, 8, 12, 12, 9, 11, 5, 6, 7, 0]))},
        outcomes=[],
        stages=[
            StageTally(
                "e",
                None,
                True,
                area=4.0 + 5 + 1 + 5,
                busy_time=9.0,
                completed=6,
                service_sum=1.0 + 2 + 3 + 3 + 2 + 3,
                iterations=9,
                prefill_only=1.0,
                decode_only=4.0,
                mixed=4.0,
                decode_area=9.0,
                decode_starts=8,
                decode_sum=9.0,
                decode_duration=8.0,
                **gaps([(1.0, 9)]),
            )
        ],
        pools=[
            PoolTally(
                "reqs",
                None,
                used_area=15.0,
                queue_area=4.0,
                holders_area=15.0,
                admissions=4,
                queue_admissions=4,
                wait_sum=0.0 + 1 + 2 + 1,
            ),
            PoolTally("kv", None, used_area=74.0, holders_area=15.0, admissions=4, preemptions=1),
        ],
    )


@pytest.fixture
def trouble() -> RunRecord:
    """An invented run after a warm-up in which everything that has a note or an odd result happens."""
    never = [(float(t), t, 1, 0.0) for t in range(100, 141)]
    return RunRecord(
        horizon=1_000.0,
        end=1_000.0,
        warmup=100.0,
        seed=7,
        events=321,
        arrivals=60,
        ended=41,
        turns=50,
        live_at_end=7,
        live_area=8_100.0,
        observes={
            "late": samples((50.0, 1, 1, 1.0), *never),
            "depth": samples((50.0, 1, 1, 9.0)),
            "odd": samples((150.0, 1, 1, float("inf")), (160.0, 2, 1, float("nan"))),
        },
        client={name: samples() for name in ("ttft", "tpot", "response")},
        gauges={"load": series((0.0, 5.0), (100.0, 0.25), (1_000.0, 9.0))},
        outcomes=[
            Outcome("work_conserving", "every_iteration", "holds", 1060, 0, None, None),
            Outcome("never_starves", "every_iteration", "fails", 1060, 1047, 93_500.0, None),
            Outcome("starves", "some_iteration", "witnessed", 1060, 13, 93_500.0, None),
            Outcome("overflows", "some_iteration", "not_witnessed", 1060, 1060, None, None),
            Outcome("single", "every_iteration", "holds", 1, 0, None, None),
            Outcome("served", "at_end", "not_evaluated", 0, 0, None, "7 sessions live at the end"),
            Outcome("small", "every_iteration", "out_of_scope", 3, 0, None, "session 3 fails `given`"),
            Outcome("enough", "at_end", "holds", 1, 0, None, None),
            Outcome("all", "at_end", "fails", 1, 1, 1_000.0, None),
        ],
        stages=[
            StageTally("e", 0, True, area=1_350.0, busy_time=900.0, iterations=4, idle_with_work=True),
            StageTally("e", 1, True),
            StageTally(
                "nic", None, False, area=90.0, busy_time=45.0, completed=9, wait_sum=0.5, service_sum=90.0
            ),
        ],
        pools=[
            PoolTally("kv", 0, used_area=900.0, rejected=1, stuck=2, evicted_entries=3, evicted_units=12.5),
            PoolTally("kv", 1, over_cap=("kv", 9.0), growing_at_end=1),
            PoolTally("disk", None, growing_at_end=2, growing_stalled=True),
        ],
        tests=frozenset({"late"}),
    )


@pytest.fixture
def golden() -> Callable[[str, str], None]:
    """Compares a text with a golden file; with SERQ_BLESS=1 writes the file instead."""

    def compare(name: str, text: str) -> None:
        path = Path(__file__).parent / "golden" / name
        if os.environ.get("SERQ_BLESS"):
            path.write_text(text + "\n", encoding="utf-8")
        assert text + "\n" == path.read_text(encoding="utf-8")

    return compare
