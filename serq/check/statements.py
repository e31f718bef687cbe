"""Statements of server and client become blocks of the program."""

from __future__ import annotations

from collections.abc import Sequence

from attrs import evolve, field, frozen

from serq.check import fold
from serq.check.expand import NOWHERE
from serq.check.expressions import Bound, Expressions, Standing, Typed
from serq.check.words import BUILT_IN
from serq.diagnostics import Note
from serq.ir.expr import Attr, Draw, Expr, Num, Place, walk
from serq.ir.moments import BUILT_IN_SIZES, Moment
from serq.ir.server import (
    Binding,
    Block,
    Branch,
    Choose,
    Drop,
    End,
    Fork,
    Grow,
    Hold,
    HoldPart,
    Join,
    Load,
    Loop,
    Observe,
    Release,
    Run,
    Set,
    Statement,
    Turn,
    While,
)
from serq.source import Span
from serq.syntax import tree


@frozen
class Side:
    """Whose statements these are.

    name: "server", "session", "init" or "turn". stages_above: `tool` and `transfer` look among the
    stages declared above the block. holds: the names of `at admission` readable here.
    """

    name: str
    order: int
    bound: dict[str, Bound] = field(factory=dict)

    @property
    def is_workload(self) -> bool:
        return self.name != "server"

    def standing(self, moment: Moment = Moment.SESSION, blame: Span | None = None) -> Standing:
        return Standing(moment, self.order, bound=self.bound, blame=blame)


def lower_block(block: tree.Block | None, side: Side, x: Expressions) -> Block:
    """The statements of a block, in order."""
    if block is None:
        return ()
    statements: list[Statement] = []
    for s in block.statements:
        statements.extend(lower_statement(s, side, x))
    return tuple(statements)


def lower_statement(s: tree.Statement, side: Side, x: Expressions) -> Sequence[Statement]:
    """What one statement becomes; several for the ones that are written out."""
    here = side.standing()
    if side.name in ("init", "turn") and not isinstance(s, tree.Assign):
        if not (isinstance(s, tree.Run) and s.places and s.places[0].name.text == NOWHERE):
            x.complaints.say("SQ0350", blamed(s), block=side.name)
        return ()
    match s:
        case tree.Assign(verb="observe"):
            return (Observe(s.name.text, x.lower(s.value, here).expr, at=s.at),)
        case tree.Assign():
            return lower_set(s, side, x)
        case tree.CostRecord():
            return lower_record(s, side, x)
        case tree.Run():
            return lower_run(s, side, x)
        case tree.Hold():
            return lower_hold(s, side, x)
        case tree.Amount(place=place, amount=amount, verb=verb):
            found = x.place(place, "pool", here)
            if found is None:
                x.lower(amount, here)
                return ()
            cost = x.cost_of(amount, frozenset({found.name}), side.standing(blame=place.at))
            kind = Grow if verb == "grow" else Load
            return (kind(found, cost, at=s.at),)
        case tree.GiveBack(place=place, verb=verb):
            found = x.place(place, "pool", here)
            if found is None:
                return ()
            return (Drop(found, at=s.at) if verb == "drop" else Release(found, at=s.at),)
        case tree.Branch(drawn=drawn, test=test, then=then, otherwise=otherwise):
            guard = lower_guard(test, side, x)
            if drawn and not fold.is_poison(guard):
                guard = Draw("bernoulli", (guard,), at=test.at)
            blocks = lower_block(then, side, x), lower_block(otherwise, side, x)
            return (Branch(guard, *blocks, at=s.at),)
        case tree.While(test=test, body=body):
            return (While(lower_guard(test, side, x), lower_block(body, side, x), at=s.at),)
        case tree.Loop(body=body):
            return (Loop(lower_block(body, side, x), at=s.at),)
        case tree.Choose():
            return lower_choose(s, side, x)
        case tree.Fork(body=body):
            return (Fork(lower_block(body, side, x), at=s.at),)
        case tree.Plain(verb=verb):
            return lower_plain(s, side, x)
        case tree.Mark():
            x.complaints.say("SQ0351", s.at)
            return ()
        case tree.Tool():
            return lower_tool(s, side, x)
        case tree.Transfer():
            return lower_transfer(s, side, x)
        case tree.Use():
            return unknown_use(s, x)
        case tree.Entry():
            x.complaints.say("SQ0901", s.at, construct="a queue's entry")
            return (nowhere(s.at),)


def nowhere(at: Span) -> Run:
    """A run at a place about which a complaint was made; time passes in it."""
    return Run((Place(NOWHERE, at=at),), None, fold.POISON, at=at)


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


