"""The tree of a program's text: one frozen class per thing a person can name in the grammar.

Every node has `at`, the place it was read from. A word of the language used as a name is an
ordinary `Name`; which names mean what is for `serq.check` to say.
"""

from __future__ import annotations

from typing import TypeAlias, Union

from attrs import define

from serq.source import Span

# eq=False: nodes are compared by identity (passes key tables by node) and the classes are made faster.
_node = define(frozen=True, eq=False)


@_node
class Name:
    """A word with its place."""

    text: str
    at: Span


@_node
class Text:
    """A quoted string, without its quotes."""

    text: str
    at: Span


# ---------------------------------------------------------------- expressions


@_node
class Number:
    value: float
    at: Span


@_node
class Reference:
    """`x`, `running.count`, `kv[j]`, `P[i].kv`: a value, or a resource where one is wanted."""

    name: Name
    index: Expr | None
    member: Name | None
    at: Span


@_node
class Call:
    """`min(a, b)`, `queue(e)`, `cost(p, 1)`, or a definition's use."""

    name: Name
    arguments: tuple[Expr, ...]
    at: Span


@_node
class Draw:
    """`~exp(m)`."""

    law: Name
    arguments: tuple[Expr, ...]
    at: Span


@_node
class Aggregate:
    """`sum j in n (e)`; `kind` is max, min or sum."""

    kind: Name
    variable: Name
    bound: Expr
    body: Expr
    at: Span


@_node
class Unary:
    """`-x` or `!x`."""

    operator: str
    operand: Expr
    at: Span


@_node
class Binary:
    """`operator` is one of + - * / ^ < <= > >= == != && ||; `mark` is the place of the operator."""

    operator: str
    left: Expr
    right: Expr
    mark: Span
    at: Span


@_node
class Conditional:
    """`test ? then : otherwise`."""

    test: Expr
    then: Expr
    otherwise: Expr
    at: Span


Expr: TypeAlias = Union[
    Number, Reference, Call, Draw, Aggregate, Unary, Binary, Conditional
]  # fmt: skip


# ---------------------------------------------------------------- statements of server and session


@_node
class Assign:
    """`set x = e;`, `observe x = e;`, `Size x = e;`, `Cost x = e;`; `verb` is the first word."""

    verb: str
    name: Name
    value: Expr
    at: Span


@_node
class CostRecord:
    """`Cost x = { R: e, S: e };`"""

    name: Name
    parts: tuple[tuple[Name, Expr], ...]
    at: Span


@_node
class Run:
    """`run e prefill (c) growing kv;`; no places means the queue's own stage: `run (c);`"""

    places: tuple[Reference, ...]
    mode: Name | None
    work: Expr
    growing: Reference | None
    at: Span


@_node
class Part:
    """One resource of a hold: `kv (units) reserve (r)`."""

    place: Reference
    units: Expr
    reserve: Expr | None
    at: Span


@_node
class Hold:
    parts: tuple[Part, ...]
    reuse: Expr | None
    bindings: tuple[tuple[Name, Expr], ...]
    body: Block
    cache: Expr | None
    lease: tuple[Reference, Expr] | None
    at: Span


@_node
class Amount:
    """`grow kv (c);` or `load kv (c);`; `verb` says which."""

    verb: str
    place: Reference
    amount: Expr
    at: Span


@_node
class GiveBack:
    """`drop kv;` or `release kv;`; `verb` says which."""

    verb: str
    place: Reference
    at: Span


@_node
class Branch:
    """`branch (e) {…} else {…}`; `drawn` is `branch with (p)`."""

    drawn: bool
    test: Expr
    then: Block
    otherwise: Block | None
    at: Span


@_node
class While:
    test: Expr
    body: Block
    at: Span


@_node
class Loop:
    body: Block
    at: Span


@_node
class Choose:
    """`choose k in n by (key, …);`"""

    name: Name
    count: Expr
    keys: tuple[Expr, ...]
    at: Span


@_node
class Fork:
    body: Block
    at: Span


@_node
class Plain:
    """`join;`, `turn;` or `end;`; `verb` says which."""

    verb: str
    at: Span


@_node
class Mark:
    """`mark x;`"""

    name: Name
    at: Span


@_node
class Where:
    """The stage of a `tool` or `transfer`: `[j]`, or `on A[i], B`."""

    index: Expr | None
    places: tuple[Reference, ...]
    at: Span


@_node
class Tool:
    """`tool x;`"""

    where: Where | None
    amount: Expr
    at: Span


