"""Engines that state their own request: every call of one is written out.

    engine mill on card {
      schedule { advance running; admit waiting taking slots (1), ram (n) reserve (n + m); }
      request (n, m) { prefill (n) growing ram; decode (m) growing ram; }
      …
    }

`mill(p, o);` in the server becomes a hold of what `taking` takes around runs of the steps, with plain
amounts as costs of their resource and every parameter replaced by its argument.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, TypeVar

from attrs import frozen

from serq.check.complaints import Complaints
from serq.check.expand import Body, Expander
from serq.check.places import word_before
from serq.check.schedules import find_givers
from serq.check.show import count
from serq.check.trees import draws, nothing_runs, rebuild, shape
from serq.check.words import SUPPLIED
from serq.diagnostics import Note
from serq.ir.moments import OBSERVABLES
from serq.source import Span
from serq.syntax import tree

T = TypeVar("T")


def write_out_requests(items: Sequence[tree.Item], expander: Expander) -> tuple[tree.Item, ...]:
    """The items with every call of an engine's request written out.

    What an engine says about its request is checked whether it is called or not.
    """
    engines = {e.name.text: e for e in items if isinstance(e, tree.Engine) and e.name is not None}
    requests = {name: find_request(engine, items, expander.complaints) for name, engine in engines.items()}
    if not any(isinstance(part, tree.Request) for e in engines.values() for part in e.items):
        return tuple(items)
    server, client = Calls(requests, expander), Calls(requests, expander, in_server=False)

    def written(item: tree.Item) -> tree.Item:
        match item:
            case tree.Server():
                return server.expand(item)
            case tree.Workload():
                return client.expand(item)
            case _:
                return item

    return tuple(written(item) for item in items)


# -------------------------------------------------------------------- what an engine says


def find_request(
    engine: tree.Engine, items: Sequence[tree.Item], complaints: Complaints
) -> Body | tree.Request | None:
    """The engine's request as the statements of a call; None without one, itself when it is wrong."""
    assert engine.name is not None
    name = engine.name.text
    stated = [part for part in engine.items if isinstance(part, tree.Request)]
    takings = list(find_takings(engine))
    if not stated:
        for admit in takings:
            if admit.taking:
                complaints.say("SQ0291", taking_word(admit, complaints), engine=name)
        return None
    request = stated[0]
    before = complaints.sink.errors
    for extra in stated[1:]:
        note = Note("the first one is here", request.at)
        complaints.say("SQ0248", extra.at, clause="request", notes=[note])
    if engine.size is not None:
        complaints.say("SQ0299", request.at, engine=name)
    taking = takings[0].taking if takings else ()
    for admit in takings[1:]:
        if shape(admit.taking) != shape(taking):
            at = taking_word(admit, complaints) if admit.taking else admit.at
            note = Note("the first one is here", takings[0].at)
            complaints.say("SQ0293", at, engine=name, notes=[note])
    check_parameters(request, complaints)
    check_parts(engine, request, taking, items, complaints)
    check_names(engine, request, taking, items, complaints)
    if len(complaints.sink.errors) > len(before):
        return request
    body = tree.Block(tuple(statements(engine.name, request, taking)), request.at)
    return Body(engine.name, tuple(p.text for p in request.parameters), body, frozenset())


def find_takings(engine: tree.Engine) -> Iterator[tree.Admit]:
    """The statements of an engine that admit."""
    for part in engine.items:
        if isinstance(part, tree.Schedule):
            yield from (s for s in find_givers(part.statements) if isinstance(s, tree.Admit))


def taking_word(admit: tree.Admit, complaints: Complaints) -> Span:
    """The place of the word `taking`."""
    return word_before(admit.taking[0].at, "taking", complaints)


def check_parameters(request: tree.Request, complaints: Complaints) -> None:
    """The parameters have names of their own."""
    seen: set[str] = set()
    for parameter in request.parameters:
        if parameter.text in seen:
            complaints.say("SQ0211", parameter.at, name=parameter.text)
        elif parameter.text in SUPPLIED:
            complaints.say("SQ0221", parameter.at, kind="parameter", name=parameter.text)
        seen.add(parameter.text)


def check_parts(
    engine: tree.Engine,
    request: tree.Request,
    taking: Sequence[tree.Part],
    items: Sequence[tree.Item],
    complaints: Complaints,
) -> None:
    """`taking` takes capacities of the engine and its device, each once; steps grow what it takes."""
    assert engine.name is not None
    name = engine.name.text
    devices = (d for d in items if isinstance(d, tree.Device) and d.name.text == engine.device.text)
    own = [
        part.name.text
        for items_of in (engine.items, *(d.items for d in devices))
        for part in items_of
        if isinstance(part, tree.Capacity)
    ]
    taken: set[str] = set()
    for part in taking:
        pool = part.place.name.text
        if pool not in own or part.place.member is not None:
            complaints.unknown("SQ0295", pool, part.place.at, dict.fromkeys(own), engine=name)
        elif pool in taken:
            complaints.say("SQ0582", part.place.at, pool=pool)
        taken.add(pool)
    for step in request.steps:
        if step.growing is not None and step.growing.name.text not in taken:
            complaints.say("SQ0292", step.growing.at, engine=name, pool=step.growing.name.text)


