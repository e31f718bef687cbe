"""What the records of a program share: where they were written, which changes nothing they mean."""

from __future__ import annotations

from typing import Any

from attrs import field


def location() -> Any:
    """The span a record was read from: for messages only, not part of ==, hash or repr."""
    return field(default=None, eq=False, repr=False, kw_only=True)
