"""Report -> text, for people: a run line, tables, notes."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain
from typing import TypeVar

from serq.report.report import ClaimResult, GaugeSummary, PoolRow, Report, SampleSummary, StageRow, WaitRow
from serq.report.stats import FEWEST_FOR_P99, FEWEST_SAMPLES
from serq.report.table import Column, show_count, show_figures, show_number, show_table

Row = TypeVar("Row", StageRow, PoolRow)

SAMPLE_COLUMNS: tuple[Column[SampleSummary], ...] = (
    Column("count", lambda s: s.count),
    Column("mean", lambda s: s.mean),
    Column("± ci", lambda s: s.ci),
    Column("cv²", lambda s: s.cv2),
    Column("p99", lambda s: s.p99),
)

GAUGE_COLUMNS: tuple[Column[GaugeSummary], ...] = (
    Column("mean", lambda g: g.mean),
    Column("± ci", lambda g: g.ci),
    Column("min", lambda g: g.min),
    Column("max", lambda g: g.max),
)

STAGE_COLUMNS: tuple[Column[StageRow], ...] = (
    Column("mean number", lambda s: s.mean_number),
    Column("utilization", lambda s: s.utilization),
    Column("completed", lambda s: s.completed),
    Column("throughput", lambda s: s.throughput),
    Column("mean wait", lambda s: s.mean_wait, optional=True),
    Column("mean service", lambda s: s.mean_service, optional=True),
)

ENGINE_COLUMNS: tuple[Column[StageRow], ...] = (
    Column("iterations", lambda s: s.iterations),
    Column("prefill only", lambda s: s.prefill_only),
    Column("decode only", lambda s: s.decode_only),
    Column("mixed", lambda s: s.mixed),
    Column("decodes", lambda s: s.mean_decodes, optional=True),
    Column("decode batch", lambda s: s.mean_decode_batch, optional=True),
    Column("decode step", lambda s: s.mean_decode_step, optional=True),
    Column("ITL", lambda s: s.mean_itl, optional=True),
    Column("ITL p50", lambda s: s.itl_p50, optional=True),
    Column("ITL p99", lambda s: s.itl_p99, optional=True),
)

POOL_COLUMNS: tuple[Column[PoolRow], ...] = (
    Column("used", lambda p: p.mean_used),
    Column("cached", lambda p: p.mean_cached, optional=True),
    Column("queue", lambda p: p.mean_queue, optional=True),
    Column("holders", lambda p: p.mean_holders),
    Column("mean wait", lambda p: p.mean_wait, optional=True),
    Column("admissions", lambda p: p.admissions),
    Column("evicted", lambda p: p.evicted_entries, optional=True),
    Column("units evicted", lambda p: p.evicted_units, optional=True),
    Column("preemptions", lambda p: p.preemptions, optional=True),
    Column("spills", lambda p: p.spills, optional=True),
    Column("rejected", lambda p: p.rejected, optional=True),
    Column("stuck", lambda p: p.stuck, optional=True),
)


def show_report(report: Report) -> str:
    """The whole report as text, without a line end after the last line.

    A cell is empty where there is no figure; a column without any is left out. Figures have six
    digits: the JSON form has them exactly.
    """
    engines = [s for s in report.stages if s.is_engine]
    parts = [
        _run_line(report),
        show_figures("observe", list(report.observes.items()), SAMPLE_COLUMNS) if report.observes else "",
        show_figures("client", list(report.client.items()), SAMPLE_COLUMNS),
        show_figures("gauge", list(report.gauges.items()), GAUGE_COLUMNS) if report.gauges else "",
        show_claims(report.claims) if report.claims else "",
        show_figures("stage", _named(report.stages), STAGE_COLUMNS) if report.stages else "",
        show_figures("engine", _named(engines), ENGINE_COLUMNS) if engines else "",
        show_figures("pool", _named(report.pools), POOL_COLUMNS) if report.pools else "",
        "\n".join(find_notes(report)),
    ]
    return "\n\n".join(part for part in parts if part)


def show_claims(claims: tuple[ClaimResult, ...]) -> str:
    """The claim table: name, kind, and the result in words with the number of iterations read."""
    rows = [(c.name, c.kind.replace("_", " "), show_result(c)) for c in claims]
    return show_table(("claim", "kind", "result"), rows, left=3)


def show_result(claim: ClaimResult) -> str:
    """A claim's result in words: `fails at 93500.0000 (1047 of 1060 iterations)`."""
    words = claim.result.replace("_", " ")
    told = "" if claim.note is None or claim.vacuous else f": {claim.note.replace('`', '')}"
    if told and claim.first is None:
        return words + told
    if claim.kind == "at_end":
        return words
    at = f" at {claim.first:.4f}" if claim.first is not None else ""
    failures = f"{claim.failures} of " if claim.result == "fails" else ""
    return f"{words}{at} ({failures}{show_count(claim.checked, 'iteration')}){told}"


