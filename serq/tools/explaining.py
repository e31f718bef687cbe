"""`serq explain`: the register of codes, for people."""

from __future__ import annotations

import re
import string
import textwrap

from serq.codes import CODES, RANGES
from serq.codes.example import find_example, show_file
from serq.spelling import closest
from serq.tools.demonstration import demonstrate

_INDENT = "    "


def code_named(word: str) -> str | None:
    """The code that somebody means by `SQ0201`, `sq201` or `201`; None if there is no such code."""
    digits = re.fullmatch(r"(?:SQ)?(\d{1,4})", word.strip(), re.IGNORECASE)
    code = f"SQ{int(digits[1]):04}" if digits else ""
    return code if code in CODES else None


def code_like(word: str) -> str | None:
    """The one code that `word` may be a slip for."""
    return closest(word.strip().upper(), CODES)


def explain_code(code: str) -> str:
    """A code with its reason, a program (or another input) that gets it, what is then printed, and
    the same program when it is mended.

    code: of the register. The example is run for this.
    """
    entry, example = CODES[code], find_example(code)
    parts = [f"{code}: {show_title(code)}"]
    if entry.why:
        parts.append(textwrap.fill(entry.why, 100))
    parts += [f"{name}:\n\n{_shifted(show_file(content))}" for name, content in example.files.items()]
    parts.append(f"$ {example.command}\n{demonstrate(example).text.rstrip()}")
    parts += [
        f"{name} when it is mended:\n\n{_shifted(show_file(content))}"
        for name, content in example.fixed.items()
    ]
    return "\n\n".join(parts)


def list_codes() -> str:
    """Every code with its sentence, by range."""
    parts = []
    for start, about in RANGES.items():
        rows = [f"  {code}  {show_title(code)}" for code in CODES if code.startswith(start)]
        parts.append("\n".join([f"{start}xx: {about}", *rows]))
    return "\n\n".join(parts)


def show_title(code: str) -> str:
    """The sentence of a code with an ellipsis for each fact that a message fills in."""
    parts = string.Formatter().parse(CODES[code].title)
    return "".join(text + ("…" if fact is not None else "") for text, fact, _, _ in parts)


def _shifted(text: str) -> str:
    return textwrap.indent(text.rstrip("\n"), _INDENT) if text else f"{_INDENT}(nothing)"
