"""Gauges and claims: expressions over the state, with the words of their author."""

from __future__ import annotations

from serq.check import fold
from serq.check.expressions import Expressions
from serq.check.standing import Standing
from serq.ir.claim import AtEnd, Claim, EveryIteration, Gauge, SomeIteration
from serq.ir.expr import Place
from serq.ir.moments import Moment
from serq.source import Span
from serq.syntax import tree


def lower_gauge(item: tree.Gauge, order: int, x: Expressions) -> Gauge:
    """A gauge."""
    value = x.plain(item.value, Standing(Moment.GAUGE, order))
    return Gauge(item.name.text, value, at=item.name.at)


def lower_claim(item: tree.Claim, order: int, x: Expressions) -> Claim | None:
    """A claim; None when its engine is not known."""
    name, text = item.name.text, claim_text(item.at, x)
    given = None
    if item.given is not None:
        given = x.plain(item.given, Standing(Moment.GIVEN, order))
    if item.kind == "end":
        value = x.plain(item.value, Standing(Moment.END, order))
        return AtEnd(name, value, given, text, at=item.name.at)
    assert item.engine is not None
    engine = find_engine(item.engine, order, x)
    here = Standing(Moment.ITERATION, order, engine=None if engine is None else engine.name)
    value = x.plain(item.value, here)
    if engine is None:
        return None
    kind = EveryIteration if item.kind == "every" else SomeIteration
    return kind(name, engine, value, given, text, at=item.name.at)


def find_engine(written: tree.Reference, order: int, x: Expressions) -> Place | None:
    """The engine that a claim is about: only an engine has iterations."""
    name = written.name.text
    resource = x.names.resource(name) if written.member is None else None
    if resource is not None and resource.kind != "engine":
        what = "pool" if resource.is_pool else f"`{resource.kind}` stage"
        x.complaints.say("SQ0450", written.at, name=name, what=what)
        return None
    place = x.place(written, "engine", Standing(Moment.ITERATION, order))
    if place is not None and place.index is not None and fold.constant(place.index) is None:
        x.complaints.say("SQ0451", written.at, name=name)
        return None
    return place


def claim_text(at: Span, x: Expressions) -> str:
    """The claim as written, its white space collapsed."""
    source = x.complaints.sink.sources.get(at.file)
    if source is None:
        return ""
    lines = [source.line(n) for n in range(at.line, at.end_line + 1)]
    if lines:
        lines[-1] = lines[-1][: at.end_column - 1]
        lines[0] = lines[0][at.column - 1 :]
    return " ".join(" ".join(lines).split())
