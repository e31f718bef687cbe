"""The tree of a program's text: one frozen class per thing a person can name in the grammar.

Every node has `at`, the place it was read from. A word of the language used as a name is an
ordinary `Name`; which names mean what is for `serq.check` to say. The classes are one file since
they name one another and hold nothing but fields: it is the grammar, as types.
"""

from __future__ import annotations

from typing import ClassVar, TypeAlias, TypeVar, Union, dataclass_transform

from attrs import define

from serq.source import Span

_T = TypeVar("_T")


@dataclass_transform(frozen_default=True, eq_default=False)
def _node(cls: type[_T]) -> type[_T]:
    # eq=False: nodes are compared by identity, passes key tables by node. repr=False: `Node` has one
    # for all; generating seventy of them would be a third of the time that importing this file takes.
    return define(frozen=True, eq=False, repr=False)(cls)


class Node:
    """What every node of the tree is."""

    __slots__ = ()
    __match_args__: ClassVar[tuple[str, ...]] = ()
    at: Span

    def __repr__(self) -> str:
        parts = ((name, getattr(self, name)) for name in self.__match_args__)
        # Places are left out: they would drown the rest.
        shown = [f"{name}={part!r}" for name, part in parts if not isinstance(part, Span)]
        return f"{type(self).__name__}({', '.join(shown)})"


@_node
class Name(Node):
    """A word with its place."""

    text: str
    at: Span


@_node
class Text(Node):
    """A quoted string, without its quotes."""

    text: str
    at: Span


# ---------------------------------------------------------------- expressions


@_node
class Number(Node):
    value: float
    at: Span


@_node
class Reference(Node):
    """`x`, `running.count`, `kv[j]`, `P[i].kv`: a value, or a resource where one is wanted."""

    name: Name
    index: Expr | None
    member: Name | None
    at: Span


@_node
class Call(Node):
    """`min(a, b)`, `queue(e)`, `cost(p, 1)`, or a definition's use."""

    name: Name
    arguments: tuple[Expr, ...]
    at: Span


@_node
class Draw(Node):
    """`~exp(m)`; `~table(v: p, …)`, whose values are the arguments; `~empirical("FILE")`."""

    law: Name
    arguments: tuple[Expr, ...]
    chances: tuple[Expr, ...]
    file: Text | None
    at: Span


@_node
class Aggregate(Node):
    """`sum j in n (e)` or `max r in running (e)`; `kind` is max, min, sum or count."""

    kind: Name
    variable: Name
    bound: Expr
    body: Expr
    at: Span


@_node
class Unary(Node):
    """`-x` or `!x`."""

    operator: str
    operand: Expr
    at: Span


@_node
class Binary(Node):
    """`operator` is one of + - * / ^ < <= > >= == != && ||; `mark` is the place of the operator."""

    operator: str
    left: Expr
    right: Expr
    mark: Span
    at: Span


@_node
class Conditional(Node):
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
class Assign(Node):
    """`set x = e;`, `observe x = e;`, `Size x = e;`, `Cost x = e;`; `verb` is the first word."""

    verb: str
    name: Name
    value: Expr
    at: Span


@_node
class CostRecord(Node):
    """`Cost x = { R: e, S: e };`"""

    name: Name
    parts: tuple[tuple[Name, Expr], ...]
    at: Span


@_node
class Run(Node):
    """`run e prefill (c) growing kv;`; no places means the queue's own stage: `run (c);`"""

    places: tuple[Reference, ...]
    mode: Name | None
    work: Expr
    growing: Reference | None
    at: Span


@_node
class Part(Node):
    """One resource of a hold: `kv (units) reserve (r)`."""

    place: Reference
    units: Expr
    reserve: Expr | None
    at: Span


@_node
class Hold(Node):
    parts: tuple[Part, ...]
    reuse: Expr | None
    bindings: tuple[tuple[Name, Expr], ...]
    body: Block
    cache: Expr | None
    lease: tuple[Reference, Expr] | None
    at: Span


