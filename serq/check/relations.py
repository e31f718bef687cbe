"""`kvt.nixl_pull` and `kvt.nixl_push`: how a reader's copies run over the NICs of two queues."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from attrs import frozen

from serq.check.complaints import Complaints
from serq.check.stations import Station, wait_stage
from serq.syntax import tree

VERBS = ("nixl_pull", "nixl_push")


@frozen
class Relation:
    """Copies from `source` to `reader`; these are None if the relation is wrong.

    pushed: the source posts them and waits, otherwise the reader. latency: the wait before each.
    """

    item: tree.Relation
    source: Station | None
    reader: Station | None
    pushed: bool
    latency: tree.Expr | None


def find_relations(
    items: Sequence[tree.Item],
    stations: Mapping[str, Station],
    imported: bool,
    complaints: Complaints,
) -> dict[str, Relation]:
    """The relations of a program by their reader; one that is wrong is kept without its ends."""
    relations: dict[str, Relation] = {}
    shared = any(isinstance(item, tree.Share) for item in items)
    for order, item in enumerate(items):
        if not isinstance(item, tree.Relation):
            continue
        pushed = item.verb.text == "nixl_push"
        source = reader = None
        if not imported:
            complaints.missing("SQ0394", item.at, statement=f"kvt.{item.verb.text}")
        elif item.verb.text not in VERBS:
            complaints.unknown("SQ0237", item.verb.text, item.verb.at, dict.fromkeys(VERBS))
        elif item.reader.text in relations:
            complaints.say("SQ0399", item.at, reader=item.reader.text)
        else:
            source = find_end(item.source, order, stations, complaints)
            reader = find_end(item.reader, order, stations, complaints)
        if source is not None and reader is not None:
            if source.name not in {e.source.text for e in reader.entries if e.source is not None}:
                complaints.missing("SQ0344", item.at, reader=reader.name, source=source.name)
            elif not shared:
                complaints.missing("SQ0335", item.at)
        relation = Relation(item, source, reader, pushed, item.latency)
        relations.setdefault(item.reader.text, relation)
    return relations


def find_end(
    name: tree.Name, order: int, stations: Mapping[str, Station], complaints: Complaints
) -> Station | None:
    """A queue of a relation: declared above, with a NIC."""
    station = stations.get(name.text)
    if station is None or station.order > order:
        above = {n: s.item.name.at for n, s in stations.items() if s.order < order}
        complaints.unknown("SQ0203", name.text, name.at, above, kind="queue above")
        return None
    if not station.nic:
        complaints.missing("SQ0345", name.at, queue=station.name)
        return None
    return station


def waits(relations: Mapping[str, Relation]) -> list[tree.Stage]:
    """The stages of the relations' waits, one per member of the queue that waits."""
    stages = []
    for relation in relations.values():
        queue = relation.source if relation.pushed else relation.reader
        if relation.latency is not None and queue is not None:
            stages.append(wait_stage(queue.item, "nic.latency", relation.latency.at))
    return stages
