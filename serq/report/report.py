"""The report of a run: records with the names of the JSON form, and the samples as arrays.

Times are in the program's clock unit, rates per that unit, tokens and pool units as the program writes
them. W is the warm-up and E the end of the run; unless said otherwise a figure covers [W, E]. None
stands for a figure over nothing. Definitions: semantics, section 10, with the formulas in `stats`.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Mapping
from itertools import islice
from typing import Any, TypeVar

import numpy as np
from attrs import Attribute, asdict, cmp_using, field, frozen

from serq.report.stats import Floats, Ints
from serq.spelling import closest


def _array() -> Any:
    """A field with an array: kept beside the figures, not part of repr or JSON."""
    return field(eq=cmp_using(eq=np.array_equal), repr=False, kw_only=True, metadata={"json": False})


Summary = TypeVar("Summary")


class ByName(dict[str, Summary]):
    """Summaries by name, in the program's order; a name that is not there raises a KeyError that says
    which are."""

    def __init__(
        self, kind: str, summaries: Mapping[str, Summary] | Iterable[tuple[str, Summary]] = ()
    ) -> None:
        """kind: what each of them is about, as people call it."""
        super().__init__(summaries)
        self.kind = kind

    def __missing__(self, name: object) -> Summary:
        raise _nothing_named(self.kind, name, self)

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.kind, dict(self))


@frozen
class SampleSummary:
    """An observation or a client time (`ttft`, `tpot`, `response`) over its samples in [W, E].

    count: samples. mean: in their unit. ci: half width of the 95 % batch-means interval, None below
    40 samples. cv2: sample variance over squared mean, None below two. p99: nearest rank.
    samples, times, sessions, turns: what was recorded, when, by whom and in which of its turns,
    arrays of shape (count,) in recorded order.
    is_test: the observed expression is a comparison or a logical formula, its samples 0 or 1.
    """

    count: int
    mean: float | None
    ci: float | None
    cv2: float | None
    p99: float | None
    samples: Floats = _array()
    times: Floats = _array()
    sessions: Ints = _array()
    turns: Ints = _array()
    is_test: bool = field(default=False, kw_only=True, metadata={"json": False})


@frozen
class GaugeSummary:
    """A gauge over [W, E], in the unit of its expression.

    mean: time average. ci: half width of the 95 % interval over 20 equal windows. min, max: among
    the values held for a positive time. times, values: its change points over the whole run, from
    times[0] = 0; from times[i] on the gauge is values[i].
    """

    mean: float
    ci: float
    min: float
    max: float
    times: Floats = _array()
    values: Floats = _array()


@frozen
class ClaimResult:
    """What this path says of one claim (semantics, section 9).

    kind: `every_iteration`, `some_iteration` or `at_end`. result: `holds`, `fails`, `witnessed`,
    `not_witnessed`, `not_evaluated` or `out_of_scope`. checked: iterations read, or 1 at the end.
    failures: how many of them gave 0. first: time of the first failure or witness. note: why the
    claim was not answered, a doubt about the answer, or which iteration and requests decided it.
    vacuous: why it holds without having been put to the test, None if it was: an aggregate has no sample,
    or its premise never came true, which is looked at when a run is asked to be pedantic.
    """

    name: str
    kind: str
    result: str
    checked: int
    failures: int
    first: float | None
    note: str | None
    vacuous: str | None = field(default=None, kw_only=True, metadata={"json": False})


@frozen
class StageRow:
    """An engine or another stage, or one member of a family (index: its number, else None).

    mean_number: jobs present, time average. utilization: fraction of time with a job present (of
    a shared stage: of its capacity). completed: jobs ended; throughput: per unit of time.
    mean_wait, mean_service: per completed job, join to start and start to end (an engine: 0, and
    join to end).

    Engines only, 0 or None elsewhere: iterations, over the whole run. prefill_only, decode_only,
    mixed: fraction of time under iterations of that kind. mean_decodes: decodes in the running
    iteration, time average. mean_decode_batch, mean_decode_step: decodes and duration of the
    iterations that have one. mean_itl, itl_p50, itl_p99: time between successive tokens of a turn.
    idle_with_work: the run ended while the engine had work and its last attempt gave no token.
    """

    name: str
    index: int | None
    mean_number: float
    utilization: float
    completed: int
    throughput: float
    mean_wait: float | None
    mean_service: float | None
    iterations: int
    prefill_only: float
    decode_only: float
    mixed: float
    mean_decodes: float
    mean_decode_batch: float | None
    mean_decode_step: float | None
    mean_itl: float | None
    itl_p50: float | None
    itl_p99: float | None
    idle_with_work: bool
    is_engine: bool = field(default=False, kw_only=True, metadata={"json": False})


@frozen
class OverCap:
    """A demand that can never be met: the head of pool `queue`'s queue asks this pool for `need` units."""

    queue: str
    need: float


