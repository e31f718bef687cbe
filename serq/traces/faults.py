"""Rows that cannot be read: each said with its place, or counted and passed over."""

from __future__ import annotations

from typing import Any, NoReturn

from attrs import define, field

from serq.diagnostics import Diagnostic, Note, ProgramError, diagnose
from serq.source import SourceFile, Span

MOST_SAID = 100
"""Complaints that are collected before a file is given up."""

MOST_SKIPPED = 1_000
"""Rows that are passed over, with not one good before them, until a file is given up."""


@define
class Faults:
    """What was wrong with the rows of one file so far.

    file: its name in messages. skip: pass over bad rows. skipped: how many. good: rows read.
    """

    file: str
    skip: bool = False
    skipped: int = 0
    good: int = 0
    _said: list[Diagnostic] = field(factory=list)

    @property
    def any(self) -> bool:
        """Whether something was said, so that what is read is for nothing."""
        return bool(self._said) and not self.skip

    def say(self, code: str, line: int, column: int, wrong: str, whole: str, **facts: Any) -> None:
        """A fault at a line and a column (from 1).

        wrong: what stands there. whole: the whole line, "" when it is not at hand. Raises ProgramError
        when it is one too many.
        """
        if not self.skip or not self._said:
            at = Span(line, column, line, column + max(1, len(wrong)), self.file)
            source = {self.file: SourceFile(self.file, whole, line)} if whole else None
            self._said.append(diagnose(code, at, sources=source, **facts))
        if not self.skip and len(self._said) >= MOST_SAID:
            raise ProgramError(self._said)

    def pass_over(self) -> None:
        """Count a row that had faults; raises ProgramError when nothing but such rows came."""
        self.skipped += 1
        if self.skip and not self.good and self.skipped >= MOST_SKIPPED:
            self._give_up()

    def finish(self) -> None:
        """The file is read: raise ProgramError (SQ095x) if it was wrong, or had no row."""
        if self.any:
            raise ProgramError(self._said)
        if not self.good:
            if self.skipped:
                self._give_up()
            raise ProgramError([diagnose("SQ0957", path=self.file)])

    def _give_up(self) -> NoReturn:
        first = [Note(d.message, d.at) for d in self._said[:1]]
        passed = "the only one is bad" if self.skipped == 1 else f"the first {self.skipped:,} are all bad"
        raise ProgramError([diagnose("SQ0956", notes=first, path=self.file, passed=passed)])