@_node
class Amount(Node):
    """`grow kv (c);` or `load kv (c);`; `verb` says which."""

    verb: str
    place: Reference
    amount: Expr
    at: Span


@_node
class GiveBack(Node):
    """`drop kv;` or `release kv;`; `verb` says which."""

    verb: str
    place: Reference
    at: Span


@_node
class Branch(Node):
    """`branch (e) {…} else {…}`; `drawn` is `branch with (p)`."""

    drawn: bool
    test: Expr
    then: Block
    otherwise: Block | None
    at: Span


@_node
class While(Node):
    test: Expr
    body: Block
    at: Span


@_node
class Loop(Node):
    body: Block
    at: Span


@_node
class Choose(Node):
    """`choose k in n by (key, …);`"""

    name: Name
    count: Expr
    keys: tuple[Expr, ...]
    at: Span


@_node
class Fork(Node):
    body: Block
    at: Span


@_node
class Plain(Node):
    """`join;`, `turn;` or `end;`; `verb` says which."""

    verb: str
    at: Span


@_node
class Mark(Node):
    """`mark x;`"""

    name: Name
    at: Span


@_node
class Where(Node):
    """The stage of a `tool` or `transfer`: `[j]`, or `on A[i], B`."""

    index: Expr | None
    places: tuple[Reference, ...]
    at: Span


@_node
class Tool(Node):
    """`tool x;`"""

    where: Where | None
    amount: Expr
    at: Span


@_node
class Transfer(Node):
    """`transfer (x) from P to Q (n);`"""

    where: Where | None
    amount: Expr
    source: Reference
    target: Reference
    load: Expr
    at: Span


@_node
class Use(Node):
    """`f(a, b);`: a definition of statements."""

    name: Name
    arguments: tuple[Expr, ...]
    at: Span


@_node
class Entry(Node):
    """`D[j].decode (x) from P[i] to kv (n);`: an entry of a queue."""

    place: Reference
    verb: Name
    arguments: tuple[Expr, ...]
    source: Reference | None
    target: tuple[Reference, Expr] | None
    at: Span


