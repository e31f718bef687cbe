"""Tables of the pages that say what the program text of serq says: made from it, never by hand."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from serq.check.supported import NOT_YET
from serq.ir.moments import OBSERVABLES, READS, REQUEST_FIELDS, VARIABLES, Moment

ALL = frozenset(OBSERVABLES)


def row(*cells: str) -> str:
    return "| " + " | ".join(cells) + " |"


def moments() -> Iterator[str]:
    """What may be read at each moment."""
    yield row("moment", "attributes", "live state", "draws", "`now`")
    yield "|---|---|---|---|---|"
    for moment in Moment:
        reads = READS[moment]
        attributes = ("all" if reads.hidden else "not hidden") if reads.attributes else "–"
        yield row(moment.value, attributes, observables(reads.observables), yes(reads.draws), yes(reads.now))


def observables(allowed: frozenset[str]) -> str:
    if not allowed:
        return "–"
    if allowed == ALL:
        return "all"
    if len(allowed) > len(ALL) / 2:
        return "all but " + " ".join(f"`{name}`" for name in OBSERVABLES if name not in allowed)
    return " ".join(f"`{name}`" for name in OBSERVABLES if name in allowed)


def yes(allowed: bool) -> str:
    return "yes" if allowed else "–"


ENGINE = (Moment.CAP, Moment.KEY, Moment.ONLY, Moment.PLAN, Moment.EXECUTE)


def engine_variables() -> Iterator[str]:
    """What an engine's clauses read about its runs, its queues and the batch."""
    yield row("variable", "meaning", "unit", *(m.value for m in ENGINE))
    yield "|---|---|---|" + ":-:|" * len(ENGINE)
    for name, variable in VARIABLES.items():
        if "." in name:
            marks = ("●" if m in variable.moments else "" for m in ENGINE)
            yield row(f"`{name}`", variable.doc, variable.unit, *marks)


def claim_variables() -> Iterator[str]:
    """What a claim over iterations reads."""
    yield row("variable", "meaning", "unit")
    yield "|---|---|---|"
    for name, variable in VARIABLES.items():
        if variable.moments == {Moment.ITERATION}:
            yield row(f"`{name}`", variable.doc, variable.unit)


def other_variables() -> Iterator[str]:
    """Every other variable, with its moments."""
    yield row("variable", "meaning", "unit", "where")
    yield "|---|---|---|---|"
    for name, variable in VARIABLES.items():
        if "." not in name and name != "now" and variable.moments != {Moment.ITERATION}:
            where = ", ".join(m.value for m in Moment if m in variable.moments)
            yield row(f"`{name}`", variable.doc, variable.unit, where)


def not_yet() -> Iterator[str]:
    """What is refused because the machine does not know it."""
    yield row("refused with `SQ0901`")
    yield "|---|"
    yield row(", ".join(NOT_YET.values()))


def fields() -> Iterator[str]:
    """What a request has in a loop or an aggregate."""
    yield row("field", "meaning", "unit", "read of requests in")
    yield "|---|---|---|---|"
    for name, value in REQUEST_FIELDS.items():
        yield row(f"`r.{name}`", value.doc, value.unit, ", ".join(f"`{s}`" for s in value.sets))


TABLES: dict[str, Callable[[], Iterator[str]]] = {
    "moments": moments,
    "engine_variables": engine_variables,
    "claim_variables": claim_variables,
    "other_variables": other_variables,
    "not_yet": not_yet,
    "fields": fields,
}
"""The tables by the name that the comment above them gives."""