# -------------------------------------------------------------------- assignments


def lower_set(s: tree.Assign, side: Side, x: Expressions) -> Sequence[Statement]:
    """`set`, `Size` and `Cost` of a single value."""
    name = s.name.text
    if s.verb == "Size" and not side.is_workload:
        x.complaints.say("SQ0321", s.name.at, name=name)
    value = x.lower(s.value, side.standing())
    if name == NOWHERE:
        return ()
    if not check_owner(s, side, x):
        return (Set(name, value.expr, at=s.at),)
    if name in x.names.bindings:
        other = Note("it is bound here", x.names.bindings[name])
        x.complaints.say(
            "SQ0228", s.name.at, kind="attribute", name=name, other="bound at admission", notes=[other]
        )
    if value.wrong:
        return (Set(name, value.expr, at=s.at),)
    if value.cost is not None and side.name in ("init", "turn"):
        x.complaints.say("SQ0322", s.value.at, block=side.name)
        return ()
    if s.verb == "Cost" and value.cost is None:
        x.complaints.say("SQ0323", s.value.at, name=name)
        return (Set(name, fold.POISON, at=s.at),)
    note_kind(name, value, s.value.at, x)
    return (Set(name, value.expr, at=s.at),)


def check_owner(s: tree.Assign, side: Side, x: Expressions) -> bool:
    """The workload owns sizes, the scheduler `cached` and `computed`."""
    name = s.name.text
    if side.is_workload and name in ("cached", "computed"):
        x.complaints.say("SQ0324", s.at, name=name)
        return False
    if not side.is_workload and (
        name in BUILT_IN_SIZES or "workload" in x.names.sides.get(name, ())
    ):
        first = x.names.attributes.get(name)
        notes = [] if first is None else [Note(f"`{name}` is first assigned here", first)]
        x.complaints.say("SQ0320", s.at, name=name, notes=notes)
        return False
    return True


def note_kind(name: str, value: Typed, at: Span, x: Expressions) -> None:
    """Keep what kind of value an attribute holds: the same at every assignment."""
    kinds = x.names.kinds
    if name in kinds and kinds[name][0] != value.cost:
        note = Note("the other assignment is here", kinds[name][1])
        x.complaints.say("SQ0325", at, name=name, notes=[note])
        return
    if name not in kinds and value.cost is not None and name in x.names.read_plain:
        note = Note("it is read as a plain quantity here", x.names.read_plain[name])
        x.complaints.say("SQ0326", x.names.read_plain[name], name=name)
    kinds.setdefault(name, (value.cost, at))
    if value.cost is not None:
        x.names.costs[name] = value.cost


def lower_record(s: tree.CostRecord, side: Side, x: Expressions) -> Sequence[Statement]:
    """`Cost x = { R: e, S: e };`: one cost per resource, evaluated in the written order."""
    statements: list[Statement] = []
    seen: set[str] = set()
    if side.name in ("init", "turn"):
        x.complaints.say("SQ0322", s.at, block=side.name)
        return ()
    for resource, e in s.parts:
        reference = tree.Reference(resource, None, None, resource.at)
        found = x.resource(reference, "pool or stage", side.standing())
        value = x.plain(e, side.standing())
        if resource.text in seen:
            x.complaints.say("SQ0210", resource.at, kind="part of the cost", name=resource.text)
            continue
        seen.add(resource.text)
        if found is None:
            continue
        full = f"{s.name.text}.{resource.text}"
        note_kind(full, Typed(value, frozenset({found.name})), e.at, x)
        statements.append(Set(full, value, at=s.at))
    return statements


# -------------------------------------------------------------------- work


def lower_run(s: tree.Run, side: Side, x: Expressions) -> Sequence[Statement]:
    """Work at one stage, or at several together."""
    here = side.standing()
    if not s.places:
        x.complaints.say("SQ0352", s.at)
        return (nowhere(s.at),)
    if s.places[0].name.text == NOWHERE:
        return (nowhere(s.at),)
    blame = s.places[0].at
    places = [x.place(place, "stage", here) for place in s.places]
    found = [place for place in places if place is not None]
    if len(found) < len(places):
        x.lower(s.work, here)
        return (nowhere(s.at),)
    growing = None if s.growing is None else x.place(s.growing, "pool", here)
    engines = [p for p in found if x.names.stages[p.name].kind == "engine"]
    stages = frozenset(p.name for p in found)
    if len(found) > 1:
        check_flow(s, found, x)
    elif engines and s.mode is None:
        x.complaints.say("SQ0330", blame, engine=found[0].name)
    elif not engines and s.mode is not None:
        x.complaints.say("SQ0331", blame, stage=found[0].name, mode=s.mode.text)
    if s.growing is not None and not engines:
        x.complaints.say("SQ0332", blame, stage=found[0].name)
    work = x.cost_of(s.work, stages, side.standing(blame=blame))
    mode = None if s.mode is None else s.mode.text
    return (Run(tuple(found), mode, work, growing, at=s.at),)


