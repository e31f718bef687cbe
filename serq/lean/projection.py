"""Theorems about a program whose batches all last the same time: the machine goes through a chain's states.

The general ones are in `lean_export/Serq/Chain/Projection.lean` and `Chain/Idle.lean`.
"""

from __future__ import annotations

from fractions import Fraction

from serq.lean.bounds import batch_ranges, range_of
from serq.lean.facts import MOST_TOKENS, about_batches, costs_of, serves_proof
from serq.lean.fragment import Fragment
from serq.lean.linear import equal, follows, number
from serq.lean.module import phases_text
from serq.lean.names import doc_comment, fill_term


def duration(f: Fragment) -> Fraction | None:
    """How long a batch takes, if that is the same for all."""
    names = [r.name for r in f.engine.registers]
    ends = {end for ranges in batch_ranges(f.budget, names) for end in range_of(f.engine.execute, ranges)}
    (length,) = ends if len(ends) == 1 else (None,)
    return length if isinstance(length, Fraction) else None


def in_slots(name: str, f: Fragment, below: bool) -> list[str]:
    """Theorems: the machine goes through the states of the chain, and is stable if that is."""
    regular = _regular(f"{name}.program", f, any_times=False)
    if regular is None:
        return []
    slot, theorem = regular
    machine = f"{name}.program {phases_text(f.path)} {slot}"
    return [
        theorem,
        doc_comment("The machine goes through the states of the chain, slot by slot.")
        + "\n"
        + fill_term("theorem machine_follows :", f"Follows {machine} {name}.chain :=", 4)
        + "\n  regular.follows _",
        doc_comment("So it is stable or not, as the chain.")
        + "\n"
        + fill_term(
            "theorem machine_empties :", f"{'' if below else '¬ '}Empties {machine} {name}.arrivals :=", 4
        )
        + "\n  "
        + (
            "machine_follows.empties_iff.mpr (stable [] .refl)"
            if below
            else "mt machine_follows.empties_iff.mp empty"
        ),
    ]


def in_batches(program: str, f: Fragment) -> list[str]:
    """Theorems: the machine goes through the states of its chain, from one batch to the next."""
    regular = _regular(program, f, any_times=True)
    if regular is None:
        return []
    slot, theorem = regular
    return [
        theorem,
        doc_comment("The machine goes through the states of a chain, from one batch to the next.")
        + f"\ntheorem machine_follows (ticks : Nat) (h : 1 ≤ ticks) :\n"
        f"    FollowsBatches {program} {phases_text(f.path)} {slot} :=\n"
        f"  (regular ticks h).follows_batches nofun",
    ]


def _lasts(f: Fragment) -> tuple[int, str] | None:
    """Ticks of every batch, and a proof of it; None where there is none."""
    lasts, costs = duration(f), costs_of(f)
    if lasts is None or (lasts * f.ticks).denominator > 1:
        return None
    ticks = int(lasts * f.ticks)
    goal = f"{f.execute.text} = {ticks}"
    if "batch." not in goal:
        return ticks, "(fun _ _ => rfl)"
    if costs.duration is not None and follows(equal(costs.duration, number(ticks)), costs.possible):
        return ticks, about_batches(f, goal, "omega")
    if costs.by_tokens and f.budget <= MOST_TOKENS:
        return ticks, about_batches(f, goal, "decide")
    return None


def _regular(chain_program: str, f: Fragment, any_times: bool) -> tuple[str, str] | None:
    """How long a batch takes, and the theorem that all do; None where that is not known.

    any_times: the unit of the clock is divided into any number of ticks.
    """
    found = _lasts(f)
    if found is None or serves_proof(f) is None:
        return None
    slot, proof = str(found[0]), found[1]
    binders, ticks, positive = "", "", "(by decide)"
    if any_times:
        slot, binders, ticks = f"({slot} * ticks)", " (ticks : Nat) (h : 1 ≤ ticks)", " ticks"
        positive = "(Nat.mul_pos (by decide) h)"
        proof = f"(lasts_in_ticks (execute := fun batch => {f.execute.text}) (fun _ => rfl)\n    {proof})"
    serves, proper = (f"({name}{ticks})" if ticks else name for name in ("serves", "proper"))
    head = fill_term(
        f"theorem regular{binders} :", f"Regular {chain_program} {phases_text(f.path)} {slot} :=", 4
    )
    return slot, (
        f"{head}\n  Schedule.Serves.regular {serves} {proper} rfl rfl (fun _ => rfl) lengths\n"
        f"    {positive} {proof}"
    )
