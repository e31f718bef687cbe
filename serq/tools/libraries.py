"""Libraries: `use "file.sq";` brings the definitions of a file next to the program.

The imports of a program are replaced by what their files define, before the program is checked: a
library may use others, relative to its own file; one that is used twice is read once.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import TYPE_CHECKING

from attrs import define, field

from serq.diagnostics import Note, ProgramError, Sink
from serq.source import SourceFile
from serq.spelling import closest
from serq.tools.reading import read_source

if TYPE_CHECKING:
    from serq.syntax import tree

ENDING = ".sq"
"""What tells the path of a library from the name of a standard one."""


def join_libraries(program: tree.Program, source: SourceFile, sink: Sink) -> tree.Program:
    """The program with the definitions of its libraries in the place of each `use`.

    Paths are relative to the file that says `use`. What is wrong goes to the sink (SQ0932,
    SQ0933), at that `use`.
    """
    joiner = _Joiner(sink, folder=os.path.dirname(source.name))
    chain = (os.path.realpath(source.name),)
    before = tuple(joiner.join(program.before, joiner.folder, chain))
    items = tuple(joiner.join(program.items, joiner.folder, chain))
    return type(program)(before, items, program.main, program.at)


@define
class _Joiner:
    sink: Sink
    folder: str
    known: set[str] = field(factory=set)

    def join(self, items: Sequence[tree.Item], folder: str, chain: tuple[str, ...]) -> list[tree.Item]:
        """chain: the files being read, the program first; coming upon one of them is a cycle."""
        from serq.syntax.tree import Import

        found: list[tree.Item] = []
        for item in items:
            if isinstance(item, Import) and item.path.text.endswith(ENDING):
                found += self._read(item, os.path.join(folder, item.path.text), chain)
            elif isinstance(item, Import) and (cure := _cure(item.path.text, folder)):
                self.sink.say("SQ0250", item.at, path=item.path.text, help=cure)
            else:
                found.append(item)
        return found

    def _read(self, use: tree.Import, path: str, chain: tuple[str, ...]) -> list[tree.Item]:
        from serq.syntax.parse import parse_library

        real = os.path.realpath(path)
        if real in chain:
            names = [os.path.basename(p) for p in (*chain[chain.index(real) :], real)]
            self.sink.say("SQ0933", use.at, path=use.path.text, chain=" uses ".join(names))
            return []
        if real in self.known:
            return []
        self.known.add(real)
        try:
            if os.path.exists(path) and not os.path.isfile(path) and not os.path.isdir(path):
                raise OSError("it is not a regular file")
            source = read_source(path)
        except ProgramError as error:
            notes = [Note(d.message) for d in error.diagnostics]
            self.sink.say("SQ0932", use.at, path=use.path.text, notes=notes)
            return []
        except OSError as error:
            self.sink.say("SQ0932", use.at, path=use.path.text, notes=[Note(str(error))])
            return []
        self.sink.sources[source.name] = source
        items = parse_library(source, self.sink)
        return self.join(items, os.path.dirname(path), (*chain, real))


def _cure(name: str, folder: str) -> str | None:
    """What to do about a `use` that names no library, when there is something of that name or nearly."""
    from serq.check.constants import LIBRARIES

    if not name.strip() or name in LIBRARIES:
        return None
    path = os.path.join(folder, name)
    if near := closest(name, LIBRARIES):
        return f'did you mean `use "{near}";`?'
    if os.path.isfile(path.rstrip(os.sep) + ENDING):
        return f'did you mean `use "{name.rstrip(os.sep)}{ENDING}";`?'
    if os.path.isdir(path):
        return (
            f'it is a folder: name a file of definitions in it, `use "{name.rstrip(os.sep)}/NAME{ENDING}";`'
        )
    if os.path.exists(path):
        return f"a file of definitions has a name that ends in `{ENDING}`"
    return None
