"""Every declaration is found, before anything is read: which names there are, and no name twice.

One name space holds all declarations; two different kinds may not share a name. Constants come
first, since the size of a family is one. It is one file: everything that may take a name.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from serq.check.complaints import Complaints
from serq.check.expressions import Expressions
from serq.check.limits import LARGEST_FAMILY, is_count
from serq.check.names import (
    NEVER_READ,
    Capacity,
    DeviceNames,
    EngineNames,
    Names,
    RegisterName,
    Resource,
    TagName,
)
from serq.check.show import article, number
from serq.check.stations import set_in
from serq.check.trees import NOWHERE, walk
from serq.check.words import BUILT_IN, CALLABLE, SUPPLIED, WORDS
from serq.diagnostics import Note
from serq.ir.moments import REQUEST_FIELDS
from serq.source import Span
from serq.syntax import tree

SHARES = ("maxmin", "bottleneck")


def declare_names(items: Sequence[tree.Item], definitions: Mapping[str, Span], x: Expressions) -> None:
    """Fill `x.names` with everything that the items declare."""
    declare = Declarations(x, items)
    for name, at in definitions.items():
        declare.names.declared.setdefault(name, ("a definition", at))
    for order, item in enumerate(items):
        declare.item(item, order)
    declare.assignments(items)


class Declarations:
    """The pass at work: each method takes one kind of declaration."""

    def __init__(self, x: Expressions, items: Sequence[tree.Item]) -> None:
        self.x = x
        self.names: Names = x.names
        self.devices = {i.name.text: i.name.at for i in items if isinstance(i, tree.Device)}
        self.complaints: Complaints = x.complaints

    def take(self, kind: str, name: tree.Name, *, words: bool = False) -> bool:
        """Reserve a name for a declaration; say why it cannot have it. `words`: it may not be one."""
        text = name.text
        if text == NOWHERE:
            return False
        if words and text in WORDS:
            self.complaints.say("SQ0220", name.at, kind=kind, name=text)
            return True
        if text in SUPPLIED:
            self.complaints.say("SQ0221", name.at, kind=kind, name=text)
            return True
        if text in BUILT_IN:
            self.complaints.say("SQ0227", name.at, kind=kind, name=text)
            return True
        if text in self.names.declared:
            return self.clash(kind, name)
        self.names.declared[text] = (article(kind), name.at)
        return True

    def take_stage(self, kind: str, name: tree.Name, *, words: bool = False) -> bool:
        """As `take`; the stage of a queue has its queue's name, which is taken already."""
        owner = name.text.partition(".")[0]
        return owner in self.names.queues or self.take(kind, name, words=words)

    def clash(self, kind: str, name: tree.Name) -> bool:
        """Complain about a name that is taken, at the later of the two places."""
        other, at = self.names.declared[name.text]
        note = Note(f"`{name.text}` is {other} here", at)
        if other == article(kind):
            self.complaints.say("SQ0210", name.at, kind=kind, name=name.text, notes=[note])
            return False
        place, word = name.at, kind
        if (at.line, at.column) > (name.at.line, name.at.column):
            note = Note(f"`{name.text}` is {article(kind)} here", name.at)
            place, word, other = at, other.partition(" ")[2], article(kind)
        self.complaints.say("SQ0228", place, kind=word, name=name.text, other=other, notes=[note])
        return True

    def item(self, item: tree.Item, order: int) -> None:
        """One declaration."""
        match item:
            case tree.Let() | tree.Input():
                # a constant may be declared twice
                if self.names.declared.get(item.name.text, ("",))[0] != "a constant":
                    self.take("constant", item.name)
            case tree.ListLet() | tree.ListInput():
                self.take("list", item.name)
            case tree.Device():
                self.device(item, order)
            case tree.Engine():
                self.engine(item, order)
            case tree.Pool():
                self.pool(item, order)
            case tree.Stage():
                if self.take_stage("stage", item.name):
                    size = self.size(item.size, order)
                    kind = item.kind.kind
                    self.stage(Resource(item.name.text, kind, size, order, item.name.at))
            case tree.Queue():
                self.queue(item, order)
            case tree.Relation(latency=latency) if latency is not None:
                self.x.constant(latency, order)
            case tree.Gauge():
                self.take("gauge", item.name)
            case tree.Claim():
                self.take("claim", item.name)
            case tree.Share(rule=rule):
                if rule.text not in SHARES:
                    self.complaints.say("SQ0337", rule.at, rule=rule.text)
                if self.names.share is not None:
                    self.complaints.say("SQ0210", item.at, kind="rule", name="share")
                self.names.share = rule.text
            case _:
                pass

    def stage(self, resource: Resource) -> None:
        self.names.stages[resource.name] = resource

    def size(self, size: tree.Expr | None, order: int) -> int | None:
        """How many members a family has; None for a single one. A wrong size counts as 1."""
        if size is None:
            return None
        value = self.x.constant(size, order)
        if value is None:
            return 1
        if not is_count(value, LARGEST_FAMILY):
            self.complaints.say("SQ0510", size.at, value=number(value), limit=LARGEST_FAMILY)
            return 1
        return int(value)

    # ---------------------------------------------------------------- devices, engines, pools

    def device(self, item: tree.Device, order: int) -> None:
        if not self.take_stage("device", item.name, words=True):
            return
        size = self.size(item.size, order)
        device = DeviceNames(item.name.text, size, item.name.at, order)
        self.names.devices[item.name.text] = device
        for part in item.items:
            name = part.name.text
            if name in device.times or name in device.capacities:
                self.complaints.say("SQ0210", part.name.at, kind="item of the device", name=name)
            elif isinstance(part, tree.TimeResource):
                self.time(part)
                device.times[name] = part
            else:
                if part.size is not None:
                    self.complaints.say("SQ0240", part.at, name=name, device=item.name.text)
                cap = self.x.constant(part.cap, order)
                device.capacities[name] = Capacity(cap or 0.0, part.name.at)

    def time(self, item: tree.TimeResource) -> None:
        """The names of a time resource and its parameters."""
        name = item.name.text
        if name in WORDS or name in CALLABLE:
            self.complaints.say("SQ0220", item.name.at, kind="time resource", name=name)
        elif self.names.declared.get(name, ("",))[0] == "a definition":
            other, at = self.names.declared[name]
            note = Note(f"`{name}` is {other} here", at)
            self.complaints.say(
                "SQ0228", item.name.at, kind="time resource", name=name, other=other, notes=[note]
            )
        seen: set[str] = set()
        for parameter in item.parameters:
            if parameter.text in seen:
                self.complaints.say("SQ0211", parameter.at, name=parameter.text)
            elif parameter.text in SUPPLIED:
                self.complaints.say("SQ0221", parameter.at, kind="parameter", name=parameter.text)
            seen.add(parameter.text)

    def engine(self, item: tree.Engine, order: int) -> None:
        assert item.name is not None
        if not self.take_stage("engine", item.name, words=True):
            return
        name = item.name.text
        size = self.size(item.size, order)
        engine = EngineNames(name, size, item.name.at, order, item.device.text)
        self.names.engines[name] = engine
        self.stage(Resource(name, "engine", size, order, item.name.at))
        self.place_on_device(engine, item.device)
        for part in item.items:
            match part:
                case tree.Capacity():
                    many = self.size(part.size, order)
                    cap = self.x.constant(part.cap, order)
                    if many is not None and size is not None:
                        self.complaints.say("SQ0241", part.name.at, name=part.name.text, engine=name)
                    if part.name.text in engine.capacities:
                        self.complaints.say("SQ0210", part.name.at, kind="capacity", name=part.name.text)
                    engine.capacities[part.name.text] = Capacity(cap or 0.0, part.name.at, many)
                case tree.Schedule():
                    engine.lets |= {let.name.text: None for let in part.late_lets}
                    engine.lets |= {let.name.text: let.name.at for let in part.lets}
                case tree.Register():
                    self.register(part, engine, order)
                case tree.Tag():
                    self.tag(part, engine)
                case _:
                    pass

    def place_on_device(self, engine: EngineNames, written: tree.Name) -> None:
        device = self.names.devices.get(written.text)
        if device is None:
            if written.text in self.devices:
                note = Note(f"`{written.text}` is declared here", self.devices[written.text])
                self.complaints.say(
                    "SQ0260",
                    written.at,
                    kind="engine",
                    name=engine.name,
                    owner=written.text,
                    notes=[note],
                )
            elif written.text != NOWHERE:
                devices = {n: d.at for n, d in self.names.devices.items()}
                self.complaints.unknown("SQ0203", written.text, written.at, devices, kind="device")
            return
        if device.engine is not None:
            note = Note(f"`{device.engine}` runs on it", self.names.engines[device.engine].at)
            self.complaints.say("SQ0242", engine.at, device=device.name, engine=device.engine, notes=[note])
            return
        device.engine = engine.name
        if device.size != engine.size:
            self.complaints.say(
                "SQ0243", engine.at, engine=engine.name, members=members(engine.size),
                device=device.name, others=members(device.size),
                notes=[Note(f"`{device.name}` is declared here", device.at)],
            )  # fmt: skip

    def register(self, item: tree.Register, engine: EngineNames, order: int) -> None:
        name = item.name.text
        if name in SUPPLIED:
            self.complaints.say("SQ0221", item.name.at, kind="register", name=name)
        elif name in self.names.registers:
            note = Note(f"`{name}` is first declared here", self.names.registers[name].at)
            self.complaints.say("SQ0210", item.name.at, kind="register", name=name, notes=[note])
        elif engine.size is not None:
            self.complaints.say("SQ0244", item.name.at, name=name, engine=engine.name)
        size = None
        if item.size is not None:
            value = self.x.constant(item.size, order)
            size = 1 if value is None else int(min(max(value, 1.0), LARGEST_FAMILY))
            if value is not None and value != size:
                shown = number(value)
                self.complaints.say(
                    "SQ0519", item.size.at, name=name, value=shown, what="registers", limit=LARGEST_FAMILY
                )
        self.names.registers.setdefault(name, RegisterName(engine.name, item.name.at, size))

    def tag(self, item: tree.Tag, engine: EngineNames) -> None:
        name = item.name.text
        if name in SUPPLIED or name in REQUEST_FIELDS:
            self.complaints.say("SQ0221", item.name.at, kind="tag", name=name)
        elif name in self.names.tags:
            note = Note(f"`{name}` is first declared here", self.names.tags[name].at)
            self.complaints.say("SQ0210", item.name.at, kind="tag", name=name, notes=[note])
        elif name in self.names.registers:
            note = Note(f"`{name}` is declared here", self.names.registers[name].at)
            self.complaints.say(
                "SQ0228", item.name.at, kind="tag", name=name, other="a register", notes=[note]
            )
        elif engine.size is not None:
            self.complaints.say("SQ0244", item.name.at, name=name, engine=engine.name)
        self.names.tags.setdefault(name, TagName(engine.name, item.name.at))

    def pool(self, item: tree.Pool, order: int) -> None:
        if not self.take("pool", item.name):
            return
        name, local = item.name.text, item.name.text.rpartition(".")[2]
        size = self.size(item.size, order)
        if item.owner is not None:
            owner = item.owner.name.text
            holder = owner if item.owner.member is None else item.owner.member.text
            self.names.owned.setdefault(holder, set()).add(local)
            if owner in self.names.engines and item.owner.member is None:
                engine = self.names.engines[owner]
                if local in engine.capacities:
                    size = engine.capacities[local].size if engine.size is None else engine.size
            elif owner in self.names.engines:
                size = self.names.engines[owner].size
            elif owner in self.names.devices:
                size = self.names.devices[owner].size
        self.names.pools[name] = Resource(name, "pool", size, order, item.name.at)
        for option in item.options:
            if isinstance(option, tree.BlockOption):
                block = self.x.constant(option.value, order)
                self.names.blocks[name] = 1.0 if block is None else block

    def queue(self, item: tree.Queue, order: int) -> None:
        """A queue takes its name; its devices, pools and stage are declarations of their own."""
        if self.take("queue", item.name, words=True):
            self.names.queues[item.name.text] = item
        for part in item.items:
            if isinstance(part, tree.Serve) and part.latency is not None:
                self.x.constant(part.latency, order)

    # ---------------------------------------------------------------- what statements assign

    def assignments(self, items: Sequence[tree.Item]) -> None:
        """The attributes and observations, in the order in which the text first makes them."""
        for item in items:
            match item:
                case tree.Workload():
                    for part in item.items:
                        if isinstance(part, tree.WorkloadBlock):
                            self.block(part.body, "workload")
                case tree.Server():
                    self.block(item.body, "server")
                case tree.Queue():
                    self.entries(item)
                case _:
                    pass
        for name, (kind, at) in list(self.names.declared.items()):
            if name in self.names.attributes:
                here = self.names.attributes[name]
                note = Note(f"`{name}` is assigned here", here)
                place = here if kind == "a constant" else at
                other = Note(f"`{name}` is {kind} here", at) if kind == "a constant" else note
                self.complaints.say("SQ0229", place, name=name, what=kind, notes=[other])
        named: list[tuple[str, str, Span]] = [("register", n, r.at) for n, r in self.names.registers.items()]
        named += [("tag", n, t.at) for n, t in self.names.tags.items()]
        for word, name, where in named:
            taken = self.names.declared.get(name)
            if taken is not None and taken[0] not in NEVER_READ:
                note = Note(f"`{name}` is {taken[0]} here", taken[1])
                self.complaints.say("SQ0228", where, kind=word, name=name, other=taken[0], notes=[note])
            elif name in self.names.attributes or name in BUILT_IN:
                self.complaints.say("SQ0229", where, name=name, what=f"a {word}")

    def entries(self, item: tree.Queue) -> None:
        """What entries set are names of their queue, and no other declaration's."""
        for entry in item.items:
            if isinstance(entry, tree.QueueEntry):
                marks = {node.name for node in walk(entry.body) if isinstance(node, tree.Mark)}
                for name in set_in(entry.body):
                    if name.text in self.names.declared and name not in marks:
                        other, at = self.names.declared[name.text]
                        note = Note(f"`{name.text}` is assigned here", name.at)
                        self.complaints.say("SQ0229", at, name=name.text, what=other, notes=[note])

    def block(self, block: tree.Block, side: str) -> None:
        for node in walk(block):
            match node:
                case tree.Assign(verb="observe"):
                    self.observe(node.name)
                case tree.Assign() | tree.Choose():
                    self.attribute(node.name, side)
                case tree.CostRecord():
                    self.record(node, side)
                case tree.Hold():
                    for name, _ in node.bindings:
                        self.binding(name)
                case _:
                    pass

    def attribute(self, name: tree.Name, side: str) -> None:
        if name.text == NOWHERE:
            return
        if name.text in SUPPLIED:
            self.complaints.say("SQ0221", name.at, kind="attribute", name=name.text)
        self.names.sides.setdefault(name.text, set()).add(side)
        if name.text not in BUILT_IN:
            self.names.attributes.setdefault(name.text, name.at)

    def record(self, record: tree.CostRecord, side: str) -> None:
        self.attribute(record.name, side)
        parts = tuple(name.text for name, _ in record.parts)
        self.names.records.setdefault(record.name.text, parts)
        for part in parts:
            full = f"{record.name.text}.{part}"
            self.names.attributes.setdefault(full, record.name.at)
            self.names.sides.setdefault(full, set()).add(side)

    def binding(self, name: tree.Name) -> None:
        if name.text in SUPPLIED or name.text in BUILT_IN:
            self.complaints.say("SQ0221", name.at, kind="name at admission", name=name.text)
        elif (taken := self.names.meaning(name.text)) is not None:
            self.complaints.say("SQ0228", name.at, kind="name at admission", name=name.text, other=taken)
        self.names.bindings.setdefault(name.text, name.at)

    def observe(self, name: tree.Name) -> None:
        text = name.text
        if text == NOWHERE:
            return
        if text in self.names.observes:
            return
        self.names.observes[text] = name.at
        if text in self.names.bindings:
            note = Note("it is bound here", self.names.bindings[text])
            self.complaints.say(
                "SQ0228", name.at, kind="observation", name=text, other="bound at admission", notes=[note]
            )
        self.take("observation", name)


def members(size: int | None) -> str:
    """`1 member` for a single one, `3 members` for a family."""
    return "1 member" if size in (None, 1) else f"{size} members"
