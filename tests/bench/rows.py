"""What is measured: programs, their inputs, and how far they run."""

from __future__ import annotations

from collections.abc import Iterator
from math import inf
from pathlib import Path

from attrs import Factory, frozen

ROOT = Path(__file__).parents[2]
PAPERS = ROOT / "examples" / "papers"
PROGRAMS = Path(__file__).parent / "programs"

CROWDS = {10: inf, 100: inf, 1_000: 5_000, 10_000: 20}
"""Sizes of a crowd, and how far the peer gets in two minutes."""


@frozen
class Row:
    """A program as it is measured.

    horizons, long: in the program's own unit of time; `long` only with `--long`. peer_most: how far the
    peer gets in two minutes. conversations: of the trace that it replays. loop: whether it runs as one
    generated loop (`serq.machine.fused`). in_c: it has been compiled before (`serq.machine.native`); the
    others are not compiled.
    """

    name: str
    file: Path
    horizons: tuple[float, ...]
    loop: bool
    long: tuple[float, ...] = ()
    sets: dict[str, float] = Factory(dict)
    defs: dict[str, str] = Factory(dict)
    conversations: int = 0
    in_c: bool = False
    peer_most: float = inf


ROWS = (
    Row("dai_sarathi", PAPERS / "dai_sarathi.sq", (5e6, 5e7, 5e8), True, long=(5e9,)),
    Row("dai_fastertransformer", PAPERS / "dai_fastertransformer.sq", (1e7, 2e7), True, long=(5e7,)),
    *(
        Row(
            f"crowd of {n}",
            PROGRAMS / "crowd.sq",
            (200_000,),
            True,
            sets={"crowd": n, "behind": 20_000},
            peer_most=most,
        )
        for n, most in CROWDS.items()
    ),
    Row("poisson, whole times", PROGRAMS / "poisson.sq", (5e7, 5e8), True),
    Row("poisson, fractional times", PROGRAMS / "poisson.sq", (5e5, 5e6), True, sets={"ticks": 1}),
    Row(
        "poisson, answers of 300",
        PROGRAMS / "poisson.sq",
        (5e6,),
        True,
        sets={"ticks": 1, "output": 300},
    ),
    Row("prefix cache", PROGRAMS / "prefix_cache.sq", (900,), False),
    Row("prefix cache, preemptions", PROGRAMS / "prefix_cache.sq", (900,), False, sets={"memory": 60_000}),
    Row("poisson, whole times, in C", PROGRAMS / "poisson.sq", (5e8,), True, in_c=True),
    Row(
        "poisson, fractional times, in C", PROGRAMS / "poisson.sq", (5e6,), True, sets={"ticks": 1}, in_c=True
    ),
    Row("prefix cache, in C", PROGRAMS / "prefix_cache.sq", (900,), False, in_c=True),
    Row(
        "prefix cache, preemptions, in C",
        PROGRAMS / "prefix_cache.sq",
        (900,),
        False,
        sets={"memory": 60_000},
        in_c=True,
    ),
    Row("order by remaining", PROGRAMS / "ordered.sq", (60_000,), True),
    Row("order by an attribute", PROGRAMS / "ordered.sq", (60_000,), True, defs={"order": "urgency"}),
    Row("trace", PROGRAMS / "replay.sq", (500_000,), False, conversations=3_000),
)


def turns(conversations: int) -> Iterator[str]:
    """The lines of a trace: 2 to 6 turns a conversation, some hundred tokens and some seconds a turn."""
    yield "session,turn,new,out,think"
    for session in range(conversations):
        last = 1 + 7 * session % 5
        for turn in range(last + 1):
            drawn = (7919 * session + 104_729 * turn) % 1009
            think = 1000 + 37 * drawn if turn < last else 0
            yield f"{session},{turn},{20 + drawn % 400},{50 + 31 * drawn % 700},{think}"
