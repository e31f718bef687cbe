"""Programs under `slotted` and `poisson` as chains: is every list of runs that is reached positive recurrent?

Where every batch takes as long as a slot, the runs at the engine at the starts of the slots are a Markov
chain (`Serq.slotted` of `lean_export/Serq/Random.lean`). The load decides, work · E[sessions in a slot]: from
the budget on they are not, and below it they are if the schedule serves everyone. Under Poisson arrivals a
batch of constant length is such a slot; what is said of them is beside the claims
(`lean_export/Serq/Chain/Poisson.lean`). That the machine goes through the states of the chain is in
`Chain/Projection.lean` and `Chain/Idle.lean`.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from fractions import Fraction
from itertools import product

from attrs import evolve, frozen

import serq.lean.prove as claims
from serq.diagnostics import Diagnostic, ProgramError, Sink
from serq.ir.expr import Binary, Draw, Expr, Func, Num
from serq.ir.program import Program
from serq.ir.workload import NoArrivals, Poisson, Slotted
from serq.lean.facts import serves_proof
from serq.lean.fragment import Fragment, read_fragment
from serq.lean.module import MODULES, Text, module_stem, phases_text
from serq.lean.names import doc_comment, fill_term, lean_name
from serq.lean.projection import duration, in_batches, in_slots
from serq.lean.prove import Beside, Emitted, Stability, Verdict

LOAD_MODULES = (*MODULES, "Random", "Chain/Load")
POISSON_MODULES = (*LOAD_MODULES, "Chain/Poisson")
CHAIN_MODULES = (*LOAD_MODULES, "Chain/Projection")
BATCH_MODULES = (*POISSON_MODULES, "Chain/Projection", "Chain/Idle")
"""The files of the package that chains need, each after those it imports; the last two with the machine."""

MOST_OUTCOMES = 1_000
"""Numbers of sessions in a slot that a law may have."""

FINEST = 10_000_000
ROUNDING = 4e-16
"""How far a double may be from the probability that it stands for."""

Law = dict[int, Fraction]
"""Sessions in a slot, and the probability of so many."""


@frozen
class Chain:
    """A program whose runs are a chain.

    law: of the sessions in a slot, their number and its weight. work: tokens of a session.
    """

    fragment: Fragment
    law: tuple[tuple[int, int], ...]
    work: int

    @property
    def load(self) -> Fraction:
        """Tokens that a slot brings, on average."""
        weight = sum(w for _, w in self.law)
        return self.work * sum((Fraction(w * k, weight) for k, w in self.law), Fraction(0))


def emit(program: Program, prove: bool = False) -> Emitted:
    """The claims of `program` in Lean, or its chain; proved as far as the theorems go if `prove`.

    Raises ProgramError (SQ08xx) with everything that cannot be stated faithfully.
    """
    if program.workload is None or not isinstance(program.workload.arrival, Slotted):
        return claims.emit(program, prove, lambda f, text: _poisson(program, f, text, prove))
    chain = read_chain(program)
    text = Text(program, chain.fragment)
    verdict, proofs = _decide(chain, text, Stability("stable", program.workload.arrival.at), prove)
    outside = "under `slotted` only the chain of slots has a meaning"
    verdicts = (verdict, *(Verdict(c, "outside", why=outside) for c in program.claims))
    statements = _definitions(chain, text)
    heading = doc_comment(
        f"The runs of {text.source} as a chain.\nWritten by `serq emit-lean` (program format "
        f"{program.version}), with exact probabilities.", "/-!",
    )  # fmt: skip

    def module(imports: list[str], *parts: str) -> str:
        lines = "\n".join(f"public import Serq.{name}" for name in imports)
        return "\n\n".join(["module", lines, heading, *parts]) + "\n"

    opening = "@[expose] public noncomputable section"
    proven = None
    if proofs:
        generated = f"Generated.{module_stem(text.stem)}"
        quiet = "set_option linter.unusedSimpArgs false"
        proven = module(["Chain.Projection", generated], quiet, "public section", *proofs)
    return Emitted(
        text.stem,
        text.alone(
            CHAIN_MODULES if proofs else (*MODULES, "Random"), proofs, heading=heading, definitions=statements
        ),
        module(["Random"], opening, *statements),
        proven,
        verdicts,
        CHAIN_MODULES,
    )


def read_chain(program: Program) -> Chain:
    """The program as a chain. Raises ProgramError (SQ08xx) with every reason against it."""
    workload = program.workload
    assert workload is not None and isinstance(workload.arrival, Slotted)
    arrival = workload.arrival
    reasons: list[Diagnostic] = []
    fragment = None
    try:
        fragment = read_fragment(evolve(program, workload=evolve(workload, arrival=NoArrivals()), claims=()))
    except ProgramError as error:
        reasons += error.diagnostics
    found = Sink()
    law = law_of(arrival.count)
    if law is None:
        found.say(
            "SQ0803", arrival.count.at or arrival.at, what="the number of sessions in a slot",
            wanted="a law of at most 1000 outcomes: a constant, `~table`, `~bernoulli`, `~binomial`, sums, "
            "with probabilities that are fractions of denominators up to ten million",
        )  # fmt: skip
    if fragment is not None:
        _check(fragment, arrival, found)
    reasons += found.errors
    if reasons or fragment is None or law is None:
        raise ProgramError(reasons)
    constant = fragment.path.constant
    assert constant is not None
    unit = math.lcm(*(p.denominator for p in law.values()))
    weights = tuple((k, int(p * unit)) for k, p in sorted(law.items()))
    return Chain(fragment, weights, sum(tokens for _, tokens in constant))


def _check(f: Fragment, arrival: Slotted, found: Sink) -> None:
    """Say what keeps the runs from being a chain of slots."""
    engine = f.engine
    cure = "state a program without it, or other arrivals"
    if f.path.slot is not None:
        found.say("SQ0801", arrival.at, what=f"the pool `{f.path.slot.pool}` under `slotted`", cure=cure)
    if f.registers:
        found.say("SQ0801", engine.at, what="a register under `slotted`", cure=cure)
    if not f.path.constant:
        found.say(
            "SQ0803", arrival.at, what="the work of a session under `slotted`",
            wanted="at least one run, of lengths that are the same for every session",
        )  # fmt: skip
    if duration(f) != Fraction(arrival.slot):
        found.say(
            "SQ0801", engine.execute.at or engine.at, what="a batch that takes other than a slot",
            cure=f"let every batch take {arrival.slot:.17g}, as a slot does",
        )  # fmt: skip


def law_of(e: Expr) -> Law | None:
    """The law of a number of sessions, exactly; None if it is not one of a few whole numbers.

    A probability is the one fraction with a denominator up to `FINEST` that the double stands for.
    """
    law = _law(e)
    if law is None or not all(k >= 0 and k.denominator == 1 for k in law):
        return None
    return {int(k): p for k, p in law.items() if p > 0}


def _law(e: Expr) -> dict[Fraction, Fraction] | None:
    match e:
        case Num(value=value) if math.isfinite(value):
            return {Fraction(value): Fraction(1)}
        case Draw(law=name, arguments=arguments) if all(isinstance(a, Num) for a in arguments):
            values = [_fraction(a.value) for a in arguments if isinstance(a, Num)]
            return None if None in values else _drawn(name, [v for v in values if v is not None])
        case Binary(operator="+" | "-" | "*" as operator, left=left, right=right):
            terms = (left, right)
        case Func(function="min" | "max" as operator, arguments=terms):
            pass
        case _:
            return None
    laws = [_law(term) for term in terms]
    known = [law for law in laws if law is not None]
    if len(known) < len(laws) or math.prod(map(len, known)) > MOST_OUTCOMES:
        return None
    found: dict[Fraction, Fraction] = {}
    for outcome in product(*(law.items() for law in known)):
        sessions, chance = _APPLY[operator]([k for k, _ in outcome]), Fraction(1)
        for _, part in outcome:
            chance *= part
        found[sessions] = found.get(sessions, Fraction(0)) + chance
    return found


_APPLY: dict[str, Callable[[Sequence[Fraction]], Fraction]] = {
    "+": lambda v: v[0] + v[1],
    "-": lambda v: v[0] - v[1],
    "*": lambda v: v[0] * v[1],
    "min": min,
    "max": max,
}


def _drawn(name: str, values: list[Fraction]) -> dict[Fraction, Fraction] | None:
    found: dict[Fraction, Fraction] = {}
    match name, values:
        case "bernoulli", (p,):
            return {Fraction(0): 1 - p, Fraction(1): p}
        case "binomial", (n, p) if n.denominator == 1 and n < MOST_OUTCOMES:
            trials, a, q = int(n), p.numerator, p.denominator
            for k in range(trials + 1):
                found[Fraction(k)] = Fraction(
                    math.comb(trials, k) * int(a**k) * int((q - a) ** (trials - k)), int(q**trials)
                )
            return found
        case "table", _:
            for value, p in zip(values[::2], values[1::2], strict=True):
                found[value] = found.get(value, Fraction(0)) + p
            return found if sum(found.values()) == 1 else None
    return None


def _fraction(value: float) -> Fraction | None:
    near = Fraction(value).limit_denominator(FINEST)
    return near if abs(near - Fraction(value)) <= ROUNDING else None


# ---------------------------------------------------------------- the text


def _definitions(chain: Chain, text: Text) -> list[str]:
    f = chain.fragment
    law = ", ".join(f"({weight}, {sessions})" for sessions, weight in chain.law)
    return [
        f"namespace {text.namespace}",
        text.program_text(),
        doc_comment("Weights of the number of sessions that come in a slot.")
        + "\n"
        + fill_term("def arrivals : Law Nat :=", f"[{law}]", 2),
        doc_comment("The runs at the engine, slot by slot: each slot is a batch.")
        + "\n"
        + fill_term(
            "def chain : Chain (List Run) Nat :=", f"slotted program {phases_text(f.path)} arrivals", 2
        ),
        doc_comment(
            "The queue is stable: whatever runs are at the engine, it takes finite expected time until there "
            "are the same again."
        )
        + "\ndef stable : Prop :=\n  ∀ runs, chain.Reaches [] runs → chain.PositiveRecurrent runs",
        f"end {text.namespace}",
    ]


def _conditions(chain_program: str, f: Fragment, ticks: str = "") -> list[str]:
    """Theorems: what the general ones need of a program; that it serves everyone, if that is known."""
    most = "none" if f.most is None else f"some {f.most}"
    phases, served = phases_text(f.path), serves_proof(f)
    serves = f"theorem serves{ticks} : {chain_program}.schedule.Serves fun _ _ => False :=\n  {served}"
    return [
        f"theorem proper{ticks} : {chain_program}.Proper :=\n"
        f"  ⟨show 1 ≤ {f.budget} by decide, fun m (h : {most} = some m) => by cases h <;> decide⟩",
        *([serves] if served is not None else []),
        fill_term("theorem lengths :", f"Serq.Sized (some (work {phases})) {phases} :=", 4)
        + "\n  ⟨by decide, fun m h => by cases h; decide⟩",
    ]


def _by_load(question: Stability, f: Fragment, work: int, load: Fraction, prove: bool) -> Verdict:
    """What the load decides: at the budget and above it for any schedule, below it for one that serves."""
    if not prove:
        return Verdict(question, "stated", why="no proof was asked for")
    below = load < f.budget
    if below and serves_proof(f) is None:
        return Verdict(question, "stated", why="the schedule may leave somebody out of a batch with room")
    compared = f"{work} · E[sessions] = {load} {'<' if below else '≥'} {f.budget}"
    return Verdict(question, "proved" if below else "refuted", ("load",), why=compared)


_NEVER_EMPTY = "somebody comes in every slot, so the empty engine, where it starts, never comes back"


def _decide(chain: Chain, text: Text, question: Stability, prove: bool) -> tuple[Verdict, list[str]]:
    """What becomes of the question, and the proof."""
    f = chain.fragment
    verdict = _by_load(question, f, chain.work, chain.load, prove)
    if verdict.status == "stated":
        return verdict, []
    below = verdict.status == "proved"
    empty = next((weight for sessions, weight in chain.law if sessions == 0), 0)
    if below and not empty:
        return Verdict(question, "stated", why=_NEVER_EMPTY), []
    name, phases = f"Claims.{lean_name(text.stem)}", f"(phases := {phases_text(f.path)})"
    proof = (
        f"theorem stable : {name}.stable := fun runs h =>\n  slotted_below proper rfl serves {phases} lengths"
        f"\n    (w := {empty}) (by simp [{name}.arrivals]) (by decide) (by decide +kernel) runs h"
        if below
        else f"theorem empty : ¬ {name}.chain.PositiveRecurrent [] :=\n  slotted_above proper rfl {phases}"
        " lengths (by decide)\n    (by decide +kernel) (by decide +kernel)\n\n"
        f"theorem stable : ¬ {name}.stable := fun h => empty (h [] .refl)"
    )
    proofs = [
        f"namespace Serq.Proofs.{lean_name(text.stem)}",
        *_conditions(f"{name}.program", f),
        doc_comment(f"Stable or not by the load: {verdict.why}.") + f"\n{proof}",
        *in_slots(name, f, below),
        f"end Serq.Proofs.{lean_name(text.stem)}",
    ]
    return verdict, proofs


# ---------------------------------------------------------------- Poisson arrivals


def _poisson(program: Program, f: Fragment, text: Text, prove: bool) -> Beside | None:
    """The chain of a program under Poisson arrivals, if its batches make one."""
    arrival = program.workload.arrival if program.workload is not None else None
    lasts = duration(f)
    if not isinstance(arrival, Poisson) or lasts is None or not f.path.constant:
        return None
    mean = _fraction(arrival.rate * float(lasts))
    if mean is None or f.path.slot is not None or f.registers:
        return None
    phases, stem, a, b = phases_text(f.path), lean_name(text.stem), mean.numerator, mean.denominator
    name, engine = lean_name(text.poisson), lean_name(text.program)
    definitions = [
        f"namespace {text.namespace}",
        doc_comment(
            f"The queue is stable under Poisson arrivals, {mean} sessions in the time of a batch on average: "
            "from any runs, the expected number of batches until the engine is empty is finite."
        )
        + f"\ndef {name} : Prop :=\n"
        + fill_term("  ∀ ticks, 1 ≤ ticks →", f"PoissonStable ({engine} ticks) {phases} {a} {b}", 4),
        f"end {text.namespace}",
    ]
    work = sum(tokens for _, tokens in f.path.constant)
    verdict = _by_load(Stability(text.poisson, arrival.at), f, work, work * mean, prove)
    proofs: list[str] = []
    if verdict.status != "stated":
        below = verdict.status == "proved"
        proof = (
            f"fun ticks _ =>\n  poisson_below (Chain.proper ticks) rfl (Chain.serves ticks) Chain.lengths\n"
            f"    (by decide) (show {work} * {a} < {f.budget} * {b} by decide)"
            if below
            else f"fun h =>\n  poisson_above (Chain.proper 1) rfl Chain.lengths (by decide)\n"
            f"    (show {f.budget} * {b} ≤ {work} * {a} by decide) (h 1 (by decide))"
        )
        machine = in_batches(f"(Claims.{stem}.{engine} ticks)", f)
        returns = (
            doc_comment("From any runs, the machine comes back to one session alone.")
            + f"\ntheorem Chain.machine_returns (ticks : Nat) (h : 1 ≤ ticks) :\n"
            f"    PoissonReturns (Claims.{stem}.{engine} ticks) {phases} {a} {b} :=\n"
            f"  ({name} ticks h).returns"
        )
        proofs = [
            f"namespace Serq.Proofs.{stem}.Chain",
            *_conditions(f"(Claims.{stem}.{engine} ticks)", f, " (ticks : Nat)"),
            *machine,
            f"end Serq.Proofs.{stem}.Chain",
            f"namespace Serq.Proofs.{stem}",
            doc_comment(f"Stable or not by the load: {verdict.why}.")
            + f"\ntheorem {name} : {'' if below else '¬ '}Claims.{stem}.{name} := {proof}",
            *([returns] if below and machine else []),
            f"end Serq.Proofs.{stem}",
        ]
    return Beside(definitions, proofs, verdict, (POISSON_MODULES, BATCH_MODULES))
