"""What a hold takes, what may be done inside it, and which member of a family it means."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from attrs import frozen

from serq.check.complaints import Complaints
from serq.check.readings import statements_in, statements_of
from serq.diagnostics import Note
from serq.ir.expr import Attr, Draw, Expr, Observable, Place, RegisterRead, Var, walk
from serq.ir.pool import Pool
from serq.ir.program import Program
from serq.ir.server import (
    Block,
    Choose,
    Fork,
    Grow,
    Hold,
    Load,
    Release,
    Run,
    Set,
    Statement,
    blocks_of,
)


def check_holds(program: Program, complaints: Complaints) -> None:
    """Complain about holds, and about statements that act on one and stand outside of it."""
    leases = frozenset(
        s.lease[0] for s in statements_of(program) if isinstance(s, Hold) and s.lease is not None
    )
    pools = {pool.name: pool for pool in program.pools}
    walk_holds = HoldPaths(leases, pools, complaints)
    blocks = [program.server]
    if program.workload is not None:
        blocks.insert(0, program.workload.session)
    for block in blocks:
        walk_holds.block(block, ())
        check_stale(block, {}, complaints)


@frozen
class HoldPaths:
    """The walk over the holds; `around` are the holds that a statement is inside, outermost first.

    leases: the pools that some hold leases.
    """

    leases: frozenset[Place]
    pools: Mapping[str, Pool]
    complaints: Complaints

    def block(self, block: Iterable[Statement], around: tuple[Hold, ...]) -> None:
        for s in block:
            self.statement(s, around)
            match s:
                case Hold(body=body):
                    self.block(body, (*around, s))
                case Fork(body=body):
                    # a leg acts on its own holds only
                    self.block(body, ())
                case _:
                    for inner in blocks_of(s):
                        self.block(inner, around)

    def statement(self, s: Statement, around: tuple[Hold, ...]) -> None:
        match s:
            case Grow(place=place):
                self.inside("grow", place, place, around)
            case Load(place=place):
                self.inside("load", place, place, around)
            case Release(place=place):
                if place not in self.leases:
                    self.inside("release", place, place, around)
            case Run(growing=Place() as place, places=places):
                self.inside("growing", place, places[0] if places else place, around)
            case Hold():
                self.hold(s)
            case _:
                pass

    def inside(self, verb: str, place: Place, blame: Place, around: tuple[Hold, ...]) -> None:
        """The statement must stand inside a hold of the same reference."""
        if not place.name:
            return
        for hold in reversed(around):
            for part in hold.parts:
                if part.place == place:
                    if not is_fixed(part.place.index):
                        self.complaints.say("SQ0588", blame.at, verb=verb, pool=place.name)
                    return
        near = [part.at for hold in around for part in hold.parts if part.place.name == place.name]
        if near:
            notes = [Note("the hold is here", near[-1])] if near[-1] is not None else []
            self.complaints.missing("SQ0581", blame.at, verb=verb, pool=place.name, notes=notes)
        else:
            self.complaints.missing("SQ0580", blame.at, verb=verb, pool=place.name)

    def hold(self, s: Hold) -> None:
        first = s.parts[0].at if s.parts else s.at
        held = [part.place for part in s.parts]
        for i, place in enumerate(held):
            if place.name and place in held[:i]:
                self.complaints.say("SQ0582", first, pool=place.name)
        if s.lease is not None and s.lease[0] not in held:
            self.complaints.say("SQ0583", first, pool=s.lease[0].name)
        if s.reuse is not None and s.cache is None:
            self.complaints.missing("SQ0585", s.reuse.at)
        changed = set(assigned_in(s.body))
        for part in s.parts:
            index = part.place.index
            if index is None:
                continue
            for name in sorted(reads(index) & changed):
                self.complaints.say("SQ0587", part.at, pool=part.place.name, name=name)
            pool = self.pools.get(part.place.name)
            if pool is not None and pool.preempt is not None and not is_fixed(index):
                self.complaints.say("SQ0589", part.at, pool=pool.name)


def reads(e: Expr) -> set[str]:
    """The attributes that an expression reads."""
    return {node.name for node in walk(e) if isinstance(node, Attr)}


def is_fixed(index: Expr | None) -> bool:
    """Whether an index names the same member whenever it is read: attributes and numbers only."""
    moving = (Observable, Var, Draw, RegisterRead)
    return index is None or not any(isinstance(node, moving) for node in walk(index))


def assigned_in(block: Block) -> Iterator[str]:
    """The attributes that statements of a block, or blocks in it, assign."""
    for s in statements_in(block):
        match s:
            case Set(attribute=name) | Choose(attribute=name):
                yield name
            case _:
                pass


# -------------------------------------------------------------------- stale state in a header


def check_stale(block: Block, taken: dict[str, str], complaints: Complaints) -> None:
    """A header is about the moment of admission: it must not read live state taken before.

    taken: attributes that hold live state as it was, with what they read; updated on the way through
    the block. Only what a `set` takes directly is looked at, and a name that a block inside assigns
    is not followed further.
    """
    for s in block:
        match s:
            case Set(attribute=name, value=value):
                state = next((n for n in walk(value) if isinstance(n, Observable)), None)
                taken.pop(name, None)
                if state is not None:
                    taken[name] = f"{state.function}({state.place.name})"
            case Choose(attribute=name):
                taken.pop(name, None)
            case Hold():
                check_header(s, taken, complaints)
                check_stale(s.body, {}, complaints)
                forget(taken, s)
            case _:
                forget(taken, s)
                for body in blocks_of(s):
                    check_stale(body, dict(taken), complaints)


def forget(taken: dict[str, str], s: Statement) -> None:
    """Forget the names that the blocks in `s` may assign."""
    for body in blocks_of(s):
        for name in assigned_in(body):
            taken.pop(name, None)


def check_header(s: Hold, taken: Mapping[str, str], complaints: Complaints) -> None:
    """Complain about a header, or a `cache`, that reads one of the names."""
    pools = ", ".join(f"`{part.place.name}`" for part in s.parts)
    header = [e for part in s.parts for e in (part.units, part.reserve)]
    for e in (*header, s.reuse, s.cache):
        if e is None:
            continue
        for node in walk(e):
            if isinstance(node, Attr) and node.name in taken:
                complaints.say("SQ0586", node.at, name=node.name, reads=taken[node.name], pools=pools)
