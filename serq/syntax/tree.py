"""The tree of a program's text: one frozen class per thing a person can name in the grammar.

Every node has `at`, the place it was read from. A word of the language used as a name is an
ordinary `Name`; which names mean what is for `serq.check` to say. The classes are one file since
they name one another and hold nothing but fields: it is the grammar, as types.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar, TypeAlias, Union, dataclass_transform

from serq.source import Span


@dataclass_transform(frozen_default=True, eq_default=False)
class _Fields(type):
    """Makes a class's annotations its slots, and what it is made of.

    attrs would write, compile and inspect a constructor for each of the ninety classes here, which
    takes as long as reading a program; nodes need no more of it than this.
    """

    def __new__(mcls, name: str, bases: tuple[type, ...], body: dict[str, Any]) -> _Fields:
        fields = tuple(body.get("__annotations__", ())) if bases else ()
        return super().__new__(mcls, name, bases, body | {"__slots__": fields, "__match_args__": fields})


class Node(metaclass=_Fields):
    """What every node of the tree is. Passes key tables by node: nodes are equal if they are the same."""

    __match_args__: ClassVar[tuple[str, ...]]
    if TYPE_CHECKING:

        @property
        def at(self) -> Span: ...

    def __init__(self, *values: Any, **named: Any) -> None:
        names = self.__match_args__
        if len(values) + len(named) != len(names):
            raise TypeError(f"{type(self).__name__} takes {', '.join(names)}")
        for name, value in zip(names, values, strict=False):
            object.__setattr__(self, name, value)
        for name in names[len(values) :]:
            object.__setattr__(self, name, named[name])

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError(f"{type(self).__name__}.{name} cannot be set: nodes are frozen")

    def __repr__(self) -> str:
        parts = ((name, getattr(self, name)) for name in self.__match_args__)
        # Places are left out: they would drown the rest.
        shown = [f"{name}={part!r}" for name, part in parts if not isinstance(part, Span)]
        return f"{type(self).__name__}({', '.join(shown)})"


class Name(Node):
    """A word with its place."""

    text: str
    at: Span


class Text(Node):
    """A quoted string, without its quotes."""

    text: str
    at: Span


# ---------------------------------------------------------------- expressions


class Number(Node):
    value: float
    at: Span


class Reference(Node):
    """`x`, `running.count`, `kv[j]`, `P[i].kv`: a value, or a resource where one is wanted."""

    name: Name
    index: Expr | None
    member: Name | None
    at: Span


class Call(Node):
    """`min(a, b)`, `queue(e)`, `cost(p, 1)`, or a definition's use."""

    name: Name
    arguments: tuple[Expr, ...]
    at: Span


class Draw(Node):
    """`~exp(m)`; `~table(v: p, …)`, whose values are the arguments; `~empirical("FILE")`."""

    law: Name
    arguments: tuple[Expr, ...]
    chances: tuple[Expr, ...]
    file: Text | None
    at: Span


class Aggregate(Node):
    """`sum j in n (e)` or `max r in running (e)`; `kind` is max, min, sum or count."""

    kind: Name
    variable: Name
    bound: Expr
    body: Expr
    at: Span


class Unary(Node):
    """`-x` or `!x`."""

    operator: str
    operand: Expr
    at: Span


class Binary(Node):
    """`operator` is one of + - * / ^ < <= > >= == != && ||; `mark` is the place of the operator."""

    operator: str
    left: Expr
    right: Expr
    mark: Span
    at: Span


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


class Assign(Node):
    """`set x = e;`, `observe x = e;`, `Size x = e;`, `Cost x = e;`; `verb` is the first word."""

    verb: str
    name: Name
    value: Expr
    at: Span


class CostRecord(Node):
    """`Cost x = { R: e, S: e };`"""

    name: Name
    parts: tuple[tuple[Name, Expr], ...]
    at: Span


class Run(Node):
    """`run e prefill (c) growing kv;`; no places means the queue's own stage: `run (c);`"""

    places: tuple[Reference, ...]
    mode: Name | None
    work: Expr
    growing: Reference | None
    at: Span


class Part(Node):
    """One resource of a hold: `kv (units) reserve (r)`."""

    place: Reference
    units: Expr
    reserve: Expr | None
    at: Span


class Hold(Node):
    parts: tuple[Part, ...]
    reuse: Expr | None
    bindings: tuple[tuple[Name, Expr], ...]
    body: Block
    cache: Expr | None
    lease: tuple[Reference, Expr] | None
    at: Span


class Amount(Node):
    """`grow kv (c);` or `load kv (c);`; `verb` says which."""

    verb: str
    place: Reference
    amount: Expr
    at: Span


class GiveBack(Node):
    """`drop kv;` or `release kv;`; `verb` says which."""

    verb: str
    place: Reference
    at: Span


