"""What a name means where it is read."""

from __future__ import annotations

from attrs import define

from serq.check.complaints import Complaints
from serq.check.names import Names, Resource
from serq.check.show import article
from serq.check.standing import WRONG, Standing, Typed
from serq.check.trees import NOWHERE
from serq.check.words import BUILT_IN, SUPPLIED
from serq.diagnostics import Note
from serq.ir.expr import Attr, Local, LoopName, Num, RegisterRead, Var
from serq.ir.moments import VARIABLES, Moment
from serq.source import Span
from serq.syntax import tree

LARGEST = 200_000
"""Parts that a program may have, definitions and time resources written out."""

_LISTS = ("running", "waiting", "batch")


@define
class Resolver:
    """Finds the meaning of names in one program.

    written: parts of the program so far, a name that stands for an expression counting as all of it.
    overfull: they are too many, and it was said.
    """

    names: Names
    complaints: Complaints
    written: int = 0
    overfull: bool = False

    def reference(self, e: tree.Reference, here: Standing) -> Typed:
        """What a reference means as a value."""
        name = e.name.text
        if name == NOWHERE:
            return WRONG
        if e.member is not None:
            return self.member(e, here)
        if e.index is not None:
            self.complaints.say("SQ0303", e.at, name=name)
            return WRONG
        return self.name(e, here)

    def name(self, e: tree.Reference, here: Standing) -> Typed:
        """What a bare name means, the nearest meaning first."""
        name, at, names = e.name.text, e.at, self.names
        if name in here.bound:
            return self.bound(name, at, here)
        if name in here.names:
            return Typed(LoopName(name, at=at))
        if name in here.requests:
            self.complaints.say("SQ0265", at, name=name)
            return WRONG
        if name == "inf":
            return Typed(Num(float("inf"), at=at))
        if here.moment is Moment.CONST:
            return self.constant_name(name, at, here)
        if name in here.locals:
            return Typed(Local(name, at=at))
        value = names.constants.get(name)
        if value is not None:
            return constant(value, at)
        if name in names.registers and names.registers[name].size is not None:
            self.complaints.say("SQ0257", at, name=name, what="an array of registers")
            return WRONG
        if name in names.registers:
            return Typed(RegisterRead(names.registers[name].engine, name, at=at))
        if name in names.records:
            self.complaints.say("SQ0314", at, name=name, part=names.records[name][0])
            return WRONG
        if name in names.attributes or name in BUILT_IN:
            return Typed(Attr(name, at=at), names.costs.get(name))
        if name in VARIABLES:
            return Typed(Var(name, at=at))
        return self.unknown_name(name, at, here)

    def bound(self, name: str, at: Span, here: Standing) -> Typed:
        """What a name stands for here; repeated readings of it count."""
        bound = here.bound[name]
        self.written += bound.size
        return WRONG if self.is_overfull(name, at) else bound.value

    def is_overfull(self, name: str, at: Span) -> bool:
        """Whether what was written out is too much; says so once."""
        if self.written > LARGEST and not self.overfull:
            self.overfull = True
            self.complaints.say("SQ0560", at, name=name, limit=LARGEST)
        return self.overfull

    def constant_name(self, name: str, at: Span, here: Standing) -> Typed:
        """A name within a constant: a constant of an earlier line."""
        value = self.names.constants.get(name, here.order)
        if value is not None:
            return constant(value, at)
        known = self.names.constants
        if self.names.lists.get(name) is not None:
            self.complaints.say("SQ0257", at, name=name, what="a list")
        elif known.get(name) is not None:
            note = Note(f"`{name}` is declared here", known.place(name))
            self.complaints.say("SQ0204", at, name=name, notes=[note], help="move its `let` above")
        elif name in SUPPLIED or name in BUILT_IN or name in self.names.attributes:
            self.complaints.say("SQ0431", at, name=name)
        else:
            self.complaints.unknown("SQ0204", name, at, known.places())
        return WRONG

    def unknown_name(self, name: str, at: Span, here: Standing) -> Typed:
        """Say what is wrong with a name that has no value."""
        names = self.names
        known: dict[str, Span | None] = {
            **names.constants.places(),
            **names.attributes,
            **{register: where.at for register, where in names.registers.items()},
            **dict.fromkeys(here.bound),
            **dict.fromkeys(here.names),
            **dict.fromkeys(here.locals),
        }
        resource = names.resource(name)
        if name in names.lists.history:
            self.complaints.say("SQ0257", at, name=name, what="a list")
        elif name in names.tags:
            engine = names.tags[name].engine
            note = Note("it is declared here", names.tags[name].at)
            self.complaints.say("SQ0462", at, name=name, engine=engine, other=None, notes=[note])
        elif resource is not None:
            what = "pool" if resource.is_pool else "stage"
            reads = f"used({name})" if resource.is_pool else f"queue({name})"
            self.complaints.say("SQ0304", at, name=name, what=what, reads=reads)
        elif name in names.times():
            self.complaints.say("SQ0305", at, name=name)
        elif name in names.bindings:
            note = Note("it is bound here", names.bindings[name])
            self.complaints.say("SQ0362", at, name=name, notes=[note])
        elif name in _LISTS:
            self.complaints.say("SQ0206", at, member="", name=name, members=members(name))
        elif here.engine in names.engines and name in names.engines[here.engine].lets:
            place = names.engines[here.engine].lets[name]
            if place is not None:
                self.complaints.say("SQ0412", at, name=name, notes=[Note("it is declared here", place)])
        else:
            known.update(dict.fromkeys(v for v, d in VARIABLES.items() if here.moment in d.moments))
            self.complaints.unknown("SQ0201", name, at, known)
        return WRONG

    def member(self, e: tree.Reference, here: Standing) -> Typed:
        """`running.count`, a part of a cost record, or what a queue's entry sets."""
        assert e.member is not None
        name, member = e.name.text, e.member.text
        full = f"{name}.{member}"
        if here.moment is Moment.CONST:
            self.complaints.say("SQ0431", e.at, name=full)
            return WRONG
        if name in _LISTS:
            if full in VARIABLES:
                return Typed(Var(full, at=e.at))
            self.complaints.say("SQ0206", e.member.at, member=member, name=name, members=members(name))
            return WRONG
        if name in self.names.records:
            if member in self.names.records[name]:
                return Typed(Attr(full, at=e.at), frozenset({member}))
            parts = dict.fromkeys(self.names.records[name])
            self.complaints.unknown("SQ0315", member, e.member.at, parts, record=name)
            return WRONG
        if full in self.names.attributes:
            return Typed(Attr(full, at=e.at), self.names.costs.get(full))
        self.complaints.say("SQ0207", e.at, name=full, owner=name, member=member)
        return WRONG

    # ---------------------------------------------------------------- resources

    def resource(self, e: tree.Reference, wanted: str) -> Resource | None:
        """The pool, stage or engine that a reference names (its index is not looked at)."""
        name = e.name.text
        if name == NOWHERE:
            return None
        full = name if e.member is None else f"{name}.{e.member.text}"
        found = self.names.resource(full)
        if found is not None:
            if wanted in ("pool", "pool or stage") and found.is_pool:
                return found
            if wanted in ("stage", "pool or stage") and not found.is_pool:
                return found
            if wanted == "engine" and found.kind == "engine":
                return found
            what = "a pool" if found.is_pool else f"a {found.kind} stage"
            what = "an engine" if found.kind == "engine" else what
            note = Note(f"`{full}` is declared here", found.at)
            self.complaints.say("SQ0308", e.at, name=full, what=what, wanted=article(wanted), notes=[note])
            return None
        known: dict[str, Span | None] = {}
        if wanted in ("pool", "pool or stage"):
            known.update({n: r.at for n, r in self.names.pools.items()})
        if wanted != "pool":
            known.update({n: r.at for n, r in self.names.stages.items()})
        if e.name.text in self.complaints.skipped:
            return None
        self.complaints.unknown("SQ0203", full, e.at, known, kind=wanted)
        return None

    def check_supplied(self, name: tree.Name, kind: str) -> None:
        """Refuse a name that the language supplies."""
        if name.text in SUPPLIED:
            self.complaints.say("SQ0221", name.at, kind=kind, name=name.text)


def members(name: str) -> str:
    """What `running.`, `waiting.` or `batch.` can be followed by."""
    found = [v.partition(".")[2] for v in VARIABLES if v.startswith(f"{name}.")]
    return ", ".join(f"`{m}`" for m in found)


def constant(value: float, at: Span) -> Typed:
    """A constant where it is read; about one that has no value something was said."""
    return WRONG if value != value else Typed(Num(value, at=at))
