"""Converting: turns from any format to serq's own trace.

Two ways, the same rows. Where every request stands alone, or the turns of a conversation stand together,
rows are written as they are read, in memory that does not grow. Where the turns of many conversations
are mixed, all of them are kept by column until the file is read: only then is it known how long after a
turn the next one of its session came.
"""

from __future__ import annotations

from array import array
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import islice
from operator import gt
from typing import TextIO, TypeAlias

from attrs import define, frozen

from serq.diagnostics import ProgramError, diagnose
from serq.traces.batch import Batch
from serq.traces.formats import ELAPSED, FORCED, NEW, OUT, OWN_COLUMNS, SESSION, THINK, TIME, UNITS
from serq.traces.reading import TraceFile
from serq.traces.sessions import Kept

ROWS_AT_ONCE = 100_000


@frozen
class Conversion:
    """What the turns of a trace become.

    time_unit: of the program's clock. pause: `think` is the time from an answer to the next request, else
    from request to request. history: prompts hold the session's earlier turns, so `new` is what a turn
    adds. drop_failed: leave out requests without an answer.
    """

    time_unit: str = "s"
    pause: bool = False
    history: bool = False
    drop_failed: bool = False


@define
class Converted:
    """What was written.

    turns, sessions: how many. skipped: rows passed over as bad. failed: left out for want of an answer.
    backwards: requests that came before the one above them. restarted: turns whose prompt is shorter
    than what their session had before, so that all of it counts as new.
    """

    turns: int = 0
    sessions: int = 0
    skipped: int = 0
    failed: int = 0
    backwards: int = 0
    restarted: int = 0


Rows: TypeAlias = list[Sequence[float]]
"""Some rows by column: session, turn, new, out, think, and forced where the trace has it."""


def convert_trace(
    trace: TraceFile,
    out: TextIO,
    conversion: Conversion,
    progress: Callable[[int], None] | None = None,
) -> Converted:
    """Write the turns of an open trace as `session,turn,new,out,think[,forced]`.

    Sessions are numbered from 0 in the order of their first requests, and the turns of each stand
    together. progress: called with the bytes
    read. Raises ProgramError for what is wrong with the file, OSError for what is wrong with `out`.
    """
    done = Converted()
    batches = _kept_requests(trace.batches(progress), conversion, done)
    mixed = SESSION in trace.columns
    if mixed and conversion.pause and THINK not in trace.columns:
        _check_pause(trace)
    rows = (
        _gathered(batches, trace, conversion, done) if mixed else _streamed(batches, trace, conversion, done)
    )
    for i, columns in enumerate(rows):
        if trace.faults.any:
            continue  # nothing of it will be used: only the other faults are wanted
        if not i:
            out.write(",".join(OWN_COLUMNS[: len(columns)]) + "\n")
        out.write("\n".join(map(",".join, zip(*map(_texts, columns), strict=True))) + "\n")
        done.turns += len(columns[0])
    if not done.turns:
        cure = "every request of it failed: convert it without `--drop-failed`" if done.failed else None
        raise ProgramError([diagnose("SQ0957", path=trace.name, help=cure)])
    done.skipped = trace.faults.skipped
    return done


def _check_pause(trace: TraceFile) -> None:
    """Refuse `pause` for a trace that does not say when answers ended."""
    if missing := [role for role in (TIME, ELAPSED) if role not in trace.columns]:
        reason = f"it has no `{missing[0]}`, and a pause begins when the answer is there"
        cure = f"name its column with `--columns {missing[0]}=…`, or take the time between requests"
        raise ProgramError(
            [diagnose("SQ0951", path=trace.name, format=trace.format.name, reason=reason, help=cure)]
        )


def _kept_requests(batches: Iterable[Batch], conversion: Conversion, done: Converted) -> Iterator[Batch]:
    """The batches without what is to be left out; counts what is remarkable."""
    last = float("-inf")
    for batch in batches:
        if conversion.drop_failed and 0.0 in batch.columns[OUT]:
            before = len(batch)
            batch = batch.keep([out > 0 for out in batch.columns[OUT]])
            done.failed += before - len(batch)
        if times := batch.columns.get(TIME):
            done.backwards += (last > times[0]) + sum(map(gt, times, islice(times, 1, None)))
            last = times[-1]
        if len(batch):
            yield batch


def _streamed(
    batches: Iterable[Batch], trace: TraceFile, conversion: Conversion, done: Converted
) -> Iterator[Rows]:
    """Rows of sessions whose turns stand together, as they come."""
    session, turn, name = -1, 0, ""
    for batch in batches:
        count = len(batch)
        sessions: Sequence[int] = range(session + 1, session + 1 + count)
        turns: Sequence[int] = [1] * count
        if batch.sessions is not None:
            sessions, turns = [], []
            for other in batch.sessions:
                if other != name:
                    session, turn, name = session + 1, 0, other
                turn += 1
                sessions.append(session)
                turns.append(turn)
        session = sessions[-1]
        done.sessions = session + 1
        think = batch.columns.get(THINK) or array("d", bytes(8 * count))
        rows: Rows = [sessions, turns, batch.columns[NEW], batch.columns[OUT]]
        rows.append(_scaled(think, trace.unit, conversion.time_unit))
        if FORCED in batch.columns:
            rows.append(batch.columns[FORCED])
        yield rows


def _gathered(
    batches: Iterable[Batch], trace: TraceFile, conversion: Conversion, done: Converted
) -> Iterator[Rows]:
    """Rows of sessions that are mixed, once all of them are read."""
    kept = Kept()
    for batch in batches:
        if not conversion.pause:
            batch.columns.pop(ELAPSED, None)
        kept.add(batch)
    if not len(kept):
        return
    grouped = kept.group(trace, pause=conversion.pause, history=conversion.history)
    done.sessions, done.restarted = grouped.starts.size, grouped.restarted
    order, sessions, turns = grouped.by_session()
    columns = grouped.columns
    columns.pop(TIME, None)
    unit = trace.unit if THINK in trace.columns else "s"
    for start in range(0, columns[NEW].size, ROWS_AT_ONCE):
        part = slice(start, start + ROWS_AT_ONCE)
        rows: Rows = [sessions[part].tolist(), turns[part].tolist()]
        rows += [columns[role][order[part]].tolist() for role in (NEW, OUT)]
        rows.append(_scaled(columns[THINK][order[part]].tolist(), unit, conversion.time_unit))
        if FORCED in columns:
            rows.append(columns[FORCED][order[part]].tolist())
        yield rows


def _scaled(times: Sequence[float], unit: str | None, to: str) -> Sequence[float]:
    """Times in another unit, free of the noise of multiplying; unit None: they are in it."""
    if unit is None or unit == to or not any(times):
        return times
    return [round(time * UNITS[unit] / UNITS[to], 9) for time in times]


def _texts(values: Sequence[float]) -> list[str]:
    """The shortest texts that read back as these numbers."""
    if isinstance(values, range) or isinstance(values[0], int):
        return list(map(str, values))
    if all(map(float.is_integer, values)):
        return list(map(str, map(int, values)))
    return [str(int(value)) if value.is_integer() else repr(value) for value in values]
