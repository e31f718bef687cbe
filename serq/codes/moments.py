"""SQ04xx: read at a moment when it does not exist."""

from __future__ import annotations

from serq.codes.entry import Code

CODES: dict[str, Code] = {}
