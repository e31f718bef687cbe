"""Recorded turns: what a file says, and what sessions get of it."""

from __future__ import annotations

import gzip
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import serq
import serq.longfiles
from serq.diagnostics import ProgramError, show_diagnostic
from serq.ir.workload import Trace
from serq.machine.trace import RecordedSessions, TracedTurn, read_trace
from tests.support.amounts import thinned

HEADING = "session,turn,new,out,think,forced\n"


def read(folder: Path, text: str | bytes) -> RecordedSessions:
    (folder / "turns.csv").write_bytes(text.encode() if isinstance(text, str) else text)
    return read_trace(Trace("turns.csv"), str(folder / "program.sq"))


def turns(sessions: RecordedSessions) -> list[list[tuple[float, ...]]]:
    return [[tuple(turn) for turn in session] for session in sessions]


def test_sessions_come_in_the_order_of_their_first_lines(tmp_path: Path) -> None:
    text = "9,1,1,2,3\n4,1,4,5,6\n9,2,7,8,9\n\n4,2,10,11,12\n2,1,0,0,0\n"
    assert turns(read(tmp_path, text)) == [
        [(1, 2, 3, 0), (7, 8, 9, 0)], [(4, 5, 6, 0), (10, 11, 12, 0)], [(0, 0, 0, 0)],
    ]  # fmt: skip


@pytest.mark.parametrize("change", [
    lambda text: text, lambda text: HEADING + text, lambda text: "\ufeff" + text, lambda text: "\n" + text,
    lambda text: text.replace("\n", "\r\n"), lambda text: text.rstrip(),
    lambda text: text.replace(",", " , "), lambda text: gzip.compress(text.encode()),
])  # fmt: skip
def test_the_same_turns_however_they_are_written(tmp_path: Path, change: object) -> None:
    text = "0,1,10,2.5,1e3,1\n0,2,20,0,0\n1,1,30,4,0\n"
    expected = [[(10, 2.5, 1000, 1), (20, 0, 0, 0)], [(30, 4, 0, 0)]]
    assert turns(read(tmp_path, change(text))) == expected  # type: ignore[operator]


def test_a_session_is_a_sequence_of_turns(tmp_path: Path) -> None:
    sessions = read(tmp_path, "0,1,1,2,3\n0,2,4,5,6\n1,1,7,8,9\n")
    assert len(sessions) == 2
    assert sessions[0][1] == sessions[0][-1] == TracedTurn(4, 5, 6, 0)
    assert list(sessions[0][1:]) == [TracedTurn(4, 5, 6, 0)]
    assert [len(session) for session in sessions[:]] == [2, 1]
    with pytest.raises(IndexError):
        sessions[1][1]
    with pytest.raises(IndexError):
        sessions[2]


@pytest.mark.parametrize(
    ("row", "code", "column"),
    [
        ("0,1,2,3", "SQ0617", 1),
        ("0,1,2,3,4,5,6", "SQ0617", 1),
        ("0,1,x,3,4", "SQ0618", 5),
        ("0,1,2,3,", "SQ0618", 9),
        ("0,1,2,inf,4", "SQ0618", 7),
        ("nan,1,2,3,4", "SQ0618", 1),
        ("0,1,1_000,3,4", "SQ0618", 5),
        ("0,1,2,3,1e999", "SQ0618", 9),
        ('0,1,"2",3,4', "SQ0618", 5),
    ],
)
@pytest.mark.parametrize("before", thinned([1, 100_000]))
def test_a_bad_line_has_a_place(tmp_path: Path, row: str, code: str, column: int, before: int) -> None:
    with pytest.raises(ProgramError) as stopped:
        read(tmp_path, HEADING + "0,1,2,3,4,0\n" * before + row + "\n0,1,2,3,4,0\n")
    (complaint,) = stopped.value.diagnostics
    assert complaint.at is not None
    assert (complaint.code, complaint.at.line, complaint.at.column) == (code, before + 2, column)
    assert f"  {before + 2} | {row}\n" in show_diagnostic(complaint)


FAULTS = [
    "0,1,x,3,4",
    "x,1,2,3,4",
    "s1,1,2,3,4",
    "0,1,2,3",
    "nan,1,2,3,4",
    ",,,,",
    "nan,nan,nan,nan,nan",
    "a b",
]