@_node
class Transfer:
    """`transfer (x) from P to Q (n);`"""

    where: Where | None
    amount: Expr
    source: Reference
    target: Reference
    load: Expr
    at: Span


@_node
class Use:
    """`f(a, b);`: a definition of statements."""

    name: Name
    arguments: tuple[Expr, ...]
    at: Span


@_node
class Entry:
    """`D[j].decode (x) from P[i] to kv (n);`: an entry of a queue."""

    place: Reference
    verb: Name
    arguments: tuple[Expr, ...]
    source: Reference | None
    target: tuple[Reference, Expr] | None
    at: Span


@_node
class Copy:
    """`kvt.l2_load (DEEP, ram, n, per_token = c);`: tokens between a queue's pool and a slower tier.

    place: what stands before the dot, `kvt` in a program that means anything.
    """

    place: Reference
    verb: Name
    arguments: tuple[Expr, ...]
    options: tuple[tuple[Name, Expr], ...]
    at: Span


Statement: TypeAlias = Union[
    Assign, CostRecord, Run, Hold, Amount, GiveBack, Branch, While, Loop, Choose, Fork, Plain, Mark,
    Tool, Transfer, Use, Entry, Copy,
]  # fmt: skip


@_node
class Block:
    """`{ … }` of statements."""

    statements: tuple[Statement, ...]
    at: Span


# ---------------------------------------------------------------- devices, engines, schedules


@_node
class TimeResource:
    """`compute (t) = 2 * t;` of a device."""

    name: Name
    parameters: tuple[Name, ...]
    body: Expr
    at: Span


@_node
class Capacity:
    """`kv cap 4096;` of a device or `reqs[N] cap 16;` of an engine."""

    name: Name
    size: Expr | None
    cap: Expr
    at: Span


@_node
class Device:
    name: Name
    size: Expr | None
    items: tuple[TimeResource | Capacity, ...]
    at: Span


@_node
class TokensCap:
    value: Expr
    at: Span


@_node
class Granule:
    value: Expr
    at: Span


@_node
class Register:
    """`state n = 0;`"""

    name: Name
    initial: Expr
    at: Span


@_node
class Execute:
    value: Expr
    at: Span


@_node
class ScheduleLet:
    name: Name
    value: Expr
    at: Span


@_node
class Order:
    """`admission`, `decode first` or `by (keys)`; `kind` is "admission", "decode first" or "by"."""

    kind: str
    keys: tuple[Expr, ...]
    at: Span


@_node
class Advance:
    only: Expr | None
    order: Order | None
    each: Expr | None
    at: Span


@_node
class Admit:
    """`admit waiting … while (condition) …`; `taking` is the older `taking slots (1), ram (n)`."""

    only: Expr | None
    condition: Expr | None
    each: Expr | None
    taking: tuple[Part, ...]
    at: Span


@_node
class ExclusivePrefill:
    each: Expr | None
    at: Span


@_node
class ScheduleBranch:
    test: Expr
    then: tuple[ScheduleStatement, ...]
    otherwise: tuple[ScheduleStatement, ...] | None
    at: Span


@_node
class SetRegister:
    name: Name
    value: Expr
    at: Span


ScheduleStatement: TypeAlias = Union[Advance, Admit, ExclusivePrefill, ScheduleBranch, SetRegister]


@_node
class Schedule:
    """`lets` and `statements` in written order; a `let` after a statement is kept in `late_lets`."""

    lets: tuple[ScheduleLet, ...]
    statements: tuple[ScheduleStatement, ...]
    late_lets: tuple[ScheduleLet, ...]
    at: Span


@_node
class RequestStep:
    """`prefill (inp) growing ram;` of an older `request`; `mode` is prefill or decode."""

    mode: Name
    work: Expr
    growing: Reference | None
    at: Span


@_node
class Request:
    """`request (inp, outp) { … }`: the older engine that states its own request."""

    parameters: tuple[Name, ...]
    steps: tuple[RequestStep, ...]
    at: Span


EngineItem: TypeAlias = Union[Capacity, TokensCap, Granule, Register, Schedule, Execute, Request]


@_node
class Engine:
    """`engine e[N] on gpu { … }`; inside a queue it has no name of its own."""

    name: Name | None
    size: Expr | None
    device: Name
    items: tuple[EngineItem, ...]
    at: Span


# ---------------------------------------------------------------- pools, stages, queues


@_node
class CapOption:
    value: Expr
    at: Span


@_node
class BlockOption:
    value: Expr
    at: Span


