"""`serq trace`: other people's traces into serq's own, and what is in one."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack, contextmanager
from io import TextIOWrapper
from typing import TYPE_CHECKING, Any, BinaryIO, TextIO, cast

import click

from serq.spelling import closest
from serq.tools.progress import Progress
from serq.tools.saying import can_show, print_exact, print_text, quiet_option, remark, writing

if TYPE_CHECKING:
    from serq.traces import Converted, Reading, TraceFile

STANDARD_OUTPUT = "-"

_FORMATS = """\b
Formats, found by their headings or named with --from:
  serq      session,turn,new,out,think[,forced], which `serq run` replays
  azure     Azure LLM inference traces: TIMESTAMP,ContextTokens,GeneratedTokens
  burstgpt  BurstGPT: Timestamp,…,Request tokens,Response tokens,…
  mooncake  Mooncake: a JSON object a line, in milliseconds
  sharegpt  conversations: a JSON list, or an object a line
  lengths   prompt_len,output_len
  csv       any table with a heading, its columns named with --columns
  json      any JSON objects, their keys named with --columns"""


@click.group(
    "trace",
    short_help="Convert recorded traces, or look at one.",
    subcommand_metavar="COMMAND …",
    epilog=_FORMATS,
)
def trace_command() -> None:
    """Convert recorded traces to serq's own, or look at one ("-" is standard input; gzip is unpacked)."""


def _characters(_: click.Context, __: click.Parameter, value: float | None) -> float | None:
    """How many characters a token has; not-a-number is in no range, which click's own ranges let pass."""
    if value is not None and not 0.01 <= value <= 1_000_000:
        raise click.BadParameter(f"{value:g} is not in the range of 0.01 to 1,000,000 characters")
    return value


def _reading_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """The options that say how a file is read, the same for every command."""
    for decorate in (
        click.option("--skip-bad", is_flag=True, help="Pass over rows that cannot be read, and count them."),
        click.option(
            "--no-sessions", is_flag=True,
            help="Take every request for a session of its own, whatever the file says.",
        ),
        click.option(
            "--chars-per-token", "characters", type=float, metavar="N", callback=_characters,
            help="Estimate the tokens of messages that are text: N characters each.",
        ),
        click.option(
            "--input-unit", metavar="UNIT",
            help="Unit of the file's times, us, ms, s, min or h, if not that of its format.",
        ),
        click.option(
            "--columns", metavar="ROLE=NAME,…",
            help="Which column is what: new, out, session, time, elapsed, think or forced.",
        ),
        click.option("--from", "format", metavar="FORMAT", help="The format, if its heading does not tell."),
    ):  # fmt: skip
        command = decorate(command)
    return quiet_option(command)


@trace_command.command(
    "convert",
    short_help="Write a trace as serq's own.",
    epilog=_FORMATS + "\n\n\b\nExample:\n  serq trace convert examples/traces/azure.csv -o turns.csv",
)
@click.argument("file")
@click.option(
    "-o",
    "--output",
    default=STANDARD_OUTPUT,
    metavar="OUT",
    help='Write to this file ("-", the default: standard output; packed if it ends in .gz).',
)
@click.option(
    "--time-unit",
    default="s",
    metavar="UNIT",
    help="Clock unit of the program that will replay it: us, ms, s, min or h (s).",
)
@click.option(
    "--think",
    type=click.Choice(["gap", "pause"]),
    default="gap",
    help="Time before a session's next turn: from request to request (gap), or from the answer (pause).",
)
@click.option(
    "--history",
    is_flag=True,
    help="Prompts hold the session's earlier turns: take off what they had.",
)
@click.option("--drop-failed", is_flag=True, help="Leave out requests whose answer has no token.")
@_reading_options
def convert_file(
    file: str, output: str, time_unit: str, think: str, history: bool, drop_failed: bool, **reading: Any
) -> None:
    """Write the trace FILE as `session,turn,new,out,think[,forced]`, which a program's `trace` replays."""
    from serq.tools.writing import refuse_overwriting
    from serq.traces import UNITS, Conversion, convert_trace, open_trace

    conversion = Conversion(
        time_unit=_known("--time-unit", time_unit, UNITS),
        pause=think == "pause",
        history=history,
        drop_failed=drop_failed,
    )
    refuse_overwriting(file, output)
    with open_trace(file, _read_options(**reading)) as trace:
        shown = "standard output" if output == STANDARD_OUTPUT else output
        with (
            writing(shown, quoted=output != STANDARD_OUTPUT),
            _opened(output) as out,
            _progress(trace) as step,
        ):
            converted = convert_trace(trace, out, conversion, step)
        remark("\n".join(_said(trace, converted)))


