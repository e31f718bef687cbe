"""Expressions of the tree become expressions of the program.

Names are resolved, constants folded, aggregates and time resources written out, and the kind of
each value decided: a plain quantity, or a cost of certain resources. Whether a name may be read at
its moment is for `serq.check.moments` to say.
"""

from __future__ import annotations

from collections.abc import Mapping

from attrs import define, evolve, field, frozen

from serq.check import fold
from serq.check.complaints import Complaints, used_at
from serq.check.expand import DEEPEST, LARGEST
from serq.check.fold import POISON, is_poison
from serq.check.names import Names, Resource
from serq.check.show import count, number
from serq.check.words import BUILT_IN, SUPPLIED
from serq.diagnostics import Note
from serq.ir.expr import Attr, Draw, Expr, Local, Num, Observable, Place, RegisterRead, Summary, Var, walk
from serq.ir.moments import (
    FUNCTIONS,
    LAWS,
    OBSERVABLES,
    POOL_OBSERVABLES,
    SUMMARIES,
    VARIABLES,
    Moment,
)
from serq.source import Span
from serq.syntax import tree

MOST_TERMS = 4096
"""Terms that the aggregates of a program may write out together."""

_LISTS = ("running", "waiting", "batch")
_KEEPS_COST = frozenset({"min", "max", "abs", "floor", "ceil"})
_ARGUMENTS = {"price": 3}


@frozen
class Typed:
    """An expression with its kind: a cost of some resources, or a plain quantity (None)."""

    expr: Expr
    cost: frozenset[str] | None = None

    @property
    def wrong(self) -> bool:
        return is_poison(self.expr)


WRONG = Typed(POISON)


@frozen
class Bound:
    """What a name stands for within an expression, with the size of it."""

    value: Typed
    size: int = 1


@frozen
class Standing:
    """Where an expression stands.

    order: the position of its item among the program's. engine: the engine whose clause it is.
    bound: names that stand for expressions here. locals: a schedule's `let`s. times: the device's
    time resources, in `execute` only. blame: where a complaint about costs goes, None for the place
    itself. pools, stages: names of a queue's own resources, by the name that its entries use.
    """

    moment: Moment
    order: int
    engine: str | None = None
    bound: Mapping[str, Bound] = field(factory=dict)
    locals: frozenset[str] = frozenset()
    times: Mapping[str, tree.TimeResource] = field(factory=dict)
    blame: Span | None = None


