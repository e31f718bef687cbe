"""Expressions of the tree become expressions of the program.

Names are resolved, constants folded, aggregates and time resources written out, and the kind of
each value decided: a plain quantity, or a cost of certain resources. Whether a name may be read at
its moment is for `serq.check.moments` to say. It is one file: every form of an expression.
"""

from __future__ import annotations

from attrs import define, evolve, field

from serq.check import fold
from serq.check.complaints import used_at
from serq.check.fold import POISON, is_poison
from serq.check.names import Resource
from serq.check.requested import field_of, indexed, is_survey, length, survey
from serq.check.resolve import Resolver
from serq.check.samples import lower_draw, lower_summary, takes
from serq.check.show import article, count, number
from serq.check.standing import WRONG, Bound, Standing, Typed, kind, shown
from serq.check.trees import NOWHERE, reads
from serq.check.words import SUPPLIED
from serq.ir.expr import Expr, Num, Observable, Place, walk
from serq.ir.moments import FORMS, FUNCTIONS, LAWS, OBSERVABLES, POOL_OBSERVABLES, SUMMARIES, Moment
from serq.source import Span
from serq.syntax import tree

DEEPEST = 400
"""Levels that an expression may be nested."""

MOST_TERMS = 4096
"""Terms that the aggregates of a program may write out together."""

COMPARISONS = frozenset({"<", "<=", ">", ">=", "==", "!="})

_KEEPS_COST = frozenset({"min", "max", "abs", "floor", "ceil"})
_ARGUMENTS = {"price": 3}


