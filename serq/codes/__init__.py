"""The register of diagnostic codes.

In: nothing. Out: `CODES`, every code with its words, and `RANGES`. Imports: nothing of serq.
Grows: a new code is a row in the file of its range, with an example in `examples/`; a code is never
reused or renumbered.
"""

from __future__ import annotations

from serq.codes import doubts, lean, limits, machine, moments, names, syntax, tools, types
from serq.codes.entry import Code

RANGES: dict[str, str] = {
    "SQ01": "the text is not a program",
    "SQ02": "a name is unknown, missing, declared twice or refused",
    "SQ03": "a size, a cost or a number stands where another belongs; statements out of place; queues",
    "SQ04": "something is read at a moment when it does not exist",
    "SQ05": "a number is outside the range that has a meaning; a path cannot work",
    "SQ06": "the run cannot go on",
    "SQ07": "what is legal and looks like a slip, for those who ask",
    "SQ08": "the program is outside what can be stated in Lean",
    "SQ09": "files, settings and traces; constructs that cannot be run yet",
}
"""What the codes that begin so are about. Each range is one file: syntax, names, types, moments,
limits, machine, doubts, lean, tools."""

CODES: dict[str, Code] = dict(
    sorted(
        {
            **syntax.CODES,
            **names.CODES,
            **types.CODES,
            **moments.CODES,
            **limits.CODES,
            **machine.CODES,
            **doubts.CODES,
            **lean.CODES,
            **tools.CODES,
        }.items()
    )
)

__all__ = ["CODES", "RANGES", "Code"]
