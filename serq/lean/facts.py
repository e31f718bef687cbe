"""What the general theorems of `Schemes.lean` say about one program.

A fact is a theorem with its constants: a proposition about an iteration in Lean, its proof, and the
same as a formula, so that it is known before Lean sees it whether a claim follows.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction

from attrs import frozen

from serq.ir.expr import Expr, walk
from serq.lean.exact import evaluate
from serq.lean.fragment import Fragment
from serq.lean.linear import (
    All,
    Any,
    Formula,
    Linear,
    NotLinear,
    Translator,
    at_most,
    equal,
    follows,
    greatest,
    number,
    variable,
)
from serq.lean.schedule import Admit, Advance, Alone, Assign, Branch, Clause, Done, Steps
from serq.lean.terms import spelling

MOST_TOKENS = 2048
"""Batches that are looked at one by one, where arithmetic does not see it at once."""


@frozen
class Fact:
    """scheme: what to call it. statement: about an iteration `i`, or an end `e`. proof: a term.

    formula: what the statement says.
    """

    name: str
    scheme: str
    statement: str
    proof: str
    formula: Formula
    quantifier: str = "EveryIteration"


def base_facts(f: Fragment, most: int | None) -> list[Fact]:
    """What holds for every program of the fragment, and for this arrival process.

    most: tokens that a session may have, if that is bounded.
    """
    v = variable
    counters = [
        ("1 ≤ i.tokens", at_most(number(1), v("tokens"))),
        ("i.tokens ≤ i.demand", at_most(v("tokens"), v("demand"))),
        ("i.tokens = i.prefilled + i.decoders", equal(v("tokens"), v("prefilled") + v("decoders"))),
        ("0 ≤ i.prefilled", at_most(number(0), v("prefilled"))),
        ("0 ≤ i.decoders", at_most(number(0), v("decoders"))),
        ("i.decoders ≤ i.residents", at_most(v("decoders"), v("residents"))),
        ("1 ≤ i.residents", at_most(number(1), v("residents"))),
        ("i.residents ≤ i.demand", at_most(v("residents"), v("demand"))),
        ("0 ≤ i.waiting", at_most(number(0), v("waiting"))),
        ("i.residents + i.waiting ≤ i.arrived", at_most(v("residents") + v("waiting"), v("arrived"))),
        ("0 ≤ i.served", at_most(number(0), v("served"))),
        ("0 ≤ i.now", at_most(number(0), v("now"))),
    ]
    facts = [
        Fact("budget", "budget", f"i.tokens ≤ {f.budget}", "_root_.Serq.budget proper lengths",
             at_most(v("tokens"), number(f.budget))),
        Fact("counters", "counters", " ∧ ".join(text for text, _ in counters),
             "_root_.Serq.counters proper lengths", All(tuple(formula for _, formula in counters))),
    ]  # fmt: skip
    slot = f.path.slot
    if slot is None:
        facts.append(
            Fact("none_waits", "counters", "i.waiting = 0", "_root_.Serq.none_waits proper lengths rfl",
                 equal(v("waiting"), number(0)))
        )  # fmt: skip
    else:
        facts.append(
            Fact("slots", "slots", f"i.residents ≤ {slot.count}", "_root_.Serq.slots proper lengths rfl",
                 at_most(v("residents"), number(slot.count)))
        )  # fmt: skip
    if most is not None:
        facts.append(
            Fact("conservation", "conservation", f"i.served + i.demand ≤ i.arrived * {most}",
                 "_root_.Serq.conservation proper lengths",
                 at_most(v("served") + v("demand"), v("arrived").times(most)))
        )  # fmt: skip
    match f.arrivals.kind:
        case "renewal":
            facts.append(
                Fact("arrivals", "arrivals", f"i.arrived * {f.arrivals.amount} ≤ i.now",
                     "_root_.Serq.arrivals (fun _ h => h.1)",
                     at_most(v("arrived").times(f.arrivals.amount), v("now")))
            )  # fmt: skip
        case "batch":
            facts.append(
                Fact("arrivals", "arrivals", f"i.arrived = {f.arrivals.amount}",
                     "_root_.Serq.all_arrived (fun _ h => h.1)",
                     equal(v("arrived"), number(f.arrivals.amount)))
            )  # fmt: skip
    return facts


# ---------------------------------------------------------------- work conservation


def work_conservation(f: Fragment) -> Fact | None:
    """That a batch is full or serves everyone, if the schedule leaves nobody out."""
    proof = _serves(f.schedule, [], f.register_names)
    if proof is None:
        return None
    v = variable
    return Fact(
        "work_conservation", "work conservation", f"i.tokens = {f.budget} ∨ i.tokens = i.demand",
        "_root_.Serq.work_conservation proper lengths serves",
        Any((equal(v("tokens"), number(f.budget)), equal(v("tokens"), v("demand")))),
    )  # fmt: skip


def serves_proof(f: Fragment) -> str | None:
    """A term for `Serves`: that every run passes some `only` before the engine changes."""
    return _serves(f.schedule, [], f.register_names)


_EVERYONE = "(by intros; simp)"
_BY_CASES = "(by intro v r; cases hd : r.decoding <;> simp [everyone, hd] <;> omega)"


def _serves(steps: Steps, seen: list[Clause | None] | None, registers: Sequence[str]) -> str | None:
    """A proof that everyone is seen at the end of `steps`; None if there may be somebody who is not.

    seen: the `only` of the statements so far; None when everyone has been seen.
    """
    match steps:
        case Done():
            if not _all_seen(seen, registers):
                return None
            return f".done {_EVERYONE if seen is None else _BY_CASES}"
        case Advance(only=only, after=after):
            inner = _serves(after, None if seen is None else [*seen, only], registers)
            return inner and f".advance ({inner})"
        case Alone(after=after):
            inner = _serves(after, seen, registers)
            return inner and f".alone ({inner})"
        case Admit(only=only, after=after):
            return _after_a_change("admit", seen, only is None, after, registers)
        case Assign(after=after):
            return _after_a_change("assign", seen, True, after, registers)
        case Branch(yes=yes, no=no):
            first, second = _serves(yes, seen, registers), _serves(no, seen, registers)
            return first and second and f".branch ({first}) ({second})"


def _after_a_change(
    name: str, seen: list[Clause | None] | None, newcomers: bool, after: Steps, registers: Sequence[str]
) -> str | None:
    if newcomers and _all_seen(seen, registers):
        inner = _serves(after, None, registers)
        if inner is not None:
            now = _EVERYONE if seen is None else _BY_CASES
            served = "(fun _ _ => rfl) " if name == "admit" else ""
            return f".{name} {now} {served}({inner})"
    inner = _serves(after, [], registers)
    return inner and f".{name}_again ({inner})"


def _all_seen(seen: list[Clause | None] | None, registers: Sequence[str]) -> bool:
    if seen is None or None in seen:
        return True
    names = ("decoding", "remaining", "running.count", "running.decoding", "waiting.count", *registers)
    translator = Translator({name: variable(name) for name in names})
    try:
        passed = tuple(translator.truth(only.expr) for only in seen if only is not None)
    except NotLinear:
        return False
    facts = [
        at_most(number(0), variable("decoding")), at_most(variable("decoding"), number(1)),
        at_most(number(0), variable("remaining")), *translator.side,
    ]  # fmt: skip
    return bool(passed) and follows(Any(passed), facts)


# ----------------------------------------------------------------------- durations


@frozen
class Costs:
    """How long batches take. duration: in ticks, over the readings of `execute`; None if not linear."""

    fragment: Fragment
    duration: Linear | None
    possible: tuple[Formula, ...]
    by_tokens: bool

    def exact(self, n: int) -> Fraction:
        """Ticks of a batch of `n` tokens, where nothing else counts."""
        e = self.fragment.execute.expr
        return evaluate(e, {"batch.tokens": n}) * self.fragment.ticks

    def rate(self, claimed: Fraction | None) -> tuple[Fraction, str] | None:
        """Ticks per token that no batch is below, and how Lean sees it ("omega" or "decide").

        claimed: the rate that a claim speaks of; without it the best that can be found.
        """
        if claimed is None:
            if not self.by_tokens or self.fragment.budget > MOST_TOKENS:
                return None
            claimed = min(self.exact(n) / n for n in range(1, self.fragment.budget + 1))
        if claimed <= 0:
            return None
        t = variable("batch.tokens")
        if self.duration is not None and follows(at_most(t.times(claimed), self.duration), self.possible):
            return claimed, "omega"
        one_by_one = self.by_tokens and self.fragment.budget <= MOST_TOKENS
        if one_by_one and all(n * claimed <= self.exact(n) for n in range(1, self.fragment.budget + 1)):
            return claimed, "decide"
        return None

    def surplus(self, work: int, gap: int) -> int | None:
        """The most that comes, in tokens times ticks, during a batch beyond what it serves.

        None when it has no bound, or when a full batch is not as fast as what comes.
        """
        if self.duration is None:
            return None
        t = variable("batch.tokens")
        full = equal(t, number(self.fragment.budget))
        brought, served = self.duration.times(work), t.times(gap)
        if not follows(at_most(brought, served), [*self.possible, full]):
            return None
        if self.by_tokens and self.fragment.budget <= MOST_TOKENS:
            counts = range(1, self.fragment.budget + 1)
            most = max(0, *(math.ceil(work * self.exact(n) - gap * n) for n in counts))
            if follows(at_most(brought, served + number(most)), self.possible):
                return most
        bound = greatest(brought - served, self.possible)
        return None if bound is None else max(0, math.ceil(bound))


def costs_of(f: Fragment) -> Costs:
    """What is known of the durations of this program."""
    v = variable
    names = ["batch.tokens", "batch.prefilled", "batch.decoding", "running.count", "waiting.count"]
    names += f.register_names
    translator = Translator({name: v(name) for name in names})
    try:
        duration: Linear | None = translator.number(f.execute.expr).times(f.ticks)
    except NotLinear:
        duration = None
    t, p, d, r = (v(name) for name in names[:4])
    possible = [
        at_most(number(1), t), at_most(t, number(f.budget)), equal(t, p + d), at_most(number(0), p),
        at_most(number(0), d), at_most(d, r), at_most(number(1), r),
        at_most(number(0), v("waiting.count")), *translator.side,
    ]  # fmt: skip
    if f.path.slot is not None:
        possible.append(at_most(r, number(f.path.slot.count)))
    read = {spelling(x) for x in walk(f.execute.expr) if _reads(x)}
    return Costs(f, duration, tuple(possible), read <= {"batch.tokens"})


def _reads(e: Expr) -> bool:
    return type(e).__name__ in ("Var", "RegisterRead")


def end_facts(f: Fragment, costs: Costs, rates: Sequence[Fraction | None], work: int | None) -> list[Fact]:
    """What holds when everybody has ended.

    rates: as `token_rate` takes them, of the sessions' tokens. work: tokens of every session, if they
    are the same.
    """
    v, end = variable, "AtEnd"
    facts = [
        Fact("end_counters", "counters", "0 ≤ e.sessions ∧ 0 ≤ e.now ∧ 0 ≤ e.served",
             "_root_.Serq.end_counters",
             All(tuple(at_most(number(0), v(name)) for name in ("sessions", "now", "served"))), end),
    ]  # fmt: skip
    match f.arrivals.kind:
        case "renewal":
            facts.append(
                Fact("end_arrivals", "arrivals", f"e.sessions * {f.arrivals.amount} ≤ e.now",
                     "_root_.Serq.end_arrivals (fun _ h => h.1)",
                     at_most(v("sessions").times(f.arrivals.amount), v("now")), end)
            )  # fmt: skip
        case "batch":
            facts.append(
                Fact("end_count", "arrivals", f"e.sessions = {f.arrivals.amount}",
                     "_root_.Serq.end_count (fun _ h => h.1)",
                     equal(v("sessions"), number(f.arrivals.amount)), end)
            )  # fmt: skip
    if work is None:
        return facts
    # Where a unit of the clock is left open the rate has another form.
    for claimed in rates if f.arrivals.kind != "any" else ():
        rate = token_rate(f, costs, claimed / work if claimed is not None and work else None)
        if rate is not None:
            proof = rate.proof.replace("_root_.Serq.token_rate", "_root_.Serq.end_rate")
            statement = rate.statement.replace("i.", "e.")
            facts.append(Fact(f"end_{rate.name}", "token rate", statement, proof, rate.formula, end))
    facts.append(
        Fact("totals", "totals", f"e.served = e.sessions * {work}",
             "_root_.Serq.totals proper lengths same",
             equal(v("served"), v("sessions").times(work)), end)
    )  # fmt: skip
    return facts


def token_rate(f: Fragment, costs: Costs, claimed: Fraction | None) -> Fact | None:
    """That served tokens took their time."""
    found = costs.rate(claimed)
    if found is None:
        return None
    rate, way = found
    p, q = rate.numerator, rate.denominator
    goal = f"batch.tokens * {p} ≤ {q} * ({f.execute.text})"
    v = variable
    if f.arrivals.kind == "any":
        execute = f"(execute := fun batch => {f.execute.text}) (fun _ => rfl)"
        return Fact(
            f"token_rate_{p}_{q}", "token rate", f"i.served * {p} * ticks ≤ {q} * i.now",
            f"_root_.Serq.token_rate_in_ticks (P := {p}) (Q := {q}) {execute}\n    proper lengths "
            f"{about_batches(f, goal, way)}",
            at_most(v("served").times(p), v("now").times(q)),
        )  # fmt: skip
    return Fact(
        f"token_rate_{p}_{q}", "token rate", f"i.served * {p} ≤ {q} * i.now",
        f"_root_.Serq.token_rate (P := {p}) (Q := {q}) proper lengths "
        f"{about_batches(f, goal, way)}",
        at_most(v("served").times(p), v("now").times(q)),
    )  # fmt: skip


def about_batches(f: Fragment, goal: str, way: str, full: bool = False) -> str:
    """A proof of `goal` for every possible `batch`."""
    lines = [f"(fun batch h{' hfull' if full else ''} => by"]
    lines.append(f"    have h1 : batch.tokens ≤ {f.budget} := h.budget")
    if way == "decide":
        lines.append(f"    have key := one_by_one (P := fun t => {goal.replace('batch.tokens', 't')})")
        lines.append(f"      {f.budget} (by decide +kernel) batch.tokens h.tokens h1")
        lines.append("    exact key)")
        return "\n".join(lines)
    if full:
        lines.append(f"    have h0 : batch.tokens = {f.budget} := hfull")
    lines.append("    have ⟨h2, _, h3, h4, h5, h6, h7, h8, _⟩ := h")
    if f.path.slot is not None:
        lines.append(f"    have h9 : batch.running ≤ {f.path.slot.count} := h.slots _ rfl")
    lines.append(f"    show {goal}")
    if unfolded := [name for name in ("ceilDiv", "truth") if name in goal]:
        lines.append(f"    simp only [{', '.join(unfolded)}]")
    lines.append("    omega)")
    return "\n".join(lines)


def backlog(f: Fragment, costs: Costs, work: int | None) -> Fact | None:
    """That the backlog is bounded, at or below capacity, with a greedy schedule and equal sessions.

    work: tokens of every session, None if they differ.
    """
    if f.arrivals.kind != "renewal" or f.path.slot is not None or work is None:
        return None
    if work_conservation(f) is None:
        return None
    gap = f.arrivals.amount
    surplus = costs.surplus(work, gap)
    if surplus is None:
        return None
    bound = max(gap * work, gap * f.budget * work + surplus - work)
    e = f.execute.text
    v = variable
    full = about_batches(f, f"{work} * ({e}) ≤ {gap} * batch.tokens", "omega", full=True)
    part = about_batches(f, f"{work} * ({e}) ≤ {gap} * batch.tokens + {surplus}", "omega")
    return Fact(
        "backlog", "backlog", f"i.arrived * {gap * work} ≤ i.served * {gap} + {bound}",
        f"_root_.Serq.backlog (V := {work}) (gap := {gap}) (E := {surplus}) (K := {bound}) proper lengths\n"
        f"    serves rfl (fun _ h => h.1) same (by decide)\n"
        f"    {full}\n    {part}\n    (by decide) (by decide)",
        at_most(v("arrived").times(gap * work), v("served").times(gap) + number(bound)),
    )  # fmt: skip
