"""How generated code reaches the state of a run."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from attrs import define, field

from serq.diagnostics import InternalError
from serq.ir.expr import (
    Draw,
    Expr,
    Item,
    LoopName,
    Num,
    Observable,
    Place,
    RegisterRead,
    RequestField,
    Summary,
    Survey,
)
from serq.machine.laws import Table
from serq.machine.surveys import fold_max, fold_min, loop_name, write_field, write_survey
from serq.values import show

if TYPE_CHECKING:
    from serq.machine.code import Writer
    from serq.machine.loop import Machine
    from serq.source import Span

STAGE_READS = {
    "queue": "{}.present",
    "busy": "{}.busy()",
    "work": "{}.work()",
    "budget_left": "{}.budget_left()",
}
POOL_READS = {
    "used": "{}.used",
    "free": "({0}.cap - {0}.used)",
    "holders": "{}.holder_count",
    "queued": "{}.queued_count",
    "blocksize": "{}.block",
}

ENGINE_VARIABLES: dict[str, str] = {
    "running.count": "e.present",
    "running.decoding": "e.decoding",
    "running.kv_decode": "e.running_memory(True)",
    "running.kv_prefill": "e.running_memory(False)",
    "running.preempted": "e.preempted",
    "waiting.count": "e.waiting_count()",
    "waiting.admitted": "e.admitted",
    "batch.tokens": "e.tokens",
    "batch.prefilled": "e.prefilled",
    "batch.decoding": "e.decoders",
    "batch.kv_decode": "e.batch_memory(True)",
    "batch.kv_prefill": "e.batch_memory(False)",
    "batch.attention": "e.attention",
}
"""Variables of an engine's own clauses, with `e` the engine."""

RUN_VARIABLES: dict[str, str] = {
    "decoding": "r.is_decode",
    "admission": "r.admission",
    "remaining": "r.remaining",
}
"""Variables of one run in keys and `only`, with `r` the run."""

QUEUE_VARIABLES = {"waited": "(m.now - w.joined)"}
"""Variables of a queue key, with `w` the waiting hold."""

VICTIM_VARIABLES = {
    "decoding": "w.held.session.decodes()",
    "admission": "w.place",
    "position": "w.position",
}
"""Variables of a preemption key, with `w` the candidate's part."""

ENTRY_VARIABLES = {
    "size": "w.units",
    "age": "(m.now - w.released)",
    "last": "w.released",
    "waiting": "w.awaited",
}
"""Variables of an eviction key, with `w` the entry."""

CLAIM_VARIABLES: dict[str, str] = {
    "tokens": "e.tokens",
    "prefilled": "e.prefilled",
    "decoders": "e.decoders",
    "kv_decode": "e.batch_memory(True)",
    "kv_prefill": "e.batch_memory(False)",
    "attention": "e.attention",
    "residents": "e.present",
    "demand": "e.demand()",
    "served": "e.served",
    "arrived": "m.arrived",
}
"""Variables of a claim over iterations, with `e` the engine."""


