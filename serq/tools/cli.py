"""The command `serq`: run, verify, stability, check, ir, emit-lean, dump, fmt, trace, explain.

What the commands promise: a report or a file only when there is one to give, everything that is
wrong on standard error, one exit code for each kind of ending (`EXIT_CODES`), and never a traceback.
Rooms are imported inside the commands, so that `serq check` loads no machine.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence

import click

import serq
from serq.diagnostics import ProcessEnded, ProgramError, diagnose, diagnostic_to_dict
from serq.tools.asking import open_program, usage_errors
from serq.tools.inputs import give, named_inputs, replacements
from serq.tools.saying import (
    abandon_output,
    complain,
    flush_output,
    print_exact,
    print_text,
    remark,
    use_plain_streams,
    writing,
)
from serq.tools.search import search_command
from serq.tools.settings import check_replication, check_settings
from serq.tools.studying import judge_stability, run_seeds, verify_claim
from serq.tools.tracing import trace_command

EXIT_CODES = """\b
Exit codes:
  0   done, every claim holds or is witnessed
  1   the program is refused, its run cannot go on, a file cannot be read or
      written; or the run is done and a claim fails
  2   wrong use of the command
  3   done, no claim fails, but some claim was not answered on this path
  70  a defect of serq"""

_DEFECT = """\
internal error[SQ0000]: {what}
  This is a defect of serq, not of your program. Please report it with the program, the command
  and this message. SERQ_DEBUG=1 shows where it happened."""


def main(arguments: Sequence[str] | None = None) -> None:
    """Run one command and exit with its code."""
    sys.exit(run_command(sys.argv[1:] if arguments is None else arguments))


def run_command(arguments: Sequence[str]) -> int:
    """Run one command; its exit code. Every ending passes here."""
    try:
        use_plain_streams()
        code = serq_command.main(args=list(arguments), prog_name="serq", standalone_mode=False)
        return flush_output(int(code or 0))
    except ProgramError as error:
        complain(error.diagnostics)
        return 1
    except click.exceptions.Exit as ending:
        return flush_output(ending.exit_code)
    except click.ClickException as error:
        error.show(sys.stderr)
        return error.exit_code
    except MemoryError:
        complain([diagnose("SQ0931")])
        return 1
    except (click.Abort, KeyboardInterrupt):
        print("interrupted", file=sys.stderr)
        return 130
    except ProcessEnded as ended:
        print(f"error: {ended}", file=sys.stderr)
        return 1
    except BrokenPipeError:  # whoever read the report has had enough
        return abandon_output()
    except Exception as error:
        if os.environ.get("SERQ_DEBUG"):
            raise
        print(_DEFECT.format(what=_what_happened(error)), file=sys.stderr)
        return 70


# ---------------------------------------------------------------- the commands


@click.group(
    context_settings={"help_option_names": ["-h", "--help"]},
    epilog=EXIT_CODES,
    subcommand_metavar="COMMAND …",
    invoke_without_command=False,
)
@click.version_option(serq.__version__, message="serq %(version)s")
def serq_command() -> None:
    """Describe an LLM serving system, run it exactly, check claims about it."""


@serq_command.command(
    "run",
    short_help="Run a program and report.",
    options_metavar="--horizon T [OPTIONS]",
    epilog="\b\nExample:\n  serq run examples/hello.sq --horizon 1000 --warmup 100 --json\n\n" + EXIT_CODES,
)
@click.argument("file")
@click.argument("inputs", nargs=-1, metavar="[-- --INPUT VALUE …]", type=click.UNPROCESSED)
@click.option("--horizon", type=float, required=True, metavar="T", help="When the run ends, clock units.")
@click.option("--warmup", type=float, default=0.0, metavar="T", help="When statistics begin (0).")
@click.option("--seed", type=int, default=1, metavar="N", help="Selects the random draws (1).")
@click.option("--arrivals", type=int, metavar="N", help="End when N sessions have come and gone.")
@click.option(
    "--seeds", type=int, metavar="N", help="Run N seeds, from --seed on, and report on them together."
)
@click.option("--jobs", type=int, metavar="J", help="Processes that share the seeds (one for each core).")
@replacements
@click.option("--trace", metavar="CSV", help="Replay the turns of this file, not the program's.")
@click.option("--json", "as_json", is_flag=True, help="Print the report as JSON.")
@click.option("--dump", metavar="DIR", help="Write every sample and gauge as CSV files into DIR.")
@click.option("--pedantic", is_flag=True, help="Say doubts too, and which claims hold vacuously.")
@click.option("--reservoir", type=int, metavar="N", help="Keep N samples of each kind, drawn at random.")
@click.option("--plain", is_flag=True, help="Run on the plain machine: slow, short, written to be read.")
def run_file(
    file: str,
    inputs: tuple[str, ...],
    horizon: float,
    warmup: float,
    seed: int,
    arrivals: int | None,
    seeds: int | None,
    jobs: int | None,
    sets: dict[str, str],
    defs: dict[str, str],
    trace: str | None,
    as_json: bool,
    dump: str | None,
    pedantic: bool,
    reservoir: int | None,
    plain: bool,
) -> int:
    """Run a program (FILE, "-" for standard input, or a .json written by `serq ir`) and report.

    Times are in the program's clock units. After "--", inputs are given as --NAME VALUE.
    """
    for name, value in named_inputs(inputs):
        give(sets, name, value)
    with usage_errors():
        check_settings(horizon=horizon, warmup=warmup, seed=seed, arrivals=arrivals, reservoir=reservoir)
        if seeds is not None or jobs is not None:
            check_replication(1 if seeds is None else seeds, 1 if jobs is None else jobs)
    if seeds is None and jobs is not None:
        raise click.UsageError("--jobs goes with --seeds")
    alone = {"--dump": dump is not None, "--plain": plain, "--reservoir": reservoir is not None}
    if seeds is not None and any(alone.values()):
        raise click.UsageError(f"{next(o for o, given in alone.items() if given)} goes with a single seed")
    if plain and reservoir is not None:
        raise click.UsageError("the machine of --plain keeps every sample: leave out --reservoir")
    program = open_program(file, sets, defs, pedantic)
    if seeds is not None:
        return run_seeds(
            program, seeds, jobs, as_json,
            horizon=horizon, warmup=warmup, seed=seed, arrivals=arrivals, trace=trace,
        )  # fmt: skip
    if dump is not None:
        with writing(dump):
            os.makedirs(dump, exist_ok=True)

    from serq.machine.native import take_troubles
    from serq.report import dump_report, exit_status, report_to_json, show_report
    from serq.tools.progress import Progress

    with Progress(horizon) as progress:
        report = serq.run(
            program,
            horizon=horizon,
            warmup=warmup,
            seed=seed,
            arrivals=arrivals,
            trace=trace,
            pedantic=pedantic,
            plain=plain,
            reservoir=reservoir,
            progress=progress,
        )
    for trouble in take_troubles():
        remark(f"{trouble}; without it, long runs take longer")
    if dump is not None:
        with writing(dump):
            dump_report(report, dump)
    if as_json:
        print_exact(report_to_json(report))
    else:
        print_text(show_report(report))
    return exit_status(report)


@serq_command.command(
    "check",
    short_help="Check programs without running them.",
    epilog="\b\nExample:\n  serq check examples/hello.sq examples/papers/*.sq\n\n" + EXIT_CODES,
)
@click.argument("files", nargs=-1, required=True, metavar="FILE…")
@replacements
@click.option("--json", "as_json", is_flag=True, help="Print all complaints as JSON.")
@click.option("--pedantic", is_flag=True, help="Say doubts about what is legal, too.")
def check_files(
    files: tuple[str, ...], sets: dict[str, str], defs: dict[str, str], as_json: bool, pedantic: bool
) -> int:
    """Check programs without running them: a line for each good one, every fault of the others."""
    from serq.tools.loading import load_program, show_summary

    results = []
    for file in files:
        result = load_program(file, None, sets, defs, pedantic=pedantic)
        results.append(result)
        if not as_json:
            complain(result.diagnostics)
            if result.program is not None:
                print_text(show_summary(file, result.program))
    if as_json:
        import json

        listing = [
            {
                "file": file,
                "ok": result.program is not None,
                "diagnostics": [diagnostic_to_dict(d) for d in result.diagnostics],
            }
            for file, result in zip(files, results, strict=True)
        ]
        print_exact(json.dumps(listing, ensure_ascii=False, indent=1))
    return 0 if all(result.program is not None for result in results) else 1


@serq_command.command(
    "ir",
    short_help="Print a checked program as JSON.",
    epilog="\b\nExample:\n  serq ir examples/hello.sq > hello.json",
)
@click.argument("file")
@replacements
def print_ir(file: str, sets: dict[str, str], defs: dict[str, str]) -> None:
    """Print the checked program as JSON: definitions written out, constants folded."""
    print_exact(serq.program_to_json(open_program(file, sets, defs)))


@serq_command.command(
    "emit-lean",
    short_help="State the claims of a program in Lean 4.",
    epilog="\b\nExample:\n  serq emit-lean examples/papers/dai_sarathi.sq --prove -o lean/",
)
@click.argument("file")
@replacements
@click.option(
    "-o",
    "--output",
    metavar="OUT",
    help="A file that ends in .lean, or a folder for a Lake package; otherwise standard output.",
)
@click.option("--prove", is_flag=True, help="Add a proof wherever a general theorem or a witness gives one.")
@click.option("--json", "as_json", is_flag=True, help="Tell what became of each claim as JSON.")
def emit_lean(
    file: str, sets: dict[str, str], defs: dict[str, str], output: str | None, prove: bool, as_json: bool
) -> None:
    """State the claims of a program in Lean 4, with proofs where they can be found.

    A table tells what became of each claim: on standard error beside the Lean text, on standard output
    when the text goes elsewhere.
    """
    from serq.tools.emitting import emit_program
    from serq.tools.writing import refuse_overwriting

    refuse_overwriting(file, output)
    said = emit_program(open_program(file, sets, defs), output, prove=prove, as_json=as_json)
    if said:
        print(said, file=sys.stderr)


@serq_command.command(
    "dump",
    short_help="Print what a program becomes on its way to a run.",
    options_metavar="--after STEP [OPTIONS]",
    epilog="\b\nExample:\n  serq dump --after code examples/hello.sq",
)
@click.argument("file")
@click.option(
    "--after",
    "step",
    type=click.Choice(["tree", "ir", "code"]),
    required=True,
    help="The step whose result is printed: the tree of the text, the checked program, the Python that runs.",
)
@replacements
@click.option("-o", "--output", metavar="OUT", help="Write to this file instead of standard output.")
def dump_program(
    file: str, step: str, sets: dict[str, str], defs: dict[str, str], output: str | None
) -> None:
    """Print what a program becomes on its way to a run, for those who want to look inside."""
    from serq.tools.dumping import STEPS, dump_tree
    from serq.tools.writing import refuse_overwriting

    refuse_overwriting(file, output)
    show = STEPS[step]
    if show is None and (sets or defs or file.endswith(".json")):
        raise click.UsageError("the tree is that of a text, before inputs and definitions have their values")
    _print_or_write(dump_tree(file) if show is None else show(open_program(file, sets, defs)), output)


@serq_command.command(
    "fmt",
    short_help="Lay out programs.",
    options_metavar="[--check] [--diff]",
    epilog="\b\nExample:\n  serq fmt --check examples/*.sq",
)
@click.argument("files", nargs=-1, required=True, metavar="FILE…")
@click.option("--check", is_flag=True, help="Write nothing; name the files that would change, exit with 1.")
@click.option("--diff", is_flag=True, help="Write nothing; print what would change.")
def format_files(files: tuple[str, ...], check: bool, diff: bool) -> int:
    """Write programs in their one layout, comments kept ("-": from standard input to standard output)."""
    from serq.tools.fmt import format_file

    code = 0
    for file in files:
        try:
            with writing(file):
                outcome = format_file(file, check=check, diff=diff)
            if outcome.said:
                print_exact(outcome.said)
            code |= check and outcome.changed
        except ProgramError as error:
            complain(error.diagnostics)
            code = 1
    return code


@serq_command.command(
    "explain",
    short_help="Say what a code of a message means.",
    epilog="\b\nExample:\n  serq explain SQ0532",
)
@click.argument("codes", nargs=-1, metavar="[CODE…]")
def explain(codes: tuple[str, ...]) -> None:
    """Say what the codes in messages mean: the reason, an example, and the cure.

    Without a CODE, list all of them.
    """
    from serq.tools.explaining import code_like, code_named, explain_code, list_codes

    if not codes:
        print_text(list_codes())
        return
    known = []
    for word in codes:
        code = code_named(word)
        if code is None:
            like = code_like(word)
            hint = f"did you mean {like}?" if like else "`serq explain` lists the codes"
            raise click.UsageError(f"no message has the code `{word}`; {hint}")
        known.append(code)
    print_text("\n\n\n".join(explain_code(code) for code in known))


serq_command.add_command(verify_claim)
serq_command.add_command(judge_stability)
serq_command.add_command(trace_command)
serq_command.add_command(search_command)


# ---------------------------------------------------------------- reading what was asked


def _print_or_write(text: str, output: str | None) -> None:
    """Text for programs: to standard output, or to a file that appears when it is whole."""
    if output is None:
        print_exact(text)
        return
    from serq.tools.writing import write_file

    with writing(output):
        write_file(output, text if text.endswith("\n") else text + "\n")


def _what_happened(error: Exception) -> str:
    if isinstance(error, serq.InternalError):
        return str(error)
    where = ""
    trace = error.__traceback__
    while trace is not None:
        frame = trace.tb_frame
        module = frame.f_globals.get("__name__", "")
        if module.startswith("serq"):
            where = f" (in {module}, line {trace.tb_lineno})"
        trace = trace.tb_next
    return f"{type(error).__name__}: {error}{where}"
