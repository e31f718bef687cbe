"""Every bad row is said with its place; a file that is something else is refused at once."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import serq.longfiles
from serq.diagnostics import show_diagnostic
from tests.traces.reading import complaints, convert, said

AZURE = "TIMESTAMP,ContextTokens,GeneratedTokens\n"
GOOD = "2024-05-10 00:00:00,374,44\n"


@pytest.mark.parametrize(
    ("row", "code", "column"),
    [
        ("2024-05-10 00:00:00,374", "SQ0952", 1),
        ("2024-05-10 00:00:00,374,44,", "SQ0952", 1),
        ("2024-05-10 00:00:00,,44", "SQ0953", 21),
        ("2024-05-10 00:00:00,374,many", "SQ0953", 25),
        ("2024-05-10 00:00:00,-1,44", "SQ0953", 21),
        ("2024-05-10 00:00:00,1.5,44", "SQ0953", 21),
        ("2024-05-10 00:00:00,nan,44", "SQ0953", 21),
        ("2024-05-10 00:00:00,inf,44", "SQ0953", 21),
        ("2024-05-10 00:00:00,1e400,44", "SQ0953", 21),
        ("2024-05-10 00:00:00,1_000,44", "SQ0953", 21),
        ("2024-05-10 00:00:00,0x10,44", "SQ0953", 21),
        ("2024-05-10 00:00:00," + "9" * 5000 + ",44", "SQ0953", 21),
        ('2024-05-10 00:00:00,"many, really",44', "SQ0953", 21),
        ("yesterday,374,44", "SQ0953", 1),
        ("2024-13-10 00:00:00,374,44", "SQ0953", 1),
        ("2024-05-10 00:00:00Z,374,44", "SQ0953", 1),  # the others have no zone
        ("17.5,374,44", "SQ0953", 1),  # the others are dates
        (",374,44", "SQ0953", 1),
    ],
)
def test_a_bad_row_has_a_place(tmp_path: Path, row: str, code: str, column: int) -> None:
    assert said(tmp_path, AZURE + GOOD + row + "\n" + GOOD) == [(code, 3, column)]
    rows, done = convert(tmp_path, AZURE + GOOD + row + "\n" + GOOD, skip_bad=True)
    assert (rows, done.skipped) == ("0,1,374,44,0\n1,1,374,44,0\n", 1)


def test_the_first_row_may_be_the_bad_one(tmp_path: Path) -> None:
    rows, done = convert(tmp_path, AZURE + "?,1,2\n" + GOOD, skip_bad=True)
    assert (rows, done.skipped) == ("0,1,374,44,0\n", 1)


@pytest.mark.parametrize(
    ("row", "format", "code", "column"),
    [
        ("0,1,x,3,4", None, "SQ0953", 5),
        ("x,1,2,3,4", None, "SQ0953", 1),
        ("x,7", "lengths", "SQ0953", 1),
        ("2024-05-10 00:00:00,x,44", "azure", "SQ0953", 21),
    ],
)
def test_a_first_row_with_a_fault_is_no_heading(
    tmp_path: Path, row: str, format: str | None, code: str, column: int
) -> None:
    assert said(tmp_path, row + "\n", format=format) == [(code, 1, column)]
    (complaint,) = complaints(tmp_path, row + "\n", format=format, skip_bad=True)
    assert (complaint.code, "the only one is bad" in complaint.message) == ("SQ0956", True)


def test_all_faults_are_said_at_once_with_their_lines(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also where the file is read in many blocks; a row with two faults is two complaints."""
    monkeypatch.setattr(serq.longfiles, "BLOCK_BYTES", 64)
    text = AZURE + GOOD * 10 + "x,y,1\n" + GOOD * 10 + "2024-05-10 00:00:00,1\n" + GOOD
    assert said(tmp_path, text) == [("SQ0953", 12, 1), ("SQ0953", 12, 3), ("SQ0952", 23, 1)]


