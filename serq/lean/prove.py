"""Proofs of claims: by general theorems where they suffice, by a witness where one is found."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from fractions import Fraction

from attrs import frozen

from serq.ir.claim import AtEnd, Claim, SomeIteration
from serq.ir.expr import Binary, Expr, Unary, walk
from serq.ir.program import Program
from serq.lean import facts as about
from serq.lean.exact import COMPARE
from serq.lean.facts import Fact
from serq.lean.fragment import Fragment, Stated, end_factors, read_fragment
from serq.lean.linear import Formula, Linear, NotLinear, Translator, follows, negation, variable
from serq.lean.module import MODULES, Text, module_stem
from serq.lean.names import doc_comment
from serq.lean.theorems import Theorems, most_tokens, same_work
from serq.lean.witness import Search, Walks, Witness, reads_clock
from serq.source import Span


@frozen
class Stability:
    """The question whether a program's chain is stable, in the place of a claim. at: of its arrivals."""

    name: str
    at: Span | None


@frozen
class Verdict:
    """What became of a claim, or of the question whether a chain is stable.

    status: "proved", "refuted", "stated" or "outside". by: the schemes or "witness", for the first
    two. why: in words, for the others, or the numbers that decide. at: the place of what keeps a claim
    outside.
    """

    claim: Claim | Stability
    status: str
    by: tuple[str, ...] = ()
    why: str = ""
    at: Span | None = None
    witness: Witness | None = None


@frozen
class Emitted:
    """The Lean text of a program's claims.

    alone: one file that needs no other. statements, proofs: modules of the package; proofs is None
    without any. stem: the name of their files. modules: of the package, which these need.
    """

    stem: str
    alone: str
    statements: str
    proofs: str | None
    verdicts: tuple[Verdict, ...]
    modules: tuple[str, ...] = MODULES


@frozen
class Beside:
    """What stands beside the claims of a program: definitions, proofs, and what became of them.

    modules: of the package, that the definitions need, and then what the proofs need besides.
    """

    definitions: list[str]
    proofs: list[str]
    verdict: Verdict
    modules: tuple[tuple[str, ...], tuple[str, ...]]


def emit(
    program: Program, prove: bool = False, beside: Callable[[Fragment, Text], Beside | None] | None = None
) -> Emitted:
    """The claims of `program` in Lean, proved as far as the schemes go if `prove`.

    beside: what else is said of it, if anything. Raises ProgramError (SQ08xx) as `emit_lean` does.
    """
    fragment = read_fragment(program)
    text = Text(program, fragment)
    prover = _Prover(fragment, text) if prove else None
    verdicts = []
    for claim in program.claims:
        stated = next((s for s in fragment.claims if s.claim is claim), None)
        if stated is None:
            reason = next(o.reasons[0] for o in fragment.outside if o.claim is claim)
            verdicts.append(Verdict(claim, "outside", why=reason.message, at=reason.at or claim.at))
        elif prover is None:
            verdicts.append(Verdict(claim, "stated", why="no proof was asked for"))
        else:
            verdicts.append(prover.decide(stated))
    proofs = prover.theorems.text() if prover is not None else []
    more = beside(fragment, text) if beside is not None else None
    definitions = text.definitions()
    needed: tuple[str, ...] = ("Model",)
    modules: tuple[str, ...] = MODULES
    if more is not None:
        definitions, needed, modules = [*definitions, *more.definitions], more.modules[0], more.modules[1]
        verdicts.insert(0, more.verdict)
        proofs = [*proofs, *more.proofs]
    statements = text.statements(definitions, needed[-1])
    if not proofs:
        alone = text.alone(needed, [], definitions=definitions)
        return Emitted(text.stem, alone, statements, None, tuple(verdicts), modules)
    imports = [modules[-1].replace("/", "."), f"Generated.{module_stem(text.stem)}"]
    module = "\n\n".join([
        "module",
        "\n".join(f"public import Serq.{name}" for name in imports),
        doc_comment(
            f"Proofs of the claims of {text.source}.\nWritten by `serq emit-lean --prove`; nothing here "
            "has to be believed, for Lean checks it.", "/-!",
        ),
        "set_option linter.unusedSimpArgs false",
        "public section",
        *proofs,
    ]) + "\n"  # fmt: skip
    alone = text.alone(modules, proofs, definitions=definitions)
    return Emitted(text.stem, alone, statements, module, tuple(verdicts), modules)


