"""The workload: how sessions arrive, what their blocks do, which attributes the scheduler sees."""

from __future__ import annotations

import math
from collections.abc import Mapping

from serq.check.expressions import Expressions
from serq.check.limits import MOST_SESSIONS, is_count
from serq.check.places import word_after
from serq.check.requested import list_named
from serq.check.show import number
from serq.check.side import Side
from serq.check.standing import Standing
from serq.check.statements import lower_block
from serq.ir.expr import Draw, Num
from serq.ir.moments import BUILT_IN_SIZES, BUILT_IN_VALUES, Moment
from serq.ir.server import Turn
from serq.ir.workload import (
    SMALLEST_GAP,
    Arrival,
    Attribute,
    Batch,
    Closed,
    NoArrivals,
    Poisson,
    Renewal,
    Slotted,
    Stages,
    Timed,
    Trace,
    Workload,
)
from serq.source import Span
from serq.syntax import tree

MOST_VARIATION = 10.0
"""Coefficient of variation of gamma gaps; with more, most gaps would be too small for the clock."""


def lower_workload(item: tree.Workload, order: int, x: Expressions) -> Workload:
    """The workload; of repeated items the last counts, but a session is written once."""
    arrival: Arrival = NoArrivals()
    trace = None
    blocks: dict[str, tree.WorkloadBlock] = {}
    for part in item.items:
        match part:
            case tree.Arrive():
                arrival = lower_arrival(part, order, x)
            case tree.Trace(path=path, ordered=ordered):
                trace = Trace(path.text, ordered, at=part.at)
            case tree.WorkloadBlock(kind=kind):
                if kind == "session" and kind in blocks:
                    x.complaints.say("SQ0210", part.at, kind="block", name="session")
                blocks[kind] = part
            case tree.Hidden():
                pass
    lowered = {
        kind: lower_block(blocks[kind].body, Side(kind, order), x) if kind in blocks else ()
        for kind in ("init", "turn", "session")
    }
    session = lowered["session"] if "session" in blocks else (Turn(at=item.at),)
    place = blocks["session"].at if "session" in blocks else item.at
    return Workload(
        arrival, lowered["init"], lowered["turn"], session, trace, at=place
    )  # fmt: skip


def lower_arrival(item: tree.Arrive, order: int, x: Expressions) -> Arrival:
    """How sessions arrive."""
    place = word_after(item.at, x.complaints)
    here = Standing(Moment.GAP, order)
    match item.kind, item.arguments:
        case "none", _:
            return NoArrivals(at=item.at)
        case "renewal", (gap,):
            return Renewal(x.plain(gap, here), at=place)
        case "at", (written,):
            times = list_named(written, order, x)
            return NoArrivals(at=place) if times is None else Timed(times, at=written.at)
        case "slotted", (slot, count):
            length, number_ = x.constant(slot, order), x.plain(count, here)
            return NoArrivals(at=place) if length is None else Slotted(length, number_, at=place)
    values = [x.constant(argument, order) for argument in item.arguments]
    known = [value for value in values if value is not None]
    if len(known) < len(values):
        return NoArrivals(at=place)
    match item.kind:
        case "poisson":
            return Poisson(known[0], at=place)
        case "gamma":
            return gamma_stream(known[0], known[1], item, x)
        case "stages":
            return Stages(tuple(zip(known[::2], known[1::2], strict=True)), at=place)
        case kind:
            if not is_count(known[0], MOST_SESSIONS):
                x.complaints.say("SQ0531", place, value=number(known[0]), most=MOST_SESSIONS)
                return NoArrivals(at=place)
            return (Batch if kind == "batch" else Closed)(int(known[0]), at=place)


def gamma_stream(rate: float, variation: float, item: tree.Arrive, x: Expressions) -> Arrival:
    """`gamma(rate, cv)`: gaps of mean 1/rate and that coefficient of variation, 1 for a Poisson stream."""
    place = word_after(item.at, x.complaints)
    if not 0 < variation <= MOST_VARIATION:
        x.complaints.say("SQ0538", place, value=number(variation), most=number(MOST_VARIATION))
        return NoArrivals(at=place)
    if not 0 < rate < math.inf:
        x.complaints.say("SQ0530", place, value=number(rate))
        return NoArrivals(at=place)
    if not SMALLEST_GAP <= 1 / rate < math.inf:
        x.complaints.say("SQ0537", place, value=number(1 / rate), least=number(SMALLEST_GAP))
        return NoArrivals(at=place)
    parameters = (Num(1 / variation**2, at=item.at), Num(1 / rate, at=item.at))
    return Renewal(Draw("gamma", parameters, at=item.at), at=place)


def hidden_names(item: tree.Workload, x: Expressions) -> dict[str, Span]:
    """The attributes that the scheduler does not know; each one somebody must set."""
    found: dict[str, Span] = {}
    for part in item.items:
        if not isinstance(part, tree.Hidden):
            continue
        for name in part.names:
            if name.text in BUILT_IN_VALUES:
                x.complaints.say("SQ0441", name.at, name=name.text)
            elif name.text not in x.names.sides and name.text not in BUILT_IN_SIZES:
                x.complaints.unknown("SQ0442", name.text, name.at, x.names.attributes)
            else:
                found.setdefault(name.text, name.at)
    return found


def lower_attributes(hidden: Mapping[str, Span], x: Expressions) -> tuple[Attribute, ...]:
    """Every attribute that the program sets, by its first appearance.

    Then follow those kept at admission, and built-in ones that are hidden.
    """
    return tuple(
        Attribute(name, kind_of(name, x), name in hidden, at=at)
        for name, at in {**x.names.attributes, **x.names.kept, **hidden}.items()
        if name not in x.names.records
    )


def kind_of(name: str, x: Expressions) -> str:
    """Whether an attribute is a cost, a size of the workload, or a value of the server."""
    if name in x.names.costs:
        return "cost"
    size = name in BUILT_IN_SIZES or "workload" in x.names.sides.get(name, ())
    return "size" if size else "value"