def test_a_complaint_shows_the_row_and_a_way_out(tmp_path: Path) -> None:
    (complaint,) = complaints(tmp_path, AZURE + GOOD + "2024-05-10 00:00:01,3x4,44\n")
    assert show_diagnostic(complaint).replace(str(tmp_path), "…").splitlines() == [
        "…/trace:3:21: error[SQ0953]: `ContextTokens` is `3x4`, which is not a whole number of tokens, "
        "0 or more",
        "  3 | 2024-05-10 00:00:01,3x4,44",
        "    |                     ^^^",
        "  help: mend it, name another column with `--columns`, or pass over such rows with `--skip-bad`",
    ]


def test_a_file_full_of_faults_is_given_up(tmp_path: Path) -> None:
    assert len(complaints(tmp_path, AZURE + "x,1,2\n" * 10_000)) == 100
    (complaint,) = complaints(tmp_path, AZURE + "x,1,2\n" * 10_000, skip_bad=True)
    assert complaint.code == "SQ0956"
    assert [(note.at.line, note.at.column) for note in complaint.notes if note.at] == [(2, 1)]


@pytest.mark.parametrize("text", ["", "\n\n", AZURE, "[]", "[ ]", '[{"conversations": []}]'])
def test_a_trace_without_a_turn_is_none(tmp_path: Path, text: str) -> None:
    assert [c.code for c in complaints(tmp_path, text)] == ["SQ0957"]


def test_nothing_may_be_left_after_leaving_out(tmp_path: Path) -> None:
    text = "Timestamp,Request tokens,Response tokens\n5,7,0\n"
    (complaint,) = complaints(tmp_path, text, drop_failed=True)
    assert (complaint.code, "--drop-failed" in (complaint.help or "")) == ("SQ0957", True)


@pytest.mark.parametrize(
    ("text", "options", "code", "words"),
    [
        ("a,b,c\n1,2,3\n", {}, "SQ0950", "`a`, `b`, `c`"),
        ("1,2,3\n", {}, "SQ0950", "`1,2,3`"),
        ("fn main() { }\n", {}, "SQ0950", "`fn main() { }`"),
        ('{"a": 1}\n', {}, "SQ0950", "`a`"),
        (AZURE, {"format": "burstgpt"}, "SQ0951", "no column `Timestamp` for `time`"),
        (AZURE, {"format": "mooncake"}, "SQ0951", "it is lines of fields, not JSON"),
        ('{"a": 1}\n', {"format": "azure"}, "SQ0951", "it is JSON, not lines of fields"),
        (AZURE, {"columns": {"session": "who"}}, "SQ0951", "no column `who` for `session`"),
        ("a,b\n1,2\n", {"format": "csv"}, "SQ0951", "which column is `new`"),
        ("1,2,3\n", {"format": "lengths"}, "SQ0951", "line 1 has 3 fields"),
    ],
)
def test_a_wrong_format_is_refused_before_its_rows(
    tmp_path: Path, text: str, options: dict[str, object], code: str, words: str
) -> None:
    (complaint,) = complaints(tmp_path, text, **options)
    assert complaint.code == code
    assert words in complaint.message


def test_a_misspelt_column_is_recognized(tmp_path: Path) -> None:
    (complaint,) = complaints(tmp_path, AZURE, columns={"new": "ContextToken"})
    assert complaint.help == "did you mean `ContextTokens`?"


def test_a_pause_needs_the_end_of_answers(tmp_path: Path) -> None:
    text = "who,at,in,out\nx,0,1,2\nx,5,1,2\n"
    columns = {"session": "who", "time": "at", "new": "in", "out": "out"}
    (complaint,) = complaints(tmp_path, text, columns=columns, pause=True)
    assert (complaint.code, "`elapsed`" in complaint.message) == ("SQ0951", True)


REQUEST = {"timestamp": 0, "input_length": 5, "output_length": 2}


