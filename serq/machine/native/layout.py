"""The records that a compiled run lives in, once for C and for Python."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np

# Every field takes eight bytes: `d` is a double, `i` a whole number, `p` a pointer.
RECORDS: dict[str, tuple[tuple[str, str], ...]] = {
    "Session": (
        # What an iteration looks at stands together.
        ("d", "remaining given growth last_token first_token"),
        ("i", "stage decode part tokens decoded known token_at hold"),
        ("d", "joined_at turn_started wait_since loss woke_at admission"),
        ("i", "serial pc back place in_turn lost_at waiting advanced stuck wakes passes next after"),
        ("i", "drawn drawn_in_turn"),
    ),
    "Part": (("d", "units position"), ("i", "has own")),
    "Pool": (
        ("d", "cap block used cached used_area cached_area queue_area holders_area since wait_sum"),
        ("d", "evicted_units"),
        ("i", "queued head tail holders admissions queue_admissions evicted_entries preemptions"),
        ("i", "rejected oldest newest growing grow_head grow_tail of_engine may_preempt requeue_head"),
    ),
    "Stage": (("d", "area busy_time service since"), ("i", "present completed")),
    "Entry": (("d", "units"), ("i", "owner older newer")),
    "Delay": (("d", "time"), ("i", "number session")),
    "Sample": (("d", "time value"), ("i", "session turn")),
    "Series": (("p", "samples"), ("i", "count room")),
    "Gap": (("d", "gap"), ("i", "count")),
    "Claim": (("d", "first"), ("i", "checked failures")),
    "Rejection": (("d", "asked"), ("i", "session hold part")),
    "Stuck": (("i", "session hold pool"),),
    "Run": (
        ("d", "now horizon live_area live_since left returned batch_tokens prefilled attention each"),
        ("d", "served started finish_at arrive_at warm_at prefill_only decode_only mixed decode_area"),
        ("d", "decode_duration offer"),
        ("i", "status events arrived live ended turns number wanted drained idle fruitless forming"),
        ("i", "decoding decoders preempted admitted refused joined batch batch_runs order newcomers"),
        ("i", "admissions iterations decode_starts decode_sum finish_no arrive_no warm_no ready_first"),
        ("i", "ready delays delay_room free room entry_free entry_room gap_count gap_room fed fed_end"),
        ("i", "at_once rejections stuck_count stuck_room begun key0 key1 drawn drawn_between"),
        (
            "p",
            "P sessions attributes parts pools stages entries heap series gauges gaps fed_at fed_attributes",
        ),
        ("p", "registers lets claims rejected stuck free_list ready_list order_list batch_list"),
        ("p", "scratch_list newcomer_list"),
    ),
}
"""Fields by record. Lists of sessions hold their slots; -1 is none."""

_POINTERS = {
    "sessions": "Session", "parts": "Part", "pools": "Pool", "stages": "Stage", "entries": "Entry",
    "heap": "Delay", "series": "Series", "gauges": "Series", "gaps": "Gap", "claims": "Claim",
    "rejected": "Rejection", "stuck": "Stuck", "samples": "Sample",
}  # fmt: skip
"""What pointers point to, if not to doubles or, where they are called a list, to whole numbers."""


@cache
def fields(record: str) -> list[tuple[str, str]]:
    """(kind, name) of each field."""
    return [(kind, name) for kind, names in RECORDS[record] for name in names.split()]


@cache
def dtype(record: str) -> np.dtype[Any]:
    """The record as numpy reads it."""
    kinds = {"d": "f8", "i": "i8", "p": "u8"}
    return np.dtype([(name, kinds[kind]) for kind, name in fields(record)])


def declarations() -> str:
    """The records as C declares them."""
    text = ""
    for record in RECORDS:
        lines = []
        for kind, name in fields(record):
            pointed = _POINTERS.get(name, "int64_t" if name.endswith("_list") else "double")
            lines.append(f"    {dict(d='double ', i='int64_t ', p=pointed + ' *')[kind]}{name};\n")
        text += f"typedef struct {{\n{''.join(lines)}}} {record};\n\n"
    return text
