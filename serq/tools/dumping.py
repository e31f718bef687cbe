"""`serq dump`: what each step on the way from a program's text to its run hands to the next one.

To be read by people, and compared from one version to the next. Grows: a step is a row of `STEPS`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from serq.diagnostics import Sink
from serq.source import Span
from serq.tools.libraries import join_libraries
from serq.tools.reading import read_source

if TYPE_CHECKING:
    from serq.ir.program import Program

_LINE = 100
_RULE = 72


def dump_tree(path: str) -> str:
    """The tree of the program at `path`, with the definitions of its libraries, as it was written.

    Raises ProgramError when it cannot be read as a whole.
    """
    from serq.syntax.parse import parse_program

    source = read_source(path)
    sink = Sink({source.name: source})
    tree = join_libraries(parse_program(source, sink).tree, source, sink)
    sink.raise_errors()
    return "\n".join(_outline(tree, ""))


def dump_ir(program: Program) -> str:
    """The checked program as `serq ir` prints it."""
    from serq.ir.jsonform import program_to_json

    return program_to_json(program)


def dump_code(program: Program) -> str:
    """The code that a run of the program consists of, each piece below a heading: the loop of its own that
    a program of the common kind has for long runs, what the machine runs step by step, and what is special
    about the program in C (`serq.machine.native`).

    What runs is this text, with the names that `serq.machine.code.NAMES` and the machine lend it; the C with
    `kernel.c`. Raises ProgramError when the machine cannot be made, for want of a trace.
    """
    from serq.claims.judge import Judge
    from serq.machine.fused import is_fused, write_loop
    from serq.machine.fused.writer import TooDeep
    from serq.machine.loop import Machine
    from serq.machine.native.fragment import find_native
    from serq.machine.native.run import write_native
    from serq.machine.native.writer import OWN
    from serq.machine.settings import Settings
    from serq.machine.watch import write_watches

    machine = Machine(program, Settings(horizon=1.0))
    Judge(program).watch(machine)
    sources: dict[str, str] = {}
    if is_fused(machine):
        with suppress(TooDeep):
            sources["loop"], _ = write_loop(machine)
    for engine in machine.engines:
        if engine.watches:
            write_watches(machine, engine)
    sources |= machine.sources
    if not isinstance(find_native(program), str) and not machine.givens:
        sources["in C"] = write_native(machine)[0].partition(OWN)[2]
    pieces = []
    for name, source in sources.items():
        heading = f"# ---- {name} "
        pieces.append(f"{heading:-<{_RULE}}\n\n{source.strip()}")
    return "\n\n\n".join(pieces) or "# nothing to run"


STEPS: Mapping[str, Callable[[Program], str] | None] = {"tree": None, "ir": dump_ir, "code": dump_code}
"""The steps in their order, with what shows a checked program after each; the tree is there before."""


def _outline(value: Any, label: str, indent: str = "") -> Iterator[str]:
    """A node with its parts below it, or on one line where they fit."""
    head = f"{indent}{label}"
    fields = getattr(value, "__match_args__", ())
    if value in (None, ()) or (len(head) + len(repr(value)) <= _LINE and "\n" not in repr(value)):
        yield f"{head}{value!r}"
    elif isinstance(value, tuple):
        yield head.rstrip()
        for part in value:
            yield from _outline(part, "- ", indent + "  ")
    elif fields:
        yield f"{head}{type(value).__name__}"
        for name in fields:
            part = getattr(value, name)
            if not isinstance(part, Span):
                yield from _outline(part, f"{name}: ", indent + "  ")
    else:
        yield f"{head}{value!r}"
