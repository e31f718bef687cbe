"""Every format becomes the same turns."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import pytest

from tests.traces.reading import convert

AZURE = """\
TIMESTAMP,ContextTokens,GeneratedTokens
2023-11-16 18:15:46.6805900,374,44
2023-11-16 18:15:50.9951690,396,109
2023-11-16 18:15:51.2224670,879,55
"""

BURSTGPT = """\
Timestamp,Model,Request tokens,Response tokens,Total tokens,Log Type
5,ChatGPT,472,18,490,Conversation log
45,ChatGPT,1087,230,1317,Conversation log
118,GPT-4,417,0,417,API log
"""

# Two conversations, mixed, with a request to the API between them.
BURSTGPT_SESSIONS = """\
Timestamp,Session ID,Elapsed time,Model,Request tokens,Response tokens,Total tokens,Log Type
100.0,b,4,GPT-4,30,10,40,Conversation log
110.0,a,2,GPT-4,50,20,70,Conversation log
111.0,,1,GPT-4,500,0,500,API log
125.5,b,3,GPT-4,55,5,60,Conversation log
126.0,,1,GPT-4,500,7,507,API log
131.0,b,3,GPT-4,20,8,28,Conversation log
131.0,a,9,GPT-4,75,6,81,Conversation log
"""

MOONCAKE = """\
{"timestamp": 0, "input_length": 655, "output_length": 52, "hash_ids": [46, 47]}
{"timestamp": 10535, "input_length": 672, "output_length": 26, "hash_ids": [46, 47]}
"""


def test_azure_requests_are_sessions_of_one_turn(tmp_path: Path) -> None:
    rows, done = convert(tmp_path, AZURE)
    assert rows == "0,1,374,44,0\n1,1,396,109,0\n2,1,879,55,0\n"
    assert (done.turns, done.sessions, done.backwards) == (3, 3, 0)


def test_azure_dates_of_2024_have_a_zone_and_sometimes_no_fraction(tmp_path: Path) -> None:
    text = AZURE.replace("2023-11-16 18:15:50.9951690", "2024-05-10 00:00:10+00:00")
    text = text.replace("2023-11-16 18:15:46.6805900", "2024-05-10 00:00:00.009930+00:00")
    text = text.replace("2023-11-16 18:15:51.2224670", "2024-05-10 02:00:09+02:00")
    _, done = convert(tmp_path, text)
    assert (done.turns, done.backwards) == (3, 1)


def test_the_multimodal_azure_trace_has_a_column_more(tmp_path: Path) -> None:
    text = "TIMESTAMP,NumImages,ContextTokens,GeneratedTokens\n2024-10-15 00:00:01.5,3,900,12\n"
    assert convert(tmp_path, text)[0] == "0,1,900,12,0\n"


def test_burstgpt_without_sessions(tmp_path: Path) -> None:
    assert convert(tmp_path, BURSTGPT)[0] == "0,1,472,18,0\n1,1,1087,230,0\n2,1,417,0,0\n"
    rows, done = convert(tmp_path, BURSTGPT, drop_failed=True)
    assert (rows, done.failed) == ("0,1,472,18,0\n1,1,1087,230,0\n", 1)


def test_burstgpt_sessions_think_from_request_to_request(tmp_path: Path) -> None:
    rows, done = convert(tmp_path, BURSTGPT_SESSIONS)
    assert rows.splitlines() == [
        "0,1,30,10,25.5", "0,2,55,5,5.5", "0,3,20,8,0",
        "1,1,50,20,21", "1,2,75,6,0",
        "2,1,500,0,0",
        "3,1,500,7,0",
    ]  # fmt: skip
    assert (done.turns, done.sessions) == (7, 4)


def test_a_pause_begins_when_the_answer_is_there(tmp_path: Path) -> None:
    rows, _ = convert(tmp_path, BURSTGPT_SESSIONS, pause=True, time_unit="ms")
    assert [row.split(",")[4] for row in rows.splitlines()] == ["21500", "2500", "0", "19000", "0", "0", "0"]


def test_a_pause_is_never_negative(tmp_path: Path) -> None:
    text = BURSTGPT_SESSIONS.replace("125.5,b,3", "125.5,b,30")
    assert convert(tmp_path, text, pause=True)[0].splitlines()[1] == "0,2,55,5,0"


def test_history_is_taken_off_prompts(tmp_path: Path) -> None:
    """55 - 30 - 10 = 15; 20 is less than 55 + 5, so all of it is new; 75 - 50 - 20 = 5."""
    rows, done = convert(tmp_path, BURSTGPT_SESSIONS, history=True)
    assert [row.split(",")[2] for row in rows.splitlines()] == ["30", "15", "20", "50", "5", "500", "500"]
    assert done.restarted == 1


def test_sessions_can_be_left_aside(tmp_path: Path) -> None:
    rows, done = convert(tmp_path, BURSTGPT_SESSIONS, sessions=False)
    assert rows.splitlines()[:2] == ["0,1,30,10,0", "1,1,50,20,0"]
    assert done.sessions == 7


def test_turns_of_a_session_are_put_in_order_of_time(tmp_path: Path) -> None:
    heading, *lines = BURSTGPT_SESSIONS.splitlines()
    rows, done = convert(tmp_path, "\n".join([heading, *lines[4:], *lines[:4]]))
    assert done.backwards == 1
    assert rows.splitlines()[:3] == ["0,1,30,10,25.5", "0,2,55,5,5.5", "0,3,20,8,0"]


def test_mooncake_is_in_milliseconds(tmp_path: Path) -> None:
    assert convert(tmp_path, MOONCAKE)[0] == "0,1,655,52,0\n1,1,672,26,0\n"
    rows, _ = convert(tmp_path, MOONCAKE, columns={"session": "hash_ids"})
    assert rows == "0,1,655,52,10.535\n0,2,672,26,0\n"


def test_lengths_with_and_without_a_heading(tmp_path: Path) -> None:
    assert convert(tmp_path, "prompt_len,output_len\n6,4\n7,4.0\n")[0] == "0,1,6,4,0\n1,1,7,4,0\n"
    assert convert(tmp_path, "6,4\n7,5", format="lengths")[0] == "0,1,6,4,0\n1,1,7,5,0\n"


CONVERSATIONS = [
    {"id": "a", "conversations": [
        {"from": "human", "value": 5}, {"from": "gpt", "value": 7},
        {"from": "human", "value": 3}, {"from": "gpt", "value": 2}, {"from": "gpt", "value": 1},
        {"from": "human", "value": 9},
    ]},
    {"id": "b", "conversations": [
        {"from": "gpt", "value": 40}, {"from": "system", "value": 10}, {"from": "human", "value": 3},
        {"from": "gpt", "value": 0},
    ]},
    {"id": "c", "conversations": [{"from": "gpt", "value": 40}]},
    {"id": "d", "conversations": []},
    {"id": "e", "messages": [{"role": "user", "content": 1}, {"role": "assistant", "content": 2}]},
]  # fmt: skip

TURNS = "0,1,5,7,0\n0,2,3,3,0\n1,1,53,0,0\n2,1,1,2,0\n"
"""What stands before the first question counts as prompt; what nobody answered is no turn."""


@pytest.mark.parametrize("indent", [None, 2])
def test_conversations_in_a_list(tmp_path: Path, indent: int | None) -> None:
    assert convert(tmp_path, json.dumps(CONVERSATIONS, indent=indent))[0] == TURNS


def test_conversations_line_by_line(tmp_path: Path) -> None:
    text = "\n".join(map(json.dumps, CONVERSATIONS))
    assert convert(tmp_path, text)[0] == TURNS


def test_texts_are_estimated_on_request(tmp_path: Path) -> None:
    messages = [{"from": "human", "value": "Hello, you!"}, {"from": "gpt", "value": ""}]
    text = json.dumps([{"conversations": messages}])
    assert convert(tmp_path, text, characters=4)[0] == "0,1,3,0,0\n"


def test_own_traces_keep_their_times(tmp_path: Path) -> None:
    text = "session,turn,new,out,think,forced\n"
    text += "7,1,10,2,0.1,1\n-3,1,1,1,1e-7,0\n7,2,2.5,3,0.30000000000000004,2\n"
    rows, _ = convert(tmp_path, text)
    assert rows == "0,1,10,2,0.1,1\n0,2,2.5,3,0.30000000000000004,2\n1,1,1,1,1e-07,0\n"
    assert convert(tmp_path, "7,1,10,2,250\n", time_unit="h")[0] == "0,1,10,2,250\n"
    assert convert(tmp_path, "7,1,10,2,250\n", input_unit="ms")[0] == "0,1,10,2,0.25\n"


def test_any_table_and_any_objects_with_their_columns_named(tmp_path: Path) -> None:
    columns = {"new": "in", "out": "out tokens", "time": "at", "session": "who"}
    text = 'who,at,"in","out tokens"\nx,0,5,1\n"y, z",1,6,2\nx,2.5,7,3\n'
    expected = "0,1,5,1,2.5\n0,2,7,3,0\n1,1,6,2,0\n"
    assert convert(tmp_path, text, columns=columns)[0] == expected
    entries = [
        {"who": "x", "at": "0", "in": 5, "out tokens": 1},
        {"who": 3, "at": 1, "in": 6, "out tokens": 2},
        {"who": "x", "at": 2.5, "in": 7, "out tokens": 3},
    ]
    assert convert(tmp_path, json.dumps(entries), columns=columns)[0] == expected


@pytest.mark.parametrize("text", [AZURE, BURSTGPT_SESSIONS, MOONCAKE, json.dumps(CONVERSATIONS)])
def test_gzip_line_ends_and_byte_order_marks_change_nothing(tmp_path: Path, text: str) -> None:
    expected = convert(tmp_path, text)
    assert convert(tmp_path, gzip.compress(text.encode())) == expected
    assert convert(tmp_path, text.replace("\n", "\r\n")) == expected
    assert convert(tmp_path, "\ufeff" + text) == expected
    assert convert(tmp_path, text.rstrip("\n")) == expected
    assert convert(tmp_path, "\n \n" + text + "\n\n") == expected
