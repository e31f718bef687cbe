"""The formats that traces come in: which of their columns says what.

Facts about the public ones, as their publishers describe them:

- azure: one request a line, a date and two counts of tokens (Azure public dataset, LLM inference traces
  of 2023 and 2024; the multimodal trace of 2025 has a further column).
- burstgpt: seconds from a first midnight; from the third file on a session, empty for requests to the
  API, and the seconds until the answer was there. A request that failed has an answer of 0 tokens.
- mooncake: milliseconds from the first request, a list of hashes of 512-token blocks of the prompt.
- sharegpt: conversations, lists of messages of a human and of a model.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping

from attrs import field, frozen

NEW, OUT, SESSION, TURN, THINK, FORCED, TIME, ELAPSED = ROLES = (
    "new", "out", "session", "turn", "think", "forced", "time", "elapsed",
)  # fmt: skip
"""What a column may say: tokens of the prompt, tokens of the answer, the conversation, its turn, the
time before the next turn, an attribute of the program's choice, when the request came, how long its
answer took."""

OWN_COLUMNS = (SESSION, TURN, NEW, OUT, THINK, FORCED)
"""The columns of serq's own trace, in order."""

UNITS: Mapping[str, float] = {"us": 1e-6, "ms": 1e-3, "s": 1.0, "min": 60.0, "h": 3600.0}
"""Units of time, in seconds."""


@frozen
class Format:
    """One way to write a trace.

    name: as the command line has it. title: for people. columns: role -> heading, needed. optional:
    the same, used where they are there. unit: of its times that are numbers. json: entries are JSON
    objects, else lines of fields. conversations: an entry is a conversation with its messages.
    """

    name: str
    title: str
    columns: Mapping[str, str] = field(factory=dict)
    optional: Mapping[str, str] = field(factory=dict)
    unit: str = "s"
    json: bool = False
    conversations: bool = False

    @property
    def all_columns(self) -> dict[str, str]:
        """Role -> heading of every column it may have."""
        return {**self.columns, **self.optional}


_ALL_FORMATS = (
    Format(
        "serq",
        "serq's own trace",
        {role: role for role in OWN_COLUMNS if role != FORCED},
        {FORCED: FORCED},
    ),
    Format(
        "azure",
        "Azure LLM inference trace",
        {TIME: "TIMESTAMP", NEW: "ContextTokens", OUT: "GeneratedTokens"},
    ),
    Format(
        "burstgpt",
        "BurstGPT",
        {TIME: "Timestamp", NEW: "Request tokens", OUT: "Response tokens"},
        {SESSION: "Session ID", ELAPSED: "Elapsed time"},
    ),
    Format(
        "mooncake",
        "Mooncake",
        {TIME: "timestamp", NEW: "input_length", OUT: "output_length"},
        unit="ms",
        json=True,
    ),
    Format("sharegpt", "ShareGPT conversations", json=True, conversations=True),
    Format("lengths", "prompt and output lengths", {NEW: "prompt_len", OUT: "output_len"}),
    Format("csv", "lines of fields, columns as named"),
    Format("json", "JSON objects, keys as named", json=True),
)

FORMATS: Mapping[str, Format] = {format.name: format for format in _ALL_FORMATS}
"""By name."""


def find_format(headings: Collection[str], json: bool) -> Format | None:
    """The format whose columns are all among the headings; None when there is none."""
    present = set(headings)
    for format in _ALL_FORMATS:
        needed = set(format.columns.values()) or ({"conversations"} if format.conversations else set())
        if format.json == json and needed and needed <= present:
            return format
    return None