class Branch(Node):
    """`branch (e) {…} else {…}`; `drawn` is `branch with (p)`."""

    drawn: bool
    test: Expr
    then: Block
    otherwise: Block | None
    at: Span


class While(Node):
    test: Expr
    body: Block
    at: Span


class Loop(Node):
    body: Block
    at: Span


class Choose(Node):
    """`choose k in n by (key, …);`"""

    name: Name
    count: Expr
    keys: tuple[Expr, ...]
    at: Span


class Fork(Node):
    body: Block
    at: Span


class Plain(Node):
    """`join;`, `turn;` or `end;`; `verb` says which."""

    verb: str
    at: Span


class Mark(Node):
    """`mark x;`"""

    name: Name
    at: Span


class Where(Node):
    """The stage of a `tool` or `transfer`: `[j]`, or `on A[i], B`."""

    index: Expr | None
    places: tuple[Reference, ...]
    at: Span


class Tool(Node):
    """`tool x;`"""

    where: Where | None
    amount: Expr
    at: Span


class Transfer(Node):
    """`transfer (x) from P to Q (n);`"""

    where: Where | None
    amount: Expr
    source: Reference
    target: Reference
    load: Expr
    at: Span


class Use(Node):
    """`f(a, b);`: a definition of statements."""

    name: Name
    arguments: tuple[Expr, ...]
    at: Span


class Entry(Node):
    """`D[j].decode (x) from P[i] to kv (n);`: an entry of a queue."""

    place: Reference
    verb: Name
    arguments: tuple[Expr, ...]
    source: Reference | None
    target: tuple[Reference, Expr] | None
    at: Span


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


class Block(Node):
    """`{ … }` of statements."""

    statements: tuple[Statement, ...]
    at: Span


# ---------------------------------------------------------------- devices, engines, schedules


class TimeResource(Node):
    """`compute (t) = 2 * t;` of a device."""

    name: Name
    parameters: tuple[Name, ...]
    body: Expr
    at: Span


class Capacity(Node):
    """`kv cap 4096;` of a device or `reqs[N] cap 16;` of an engine."""

    name: Name
    size: Expr | None
    cap: Expr
    at: Span


class Device(Node):
    name: Name
    size: Expr | None
    items: tuple[TimeResource | Capacity, ...]
    at: Span


class TokensCap(Node):
    value: Expr
    at: Span


class Granule(Node):
    value: Expr
    at: Span


class Register(Node):
    """`state n = 0;` or `state load[B] = 0;`"""

    name: Name
    size: Expr | None
    initial: Expr
    at: Span


class Tag(Node):
    """`tag lane = -1;`"""

    name: Name
    initial: Expr
    at: Span


class Execute(Node):
    value: Expr
    at: Span


class ScheduleLet(Node):
    name: Name
    value: Expr
    at: Span


class Order(Node):
    """`admission`, `decode first` or `by (keys)`; `kind` is "admission", "decode first" or "by"."""

    kind: str
    keys: tuple[Expr, ...]
    at: Span


class Advance(Node):
    only: Expr | None
    order: Order | None
    each: Expr | None
    at: Span


class Admit(Node):
    """`admit waiting … while (condition) …`; `taking` is the older `taking slots (1), ram (n)`."""

    only: Expr | None
    condition: Expr | None
    each: Expr | None
    taking: tuple[Part, ...]
    at: Span


class ExclusivePrefill(Node):
    each: Expr | None
    at: Span


class ScheduleBranch(Node):
    test: Expr
    then: tuple[ScheduleStatement, ...]
    otherwise: tuple[ScheduleStatement, ...] | None
    at: Span


class SetRegister(Node):
    """`set n = e;`, `set load[j] = e;`, or of a tag `set r.lane = e;`."""

    target: Reference
    value: Expr
    at: Span


class For(Node):
    """`for r in waiting by (k) where (p) { … }` or `for j in N { … }`."""

    variable: Name
    over: Expr
    keys: tuple[Expr, ...] | None
    where: Expr | None
    body: tuple[ScheduleStatement, ...]
    at: Span


class Break(Node):
    """`break;`"""

    at: Span


class AdvanceOne(Node):
    """`advance r each at most (c);`"""

    name: Name
    each: Expr | None
    at: Span


class AdmitOne(Node):
    """`admit r;`"""

    name: Name
    at: Span


ScheduleStatement: TypeAlias = Union[
    Advance, Admit, ExclusivePrefill, ScheduleBranch, SetRegister, For, Break, AdvanceOne, AdmitOne,
    ScheduleLet,
]  # fmt: skip


class Schedule(Node):
    """`lets` and `statements` in written order; a `let` after a statement is kept in `late_lets`."""

    lets: tuple[ScheduleLet, ...]
    statements: tuple[ScheduleStatement, ...]
    late_lets: tuple[ScheduleLet, ...]
    at: Span


class RequestStep(Node):
    """`prefill (inp) growing ram;` of an older `request`; `mode` is prefill or decode."""

    mode: Name
    work: Expr
    growing: Reference | None
    at: Span