def check_flow(s: tree.Run, places: Sequence[Place], x: Expressions) -> None:
    """A run over several stages holds each once, and all of them share their capacity."""
    names = [p.name for p in places]
    for i, (name, written) in enumerate(zip(names, s.places, strict=True)):
        kind = x.names.stages[name].kind
        if name in names[:i]:
            x.complaints.say("SQ0333", written.at, stage=name)
        if kind != "ps":
            x.complaints.say("SQ0334", written.at, stage=name, kind=kind)


def lower_guard(test: tree.Expr, side: Side, x: Expressions) -> Expr:
    return x.plain(test, side.standing())


def lower_choose(s: tree.Choose, side: Side, x: Expressions) -> Sequence[Statement]:
    """The keys are read with the name bound to each index in turn."""
    here = side.standing()
    n = x.plain(s.count, here)
    name = s.name.text
    if name == NOWHERE:
        return ()
    if not side.is_workload and "workload" in x.names.sides.get(name, ()):
        x.complaints.say("SQ0320", s.at, name=name)
    note_kind(name, Typed(n), s.at, x)
    keys = tuple(x.plain(key, here) for key in s.keys)
    return (Choose(name, n, keys, at=s.at),)


def lower_plain(s: tree.Plain, side: Side, x: Expressions) -> Sequence[Statement]:
    match s.verb:
        case "turn":
            if side.name != "session":
                x.complaints.say("SQ0353", s.at)
            return (Turn(at=s.at),)
        case "end":
            return (End(at=s.at),)
        case _:
            return (Join(at=s.at),)


def unknown_use(s: tree.Use, x: Expressions) -> Sequence[Statement]:
    """A statement that calls something that is no definition."""
    name = s.name.text
    if name in x.names.engines:
        x.complaints.say("SQ0901", s.at, construct="calling an engine")
    elif name != NOWHERE:
        x.complaints.unknown("SQ0233", name, s.at, x.names.definitions)
    return (nowhere(s.at),)


# -------------------------------------------------------------------- tool and transfer


def find_stage(s: tree.Tool | tree.Transfer, role: str, side: Side, x: Expressions) -> list[
    tree.Reference
] | None:
    """Where a `tool` or `transfer` runs: as written, or the one stage of that name declared above."""
    if s.where is not None and s.where.places:
        return list(s.where.places)
    names = ("tool",) if role == "tool" else ("link", "transfer")
    above = [
        n for n in names if n in x.names.stages and x.names.stages[n].order < side.order
    ]  # fmt: skip
    if len(above) != 1:
        code = "SQ0340" if not above else "SQ0341"
        stages = " or ".join(f"`{n}`" for n in names)
        x.complaints.say(code, s.at, statement=role, stages=stages)
        return None
    index = None if s.where is None else s.where.index
    return [tree.Reference(tree.Name(above[0], s.at), index, None, s.at)]


def lower_tool(s: tree.Tool, side: Side, x: Expressions) -> Sequence[Statement]:
    """`tool x;` is a run at the tool's stage with x as its work."""
    return run_at(s, "tool", side, x)


def run_at(
    s: tree.Tool | tree.Transfer, role: str, side: Side, x: Expressions
) -> Sequence[Statement]:
    here = side.standing()
    amount = x.plain(s.amount, here)
    written = find_stage(s, role, side, x)
    if written is None:
        return (nowhere(s.at),)
    places = [x.place(place, "stage", here) for place in written]
    found = tuple(place for place in places if place is not None)
    if len(found) < len(places):
        return (nowhere(s.at),)
    for place in found:
        if x.names.stages[place.name].kind == "engine":
            x.complaints.say("SQ0342", s.at, statement=role, engine=place.name)
            return (nowhere(s.at),)
    return (Run(found, None, amount, at=s.at),)


def lower_transfer(s: tree.Transfer, side: Side, x: Expressions) -> Sequence[Statement]:
    """`transfer (x) from P to Q (n);`: a run at the link, a load of Q, a release of P."""
    here = side.standing()
    run = run_at(s, "transfer", side, x)
    source, target = x.place(s.source, "pool", here), x.place(s.target, "pool", here)
    load = x.plain(s.load, here)
    if source is None or target is None:
        return run
    return (*run, Load(target, load, at=s.at), Release(source, at=s.at))


