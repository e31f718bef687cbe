"""Queues of the program (stations) are looked at as declarations.

A station groups a device or pools, a stage and entries. Here its parts and roles are checked, and
its declarations become ordinary ones: `pool kv` of queue `D` is the pool `D.kv`, its engine or
`serve` is the stage `D`. What its entries do is written out by `serq.check.entries`.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from attrs import frozen

from serq.check.complaints import Complaints
from serq.check.places import word_before
from serq.check.show import count
from serq.check.trees import changed, walk
from serq.check.words import SUPPLIED
from serq.diagnostics import Note
from serq.source import Span
from serq.syntax import tree

ROLES: dict[str, str | None] = {
    "gateway": "route", "prefill": "prefill", "decode": "decode", "link": "transfer", "l2": None,
}  # fmt: skip
"""Role -> the verb of its entry."""

VERBS = {verb: role for role, verb in ROLES.items() if verb is not None}


@frozen
class Station:
    """A declared queue.

    order: the position of its item in the program. pools: the names of its own. stage: whether it
    serves, by an engine or a `serve`. latency: the fixed wait of a link. names: what its entries
    set, mark or bind, read from outside as `Q.name`. leased: the pool that its entries lease.
    """

    item: tree.Queue
    order: int
    roles: frozenset[str]
    pools: frozenset[str]
    stage: bool
    nic: bool
    latency: tree.Expr | None
    names: frozenset[str]
    leased: str | None

    @property
    def name(self) -> str:
        """How the program calls it."""
        return self.item.name.text

    @property
    def entries(self) -> tuple[tree.QueueEntry, ...]:
        """What may be called at it."""
        return tuple(part for part in self.item.items if isinstance(part, tree.QueueEntry))

    def entry(self, verb: str, has_source: bool) -> tree.QueueEntry | None:
        """The entry of this verb, with or without a `from`."""
        for entry in self.entries:
            if entry.verb.text == verb and (entry.source is not None) == has_source:
                return entry
        return None


def find_stations(items: Sequence[tree.Item], complaints: Complaints) -> dict[str, Station]:
    """The queues of a program by name, their forms checked."""
    stations: dict[str, Station] = {}
    for order, item in enumerate(items):
        if isinstance(item, tree.Queue) and item.name.text not in stations:
            station = read_station(item, order)
            check_roles(station, complaints)
            check_order(item, complaints)
            check_parts(station, complaints)
            for entry in station.entries:
                check_entry_form(station, entry, complaints)
            stations[station.name] = station
    for station in stations.values():
        for entry in station.entries:
            check_source(station, entry, stations, complaints)
    return stations


def read_station(item: tree.Queue, order: int) -> Station:
    """What a queue consists of."""
    parts = item.items
    entries = [part for part in parts if isinstance(part, tree.QueueEntry)]
    roles = frozenset(role.text for role in item.roles)
    serves = [part for part in parts if isinstance(part, tree.Serve)]
    names: set[str] = set()
    if "gateway" not in roles:
        names = {name.text for entry in entries for name in set_in(entry.body)}
    leases = [lease for entry in entries if (lease := leased_always(entry.body)) is not None]
    return Station(
        item,
        order,
        roles,
        frozenset(part.name.text for part in parts if isinstance(part, tree.Pool)),
        bool(serves) or any(isinstance(part, tree.Engine) for part in parts),
        any(isinstance(part, tree.Nic) for part in parts),
        serves[0].latency if serves else None,
        frozenset(names),
        leases[0] if leases and len(leases) == len(entries) else None,
    )


def set_in(body: tree.Block) -> Iterator[tree.Name]:
    """The names that the statements of an entry set, mark or bind."""
    for node in walk(body):
        match node:
            case tree.Assign(verb="observe"):
                pass
            case tree.Assign() | tree.CostRecord() | tree.Choose() | tree.Mark():
                yield node.name
            case tree.Hold():
                yield from (name for name, _ in node.bindings)
            case _:
                pass


def leased_always(block: tree.Block) -> str | None:
    """The pool that every way through a block leases, None if some way leases nothing."""
    for s in block.statements:
        match s:
            case tree.Hold(lease=(place, _)):
                return place.name.text
            case tree.Hold(body=body) if (found := leased_always(body)) is not None:
                return found
            case tree.Branch(then=then, otherwise=tree.Block() as otherwise):
                found = leased_always(then)
                if found is not None and found == leased_always(otherwise):
                    return found
            case _:
                pass
    return None


# -------------------------------------------------------------------- checks of the form


def check_roles(station: Station, complaints: Complaints) -> None:
    """Each role is known and has its entry."""
    item = station.item
    seen: set[str] = set()
    for role in item.roles:
        if role.text not in ROLES:
            complaints.unknown("SQ0234", role.text, role.at, dict.fromkeys(ROLES))
        elif role.text in seen:
            complaints.say("SQ0210", role.at, kind="role", name=role.text)
        seen.add(role.text)
    if "gateway" in station.roles and item.size is not None:
        complaints.say("SQ0370", item.at, name=station.name)
    verbs = {entry.verb.text for entry in station.entries}
    for needed in ("gateway", "prefill", "decode"):
        verb = ROLES[needed]
        if needed in station.roles and verb not in verbs:
            complaints.missing("SQ0371", item.at, name=station.name, role=needed, verb=verb)
    if "link" in station.roles:
        if not station.stage and "transfer" not in verbs:
            complaints.missing("SQ0372", item.at, name=station.name)
        if station.latency is not None and "transfer" in verbs:
            complaints.say("SQ0373", item.at, name=station.name)
    if "l2" in station.roles and not is_tier(station):
        complaints.missing("SQ0374", item.at, name=station.name)


def is_tier(station: Station) -> bool:
    """Whether a queue is one pool and a `serve`, as the role `l2` wants it."""
    kinds = sorted(type(part).__name__ for part in station.item.items)
    return kinds == ["Pool", "Serve"] and station.roles == {"l2"}


def check_order(item: tree.Queue, complaints: Complaints) -> None:
    """Devices and pools first, then the engine or `serve`, then entries."""
    stage: tree.QueueItem | None = None
    entry: tree.QueueItem | None = None
    for part in item.items:
        match part:
            case tree.Device() if stage is not None or entry is not None:
                complaints.say("SQ0375", part.at, name=item.name.text, part="devices")
            case tree.Pool(owner=None) if stage is not None or entry is not None:
                complaints.say("SQ0375", part.at, name=item.name.text, part="pools")
            case tree.Engine() | tree.Serve() if stage is not None:
                note = Note("the first one is here", stage.at)
                complaints.say("SQ0376", part.at, name=item.name.text, notes=[note])
            case tree.Engine() | tree.Serve():
                stage = part
                if entry is not None:
                    complaints.say("SQ0375", part.at, name=item.name.text, part="stages")
            case tree.QueueEntry():
                entry = entry or part
            case _:
                pass


def check_parts(station: Station, complaints: Complaints) -> None:
    """Parts are one per member, and named once."""
    item = station.item
    pools: dict[str, Span] = {}
    nic: tree.Nic | None = None
    for part in item.items:
        match part:
            case tree.Pool(name=name):
                if name.text in pools:
                    note = Note("it is first declared here", pools[name.text])
                    complaints.say("SQ0210", name.at, kind="pool", name=name.text, notes=[note])
                elif name.text in SUPPLIED:
                    complaints.say("SQ0221", name.at, kind="pool", name=name.text)
                elif name.text in station.names:
                    complaints.say("SQ0229", name.at, name=name.text, what="a pool of the queue")
                pools[name.text] = name.at
                if part.size is not None:
                    complaints.say("SQ0377", part.size.at, part=name.text, name=station.name)
            case tree.Device(name=name) if part.size is not None:
                complaints.say("SQ0377", part.size.at, part=name.text, name=station.name)
            case tree.Engine(size=size) if size is not None:
                complaints.say("SQ0377", size.at, part="engine", name=station.name)
            case tree.Nic():
                if nic is not None:
                    note = Note("the first one is here", nic.at)
                    complaints.say("SQ0248", part.at, clause="nic", notes=[note])
                nic = part
            case tree.Serve(latency=latency) if latency is not None:
                if "link" not in station.roles:
                    at = word_before(latency.at, "latency", complaints)
                    complaints.say("SQ0378", at, name=station.name)
            case _:
                pass


def check_entry_form(station: Station, entry: tree.QueueEntry, complaints: Complaints) -> None:
    """An entry belongs to a role of its queue and takes what the role says."""
    verb = entry.verb.text
    role = VERBS[verb]
    if role not in station.roles:
        complaints.say("SQ0379", entry.at, verb=verb, role=role, name=station.name)
    wanted = 0 if verb == "route" else 1
    if len(entry.parameters) != wanted:
        takes = count(wanted, "parameter")
        complaints.say("SQ0380", entry.at, verb=verb, takes=takes, got=len(entry.parameters))
    for parameter in entry.parameters:
        if parameter.text in SUPPLIED:
            complaints.say("SQ0221", parameter.at, kind="parameter", name=parameter.text)
        elif parameter.text in station.names:
            complaints.say("SQ0216", entry.at, name=parameter.text)
    has_source = entry.source is not None
    if station.entry(verb, has_source) is not entry:
        complaints.say("SQ0210", entry.at, kind="entry", name=verb)


def check_source(
    station: Station,
    entry: tree.QueueEntry,
    stations: dict[str, Station],
    complaints: Complaints,
) -> None:
    """`from P` names an earlier queue whose entries lease a pool on every way."""
    if entry.source is None:
        return
    source = stations.get(entry.source.text)
    at = entry.source.at
    if source is None or source.order > station.order:
        above = {n: s.item.name.at for n, s in stations.items() if s.order < station.order}
        complaints.unknown("SQ0203", entry.source.text, at, above, kind="queue above")
    elif source is station:
        complaints.say("SQ0381", at, name=station.name)
    elif source.leased is None:
        complaints.missing("SQ0382", at, name=source.name)


# -------------------------------------------------------------------- ordinary declarations


def write_out(station: Station) -> Iterator[tree.Item]:
    """The declarations of a queue as ordinary ones, each one per member."""
    item = station.item
    devices = {part.name.text for part in item.items if isinstance(part, tree.Device)}
    for part in item.items:
        match part:
            case tree.Device():
                yield changed(part, name=inner(item, part.name), size=item.size)
            case tree.Engine(device=device):
                yield changed(part, name=item.name, size=item.size, device=inner(item, device))
            case tree.Pool():
                yield write_out_pool(part, item, devices)
            case tree.Serve(kind=kind, latency=latency):
                yield tree.Stage(item.name, item.size, kind, part.at)
                if latency is not None:
                    yield wait_stage(item, "latency", latency.at)
            case tree.Nic(kind=kind):
                yield tree.Stage(inner(item, tree.Name("nic", part.at)), item.size, kind, part.at)
            case tree.QueueEntry():
                pass


def write_out_pool(part: tree.Pool, item: tree.Queue, devices: set[str]) -> tree.Pool:
    """A pool of a queue; its owner is the queue's engine or device, by their full names."""
    owner = part.owner
    name = inner(item, part.name)
    if owner is None:
        return changed(part, name=name, size=item.size)
    if owner.name.text in devices and owner.member is None:
        owner = changed(owner, name=inner(item, owner.name))
    elif owner.member is not None and owner.member.text in devices:
        owner = changed(owner, member=inner(item, owner.member))
    return changed(part, name=name, size=None, owner=owner)


def wait_stage(item: tree.Queue, name: str, at: Span) -> tree.Stage:
    """The stage of a fixed wait, one per member."""
    kind = tree.StageKind("delay", None, at)
    return tree.Stage(inner(item, tree.Name(name, at)), item.size, kind, at)


def inner(item: tree.Queue, name: tree.Name) -> tree.Name:
    """The full name of a queue's own `name`."""
    return tree.Name(f"{item.name.text}.{name.text}", name.at)
