"""How the parts of a program fit together: for a program that was not read from text.

Lowering meets the same rules at the words of the text; these are the ones that a change to a program as
JSON can break while every name in it is still known.
"""

from __future__ import annotations

from collections.abc import Iterator

from serq.check.complaints import Complaints
from serq.check.declare import members
from serq.check.flows import is_flow
from serq.check.readings import statements_in
from serq.diagnostics import Note
from serq.ir.moments import BUILT_IN_SIZES, BUILT_IN_VALUES
from serq.ir.program import Program
from serq.ir.server import Block, Choose, Set
from serq.ir.stage import Engine
from serq.source import Span


def check_structure(program: Program, complaints: Complaints) -> None:
    """Complain about parts that want another one, or that two of them claim."""
    workload = program.workload
    if program.server and workload is None:
        note = Note("the server begins here", program.server[0].at)
        complaints.say("SQ0273", program.at, notes=[note])
    check_devices(program, complaints)
    client = () if workload is None else (*workload.init, *workload.turn, *workload.session)
    if program.share is not None and not any(map(is_flow, statements_in((*program.server, *client)))):
        complaints.say("SQ0336", program.at)
    sizes = {*BUILT_IN_SIZES, *(name for name, _ in assignments(client))}
    for name, at in assignments(program.server):
        if name in sizes:
            complaints.say("SQ0320", at, name=name)
    for name, at in assignments(client):
        if name in BUILT_IN_VALUES:
            complaints.say("SQ0324", at, name=name)
    for attribute in program.attributes:
        if attribute.hidden and attribute.name in BUILT_IN_VALUES:
            complaints.say("SQ0441", attribute.at, name=attribute.name)


def check_devices(program: Program, complaints: Complaints) -> None:
    """Every device runs one engine, of its own size."""
    devices = {device.name: device for device in program.devices}
    running: dict[str, Engine] = {}
    for engine in program.stages:
        if not isinstance(engine, Engine):
            continue
        device = devices[engine.device]
        if (other := running.setdefault(device.name, engine)) is not engine:
            note = Note(f"`{other.name}` runs on it", other.at)
            complaints.say("SQ0242", engine.at, device=device.name, engine=other.name, notes=[note])
        elif engine.size != device.size:
            complaints.say(
                "SQ0243", engine.at, engine=engine.name, members=members(engine.size),
                device=device.name, others=members(device.size),
            )  # fmt: skip


def assignments(block: Block) -> Iterator[tuple[str, Span | None]]:
    """The attributes that statements assign, and where."""
    for statement in statements_in(block):
        if isinstance(statement, Set | Choose):
            yield statement.attribute, statement.at
