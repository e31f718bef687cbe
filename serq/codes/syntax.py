"""SQ01xx: this text is not a program."""

from __future__ import annotations

from serq.codes.entry import Code

CODES: dict[str, Code] = {
    "SQ0100": Code("`{read}` does not belong here"),
}
