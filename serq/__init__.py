"""serq: a language for LLM serving systems.

A program declares devices, engines with their schedules, a workload, what the server does for a
request, and claims. `compile` reads and checks one, `run` executes it and judges its claims,
`emit_lean` states them in Lean 4.

    import serq

    report = serq.run("examples/hello.sq", horizon=1000)
    report.client["ttft"].mean
    report.claim("full").result

In: text, a path, or a program as JSON. Out: `Program`, `Report`, Lean text, or a `ProgramError`.
Imports: every room; this is where they are wired together, each when it is first needed.
Grows: a new thing to do with a program is a function here and a command in `serq.tools.cli`.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from serq.diagnostics import Diagnostic, InternalError, ProgramError

if TYPE_CHECKING:
    from serq.ir.program import Program
    from serq.report import Report

__version__ = "0.1.0"

__all__ = [
    "Diagnostic",
    "InternalError",
    "Program",
    "ProgramError",
    "Report",
    "__version__",
    "check_program",
    "compile",
    "emit_lean",
    "program_to_json",
    "run",
]


def compile(
    path: str | os.PathLike[str] | None = None,
    *,
    source: str | None = None,
    sets: Mapping[str, float | str] | None = None,
    defs: Mapping[str, float | str] | None = None,
) -> Program:
    """Read and check a program: the file at `path`, or the text `source`.

    path: a program's text, or with the ending `.json` what `program_to_json` wrote. With `source`
    as well, only the name that messages use. sets: values of the inputs declared with
    `args.number`, by external name, each a number or the text of a constant expression. defs: new bodies
    of expression definitions, by name, in the same form.
    Raises ProgramError with everything that is wrong, TypeError when neither is given.
    """
    from serq.tools.loading import load_program

    loaded = load_program(path, source, sets, defs)
    if loaded.program is None:
        raise ProgramError(loaded.diagnostics)
    return loaded.program


def check_program(
    path: str | os.PathLike[str] | None = None,
    *,
    source: str | None = None,
    sets: Mapping[str, float | str] | None = None,
    defs: Mapping[str, float | str] | None = None,
    pedantic: bool = False,
) -> tuple[Diagnostic, ...]:
    """Everything there is to say about a program, in the order of the text; () if it is fine.

    Takes what `compile` takes. Unlike it, reports doubts (severity "doubt") as well, and raises
    nothing for a program that is wrong or cannot be read. pedantic: reports every doubt there is (SQ07xx).
    """
    from serq.tools.loading import load_program

    return load_program(path, source, sets, defs, pedantic=pedantic).diagnostics


def run(
    program: Program | str | os.PathLike[str],
    *,
    horizon: float,
    warmup: float = 0.0,
    seed: int = 1,
    arrivals: int | None = None,
    trace: str | os.PathLike[str] | None = None,
    pedantic: bool = False,
    plain: bool = False,
    progress: Callable[[float, int], None] | None = None,
) -> Report:
    """Execute a program up to `horizon`, judge its claims on the way, and report.

    program: a compiled program, or a path to compile. horizon, warmup: in the program's clock
    units; statistics cover the time between them, claims the whole run. seed: whole, at least 0;
    the same seed gives the same run. arrivals: run until so many sessions have come and gone
    (streams only: `poisson`, `renewal`). trace: a file of turns in place of the program's. pedantic:
    tell of every claim that holds whether its premise ever came true. plain: run on the plain machine,
    which is written to be read, gives the same report, is slow, and does not look at premises. progress:
    called now and then with the clock and the number of iterations so far, of all engines.
    Raises ProgramError when a setting has no meaning (SQ092x), when the program is refused, or
    when its run cannot go on (SQ06xx).
    """
    from serq.tools.settings import check_arrivals, check_settings, with_trace

    check_settings(horizon=horizon, warmup=warmup, seed=seed, arrivals=arrivals)
    program = _program(program)
    check_arrivals(program, arrivals)
    if trace is not None:
        program = with_trace(program, os.fspath(trace))
    try:
        return _run(program, horizon, warmup, seed, arrivals, pedantic, plain, progress)
    except ProgramError as error:
        raise _with_source(error, program) from error.__cause__


def emit_lean(program: Program | str | os.PathLike[str]) -> str:
    """The claims of a program as one self-contained Lean 4 file: statements, no proofs.

    Raises ProgramError (SQ08xx) with every construct that cannot be stated faithfully.
    """
    from serq.lean import emit_lean

    program = _program(program)
    try:
        return emit_lean(program)
    except ProgramError as error:
        raise _with_source(error, program) from error.__cause__


def program_to_json(program: Program | str | os.PathLike[str]) -> str:
    """A program as JSON text; written to a file named `*.json`, `compile` reads it back."""
    from serq.ir.jsonform import program_to_json

    return program_to_json(_program(program))


# ---------------------------------------------------------------- the wiring


def _run(
    program: Program,
    horizon: float,
    warmup: float,
    seed: int,
    arrivals: int | None,
    pedantic: bool,
    plain: bool,
    progress: Callable[[float, int], None] | None,
) -> Report:
    """Machine, claims, report: each sees only what the one before hands on."""
    from serq.claims.judge import Judge
    from serq.machine.loop import run_program
    from serq.machine.settings import Settings
    from serq.report import make_report

    whole = None if arrivals is None else int(arrivals)
    settings = Settings(float(horizon), float(warmup), int(seed), whole)
    if plain:
        from serq.machine.plain.loop import run_plain

        record = run_plain(program, settings, progress=progress)
    else:
        record = run_program(program, settings, [Judge(program, pedantic)], progress=progress)
    return make_report(record, __version__)


def _program(program: Program | str | os.PathLike[str]) -> Program:
    """A program, or the one at a path."""
    from serq.ir.program import Program

    if isinstance(program, Program):
        return program
    if isinstance(program, str | os.PathLike):
        return compile(program)
    raise TypeError(f"a program is what `serq.compile` gives, or a path, not {type(program).__name__}")


def _with_source(error: ProgramError, program: Program) -> ProgramError:
    """The same complaints, able to show the program's lines."""
    from attrs import evolve

    return ProgramError(
        evolve(d, source=program.source) if d.source is None and d.at is not None else d
        for d in error.diagnostics
    )


def __getattr__(name: str) -> Any:
    # The two records are loaded when somebody names them: `import serq` stays light.
    if name == "Program":
        from serq.ir.program import Program

        return Program
    if name == "Report":
        from serq.report import Report

        return Report
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
