"""An entry sees its own queue: its parameter, its pools and stage, what it sets, and the clock."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from attrs import frozen

from serq.check.complaints import Complaints
from serq.check.stations import Station
from serq.check.trees import assigned
from serq.ir.moments import BUILT_IN_SIZES, OBSERVABLES
from serq.syntax import tree


def check_visible(
    stations: Mapping[str, Station], items: Sequence[tree.Item], complaints: Complaints
) -> None:
    """Complain about entries that read or hold what is not their queue's."""
    session = frozenset(session_attributes(items))
    for station in stations.values():
        if "gateway" in station.roles:
            continue
        for entry in station.entries:
            Sight(station, entry, session, complaints).look(entry.body)


def session_attributes(items: Sequence[tree.Item]) -> Iterator[str]:
    """What sessions, the server and gateways assign, but for hidden attributes, which an entry may read."""
    hidden = {
        name.text
        for item in items
        if isinstance(item, tree.Workload)
        for part in item.items
        if isinstance(part, tree.Hidden)
        for name in part.names
    }
    names = {*BUILT_IN_SIZES}
    for item in items:
        gateway = isinstance(item, tree.Queue) and any(r.text == "gateway" for r in item.roles)
        if gateway or isinstance(item, tree.Workload | tree.Server):
            names.update(assigned(item))
    return iter(names - hidden)


@frozen
class Sight:
    """One entry: what it may name."""

    station: Station
    entry: tree.QueueEntry
    session: frozenset[str]
    complaints: Complaints

    @property
    def parameters(self) -> frozenset[str]:
        """The names that stand for arguments."""
        return frozenset(parameter.text for parameter in self.entry.parameters)

    @property
    def source(self) -> str | None:
        """The queue whose memory the entry takes."""
        return None if self.entry.source is None else self.entry.source.text

    def look(self, node: Any) -> None:
        """Check every name in a part of the body."""
        if isinstance(node, tuple):
            for part in node:
                self.look(part)
        elif isinstance(node, tree.Reference):
            self.read(node)
        elif isinstance(node, tree.Node):
            own: set[str] = set()
            match node:
                case tree.Run(growing=growing):
                    own.add("places")
                    if growing is not None:
                        self.hold(growing)
                        own.add("growing")
                case tree.Part(place=place) | tree.Amount(place=place) | tree.GiveBack(place=place):
                    self.hold(place)
                    own.add("place")
                case tree.Transfer(source=source, target=target):
                    self.take(source)
                    self.hold(target)
                    own |= {"source", "target", "where"}
                case tree.Entry(arguments=arguments):
                    self.look(arguments)
                    return
                case tree.Copy(arguments=arguments, options=options):
                    self.look((arguments[2:], options))
                    return
                case tree.Call(name=name, arguments=(tree.Reference() as place, *rest)):
                    if name.text in OBSERVABLES:
                        self.observe(place)
                        self.look(tuple(rest))
                        return
                    if name.text == "cost":
                        self.look(node.arguments[-1])
                        return
                case _:
                    pass
            for field in node.__match_args__:
                if field not in own:
                    self.look(getattr(node, field))

    def read(self, node: tree.Reference) -> None:
        """A value: not an attribute of the session."""
        name = node.name.text
        known = name in self.parameters or name in self.station.names
        if name in self.session and not known:
            self.complaints.say("SQ0348", node.at, name=name, queue=self.station.name)

    def hold(self, place: tree.Reference) -> None:
        """A pool that the entry holds or acts on: its queue's, or the one its `from` leased."""
        bare = place.index is None and place.member is None
        name = place.name.text
        if not bare or (name not in self.station.pools and name != self.source and name):
            shown = name if place.member is None else f"{name}.{place.member.text}"
            self.complaints.say("SQ0346", place.at, pool=shown, queue=self.station.name)

    def take(self, place: tree.Reference) -> None:
        """A transfer takes from the entry's source, or from a pool of the queue itself."""
        bare = place.index is None and place.member is None
        if self.source is not None and not (bare and place.name.text == self.source):
            shown = place.name.text if place.member is None else f"{place.name.text}.{place.member.text}"
            self.complaints.say("SQ0347", place.at, name=shown, source=self.source)
        elif self.source is None:
            self.hold(place)

    def observe(self, place: tree.Reference) -> None:
        """Live state: of the queue's own pools and stages."""
        name = place.name.text
        bare = place.index is None and place.member is None
        leased = bare and name == self.source
        if name and name not in {self.station.name, *self.station.pools} and not leased:
            self.complaints.say("SQ0349", place.at, name=name, queue=self.station.name)
