"""From a path or a text to a checked program: reading, parsing and checking, wired together."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from functools import lru_cache
from numbers import Real
from typing import TYPE_CHECKING, Any

from attrs import evolve, frozen

from serq.diagnostics import Diagnostic, Note, ProgramError, Sink, diagnose
from serq.source import SourceFile
from serq.tools.libraries import join_libraries
from serq.tools.reading import read_json_text, read_source

if TYPE_CHECKING:
    from serq.check.lists import Given
    from serq.ir.program import Program
    from serq.syntax.parse import Parsed


@frozen
class Loaded:
    """A program, None if it is refused, and everything said about it in the order of the text."""

    program: Program | None
    diagnostics: tuple[Diagnostic, ...]


def load_program(
    path: str | os.PathLike[str] | None,
    source: str | None = None,
    sets: Mapping[str, Given] | None = None,
    defs: Mapping[str, float | str] | None = None,
    *,
    pedantic: bool = False,
) -> Loaded:
    """Read and check a program: `serq.compile` without the exception.

    pedantic: say doubts about what is legal as well, if the program is given as text.

    What is wrong with the program, or with reading it, is in the result. Raises TypeError when
    there is neither a path nor a source.
    """
    if path is None and source is None:
        raise TypeError("a program is given by a path or by source=")
    if not isinstance(path, str | os.PathLike | None) or isinstance(os.fspath(path or ""), bytes):
        raise TypeError(f"path is the name of a file, not {type(path).__name__}")
    if not isinstance(source, str | None):
        raise TypeError(f"source is the text of a program, not {type(source).__name__}")
    name = "<program>" if path is None else os.fspath(path)
    try:
        given = _read_values("sets", sets, lists=True)
        bodies = {name: str(body) for name, body in _read_values("defs", defs).items()}
        if source is None and name.endswith(".json"):
            return _load_json(name, replaced=bool(given or bodies))
        text = read_source(name) if source is None else SourceFile(name, source)
        return _load_text(text, given, bodies, pedantic)
    except ProgramError as error:
        return Loaded(None, error.diagnostics)


def _read_values(
    argument: str, given: Mapping[str, Given] | None, *, lists: bool = False
) -> dict[str, Given]:
    """What takes the place of inputs or of definitions, by name: numbers of any kind (NumPy's, say) as
    floats, texts, and several numbers as a tuple if `lists`.

    Raises ProgramError (SQ0513) for values that are neither, TypeError when there are no names to them.
    """
    if not isinstance(given, Mapping | None):
        raise TypeError(f"{argument} is a mapping from names to values, not {type(given).__name__}")
    values: dict[str, Given] = {}
    wrong = []
    for name, value in (given or {}).items():
        name = name if isinstance(name, str) else repr(name)
        if isinstance(value, str):
            values[name] = value
            continue
        try:
            if lists and isinstance(value, Iterable) and not isinstance(value, Mapping | bytes):
                values[name] = tuple(map(_read_number, value))
            else:
                values[name] = _read_number(value)
            continue
        except TypeError:
            cure = f"give a number, or the text of an expression, not {value!r:.40} ({type(value).__name__})"
        except OverflowError:
            cure = "it is beyond 1.8e308, the largest number there is"
        wrong.append(diagnose("SQ0513", name=name, help=cure))
    if wrong:
        raise ProgramError(wrong)
    return values


def _read_number(value: Any) -> float:
    """A number of any kind. Raises TypeError if it is none, OverflowError beyond the largest."""
    if not isinstance(value, Real) or isinstance(value, bool):
        raise TypeError(type(value).__name__)
    return float(value)


def _load_text(
    text: SourceFile, sets: Mapping[str, Given], defs: Mapping[str, str], pedantic: bool
) -> Loaded:
    from serq.check import check_program
    from serq.syntax.parse import parse_expression

    parsed, said = _parse(text)
    sink = Sink({text.name: text}, list(said))
    program = check_program(
        join_libraries(parsed.tree, text, sink),
        sink,
        sets=sets,
        defs=defs,
        skipped=parsed.skipped,
        complete=parsed.complete,
        pedantic=pedantic,
        parse_expression=parse_expression,
    )
    return _judge(None if program is None else evolve(program, source=text), sink)


@lru_cache(maxsize=8)
def _parse(text: SourceFile) -> tuple[Parsed, tuple[Diagnostic, ...]]:
    """A text read, with what was said; the same text is often wanted again with other inputs."""
    from serq.syntax.parse import parse_program

    sink = Sink({text.name: text})
    return parse_program(text, sink), tuple(sink.diagnostics)


def _load_json(path: str, replaced: bool) -> Loaded:
    """replaced: whether inputs or definitions were to be replaced, for which it is too late."""
    from serq.check import check_ir
    from serq.ir.jsonform import program_from_json

    if replaced:
        raise ProgramError([diagnose("SQ0926")])
    program = program_from_json(read_json_text(path), path)
    sink = Sink()
    check_ir(program, sink)
    return _judge(program, sink)


def _judge(program: Program | None, sink: Sink) -> Loaded:
    said = sorted(sink.diagnostics, key=_place)
    return Loaded(None if sink.errors else program, tuple(said))


def _place(d: Diagnostic) -> tuple[bool, int, int]:
    """By place; what has none comes last."""
    return (True, 0, 0) if d.at is None else (False, d.at.line, d.at.column)


def refused_at(error: ProgramError, name: str, value: float) -> ProgramError:
    """The same complaints, below them the value of an input at which a search met them."""
    *others, last = error.diagnostics
    note = Note(f"this is the program with {name} = {value:.15g}")
    return ProgramError([*others, evolve(last, notes=(*last.notes, note))])


def show_summary(path: str, program: Program) -> str:
    """`path: ok, 1 engine, 2 pools, 3 claims`: what a person wants to see confirmed."""
    from serq.ir.stage import Engine

    engines = sum(isinstance(stage, Engine) for stage in program.stages)
    counts = [
        (engines, "engine"),
        (len(program.stages) - engines, "stage"),
        (len(program.pools), "pool"),
        (len(program.observes), "observation"),
        (len(program.gauges), "gauge"),
        (len(program.claims), "claim"),
    ]
    parts = [f"{n} {word}{'' if n == 1 else 's'}" for n, word in counts if n]
    uses = " (uses: scheduling programs)" if is_scheduling_program(program) else ""
    return f"{path}: ok" + (", " + ", ".join(parts) if parts else ", nothing to run") + uses


def is_scheduling_program(program: Program) -> bool:
    """Whether a program looks at requests one by one, or has lists: what other readers of the language
    do not know."""
    from serq.check.readings import readings, schedule_statements
    from serq.ir.expr import Survey, walk
    from serq.ir.schedule import Admit, Advance, ExclusivePrefill, ScheduleBranch, SetRegister
    from serq.ir.stage import Engine
    from serq.ir.workload import Timed

    common = (Advance, Admit, ExclusivePrefill, ScheduleBranch, SetRegister)
    engines = [stage for stage in program.stages if isinstance(stage, Engine)]
    if program.lists or any(e.tags or any(r.size is not None for r in e.registers) for e in engines):
        return True
    if program.workload is not None and isinstance(program.workload.arrival, Timed):
        return True
    statements = (s for e in engines for s in schedule_statements(e.schedule.statements))
    if any(not isinstance(s, common) for s in statements):
        return True
    return any(isinstance(node, Survey) for reading in readings(program) for node in walk(reading.expr))