@define
class Expressions:
    """Lowers the expressions of one program."""

    names: Names
    complaints: Complaints
    terms: int = 0
    written: int = 0
    depth: int = 0

    # ---------------------------------------------------------------- entry points

    def plain(self, e: tree.Expr, here: Standing) -> Expr:
        """An ordinary quantity: not a cost."""
        value = self.lower(e, here)
        if value.cost is not None:
            self.complaints.say("SQ0312", here.blame or e.at)
            return POISON
        return value.expr

    def cost_of(self, e: tree.Expr, resources: frozenset[str], here: Standing) -> Expr:
        """An amount at resources: a cost of exactly them."""
        value = self.lower(e, here)
        if value.wrong:
            return POISON
        if value.cost != resources:
            wanted = ", ".join(sorted(resources))
            got = "a plain quantity" if value.cost is None else f"a cost of {shown(value.cost)}"
            self.complaints.say(
                "SQ0310", here.blame or e.at, wanted=shown(resources), got=got, resources=wanted
            )
            return POISON
        return value.expr

    def constant(self, e: tree.Expr, order: int) -> float | None:
        """A constant as known in item `order`; None when it is wrong, which is then already said."""
        value = self.lower(e, Standing(Moment.CONST, order))
        if value.cost is not None:
            self.complaints.say("SQ0312", e.at)
            return None
        return fold.constant(value.expr)

    # ---------------------------------------------------------------- one expression

    def lower(self, e: tree.Expr, here: Standing) -> Typed:
        """`e` with its kind; wrong ones come back as `WRONG`, already complained about."""
        self.depth += 1
        self.written += 1
        try:
            if self.depth > DEEPEST:
                self.complaints.say("SQ0561", e.at, limit=DEEPEST)
                return WRONG
            return self._lower(e, here)
        finally:
            self.depth -= 1

    def _lower(self, e: tree.Expr, here: Standing) -> Typed:
        match e:
            case tree.Number(value=value, at=at):
                return Typed(Num(value, at=at))
            case tree.Reference():
                return self.reference(e, here)
            case tree.Unary():
                return self.unary(e, here)
            case tree.Binary():
                return self.binary(e, here)
            case tree.Conditional():
                return self.conditional(e, here)
            case tree.Call():
                return self.call(e, here)
            case tree.Draw():
                return self.draw(e, here)
            case tree.Aggregate():
                return self.aggregate(e, here)

    def unary(self, e: tree.Unary, here: Standing) -> Typed:
        operand = self.lower(e.operand, here)
        if operand.wrong:
            return WRONG
        if operand.cost is not None and e.operator == "!":
            return self.mixed(e, here, f"`!` of a cost of {shown(operand.cost)}")
        return Typed(fold.unary(e.operator, operand.expr, e.at), operand.cost)

    def binary(self, e: tree.Binary, here: Standing) -> Typed:
        left, right = self.lower(e.left, here), self.lower(e.right, here)
        if left.wrong or right.wrong:
            return WRONG
        cost = left.cost
        if left.cost is not None or right.cost is not None:
            a, b = kind(left), kind(right)
            same = left.cost == right.cost
            match e.operator:
                case "+" | "-" if same:
                    cost = left.cost
                case "*" if left.cost is None or right.cost is None:
                    cost = left.cost if right.cost is None else right.cost
                case "/" if right.cost is None:
                    cost = left.cost
                case "<" | "<=" | ">" | ">=" | "==" | "!=" if same:
                    cost = None
                case _:
                    return self.mixed(e, here, f"{a} `{e.operator}` {b}")
        return Typed(fold.binary(e.operator, left.expr, right.expr, e.at), cost)

    def conditional(self, e: tree.Conditional, here: Standing) -> Typed:
        test = self.lower(e.test, here)
        then, otherwise = self.lower(e.then, here), self.lower(e.otherwise, here)
        if test.wrong or then.wrong or otherwise.wrong:
            return WRONG
        if test.cost is not None:
            return self.mixed(e, here, f"a test of {kind(test)}")
        if then.cost != otherwise.cost:
            return self.mixed(e, here, f"`? :` between {kind(then)} and {kind(otherwise)}")
        return Typed(fold.conditional(test.expr, then.expr, otherwise.expr, e.at), then.cost)

    def draw(self, e: tree.Draw, here: Standing) -> Typed:
        law = e.law.text
        if law not in LAWS:
            self.complaints.unknown("SQ0205", law, e.law.at, dict.fromkeys(LAWS))
            return WRONG
        if here.moment is Moment.CONST:
            self.complaints.say("SQ0430", e.at, law=law)
            return WRONG
        if not self.takes(f"~{law}", LAWS[law], len(e.arguments), e.at):
            return WRONG
        arguments = tuple(self.plain(a, here) for a in e.arguments)
        if any(is_poison(a) for a in arguments):
            return WRONG
        return Typed(Draw(law, arguments, at=e.at))

    def aggregate(self, e: tree.Aggregate, here: Standing) -> Typed:
        name = e.variable.text
        n = self.constant(e.bound, here.order)
        if n is None:
            return WRONG
        if not (n >= 1 and n == int(min(n, 1e9))):
            self.complaints.say("SQ0511", e.at, value=number(n))
            return WRONG
        if name in SUPPLIED:
            self.complaints.say("SQ0221", e.at, kind="aggregate's index", name=name)
            return WRONG
        if (taken := self.names.meaning(name)) is not None:
            self.complaints.say("SQ0226", e.at, name=name, what=taken)
            return WRONG
        self.terms += int(min(n, 1e9))
        if self.terms > MOST_TERMS:
            self.complaints.say("SQ0512", e.at, terms=self.terms, limit=MOST_TERMS)
            return WRONG
        terms = []
        for j in range(int(n)):
            bound = {**here.bound, name: Bound(Typed(Num(float(j), at=e.variable.at)))}
            terms.append(self.lower(e.body, evolve(here, bound=bound)))
            if terms[-1].wrong:
                return WRONG
        if any(t.cost != terms[0].cost for t in terms):
            return self.mixed(e, here, "terms of different kinds")
        folded = fold.aggregate(e.kind.text, [t.expr for t in terms], e.at)
        return Typed(folded, terms[0].cost)

    # ---------------------------------------------------------------- names

    def reference(self, e: tree.Reference, here: Standing) -> Typed:
        name = e.name.text
        if name == "":
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
        if name == "inf":
            return Typed(Num(float("inf"), at=at))
        if here.moment is Moment.CONST:
            return self.constant_name(name, at, here)
        if name in here.locals:
            return Typed(Local(name, at=at))
        value = names.constants.value(name)
        if value is not None:
            return Typed(Num(value, at=at))
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
        bound = here.bound[name]
        self.written += bound.size
        if self.written > LARGEST:
            self.complaints.say("SQ0560", at, name=name, limit=LARGEST)
            return WRONG
        return bound.value

    def constant_name(self, name: str, at: Span, here: Standing) -> Typed:
        value = self.names.constants.value(name, here.order)
        if value is not None:
            return Typed(Num(value, at=at))
        known = self.names.constants
        if known.value(name) is not None:
            note = Note(f"`{name}` is declared here", known.place(name))
            self.complaints.say("SQ0204", at, name=name, notes=[note], help="move its `let` above")
        elif name in SUPPLIED or name in BUILT_IN or name in self.names.attributes:
            self.complaints.say("SQ0431", at, name=name)
        else:
            self.complaints.unknown("SQ0204", name, at, known.places())
        return WRONG

    def unknown_name(self, name: str, at: Span, here: Standing) -> Typed:
        names = self.names
        known: dict[str, Span | None] = {
            **names.constants.places(),
            **names.attributes,
            **{register: where.at for register, where in names.registers.items()},
            **dict.fromkeys(here.bound),
            **dict.fromkeys(here.locals),
        }
        resource = names.resource(name)
        if resource is not None:
            what = "pool" if resource.is_pool else "stage"
            reads = f"used({name})" if resource.is_pool else f"queue({name})"
            self.complaints.say("SQ0304", at, name=name, what=what, reads=reads)
        elif name in names.times():
            self.complaints.say("SQ0305", at, name=name)
        elif name in _LISTS:
            self.complaints.say("SQ0206", at, member="", name=name, members=members(name))
        else:
            known.update(dict.fromkeys(v for v, d in VARIABLES.items() if here.moment in d.moments))
            self.complaints.unknown("SQ0201", name, at, known)
        return WRONG

    def member(self, e: tree.Reference, here: Standing) -> Typed:
        assert e.member is not None
        name, member = e.name.text, e.member.text
        full = f"{name}.{member}"
        if here.moment is Moment.CONST:
            self.complaints.say("SQ0431", e.at, name=full)
            return WRONG
        if name in _LISTS:
            if full in VARIABLES:
                return Typed(Var(full, at=e.at))
            self.complaints.say(
                "SQ0206", e.member.at, member=member, name=name, members=members(name)
            )
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

    # ---------------------------------------------------------------- calls

    def call(self, e: tree.Call, here: Standing) -> Typed:
        name = e.name.text
        if name in here.times:
            return self.time(e, here.times[name], here)
        if name in self.names.times():
            self.complaints.say("SQ0420", e.at, name=name)
            return WRONG
        if name == "cost":
            return self.cost(e, here)
        if name in FUNCTIONS:
            return self.function(e, here)
        if name in OBSERVABLES:
            return self.observable(e, here)
        if name in SUMMARIES:
            return self.summary(e, here)
        help = "a power is written `x ^ y`" if name == "pow" else None
        if help is not None:
            self.complaints.say("SQ0202", e.at, name=name, help=help)
        else:
            known = dict.fromkeys([*FUNCTIONS, *OBSERVABLES, *SUMMARIES, "cost"])
            self.complaints.unknown("SQ0202", name, e.at, known)
        return WRONG

    def function(self, e: tree.Call, here: Standing) -> Typed:
        name = e.name.text
        if not self.takes(name, FUNCTIONS[name], len(e.arguments), e.at):
            return WRONG
        arguments = [self.lower(a, here) for a in e.arguments]
        if any(a.wrong for a in arguments):
            return WRONG
        cost = arguments[0].cost
        if any(a.cost != cost for a in arguments):
            return self.mixed(e, here, f"`{name}` of {kind(arguments[0])} and {kind(arguments[1])}")
        if cost is not None and name not in _KEEPS_COST:
            return self.mixed(e, here, f"`{name}` of {kind(arguments[0])}")
        return Typed(fold.func(name, [a.expr for a in arguments], e.at), cost)

    def cost(self, e: tree.Call, here: Standing) -> Typed:
        if here.moment is Moment.CONST:
            self.complaints.say("SQ0431", e.at, name="cost(…)")
            return WRONG
        if len(e.arguments) < 2:
            self.complaints.say("SQ0306", e.at)
            return WRONG
        resources = []
        for argument in e.arguments[:-1]:
            if not isinstance(argument, tree.Reference):
                self.complaints.say("SQ0307", argument.at, function="cost", kind="pool or stage")
                return WRONG
            resource = self.resource(argument, "pool or stage", here)
            if resource is None:
                return WRONG
            if argument.index is not None and self.index(argument, resource, here) is None:
                return WRONG
            resources.append(resource.name)
        value = self.lower(e.arguments[-1], here)
        if value.wrong:
            return WRONG
        if value.cost is not None:
            return self.mixed(e, here, f"`cost` of {kind(value)}")
        return Typed(value.expr, frozenset(resources))

    def observable(self, e: tree.Call, here: Standing) -> Typed:
        name = e.name.text
        if here.moment is Moment.CONST:
            self.complaints.say("SQ0431", e.at, name=f"{name}(…)")
            return WRONG
        if not self.takes(name, _ARGUMENTS.get(name, 1), len(e.arguments), e.at):
            return WRONG
        wanted = "pool" if name in POOL_OBSERVABLES else "engine" if name == "budget_left" else "stage"
        first = e.arguments[0]
        if not isinstance(first, tree.Reference):
            self.complaints.say("SQ0307", e.at, function=name, kind=wanted)
            return WRONG
        place = self.place(first, wanted, here)
        arguments = tuple(self.plain(a, here) for a in e.arguments[1:])
        if place is None or any(is_poison(a) for a in arguments):
            return WRONG
        if name == "blocksize" and place.name not in self.names.blocks:
            self.complaints.say("SQ0522", first.at, name=place.name)
            return WRONG
        if name == "blocksize":
            return Typed(Num(self.names.blocks[place.name], at=e.at))
        return Typed(Observable(name, place, arguments, at=e.at))

    def summary(self, e: tree.Call, here: Standing) -> Typed:
        name = e.name.text
        if here.moment is Moment.CONST:
            self.complaints.say("SQ0431", e.at, name=f"{name}(…)")
            return WRONG
        if not self.takes(name, 1, len(e.arguments), e.at):
            return WRONG
        argument = e.arguments[0]
        if not isinstance(argument, tree.Reference) or argument.index is not None:
            self.complaints.say("SQ0307", argument.at, function=name, kind="observation")
            return WRONG
        observation = argument.name.text
        if argument.member is not None:
            observation += f".{argument.member.text}"
        if observation not in self.names.observes:
            if observation:
                self.complaints.unknown("SQ0208", observation, argument.at, self.names.observes)
            return WRONG
        return Typed(Summary(name, observation, at=e.at))

    def time(self, e: tree.Call, time: tree.TimeResource, here: Standing) -> Typed:
        """A time resource of the engine's device: its body with the arguments."""
        if not self.takes(e.name.text, len(time.parameters), len(e.arguments), e.at):
            return WRONG
        bound: dict[str, Bound] = {}
        for parameter, argument in zip(time.parameters, e.arguments, strict=True):
            value = self.plain(argument, here)
            if is_poison(value):
                return WRONG
            bound[parameter.text] = Bound(Typed(value), sum(1 for _ in walk(value)))
        earlier = {}
        for name, other in here.times.items():
            if other is time:
                break
            earlier[name] = other
        inside = evolve(here, bound=bound, times=earlier, blame=used_at(time.body.at, e.at))
        return self.lower(time.body, inside)

    # ---------------------------------------------------------------- places

    def place(self, e: tree.Reference, wanted: str, here: Standing) -> Place | None:
        """A resource, or the member of a family that the index names."""
        resource = self.resource(e, wanted, here)
        if resource is None:
            return None
        if e.index is None:
            if resource.size is not None:
                self.complaints.say("SQ0230", e.at, name=resource.name, size=resource.size)
                return None
            return Place(resource.name, at=e.at)
        index = self.index(e, resource, here)
        if index is None:
            return None
        return Place(resource.name, index if resource.size is not None else None, at=e.at)

    def index(self, e: tree.Reference, resource: Resource, here: Standing) -> Expr | None:
        assert e.index is not None
        index = self.plain(e.index, evolve(here, blame=None))
        if is_poison(index):
            return None
        size = 1 if resource.size is None else resource.size
        value = fold.constant(index)
        if value is not None and not (0 <= value < size and value == int(value)):
            members = f"{count(size, 'member')}, counted from 0"
            self.complaints.say(
                "SQ0231", e.at, name=resource.name, index=number(value), members=members
            )
            return None
        if value is None and resource.size is None:
            self.complaints.say("SQ0232", e.at, name=resource.name)
            return None
        return index

    def resource(self, e: tree.Reference, wanted: str, here: Standing) -> Resource | None:
        """The pool, stage or engine that a reference names (its index is not looked at)."""
        name = e.name.text
        if name == "":
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
            self.complaints.say("SQ0308", e.at, name=full, what=what, wanted=wanted, notes=[note])
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

    # ---------------------------------------------------------------- complaints

    def check_supplied(self, name: tree.Name, kind: str) -> None:
        """Refuse a name that the language supplies."""
        if name.text in SUPPLIED:
            self.complaints.say("SQ0221", name.at, kind=kind, name=name.text)

    def takes(self, name: str, wanted: int, got: int, at: Span) -> bool:
        if wanted == got:
            return True
        self.complaints.say("SQ0301", at, name=name, takes=count(wanted, "argument"), got=got)
        return False

    def mixed(self, e: tree.Expr, here: Standing, what: str) -> Typed:
        self.complaints.say("SQ0311", here.blame or e.at, what=what)
        return WRONG


def shown(resources: frozenset[str]) -> str:
    """Resources of a cost as messages write them."""
    return ", ".join(f"`{r}`" for r in sorted(resources))


def kind(value: Typed) -> str:
    return "a plain quantity" if value.cost is None else f"a cost of {shown(value.cost)}"


def members(name: str) -> str:
    """What `running.`, `waiting.` or `batch.` can be followed by."""
    found = [v.partition(".")[2] for v in VARIABLES if v.startswith(f"{name}.")]
    return ", ".join(f"`{m}`" for m in found)

