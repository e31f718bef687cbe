"""Rooms: the lists of things between braces, by which messages and recovery find their way.

The items of `main`, the statements of a block, the options of a pool are rooms. A state of the
parse tables that reads the next element of such a list stands at the door of its room.
"""

from __future__ import annotations

from serq.syntax.tables import Tables

ROOMS = {
    "_top": "program",
    "_item": "main",
    "_statement": "statements",
    "_device_item": "device",
    "_engine_item": "engine",
    "_schedule_line": "schedule",
    "_schedule_statement": "schedule",
    "_pool_option": "pool",
    "_queue_item": "queue",
    "_workload_item": "workload",
    "_request_line": "request",
    "_definition": "library",
}
"""The rules whose lists are rooms; where a state begins several, the first here is the room."""


def room_rule(tables: Tables, state: int) -> str | None:
    """The rule of the room whose next element `state` reads, None in the midst of an element."""
    gotos = tables.gotos[state]
    if not gotos:
        return None
    return next((rule for rule in ROOMS if rule in gotos), None)


def words_by_room(tables: Tables) -> dict[str, list[str]]:
    """For each word of the language, the rooms in which it begins something."""
    found: dict[str, list[str]] = {}
    for state, row in enumerate(tables.actions):
        rule = room_rule(tables, state)
        if rule is not None:
            for word in tables.words & row.keys():
                rooms = found.setdefault(word, [])
                if row[word] >= 0 and ROOMS[rule] not in rooms:
                    rooms.append(ROOMS[rule])
    return found
