"""Proofs of claims: by general theorems where they suffice, by a witness where one is found."""

from __future__ import annotations

import re
from fractions import Fraction

from attrs import frozen

from serq.ir.claim import Claim, SomeIteration
from serq.ir.expr import Binary, Expr, walk
from serq.ir.program import Program
from serq.lean import facts as about
from serq.lean.facts import Fact
from serq.lean.fragment import Fragment, Stated, read_fragment
from serq.lean.linear import Formula, Linear, NotLinear, Translator, follows, greatest, negation, variable
from serq.lean.module import MODULES, Text, phases_text
from serq.lean.names import doc_comment, fill_term, lean_name
from serq.lean.sessions import lengths_of
from serq.lean.witness import Witness, find_witness, state_text
from serq.source import Span


@frozen
class Verdict:
    """What became of a claim.

    status: "proved", "refuted", "stated" or "outside". by: the schemes or "witness", for the first
    two. why: in words, for the others. at: the place of what keeps a claim outside.
    """

    claim: Claim
    status: str
    by: tuple[str, ...] = ()
    why: str = ""
    at: Span | None = None
    witness: Witness | None = None


@frozen
class Emitted:
    """The Lean text of a program's claims.

    alone: one file that needs no other. statements, proofs: modules of the package; proofs is None
    without any. stem: the name of their files.
    """

    stem: str
    alone: str
    statements: str
    proofs: str | None
    verdicts: tuple[Verdict, ...]