def check_names(
    engine: tree.Engine,
    request: tree.Request,
    taking: Sequence[tree.Part],
    items: Sequence[tree.Item],
    complaints: Complaints,
) -> None:
    """A request sees its parameters, constants and live state; its steps the clock and hidden attributes."""
    assert engine.name is not None
    known = {p.text for p in request.parameters} | {"inf"}
    known |= {item.name.text for item in items if isinstance(item, tree.Let | tree.Input)}
    hidden = {
        name.text
        for item in items
        if isinstance(item, tree.Workload)
        for part in item.items
        if isinstance(part, tree.Hidden)
        for name in part.names
    }
    sizes = [e for part in taking for e in (part.units, part.reserve) if e is not None]
    reads = [("taking", e, known) for e in sizes]
    reads += [("request", step.work, known | hidden | SUPPLIED) for step in request.steps]
    for clause, e, names in reads:
        for reference in free_names(e, frozenset()):
            if reference.name.text not in names:
                read = reference.name.text
                complaints.say("SQ0294", reference.at, clause=clause, engine=engine.name.text, name=read)


def free_names(node: Any, bound: frozenset[str]) -> Iterator[tree.Reference]:
    """The names that an expression reads as values, without those that its aggregates bind."""
    match node:
        case tree.Reference(name=name, index=index, member=None):
            if name.text not in bound:
                yield node
            yield from free_names(index, bound)
        case tree.Call(name=name, arguments=(tree.Reference(index=index), *rest)) if (
            name.text in OBSERVABLES or name.text == "cost"
        ):
            yield from free_names((index, *rest), bound)
        case tree.Aggregate(variable=variable, bound=limit, body=body):
            yield from free_names(limit, bound)
            yield from free_names(body, bound | {variable.text})
        case tuple():
            for part in node:
                yield from free_names(part, bound)
        case tree.Reference():
            pass
        case tree.Node():
            for field in node.__match_args__:
                yield from free_names(getattr(node, field), bound)


# -------------------------------------------------------------------- what a call does


def statements(
    engine: tree.Name, request: tree.Request, taking: Sequence[tree.Part]
) -> Iterator[tree.Statement]:
    """The steps as runs, inside a hold if there is something to take."""
    runs = tuple(
        tree.Run(
            (tree.Reference(engine, None, None, step.at),), step.mode,
            cost(engine, step.work), step.growing, step.at,
        )
        for step in request.steps
    )  # fmt: skip
    if not taking:
        yield from runs
        return
    parts = tuple(
        tree.Part(
            part.place, cost(part.place.name, part.units),
            None if part.reserve is None else cost(part.place.name, part.reserve), part.at,
        )
        for part in taking
    )  # fmt: skip
    yield tree.Hold(parts, None, (), tree.Block(runs, request.at), None, None, request.at)


def cost(resource: tree.Name, amount: tree.Expr) -> tree.Call:
    """A plain amount as a cost of a resource."""
    at = amount.at
    return tree.Call(tree.Name("cost", at), (tree.Reference(resource, None, None, at), amount), at)


@frozen
class Calls:
    """Writes out the calls in a block of the server, and refuses those of the client.

    requests: the statements of each engine's request, None without one, the request if it is wrong.
    """

    requests: Mapping[str, Body | tree.Request | None]
    expander: Expander
    in_server: bool = True

    def expand(self, node: T) -> T:
        """A node with the calls in it written out."""
        if not isinstance(node, tree.Block):
            return rebuild(node, self.expand)
        found: list[tree.Statement] = []
        for statement in node.statements:
            if isinstance(statement, tree.Use) and statement.name.text in self.requests:
                found.extend(self.call(statement))
            else:
                found.append(self.expand(statement))
        return tree.Block(tuple(found), node.at)  # type: ignore[return-value]

    def call(self, use: tree.Use) -> Sequence[tree.Statement]:
        """The statements of one call."""
        complaints, name = self.expander.complaints, use.name.text
        body, wrong = self.requests[name], (nothing_runs(use.at),)
        if body is None:
            return (use,)
        if isinstance(body, tree.Request):
            return wrong
        notes = [Note(f"`{name}` is declared here", body.name.at)]
        if not self.in_server:
            complaints.say("SQ0297", use.at, engine=name, notes=notes)
            return wrong
        if len(use.arguments) != len(body.parameters):
            takes = count(len(body.parameters), "argument")
            complaints.say("SQ0301", use.at, name=name, takes=takes, got=len(use.arguments), notes=notes)
            return wrong
        for parameter, argument in zip(body.parameters, use.arguments, strict=True):
            if draws(argument):
                complaints.say("SQ0298", use.at, parameter=parameter, engine=name, notes=notes)
                return wrong
        assert isinstance(body.body, tree.Block)
        return self.expander.substitute(body, body.body, use.arguments, use.at).statements
