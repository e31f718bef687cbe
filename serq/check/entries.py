"""Entries of queues are written out where they are called.

A call is replaced by the entry's body, in which a parameter is its argument, the queue's pools and
stage are those of the member called, `self` is its index, and what the entry sets or marks is named
`Q.name`. `transfer` and copies to a slower tier become the runs, loads and releases that they are.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, TypeVar

from attrs import define, frozen

from serq.check.complaints import Complaints, used_at
from serq.check.pieces import cost_of, held_places, load_from_tier, store_in_tier, wait
from serq.check.relations import Relation
from serq.check.resolve import LARGEST
from serq.check.show import count
from serq.check.stations import Station, is_tier
from serq.check.trees import changed, draws, nothing, nothing_runs, rebuild
from serq.diagnostics import Note
from serq.source import Span
from serq.syntax import tree

T = TypeVar("T")


@frozen
class Scope:
    """The entry being written out.

    index: of the member called, None for a single queue. arguments: by parameter. source: the queue
    named by `from`, with the index of the member called. use: the place of the call. calls: the
    entries around, for finding cycles.
    """

    station: Station
    index: tree.Expr | None
    arguments: Mapping[str, tree.Expr]
    source: tuple[Station, tree.Expr | None] | None
    use: Span
    calls: tuple[str, ...]


@define
class EntryWriter:
    """Writes out the calls of a program's entries.

    relations: the copies that a reader makes, by its name. kvt: its library is used. orders: the
    positions of the stages declared by themselves. side: whose statements are at work.
    """

    complaints: Complaints
    stations: Mapping[str, Station]
    relations: Mapping[str, Relation]
    kvt: bool
    orders: Mapping[str, int]
    side: str = "server"
    written: int = 0

    def item(self, item: tree.Item) -> tree.Item:
        """An item with the calls in its statements written out."""
        match item:
            case tree.Server(body=body):
                self.side = "server"
                return changed(item, body=self.block(body, None))
            case tree.Workload():
                self.side = "session"
                parts = tuple(
                    changed(part, body=self.block(part.body, None))
                    if isinstance(part, tree.WorkloadBlock)
                    else part
                    for part in item.items
                )
                return changed(item, items=parts)
            case _:
                return item

    def block(self, block: tree.Block, scope: Scope | None) -> tree.Block:
        """A block with the calls in it written out."""
        statements = [new for s in block.statements for new in self.statement(s, scope)]
        at = block.at if scope is None else used_at(block.at, scope.use)
        return tree.Block(tuple(statements), at)

    def statement(self, s: tree.Statement, scope: Scope | None) -> Sequence[tree.Statement]:
        """What one statement becomes."""
        match s:
            case tree.Entry():
                return self.call(s, scope)
            case tree.Transfer():
                return self.transfer(s, scope)
            case tree.Tool(where=where) if scope is not None and not (where and where.places):
                return self.tool(s, scope)
            case tree.Copy():
                return self.tier_copy(s, scope)
            case tree.Run(places=()) if scope is not None:
                return self.own_run(s, scope)
            case tree.Mark(name=name) if scope is not None:
                at = used_at(s.at, scope.use)
                now = tree.Reference(tree.Name("now", at), None, None, at)
                return (tree.Assign("set", self.own(name, scope), now, at),)
            case tree.Plain(verb="end") if scope is not None:
                self.complaints.say("SQ0383", s.at, queue=scope.station.name)
                return (nothing_runs(s.at),)
            case _:
                if scope is None:
                    self.check_outside(s)
                return (self.rewrite(s, scope),)

    # ---------------------------------------------------------------- copies of nodes

    def rewrite(self, node: T, scope: Scope | None) -> T:
        """A node as it reads where the entry is called; outside of entries only calls change."""
        new: Any = node
        if isinstance(node, tree.Block):
            new = self.block(node, scope)
        elif scope is None:
            return rebuild(node, lambda part: self.rewrite(part, None))
        elif not self.spend(scope):
            return node
        elif isinstance(node, tuple):
            new = tuple(self.rewrite(part, scope) for part in node)
        elif isinstance(node, Span):
            new = used_at(node, scope.use)
        elif isinstance(node, tree.Reference):
            new = self.reference(node, scope)
        elif isinstance(node, tree.Node):
            parts = {n: self.rewrite(getattr(node, n), scope) for n in node.__match_args__}
            self.rename(node, parts, scope)
            new = type(node)(**parts)
        return new  # type: ignore[no-any-return]

    def spend(self, scope: Scope) -> bool:
        """Count one more part; False when the calls write out too many."""
        self.written += 1
        if self.written == LARGEST:
            self.complaints.say("SQ0560", scope.use, name=scope.calls[-1], limit=LARGEST)
        return self.written < LARGEST

    def rename(self, node: Any, parts: dict[str, Any], scope: Scope) -> None:
        """The names that an entry assigns are its queue's own."""
        match node:
            case tree.Assign(verb="observe"):
                pass
            case tree.Assign() | tree.CostRecord() | tree.Choose():
                parts["name"] = self.own(node.name, scope)
            case tree.Hold(bindings=bindings):
                values = [e for _, e in parts["bindings"]]
                names = [self.own(name, scope) for name, _ in bindings]
                parts["bindings"] = tuple(zip(names, values, strict=True))
            case _:
                pass

    def own(self, name: tree.Name, scope: Scope) -> tree.Name:
        """The name under which the program sees what an entry sets."""
        at = used_at(name.at, scope.use)
        if name.text not in scope.station.names:
            return tree.Name(name.text, at)
        return tree.Name(f"{scope.station.name}.{name.text}", at)

    def reference(self, node: tree.Reference, scope: Scope) -> tree.Expr:
        """What a name of an entry's body means where the entry is called."""
        name, station = node.name.text, scope.station
        at = used_at(node.at, scope.use)
        queue = tree.Name(station.name, at)
        if node.index is not None:
            name_at = self.rewrite(node.name, scope)
            return tree.Reference(name_at, self.rewrite(node.index, scope), node.member, at)
        if name == station.name:
            return tree.Reference(queue, scope.index, node.member, at)
        if node.member is not None:
            record = self.own(node.name, scope)
            return tree.Reference(record, None, node.member, at)
        if name in scope.arguments:
            return scope.arguments[name]
        if name in station.names:
            return tree.Reference(self.own(node.name, scope), None, None, at)
        if name in station.pools:
            return tree.Reference(queue, scope.index, tree.Name(name, at), at)
        if name == "self":
            if scope.index is None:
                self.complaints.say("SQ0384", node.at, queue=station.name)
                return nothing(at)
            return scope.index
        if scope.source is not None and name == scope.source[0].name:
            source, index = scope.source
            leased = tree.Name(source.leased or name, at)
            return tree.Reference(tree.Name(source.name, at), index, leased, at)
        return tree.Reference(self.rewrite(node.name, scope), None, None, at)

    def own_run(self, s: tree.Run, scope: Scope) -> Sequence[tree.Statement]:
        """`run (c);`: at the stage of the queue itself."""
        station = scope.station
        if not station.stage:
            self.complaints.missing("SQ0385", s.at, queue=station.name)
            return (nothing_runs(s.at),)
        at = used_at(s.at, scope.use)
        stage = tree.Reference(tree.Name(station.name, at), scope.index, None, at)
        return (tree.Run((stage,), None, self.rewrite(s.work, scope), None, at),)

    # ---------------------------------------------------------------- calls

    def call(self, s: tree.Entry, scope: Scope | None) -> Sequence[tree.Statement]:
        """The body of the entry that is called."""
        at = s.at if scope is None else used_at(s.at, scope.use)
        inside = self.find_entry(s, scope, at)
        if inside is None or self.written >= LARGEST:
            return (nothing_runs(at),)
        entry, new = inside
        statements = list(self.block(entry.body, new).statements)
        if s.target is not None and s.source is not None:
            pool, tokens = self.rewrite(s.target[0], scope), self.rewrite(s.target[1], scope)
            statements += [
                tree.Amount("load", pool, cost_of(pool, tokens, at), at),
                tree.GiveBack("release", self.rewrite(s.source, scope), at),
            ]
        return statements

    def find_entry(
        self, s: tree.Entry, scope: Scope | None, at: Span
    ) -> tuple[tree.QueueEntry, Scope] | None:
        """The entry that a call means, and the scope of its body; None when the call is wrong."""
        say, name, verb = self.complaints.say, s.place.name.text, s.verb.text
        if self.side == "session":
            say("SQ0386", s.at, queue=name, verb=verb)
            return None
        station = self.stations.get(name)
        if station is None:
            queues = {n: q.item.name.at for n, q in self.stations.items()}
            self.complaints.unknown("SQ0203", name, s.place.at, queues, kind="queue")
            return None
        copies = s.target is not None
        entry = station.entry(verb, s.source is not None and not copies)
        if entry is None:
            other = station.entry(verb, s.source is None)
            code = "SQ0387" if other is None else "SQ0388"
            form = f"{verb} (…) from …" if s.source is not None else f"{verb} (…)"
            known = ", ".join(f"`{e.verb.text}`" for e in station.entries) or "none"
            missing = self.complaints.missing
            missing(code, s.at, queue=name, verb=verb, form=form, known=known)
            return None
        if verb == "transfer" and not copies:
            say("SQ0389", s.at, queue=name)
            return None
        if len(s.arguments) != len(entry.parameters):
            takes = count(len(entry.parameters), "argument")
            say("SQ0301", s.at, name=f"{name}.{verb}", takes=takes, got=len(s.arguments))
            return None
        called = f"{name}.{verb}"
        calls = () if scope is None else scope.calls
        if called in calls:
            say("SQ0390", s.at, entry=called)
            return None
        for argument in s.arguments:
            if draws(argument):
                say("SQ0391", argument.at, entry=called)
                return None
        index = self.member(s.place, station, scope)
        source = None if copies else self.source(s, entry, scope)
        if index is WRONG or source is WRONG:
            return None
        names = (parameter.text for parameter in entry.parameters)
        values = self.rewrite(s.arguments, scope)
        arguments = dict(zip(names, values, strict=True))
        return entry, Scope(station, index, arguments, source, at, (*calls, called))

    def member(self, place: tree.Reference, station: Station, scope: Scope | None) -> Any:
        """The index of the member that is called: families have one, single queues have none."""
        family = station.item.size is not None
        if family != (place.index is not None):
            code = "SQ0236" if family else "SQ0232"
            self.complaints.say(code, place.at, name=station.name)
            return WRONG
        return None if place.index is None else self.rewrite(place.index, scope)

    def source(self, s: tree.Entry, entry: tree.QueueEntry, scope: Scope | None) -> Any:
        """The queue whose memory the entry takes, with the index of its member."""
        if s.source is None or entry.source is None:
            return None
        station = self.stations.get(entry.source.text)
        if station is None:
            return WRONG
        if s.source.name.text != station.name:
            note = Note("the entry is here", entry.at)
            self.complaints.say("SQ0392", s.source.at, wanted=station.name, entry=s.verb.text, notes=[note])
            return WRONG
        index = self.member(s.source, station, scope)
        return WRONG if index is WRONG else (station, index)

    # ---------------------------------------------------------------- transfers and copies

    def transfer(self, s: tree.Transfer, scope: Scope | None) -> Sequence[tree.Statement]:
        """A transfer with its wait in front: over a link with a latency, or over two NICs."""
        if s.where is not None and s.where.places:
            moved = self.rewrite(s, scope)
            waits = [w for p in s.where.places if (w := self.link_wait(p, scope)) is not None]
            return (*waits, moved)
        relation = self.relations.get(scope.station.name) if scope is not None else None
        if scope is None or (relation is None and not scope.station.nic):
            return (self.rewrite(s, scope),)
        if relation is not None and (relation.source is None or relation.reader is None):
            return (nothing_runs(s.at),)
        if relation is None or scope.source is None or scope.source[0] is not relation.source:
            self.complaints.missing("SQ0393", s.at, queue=scope.station.name)
            return (nothing_runs(s.at),)
        at = used_at(s.at, scope.use)
        ends = [scope.source, (scope.station, scope.index)]
        nics = tuple(
            tree.Reference(tree.Name(q.name, at), index, tree.Name("nic", at), at) for q, index in ends
        )
        moved = changed(self.rewrite(s, scope), where=tree.Where(None, nics, at))
        if relation.latency is None:
            return (moved,)
        waiting, index = ends[0] if relation.pushed else ends[1]
        return (wait(f"{waiting.name}.nic", index, relation.latency, at), moved)

    def tool(self, s: tree.Tool, scope: Scope) -> Sequence[tree.Statement]:
        """A tool looks among the stages above the queue whose entry it is in."""
        if self.orders.get("tool", scope.station.order) >= scope.station.order:
            self.complaints.missing("SQ0340", s.at, statement="tool", stages="`tool`")
            return (nothing_runs(s.at),)
        return (self.rewrite(s, scope),)

    def link_wait(self, place: tree.Reference, scope: Scope | None) -> tree.Run | None:
        """The wait of a link with a latency."""
        link = self.stations.get(place.name.text)
        if link is None or link.latency is None or place.member is not None:
            return None
        at = place.at if scope is None else used_at(place.at, scope.use)
        return wait(link.name, self.rewrite(place.index, scope), link.latency, at)

    def tier_copy(self, s: tree.Copy, scope: Scope | None) -> Sequence[tree.Statement]:
        """`kvt.l2_load` and `kvt.l2_store`: tokens from or to a slower tier."""
        say, verb = self.complaints.say, s.verb.text
        at = s.at if scope is None else used_at(s.at, scope.use)
        if not self.kvt:
            self.complaints.missing("SQ0394", s.at, statement=f"kvt.{verb}")
            return (nothing_runs(at),)
        if verb not in ("l2_load", "l2_store") or s.place.name.text != "kvt":
            say("SQ0395", s.verb.at, verb=verb)
            return (nothing_runs(at),)
        rates = [e for name, e in s.options if name.text == "per_token"]
        if len(s.arguments) != 3 or len(rates) != 1 or len(s.options) != 1:
            say("SQ0396", s.at, verb=verb)
            return (nothing_runs(at),)
        tier, pool = s.arguments[:2] if verb == "l2_load" else (s.arguments[1], s.arguments[0])
        station = self.stations.get(tier.name.text) if isinstance(tier, tree.Reference) else None
        if station is None or not is_tier(station) or not isinstance(tier, tree.Reference):
            say("SQ0397", tier.at)
            return (nothing_runs(at),)
        if not isinstance(pool, tree.Reference):
            say("SQ0307", pool.at, function=verb, kind="a pool")
            return (nothing_runs(at),)
        tokens, rate = self.rewrite(s.arguments[2], scope), self.rewrite(rates[0], scope)
        stage = tree.Reference(tree.Name(station.name, at), self.rewrite(tier.index, scope), None, at)
        here = self.rewrite(pool, scope)
        if verb == "l2_load":
            return load_from_tier(stage, here, tokens, rate, at)
        return (store_in_tier(stage, next(iter(station.pools)), tokens, rate, at),)

    # ---------------------------------------------------------------- outside of entries

    def check_outside(self, s: tree.Statement) -> None:
        """Only a queue's entries hold its pools."""
        for place in held_places(s):
            station = self.stations.get(place.name.text)
            if station is not None and place.member is not None:
                self.complaints.say("SQ0398", place.at, pool=place.member.text, queue=station.name)


WRONG: Any = object()
"""Stands for a part of a call about which a complaint was made."""
