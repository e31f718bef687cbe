"""What a wheel carries that a checkout does not: the tables of the grammar, made by Lark when it is built."""

from __future__ import annotations

import os
import sys
import tempfile
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface


class TablesHook(BuildHookInterface):  # type: ignore[type-arg]
    """Puts `serq/syntax/serq.tables` into a wheel; an editable installation makes its own."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """version: the kind of wheel. build_data: what else goes into it is added here."""
        if version == "editable":
            return
        sys.path.insert(0, self.root)
        from serq.syntax.tables import make_tables, read_grammar, write_tables

        self._folder = tempfile.TemporaryDirectory()
        place = os.path.join(self._folder.name, "serq.tables")
        grammar = read_grammar()
        if not write_tables(place, grammar, make_tables(grammar)):
            raise OSError(f"cannot write {place}")
        build_data["force_include"][place] = "serq/syntax/serq.tables"

    def finalize(self, version: str, build_data: dict[str, Any], artifact_path: str) -> None:
        """The wheel is there; the file is not needed any more."""
        if version != "editable":
            self._folder.cleanup()