def emit(program: Program, prove: bool = False) -> Emitted:
    """The claims of `program` in Lean, proved as far as the schemes go if `prove`.

    Raises ProgramError (SQ08xx) as `emit_lean` does.
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
    proofs = prover.text() if prover is not None else []
    if not proofs:
        return Emitted(text.stem, text.alone(("Model",), []), text.statements(), None, tuple(verdicts))
    module = "\n\n".join([
        "module",
        f"public import Serq.Schemes\npublic import Serq.Generated.{lean_name(text.stem)}",
        doc_comment(
            f"Proofs of the claims of {text.source}.\nWritten by `serq emit-lean --prove`; nothing here "
            "has to be believed, for Lean checks it.", "/-!",
        ),
        "public section",
        *proofs,
    ]) + "\n"  # fmt: skip
    return Emitted(text.stem, text.alone(MODULES, proofs), text.statements(), module, tuple(verdicts))


class _Prover:
    """Decides the claims of one program, and keeps the theorems that it needs."""

    def __init__(self, fragment: Fragment, text: Text) -> None:
        self.fragment = fragment
        self.names = text
        self.costs = about.costs_of(fragment)
        self.theorems: list[str] = []
        self.preambles: dict[str, list[str]] = {}
        self.written: set[str] = set()

    # ------------------------------------------------------------ one claim

    def decide(self, stated: Stated) -> Verdict:
        """Prove or refute a claim, if a scheme or a witness does."""
        some = isinstance(stated.claim, SomeIteration)
        found = self._by_schemes(stated, never=some)
        if found is not None:
            self.theorems.append(self._scheme_theorem(stated, found, never=some))
            by = tuple(dict.fromkeys(fact.scheme for fact in found)) or ("arithmetic",)
            return Verdict(stated.claim, "refuted" if some else "proved", by)
        witness = find_witness(self.fragment, stated, wanted=some)
        if witness is not None:
            self.theorems.append(self._witness_theorem(stated, witness, refutes=not some))
            return Verdict(stated.claim, "proved" if some else "refuted", ("witness",), witness=witness)
        return Verdict(stated.claim, "stated", why="no scheme covers it, and no witness was found")

    def _by_schemes(self, stated: Stated, never: bool) -> list[Fact] | None:
        """The facts from which the claim follows, no more than it needs; None if it does not."""
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

    def _facts(self, stated: Stated) -> list[Fact]:
        """Everything that the general theorems say here, in the order in which it is left out if it can be."""
        f = self.fragment
        rates = (*_rates(stated.claim.value, self._variables()), None)
        found = [
            about.backlog(f, self.costs),
            *reversed(about.base_facts(f, self._most(stated))),
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
        readings.update({r.name: v(f"register {r.name}") for r in f.engine.registers})
        slot = f.path.slot
        if slot is not None:
            readings[f"holders({slot.pool})"] = residents
            readings[f"queued({slot.pool})"] = v("waiting")
            readings[f"used({slot.pool})"] = residents.times(slot.units)
            readings[f"free({slot.pool})"] = Linear({}, Fraction(slot.cap)) - residents.times(slot.units)
        return readings

    def _most(self, stated: Stated) -> int | None:
        """The most tokens that a session may have among those that the claim speaks of."""
        found = self.fragment.path.total()
        if found is None:
            return None
        total, facts = found
        if stated.given is not None:
            translated = self._given_formulas(stated)
            if translated is None:
                return None
            facts = [*facts, *translated]
        bound = greatest(total, facts)
        return None if bound is None else max(0, int(bound))

    def _given_formulas(self, stated: Stated) -> list[Formula] | None:
        assert stated.given is not None
        names = [v.name for v in self.fragment.path.variables]
        translator = Translator({name: variable(name) for name in ("serial", *names)})
        try:
            formula = translator.truth(stated.given.expr)
        except NotLinear:
            return None
        return [formula, *translator.side]

    # ------------------------------------------------------------ theorems

    def text(self) -> list[str]:
        """All theorems, in their namespace; nothing when there are none."""
        if not self.theorems:
            return []
        namespace = f"Serq.Proofs.{lean_name(self.names.stem)}"
        return [f"namespace {namespace}", *self.theorems, f"end {namespace}"]

    def _program(self) -> str:
        return f"Claims.{lean_name(self.names.stem)}.{lean_name(self.names.program)}"

    def _workload(self, stated: Stated) -> str:
        name = self.names.restricted.get(stated.claim.name, self.names.workload)
        return f"Claims.{lean_name(self.names.stem)}.{lean_name(name)}"

    def _claim(self, stated: Stated) -> str:
        return f"Claims.{lean_name(self.names.stem)}.{lean_name(stated.claim.name)}"

    def _room(self, stated: Stated) -> str:
        """The namespace of the facts about this claim's workload."""
        return "Facts" if stated.given is None else f"Facts_{stated.claim.name}"

    def _open(self, stated: Stated) -> None:
        """The conditions of the general theorems, for this workload."""
        room = self._room(stated)
        if room in self.written:
            return
        self.written.add(room)
        f, program, workload = self.fragment, self._program(), self._workload(stated)
        most = self._most(stated)
        some_most = "none" if most is None else f"(some {most})"
        budget_most = "none" if f.most is None else f"some {f.most}"
        lines = [
            f"namespace {lean_name(room)}",
            f"theorem proper : {program}.Proper :=\n"
            f"  ⟨by decide, fun m (h : {budget_most} = some m) => by cases h <;> decide⟩",
            f"theorem lengths : Lengths {some_most} {workload} := by\n{self._lengths_proof(stated, most)}",
            f"theorem ordered : Ordered {workload} :=\n  fun _ h => {_ordered(f)}",
        ]
        if (serves := about.serves_proof(f)) is not None:
            lines.append(f"theorem serves : {program}.schedule.Serves fun _ _ => False :=\n  {serves}")
        phases = f.path.constant
        if phases is not None:
            total = sum(n for _, n in phases)
            lines.append(
                f"theorem same : ∀ w, {workload} w → ∀ k, work (w.phases k) = {total} := by\n"
                "  rintro w ⟨_, hw⟩ k\n  rw [hw k]; decide"
            )
        lines.append(f"end {lean_name(room)}")
        self.theorems += lines

    def _lengths_proof(self, stated: Stated, most: int | None) -> str:
        path = self.fragment.path
        bound = "none" if most is None else f"some {most}"
        lines = ["  rintro w ⟨_, hw⟩ k"]
        if path.constant is not None:
            lines.append("  rw [hw k]")
            lines.append(
                f"  exact ⟨by decide, fun m (h : {bound} = some m) => by cases h <;> decide⟩"
            )
            return "\n".join(lines)
        names = [v.name for v in path.variables]
        limits = [f"limit_{v.name}" for v in path.variables if v.most is not None]
        given = ["given"] if stated.given is not None else []
        pattern = ", ".join([*names, *limits, *given, "hk"])
        lines.append(f"  have ⟨{pattern}⟩ := hw k" if len(pattern.split(", ")) > 1 else "  have hk := hw k")
        lines.append("  rw [hk]")
        lines.append("  refine ⟨fun x hx => ?_, fun m h => ?_⟩")
        lines.append("  · simp only [List.mem_cons, List.not_mem_nil, or_false] at hx")
        cases = " | ".join(["rfl"] * len(path.phases))
        lines.append(f"    rcases hx with {cases} <;> dsimp only [Phase.prefill, Phase.decode] <;> omega")
        lines.append("  · cases h")
        if most is not None:
            lines.append("    simp only [work, List.map_cons, List.map_nil, List.sum_cons, List.sum_nil]")
            lines.append("    omega")
        return "\n".join(lines)

    def _fact(self, stated: Stated, fact: Fact) -> str:
        """The name of a fact, which is written when it is first needed."""
        self._open(stated)
        room = self._room(stated)
        name = f"{lean_name(room)}.{fact.name}"
        if name not in self.written:
            self.written.add(name)
            proof = re.sub(r"\b(proper|lengths|ordered|serves|same)\b", rf"{lean_name(room)}.\1", fact.proof)
            self.theorems.append(
                f"theorem {name} :\n"
                + fill_term(f"    EveryIteration {self._program()} {self._workload(stated)} fun i =>",
                            fact.statement + " :=", 6)
                + f"\n  {proof}"
            )  # fmt: skip
        return name

    def _scheme_theorem(self, stated: Stated, facts: list[Fact], never: bool) -> str:
        names = [self._fact(stated, fact) for fact in facts]
        kind = "¬ " if never else ""
        lines = [
            doc_comment(f"`{stated.claim.name}` is {'false' if never else 'true'}."),
            f"theorem {lean_name(stated.claim.name)} : {kind}{self._claim(stated)} := by",
        ]
        if never:
            lines.append("  refine EveryIteration.never ?_")
        lines.append("  intro w hw s hr hs")
        lines += [f"  have h{k} := {name} w hw s hr hs" for k, name in enumerate(names)]
        lines.append("  generalize iteration _ s = i at *")
        goal = ("¬ " if never else "") + (f"({stated.proposition})" if never else stated.proposition)
        lines.append(fill_term("  show", goal, 4))
        lines += [fill_term(f"  replace h{k} :", f"{fact.statement} := h{k}", 4) for k, fact in enumerate(facts)]
        if unfolded := [name for name in ("ceilDiv", "truth") if name in stated.proposition]:
            lines.append(f"  simp only [{', '.join(unfolded)}]")
        lines.append("  trivial" if stated.proposition == "True" and not never else "  omega")
        return "\n".join(lines)

    def _witness_theorem(self, stated: Stated, witness: Witness, refutes: bool) -> str:
        world, path = witness.world, self.fragment.path
        program, claim = self._program(), self._claim(stated)
        phases = phases_text(path)
        for name, value in world.draws.items():
            phases = re.sub(rf"\({name} : Int\)", f"(({value} : Nat) : Int)", phases)
        time = f"fun k => {_times(self.fragment, witness)}"
        room = f"world_{stated.claim.name}"
        sessions = f"⟨{world.count}, {time}, fun {'k' if '(k : Int)' in phases else '_'} => {phases}⟩"
        draws = "".join(f"{value}, " for value in world.draws.values())
        limits = "".join("by decide, " for v in path.variables if v.most is not None)
        given = "by decide, " if stated.given is not None else ""
        each = f"⟨{draws}{limits}{given}rfl⟩" if draws or given else "rfl"
        i = witness.iteration
        words = (
            f"`{stated.claim.name}` is {'false' if refutes else 'true'}: after {witness.steps} steps, at "
            f"{i.now}, the demand is {i.demand} and {i.tokens} {'token is' if i.tokens == 1 else 'tokens are'} given."
        )
        lines = [
            doc_comment(words),
            f"theorem {lean_name(stated.claim.name)} : {'¬ ' if refutes else ''}{claim} := by",
            f"  have h0 : Reachable {program} {lean_name(room)} _ := .initial",
        ]
        for k, (steps, state) in enumerate(witness.stops):
            if steps:
                lines.append(fill_term(f"  have h{k + 1} : Reachable {program} {lean_name(room)}", state_text(state) + " :=", 4))
                lines.append(f"    h{k}.later (k := {steps}) (by decide +kernel)")
            else:
                lines.append(f"  have h{k + 1} := h{k}")
        last = len(witness.stops)
        lines.append("  refine SomeIteration.refutes ?_" if refutes else "  show SomeIteration _ _ _")
        lines.append(f"  refine witness (w := {lean_name(room)}) ⟨{_arrive(self.fragment)}, fun _ => {each}⟩")
        lines.append(f"    h{last} (by decide +kernel) ?_")
        lines.append("  dsimp only")
        lines.append("  decide +kernel")
        definition = "\n".join([
            doc_comment(f"The sessions of the run that shows what `{stated.claim.name}` is."),
            fill_term(f"@[expose] def {lean_name(room)} : Sessions :=", sessions, 2),
        ])  # fmt: skip
        return definition + "\n\n" + "\n".join(lines)


