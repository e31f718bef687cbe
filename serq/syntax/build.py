"""The rules of the grammar -> nodes of the tree.

In: the values a rule kept, and the place of its text. Out: `BUILDERS`, one function per rule or
alias of `grammar/serq.lark`; words and operators arrive as `Name`s, absent parts as None.

It is one file: a table, and the small functions that it names.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeAlias

from attrs import frozen

from serq.source import Span
from serq.syntax import tree
from serq.syntax.tree import Expr, Name, Text

Builder: TypeAlias = Callable[..., Any]
"""Called with the kept values, then the place."""


def _row(*values: Any) -> tuple[Any, ...]:
    """The values, without the place: for rules that are a list of something."""
    return values[:-1]


def _first(value: Any, at: Span) -> Any:
    return value


# ---------------------------------------------------------------- expressions


def _number(value: Name, at: Span) -> tree.Number:
    return tree.Number(float(value.text.replace("_", "")), at)


def _binary(left: Expr, operator: Name, right: Expr, at: Span) -> tree.Binary:
    return tree.Binary(operator.text, left, right, operator.at, at)


def _unary(operator: Name, operand: Expr, at: Span) -> tree.Unary:
    return tree.Unary(operator.text, operand, at)


def _call(name: Name, arguments: tuple[Expr, ...] | None, at: Span) -> tree.Call:
    return tree.Call(name, arguments or (), at)


def _draw(law: Name, arguments: tuple[Expr, ...], at: Span) -> tree.Draw:
    return tree.Draw(law, arguments, (), None, at)


def _draw_table(law: Name, *rest: Any) -> tree.Draw:
    return tree.Draw(law, rest[:-1:2], rest[1:-1:2], None, rest[-1])


def _draw_file(law: Name, file: Text, at: Span) -> tree.Draw:
    return tree.Draw(law, (), (), file, at)


def _bound_name(name: Name, at: Span) -> tree.Reference:
    return tree.Reference(name, None, None, at)


# ---------------------------------------------------------------- statements


def _assign(verb: Name, name: Name, value: Expr, at: Span) -> tree.Assign:
    return tree.Assign(verb.text, name, value, at)


def _cost_record(verb: Name, name: Name, *rest: Any) -> tree.CostRecord:
    return tree.CostRecord(name, rest[:-1], rest[-1])


def _run_here(work: Expr, at: Span) -> tree.Run:
    return tree.Run((), None, work, None, at)


def _hold(
    parts: tuple[tree.Part, ...],
    reuse: Expr | None,
    bindings: tuple[tuple[Name, Expr], ...] | None,
    body: tree.Block,
    cache: Expr | None,
    lease: tuple[tree.Reference, Expr] | None,
    at: Span,
) -> tree.Hold:
    return tree.Hold(parts, reuse, bindings or (), body, cache, lease, at)


def _amount(verb: Name, place: tree.Reference, amount: Expr, at: Span) -> tree.Amount:
    return tree.Amount(verb.text, place, amount, at)


def _give_back(verb: Name, place: tree.Reference, at: Span) -> tree.GiveBack:
    return tree.GiveBack(verb.text, place, at)


def _branch(
    drawn: Name | None, test: Expr, then: tree.Block, otherwise: tree.Block | None, at: Span
) -> tree.Branch:
    return tree.Branch(drawn is not None, test, then, otherwise, at)


def _plain(verb: Name, at: Span) -> tree.Plain:
    return tree.Plain(verb.text, at)


def _where_index(index: Expr, at: Span) -> tree.Where:
    return tree.Where(index, (), at)


def _where_on(places: tuple[tree.Reference, ...], at: Span) -> tree.Where:
    return tree.Where(None, places, at)


def _use(name: Name, arguments: tuple[Expr, ...] | None, at: Span) -> tree.Use:
    return tree.Use(name, arguments or (), at)


def _place(name: Name, index: Expr | None, at: Span) -> tree.Reference:
    return tree.Reference(name, index, None, at)


def _entry(
    place: tree.Reference,
    verb: Name,
    arguments: tuple[Expr, ...] | None,
    source: tree.Reference | None,
    target: tuple[tree.Reference, Expr] | None,
    at: Span,
) -> tree.Entry:
    return tree.Entry(place, verb, arguments or (), source, target, at)


def _copy(kvt: Name, verb: Name, arguments: tuple[Any, ...] | None, at: Span) -> tree.Copy:
    plain = tuple(argument for argument in arguments or () if not isinstance(argument, tuple))
    options = tuple(argument for argument in arguments or () if isinstance(argument, tuple))
    return tree.Copy(_bound_name(kvt, kvt.at), verb, plain, options, at)


def _block(*rest: Any) -> tree.Block:
    return tree.Block(rest[:-1], rest[-1])


# ---------------------------------------------------------------- devices, engines, schedules


def _time_resource(
    name: Name, parameters: tuple[Name, ...] | None, body: Expr, at: Span
) -> tree.TimeResource:
    return tree.TimeResource(name, parameters or (), body, at)


def _device(name: Name, size: Expr | None, *rest: Any) -> tree.Device:
    return tree.Device(name, size, rest[:-1], rest[-1])


def _engine(name: Name, size: Expr | None, device: Name, *rest: Any) -> tree.Engine:
    return tree.Engine(name, size, device, rest[:-1], rest[-1])


def _queue_engine(device: Name, *rest: Any) -> tree.Engine:
    return tree.Engine(None, None, device, rest[:-1], rest[-1])


def _schedule(*rest: Any) -> tree.Schedule:
    lets: list[tree.ScheduleLet] = []
    late: list[tree.ScheduleLet] = []
    statements: list[tree.ScheduleStatement] = []
    for line in rest[:-1]:
        if isinstance(line, tree.ScheduleLet):
            (late if statements else lets).append(line)
        else:
            statements.append(line)
    return tree.Schedule(tuple(lets), tuple(statements), tuple(late), rest[-1])


def _admit(
    only: Expr | None,
    condition: Expr | None,
    each: Expr | None,
    taking: tuple[tree.Part, ...] | None,
    at: Span,
) -> tree.Admit:
    return tree.Admit(only, condition, each, taking or (), at)


def _order(kind: str) -> Builder:
    return lambda *rest: tree.Order(kind, rest[0] if len(rest) > 1 else (), rest[-1])


def _request(parameters: tuple[Name, ...] | None, *rest: Any) -> tree.Request:
    return tree.Request(parameters or (), rest[:-1], rest[-1])


# ---------------------------------------------------------------- pools, stages, queues


def _pool_alone(name: Name, size: Expr | None, *rest: Any) -> tree.Pool:
    return tree.Pool(name, size, None, rest[:-1], rest[-1])


def _pool_on(name: Name, owner: tree.Reference, *rest: Any) -> tree.Pool:
    return tree.Pool(name, None, owner, rest[:-1], rest[-1])


def _owner(name: Name, member: Name | None, at: Span) -> tree.Reference:
    return tree.Reference(name, None, member, at)


def _evict(*rest: Any) -> tree.EvictOption:
    return tree.EvictOption(rest[0] if len(rest) > 1 else None, rest[-1])


def _queue_option(*rest: Any) -> tree.QueueOption:
    return tree.QueueOption(rest[0] if len(rest) > 1 else None, rest[-1])


def _preempt_plain(kind: Name, at: Span) -> tree.PreemptOption:
    return tree.PreemptOption(kind.text, (), None, at)


def _preempt_by(keys: tuple[Expr, ...], requeue: Name | None, at: Span) -> tree.PreemptOption:
    return tree.PreemptOption("by", keys, requeue.text if requeue else None, at)


def _kind(kind: Name, *rest: Any) -> tree.StageKind:
    return tree.StageKind(kind.text, rest[0] if len(rest) > 1 else None, rest[-1])


def _queue(name: Name, size: Expr | None, roles: tuple[Name, ...] | None, *rest: Any) -> tree.Queue:
    return tree.Queue(name, size, roles or (), rest[:-1], rest[-1])


def _queue_entry(
    verb: Name, parameters: tuple[Name, ...] | None, source: Name | None, body: tree.Block, at: Span
) -> tree.QueueEntry:
    return tree.QueueEntry(verb, parameters or (), source, body, at)


# ---------------------------------------------------------------- workload, claims, program


def _arrive(kind: Name, *rest: Any) -> tree.Arrive:
    return tree.Arrive(kind.text, rest[:-1], rest[-1])


def _trace(path: Text, ordered: Name | None, at: Span) -> tree.Trace:
    return tree.Trace(path, ordered is not None, at)


def _workload_block(kind: Name, body: tree.Block, at: Span) -> tree.WorkloadBlock:
    return tree.WorkloadBlock(kind.text, body, at)


def _workload(*rest: Any) -> tree.Workload:
    return tree.Workload(rest[:-1], rest[-1])


def _claim_iteration(
    name: Name, given: Expr | None, kind: Name, engine: tree.Reference, value: Expr, at: Span
) -> tree.Claim:
    return tree.Claim(name, given, kind.text, engine, value, at)


def _claim_end(name: Name, given: Expr | None, value: Expr, at: Span) -> tree.Claim:
    return tree.Claim(name, given, "end", None, value, at)


def _let_input(name: Name, args: Name, number: Name, external: Text, default: Expr, at: Span) -> tree.Input:
    return tree.Input(name, external, default, args.at.to(number.at), at)


def _let_list_input(
    name: Name, args: Name, numbers: Name, external: Text, values: tuple[Expr, ...], at: Span
) -> tree.ListInput:
    return tree.ListInput(name, external, values, args.at.to(numbers.at), at)


def _define(
    name: Name, parameters: tuple[Name, ...] | None, body: Expr | tree.Block, at: Span
) -> tree.Definition:
    return tree.Definition(name, parameters or (), body, at)


@frozen
class Main:
    """`fn main() { … }`; `name` may wrongly be another one."""

    name: Name
    items: tuple[tree.Item, ...]
    at: Span


def _main(name: Name, *rest: Any) -> Main:
    return Main(name, rest[:-1], rest[-1])


BUILDERS: dict[str, Builder] = {
    # expressions
    "number": _number,
    "binary": _binary,
    "unary": _unary,
    "conditional": tree.Conditional,
    "draw": _draw,
    "draw_table": _draw_table,
    "draw_file": _draw_file,
    "aggregate": tree.Aggregate,
    "bound_name": _bound_name,
    "call": _call,
    "ref": tree.Reference,
    "exprs": _row,
    # statements
    "assign": _assign,
    "cost_record": _cost_record,
    "cost_part": _row,
    "run_at": tree.Run,
    "run_here": _run_here,
    "hold": _hold,
    "part": tree.Part,
    "parts": _row,
    "binding": _row,
    "bindings": _row,
    "lease": _row,
    "amount": _amount,
    "give_back": _give_back,
    "branch": _branch,
    "while": tree.While,
    "loop": tree.Loop,
    "choose": tree.Choose,
    "fork": tree.Fork,
    "plain": _plain,
    "mark": tree.Mark,
    "where_index": _where_index,
    "where_on": _where_on,
    "tool": tree.Tool,
    "transfer": tree.Transfer,
    "use": _use,
    "entry": _entry,
    "entry_place": _place,
    "entry_target": _row,
    "arguments": _row,
    "copy": _copy,
    "refs": _row,
    "block": _block,
    # devices, engines, schedules
    "device": _device,
    "time_resource": _time_resource,
    "capacity": tree.Capacity,
    "engine": _engine,
    "tokens_cap": tree.TokensCap,
    "granule": tree.Granule,
    "register": tree.Register,
    "tag": tree.Tag,
    "execute": tree.Execute,
    "schedule": _schedule,
    "schedule_let": tree.ScheduleLet,
    "schedule_branch": tree.ScheduleBranch,
    "schedule_block": _row,
    "advance": tree.Advance,
    "admit": _admit,
    "exclusive_prefill": tree.ExclusivePrefill,
    "set_register": tree.SetRegister,
    "for": tree.For,
    "break": tree.Break,
    "advance_one": tree.AdvanceOne,
    "admit_one": tree.AdmitOne,
    "by_admission": _order("admission"),
    "decodes_first": _order("decode first"),
    "by_keys": _order("by"),
    "taking": _row,
    "request": _request,
    "request_step": tree.RequestStep,
    # pools, stages, queues
    "pool_alone": _pool_alone,
    "pool_on": _pool_on,
    "owner": _owner,
    "cap_option": tree.CapOption,
    "block_option": tree.BlockOption,
    "evict_option": _evict,
    "preempt_plain": _preempt_plain,
    "preempt_by": _preempt_by,
    "queue_option": _queue_option,
    "reserve_option": tree.ReserveOption,
    "spill_option": tree.SpillOption,
    "stage": tree.Stage,
    "kind": _kind,
    "queue": _queue,
    "queue_engine": _queue_engine,
    "serve": tree.Serve,
    "nic": tree.Nic,
    "queue_entry": _queue_entry,
    "share": tree.Share,
    "relation": tree.Relation,
    # workload, claims, program
    "arrive": _arrive,
    "trace": _trace,
    "hidden": tree.Hidden,
    "workload_block": _workload_block,
    "workload": _workload,
    "server": tree.Server,
    "gauge": tree.Gauge,
    "claim_iteration": _claim_iteration,
    "claim_end": _claim_end,
    "program": _row,
    "library": _row,
    "main": _main,
    "import": tree.Import,
    "let_value": tree.Let,
    "let_input": _let_input,
    "let_list": tree.ListLet,
    "let_list_input": _let_list_input,
    "list": _first,
    "define_expression": _define,
    "define_statements": _define,
    "names": _row,
    "size": _first,
}
