"""Theorems about one program as Lean text: the conditions of the general ones, facts, claims."""

from __future__ import annotations

import math
import re

from serq.lean import facts as about
from serq.lean.facts import Fact
from serq.lean.fragment import Fragment, Stated
from serq.lean.linear import Formula, Linear, NotLinear, Translator, greatest, variable
from serq.lean.module import Text, phases_text, reads_serial
from serq.lean.names import doc_comment, fill_term, lean_name
from serq.lean.witness import FINE, Witness, state_text


class Theorems:
    """The theorems of one program, each after those that it needs.

    The conditions and facts about a workload stand in a namespace of their own, and are written when
    they are first needed.
    """

    def __init__(self, fragment: Fragment, names: Text) -> None:
        self.fragment = fragment
        self.names = names
        self.theorems: list[str] = []
        self.any_times = names.any_times
        # Where a unit of the clock is left open, theorems about the program are about all of them.
        self.ticks = " ticks" if names.any_times else ""
        self.parameter = " (ticks : Nat)" if names.any_times else ""
        self.written: set[str] = set()

    def text(self) -> list[str]:
        """All theorems, in their namespace; nothing when there are none."""
        if not self.theorems:
            return []
        namespace = f"Serq.Proofs.{lean_name(self.names.stem)}"
        return [f"namespace {namespace}", *self.theorems, f"end {namespace}"]

    def _program(self) -> str:
        name = f"Claims.{lean_name(self.names.stem)}.{lean_name(self.names.program)}"
        return f"({name} ticks)" if self.any_times else name

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
        ticks = self.parameter
        most = most_tokens(self.fragment, stated)
        some_most = "none" if most is None else f"(some {most})"
        budget_most = "none" if f.most is None else f"some {f.most}"
        lines = [
            f"namespace {lean_name(room)}",
            f"theorem proper{ticks} : {program}.Proper :=\n"
            f"  ⟨show 1 ≤ {f.budget} by decide, fun m (h : {budget_most} = some m) => by cases h <;> decide⟩",
            f"theorem lengths : Lengths {some_most} {workload} := by\n{self._lengths_proof(stated, most)}",
        ]
        if (serves := about.serves_proof(f)) is not None:
            lines.append(f"theorem serves{ticks} : {program}.schedule.Serves fun _ _ => False :=\n  {serves}")
        work = same_work(f, stated)
        if work is not None:
            lines.append(
                f"theorem same : ∀ w, {workload} w → ∀ k, work (w.phases k) = {work} := by\n"
                f"{self._same_proof(stated)}"
            )
        lines.append(f"end {lean_name(room)}")
        self.theorems += lines

    def _lengths_proof(self, stated: Stated, most: int | None) -> str:
        path = self.fragment.path
        bound = "none" if most is None else f"some {most}"
        lines = ["  rintro w ⟨_, hw⟩ k"]
        if self._is_plain(stated):
            lines.append("  rw [hw k]")
            lines.append(f"  exact ⟨by decide, fun m (h : {bound} = some m) => by cases h <;> decide⟩")
            return "\n".join(lines)
        lines += self._session(stated)
        lines.append("  refine ⟨fun x hx => ?_, fun m h => ?_⟩")
        lines.append("  · simp only [List.mem_cons, List.not_mem_nil, or_false] at hx")
        cases = " | ".join(["rfl"] * len(path.phases))
        unfolded = ["Phase.prefill", "Phase.decode"]
        unfolded += [name for name in ("ceilDiv", "truth") if name in phases_text(path)]
        lines.append(f"    rcases hx with {cases} <;> dsimp only [{', '.join(unfolded)}] <;> omega")
        lines.append("  · cases h")
        if most is not None:
            lines.append(f"    simp only [{self._sums()}]")
            lines.append("    omega")
        return "\n".join(lines)

    def _sums(self) -> str:
        """What to unfold for the tokens of a session."""
        names = ["work", "List.map_cons", "List.map_nil", "List.sum_cons", "List.sum_nil"]
        names += [name for name in ("ceilDiv", "truth") if name in phases_text(self.fragment.path)]
        return ", ".join(names)

    def _is_plain(self, stated: Stated) -> bool:
        """Whether a workload says nothing of a session but its runs, and these are known."""
        path = self.fragment.path
        return path.constant is not None and not path.variables and stated.given is None

    def _session(self, stated: Stated) -> list[str]:
        """What is known of session `k`, and its runs in the goal."""
        variables = self.fragment.path.variables
        names = [v.name for v in variables] + [name for v in variables for name, _ in v.limits]
        given = ["given"] if stated.given is not None else []
        known = ", ".join([*names, *given, "hk"])
        return [f"  have ⟨{known}⟩ := hw k" if names or given else "  have hk := hw k", "  rw [hk]"]

    def _same_proof(self, stated: Stated) -> str:
        lines = ["  rintro w ⟨_, hw⟩ k"]
        if self._is_plain(stated):
            return "\n".join([*lines, "  rw [hw k]; decide"])
        lines += self._session(stated)
        lines.append(f"  simp only [{self._sums()}]")
        return "\n".join([*lines, "  omega"])

    def _fact(self, stated: Stated, fact: Fact) -> str:
        """The name of a fact, which is written when it is first needed."""
        self._open(stated)
        room = self._room(stated)
        name = f"{lean_name(room)}.{fact.name}"
        if name not in self.written:
            self.written.add(name)
            prefix = lean_name(room)
            proof = re.sub(r"\b(lengths|same)\b", rf"{prefix}.\1", fact.proof)
            ours = rf"({prefix}.\1{self.ticks})" if self.ticks else rf"{prefix}.\1"
            proof = re.sub(r"\b(proper|serves)\b", ours, proof)
            variable = "e" if fact.quantifier == "AtEnd" else "i"
            head = f"    {fact.quantifier} {self._program()} {self._workload(stated)} fun {variable} =>"
            statement = fill_term(head, fact.statement + " :=", 6)
            self.theorems.append(f"theorem {name}{self.parameter} :\n{statement}\n  {proof}")
        return f"{name}{self.ticks}"

    def by_facts(self, stated: Stated, facts: list[Fact], never: bool) -> None:
        """That a claim is true, or `never` is, because some facts are."""
        names = [self._fact(stated, fact) for fact in facts]
        kind = "¬ " if never else ""
        lines = [
            doc_comment(f"`{stated.claim.name}` is {'false' if never else 'true'}."),
            f"protected theorem {lean_name(stated.claim.name)} : {kind}{self._claim(stated)} := by",
        ]
        if never:
            if self.any_times:
                lines.append("  rintro ⟨ticks, _, h⟩\n  revert h")
            lines.append("  refine EveryIteration.never ?_")
        elif self.any_times:
            lines.append("  intro ticks _")
        known = "w hw s hr hs" if stated.quantifier != "AtEnd" else "w hw s hr hs stop ht"
        lines.append(f"  intro {known}")
        lines += [f"  have h{k} := {name} {known}" for k, name in enumerate(names)]
        if stated.quantifier == "AtEnd":
            lines.append("  generalize ending s stop = e at *")
        else:
            lines.append("  generalize iteration _ s = i at *")
        goal = ("¬ " if never else "") + (f"({stated.proposition})" if never else stated.proposition)
        lines.append(fill_term("  show", goal, 4))
        lines += [
            fill_term(f"  replace h{k} :", f"{fact.statement} := h{k}", 4) for k, fact in enumerate(facts)
        ]
        if unfolded := [name for name in ("ceilDiv", "truth") if name in stated.proposition]:
            lines.append(f"  simp only [{', '.join(unfolded)}]")
        products = any("ticks" in fact.statement for fact in facts)
        lines.append("  grind" if products else "  first | omega | trivial | simp | (simp; omega)")
        self.theorems.append("\n".join(lines))

    def _with_draws(self, text: str, witness: Witness) -> str:
        """A term over the draws of a session, with the values that they have in a witness."""
        for v in self.fragment.path.variables:
            value = witness.world.draws[v.name]
            literal = f"(({value} : Nat) : Int)" if v.natural else f"({value} : Int)"
            text = text.replace(f"({v.name} : Int)", literal)
        return text

    def _given_proof(self, stated: Stated, witness: Witness) -> tuple[str, str]:
        """That the sessions of a witness satisfy `given`, and the name of their number there."""
        if stated.given is None:
            return "", "_"
        if not reads_serial(stated.given):
            return "by decide, ", "_"
        text = self._with_draws(stated.given.text, witness)
        return f"(show ∀ k : Nat, k < {witness.world.count} → {text} from by decide +kernel) k, ", "k"

    def by_witness(self, stated: Stated, witness: Witness, refutes: bool) -> None:
        """That a claim is true, or not, because of one iteration."""
        world, path = witness.world, self.fragment.path
        program, claim = self._program(), self._claim(stated)
        phases = self._with_draws(phases_text(path), witness)
        index = "_" if self.fragment.arrivals.kind == "batch" else "k"
        time = f"fun {index} => {_times(self.fragment, witness)}"
        room = f"Worlds.{lean_name(stated.claim.name)}"
        sessions = f"⟨{world.count}, {time}, fun {'k' if '(k : Int)' in phases else '_'} => {phases}⟩"
        draws = "".join(f"{value}, " for value in world.draws.values())
        limits = "".join("by decide, " for v in path.variables for _ in v.limits)
        given, session = self._given_proof(stated, witness)
        each = f"⟨{draws}{limits}{given}rfl⟩" if draws or given else "rfl"
        i = witness.iteration
        words = f"`{stated.claim.name}` is {'false' if refutes else 'true'}: after {witness.steps} steps, at "
        words += f"{witness.stops[-1][1].now}"
        words += (
            f", with demand {i.demand} and tokens {i.tokens}."
            if i is not None
            else f", the end, of a run until {witness.stop}."
        )
        if self.any_times:
            program = program.replace(" ticks)", f" {FINE})")
        lines = [
            *(["set_option maxHeartbeats 0 in"] if len(witness.stops) > 3 else []),
            doc_comment(words),
            f"protected theorem {lean_name(stated.claim.name)} : {'¬ ' if refutes else ''}{claim} := by",
            *([] if not self.any_times else ["  intro h", f"  have h := h {FINE} (by decide)", "  revert h"]
              if refutes else [f"  refine ⟨{FINE}, by decide, ?_⟩"]),
            f"  have h0 : Reachable {program} {room} _ := .initial",
        ]  # fmt: skip
        for k, (steps, state) in enumerate(witness.stops):
            if steps:
                lines.append(
                    fill_term(
                        f"  have h{k + 1} : Reachable {program} {room}",
                        state_text(state) + " :=",
                        4,
                    )
                )
                lines.append(f"    h{k}.later (k := {steps}) (by decide +kernel)")
            else:
                lines.append(f"  have h{k + 1} := h{k}")
        last = len(witness.stops)
        if i is not None:
            lines.append("  refine SomeIteration.refutes ?_" if refutes else "  show SomeIteration _ _ _")
        scheme = "witness" if i is not None else f"end_refutes (stop := {witness.stop})"
        lines.append(f"  refine {scheme} (w := {room}) ⟨{_arrive(self.fragment)}, fun {session} => {each}⟩")
        lines.append(f"    h{last} (by decide +kernel) {'' if i is not None else '(by decide +kernel) '}?_")
        # What is true of anything is closed by the first of the two.
        lines.append("  all_goals dsimp only")
        lines.append("  all_goals decide +kernel")
        definition = "\n".join([
            doc_comment(f"The sessions of the run that shows what `{stated.claim.name}` is."),
            fill_term(f"@[expose] def {room} : Sessions :=", sessions, 2),
        ])  # fmt: skip
        self.theorems += [definition, "\n".join(lines)]