@pytest.mark.parametrize("row", FAULTS)
@pytest.mark.parametrize("above", ["", "\n", "# recorded in May\n", HEADING])
@pytest.mark.parametrize("below", ["", "0,1,2,3,4\n"])
def test_a_first_row_with_a_fault_is_no_heading(tmp_path: Path, above: str, row: str, below: str) -> None:
    with pytest.raises(ProgramError) as stopped:
        read(tmp_path, above + row + "\n" + below)
    (complaint,) = stopped.value.diagnostics
    assert complaint.at is not None
    assert (complaint.code in ("SQ0617", "SQ0618"), complaint.at.line) == (True, 2 if above else 1)


@pytest.mark.parametrize(
    "heading",
    [
        HEADING,
        HEADING.removesuffix(",forced\n") + "\n",
        "who, turn, in, out, rest\n",
        '"a","b","c","d","e"\n',
    ],
)
def test_names_above_the_rows_are_a_heading(tmp_path: Path, heading: str) -> None:
    for above in (heading, "\n" + heading, "# May\n\n" + heading):
        assert turns(read(tmp_path, above + "0,1,2,3,4\n# a pause\n0,2,5,6,7\n")) == [
            [(2, 3, 4, 0), (5, 6, 7, 0)]
        ]


@pytest.mark.parametrize("text", ["", "\n \n", "# nothing\n", HEADING])
def test_a_trace_without_a_turn_is_refused(tmp_path: Path, text: str) -> None:
    with pytest.raises(ProgramError, match="SQ0616"):
        read(tmp_path, text)


@pytest.mark.parametrize(
    "content", [b"0,1,\xff,3,4\n", b"\x1f\x8b\x08", gzip.compress(b"0,1,2,3,4\n" * 99, mtime=0)[:-9]]
)
def test_what_cannot_be_read_is_refused(tmp_path: Path, content: bytes) -> None:
    with pytest.raises(ProgramError, match="SQ0615"):
        read(tmp_path, content)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    st.lists(
        st.tuples(
            st.integers(-3, 5), st.floats(-1e300, 1e300), st.integers(0, 9),
            st.sampled_from(["0", "0.5", " 7", "1e2"]), st.sampled_from(["", ",0", ",3", "\n", " "]),
        ),
        min_size=1,
    ),
    st.sampled_from([1, 30, 2**20]),
)  # fmt: skip
def test_blocks_of_any_size_give_the_same(
    tmp_path: Path, rows: list[tuple[int, float, int, str, str]], block: int
) -> None:
    """Against the obvious reading: line by line into lists, by session."""
    text = "".join(f"{s},1,{new!r},{out},{think}{forced}\n" for s, new, out, think, forced in rows)
    expected: dict[int, list[tuple[float, ...]]] = {}
    for s, new, out, think, forced in rows:
        forced_value = float(forced.strip(",\n ") or 0)
        expected.setdefault(s, []).append((new, out, float(think), forced_value))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(serq.longfiles, "BLOCK_BYTES", block)
        assert turns(read(tmp_path, text)) == list(expected.values())


REPLAY = """
fn main() {
  stage y : delay;
  stage z : delay;
  workload {
    arrive renewal(10);
    trace "turns.csv" @;
    session { turn; while (more > 0) { run y (cost(y, think)); turn; } }
  }
  server { observe prompts = new; observe whose = serial; run z (cost(z, out)); }
}
"""


def test_sessions_replay_the_trace_in_order_and_again_from_its_beginning(tmp_path: Path) -> None:
    read(tmp_path, "5,1,100,1,2\n3,1,200,1,0\n5,2,101,1,0\n")
    (tmp_path / "program.sq").write_text(REPLAY.replace("@", "ordered"))
    report = serq.run(tmp_path / "program.sq", horizon=40)
    assert report.observes["prompts"].samples.tolist() == [100, 101, 200, 100, 101, 200]
    assert report.observes["prompts"].times.tolist() == [10, 13, 20, 30, 33, 40]


def test_sessions_pick_among_all_of_the_trace(tmp_path: Path) -> None:
    """40 sessions of 3: the chance to miss one of them is 3·(2/3)^40, 3e-7."""
    read(tmp_path, "5,1,100,1,2\n3,1,200,1,0\n5,2,101,1,0\n7,1,300,0,0\n")
    (tmp_path / "program.sq").write_text(REPLAY.replace("@", ""))
    report = serq.run(tmp_path / "program.sq", horizon=400)
    assert set(report.observes["prompts"].samples) == {100, 101, 200, 300}