# -------------------------------------------------------------------- holds


def lower_hold(s: tree.Hold, side: Side, x: Expressions) -> Sequence[Statement]:
    """A hold: its header with the names of `at admission` written out, and its body."""
    here = side.standing(blame=s.parts[0].place.at)
    bound, bindings = lower_bindings(s, side, x)
    header = evolve(here, moment=Moment.ADMIT, bound={**side.bound, **bound})
    parts: list[HoldPart] = []
    for part in s.parts:
        place = x.place(part.place, "pool", here)
        inside = evolve(header, blame=part.place.at)
        if place is None:
            x.lower(part.units, inside)
            if part.reserve is not None:
                x.lower(part.reserve, inside)
            continue
        pool = frozenset({place.name})
        units = x.cost_of(part.units, pool, inside)
        reserve = None if part.reserve is None else x.cost_of(part.reserve, pool, inside)
        parts.append(HoldPart(place, units, reserve, at=part.place.at))
    pools = frozenset(part.place.name for part in parts)
    reuse = cache = None
    if s.reuse is not None:
        reuse = clause(s.reuse, pools, header, x)
    body_side = evolve(side, bound={**side.bound, **readable(bindings, bound, s)})
    body = lower_block(s.body, body_side, x)
    if s.cache is not None:
        cache = clause(s.cache, pools, evolve(body_side.standing(), blame=here.blame), x)
    lease = None
    if s.lease is not None:
        place = x.place(s.lease[0], "pool", here)
        time = x.plain(s.lease[1], evolve(body_side.standing(), blame=here.blame))
        lease = None if place is None else (place, time)
    if len(parts) < len(s.parts):
        return (nowhere(s.at), *body)
    return (Hold(tuple(parts), body, reuse, bindings, cache, lease, at=s.at),)


def clause(e: tree.Expr, pools: frozenset[str], here: Standing, x: Expressions) -> Expr:
    """A `cache` or `reuse`: a cost of all the hold's pools together."""
    return x.cost_of(e, pools, here) if pools else x.lower(e, here).expr


def lower_bindings(
    s: tree.Hold, side: Side, x: Expressions
) -> tuple[dict[str, Bound], tuple[Binding, ...]]:
    """The names of `at admission`, each seeing the ones before it."""
    bound: dict[str, Bound] = {}
    bindings: list[Binding] = []
    later = {name.text for name, _ in s.bindings}
    read = set(names_read(s))
    for name, e in s.bindings:
        ahead = {n: Bound(Typed(fold.POISON)) for n in later - set(bound)}
        here = evolve(side.standing(Moment.ADMIT), bound={**side.bound, **ahead, **bound})
        for node in later_reads(e, later - set(bound)):
            x.complaints.say("SQ0361", name.at, name=name.text, reads=node)
        value = x.plain(e, evolve(here, blame=name.at))
        kept = name.text in read and is_kept(value)
        if name.text in read and not kept and not fold.is_poison(value):
            x.complaints.say("SQ0360", name.at, name=name.text)
        size = sum(1 for _ in walk(value))
        bound[name.text] = Bound(Typed(value), size)
        bindings.append(Binding(name.text, value, kept, at=name.at))
    return bound, tuple(bindings)


def later_reads(e: tree.Expr, later: set[str]) -> list[str]:
    from serq.check.expand import reads

    return [name for name in reads(e) if name in later]


def names_read(s: tree.Hold) -> list[str]:
    """The names that the body, the `cache` and the `lease` of a hold read."""
    from serq.check.expand import reads

    return [*reads(s.body), *reads(s.cache), *(reads(s.lease[1]) if s.lease is not None else ())]


def is_kept(value: Expr) -> bool:
    """Whether a binding may be read in the body: it reads attributes and numbers only."""
    return all(isinstance(node, Num | Attr) or _plain(node) for node in walk(value))


def _plain(node: Expr) -> bool:
    from serq.ir.expr import Binary, Conditional, Fold, Func, Unary

    return isinstance(node, Binary | Conditional | Fold | Func | Unary)


def readable(
    bindings: tuple[Binding, ...], bound: dict[str, Bound], s: tree.Hold
) -> dict[str, Bound]:
    """What the names of `at admission` mean in the body."""
    return {
        b.name: Bound(Typed(Attr(b.name, at=b.at) if b.kept else fold.POISON)) for b in bindings
    }


__all__ = ["BUILT_IN", "Side", "lower_block"]