def most_tokens(f: Fragment, stated: Stated) -> int | None:
    """The most tokens that a session may have among those that the claim speaks of."""
    found = _total(f, stated)
    bound = None if found is None else greatest(*found)
    return None if bound is None else max(0, int(bound))


def same_work(f: Fragment, stated: Stated) -> int | None:
    """The tokens of a session, where all those that the claim speaks of have the same number."""
    phases = f.path.constant
    if phases is not None:
        return sum(n for _, n in phases)
    found = _total(f, stated)
    if found is None:
        return None
    total, facts = found
    most, least = greatest(total, facts), greatest(total.times(-1), facts)
    if most is None or least is None or math.floor(most) != -math.floor(least):
        return None
    return math.floor(most)


def _total(f: Fragment, stated: Stated) -> tuple[Linear, list[Formula]] | None:
    """The tokens of a session, and what is known of them; None if that is not linear."""
    found = f.path.total()
    if found is None or stated.given is None:
        return found
    translated = _given_formulas(f, stated)
    return None if translated is None else (found[0], [*found[1], *translated])


def _given_formulas(f: Fragment, stated: Stated) -> list[Formula] | None:
    assert stated.given is not None
    if reads_serial(stated.given):
        return []  # it says nothing of sessions that do not come, of which theorems speak as well
    names = [v.name for v in f.path.variables]
    translator = Translator({name: variable(name) for name in ("serial", *names)})
    try:
        formula = translator.truth(stated.given.expr)
    except NotLinear:
        return None
    return [formula, *translator.side]


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