class _Prover:
    """Decides the claims of one program, and keeps the theorems that it needs."""

    def __init__(self, fragment: Fragment, text: Text) -> None:
        self.fragment = fragment
        self.costs = about.costs_of(fragment)
        self.theorems = Theorems(fragment, text)
        self.walks = Walks(fragment)

    # ------------------------------------------------------------ one claim

    def decide(self, stated: Stated) -> Verdict:
        """Prove or refute a claim, if a scheme or a witness does."""
        some = isinstance(stated.claim, SomeIteration)
        found = self._by_schemes(stated, never=some)
        if found is not None:
            self.theorems.by_facts(stated, found, never=some)
            by = tuple(dict.fromkeys(fact.scheme for fact in found)) or ("arithmetic",)
            return Verdict(stated.claim, "refuted" if some else "proved", by)
        search = Search(self.walks, stated)
        witness = search.ending() if isinstance(stated.claim, AtEnd) else search.iteration(wanted=some)
        if witness is not None:
            self.theorems.by_witness(stated, witness, refutes=not some)
            return Verdict(stated.claim, "proved" if some else "refuted", ("witness",), witness=witness)
        return Verdict(stated.claim, "stated", why=f"no scheme covers it, and {search.extent}")

    def _by_schemes(self, stated: Stated, never: bool) -> list[Fact] | None:
        """The facts from which the claim follows, no more than it needs; None if it does not."""
        if self.fragment.arrivals.kind == "any" and not self._is_scaleless(stated.claim.value):
            return None if never else self._of_the_clock(stated)
        translator = Translator(self._variables())
        try:
            claim: Formula = translator.truth(stated.claim.value)
        except NotLinear:
            return None
        if never:
            claim = negation(claim)
        facts = self._facts(stated)

        def enough(chosen: list[Fact]) -> bool:
            return follows(claim, [*translator.side, *(fact.formula for fact in chosen)])

        if not enough(facts):
            return None
        chosen = list(facts)
        for fact in facts:
            fewer = [other for other in chosen if other is not fact]
            if enough(fewer):
                chosen = fewer
        return chosen

    def _is_scaleless(self, claim: Expr) -> bool:
        """Whether a claim compares the clock with 0 only, so that it does not matter what its unit is."""
        translator = Translator(self._variables())
        for e in _with_clock(claim):
            if not isinstance(e, Binary) or e.operator not in COMPARE:
                return False
            try:
                difference = translator.number(e.left) - translator.number(e.right)
            except NotLinear:
                return False
            if set(difference.factors) - {"now"} or difference.constant or translator.side:
                return False
        return True

    def _of_the_clock(self, stated: Stated) -> list[Fact] | None:
        """The token rate, for a claim that is nothing else, where a unit of the clock is left open."""
        e = stated.claim.value
        if not isinstance(e, Binary) or e.operator not in ("<=", ">="):
            return None
        translator = Translator(self._variables())
        try:
            difference = translator.number(e.left) - translator.number(e.right)
        except NotLinear:
            return None
        rates = _rates(e, self._variables())
        larger = difference if e.operator == "<=" else difference.times(-1)
        if (
            larger.constant
            or set(larger.factors) != {"served", "now"}
            or larger.factors["now"] > 0
            or not rates
        ):
            return None
        fact = about.token_rate(self.fragment, self.costs, rates[0])
        return None if fact is None else [fact]

    def _facts(self, stated: Stated) -> list[Fact]:
        """What the general theorems say here; what comes first is left out first if it can be."""
        f = self.fragment
        if isinstance(stated.claim, AtEnd):
            sessions = _rates(stated.claim.value, self._variables(), "sessions")
            return about.end_facts(f, self.costs, (*sessions, None), same_work(f, stated))
        rates = (*_rates(stated.claim.value, self._variables()), None)
        found = [
            about.backlog(f, self.costs, same_work(f, stated)),
            *reversed(about.base_facts(f, most_tokens(f, stated))),
            *(about.token_rate(f, self.costs, claimed) for claimed in rates),
            about.work_conservation(f),
        ]
        return list({fact.name: fact for fact in found if fact is not None}.values())

    def _variables(self) -> dict[str, Linear]:
        f, v = self.fragment, variable
        names = ("tokens", "prefilled", "decoders", "residents", "demand", "served", "arrived")
        residents = v("residents")
        readings = {name: v(name) for name in names}
        readings["now"] = v("now").times(Fraction(1, f.ticks))
        readings[f"queue({f.engine.name})"] = residents
        readings[f"busy({f.engine.name})"] = Linear()
        readings.update({name: v("sessions").times(k) for name, k in end_factors(f.path).items()})
        readings.update({name: v(f"register {name}") for name in f.register_names})
        slot = f.path.slot
        if slot is not None:
            readings[f"holders({slot.pool})"] = residents
            readings[f"queued({slot.pool})"] = v("waiting")
            readings[f"used({slot.pool})"] = residents.times(slot.units)
            readings[f"free({slot.pool})"] = Linear({}, Fraction(slot.cap)) - residents.times(slot.units)
        return readings


def _with_clock(claim: Expr) -> Iterator[Expr]:
    """The smallest tests in a claim that read the clock."""
    match claim:
        case Unary(operator="!", operand=operand):
            yield from _with_clock(operand)
        case Binary(operator="&&" | "||", left=left, right=right):
            yield from _with_clock(left)
            yield from _with_clock(right)
        case _ if reads_clock(claim):
            yield claim


def _rates(claim: Expr, readings: dict[str, Linear], what: str = "served") -> list[Fraction]:
    """The rates at which a claim compares something with the time."""
    rates = []
    for e in walk(claim):
        if isinstance(e, Binary) and e.operator in ("<", "<=", ">", ">=", "=="):
            try:
                translator = Translator(readings)
                difference = translator.number(e.left) - translator.number(e.right)
            except (NotLinear, KeyError):
                continue
            served, now = difference.factors.get(what), difference.factors.get("now")
            if served and now and (served > 0) != (now > 0):
                rates.append(abs(served / now))
    return list(dict.fromkeys(rates))