@define
class Expressions(Resolver):
    """Lowers the expressions of one program.

    terms: what its aggregates have written out so far. depth: of the expression at work.
    constant_tests: comparisons that turned into a number, with it; for `serq.check.doubts`.
    """

    terms: int = 0
    depth: int = 0
    constant_tests: list[tuple[Span, float]] = field(factory=list)

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

    def constant(self, e: tree.Expr, order: int | None) -> float | None:
        """A constant as known in item `order`, or at run time (None).

        The result is None when it is wrong, which is then already said.
        """
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
            case tree.Reference(index=index, name=name) if index is not None and name.text != NOWHERE:
                return indexed(e, here, self)
            case tree.Reference(name=name) if e.member is not None and name.text in here.requests:
                return field_of(e, here, self)
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
        """An operator before an operand."""
        operand = self.lower(e.operand, here)
        if operand.wrong:
            return WRONG
        if operand.cost is not None and e.operator == "!":
            return self.mixed(e, here, f"`!` of a cost of {shown(operand.cost)}")
        return Typed(fold.unary(e.operator, operand.expr, e.at), operand.cost)

    def binary(self, e: tree.Binary, here: Standing) -> Typed:
        """An operator between operands; costs add to their like and are scaled by numbers."""
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
                    return self.mixed(e, here, f"`{e.operator}` between {a} and {b}")
        value = fold.binary(e.operator, left.expr, right.expr, e.at)
        if isinstance(value, Num) and e.operator in COMPARISONS and here.moment is not Moment.CONST:
            self.note_test(e, value.value, here)
        return Typed(value, cost)

    def note_test(self, e: tree.Binary, value: float, here: Standing) -> None:
        """Remember a constant comparison, unless it reads a name that stands for several values here."""
        if not here.bound or here.bound.keys().isdisjoint(reads(e)):
            self.constant_tests.append((e.at, value))

    def conditional(self, e: tree.Conditional, here: Standing) -> Typed:
        """`test ? then : otherwise`, both outcomes of one kind."""
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
        """A random value."""
        if here.moment is Moment.CONST:
            self.complaints.say("SQ0430", e.law.at, law=e.law.text)
            return WRONG
        draw = lower_draw(e, lambda part: self.plain(part, here), self.complaints)
        return WRONG if draw is None else Typed(draw)

    def aggregate(self, e: tree.Aggregate, here: Standing) -> Typed:
        """An aggregate over requests, or one over numbers, its terms written out."""
        if is_survey(e):
            return survey(e, here, self)
        name = e.variable.text
        n = self.constant(e.bound, here.order if here.moment is Moment.CONST else None)
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
            if terms[-1].wrong or self.is_overfull(name, e.at):
                return WRONG
        if any(t.cost != terms[0].cost for t in terms):
            return self.mixed(e, here, "terms of different kinds")
        if e.kind.text == "count":
            if terms[0].cost is not None:
                return self.mixed(e, here, f"`count` of {kind(terms[0])}")
            ones = [fold.binary("!=", t.expr, Num(0.0), e.at) for t in terms]
            return Typed(fold.aggregate("sum", ones, e.at))
        folded = fold.aggregate(e.kind.text, [t.expr for t in terms], e.at)
        return Typed(folded, terms[0].cost)

    # ---------------------------------------------------------------- calls

    def call(self, e: tree.Call, here: Standing) -> Typed:
        """A call: what stands before the parenthesis decides."""
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
        if name == "length":
            return length(e, here, self)
        help = "a power is written `x ^ y`" if name == "pow" else None
        if name in LAWS:
            written = FORMS.get(name, f"~{self.complaints.written(e.at)}")
            help = f"a random value is written `{written}`"
        if help is not None:
            self.complaints.say("SQ0202", e.at, name=name, help=help)
        else:
            known = dict.fromkeys([*FUNCTIONS, *OBSERVABLES, *SUMMARIES, "cost"])
            self.complaints.unknown("SQ0202", name, e.at, known)
        return WRONG

    def function(self, e: tree.Call, here: Standing) -> Typed:
        """A function of the language."""
        name = e.name.text
        if not takes(self.complaints, name, FUNCTIONS[name], len(e.arguments), e.at):
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
        """`cost(R, …, e)`: the amount with its kind; at run time a plain number."""
        if here.moment is Moment.CONST:
            self.complaints.say("SQ0431", e.at, name="cost(…)")
            return WRONG
        if len(e.arguments) < 2:
            self.complaints.say("SQ0306", e.at)
            return WRONG
        resources = []
        for argument in e.arguments[:-1]:
            if not isinstance(argument, tree.Reference):
                self.complaints.say("SQ0307", argument.at, function="cost", kind="a pool or stage")
                return WRONG
            resource = self.resource(argument, "pool or stage")
            if resource is None:
                return WRONG
            if argument.index is not None and self.index(argument, resource, here) is None:
                return WRONG
            resources.append(resource.name)
        value = self.lower(e.arguments[-1], here)
        if here.client:
            self.names.client_costs.extend((name, here.blame or e.at) for name in resources)
        if value.wrong:
            return WRONG
        if value.cost is not None:
            return self.mixed(e, here, f"`cost` of {kind(value)}")
        return Typed(value.expr, frozenset(resources))

    def observable(self, e: tree.Call, here: Standing) -> Typed:
        """Live state of a pool, stage or engine."""
        name = e.name.text
        if here.moment is Moment.CONST:
            self.complaints.say("SQ0431", e.at, name=f"{name}(…)")
            return WRONG
        if not takes(self.complaints, name, _ARGUMENTS.get(name, 1), len(e.arguments), e.at):
            return WRONG
        wanted = "pool" if name in POOL_OBSERVABLES else "engine" if name == "budget_left" else "stage"
        first = e.arguments[0]
        if not isinstance(first, tree.Reference):
            self.complaints.say("SQ0307", e.at, function=name, kind=article(wanted))
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
        """An aggregate over samples."""
        if here.moment is Moment.CONST:
            self.complaints.say("SQ0431", e.at, name=f"{e.name.text}(…)")
            return WRONG
        summary = lower_summary(e, self.names.observes, lambda part: self.plain(part, here), self.complaints)
        return WRONG if summary is None else Typed(summary)

    def time(self, e: tree.Call, time: tree.TimeResource, here: Standing) -> Typed:
        """A time resource of the engine's device: its body with the arguments."""
        if not takes(self.complaints, e.name.text, len(time.parameters), len(e.arguments), e.at):
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
        resource = self.resource(e, wanted)
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
        """The index of a reference, checked as far as it is a number."""
        assert e.index is not None
        index = self.plain(e.index, evolve(here, blame=None))
        if is_poison(index):
            return None
        size = 1 if resource.size is None else resource.size
        value = fold.constant(index)
        if value is not None and not (0 <= value < size and value == int(value)):
            members = f"{count(size, 'member')}, counted from 0"
            self.complaints.say("SQ0231", e.at, name=resource.name, index=number(value), members=members)
            return None
        if value is None and resource.size is None:
            self.complaints.say("SQ0232", e.at, name=resource.name)
            return None
        return index

    # ---------------------------------------------------------------- complaints

    def mixed(self, e: tree.Expr, here: Standing, what: str) -> Typed:
        """Complain about kinds that do not go together."""
        self.complaints.say("SQ0311", here.blame or e.at, what=what)
        return WRONG