@trace_command.command(
    "show",
    short_help="Show what is in a trace.",
    epilog=_FORMATS + "\n\n\b\nExample:\n  serq trace show examples/traces/azure.csv",
)
@click.argument("file")
@click.option("--json", "as_json", is_flag=True, help="Print the figures as JSON.")
@click.option("--plot", metavar="PNG", help="Draw the lengths and the rate into this file; needs matplotlib.")
@_reading_options
def show_file(file: str, as_json: bool, plot: str | None, **reading: Any) -> None:
    """Show how many requests the trace FILE has, how long they are, and how they come."""
    from serq.tools.writing import open_replacement, refuse_overwriting
    from serq.traces import open_trace, show_summary, summarize_trace, summary_to_json

    picture = _picture_format(plot) if plot is not None else ""
    refuse_overwriting(file, plot)
    with open_trace(file, _read_options(**reading)) as trace, _progress(trace) as step:
        summary = summarize_trace(trace, step)
    if plot is not None:
        from serq.traces.plot import plot_summary

        with writing(plot), open_replacement(plot) as out:
            plot_summary(summary, out, picture)
    if as_json:
        print_exact(summary_to_json(summary))
    else:
        print_text(show_summary(summary, plain=not can_show("█▏", sys.stdout)))


# ---------------------------------------------------------------- options


def _read_options(
    format: str | None,
    columns: str | None,
    input_unit: str | None,
    characters: float | None,
    no_sessions: bool,
    skip_bad: bool,
) -> Reading:
    from serq.traces import FORMATS, UNITS, Reading

    return Reading(
        format=format and _known("--from", format, FORMATS),
        columns=_read_columns(columns or ""),
        input_unit=input_unit and _known("--input-unit", input_unit, UNITS),
        characters=characters,
        sessions=not no_sessions,
        skip_bad=skip_bad,
    )


def _read_columns(text: str) -> dict[str, str]:
    from serq.traces.formats import ROLES

    columns = {}
    for part in filter(None, text.split(",")):
        role, equals, name = (word.strip() for word in part.partition("="))
        if not equals or not name:
            raise click.UsageError(f"`{part}` is not of the form ROLE=NAME (--columns)")
        columns[_known("--columns", role, ROLES)] = name
    return columns


def _known(option: str, word: str, known: Iterable[str]) -> str:
    """`word`, which must be one of these."""
    if word in known:
        return word
    near = closest(word, known)
    cure = f"did you mean `{near}`?" if near else f"there are {', '.join(known)}"
    raise click.UsageError(f"{option} has no `{word}`; {cure}")


def _picture_format(path: str) -> str:
    """The kind of picture to draw; refused before a long file is read."""
    from serq.traces.plot import find_picture_format

    try:
        return find_picture_format(path)
    except ImportError:
        raise click.UsageError(
            "--plot needs matplotlib: install it with `pip install 'serq[plot]'`"
        ) from None
    except ValueError as error:
        raise click.UsageError(f"--plot: {error}") from None


# ---------------------------------------------------------------- output


@contextmanager
def _opened(path: str) -> Iterator[TextIO]:
    """Text to be written to a file, which appears when it is whole, or to standard output."""
    from serq.tools.writing import open_replacement

    if path == STANDARD_OUTPUT:
        with writing("standard output", quoted=False):
            yield sys.stdout
            sys.stdout.flush()
        return
    with writing(path), open_replacement(path) as file, ExitStack() as stack:
        if path.endswith(".gz"):
            import gzip

            # No name and no time, so that the same turns give the same bytes.
            file = stack.enter_context(cast(BinaryIO, gzip.GzipFile("", "wb", 6, file, mtime=0)))
        yield stack.enter_context(TextIOWrapper(file, encoding="utf-8", newline="\n"))


@contextmanager
def _progress(trace: TraceFile) -> Iterator[Callable[[int], None] | None]:
    """How far a file is read, on a terminal."""
    if not trace.size:
        yield None
        return
    with Progress(trace.size, " bytes") as progress:
        yield progress


def _said(trace: TraceFile, converted: Converted) -> Iterator[str]:
    """What was written, and what the reader of it should know."""
    from serq.traces.formats import SESSION

    turns, sessions = _count(converted.turns, "turn"), _count(converted.sessions, "session")
    yield f"{trace.format.name}: {turns} in {sessions}"
    if converted.skipped:
        yield f"  passed over: {_count(converted.skipped, 'row')} that could not be read"
    if converted.failed:
        yield f"  left out: {_count(converted.failed, 'request')} without an answer"
    if converted.backwards and SESSION in trace.columns:
        yield f"  put in order of time: {_count(converted.backwards, 'request')} below a later one"
    elif converted.backwards:
        yield f"  out of order, and left so: {_count(converted.backwards, 'request')} below a later one"
    if converted.restarted:
        yield f"  counted whole: {_count(converted.restarted, 'prompt')} shorter than the session's history"


def _count(number: int, noun: str) -> str:
    return f"{number:,} {noun}{'' if number == 1 else 's'}"
