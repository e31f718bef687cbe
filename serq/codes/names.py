"""SQ02xx: names that are unknown, missing, declared twice or refused."""

from __future__ import annotations

from serq.codes.entry import Code

CODES: dict[str, Code] = {}