def _ordered(f: Fragment) -> str:
    match f.arrivals.kind:
        case "renewal":
            return "h.1.ordered (by decide)"
        case "batch":
            return ".inr h.1.2"
    return ".inl h.1.2" if f.arrivals.from_0 else ".inl h.1"


def _times(f: Fragment, witness: Witness) -> str:
    world = witness.world
    if f.arrivals.kind == "renewal":
        return f"(k + 1) * {world.gap}"
    if f.arrivals.kind == "batch":
        return "0"
    return f"{world.start} + k * {world.gap}"


def _arrive(f: Fragment) -> str:
    match f.arrivals.kind:
        case "renewal":
            return "fun _ => rfl"
        case "batch":
            return "⟨rfl, fun _ => rfl⟩"
    apart = "fun k => apart _ _ (by decide) k"
    return f"⟨rfl, {apart}⟩" if f.arrivals.from_0 else apart


def _rates(claim: Expr, readings: dict[str, Linear]) -> list[Fraction]:
    """The rates at which a claim compares what was served with the time."""
    rates = []
    for e in walk(claim):
        if isinstance(e, Binary) and e.operator in ("<", "<=", ">", ">=", "=="):
            try:
                translator = Translator(readings)
                difference = translator.number(e.left) - translator.number(e.right)
            except (NotLinear, KeyError):
                continue
            served, now = difference.factors.get("served"), difference.factors.get("now")
            if served and now and (served > 0) != (now > 0):
                rates.append(abs(served / now))
    return list(dict.fromkeys(rates))


__all__ = ["Emitted", "Verdict", "emit", "lengths_of"]