@frozen
class PoolRow:
    """A pool, or one member of a family (index: its number, else None).

    mean_used, mean_cached: units held, and kept as prefixes, time averages. mean_queue: holds
    waiting in its queue; mean_holders: sessions holding it; time averages. mean_wait: time per
    admission from its own queue. admissions: holds admitted that include it.
    evicted_entries, evicted_units: prefixes that vanished, units they gave up. preemptions: victims
    it took. spills: prefixes written to the tier. rejected: sessions whose demand can never fit.
    stuck: sessions preempted again without progress. over_cap: at the end, a queue head that asks
    for more than the cap. growing_at_end: holds waiting to grow at the end; growing_stalled: every
    session holding the pool is one of those, so none of them will ever go on.
    """

    name: str
    index: int | None
    mean_used: float
    mean_cached: float
    mean_queue: float
    mean_holders: float
    mean_wait: float | None
    admissions: int
    evicted_entries: int
    evicted_units: float
    preemptions: int
    spills: int
    rejected: int
    stuck: int
    over_cap: OverCap | None
    growing_at_end: int
    growing_stalled: bool


@frozen
class WaitRow:
    """Sessions that can never go on, found when the run had ended.

    kind: "rejected", a session asked for more than a cap and ended; "over", the head of a queue asks for
    more than a cap; "cycle", sessions wait for what the next of them holds; "lease", a session waits for
    what its own lease keeps for ever; "stuck", a hold was preempted again without progress. sessions, pools,
    places: who waits, for what, and where it asks (`file:line:column`). need: units asked
    for, of "rejected" and "over".
    """

    kind: str
    sessions: tuple[int, ...]
    pools: tuple[str, ...]
    places: tuple[str | None, ...]
    need: float | None


@frozen
class Report:
    """A finished run.

    version: of serq. horizon, warmup, seed: as set. end: when the run ended. events: handled in the
    whole run. arrivals: sessions created in the whole run. ended, turns: sessions ended, turns begun.
    mean_live: live sessions, time average. observes, gauges: by name, in the program's order.
    client: `ttft`, `tpot`, `response`. claims, stages, pools: in the program's order. waits: sessions
    that can never go on.
    """

    version: str
    horizon: float
    end: float
    warmup: float
    seed: int
    events: int
    arrivals: int
    ended: int
    turns: int
    mean_live: float
    observes: dict[str, SampleSummary]
    client: dict[str, SampleSummary]
    gauges: dict[str, GaugeSummary]
    claims: tuple[ClaimResult, ...]
    stages: tuple[StageRow, ...]
    pools: tuple[PoolRow, ...]
    waits: tuple[WaitRow, ...] = ()

    def claim(self, name: str) -> ClaimResult:
        """The result of the claim of that name; KeyError when the program has none."""
        return _find("claim", self.claims, name, None)

    def stage(self, name: str, index: int | None = None) -> StageRow:
        """The row of an engine or stage, of a family's member by index; KeyError when there is none."""
        return _find("stage", self.stages, name, index)

    def pool(self, name: str, index: int | None = None) -> PoolRow:
        """The row of a pool, of a family's member by index; KeyError when there is none."""
        return _find("pool", self.pools, name, index)

    def to_dict(self) -> dict[str, Any]:
        """The report as JSON has it: plain dictionaries and lists, keys in order, samples left out.

        Whole numbers are ints, numbers that are not finite None. `claims` is there only if the
        program makes a claim, `waits` only if somebody can never go on.
        """
        document = asdict(self, filter=_in_json, value_serializer=plain_value)
        for rare in ("claims", "waits"):
            if not document[rare]:
                del document[rare]
        return document


def exit_status(report: Report) -> int:
    """How a finished run ends its process: 1 a claim fails, 3 a claim was not answered, 0 otherwise."""
    results = {claim.result for claim in report.claims}
    if "fails" in results:
        return 1
    return 0 if results <= {"holds", "witnessed"} else 3


Row = TypeVar("Row", ClaimResult, StageRow, PoolRow)


def _find(what: str, rows: Iterable[Row], name: str, index: int | None) -> Row:
    known = {}
    for row in rows:
        of_family = getattr(row, "index", None)
        if (row.name, of_family) == (name, index):
            return row
        known[_member(row.name, of_family)] = row
    raise _nothing_named(what, _member(name, index), known)


def _member(name: object, index: int | None) -> str:
    return f"{name}" if index is None else f"{name}[{index}]"


_LISTED = 12


def _nothing_named(what: str, name: object, known: Collection[str]) -> KeyError:
    """The error of asking a report for what it does not have, with what it has."""
    said = f"no {what} `{name}` in this report"
    if not known:
        return KeyError(f"{said}: the program has none")
    near = closest(str(name), known)
    more = ", …" if len(known) > _LISTED else ""
    listed = ", ".join(f"`{other}`" for other in islice(known, _LISTED))
    return KeyError(f"{said}; {f'did you mean `{near}`? It' if near else 'it'} has {listed}{more}")


def _in_json(attribute: Attribute[Any], value: Any) -> bool:
    return bool(attribute.metadata.get("json", True))


def plain_value(instance: Any, attribute: Attribute[Any] | None, value: Any) -> Any:
    """A value as JSON has it, for `attrs.asdict`: what is not finite is None, whole numbers are ints."""
    if isinstance(value, float):
        if not math.isfinite(value):
            return None
        # From 1e16 on a float is written with an exponent, which has no fraction either.
        if value.is_integer() and abs(value) < 1e16:
            return int(value)
    return list(value) if isinstance(value, tuple) else value
