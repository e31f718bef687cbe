"""`serq explain`: the register of codes, for people."""

from __future__ import annotations

import string

from serq.codes import CODES


def explain_code(code: str) -> str | None:
    """The sentence of a code with its cure and its reason, None for a code that does not exist.

    code: `SQ0201`, in either case, with or without the letters.
    """
    name = "SQ" + code.upper().removeprefix("SQ")
    entry = CODES.get(name)
    if entry is None:
        return None
    lines = [f"{name}: {_with_gaps(entry.title)}"]
    if entry.help:
        lines.append(f"  help: {_with_gaps(entry.help)}")
    if entry.why:
        lines.append(f"  why: {entry.why}")
    return "\n".join(lines)


def _with_gaps(template: str) -> str:
    """A sentence of the register with an ellipsis for each fact that a message fills in."""
    parts = string.Formatter().parse(template)
    return "".join(text + ("…" if fact is not None else "") for text, fact, _, _ in parts)
