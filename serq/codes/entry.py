"""One row of the register."""

from __future__ import annotations

from attrs import frozen


@frozen
class Code:
    """The words of one diagnostic code.

    title: what is wrong, with `{facts}` to fill; help: one way out, filled the same way, or "";
    why: the reason for the rule, for people who ask (`serq explain`); severity: "error" or "doubt";
    example: a command that gets the code, with the files of `serq.codes.example`.
    """

    title: str
    help: str = ""
    why: str = ""
    severity: str = "error"
    example: str = "serq check example.sq"
