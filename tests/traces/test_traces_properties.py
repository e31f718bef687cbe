"""Whatever the turns, the format, and the blocks in which a file is read."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import serq.longfiles
from serq.traces.entries import read_entries
from serq.traces.faults import Faults
from tests.traces.reading import HEADING, convert, read_back, summarize

tmp_path_is_overwritten = settings(suppress_health_check=[HealthCheck.function_scoped_fixture])


class Request(NamedTuple):
    time: int
    """milliseconds"""
    session: int
    new: int
    out: int


REQUESTS = st.lists(
    st.builds(
        Request, st.integers(0, 10**9), st.integers(0, 4), st.integers(0, 10**6), st.integers(0, 10**4)
    ),
    min_size=1,
    max_size=30,
).map(sorted)


def burstgpt(requests: Sequence[Request]) -> str:
    lines = ["Timestamp,Session ID,Elapsed time,Model,Request tokens,Response tokens,Total tokens,Log Type"]
    lines += [f"{r.time / 1000!r},s{r.session},1,M,{r.new},{r.out},0,C" for r in requests]
    return "\n".join(lines)


def objects(requests: Sequence[Request]) -> str:
    return "\n".join(
        json.dumps({"timestamp": r.time, "input_length": r.new, "output_length": r.out, "chat_id": r.session})
        for r in requests
    )


@tmp_path_is_overwritten
@given(REQUESTS, st.sampled_from([1, 7, 64, 2**20]))
def test_the_machine_reads_what_was_recorded(tmp_path: Path, requests: list[Request], block: int) -> None:
    """From seconds and from milliseconds, whole or in small blocks: the same sessions, by hand."""
    expected: dict[int, list[list[float]]] = {}
    last: dict[int, Request] = {}
    for r in requests:
        if r.session in last:
            expected[r.session][-1][2] = (r.time - last[r.session].time) / 1000
        expected.setdefault(r.session, []).append([r.new, r.out, 0.0])
        last[r.session] = r
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(serq.longfiles, "BLOCK_BYTES", block)
        rows, done = convert(tmp_path, burstgpt(requests))
        others, _ = convert(tmp_path, objects(requests), columns={"session": "chat_id"})
        sessions = read_back(tmp_path, rows)
    assert rows == others
    assert (done.turns, done.sessions) == (len(requests), len(expected))
    assert [[list(turn)[:3] for turn in session] for session in sessions] == list(expected.values())


TIMES = st.floats(0, 1e9) | st.integers(0, 1000)


@tmp_path_is_overwritten
@given(st.lists(st.tuples(st.integers(0, 3), TIMES, TIMES, TIMES), min_size=1), st.sampled_from([1, 2**20]))
def test_converting_an_own_trace_changes_no_turn(
    tmp_path: Path, turns: list[tuple[int, float, float, float]], block: int
) -> None:
    rows = "".join(f"{session},1,{new!r},{out!r},{think!r}\n" for session, new, out, think in turns)
    before = read_back(tmp_path, rows)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(serq.longfiles, "BLOCK_BYTES", block)
        assert read_back(tmp_path, rows) == before
        converted, _ = convert(tmp_path, HEADING + rows)
    assert read_back(tmp_path, converted) == before
    again, _ = convert(tmp_path, HEADING + converted)
    assert again == converted


@tmp_path_is_overwritten
@given(st.lists(st.text('0123456789.,x-_ "\n', max_size=12), max_size=8), st.booleans())
def test_no_table_is_too_strange(tmp_path: Path, lines: list[str], skip_bad: bool) -> None:
    """It is read or refused with places that exist; passing over rows leaves only readable ones."""
    from serq.diagnostics import ProgramError

    text = "prompt_len,output_len\n" + "\n".join(lines)
    try:
        rows, done = convert(tmp_path, text, skip_bad=skip_bad)
    except ProgramError as error:
        for complaint in error.diagnostics:
            assert complaint.code in {"SQ0952", "SQ0953", "SQ0956", "SQ0957"}
            if complaint.at is not None:
                assert complaint.at.column <= len(text.split("\n")[complaint.at.line - 1]) + 1
        return
    assert done.turns == len(rows.splitlines())
    assert sum(bool(line.strip()) for line in "\n".join(lines).split("\n")) == done.turns + done.skipped


VALUES = st.recursive(
    st.none() | st.integers() | st.text('aé𝄞"\\{}[],: \n'),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=10,
)


@pytest.mark.slow
@given(
    st.lists(st.dictionaries(st.text(), VALUES)),
    st.integers(1, 20),
    st.booleans(),
    st.sampled_from([None, 1]),
)
def test_lists_are_read_however_they_are_cut(
    values: list[dict[str, object]], size: int, ascii: bool, indent: int | None
) -> None:
    content = json.dumps(values, ensure_ascii=ascii, indent=indent).encode()
    chunks = [content[i : i + size] for i in range(0, len(content), size)]
    faults = Faults("list")
    entries = list(read_entries(chunks, True, faults))
    assert [entry.value for entry in entries] == values
    assert not faults.any
    text = content.decode()
    for entry in entries:
        line = text.split("\n")[entry.line - 1]
        assert line[entry.column - 1] == "{"


@tmp_path_is_overwritten
@given(REQUESTS)
def test_summaries_count_everything(tmp_path: Path, requests: list[Request]) -> None:
    summary = summarize(tmp_path, burstgpt(requests))
    assert summary.turns == len(requests)
    assert summary.sessions == len({r.session for r in requests})
    for key, values in (("new", [r.new for r in requests]), ("out", [r.out for r in requests])):
        figures, histogram = summary.figures[key], summary.histograms[key]
        assert (figures.min, figures.max) == (min(values), max(values))
        ranked = sorted(values)
        assert figures.p90 == ranked[-(-len(values) * 90 // 100) - 1]
        for i, count in enumerate(histogram.counts):
            low, high = histogram.edges[i : i + 2]
            assert count == sum(low <= value < high for value in values)
        assert sum(histogram.counts) == len(values)
    if summary.rates is not None:
        assert sum(summary.rates.counts) == len(requests)