def find_notes(report: Report) -> Iterator[str]:
    """What a reader of the figures should know, one line each: percentiles that are but a maximum, tests
    that never came true, claims that were not put to the test, demands that can never be met, holds and
    engines that cannot go on."""
    samples = list(report.observes.items())
    samples += ((f"client {n}" if n in report.observes else n, s) for n, s in report.client.items())
    few = [f"{n} ({s.count})" for n, s in samples if 0 < s.count < FEWEST_FOR_P99 and not s.is_test]
    if few:
        yield f"note: p99 of fewer than {FEWEST_FOR_P99} samples is the maximum: {', '.join(few)}"
    for name, o in report.observes.items():
        if o.is_test and o.count >= FEWEST_SAMPLES and not o.samples.any():
            yield f"note: observe {name} is constant 0 over {o.count} samples"
    for claim in report.claims:
        if claim.vacuous:
            yield f"vacuous: claim {claim.name} {claim.result} only because {claim.vacuous}"
    pools = _named(report.pools)
    yield from chain(
        (
            f"rejected: {show_count(p.rejected, 'session')} at pool {name}, "
            "asking for more than it can ever give"
            for name, p in pools
            if p.rejected
        ),
        (
            f"stuck: {show_count(p.stuck, 'session')} at pool {name}, preempted again without progress"
            for name, p in pools
            if p.stuck
        ),
        (
            f"over: the head of the queue of pool {p.over_cap.queue} asks pool {name} for "
            f"{show_number(p.over_cap.need)}, more than its cap"
            for name, p in pools
            if p.over_cap is not None
        ),
        (_grow_note(name, p) for name, p in pools if p.growing_at_end),
        (_wait_note(wait) for wait in report.waits),
        (
            f"idle: engine {name} has work at the end, and its last attempt gave no token"
            for name, s in _named(report.stages)
            if s.idle_with_work
        ),
    )


def _run_line(report: Report) -> str:
    end = f", end {show_number(report.end)}" if report.end != report.horizon else ""
    return (
        f"horizon {show_number(report.horizon)}{end}, warm-up {show_number(report.warmup)}, "
        f"seed {report.seed}: {show_count(report.events, 'event')}, "
        f"{show_count(report.arrivals, 'arrival')}, "
        f"{report.ended} ended, {show_count(report.turns, 'turn')}, mean live {show_number(report.mean_live)}"
    )


def _grow_note(name: str, pool: PoolRow) -> str:
    waiting = f"grow: {show_count(pool.growing_at_end, 'hold')} of pool {name} waiting to grow at the end"
    if pool.growing_stalled:
        return waiting + "; nothing can ever be freed, every session holding it is waiting"
    return waiting


def _wait_note(wait: WaitRow) -> str:
    """Who waits in vain, for what, and where in the program it asks."""
    who = [f"session {s}" for s in wait.sessions]
    where = ", ".join(dict.fromkeys(place for place in wait.places if place is not None))
    at = f" ({where})" if where else ""
    pool = wait.pools[0]
    if wait.kind == "rejected":
        asked = f"{who[0]} asked pool {pool} for {show_number(wait.need)}"
        return f"wait: {asked}, more than its cap, and ended{at}"
    if wait.kind == "over":
        return f"wait: {who[0]} asks pool {pool} for {show_number(wait.need)}, which it can never give{at}"
    if wait.kind == "stuck":
        return f"wait: {who[0]} lost its hold of pool {pool} again before it had come further{at}"
    if wait.kind == "lease":
        return f"wait: {who[0]} waits for pool {pool}, which its own lease keeps for ever{at}"
    if len(who) == 1:
        held = f"while it holds units of it, and nobody there can give any back{at}"
        return f"wait: {who[0]} waits for room in pool {pool} {held}"
    links = [
        f"{s} for pool {p}, held by {t}" for s, p, t in zip(who, wait.pools, who[1:] + who[:1], strict=True)
    ]
    return f"wait: for ever, {'; '.join(links)}{at}"


def _named(rows: tuple[Row, ...] | list[Row]) -> list[tuple[str, Row]]:
    """The rows with the names people write: `kv`, or `kv[1]` for a member of a family."""
    return [(r.name if r.index is None else f"{r.name}[{r.index}]", r) for r in rows]
