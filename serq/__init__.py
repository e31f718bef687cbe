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
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from serq.diagnostics import Diagnostic, InternalError, ProgramError
    from serq.ir.program import Program
    from serq.lean.prove import Emitted
    from serq.report import Report
    from serq.report.replications import Replications
    from serq.studies.edge import Edge
    from serq.studies.stability import Stability
    from serq.studies.verify import Verification

__version__ = "0.1.0"

__all__ = [
    "Diagnostic",
    "Edge",
    "InternalError",
    "Program",
    "ProgramError",
    "Replications",
    "Report",
    "Stability",
    "Verification",
    "__version__",
    "check_program",
    "claims_in_lean",
    "compile",
    "emit_lean",
    "find_edge",
    "program_to_json",
    "replicate",
    "run",
    "stability",
    "verify",
]


def compile(
    path: str | os.PathLike[str] | None = None,
    *,
    source: str | None = None,
    sets: Mapping[str, float | str | Sequence[float]] | None = None,
    defs: Mapping[str, float | str] | None = None,
) -> Program:
    """Read and check a program: the file at `path`, or the text `source`.

    path: a program's text, or with the ending `.json` what `program_to_json` wrote. With `source`
    as well, only the name that messages use. sets: values of the inputs declared with
    `args.number` and `args.numbers`, by external name: a number, several for a list, or the text of
    constant expressions. defs: new bodies of expression definitions, by name, each a number or a text.
    Raises ProgramError with everything that is wrong, TypeError when neither is given.
    """
    from serq.diagnostics import ProgramError
    from serq.tools.loading import load_program

    loaded = load_program(path, source, sets, defs)
    if loaded.program is None:
        raise ProgramError(loaded.diagnostics)
    return loaded.program


def check_program(
    path: str | os.PathLike[str] | None = None,
    *,
    source: str | None = None,
    sets: Mapping[str, float | str | Sequence[float]] | None = None,
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
    reservoir: int | None = None,
    progress: Callable[[float, int], None] | None = None,
) -> Report:
    """Execute a program up to `horizon`, judge its claims on the way, and report.

    program: a compiled program, or a path to compile. horizon, warmup: in the program's clock
    units; statistics cover the time between them, claims the whole run. seed: whole, at least 0;
    the same seed gives the same run. arrivals: run until so many sessions have come and gone
    (streams only: `poisson`, `renewal`). trace: a file of turns in place of the program's. pedantic:
    tell of every claim that holds whether its premise ever came true. plain: run on the plain machine,
    which is written to be read, gives the same report, is slow, and does not look at premises. reservoir:
    keep so many samples of each observation and client time, drawn at random, which its figures but the
    count are estimates from; what a claim at the end reads is kept whole. Not with `plain`.
    progress: called now and then with the clock and the number of iterations so far, of all engines.
    Raises ProgramError when a setting has no meaning (SQ092x), when the program is refused, or
    when its run cannot go on (SQ06xx).
    """
    from serq.machine.settings import Settings
    from serq.report import make_report
    from serq.tools.running import record_run
    from serq.tools.settings import check_arrivals, check_settings, with_trace

    check_settings(horizon=horizon, warmup=warmup, seed=seed, arrivals=arrivals, reservoir=reservoir)
    program = _program(program)
    check_arrivals(program, arrivals)
    if trace is not None:
        program = with_trace(program, os.fspath(trace))
    whole = None if arrivals is None else int(arrivals)
    kept = None if reservoir is None else int(reservoir)
    settings = Settings(float(horizon), float(warmup), int(seed), whole, kept)
    if plain and kept is not None:
        raise ValueError("the plain machine keeps every sample: leave out `reservoir` or `plain`")
    record = record_run(program, settings, pedantic=pedantic, plain=plain, progress=progress)
    return make_report(record, __version__)


