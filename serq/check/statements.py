"""Statements of server and client become blocks of the program."""

from __future__ import annotations

from collections.abc import Sequence

from serq.check import fold
from serq.check.assignments import check_owner, lower_record, lower_set, note_kind
from serq.check.expressions import Expressions
from serq.check.headers import lower_header
from serq.check.side import Side, nowhere
from serq.check.standing import Typed
from serq.check.transfers import lower_tool, lower_transfer
from serq.check.trees import NOWHERE
from serq.diagnostics import Note
from serq.ir.expr import Draw
from serq.ir.server import (
    Block,
    Branch,
    Choose,
    Drop,
    End,
    Fork,
    Grow,
    Join,
    Load,
    Loop,
    Observe,
    Release,
    Run,
    Statement,
    Turn,
    While,
)
from serq.source import Span
from serq.syntax import tree


def lower_block(block: tree.Block | None, side: Side, x: Expressions) -> Block:
    """The statements of a block, in order; an absent block has none."""
    if block is None:
        return ()
    statements: list[Statement] = []
    for s in block.statements:
        statements.extend(lower_statement(s, side, x))
    return tuple(statements)


def lower_statement(s: tree.Statement, side: Side, x: Expressions) -> Sequence[Statement]:
    """What one statement becomes; several for the ones that are written out."""
    if side.name in ("init", "turn") and not is_allowed_in_workload(s):
        x.complaints.say("SQ0350", blamed(s), block=side.name)
        return ()
    here = side.standing()
    match s:
        case tree.Assign(verb="observe"):
            return (Observe(s.name.text, x.lower(s.value, here).expr, at=s.at),)
        case tree.Assign():
            return lower_set(s, side, x)
        case tree.CostRecord():
            return lower_record(s, side, x)
        case tree.Run():
            return lower_run(s, side, x)
        case tree.Hold(body=body):
            header = lower_header(s, side, x)
            inside = lower_block(body, header.inside, x)
            return (header.around(inside, s),) if header.complete else (nowhere(s.at), *inside)
        case tree.Amount():
            return lower_amount(s, side, x)
        case tree.GiveBack(place=place, verb=verb):
            found = x.place(place, "pool", here)
            if found is None:
                return ()
            return (Drop(found, at=s.at) if verb == "drop" else Release(found, at=s.at),)
        case tree.Branch(drawn=drawn, test=test, then=then, otherwise=otherwise):
            guard = x.plain(test, here)
            if drawn and not fold.is_poison(guard):
                guard = Draw("bernoulli", (guard,), at=test.at)
            blocks = lower_block(then, side, x), lower_block(otherwise, side, x)
            return (Branch(guard, *blocks, at=s.at),)
        case tree.While(test=test, body=body):
            return (While(x.plain(test, here), lower_block(body, side, x), at=s.at),)
        case tree.Loop(body=body):
            return (Loop(lower_block(body, side, x), at=s.at),)
        case tree.Choose():
            return lower_choose(s, side, x)
        case tree.Fork(body=body):
            return (Fork(lower_block(body, side, x), at=s.at),)
        case tree.Plain():
            return lower_plain(s, side, x)
        case tree.Tool():
            return lower_tool(s, side, x)
        case tree.Transfer():
            return lower_transfer(s, side, x)
        case tree.Mark():
            x.complaints.say("SQ0351", s.at)
            return ()
        case tree.Use():
            return unknown_use(s, x)
        case tree.Entry() | tree.Copy():
            # written out before, or wrong and said so
            return (nowhere(s.at),)


def is_allowed_in_workload(s: tree.Statement) -> bool:
    """Whether `init` and `turn` may have the statement; one that is wrong anyway counts as such."""
    match s:
        case tree.Assign():
            return True
        case tree.Run(places=(first, *_)):
            return first.name.text == NOWHERE
        case _:
            return False


def blamed(s: tree.Statement) -> Span:
    """Where complaints about a statement point: its resource if it names one, else its beginning."""
    match s:
        case tree.Run(places=(first, *_)):
            return first.at
        case tree.Hold(parts=(first, *_)):
            return first.place.at
        case tree.Amount(place=place) | tree.GiveBack(place=place):
            return place.at
        case _:
            return s.at


def lower_run(s: tree.Run, side: Side, x: Expressions) -> Sequence[Statement]:
    """Work at one stage, or at several together."""
    if not s.places:
        x.complaints.say("SQ0352", s.at)
        return (nowhere(s.at),)
    here, blame = side.standing(), s.places[0].at
    places = [x.place(place, "stage", here) for place in s.places]
    found = tuple(place for place in places if place is not None)
    if len(found) < len(places):
        x.lower(s.work, here)
        return (nowhere(s.at),)
    work = x.cost_of(s.work, frozenset(p.name for p in found), side.standing(blame=blame))
    growing = None if s.growing is None else x.place(s.growing, "pool", here)
    mode = None if s.mode is None else s.mode.text
    plain = next((p for p in found if x.names.stages[p.name].kind != "engine"), None)
    if plain is not None and mode is not None:
        x.complaints.say("SQ0331", blame, stage=plain.name, mode=mode)
    elif plain is not None and growing is not None:
        x.complaints.say("SQ0332", blame, stage=plain.name)
        growing = None
    elif plain is None and mode is None and len(found) == 1:
        x.complaints.say("SQ0330", blame, engine=found[0].name)
    return (Run(found, mode, work, growing, at=s.at),)


def lower_amount(s: tree.Amount, side: Side, x: Expressions) -> Sequence[Statement]:
    """`grow` or `load`."""
    place = x.place(s.place, "pool", side.standing())
    if place is None:
        x.lower(s.amount, side.standing())
        return ()
    inside = side.standing(blame=s.place.at)
    amount = x.cost_of(s.amount, frozenset({place.name}), inside)
    return ((Grow if s.verb == "grow" else Load)(place, amount, at=s.at),)


def lower_choose(s: tree.Choose, side: Side, x: Expressions) -> Sequence[Statement]:
    """The keys are read with the name bound to each index in turn."""
    here = side.standing()
    count = x.plain(s.count, here)
    keys = tuple(x.plain(key, here) for key in s.keys)
    name = s.name.text
    if name == NOWHERE:
        return ()
    if check_owner(s.name, s.at, side, x):
        note_kind(name, Typed(count), s.at, x)
    return (Choose(name, count, keys, at=s.at),)


def lower_plain(s: tree.Plain, side: Side, x: Expressions) -> Sequence[Statement]:
    """`turn;`, `end;` or `join;`."""
    match s.verb:
        case "turn":
            if side.name == "session":
                return (Turn(at=s.at),)
            x.complaints.say("SQ0353", s.at)
            return ()
        case "end":
            return (End(at=s.at),)
        case _:
            return (Join(at=s.at),)


def unknown_use(s: tree.Use, x: Expressions) -> Sequence[Statement]:
    """A statement that calls something that is no definition."""
    name = s.name.text
    if name in x.names.engines:
        note = Note(f"`{name}` is declared here", x.names.engines[name].at)
        x.complaints.say("SQ0296", s.at, engine=name, notes=[note])
    elif name != NOWHERE:
        x.complaints.unknown("SQ0233", name, s.at, x.names.definitions)
    return (nowhere(s.at),)