@_node
class EvictOption:
    """`keys` None means `lru`."""

    keys: tuple[Expr, ...] | None
    at: Span


@_node
class PreemptOption:
    """`kind` is "none", "lifo" or "by"; `requeue` is "head", "tail" or None."""

    kind: str
    keys: tuple[Expr, ...]
    requeue: str | None
    at: Span


@_node
class QueueOption:
    """`keys` None means `fifo`."""

    keys: tuple[Expr, ...] | None
    at: Span


@_node
class ReserveOption:
    """`reserve held;`"""

    at: Span


@_node
class SpillOption:
    """`spill T via L (w) when (p);`"""

    tier: Name
    via: Name
    work: Expr
    condition: Expr
    at: Span


PoolOption: TypeAlias = Union[
    CapOption, BlockOption, EvictOption, PreemptOption, QueueOption, ReserveOption, SpillOption
]  # fmt: skip


@_node
class Pool:
    """`pool p[N] { … }` or `pool p on OWNER { … }`; `owner` is a Reference without index."""

    name: Name
    size: Expr | None
    owner: Reference | None
    options: tuple[PoolOption, ...]
    at: Span


@_node
class StageKind:
    """`kind` is "fifo", "ps" or "delay"; `value` its servers or capacity."""

    kind: str
    value: Expr | None
    at: Span


@_node
class Stage:
    name: Name
    size: Expr | None
    kind: StageKind
    at: Span


@_node
class Serve:
    """`serve KIND latency c;` of a queue."""

    kind: StageKind
    latency: Expr | None
    at: Span


@_node
class Nic:
    kind: StageKind
    at: Span


@_node
class QueueEntry:
    """`decode (x) from P { … }` of a queue; `parameters` may wrongly be several."""

    verb: Name
    parameters: tuple[Name, ...]
    source: Name | None
    body: Block
    at: Span


QueueItem: TypeAlias = Union[Device, Engine, Pool, Serve, Nic, QueueEntry]


@_node
class Queue:
    name: Name
    size: Expr | None
    roles: tuple[Name, ...]
    items: tuple[QueueItem, ...]
    at: Span


@_node
class Share:
    """`share maxmin;`"""

    rule: Name
    at: Span


@_node
class Relation:
    """`kvt.nixl_pull (SOURCE, READER, latency = c);`"""

    verb: Name
    source: Name
    reader: Name
    latency: Expr | None
    at: Span


# ---------------------------------------------------------------- workload, claims, program


@_node
class Arrive:
    """`kind` is "poisson", "renewal", "closed", "batch" or "none"."""

    kind: str
    value: Expr | None
    at: Span


@_node
class Trace:
    path: Text
    ordered: bool
    at: Span


@_node
class Hidden:
    names: tuple[Name, ...]
    at: Span


@_node
class WorkloadBlock:
    """`init { … }`, `turn { … }` or `session { … }`; `kind` says which."""

    kind: str
    body: Block
    at: Span


WorkloadItem: TypeAlias = Union[Arrive, Trace, Hidden, WorkloadBlock]


@_node
class Workload:
    items: tuple[WorkloadItem, ...]
    at: Span


@_node
class Server:
    body: Block
    at: Span


@_node
class Gauge:
    name: Name
    value: Expr
    at: Span


@_node
class Claim:
    """`kind` is "every", "some" or "end"; `engine` is None for an `at end` claim."""

    name: Name
    given: Expr | None
    kind: str
    engine: Reference | None
    value: Expr
    at: Span


@_node
class Import:
    """`use "std/args";`"""

    path: Text
    at: Span


@_node
class Let:
    name: Name
    value: Expr
    at: Span


@_node
class Input:
    """`let n = args.number("ext", default);`; `mark` is the place of `args.number`."""

    name: Name
    external: Text
    default: Expr
    mark: Span
    at: Span


@_node
class Definition:
    """`def f(x) { … }`; `body` is an expression or a block of statements."""

    name: Name
    parameters: tuple[Name, ...]
    body: Expr | Block
    at: Span


Item: TypeAlias = Union[
    Import, Let, Input, Definition, Device, Engine, Pool, Stage, Queue, Workload, Server, Share,
    Relation, Gauge, Claim,
]  # fmt: skip


@_node
class Program:
    """`before`: what stands before `fn main()`; `items`: what stands in its braces.

    main: the place of the word `main`, or None when the text has no `fn main()`.
    """

    before: tuple[Item, ...]
    items: tuple[Item, ...]
    main: Span | None
    at: Span
