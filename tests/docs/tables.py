"""Tables of the pages that say what the program text of serq says: made from it, never by hand."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from serq.ir.moments import OBSERVABLES, READS, VARIABLES, Moment

ALL = frozenset(OBSERVABLES)
SHOWN = tuple(m for m in Moment if m is not Moment.CONST)


def row(*cells: str) -> str:
    return "| " + " | ".join(cells) + " |"


def moments() -> Iterator[str]:
    """What may be read at each moment."""
    yield row("moment", "attributes", "live state", "draws", "`now`")
    yield "|---|---|---|---|---|"
    for moment in (Moment.CONST, *SHOWN):
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


def variables() -> Iterator[str]:
    """Every context variable: its unit, its meaning, where it exists."""
    yield row("variable", "unit", "meaning", "where")
    yield "|---|---|---|---|"
    for name, variable in VARIABLES.items():
        if name == "now":
            where = "see the table above"
        else:
            where = ", ".join(m.value for m in Moment if m in variable.moments)
        yield row(f"`{name}`", variable.unit, variable.doc, where)


TABLES: dict[str, Callable[[], Iterator[str]]] = {"moments": moments, "variables": variables}
"""The tables by the name that the comment above them gives."""