class Request(Node):
    """`request (inp, outp) { … }`: the older engine that states its own request."""

    parameters: tuple[Name, ...]
    steps: tuple[RequestStep, ...]
    at: Span


EngineItem: TypeAlias = Union[Capacity, TokensCap, Granule, Register, Tag, Schedule, Execute, Request]


class Engine(Node):
    """`engine e[N] on gpu { … }`; inside a queue it has no name of its own."""

    name: Name | None
    size: Expr | None
    device: Name
    items: tuple[EngineItem, ...]
    at: Span


# ---------------------------------------------------------------- pools, stages, queues


class CapOption(Node):
    value: Expr
    at: Span


class BlockOption(Node):
    value: Expr
    at: Span


class EvictOption(Node):
    """`keys` None means `lru`."""

    keys: tuple[Expr, ...] | None
    at: Span


class PreemptOption(Node):
    """`kind` is "none", "lifo" or "by"; `requeue` is "head", "tail" or None."""

    kind: str
    keys: tuple[Expr, ...]
    requeue: str | None
    at: Span


class QueueOption(Node):
    """`keys` None means `fifo`."""

    keys: tuple[Expr, ...] | None
    at: Span


class ReserveOption(Node):
    """`reserve held;`"""

    at: Span


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


class Pool(Node):
    """`pool p[N] { … }` or `pool p on OWNER { … }`; `owner` is a Reference without index."""

    name: Name
    size: Expr | None
    owner: Reference | None
    options: tuple[PoolOption, ...]
    at: Span


class StageKind(Node):
    """`kind` is "fifo", "ps" or "delay"; `value` its servers or capacity."""

    kind: str
    value: Expr | None
    at: Span


class Stage(Node):
    name: Name
    size: Expr | None
    kind: StageKind
    at: Span


class Serve(Node):
    """`serve KIND latency c;` of a queue."""

    kind: StageKind
    latency: Expr | None
    at: Span


class Nic(Node):
    kind: StageKind
    at: Span


class QueueEntry(Node):
    """`decode (x) from P { … }` of a queue; `parameters` may wrongly be several."""

    verb: Name
    parameters: tuple[Name, ...]
    source: Name | None
    body: Block
    at: Span


QueueItem: TypeAlias = Union[Device, Engine, Pool, Serve, Nic, QueueEntry]


class Queue(Node):
    name: Name
    size: Expr | None
    roles: tuple[Name, ...]
    items: tuple[QueueItem, ...]
    at: Span


class Share(Node):
    """`share maxmin;`"""

    rule: Name
    at: Span


class Relation(Node):
    """`kvt.nixl_pull (SOURCE, READER, latency = c);`"""

    verb: Name
    source: Name
    reader: Name
    latency: Expr | None
    at: Span


# ---------------------------------------------------------------- workload, claims, program


class Arrive(Node):
    """`kind` is the word after `arrive`; of `stages` the arguments are rate, duration, rate, …"""

    kind: str
    arguments: tuple[Expr, ...]
    at: Span


class Trace(Node):
    path: Text
    ordered: bool
    at: Span


class Hidden(Node):
    names: tuple[Name, ...]
    at: Span


class WorkloadBlock(Node):
    """`init { … }`, `turn { … }` or `session { … }`; `kind` says which."""

    kind: str
    body: Block
    at: Span


WorkloadItem: TypeAlias = Union[Arrive, Trace, Hidden, WorkloadBlock]


class Workload(Node):
    items: tuple[WorkloadItem, ...]
    at: Span


class Server(Node):
    body: Block
    at: Span


class Gauge(Node):
    name: Name
    value: Expr
    at: Span


class Claim(Node):
    """`kind` is "every", "some" or "end"; `engine` is None for an `at end` claim."""

    name: Name
    given: Expr | None
    kind: str
    engine: Reference | None
    value: Expr
    at: Span


class Import(Node):
    """`use "std/args";`"""

    path: Text
    at: Span


class Let(Node):
    name: Name
    value: Expr
    at: Span


class Input(Node):
    """`let n = args.number("ext", default);`; `mark` is the place of `args.number`."""

    name: Name
    external: Text
    default: Expr
    mark: Span
    at: Span


class ListLet(Node):
    """`let lens = [5, 1];`"""

    name: Name
    values: tuple[Expr, ...]
    at: Span


class ListInput(Node):
    """`let lens = args.numbers("lens", [5, 1]);`; `mark` is the place of `args.numbers`."""

    name: Name
    external: Text
    values: tuple[Expr, ...]
    mark: Span
    at: Span


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


class Program(Node):
    """`before`: what stands before `fn main()`; `items`: what stands in its braces.

    main: the place of the word `main`, or None when the text has no `fn main()`.
    """

    before: tuple[Item, ...]
    items: tuple[Item, ...]
    main: Span | None
    at: Span
