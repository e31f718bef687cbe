"""SQ05xx: numbers without a meaning, paths that cannot work."""

from __future__ import annotations

from serq.codes.entry import Code

CODES: dict[str, Code] = {}
