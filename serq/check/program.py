"""The order of the passes: definitions, names, constants, lowering, and the checks of the whole."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TypeVar

from attrs import evolve

from serq.check.claims import lower_claim, lower_gauge
from serq.check.complaints import Complaints
from serq.check.constants import fold_constants
from serq.check.declare import declare_names
from serq.check.entries import EntryWriter
from serq.check.expand import ParseExpression, expand_definitions
from serq.check.expressions import Expressions
from serq.check.flows import is_flow
from serq.check.lists import Given
from serq.check.names import Names
from serq.check.places import opening_brace
from serq.check.readings import places_of, statements_in
from serq.check.relations import find_relations, waits
from serq.check.requests import write_out_requests
from serq.check.resources import lower_device, lower_engine, lower_pool, lower_stage
from serq.check.side import Side
from serq.check.standing import Standing
from serq.check.statements import lower_block
from serq.check.stations import find_stations, write_out
from serq.check.trees import walk
from serq.check.visible import check_visible
from serq.check.whole import check_ir, deep_recursion
from serq.check.workloads import hidden_names, lower_attributes, lower_workload
from serq.diagnostics import Note, Sink
from serq.ir.claim import Claim, Gauge
from serq.ir.moments import Moment
from serq.ir.pool import Pool
from serq.ir.program import Constant, Input, Program
from serq.ir.server import Block
from serq.ir.stage import Device, Stage
from serq.ir.workload import Workload
from serq.source import Span
from serq.syntax import tree


def check_program(
    parsed_tree: tree.Program,
    sink: Sink,
    *,
    sets: Mapping[str, Given] | None = None,
    defs: Mapping[str, str] | None = None,
    skipped: frozenset[str] = frozenset(),
    complete: bool = True,
    pedantic: bool = False,
    parse_expression: ParseExpression,
) -> Program | None:
    """The program that a text means, or None when the sink has errors.

    sets: values of inputs by their external name. defs: expressions that replace the bodies of
    definitions. skipped: words in text that was thrown away while reading; complete: nothing was.
    pedantic: doubts about a good program are said as well. parse_expression: reads the texts of
    `sets` and `defs`.
    """
    x = Expressions(Names(), Complaints(sink, skipped, complete))
    with deep_recursion():
        program = lower_program(parsed_tree, x, sets or {}, defs or {}, parse_expression)
        check_ir(program, sink, x.complaints)
        if pedantic and not sink.errors:
            from serq.check.doubts import find_doubts  # few ask for it, all would wait for it

            find_doubts(parsed_tree, program, x)
    return None if sink.errors else program


def lower_program(
    parsed: tree.Program,
    x: Expressions,
    sets: Mapping[str, Given],
    defs: Mapping[str, str],
    parse_expression: ParseExpression,
) -> Program:
    """All passes from the tree to the program. What is wrong has been said when it returns."""
    complaints = x.complaints
    before, items, expander = expand_definitions(parsed, complaints, defs, parse_expression)
    items = write_out_requests(write_out_queues(before, items, complaints), expander)
    x.names.definitions = {name: body.name.at for name, body in expander.known.items()}
    constants, inputs, lists = fold_constants(before, items, x, sets, parse_expression)
    everything = (*before, *items)
    declare_names(everything, x.names.definitions, x)
    if sets:
        by_default = Expressions(Names(), Complaints(Sink(complaints.sink.sources)))
        fold_constants(before, items, by_default, {}, parse_expression)
        declare_names(everything, x.names.definitions, by_default)
        check_sizes(by_default.names, x)
    check_structure(everything, parsed.at, complaints)
    program = lower_items(everything, constants, inputs, x, parsed.at)
    return evolve(program, lists=lists)


def write_out_queues(
    before: Sequence[tree.Item], items: Sequence[tree.Item], complaints: Complaints
) -> tuple[tree.Item, ...]:
    """The items of `main` with the declarations of queues, and calls of their entries, written out."""
    stations = find_stations(items, complaints)
    imported = any(
        isinstance(item, tree.Import) and item.path.text == "std/kvt" for item in (*before, *items)
    )
    relations = find_relations(items, stations, imported, complaints)
    check_visible(stations, items, complaints)
    orders = {i.name.text: order for order, i in enumerate(items) if isinstance(i, tree.Stage)}
    writer = EntryWriter(complaints, stations, relations, imported, orders)
    written: list[tree.Item] = []
    for item in items:
        written.append(writer.item(item))
        if isinstance(item, tree.Queue) and stations[item.name.text].item is item:
            written.extend(write_out(stations[item.name.text]))
    return (*written, *waits(relations))


def check_sizes(by_default: Names, x: Expressions) -> None:
    """The inputs given leave the sizes of families as the program says."""
    for name, resource in {**x.names.stages, **x.names.pools}.items():
        before = by_default.resource(name)
        if before is not None and before.size != resource.size:
            x.complaints.say("SQ0256", resource.at, name=name, before=before.size, after=resource.size)


def check_structure(items: Sequence[tree.Item], at: Span, complaints: Complaints) -> None:
    """A program has one workload with one server, or neither."""
    workloads = [item for item in items if isinstance(item, tree.Workload)]
    servers = [item for item in items if isinstance(item, tree.Server)]
    end = Span(at.end_line, at.end_column, at.end_line, at.end_column, at.file)
    for extra in servers[1:]:
        note = Note("the first one is here", servers[0].at)
        complaints.say("SQ0270", extra.at, notes=[note])
    for another in workloads[1:]:
        note = Note("the first one is here", workloads[0].at)
        complaints.say("SQ0271", opening_brace(another.at, complaints), notes=[note])
    if workloads and not servers:
        complaints.missing("SQ0272", end, notes=[Note("the workload is here", workloads[0].at)])
    if servers and not workloads:
        complaints.missing("SQ0273", end, notes=[Note("the server is here", servers[0].at)])


def lower_items(
    items: Sequence[tree.Item],
    constants: tuple[Constant, ...],
    inputs: tuple[Input, ...],
    x: Expressions,
    at: Span,
) -> Program:
    """Each item becomes its record; the workload first, since the server reads what it assigns."""
    workload: Workload | None = None
    hidden: dict[str, Span] = {}
    server: Block = ()
    devices: list[Device] = []
    stages: list[Stage] = []
    pools: list[Pool] = []
    gauges: list[Gauge] = []
    claims: list[Claim] = []
    numbered = list(enumerate(items))
    infer_costs(items, x)
    for order, item in numbered:
        if isinstance(item, tree.Workload) and workload is None:
            workload = lower_workload(item, order, x)
            hidden = hidden_names(item, x)
    for order, item in numbered:
        if isinstance(item, tree.Server) and not server:
            server = lower_block(item.body, Side("server", order), x)
    for order, item in numbered:
        match item:
            case tree.Device():
                add(devices, lower_device(item, x))
            case tree.Engine():
                add(stages, lower_engine(item, order, x))
            case tree.Stage():
                add(stages, lower_stage(item, order, x))
            case tree.Pool():
                add(pools, lower_pool(item, order, x))
            case tree.Gauge():
                gauges.append(lower_gauge(item, order, x))
            case tree.Claim():
                add(claims, lower_claim(item, order, x))
            case tree.Share():
                check_share(item, (*server, *(workload.session if workload else ())), x)
            case _:
                pass
    check_client_costs(server, x)
    return Program(
        constants, inputs, tuple(devices), tuple(stages), tuple(pools),
        lower_attributes(hidden, x), tuple(x.names.observes), workload, server,
        tuple(gauges), tuple(claims), x.names.share, file=at.file, at=at,
        source=x.complaints.sink.sources.get(at.file),
    )  # fmt: skip


def check_share(item: tree.Share, statements: Block, x: Expressions) -> None:
    """`share` says how flows share: a program without one has nothing to share."""
    if x.complaints.sink.errors:
        return
    if not any(is_flow(s) for s in statements_in(statements)):
        x.complaints.missing("SQ0336", item.at)


def check_client_costs(server: Block, x: Expressions) -> None:
    """The client makes no costs of what the server uses."""
    served = {place.name for s in statements_in(server) for place in places_of(s)}
    for name, at in x.names.client_costs:
        if name in served:
            x.complaints.say("SQ0576", at, name=name)


def infer_costs(items: Sequence[tree.Item], x: Expressions) -> None:
    """Which attributes hold a cost, so that a reading above the assignment is known to be of one.

    Assignments are read silently until nothing more is learnt; complaints come when they are
    lowered.
    """
    assignments = [
        (node.name.text, node.value, order)
        for order, item in enumerate(items)
        if isinstance(item, tree.Workload | tree.Server)
        for node in walk(item)
        if isinstance(node, tree.Assign) and node.verb != "observe"
    ]
    silent = Expressions(x.names, Complaints(Sink(x.complaints.sink.sources)))
    known = -1
    while known != len(x.names.costs):
        known = len(x.names.costs)
        for name, value, order in assignments:
            if name not in x.names.costs:
                cost = silent.lower(value, Standing(Moment.SESSION, order)).cost
                if cost is not None:
                    x.names.costs[name] = cost


T = TypeVar("T")


def add(records: list[T], record: T | None) -> None:
    """Keep a record; one about which a complaint was made may be missing."""
    if record is not None:
        records.append(record)
