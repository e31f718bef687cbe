module

public import Serq.Random

/-! The load of a slotted engine in natural numbers, which decides whether it is stable. -/

@[expose] public noncomputable section

namespace Serq

/-- The weighted sum of the outcomes. -/
def Law.total (p : Law Nat) : Nat := (p.map fun x => x.1 * x.2).sum

theorem Law.total_eq (p : Law Nat) : (p.total : Rat) = p.wsum fun k => k := by
  induction p with
  | nil => rfl
  | cons x p ih =>
    rw [wsum_cons, ← ih]
    simp [Law.total, Rat.natCast_add, Rat.natCast_mul]

theorem Law.weight_mul_mean {p : Law Nat} (hp : 0 < p.weight) :
    (p.weight : Rat) * p.mean (fun k => k) = p.total := by
  have h : (0 : Rat) < p.weight := by exact_mod_cast hp
  rw [mean, total_eq]; grind

/-- A schedule that serves everyone, less work in a slot than a batch can serve, and slots in which
nobody comes: every list of runs that is reached is positive recurrent. -/
theorem slotted_below {p : Program} (hp : p.Proper) (hn : p.slots = none)
    (hs : p.schedule.Serves fun _ _ => False) {phases : List Phase}
    (hphases : Serq.Sized (some (work phases)) phases) {arrivals : Law Nat} {w : Nat}
    (h0 : (w, 0) ∈ arrivals) (hw : 0 < w)
    (hload : work phases * arrivals.total < p.budget * arrivals.weight) (runs : List Run)
    (h : (slotted p phases arrivals).Reaches [] runs) :
    (slotted p phases arrivals).PositiveRecurrent runs := by
  refine slotted_positive_recurrent hp hn hs hphases h0 hw ?_ h
  have hp : 0 < arrivals.weight := Nat.lt_of_lt_of_le hw (Law.le_weight h0)
  have h1 : (0 : Rat) < arrivals.weight := by exact_mod_cast hp
  have h2 : ((work phases * arrivals.total : Nat) : Rat) < (p.budget * arrivals.weight : Nat) := by
    exact_mod_cast hload
  rw [Rat.natCast_mul, Rat.natCast_mul, ← Law.weight_mul_mean hp] at h2
  refine Rat.not_le.mp fun h3 => Rat.not_le.mpr h2 ?_
  have := Rat.mul_le_mul_of_nonneg_right h3 (Rat.le_of_lt h1)
  rwa [Rat.mul_assoc, Rat.mul_comm (arrivals.mean _)] at this

/-- At least as much work in a slot as a batch can serve, and any schedule: the empty engine is not
positive recurrent. -/
theorem slotted_above {p : Program} (hp : p.Proper) (hn : p.slots = none) {phases : List Phase}
    (hphases : Serq.Sized (some (work phases)) phases) (hv : 1 ≤ work phases) {arrivals : Law Nat}
    (hw : 0 < arrivals.weight)
    (hload : p.budget * arrivals.weight ≤ work phases * arrivals.total) :
    ¬ (slotted p phases arrivals).PositiveRecurrent [] := by
  refine (slotted_limited hp hn rfl hphases arrivals).not_positive_recurrent hp.budget hv hw ?_
  have h1 : (0 : Rat) < arrivals.weight := by exact_mod_cast hw
  have h2 : ((p.budget * arrivals.weight : Nat) : Rat) ≤ (work phases * arrivals.total : Nat) := by
    exact_mod_cast hload
  rw [Rat.natCast_mul, Rat.natCast_mul, ← Law.weight_mul_mean hw] at h2
  refine Rat.not_lt.mp fun h3 => Rat.not_lt.mpr h2 ?_
  replace h3 : work phases * arrivals.mean (fun k => (k : Rat)) < p.budget := h3
  have := Rat.mul_lt_mul_of_pos_right h3 h1
  rwa [Rat.mul_assoc, Rat.mul_comm (arrivals.mean _)] at this

end Serq