def replicate(
    program: Program | str | os.PathLike[str],
    *,
    horizon: float,
    seeds: int,
    warmup: float = 0.0,
    seed: int = 1,
    arrivals: int | None = None,
    trace: str | os.PathLike[str] | None = None,
    jobs: int = 1,
    progress: Callable[[float], None] | None = None,
) -> Replications:
    """Execute a program under several seeds, and say what the runs tell together.

    seeds: how many; they are `seed`, `seed` + 1, … jobs: processes that share them; what comes out is
    the same for any number. With more than one the caller's script needs the usual
    `if __name__ == "__main__":`. progress: called with the number of runs done. The rest is as for `run`.
    Raises ProgramError as `run` does, for the first seed whose run cannot go on.
    """
    from serq.machine.settings import Settings
    from serq.studies.replications import replicate
    from serq.tools.settings import check_arrivals, check_replication, check_settings, with_trace

    check_settings(horizon=horizon, warmup=warmup, seed=seed, arrivals=arrivals)
    check_replication(seeds, jobs)
    program = _program(program)
    check_arrivals(program, arrivals)
    if trace is not None:
        program = with_trace(program, os.fspath(trace))
    whole = None if arrivals is None else int(arrivals)
    settings = Settings(float(horizon), float(warmup), int(seed), whole)
    return replicate(program, settings, range(seed, seed + seeds), __version__, jobs, progress)


def verify(
    program: Program | str | os.PathLike[str],
    *,
    claim: str,
    probability: float,
    horizon: float,
    arrivals: int | None = None,
    seed: int = 1,
    confidence: float = 0.95,
    half_width: float | None = None,
    most: int = 10_000,
    jobs: int = 1,
    progress: Callable[[float], None] | None = None,
) -> Verification:
    """Is a claim true on at least a fraction `probability` of the paths, one for each seed from `seed` on?

    confidence, half_width: if the claim is true on at least probability + half_width of the paths, the
    answer is `no` with a probability of at most 1 - confidence, and likewise `yes` if it is true on at most
    probability - half_width. most: paths to look at before it is `undecided`. horizon, arrivals: of each
    run. jobs, progress: as for `replicate`.
    Raises ProgramError when there is no such claim, when it is not answered on a path (a claim at the end
    with sessions left), or when a run cannot go on.
    """
    from serq.machine.settings import Settings
    from serq.studies.verify import verify
    from serq.tools.settings import check_arrivals, check_replication, check_settings, check_test

    check_settings(horizon=horizon, seed=seed, arrivals=arrivals)
    check_test(probability, confidence, half_width, most)
    check_replication(1, jobs)
    program = _program(program)
    check_arrivals(program, arrivals)
    whole = None if arrivals is None else int(arrivals)
    return verify(
        program,
        claim,
        Settings(float(horizon), 0.0, int(seed), whole),
        probability=probability,
        half_width=half_width,
        confidence=confidence,
        most=most,
        jobs=jobs,
        progress=progress,
    )


def stability(
    program: Program | str | os.PathLike[str],
    *,
    seed: int = 1,
    seeds: int = 12,
    confidence: float = 0.95,
    resolution: float = 0.05,
    most_events: int = 100_000_000,
    seconds: float | None = None,
    jobs: int = 1,
    progress: Callable[[float], None] | None = None,
) -> Stability:
    """Does the backlog of a program with a stream of sessions stay, or grow without end?

    seeds: runs of each look, from `seed` on. confidence: that the intervals of all looks hold. resolution:
    loads within this part of the edge may get any verdict. most_events: to handle, all in all, and
    seconds: to take; the answer is `undecided` when they do not suffice. jobs: as for `replicate`.
    progress: called with the number of events.
    Raises ProgramError when the program has no such stream, or when a run cannot go on.
    """
    from serq.studies.looks import Patience
    from serq.studies.stability import deadline_in, judge_stability
    from serq.tools.settings import check_patience, check_replication, check_settings

    check_settings(horizon=1.0, seed=seed)
    check_patience(seeds, confidence, resolution, most_events, seconds)
    check_replication(1, jobs)
    patience = Patience(seeds, confidence, resolution, most_events, deadline_in(seconds))
    return judge_stability(_program(program), patience, seed=seed, jobs=jobs, progress=progress)


