"""SQ08xx: outside what can be stated in Lean."""

from __future__ import annotations

from serq.codes.entry import Code

CODES: dict[str, Code] = {}
