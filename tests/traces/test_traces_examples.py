"""The traces of examples/traces are made as their README says."""

from __future__ import annotations

import runpy
from io import StringIO
from pathlib import Path

import pytest

import serq
from serq.traces import Conversion, TraceSummary, convert_trace, open_trace, summarize_trace

FOLDER = Path(__file__).parents[2] / "examples" / "traces"
MADE: dict[str, str] = runpy.run_path(str(FOLDER / "make_traces.py"))["make_files"]()


@pytest.mark.parametrize("name", MADE)
def test_a_file_is_what_its_program_makes(name: str) -> None:
    assert (FOLDER / name).read_text(encoding="utf-8") == MADE[name]


def test_own_turns_are_the_converted_ones() -> None:
    out = StringIO()
    with open_trace(str(FOLDER / "burstgpt.csv")) as trace:
        convert_trace(trace, out, Conversion("ms", pause=True, history=True, drop_failed=True))
    assert (FOLDER / "turns.csv").read_text(encoding="utf-8") == out.getvalue()


def test_all_formats_tell_of_the_same_service() -> None:
    """Prompts, answers and their number agree; the conversations of two of the formats as well."""

    def summary(name: str) -> TraceSummary:
        with open_trace(str(FOLDER / name)) as trace:
            return summarize_trace(trace)

    azure, mooncake, lengths, chats = map(
        summary, ["azure.csv", "mooncake.jsonl", "lengths.csv", "sharegpt.json"]
    )
    assert (
        azure.turns
        == mooncake.turns
        == lengths.turns
        == chats.turns
        == len(MADE["azure.csv"].splitlines()) - 1
    )
    assert azure.figures["new"] == mooncake.figures["new"] == lengths.figures["new"]
    assert azure.figures["out"] == mooncake.figures["out"] == lengths.figures["out"] == chats.figures["out"]
    assert azure.span == pytest.approx(mooncake.span, abs=1e-3)
    assert chats.sessions == 60


def test_the_program_replays_every_conversation() -> None:
    report = serq.run(FOLDER / "replay.sq", horizon=500_000)
    assert report.arrivals == 100
    assert report.claim("full").result == "holds"
