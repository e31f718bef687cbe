"""Every program, command and table of the pages does what the page says.

With SERQ_BLESS=1 the outputs and tables are written into the pages instead; look at the difference.
"""

from __future__ import annotations

import difflib
import doctest
import os
from collections.abc import Iterator
from contextlib import chdir
from pathlib import Path

import pytest

import serq
from serq.diagnostics import show_diagnostic
from serq.tools.loading import load_program
from tests.docs.console import CUT, Console, agrees
from tests.docs.iterations import iteration_table
from tests.docs.pages import DOCS, PAGES, SHOWN_ONLY, Block, read_blocks, replace_block
from tests.docs.tables import TABLES

FRAGMENTS = Path(__file__).parent / "fragments"
FRAGMENT_HORIZON = 20.0
BLESS = bool(os.environ.get("SERQ_BLESS"))

LONG = {
    "examples.md", "memory.md", "random.md", "scheduling.md", "yao_zhou.md",
    "1-queue.md", "3-scheduler.md", "4-claims.md", "5-seeds.md",
}  # fmt: skip
"""Pages whose programs take more than a second or two together."""


@pytest.mark.parametrize(
    "page",
    [pytest.param(p, marks=pytest.mark.slow) if p.name in LONG else p for p in PAGES],
    ids=lambda p: str(p.relative_to(DOCS)),
)
def test_a_page_says_what_happens(page: Path, tmp_path: Path, root: Path) -> None:
    (tmp_path / "examples").symlink_to(root / "examples")
    faults = []
    reader = Reader(tmp_path)
    # From the end of the page when blessing: replaced blocks do not move those still to come.
    outcomes = [(block, lines) for block in read_blocks(page) for lines in reader.try_read(block)]
    for block, lines in reversed(outcomes):
        if isinstance(lines, str):
            faults.append(f"{block}: {lines}")
        elif BLESS and CUT not in block.lines:
            replace_block(block, lines)
        else:
            difference = difflib.unified_diff(block.lines, lines, "page", "run", lineterm="")
            faults.append("\n".join([f"{block}:", *difference]))
    assert not faults, "\n\n".join(reversed(faults))


class Reader:
    """Does what the blocks of one page ask for, in a folder of its own.

    `read` gives nothing when the block is right; else the lines that would be, or what is wrong.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.console = Console(folder)
        self.session: dict[str, object] = {}

    def try_read(self, block: Block) -> Iterator[list[str] | str]:
        try:
            yield from self.read(block)
        except serq.ProgramError as error:
            yield f"refused or stopped:\n{error}"

    def read(self, block: Block) -> Iterator[list[str] | str]:
        match block.language:
            case "serq":
                yield from self._program(block)
            case "console":
                printed = self.console.replay(block.lines)
                if not agrees(block.lines, printed):
                    yield printed
            case "pycon":
                yield from self._python(block)
            case "python" | "csv" if block.title:
                (self.folder / block.title).write_text(block.text, encoding="utf-8")
            case "table" if "table" in block.asks:
                yield from differing(block, list(TABLES[block.asks["table"]]()))
            case "table" if "iterations" in block.asks:
                yield from self._iterations(block)
            case language if language not in SHOWN_ONLY:
                yield f"nothing says how to test this {language}"

    def _program(self, block: Block) -> Iterator[str]:
        text, horizon = block.text, FRAGMENT_HORIZON
        if "fragment" in block.asks:
            around = (FRAGMENTS / f"{block.asks['fragment']}.sq").read_text(encoding="utf-8")
            text = around.replace("@", text)
        if file := block.title or block.asks.get("as"):
            (self.folder / file).write_text(text, encoding="utf-8")
        if "horizon" in block.asks:
            horizon = float(block.asks["horizon"])
        elif not block.title and not {"fragment", "refused"} & set(block.asks):
            yield "nothing says how to test this program"
        loaded = load_program(block.title, source=text)
        said = loaded.diagnostics
        wanted = block.asks.get("refused", "").split()
        if [d.code for d in said] != wanted:
            complaints = "\n".join(show_diagnostic(d) for d in said)
            yield f"expected {wanted or 'no complaint'}, got\n{complaints or 'none'}"
        elif loaded.program is not None and not block.title:
            serq.run(loaded.program, horizon=horizon)

    def _python(self, block: Block) -> Iterator[list[str]]:
        test = doctest.DocTestParser().get_doctest(block.text, self.session, str(block), None, 0)
        got: list[str] = []

        class Recorder(doctest.OutputChecker):
            def check_output(self, want: str, have: str, flags: int) -> bool:
                got.append(have)
                return True

        runner = doctest.DocTestRunner(checker=Recorder(), verbose=False)
        with chdir(self.folder):
            runner.run(test, out=got.append, clear_globs=False)
        self.session = test.globs
        outputs = iter(got)
        printed: list[str] = []
        for example in test.examples:
            source = example.source.splitlines()
            printed += [f"{'>>>' if not i else '...'} {line}".rstrip() for i, line in enumerate(source)]
            printed += next(outputs, "").splitlines()
        yield from differing(block, printed)

    def _iterations(self, block: Block) -> Iterator[list[str]]:
        name, horizon, *rest = block.asks["iterations"].split()
        arrivals = int(rest[0]) if rest else None
        yield from differing(
            block, iteration_table(self.folder / name, block.lines[0], float(horizon), arrivals)
        )


def differing(block: Block, lines: list[str]) -> Iterator[list[str]]:
    if not agrees(block.lines, lines):
        yield lines