@_node
class Copy(Node):
    """`kvt.l2_load (DEEP, ram, n, per_token = c);`: tokens between a queue's pool and a slower tier.

    place: the word `kvt`.
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
class Block(Node):
    """`{ … }` of statements."""

    statements: tuple[Statement, ...]
    at: Span


# ---------------------------------------------------------------- devices, engines, schedules


@_node
class TimeResource(Node):
    """`compute (t) = 2 * t;` of a device."""

    name: Name
    parameters: tuple[Name, ...]
    body: Expr
    at: Span


@_node
class Capacity(Node):
    """`kv cap 4096;` of a device or `reqs[N] cap 16;` of an engine."""

    name: Name
    size: Expr | None
    cap: Expr
    at: Span


@_node
class Device(Node):
    name: Name
    size: Expr | None
    items: tuple[TimeResource | Capacity, ...]
    at: Span


@_node
class TokensCap(Node):
    value: Expr
    at: Span


@_node
class Granule(Node):
    value: Expr
    at: Span


@_node
class Register(Node):
    """`state n = 0;` or `state load[B] = 0;`"""

    name: Name
    size: Expr | None
    initial: Expr
    at: Span


@_node
class Tag(Node):
    """`tag lane = -1;`"""

    name: Name
    initial: Expr
    at: Span


@_node
class Execute(Node):
    value: Expr
    at: Span


@_node
class ScheduleLet(Node):
    name: Name
    value: Expr
    at: Span


@_node
class Order(Node):
    """`admission`, `decode first` or `by (keys)`; `kind` is "admission", "decode first" or "by"."""

    kind: str
    keys: tuple[Expr, ...]
    at: Span


@_node
class Advance(Node):
    only: Expr | None
    order: Order | None
    each: Expr | None
    at: Span


@_node
class Admit(Node):
    """`admit waiting … while (condition) …`; `taking` is the older `taking slots (1), ram (n)`."""

    only: Expr | None
    condition: Expr | None
    each: Expr | None
    taking: tuple[Part, ...]
    at: Span


@_node
class ExclusivePrefill(Node):
    each: Expr | None
    at: Span


@_node
class ScheduleBranch(Node):
    test: Expr
    then: tuple[ScheduleStatement, ...]
    otherwise: tuple[ScheduleStatement, ...] | None
    at: Span


@_node
class SetRegister(Node):
    """`set n = e;`, `set load[j] = e;`, or of a tag `set r.lane = e;`."""

    target: Reference
    value: Expr
    at: Span


@_node
class For(Node):
    """`for r in waiting by (k) where (p) { … }` or `for j in N { … }`."""

    variable: Name
    over: Expr
    keys: tuple[Expr, ...] | None
    where: Expr | None
    body: tuple[ScheduleStatement, ...]
    at: Span


@_node
class Break(Node):
    """`break;`"""

    at: Span


@_node
class AdvanceOne(Node):
    """`advance r each at most (c);`"""

    name: Name
    each: Expr | None
    at: Span


@_node
class AdmitOne(Node):
    """`admit r;`"""

    name: Name
    at: Span


ScheduleStatement: TypeAlias = Union[
    Advance, Admit, ExclusivePrefill, ScheduleBranch, SetRegister, For, Break, AdvanceOne, AdmitOne,
    ScheduleLet,
]  # fmt: skip


@_node
class Schedule(Node):
    """`lets` and `statements` in written order; a `let` after a statement is kept in `late_lets`."""

    lets: tuple[ScheduleLet, ...]
    statements: tuple[ScheduleStatement, ...]
    late_lets: tuple[ScheduleLet, ...]
    at: Span


@_node
class RequestStep(Node):
    """`prefill (inp) growing ram;` of an older `request`; `mode` is prefill or decode."""

    mode: Name
    work: Expr
    growing: Reference | None
    at: Span


@_node
class Request(Node):
    """`request (inp, outp) { … }`: the older engine that states its own request."""

    parameters: tuple[Name, ...]
    steps: tuple[RequestStep, ...]
    at: Span


EngineItem: TypeAlias = Union[Capacity, TokensCap, Granule, Register, Tag, Schedule, Execute, Request]


@_node
class Engine(Node):
    """`engine e[N] on gpu { … }`; inside a queue it has no name of its own."""

    name: Name | None
    size: Expr | None
    device: Name
    items: tuple[EngineItem, ...]
    at: Span


# ---------------------------------------------------------------- pools, stages, queues


@_node
class CapOption(Node):
    value: Expr
    at: Span


@_node
class BlockOption(Node):
    value: Expr
    at: Span


@_node
class EvictOption(Node):
    """`keys` None means `lru`."""

    keys: tuple[Expr, ...] | None
    at: Span


@_node
class PreemptOption(Node):
    """`kind` is "none", "lifo" or "by"; `requeue` is "head", "tail" or None."""

    kind: str
    keys: tuple[Expr, ...]
    requeue: str | None
    at: Span


@_node
class QueueOption(Node):
    """`keys` None means `fifo`."""

    keys: tuple[Expr, ...] | None
    at: Span


@_node
class ReserveOption(Node):
    """`reserve held;`"""

    at: Span


@_node
class SpillOption(Node):
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
class Pool(Node):
    """`pool p[N] { … }` or `pool p on OWNER { … }`; `owner` is a Reference without index."""

    name: Name
    size: Expr | None
    owner: Reference | None
    options: tuple[PoolOption, ...]
    at: Span


@_node
class StageKind(Node):
    """`kind` is "fifo", "ps" or "delay"; `value` its servers or capacity."""

    kind: str
    value: Expr | None
    at: Span


@_node
class Stage(Node):
    name: Name
    size: Expr | None
    kind: StageKind
    at: Span


@_node
class Serve(Node):
    """`serve KIND latency c;` of a queue."""

    kind: StageKind
    latency: Expr | None
    at: Span


@_node
class Nic(Node):
    kind: StageKind
    at: Span


@_node
class QueueEntry(Node):
    """`decode (x) from P { … }` of a queue; `parameters` may wrongly be several."""

    verb: Name
    parameters: tuple[Name, ...]
    source: Name | None
    body: Block
    at: Span


QueueItem: TypeAlias = Union[Device, Engine, Pool, Serve, Nic, QueueEntry]


@_node
class Queue(Node):
    name: Name
    size: Expr | None
    roles: tuple[Name, ...]
    items: tuple[QueueItem, ...]
    at: Span


@_node
class Share(Node):
    """`share maxmin;`"""

    rule: Name
    at: Span


@_node
class Relation(Node):
    """`kvt.nixl_pull (SOURCE, READER, latency = c);`"""

    verb: Name
    source: Name
    reader: Name
    latency: Expr | None
    at: Span


# ---------------------------------------------------------------- workload, claims, program


@_node
class Arrive(Node):
    """`kind` is the word after `arrive`; of `stages` the arguments are rate, duration, rate, …"""

    kind: str
    arguments: tuple[Expr, ...]
    at: Span


@_node
class Trace(Node):
    path: Text
    ordered: bool
    at: Span


@_node
class Hidden(Node):
    names: tuple[Name, ...]
    at: Span


@_node
class WorkloadBlock(Node):
    """`init { … }`, `turn { … }` or `session { … }`; `kind` says which."""

    kind: str
    body: Block
    at: Span


WorkloadItem: TypeAlias = Union[Arrive, Trace, Hidden, WorkloadBlock]


@_node
class Workload(Node):
    items: tuple[WorkloadItem, ...]
    at: Span


@_node
class Server(Node):
    body: Block
    at: Span


@_node
class Gauge(Node):
    name: Name
    value: Expr
    at: Span


@_node
class Claim(Node):
    """`kind` is "every", "some" or "end"; `engine` is None for an `at end` claim."""

    name: Name
    given: Expr | None
    kind: str
    engine: Reference | None
    value: Expr
    at: Span


@_node
class Import(Node):
    """`use "std/args";`"""

    path: Text
    at: Span


@_node
class Let(Node):
    name: Name
    value: Expr
    at: Span


@_node
class Input(Node):
    """`let n = args.number("ext", default);`; `mark` is the place of `args.number`."""

    name: Name
    external: Text
    default: Expr
    mark: Span
    at: Span


@_node
class ListLet(Node):
    """`let lens = [5, 1];`"""

    name: Name
    values: tuple[Expr, ...]
    at: Span


@_node
class ListInput(Node):
    """`let lens = args.numbers("lens", [5, 1]);`; `mark` is the place of `args.numbers`."""

    name: Name
    external: Text
    values: tuple[Expr, ...]
    mark: Span
    at: Span


@_node
class Definition(Node):
    """`def f(x) { … }`; `body` is an expression or a block of statements."""

    name: Name
    parameters: tuple[Name, ...]
    body: Expr | Block
    at: Span


Item: TypeAlias = Union[
    Import, Let, Input, ListLet, ListInput, Definition, Device, Engine, Pool, Stage, Queue, Workload,
    Server, Share, Relation, Gauge, Claim,
]  # fmt: skip


@_node
class Program(Node):
    """`before`: what stands before `fn main()`; `items`: what stands in its braces.

    main: the place of the word `main`, or None when the text has no `fn main()`.
    """

    before: tuple[Item, ...]
    items: tuple[Item, ...]
    main: Span | None
    at: Span