@pytest.mark.parametrize(
    ("line", "code", "column"),
    [
        ('{"timestamp": 0, "input_length": 5', "SQ0954", 35),
        ("[1]", "SQ0954", 1),
        ("nothing", "SQ0954", 1),
        ("[" * 100_000, "SQ0954", 1),
        ('{"timestamp": 0, "input_length": 5}', "SQ0955", 1),
        ('{"timestamp": 0, "input_length": "five", "output_length": 2}', "SQ0953", 34),
        ('{"timestamp": 0, "input_length": true, "output_length": 2}', "SQ0953", 34),
        ('{"timestamp": 0, "input_length": null, "output_length": 2}', "SQ0953", 34),
        ('{"timestamp": 0, "input_length": [5], "output_length": 2}', "SQ0953", 34),
        ('{"timestamp": 0, "input_length": NaN, "output_length": 2}', "SQ0953", 34),
        ('{"timestamp": {}, "input_length": 1, "output_length": 2}', "SQ0953", 15),
    ],
)
def test_a_bad_object_has_a_place(tmp_path: Path, line: str, code: str, column: int) -> None:
    good = json.dumps(REQUEST)
    assert said(tmp_path, f"{good}\n{line}\n{good}\n") == [(code, 2, column)]
    assert convert(tmp_path, f"{good}\n{line}\n{good}\n", skip_bad=True)[1].skipped == 1


@pytest.mark.parametrize(
    ("message", "words"),
    [
        ({"from": "human", "value": -1}, "`conversations[1].value` is `-1`"),
        ({"from": "human", "value": None}, "`conversations[1].value` is `null`"),
        ({"from": "nobody", "value": 1}, '`conversations[1].from` is `"nobody"`'),
        ({"value": 1}, "`conversations[1].from` is `null`"),
        ("hello", '`conversations[1]` is `"hello"`'),
    ],
)
def test_a_bad_message_is_named(tmp_path: Path, message: object, words: str) -> None:
    good = [{"from": "human", "value": 1}, {"from": "gpt", "value": 1}]
    entries = [{"conversations": good}, {"conversations": [good[0], message]}, {"conversations": good}]
    text = ",\n".join(map(json.dumps, entries))
    (complaint,) = complaints(tmp_path, f"[{text}]")
    assert complaint.at is not None
    assert (complaint.code, complaint.at.line) == ("SQ0953", 2)
    assert words in complaint.message
    assert convert(tmp_path, f"[{text}]", skip_bad=True)[0] == "0,1,1,1,0\n1,1,1,1,0\n"


def test_text_has_no_tokens_of_its_own(tmp_path: Path) -> None:
    text = json.dumps([{"conversations": [{"from": "human", "value": "Hello"}]}])
    (complaint,) = complaints(tmp_path, text)
    assert complaint.code == "SQ0958"
    assert "`conversations[0].value`" in complaint.message


def test_the_rest_of_a_broken_list_is_lost(tmp_path: Path) -> None:
    good = json.dumps({"conversations": [{"from": "human", "value": 1}, {"from": "gpt", "value": 1}]})
    for rest, line, column in [
        (", {oops}]", 2, len(good) + 4),
        (" 5]", 2, len(good) + 2),
        ("", 2, len(good) + 1),
    ]:
        text = "[\n" + good + rest
        assert said(tmp_path, text) == [("SQ0954", line, column)]
        assert convert(tmp_path, text, skip_bad=True)[1].skipped == 1


def test_what_is_no_text_is_said_with_its_place(tmp_path: Path) -> None:
    content = (AZURE + GOOD + "é").encode() + b"\xff,1,2\n"
    assert said(tmp_path, content) == [("SQ0913", 3, 2)]
    assert said(tmp_path, b'[{"a":\n "\xff"}]') == [("SQ0913", 2, 3)]
    assert said(tmp_path, b"\x1f\x8b\x08 no gzip at all")[0][0] == "SQ0912"


def test_a_line_without_an_end_is_not_read_into_memory(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(serq.longfiles, "LONGEST_LINE", 1000)
    monkeypatch.setattr(serq.longfiles, "BLOCK_BYTES", 100)
    (complaint,) = complaints(tmp_path, "a," * 10_000)
    assert complaint.code == "SQ0912"
    assert "longer than" in complaint.message