def find_edge(
    path: str | os.PathLike[str] | None = None,
    *,
    parameter: str,
    low: float,
    high: float,
    source: str | None = None,
    sets: Mapping[str, float | str] | None = None,
    defs: Mapping[str, str] | None = None,
    seed: int = 1,
    seeds: int = 12,
    confidence: float = 0.95,
    resolution: float = 0.05,
    most_events: int = 100_000_000,
    seconds: float | None = None,
    jobs: int = 1,
    progress: Callable[[float], None] | None = None,
) -> Edge:
    """Where between `low` and `high` of the input `parameter` does a program stop to be stable?

    path, source, sets, defs: the program, as for `compile`. The rest is as for `stability`, for each value
    that is looked at, but `seconds`: for all of them; progress: called with their number.
    Raises ProgramError as `compile` and `stability` do.
    """
    from serq.diagnostics import ProgramError
    from serq.studies.edge import find_edge
    from serq.studies.looks import Patience
    from serq.studies.stability import deadline_in
    from serq.tools.loading import refused_at
    from serq.tools.settings import check_patience, check_replication, check_settings

    check_settings(horizon=1.0, seed=seed)
    check_patience(seeds, confidence, resolution, most_events, seconds)
    check_replication(1, jobs)
    tried = low

    def program_at(value: float) -> Program:
        nonlocal tried
        tried = value
        return compile(path, source=source, sets={**(sets or {}), parameter: value}, defs=defs)

    patience = Patience(seeds, confidence, resolution, most_events, deadline_in(seconds))
    try:
        for end in (low, high):  # what is refused is refused before the first run
            program_at(end)
        return find_edge(program_at, parameter, low, high, patience, seed=seed, jobs=jobs, progress=progress)
    except ProgramError as error:
        raise refused_at(error, parameter, tried) from None


def emit_lean(program: Program | str | os.PathLike[str], *, prove: bool = False) -> str:
    """The claims of a program as one self-contained Lean 4 file.

    prove: with a proof wherever a general theorem or a witness gives one. Raises ProgramError (SQ08xx)
    with every construct that cannot be stated faithfully; a claim that cannot be is left out, and
    named in the text, when another one can.
    """
    return claims_in_lean(program, prove=prove).alone


def claims_in_lean(program: Program | str | os.PathLike[str], *, prove: bool = False) -> Emitted:
    """The same as several texts, with what became of each claim: `emitted.verdicts`."""
    from serq.diagnostics import ProgramError
    from serq.lean.chain import emit
    from serq.tools.running import with_source

    program = _program(program)
    try:
        return emit(program, prove=prove)
    except ProgramError as error:
        raise with_source(error, program) from error.__cause__


def program_to_json(program: Program | str | os.PathLike[str]) -> str:
    """A program as JSON text; written to a file named `*.json`, `compile` reads it back."""
    from serq.ir.jsonform import program_to_json

    return program_to_json(_program(program))


# ---------------------------------------------------------------- the wiring


def _program(program: Program | str | os.PathLike[str]) -> Program:
    """A program, or the one at a path."""
    from serq.ir.program import Program

    if isinstance(program, Program):
        return program
    if isinstance(program, str | os.PathLike):
        return compile(program)
    raise TypeError(f"a program is what `serq.compile` gives, or a path, not {type(program).__name__}")


_RECORDS = {
    "Diagnostic": "serq.diagnostics",
    "InternalError": "serq.diagnostics",
    "ProgramError": "serq.diagnostics",
    "Program": "serq.ir.program",
    "Report": "serq.report",
    "Replications": "serq.report.replications",
    "Verification": "serq.studies.verify",
    "Stability": "serq.studies.stability",
    "Edge": "serq.studies.edge",
}
"""The records of the interface and where they are; loaded when somebody names them."""


def __getattr__(name: str) -> Any:
    # `import serq` stays light.
    if name in _RECORDS:
        from importlib import import_module

        return getattr(import_module(_RECORDS[name]), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