@define
class RunScope:
    """A `serq.machine.code.Scope` over a machine.

    names: sources of the context variables of this moment. attributes, session: the sources of a
    session's attribute list ("s.attributes") and of the session, None where there is none. draws: the
    source of the random stream, None where nothing may be drawn. lent: filled with the objects that
    the code names. requests: Python's names of what loops and aggregates bind, by the program's; owners:
    the engine of each request; counted: the passes of loops over numbers; hoisted: names of aggregates
    that are computed ahead, by node; ticks: names of engines' ticks, read ahead. assumed: what takes the
    place of aggregates that have no sample, by node.
    """

    machine: Machine
    names: Mapping[str, str] = field(factory=dict)
    attributes: str | None = None
    draws: str | None = None
    session: str | None = None
    lent: dict[str, Any] = field(factory=dict)
    requests: dict[str, str] = field(factory=dict)
    owners: dict[str, str] = field(factory=dict)
    counted: dict[str, int] = field(factory=dict)
    hoisted: dict[int, str] = field(factory=dict)
    ticks: dict[str, str] = field(factory=dict)
    assumed: Mapping[int, float] = field(factory=dict)

    def __attrs_post_init__(self) -> None:
        self.lent["m"] = self.machine

    def attribute(self, name: str) -> str:
        if self.attributes is None:
            raise InternalError(f"attribute {name} read where there is no session")
        return f"{self.attributes}[{self.machine.slots[name]}]"

    def variable(self, name: str) -> str:
        if name == "now":
            return "m.now"
        if name not in self.names:
            raise InternalError(f"variable {name} read at the wrong moment")
        return self.names[name]

    def register(self, engine: str, name: str) -> str:
        member = self.machine.stages[engine][0]
        return f"{self.lend('registers', member.registers)}[{member.register_slots[name]}]"

    def requested(self, node: RegisterRead | Item | LoopName | RequestField | Survey, writer: Writer) -> str:
        match node:
            case LoopName():
                return loop_name(node, self)
            case RequestField():
                return write_field(node, self)
            case Survey():
                return self.survey(node, writer)
            case _:
                return self.indexed(node, writer.value)

    def indexed(self, node: RegisterRead | Item, write: Callable[[Expr], str]) -> str:
        if isinstance(node, Item):
            numbers = self.machine.lists[node.name]
            place = self.below(node.index, node.name, len(numbers), node.at, write)
            return f"{self.lend('list', numbers)}[{place}]"
        member = self.machine.stages[node.engine][0]
        size, first = member.register_sizes[node.name], member.register_slots[node.name]
        assert node.index is not None
        place = self.below(node.index, node.name, size, node.at, write)
        registers = self.lend("registers", member.registers)
        return (
            f"{registers}[{first + int(place)}]" if place.isdecimal() else f"{registers}[{first} + {place}]"
        )

    def below(self, index: Expr, name: str, size: int, at: Span | None, write: Callable[[Expr], str]) -> str:
        """Source of an index, a whole number below `size`; anything else stops the run."""
        match index:
            case Num(value=value):
                return str(int(value))
            case LoopName() if self.counted.get(self.requests[index.name], size + 1) <= size:
                return self.requests[index.name]
        machine = self.machine

        def check(value: float) -> int:
            if not (0 <= value < size and value == int(value)):
                machine.fail("SQ0645", at, name=name, value=show(value), size=size, last=size - 1)
            return int(value)

        stop = self.lend("index", check)
        return f"(int(i) if 0 <= (i := {write(index)}) < {size} and i == int(i) else {stop}(i))"

    def survey(self, node: Survey, writer: Writer) -> str:
        self.lent.setdefault("fold_max", fold_max)
        self.lent.setdefault("fold_min", fold_min)
        known = self.hoisted.get(id(node))
        return write_survey(node, self, writer) if known is None else known

    def bind(self, name: str, request: str, engine: str) -> None:
        """From here on the program calls a request of `engine` so, and Python calls it `request`."""
        self.requests[name] = request
        self.owners[request] = engine

    def engine_of(self, request: str) -> str:
        """The name of the engine whose request Python calls so."""
        return self.owners[request]

    def engine(self, name: str) -> str:
        """The name under which generated code finds the engine: its own, or the only one called so."""
        own = self.lent.get("e")
        if own is not None and own.name == name:
            return "e"
        return self.lend("stage", self.machine.stages[name][0])

    def local(self, name: str) -> str:
        return f"e.locals[{name!r}]"

    def draw(self, node: Draw, parameters: str) -> str:
        if self.draws is None:
            raise InternalError("a draw where nothing may be drawn")
        if node.file is not None:
            return f"{self.draws}.pick({self.lend('samples', self.machine.samples_of(node))})"
        if node.law == "table":
            if all(isinstance(a, Num) for a in node.arguments):
                table = Table([a.value for a in node.arguments if isinstance(a, Num)])
                return f"{self.draws}.pick({self.lend('table', table)})"
            return f"{self.draws}.table(({parameters}), {self.lend('at', node.at)})"
        # Constant parameters were looked at before the run; others may need the place for a message.
        computed = any(not isinstance(a, Num) for a in node.arguments)
        at = f", {self.lend('at', node.at)}" if computed else ""
        return f"{self.draws}.{node.law}({parameters}{at})"

    def observable(self, node: Observable, write: Callable[[Expr], str]) -> str:
        if node.function in STAGE_READS:
            return STAGE_READS[node.function].format(self.stage(node.place, write))
        if node.function == "cachedin":
            pool = self.pool(node.place, write)
            return "0.0" if self.session is None else f"{pool}.cache.own_units({self.session})"
        if node.function in POOL_READS:
            return POOL_READS[node.function].format(self.pool(node.place, write))
        raise InternalError(f"no code for {node.function}")

    def summary(self, node: Summary, write: Callable[[Expr], str]) -> str:
        if id(node) in self.assumed:
            return self.lend("assumed", self.assumed[id(node)])
        argument = "None" if node.argument is None else write(node.argument)
        return f"{self.lend('summary', self.machine.summary(node))}({argument})"

    def stage(self, place: Place, write: Callable[[Expr], str]) -> str:
        """Source of the stage (or member) that `place` names."""
        return self._member("stage", self.machine.stages[place.name], place, write)

    def pool(self, place: Place, write: Callable[[Expr], str]) -> str:
        """Source of the pool (or member) that `place` names."""
        return self._member("pool", self.machine.pools[place.name], place, write)

    def _member(self, kind: str, members: list[Any], place: Place, write: Callable[[Expr], str]) -> str:
        match place.index:
            case None:
                return self.lend(kind, members[0])
            case Num(value=value):
                return self.lend(kind, members[int(value)])
            case computed:
                family = self.lend("family", members)
                at = self.lend("at", place)
                return f"m.member({family}, {write(computed)}, {at})"

    def lend(self, kind: str, thing: Any) -> str:
        """The name under which generated code finds `thing`.

        Names are made of the kind and a number: names of the program may be Python's own words.
        """
        for name, known in self.lent.items():
            if known is thing and name.startswith(kind):
                return name
        name = f"{kind}_{len(self.lent)}"
        self.lent[name] = thing
        return name
