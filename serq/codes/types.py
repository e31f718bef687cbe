"""SQ03xx: a size, a cost or a number where another belongs."""

from __future__ import annotations

from serq.codes.entry import Code

CODES: dict[str, Code] = {}
