"""Makes the traces of this folder: the same small invented service in the formats people publish.

Nothing here was measured. Conversations begin as a Poisson stream; prompts and answers have log-normal
lengths; a prompt holds all that was said before. `python make_traces.py` writes the files again.
"""

from __future__ import annotations

import json
from datetime import datetime, timedelta
from pathlib import Path
from random import Random
from typing import NamedTuple
from uuid import UUID

CONVERSATIONS = 60


class Request(NamedTuple):
    """time: seconds from the first one; said: tokens of the message; prompt: those and all before it."""

    time: float
    conversation: int
    elapsed: float
    said: int
    prompt: int
    answer: int


def make_requests(draws: Random) -> list[Request]:
    """The requests of all conversations, in the order in which they come."""
    requests = []
    begin = 0.0
    for conversation in range(CONVERSATIONS):
        begin += draws.expovariate(1 / 20) if conversation else 0.0
        time, history = begin, 0
        for _ in range(min(8, 1 + int(draws.expovariate(1 / 1.5)))):
            said = max(1, round(draws.lognormvariate(4.5, 1.0)))
            answer = max(1, round(draws.lognormvariate(5.0, 0.7)))
            elapsed = round(0.2 + 0.02 * answer, 1)
            requests.append(Request(round(time, 3), conversation, elapsed, said, history + said, answer))
            history += said + answer
            time += elapsed + draws.lognormvariate(3.0, 0.8)
    return sorted(requests)


def azure(requests: list[Request]) -> str:
    begin = datetime(2024, 5, 10)
    lines = ["TIMESTAMP,ContextTokens,GeneratedTokens"]
    for r in requests:
        date = (begin + timedelta(seconds=r.time)).isoformat(" ", "microseconds")
        lines.append(f"{date}+00:00,{r.prompt},{r.answer}")
    return "\n".join(lines) + "\n"


def burstgpt(requests: list[Request], draws: Random) -> str:
    names = [UUID(int=draws.getrandbits(128), version=4) for _ in range(CONVERSATIONS)]
    lines = ["Timestamp,Session ID,Elapsed time,Model,Request tokens,Response tokens,Total tokens,Log Type"]
    for r in requests:
        tokens = f"{r.prompt},{r.answer},{r.prompt + r.answer}"
        lines.append(
            f"{r.time + 3600:.1f},{names[r.conversation]},{r.elapsed:.0f},ChatGPT,{tokens},Conversation log"
        )
        if draws.random() < 0.1:  # a program asks too: no conversation, and sometimes no answer
            answer = draws.choice([0, 20, 40])
            lines.append(f"{r.time + 3600:.1f},,1,GPT-4,500,{answer},{500 + answer},API log")
    return "\n".join(lines) + "\n"


def mooncake(requests: list[Request]) -> str:
    """Prompts in blocks of 512 tokens; a conversation's prompts share their first blocks."""
    blocks: dict[tuple[int, int], int] = {}
    lines = []
    for r in requests:
        hashes = [
            blocks.setdefault((r.conversation, block), len(blocks)) for block in range(-(-r.prompt // 512))
        ]
        entry = {
            "timestamp": round(1000 * r.time), "input_length": r.prompt, "output_length": r.answer,
            "hash_ids": hashes,
        }  # fmt: skip
        lines.append(json.dumps(entry))
    return "\n".join(lines) + "\n"


def sharegpt(requests: list[Request]) -> str:
    """Conversations with the tokens of each message in place of its text."""
    conversations: list[dict[str, object]] = []
    for number in range(CONVERSATIONS):
        messages = [
            {"from": speaker, "value": tokens}
            for r in requests
            if r.conversation == number
            for speaker, tokens in (("human", r.said), ("gpt", r.answer))
        ]
        conversations.append({"id": f"made_{number}", "conversations": messages})
    return "[\n" + ",\n".join(map(json.dumps, conversations)) + "\n]\n"


def lengths(requests: list[Request]) -> str:
    return "prompt_len,output_len\n" + "".join(f"{r.prompt},{r.answer}\n" for r in requests)


def make_files() -> dict[str, str]:
    """The text of each file by its name."""
    draws = Random(2024)
    requests = make_requests(draws)
    return {
        "azure.csv": azure(requests),
        "burstgpt.csv": burstgpt(requests, draws),
        "mooncake.jsonl": mooncake(requests),
        "sharegpt.json": sharegpt(requests),
        "lengths.csv": lengths(requests),
    }


if __name__ == "__main__":
    for name, text in make_files().items():
        Path(__file__).with_name(name).write_text(text, encoding="utf-8")
