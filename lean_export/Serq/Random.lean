module

public import Serq.Schemes

/-!
Random arrivals: chains driven by independent draws, Foster's criterion and its converse, and the
runs at an engine when each slot is one batch and brings a random number of sessions.

Laws have natural weights, and probabilities are rational numbers.
-/

@[expose] public noncomputable section

namespace Serq

/-! ## Chains -/

variable {S α : Type}

/-- A law with finite support: outcomes and their natural-number weights. -/
abbrev Law (α : Type) := List (Nat × α)

/-- The total weight. -/
def Law.weight (p : Law α) : Nat := (p.map (·.1)).sum

/-- The weighted sum of `f`. -/
def Law.wsum (p : Law α) (f : α → Rat) : Rat := (p.map fun x => (x.1 : Rat) * f x.2).sum

/-- The expectation of `f`. -/
def Law.mean (p : Law α) (f : α → Rat) : Rat := p.wsum f / p.weight

/-- The probability of `A`. -/
def Law.prob (p : Law α) (A : α → Bool) : Rat := p.mean fun a => if A a then 1 else 0

/-- The law of `n` independent draws. -/
def Law.draws (p : Law α) : Nat → Law (List α)
  | 0 => [(1, [])]
  | n + 1 => p.flatMap fun x => (p.draws n).map fun y => (x.1 * y.1, x.2 :: y.2)

/-- A Markov chain: each step draws an outcome independently of the past. -/
structure Chain (S α : Type) where
  law : Law α
  step : S → α → S

/-- The states visited after `s`, one for each outcome. -/
def Chain.visits (c : Chain S α) : S → List α → List S
  | _, [] => []
  | s, a :: as => c.step s a :: c.visits (c.step s a) as

/-- The probability that the chain from `s` is not in `A` at any of the times 1 to `t`. -/
def Chain.away (c : Chain S α) (A : S → Bool) (s : S) (t : Nat) : Rat :=
  (c.law.draws t).prob fun as => !(c.visits s as).any A

/-- `E min(T, n) = P(T > 0) + ... + P(T > n - 1)` for the first time `T ≥ 1` in `A`. -/
def Chain.returnTime (c : Chain S α) (A : S → Bool) (s : S) (n : Nat) : Rat :=
  ((List.range n).map (c.away A s)).sum

/-- The expected time from `s` to `A` is finite. -/
def Chain.FiniteReturn (c : Chain S α) (A : S → Bool) (s : S) : Prop :=
  ∃ B, ∀ n, c.returnTime A s n ≤ B

/-- The expected time from `s` back to `s` is finite. -/
def Chain.PositiveRecurrent [DecidableEq S] (c : Chain S α) (s : S) : Prop :=
  c.FiniteReturn (fun t => decide (t = s)) s

/-- The states that the chain from `s` enters with positive probability. -/
inductive Chain.Reaches (c : Chain S α) (s : S) : S → Prop where
  | refl : c.Reaches s s
  | step {t : S} {w : Nat} {a : α} :
      c.Reaches s t → (w, a) ∈ c.law → 0 < w → c.Reaches s (c.step t a)

/-! ## Foster's criterion -/

/-! ### Expectations -/

theorem Law.wsum_nil (f : α → Rat) : Law.wsum [] f = 0 := rfl

theorem Law.wsum_cons (x : Nat × α) (p : Law α) (f : α → Rat) :
    Law.wsum (x :: p) f = x.1 * f x.2 + p.wsum f := rfl

theorem Law.weight_nonneg (p : Law α) : (0 : Rat) ≤ p.weight := by
  exact_mod_cast Nat.zero_le _

theorem Law.weight_eq (p : Law α) : (p.weight : Rat) = p.wsum fun _ => 1 := by
  induction p with
  | nil => rfl
  | cons x p ih =>
    rw [wsum_cons, ← ih]
    simp [Law.weight, Rat.natCast_add, Rat.mul_one]

theorem Law.wsum_add (p : Law α) (f g : α → Rat) :
    p.wsum (fun a => f a + g a) = p.wsum f + p.wsum g := by
  induction p with
  | nil => simp [wsum_nil, Rat.add_zero]
  | cons x p ih => simp only [wsum_cons, ih]; grind

theorem Law.wsum_mul (p : Law α) (k : Rat) (f : α → Rat) :
    p.wsum (fun a => k * f a) = k * p.wsum f := by
  induction p with
  | nil => simp [wsum_nil, Rat.mul_zero]
  | cons x p ih => simp only [wsum_cons, ih]; grind

theorem Law.wsum_le (p : Law α) {f g : α → Rat} (h : ∀ x ∈ p, f x.2 ≤ g x.2) :
    p.wsum f ≤ p.wsum g := by
  induction p with
  | nil => exact Rat.le_refl
  | cons x p ih =>
    have := Rat.mul_le_mul_of_nonneg_left (h x (by simp))
      (show (0 : Rat) ≤ x.1 by exact_mod_cast Nat.zero_le _)
    have := ih fun y hy => h y (by simp [hy])
    simp only [wsum_cons]; grind

theorem Law.wsum_append (p q : Law α) (f : α → Rat) :
    Law.wsum (p ++ q) f = p.wsum f + q.wsum f := by
  induction p with
  | nil => simp [wsum_nil, Rat.zero_add]
  | cons x p ih => simp only [List.cons_append, wsum_cons, ih]; grind

theorem Law.wsum_draws (p : Law α) (n : Nat) (f : List α → Rat) :
    (p.draws (n + 1)).wsum f = p.wsum fun a => (p.draws n).wsum fun as => f (a :: as) := by
  have inner (x : Nat × α) (q : Law (List α)) :
      Law.wsum (q.map fun y => (x.1 * y.1, x.2 :: y.2)) f =
        x.1 * q.wsum fun as => f (x.2 :: as) := by
    induction q with
    | nil => simp [wsum_nil, Rat.mul_zero]
    | cons y q ih => simp only [List.map_cons, wsum_cons, ih, Rat.natCast_mul]; grind
  have outer (q : Law α) :
      Law.wsum (q.flatMap fun x => (p.draws n).map fun y => (x.1 * y.1, x.2 :: y.2)) f
        = q.wsum fun a => (p.draws n).wsum fun as => f (a :: as) := by
    induction q with
    | nil => simp [wsum_nil]
    | cons x q ih => simp only [List.flatMap_cons, wsum_append, wsum_cons, ih, inner]
  exact outer p

theorem Law.mean_eq {p : Law α} (f : α → Rat) : p.mean f = (p.weight : Rat)⁻¹ * p.wsum f := by
  rw [mean, Rat.div_def, Rat.mul_comm]

theorem Law.mean_add (p : Law α) (f g : α → Rat) :
    p.mean (fun a => f a + g a) = p.mean f + p.mean g := by
  simp only [mean_eq, wsum_add, Rat.mul_add]

theorem Law.mean_mul (p : Law α) (k : Rat) (f : α → Rat) :
    p.mean (fun a => k * f a) = k * p.mean f := by
  simp only [mean_eq, wsum_mul]; grind

theorem Law.inv_weight_nonneg (p : Law α) : 0 ≤ (p.weight : Rat)⁻¹ := by
  have := p.weight_nonneg
  by_cases h0 : (p.weight : Rat) = 0
  · rw [h0, Rat.inv_zero]; exact Rat.le_refl
  · have : (0 : Rat) < p.weight := by grind
    exact Rat.le_of_lt (Rat.inv_pos.mpr this)

theorem Law.mean_le (p : Law α) {f g : α → Rat} (h : ∀ x ∈ p, f x.2 ≤ g x.2) :
    p.mean f ≤ p.mean g := by
  simp only [mean_eq]
  exact Rat.mul_le_mul_of_nonneg_left (p.wsum_le h) p.inv_weight_nonneg

theorem Law.mean_mono (p : Law α) {f g : α → Rat} (h : ∀ a, f a ≤ g a) : p.mean f ≤ p.mean g :=
  p.mean_le fun x _ => h x.2

theorem Law.mean_const {p : Law α} (hp : 0 < p.weight) (k : Rat) : p.mean (fun _ => k) = k := by
  have h : (0 : Rat) < p.weight := by exact_mod_cast hp
  have := p.wsum_mul k fun _ => 1
  rw [← weight_eq] at this
  simp only [Rat.mul_one] at this
  rw [mean, this]; grind

theorem Law.weight_draws (p : Law α) (n : Nat) : (p.draws n).weight = p.weight ^ n := by
  induction n with
  | zero => rfl
  | succ n ih =>
    have h : ((p.draws (n + 1)).weight : Rat) = p.weight * (p.draws n).weight := by
      rw [weight_eq, wsum_draws]
      have := p.wsum_mul (p.draws n).weight fun _ => 1
      simp only [Rat.mul_one, ← weight_eq] at *
      rw [this, Rat.mul_comm]
    rw [ih] at h
    rw [Nat.pow_succ, Nat.mul_comm]
    exact_mod_cast h

theorem Law.mean_draws {p : Law α} (hp : 0 < p.weight) (n : Nat) (f : List α → Rat) :
    (p.draws (n + 1)).mean f = p.mean fun a => (p.draws n).mean fun as => f (a :: as) := by
  have hn : 0 < (p.draws n).weight := by rw [weight_draws]; exact Nat.pow_pos hp
  have hw : ((p.draws (n + 1)).weight : Rat) = p.weight * (p.draws n).weight := by
    rw [weight_draws, weight_draws, Nat.pow_succ, Nat.mul_comm]; exact_mod_cast rfl
  have h : (0 : Rat) < p.weight := by exact_mod_cast hp
  have h' : (0 : Rat) < (p.draws n).weight := by exact_mod_cast hn
  simp only [mean_eq, wsum_mul, wsum_draws, hw]
  grind

theorem Law.le_weight {p : Law α} {w : Nat} {a : α} (ha : (w, a) ∈ p) : w ≤ p.weight := by
  induction p with
  | nil => cases ha
  | cons x p ih =>
    simp only [weight, List.map_cons, List.sum_cons] at *
    rcases List.mem_cons.mp ha with rfl | h
    · simp only; omega
    · have := ih h; omega

theorem Law.wsum_nonneg (p : Law α) {f : α → Rat} (hf : ∀ a, 0 ≤ f a) : 0 ≤ p.wsum f := by
  induction p with
  | nil => exact Rat.le_refl
  | cons x p ih =>
    have := Rat.mul_nonneg (show (0 : Rat) ≤ x.1 by exact_mod_cast Nat.zero_le _) (hf x.2)
    simp only [wsum_cons]; grind

/-- An expectation is at least the part of one outcome. -/
theorem Law.le_mean {p : Law α} {w : Nat} {a : α} (ha : (w, a) ∈ p) {f : α → Rat}
    (hf : ∀ a, 0 ≤ f a) : w / p.weight * f a ≤ p.mean f := by
  have key : w * f a ≤ p.wsum f := by
    induction p with
    | nil => cases ha
    | cons x p ih =>
      have := Rat.mul_nonneg (show (0 : Rat) ≤ x.1 by exact_mod_cast Nat.zero_le _) (hf x.2)
      have := wsum_nonneg p hf
      simp only [wsum_cons]
      rcases List.mem_cons.mp ha with rfl | h
      · simp only; grind
      · have := ih h; grind
  have := Rat.mul_le_mul_of_nonneg_left key (inv_weight_nonneg p)
  rw [mean_eq, Rat.div_def]; grind

theorem Law.share_bounds {p : Law α} {w : Nat} {a : α} (ha : (w, a) ∈ p) (hw : 0 < w) :
    0 < (w : Rat) / p.weight ∧ (w : Rat) / p.weight ≤ 1 := by
  have h0 : (0 : Rat) < w := by exact_mod_cast hw
  have h1 : (w : Rat) ≤ p.weight := by exact_mod_cast le_weight ha
  have hi := Rat.inv_pos.mpr (show (0 : Rat) < p.weight by grind)
  have := Rat.mul_le_mul_of_nonneg_right h1 (Rat.le_of_lt hi)
  have := Rat.mul_inv_cancel (p.weight : Rat) (by grind)
  rw [Rat.div_def]
  exact ⟨Rat.mul_pos h0 hi, by grind⟩

/-! ### Return times -/

namespace Chain

variable {c : Chain S α} {A : S → Bool}

theorem away_zero (s : S) : c.away A s 0 = 1 := by
  simp [away, Law.prob, Law.draws, Law.mean, Law.wsum, Law.weight, visits]
  grind

theorem away_succ (hp : 0 < c.law.weight) (s : S) (t : Nat) :
    c.away A s (t + 1) =
      c.law.mean fun a => if A (c.step s a) then 0 else c.away A (c.step s a) t := by
  have hn : 0 < (c.law.draws t).weight := by rw [Law.weight_draws]; exact Nat.pow_pos hp
  simp only [away, Law.prob]
  rw [Law.mean_draws hp]
  congr 1; funext a
  simp only [visits, List.any_cons]
  by_cases h : A (c.step s a) = true <;> simp [h, Law.mean_const hn]

theorem returnTime_zero (s : S) : c.returnTime A s 0 = 0 := rfl

theorem mean_sum (hp : 0 < c.law.weight) (ts : List Nat) (f : α → Nat → Rat) :
    c.law.mean (fun a => (ts.map (f a)).sum) = (ts.map fun t => c.law.mean fun a => f a t).sum := by
  induction ts with
  | nil => simp [Law.mean_const hp]
  | cons t ts ih => simp only [List.map_cons, List.sum_cons, Law.mean_add, ih]

/-- After one step the chain is in `A` or the wait goes on from there. -/
theorem returnTime_succ (hp : 0 < c.law.weight) (s : S) (n : Nat) :
    c.returnTime A s (n + 1) =
      1 + c.law.mean fun a => if A (c.step s a) then 0 else c.returnTime A (c.step s a) n := by
  have h : (fun a => if A (c.step s a) then 0 else c.returnTime A (c.step s a) n) = fun a =>
      ((List.range n).map fun t => if A (c.step s a) then 0 else c.away A (c.step s a) t).sum := by
    funext a
    cases A (c.step s a)
    · simp [returnTime]
    · simp only [if_true]
      induction List.range n with
      | nil => rfl
      | cons t ts ih => simp only [List.map_cons, List.sum_cons, ← ih, Rat.add_zero]
  rw [h, mean_sum hp]
  simp only [returnTime, List.range_succ_eq_map, List.map_cons, List.sum_cons, List.map_map,
    Function.comp_def, away_zero, away_succ hp]

/-- `U` is nonnegative and falls by one on average in each step outside `C`. -/
structure Drift (c : Chain S α) (I : S → Prop) (C : S → Bool) (U : S → Rat) : Prop where
  nonneg : ∀ s, I s → 0 ≤ U s
  fall : ∀ s, I s → C s = false → c.law.mean (fun a => U (c.step s a)) ≤ U s - 1

/-- Foster's criterion. -/
theorem Drift.returnTime_le {I : S → Prop} {U : S → Rat} (h : c.Drift I A U)
    (hp : 0 < c.law.weight) (hI : ∀ s a, I s → I (c.step s a)) {s : S} (hs : I s) (n : Nat) :
    c.returnTime A s n ≤ 1 + c.law.mean fun a => U (c.step s a) := by
  induction n generalizing s with
  | zero =>
    have := c.law.mean_mono (f := fun _ => 0) fun a => h.nonneg _ (hI s a hs)
    rw [Law.mean_const hp] at this
    rw [returnTime_zero]; grind
  | succ n ih =>
    rw [returnTime_succ hp]
    refine Rat.add_le_add_left.mpr (c.law.mean_mono fun a => ?_)
    have hn := h.nonneg _ (hI s a hs)
    cases hA : A (c.step s a)
    · have := ih (hI s a hs)
      have := h.fall _ (hI s a hs) hA
      simp only [Bool.false_eq_true, if_false]; grind
    · simpa using hn

theorem Drift.finite {I : S → Prop} {U : S → Rat} (h : c.Drift I A U)
    (hp : 0 < c.law.weight) (hI : ∀ s a, I s → I (c.step s a)) {s : S} (hs : I s) :
    c.FiniteReturn A s :=
  ⟨_, h.returnTime_le hp hI hs⟩

/-! ### From a set that the chain often visits to a set that it sometimes visits from there -/

/-- The probability that the chain is in `A` at one of the times 0 to `n`. -/
def hit (c : Chain S α) (A : S → Bool) : Nat → S → Rat
  | 0, s => if A s then 1 else 0
  | n + 1, s => if A s then 1 else c.law.mean fun a => hit c A n (c.step s a)

/-- `hit 0 + ... + hit (m - 1)`. -/
def hits (c : Chain S α) (A : S → Bool) : Nat → S → Rat
  | 0, _ => 0
  | m + 1, s => hits c A m s + hit c A m s

theorem hit_bounds (hp : 0 < c.law.weight) (n : Nat) (s : S) :
    0 ≤ hit c A n s ∧ hit c A n s ≤ 1 := by
  induction n generalizing s with
  | zero => simp only [hit]; split <;> grind
  | succ n ih =>
    have h0 := c.law.mean_mono fun a => (ih (c.step s a)).1
    have h1 := c.law.mean_mono fun a => (ih (c.step s a)).2
    rw [Law.mean_const hp] at h0 h1
    simp only [hit]; split <;> grind

theorem hits_bounds (hp : 0 < c.law.weight) (m : Nat) (s : S) :
    0 ≤ hits c A m s ∧ hits c A m s ≤ m := by
  induction m with
  | zero => exact ⟨Rat.le_refl, Rat.le_refl⟩
  | succ m ih =>
    have := hit_bounds (A := A) hp m s
    simp only [hits, Rat.natCast_add]; grind

theorem mean_hits (hp : 0 < c.law.weight) (m : Nat) {s : S} (hs : A s = false) :
    c.law.mean (fun a => hits c A m (c.step s a)) = hits c A m s + hit c A m s := by
  induction m with
  | zero => simp [hits, hit, hs, Law.mean_const hp, Rat.add_zero]
  | succ m ih =>
    simp only [hits, Law.mean_add, ih]
    simp [hit, hs]

/-- Drift to `C` and, from `C`, a chance to be in `A` within `m` steps give drift to `A`. -/
theorem Drift.through {I : S → Prop} {C : S → Bool} {U : S → Rat} (h : c.Drift I C U)
    (hp : 0 < c.law.weight) {rise chance : Rat} (m : Nat) (h0 : 0 ≤ rise) (h1 : 0 < chance)
    (hr : ∀ s, I s → C s = true → c.law.mean (fun a => U (c.step s a)) ≤ U s + rise)
    (hc : ∀ s, I s → C s = true → A s = false → chance ≤ hit c A m s) :
    c.Drift I A fun s => U s + (rise + 1) / chance * (m - hits c A m s) := by
  have hk : 0 ≤ (rise + 1) / chance := by
    rw [Rat.div_def]; exact Rat.mul_nonneg (by grind) (Rat.le_of_lt (Rat.inv_pos.mpr h1))
  have hkc : (rise + 1) / chance * chance = rise + 1 := by grind
  generalize (rise + 1) / chance = k at *
  constructor
  · intro s hs
    have := h.nonneg s hs
    have := Rat.mul_nonneg hk (show 0 ≤ m - hits c A m s by
      have := (hits_bounds (A := A) hp m s).2; grind)
    grind
  · intro s hs hA
    have e : (fun a => U (c.step s a) + k * (m - hits c A m (c.step s a))) =
        fun a => U (c.step s a) + (k * m + -k * hits c A m (c.step s a)) := by
      funext a; grind
    rw [e, Law.mean_add, Law.mean_add, Law.mean_const hp, Law.mean_mul, mean_hits hp m hA]
    cases hC : C s
    · have := h.fall s hs hC
      have := Rat.mul_nonneg hk (hit_bounds (A := A) hp m s).1
      grind
    · have := hr s hs hC
      have := Rat.mul_le_mul_of_nonneg_left (hc s hs hC hA) hk
      grind

theorem pow_bounds {q : Rat} (h0 : 0 < q) (h1 : q ≤ 1) (m : Nat) : 0 < q ^ m ∧ q ^ m ≤ 1 := by
  induction m with
  | zero => rw [Rat.pow_zero]; grind
  | succ m ih =>
    have := Rat.mul_pos ih.1 h0
    have := Rat.mul_le_mul_of_nonneg_left h1 (Rat.le_of_lt ih.1)
    rw [Rat.pow_succ]; grind

/-- A quantity that one outcome lowers outside `A` counts down to `A`. -/
theorem hit_of_descent {I : S → Prop} (V : S → Nat) {w : Nat} {a : α} (ha : (w, a) ∈ c.law)
    (hw : 0 < w) (hI : ∀ s a, I s → I (c.step s a))
    (hV : ∀ s, I s → A s = false → V (c.step s a) < V s) (m : Nat) {s : S} (hs : I s)
    (hm : V s ≤ m) : ((w : Rat) / c.law.weight) ^ m ≤ hit c A m s := by
  have hp : 0 < c.law.weight := Nat.lt_of_lt_of_le hw (Law.le_weight ha)
  have hq := Law.share_bounds ha hw
  induction m generalizing s with
  | zero =>
    have : A s = true := by
      cases hA : A s
      · have := hV s hs hA; omega
      · rfl
    simp only [hit, this, if_true, Rat.pow_zero]; exact Rat.le_refl
  | succ m ih =>
    cases hA : A s
    · have := Law.le_mean ha (f := fun a => hit c A m (c.step s a)) fun a => (hit_bounds hp m _).1
      have := ih (hI s a hs) (by have := hV s hs hA; omega)
      have := Rat.mul_le_mul_of_nonneg_left this (Rat.le_of_lt hq.1)
      simp only [hit, hA, Bool.false_eq_true, if_false, Rat.pow_succ]; grind
    · simp only [hit, hA, if_true]
      exact (pow_bounds hq.1 hq.2 _).2

theorem hit_of_reaches {s t : S} (h : c.Reaches s t) (hp : 0 < c.law.weight) {n : Nat}
    (ht : 0 < hit c A n t) : ∃ m, 0 < hit c A m s := by
  induction h generalizing n with
  | refl => exact ⟨n, ht⟩
  | @step t w a _ ha hw ih =>
    refine ih (n := n + 1) ?_
    have := Law.le_mean ha (f := fun a => hit c A n (c.step t a)) fun a => (hit_bounds hp n _).1
    have := Rat.mul_pos (Law.share_bounds ha hw).1 ht
    simp only [hit]; split <;> grind

/-- With drift to one state, every state reached from there is positive recurrent. -/
theorem Drift.positiveRecurrent [DecidableEq S] {I : S → Prop} {U : S → Rat} {o s : S}
    (h : c.Drift I (fun t => decide (t = o)) U) (hp : 0 < c.law.weight)
    (hI : ∀ s a, I s → I (c.step s a)) (ho : I o) (hs : c.Reaches o s) : c.PositiveRecurrent s := by
  obtain ⟨m, hm⟩ := hit_of_reaches (A := fun t => decide (t = s)) hs hp (n := 0)
    (by simp [hit]; grind)
  have h0 := c.law.mean_mono (f := fun _ => 0) fun a => h.nonneg _ (hI o a ho)
  rw [Law.mean_const hp] at h0
  have his : I s := by
    clear hm
    induction hs with
    | refl => exact ho
    | step _ _ _ ih => exact hI _ _ ih
  refine (h.through hp (A := fun t => decide (t = s)) m h0 hm ?_ ?_).finite hp hI his
  · intro t ht hto
    have := h.nonneg t ht
    have : t = o := by simpa using hto
    subst this; grind
  · intro t _ hto _
    have : t = o := by simpa using hto
    subst this; exact Rat.le_refl

end Chain

/-! ## The converse -/

theorem exists_nat_gt (B : Rat) : ∃ n : Nat, B < n := by
  refine ⟨(B.floor + 1).toNat, ?_⟩
  have h2 : ((B.floor + 1 : Int) : Rat) ≤ ((B.floor + 1).toNat : Int) :=
    Rat.intCast_le_intCast.mpr (Int.self_le_toNat _)
  have h3 : (((B.floor + 1).toNat : Int) : Rat) = ((B.floor + 1).toNat : Rat) := rfl
  have h1 := Rat.lt_floor_add_one B
  grind

/-- The sum of the first `n` values. -/
def sumTo (f : Nat → Rat) (n : Nat) : Rat := ((List.range n).map f).sum

theorem sumTo_succ (f : Nat → Rat) (n : Nat) : sumTo f (n + 1) = sumTo f n + f n := by
  have h (xs : List Rat) (y : Rat) : (xs ++ [y]).sum = xs.sum + y := by
    induction xs with
    | nil => simp; grind
    | cons x xs ih => simp only [List.cons_append, List.sum_cons, ih]; grind
  simp only [sumTo, List.range_succ, List.map_append, List.map_cons, List.map_nil, h]

theorem sumTo_add {f : Nat → Rat} {g : Rat} (N M : Nat) (h : ∀ n, n < N + M → g ≤ f n) :
    sumTo f N + M * g ≤ sumTo f (N + M) := by
  induction M with
  | zero => simp only [Nat.add_zero]; grind
  | succ M ih =>
    have := ih fun n hn => h n (by omega)
    have := h (N + M) (by omega)
    rw [← Nat.add_assoc, sumTo_succ, Rat.natCast_add]; grind

/-- The harmonic series. -/
theorem sumTo_unbounded {u v c : Rat} (hu : 0 < u) (hv : 0 < v) (hc : 0 ≤ c) (B : Rat) :
    ∃ n, B < sumTo (fun n => u / (v + c * n)) n := by
  generalize hf : (fun n : Nat => u / (v + c * n)) = f
  have h (n : Nat) : u ≤ (v + c * n) * f n := by
    have : 0 ≤ c * n := Rat.mul_nonneg hc (by exact_mod_cast Nat.zero_le _)
    rw [← hf]
    show u ≤ (v + c * n) * (u / (v + c * n))
    rw [Rat.div_def, Rat.mul_comm u, ← Rat.mul_assoc, Rat.mul_inv_cancel _ (by grind), Rat.one_mul]
    exact Rat.le_refl
  clear hf
  have hpos (n : Nat) : 0 < f n := by
    have h0 : 0 ≤ c * n := Rat.mul_nonneg hc (by exact_mod_cast Nat.zero_le _)
    false_or_by_contra
    have := Rat.mul_nonneg (show 0 ≤ v + c * n by grind) (show 0 ≤ -f n by grind)
    have := h n
    grind
  have hz := Rat.inv_pos.mpr (show 0 < v + 2 * c by grind)
  have hzz : (v + 2 * c) * (v + 2 * c)⁻¹ = 1 := Rat.mul_inv_cancel _ (by grind)
  generalize (v + 2 * c)⁻¹ = z at *
  have hd : 0 < u * z := Rat.mul_pos hu hz
  have grow (k : Nat) : k * (u * z) ≤ sumTo f (2 ^ k) := by
    induction k with
    | zero =>
      have := hpos 0
      rw [Nat.pow_zero, sumTo_succ]
      simp [sumTo]; grind
    | succ k ih =>
      have hN : (1 : Rat) ≤ (2 ^ k : Nat) := by exact_mod_cast Nat.one_le_two_pow
      rw [Nat.pow_succ, Nat.mul_two]
      generalize 2 ^ k = N at *
      have hcN : 0 ≤ c * (N : Rat) := Rat.mul_nonneg hc (by grind)
      have hy := Rat.inv_pos.mpr (show 0 < v + 2 * (c * N) by grind)
      have hyy : (v + 2 * (c * N)) * (v + 2 * (c * N))⁻¹ = 1 := Rat.mul_inv_cancel _ (by grind)
      generalize (v + 2 * (c * N))⁻¹ = y at *
      have := sumTo_add (f := f) (g := u * y) N N fun n hn => by
        have hn : (n : Rat) ≤ 2 * N := by exact_mod_cast (show n ≤ 2 * N by omega)
        have h1 := Rat.mul_le_mul_of_nonneg_left hn hc
        have h2 := Rat.mul_le_mul_of_nonneg_right
          (show v + c * n ≤ v + 2 * (c * N) by grind) (Rat.le_of_lt (hpos n))
        have h3 := Rat.mul_le_mul_of_nonneg_right (Rat.le_trans (h n) h2) (Rat.le_of_lt hy)
        have e : (v + 2 * (c * N)) * f n * y = f n := by
          rw [show (v + 2 * (c * N)) * f n * y = f n * ((v + 2 * (c * N)) * y) by grind, hyy,
            Rat.mul_one]
        rwa [e] at h3
      have h4 : z ≤ N * y := by
        have h5 := Rat.mul_le_mul_of_nonneg_right hN (Rat.le_of_lt hv)
        have h6 := Rat.mul_le_mul_of_nonneg_right
          (show v + 2 * (c * N) ≤ N * (v + 2 * c) by grind) (Rat.le_of_lt (Rat.mul_pos hy hz))
        have e1 : N * (v + 2 * c) * (y * z) = N * y := by
          rw [show N * (v + 2 * c) * (y * z) = N * y * ((v + 2 * c) * z) by grind, hzz, Rat.mul_one]
        have e2 : (v + 2 * (c * N)) * (y * z) = z := by
          rw [← Rat.mul_assoc, hyy, Rat.one_mul]
        rwa [e1, e2] at h6
      have h6 := Rat.mul_le_mul_of_nonneg_left h4 (Rat.le_of_lt hu)
      rw [Rat.natCast_add]
      grind
  obtain ⟨k, hk⟩ := exists_nat_gt (B / (u * z))
  refine ⟨2 ^ k, ?_⟩
  have := grow k
  have := Rat.mul_lt_mul_of_pos_right hk hd
  have : B / (u * z) * (u * z) = B := by grind
  grind

namespace Chain

variable {c : Chain S α} {A : S → Bool}

theorem away_nonneg (hp : 0 < c.law.weight) (s : S) (t : Nat) : 0 ≤ c.away A s t := by
  have := (c.law.draws t).mean_mono (f := fun _ => 0)
    (g := fun as => if !(c.visits s as).any A then 1 else 0)
    fun as => by dsimp only; split <;> grind
  have hn : 0 < (c.law.draws t).weight := by rw [Law.weight_draws]; exact Nat.pow_pos hp
  rw [Law.mean_const hn] at this
  exact this

theorem away_anti (hp : 0 < c.law.weight) (s : S) (t : Nat) :
    c.away A s (t + 1) ≤ c.away A s t := by
  induction t generalizing s with
  | zero =>
    have := c.law.mean_mono (f := fun a => if A (c.step s a) then 0 else c.away A (c.step s a) 0)
      (g := fun _ => 1) fun a => by dsimp only; rw [away_zero]; split <;> grind
    rw [away_succ hp, away_zero]
    rwa [Law.mean_const hp] at this
  | succ t ih =>
    rw [away_succ hp, away_succ hp]
    refine Law.mean_mono _ fun a => ?_
    dsimp only
    split
    · exact Rat.le_refl
    · exact ih _

/-- A finite expected time makes the chain come to `A` with probability one. -/
theorem FiniteReturn.away_le {s : S} (hp : 0 < c.law.weight) (h : c.FiniteReturn A s) :
    ∃ B, ∀ n : Nat, n * c.away A s n ≤ B := by
  obtain ⟨B, hB⟩ := h
  refine ⟨B, fun n => ?_⟩
  have anti (m k : Nat) : c.away A s (m + k) ≤ c.away A s m := by
    induction k with
    | zero => exact Rat.le_refl
    | succ k ih => exact Rat.le_trans (away_anti hp s (m + k)) ih
  have h1 := sumTo_add (f := c.away A s) (g := c.away A s n) 0 n fun m hm => by
    have := anti m (n - m)
    rwa [show m + (n - m) = n by omega] at this
  have h2 := hB n
  simp only [returnTime, sumTo, Nat.zero_add, List.range_zero, List.map_nil, List.sum_nil] at *
  grind

theorem away_le_one (hp : 0 < c.law.weight) (s : S) (t : Nat) : c.away A s t ≤ 1 := by
  induction t with
  | zero => rw [away_zero]; exact Rat.le_refl
  | succ t ih => exact Rat.le_trans (away_anti hp s t) ih

theorem returnTime_mono (hp : 0 < c.law.weight) (s : S) {m n : Nat} (h : m ≤ n) :
    c.returnTime A s m ≤ c.returnTime A s n := by
  have := sumTo_add (f := c.away A s) (g := 0) m (n - m) fun t _ => away_nonneg hp s t
  rw [show m + (n - m) = n by omega, Rat.mul_zero, Rat.add_zero] at this
  exact this

/-- A quantity that is zero in `A` and falls by no more than `d` on average outside `A`, even if
what it rises by in a step is counted only up to `b`, keeps the chain away, or else it takes long.
`g` is what is counted. -/
theorem le_away {I : S → Prop} {V : S → Rat} {g : S → α → Rat} {b d : Rat} (hp : 0 < c.law.weight)
    (hI : ∀ s a, I s → I (c.step s a)) (hA : ∀ s, I s → A s = true → V s = 0)
    (hfall : ∀ s, I s → A s = false → V s ≤ d + c.law.mean (g s))
    (hg : ∀ s a, I s → g s a ≤ V (c.step s a) ∧ g s a ≤ V s + b)
    {s : S} (hs : I s) (hsA : A s = false) (n : Nat) :
    V s ≤ d * c.returnTime A s n + (V s + b * n) * c.away A s n := by
  induction n generalizing s with
  | zero => rw [away_zero, returnTime_zero]; grind
  | succ n ih =>
    have key : c.law.mean (g s) ≤ c.law.mean fun a =>
        d * (if A (c.step s a) then 0 else c.returnTime A (c.step s a) n) +
          (V s + b * (n + 1 : Nat)) * if A (c.step s a) then 0 else c.away A (c.step s a) n := by
      refine Law.mean_mono _ fun a => ?_
      have hga := hg s a hs
      cases h : A (c.step s a)
      · have h1 := ih (hI s a hs) h
        have h2 := Rat.mul_le_mul_of_nonneg_right hga.1
          (show 0 ≤ 1 - c.away A (c.step s a) n by
            have := away_le_one (A := A) hp (c.step s a) n; grind)
        have h3 := Rat.mul_le_mul_of_nonneg_right hga.2 (away_nonneg (A := A) hp (c.step s a) n)
        simp only [Bool.false_eq_true, if_false, Rat.natCast_add]
        grind
      · rw [hA _ (hI s a hs) h] at hga
        simp only [if_true, Rat.mul_zero, Rat.add_zero]; exact hga.1
    rw [Law.mean_add, Law.mean_mul, Law.mean_mul] at key
    rw [away_succ hp, returnTime_succ hp]
    have := hfall s hs hsA
    grind

/-- So the expected time to `A` grows as the harmonic series, at least up to where it has taken all
of that quantity with `d` for each step. -/
theorem lt_returnTime {I : S → Prop} {V : S → Rat} {g : S → α → Rat} {b d B : Rat}
    (hp : 0 < c.law.weight) (hb : 0 ≤ b) (hd : 0 ≤ d) (hI : ∀ s a, I s → I (c.step s a))
    (hA : ∀ s, I s → A s = true → V s = 0)
    (hfall : ∀ s, I s → A s = false → V s ≤ d + c.law.mean (g s))
    (hg : ∀ s a, I s → g s a ≤ V (c.step s a) ∧ g s a ≤ V s + b)
    {s : S} (hs : I s) (hsA : A s = false) (hV : 0 < V s) {t : Nat}
    (ht : B < sumTo (fun n => (V s - d * B) / (V s + b * n)) t) : B < c.returnTime A s t := by
  false_or_by_contra
  rename_i hB
  have hB := Rat.not_lt.mp hB
  have part (n : Nat) (hn : n ≤ t) : (V s - d * B) / (V s + b * n) ≤ c.away A s n := by
    have h1 := le_away hp hI hA hfall hg hs hsA n
    have h2 := Rat.mul_le_mul_of_nonneg_left (Rat.le_trans (returnTime_mono (A := A) hp s hn) hB) hd
    have h3 : 0 ≤ b * n := Rat.mul_nonneg hb (by exact_mod_cast Nat.zero_le _)
    have h4 := Rat.inv_pos.mpr (show 0 < V s + b * n by grind)
    have h5 : (V s + b * n) * (V s + b * n)⁻¹ = 1 := Rat.mul_inv_cancel _ (by grind)
    have h6 := Rat.mul_le_mul_of_nonneg_right
      (show V s - d * B ≤ (V s + b * n) * c.away A s n by grind) (Rat.le_of_lt h4)
    rw [Rat.div_def]
    generalize V s + b * (n : Rat) = y at *
    have e : y * c.away A s n * y⁻¹ = c.away A s n := by
      rw [Rat.mul_comm y, Rat.mul_assoc, h5, Rat.mul_one]
    rwa [e] at h6
  have total (n : Nat) (hn : n ≤ t) :
      sumTo (fun n => (V s - d * B) / (V s + b * n)) n ≤ c.returnTime A s n := by
    induction n with
    | zero => exact Rat.le_refl
    | succ n ih =>
      have h1 := ih (by omega)
      have h2 := part n (by omega)
      have h3 := sumTo_succ (c.away A s) n
      rw [sumTo_succ]
      simp only [returnTime, sumTo] at *
      rw [h3]
      grind
  exact Rat.not_le.mpr ht (Rat.le_trans (total t (Nat.le_refl _)) hB)

/-- A finite return time from `s` makes it finite from each state that follows outside `A`. -/
theorem FiniteReturn.next {s : S} {w : Nat} {a : α} (h : c.FiniteReturn A s) (ha : (w, a) ∈ c.law)
    (hw : 0 < w) (hA : A (c.step s a) = false) : c.FiniteReturn A (c.step s a) := by
  have hp : 0 < c.law.weight := Nat.lt_of_lt_of_le hw (Law.le_weight ha)
  obtain ⟨B, hB⟩ := h
  have hq := (Law.share_bounds ha hw).1
  refine ⟨B / (w / c.law.weight), fun n => ?_⟩
  have h1 := hB (n + 1)
  rw [returnTime_succ hp] at h1
  have hnn (s : S) (n : Nat) : 0 ≤ c.returnTime A s n := by
    simp only [returnTime]
    induction List.range n with
    | nil => exact Rat.le_refl
    | cons t ts ih =>
      have := away_nonneg (A := A) hp s t
      simp only [List.map_cons, List.sum_cons]; grind
  have h2 := Law.le_mean ha
    (f := fun a => if A (c.step s a) then 0 else c.returnTime A (c.step s a) n)
    fun a => by dsimp only; split; exact Rat.le_refl; exact hnn _ _
  simp only [hA, Bool.false_eq_true, if_false] at h2
  generalize (w : Rat) / c.law.weight = q at *
  have h3 : q * c.returnTime A (c.step s a) n ≤ B := by grind
  have h4 := Rat.mul_le_mul_of_nonneg_right h3 (Rat.le_of_lt (Rat.inv_pos.mpr hq))
  have e : q * c.returnTime A (c.step s a) n * q⁻¹ = c.returnTime A (c.step s a) n := by grind
  rwa [e, ← Rat.div_def] at h4

end Chain

/-! ## Work that comes and is served -/

theorem exists_arrival {p : Law Nat} (h : 0 < p.wsum fun k => k) :
    ∃ w k, (w, k) ∈ p ∧ 0 < w ∧ 0 < k := by
  induction p with
  | nil => exact absurd h (by decide)
  | cons x p ih =>
    by_cases hx : 0 < x.1 ∧ 0 < x.2
    · exact ⟨x.1, x.2, by simp, hx⟩
    · have : (x.1 : Rat) * (x.2 : Rat) = 0 := by
        rcases Nat.eq_zero_or_pos x.1 with h0 | h0
        · rw [h0]; grind
        · rw [show x.2 = 0 by omega]; grind
      obtain ⟨w, k, hm, hw⟩ := ih (by rw [Law.wsum_cons] at h; grind)
      exact ⟨w, k, by simp [hm], hw⟩

theorem exists_most (p : Law Nat) : ∃ m, ∀ x ∈ p, x.2 ≤ m := by
  induction p with
  | nil => exact ⟨0, by simp⟩
  | cons y p ih =>
    obtain ⟨m, hm⟩ := ih
    refine ⟨m + y.2, fun x hx => ?_⟩
    rcases List.mem_cons.mp hx with rfl | hx
    · omega
    · have := hm x hx; omega

/-- A chain of which every state has so much work: a step brings `v` for each of its arrivals, and
takes away no more than `b`. `o` is the state without work. -/
structure Limited {S : Type} (c : Chain S Nat) (I : S → Prop) (work give : S → Nat) (b v : Nat)
    (o : S) : Prop where
  start : I o
  keep : ∀ s k, I s → I (c.step s k)
  balance : ∀ s k, I s → work (c.step s k) + give s = work s + k * v
  most : ∀ s, I s → give s ≤ b
  empty : ∀ s, I s → (work s = 0 ↔ s = o)

/-- And a step takes away `b`, or else no more than `b * v` was there. -/
structure Loaded {S : Type} (c : Chain S Nat) (I : S → Prop) (work give : S → Nat) (b v : Nat)
    (o : S) : Prop extends Limited c I work give b v o where
  full : ∀ s, I s → give s = b ∨ work s ≤ b * v
  some : ∀ s, I s → s ≠ o → 1 ≤ give s

namespace Limited

variable {S : Type} {c : Chain S Nat} {I : S → Prop} {load give : S → Nat} {b v : Nat} {o : S}

theorem mean_load (h : Limited c I load give b v o) (hp : 0 < c.law.weight) {s : S} (hs : I s) :
    c.law.mean (fun k => (load (c.step s k) : Rat)) =
      load s - give s + v * c.law.mean (fun k => k) := by
  rw [← Law.mean_mul, ← Law.mean_const hp ((load s : Rat) - give s), ← Law.mean_add]
  congr 1; funext k
  have : ((load (c.step s k) + give s : Nat) : Rat) = (load s + k * v : Nat) := by
    rw [h.balance s k hs]
  simp only [Rat.natCast_add, Rat.natCast_mul] at this
  grind

theorem of_reaches (h : Limited c I load give b v o) {s : S} (hs : c.Reaches o s) : I s := by
  induction hs with
  | refl => exact h.start
  | step _ _ _ ih => exact h.keep _ _ ih

variable [DecidableEq S]

/-- Where the work falls by no more than `d` on average, even if no more than `m` arrivals are
counted in a step, the expected time to the empty state grows as the harmonic series, at least up to
the work divided by `d`. -/
theorem lt_returnTime (h : Limited c I load give b v o) (hp : 0 < c.law.weight) {d : Rat} {m : Nat}
    (hd : 0 ≤ d) (hload : b ≤ d + v * c.law.mean (fun k => (min k m : Nat))) {s : S} (hs : I s)
    (hne : s ≠ o) {B : Rat} {t : Nat}
    (ht : B < sumTo (fun n => (load s - d * B) / (load s + (m * v : Nat) * n)) t) :
    B < c.returnTime (fun s => decide (s = o)) s t := by
  refine Chain.lt_returnTime (V := fun s => (load s : Rat)) (b := (m * v : Nat))
    (g := fun s k => load s - give s + v * (min k m : Nat)) hp (by exact_mod_cast Nat.zero_le _) hd
    (fun s k hs => h.keep s k hs) ?_ ?_ ?_ hs (by simpa using hne) ?_ ht
  · intro s hs he
    have : load s = 0 := (h.empty s hs).mpr (by simpa using he)
    simp only [this]; rfl
  · intro s hs _
    rw [Law.mean_add, Law.mean_const hp, Law.mean_mul]
    have : (give s : Rat) ≤ b := by exact_mod_cast h.most s hs
    grind
  · intro s k hs
    have h1 := h.balance s k hs
    have h2 := Nat.mul_le_mul_right v (Nat.min_le_left k m)
    have h3 := Nat.mul_le_mul_right v (Nat.min_le_right k m)
    have h4 : ((load s + min k m * v : Nat) : Rat) ≤ (load (c.step s k) + give s : Nat) := by
      exact_mod_cast (show load s + min k m * v ≤ load (c.step s k) + give s by omega)
    have h5 : ((load s + min k m * v : Nat) : Rat) ≤ (load s + m * v + give s : Nat) := by
      exact_mod_cast (show load s + min k m * v ≤ load s + m * v + give s by omega)
    rw [Rat.natCast_add, Rat.natCast_mul] at h4 h5
    rw [Rat.natCast_add] at h4 h5
    rw [Rat.natCast_add (load s)] at h5
    grind
  · have : load s ≠ 0 := fun h0 => hne ((h.empty s hs).mp h0)
    show (0 : Rat) < load s
    exact_mod_cast Nat.pos_of_ne_zero this

/-- At and above capacity the expected time back to the empty state is infinite. -/
theorem not_positive_recurrent (h : Limited c I load give b v o) (hb : 0 < b) (hv : 1 ≤ v)
    (hp : 0 < c.law.weight) (hload : b ≤ v * c.law.mean (fun k => k)) :
    ¬ c.PositiveRecurrent o := by
  intro hrec
  have hv0 : (0 : Rat) < v := by exact_mod_cast hv
  have hb0 : (0 : Rat) < b := by exact_mod_cast hb
  have hE : 0 < c.law.wsum fun k => k := by
    false_or_by_contra
    have h2 := Rat.mul_nonneg (c.law.inv_weight_nonneg)
      (show 0 ≤ -c.law.wsum fun k => (k : Rat) by grind)
    have h3 := Rat.mul_nonneg (Rat.le_of_lt hv0) h2
    rw [Law.mean_eq] at hload
    grind
  obtain ⟨w, k, hm, hw, hk⟩ := exists_arrival hE
  have hz : load o = 0 := (h.empty o h.start).mpr rfl
  have hgive : give o = 0 := by
    have := h.balance o 0 h.start
    omega
  have hnext : load (c.step o k) = k * v := by
    have := h.balance o k h.start
    omega
  have hpos := Nat.mul_pos hk hv
  have hne : decide (c.step o k = o) = false := by
    rw [decide_eq_false_iff_not]
    intro he
    rw [he, hz] at hnext
    omega
  obtain ⟨B, hB⟩ := Chain.FiniteReturn.next hrec hm hw hne
  have hwork : (0 : Rat) < load (c.step o k) := by
    rw [hnext]
    exact_mod_cast hpos
  obtain ⟨m, hmost⟩ := exists_most c.law
  have hmean : c.law.mean (fun k => (k : Rat)) ≤ c.law.mean fun k => (min k m : Nat) :=
    c.law.mean_le fun x hx => by
      rw [Nat.min_eq_left (hmost x hx)]; exact Rat.le_refl
  have := Rat.mul_le_mul_of_nonneg_left hmean (Rat.le_of_lt hv0)
  obtain ⟨t, ht⟩ := sumTo_unbounded (show 0 < (load (c.step o k) : Rat) - 0 * B by grind) hwork
    (show (0 : Rat) ≤ (m * v : Nat) by exact_mod_cast Nat.zero_le _) B
  exact Rat.not_lt.mpr (hB t) (h.lt_returnTime hp (d := 0) Rat.le_refl (by grind)
    (h.keep o k h.start) (by simpa using hne) ht)

end Limited

namespace Loaded

variable {S : Type} {c : Chain S Nat} {I : S → Prop} {load give : S → Nat} {b v : Nat} {o : S}

theorem load_nonneg (v : Nat) {arrivals : Law Nat} (hp : 0 < arrivals.weight) :
    0 ≤ (v : Rat) * arrivals.mean (fun k => k) := by
  have := arrivals.mean_mono (f := fun _ => 0) (g := fun k => (k : Rat)) fun k => by
    show (0 : Rat) ≤ k
    exact_mod_cast Nat.zero_le _
  rw [Law.mean_const hp] at this
  exact Rat.mul_nonneg (by exact_mod_cast Nat.zero_le _) this

variable [DecidableEq S]

/-- The work left, weighted, plus a bounded term for the way from little work to none. -/
def potential (c : Chain S Nat) (load : S → Nat) (b v w : Nat) (r : Rat) (o s : S) : Rat :=
  (b - r)⁻¹ * load s +
    ((b - r)⁻¹ * r + 1) / ((w : Rat) / c.law.weight) ^ (b * v) *
      ((b * v : Nat) - Chain.hits c (fun s => decide (s = o)) (b * v) s)

/-- Below capacity the work left falls on average while it is much; without arrivals all goes. -/
theorem drift (h : Loaded c I load give b v o) {w : Nat} (h0 : (w, 0) ∈ c.law) (hw : 0 < w)
    {r : Rat}
    (hr : v * c.law.mean (fun k => k) ≤ r) (hload : r < b) :
    c.Drift I (fun s => decide (s = o)) (potential c load b v w r o) := by
  have hp : 0 < c.law.weight := Nat.lt_of_lt_of_le hw (Law.le_weight h0)
  have hm := load_nonneg v hp
  have hi := Rat.inv_pos.mpr (show 0 < b - r by grind)
  have hii : (b - r)⁻¹ * (b - r) = 1 := by grind
  unfold potential
  generalize (b - r)⁻¹ = i at *
  have hd : c.Drift I (fun s => decide (load s ≤ b * v)) fun s => i * load s := by
    constructor
    · intro s _
      exact Rat.mul_nonneg (Rat.le_of_lt hi) (by exact_mod_cast Nat.zero_le _)
    · intro s hs hC
      have hg : give s = b := by
        rcases h.full s hs with hg | hg
        · exact hg
        · exact absurd hg (by simpa using hC)
      simp only [Law.mean_mul]
      rw [h.mean_load hp hs, hg]
      have := Rat.mul_le_mul_of_nonneg_left hr (Rat.le_of_lt hi)
      grind
  have hq := Law.share_bounds h0 hw
  refine hd.through hp (A := fun s => decide (s = o)) (rise := i * r)
    (chance := ((w : Rat) / c.law.weight) ^ (b * v)) (b * v)
    (Rat.mul_nonneg (Rat.le_of_lt hi) (Rat.le_trans hm hr)) (Chain.pow_bounds hq.1 hq.2 _).1 ?_ ?_
  · intro s hs _
    simp only [Law.mean_mul]
    rw [h.mean_load hp hs, ← Rat.mul_add]
    refine Rat.mul_le_mul_of_nonneg_left ?_ (Rat.le_of_lt hi)
    have : (0 : Rat) ≤ (give s : Nat) := by exact_mod_cast Nat.zero_le _
    grind
  · intro s hs hC _
    refine Chain.hit_of_descent load h0 hw (fun s k hs => h.keep s k hs) ?_ _ hs (by simpa using hC)
    intro s hs hA
    have h1 := h.balance s 0 hs
    have h2 := h.some s hs (by simpa using hA)
    omega

/-- Below capacity every reachable state is positive recurrent. -/
theorem positive_recurrent (h : Loaded c I load give b v o) {w : Nat} (h0 : (w, 0) ∈ c.law)
    (hw : 0 < w) (hload : v * c.law.mean (fun k => k) < b) {s : S} (hs : c.Reaches o s) :
    c.PositiveRecurrent s :=
  (h.drift h0 hw Rat.le_refl hload).positiveRecurrent
    (Nat.lt_of_lt_of_le hw (Law.le_weight h0)) (fun s k hs => h.keep s k hs) h.start hs

/-- The load condition is sharp. -/
theorem positive_recurrent_iff (h : Loaded c I load give b v o) (hb : 0 < b) (hv : 1 ≤ v) {w : Nat}
    (h0 : (w, 0) ∈ c.law) (hw : 0 < w) :
    c.PositiveRecurrent o ↔ v * c.law.mean (fun k => k) < b := by
  constructor
  · intro hrec
    false_or_by_contra
    rename_i hload
    exact h.not_positive_recurrent hb hv (Nat.lt_of_lt_of_le hw (Law.le_weight h0))
      (Rat.not_lt.mp hload) hrec
  · intro hload
    exact h.positive_recurrent h0 hw hload .refl

end Loaded

/-! ## The runs at an engine -/

/-- The number after those of all runs. -/
def nextJoined (runs : List Run) : Nat := runs.foldr (fun r n => max (r.joined + 1) n) 0

/-- The engine with these runs, and nobody who waits. -/
def State.at (p : Program) (runs : List Run) : State where
  now := 0
  arrived := 0
  served := 0
  runs := runs
  waiting := []
  ticket := 0
  joined := nextJoined runs
  registers := p.registers

/-- The runs after one slot: a batch, and `k` sessions that run `phases` come when it ends. They
come before those that go on then: the next slot was scheduled before the batch. -/
def slot (p : Program) (phases : List Phase) (runs : List Run) (k : Nat) : List Run :=
  let f := (State.at p runs).form p
  ((({ State.at p runs with runs := f.unfinished, joined := f.joined }).join
    (List.replicate k (0, phases))).join f.finished).runs

/-- The runs at the starts of the slots, `k` sessions coming in each with the law of `arrivals`. -/
def slotted (p : Program) (phases : List Phase) (arrivals : Law Nat) : Chain (List Run) Nat :=
  ⟨arrivals, slot p phases⟩

/-- Runs of known sizes at an engine without slots. -/
def Present (v : Nat) (runs : List Run) : Prop := ∀ r ∈ runs, r.Sized (some v)

theorem Present.holds {p : Program} (hn : p.slots = none) {v : Nat} {runs : List Run}
    (h : Present v runs) : (State.at p runs).Holds p (some v) (leftOf runs) runs.length :=
  ⟨h, by simp [State.at], by simp [State.at, workOf], by simp [State.at], by simp [hn],
    by simp [State.at]⟩

/-- Whatever the schedule: the work of the runs is their tokens, and a batch serves no more than the
budget. -/
theorem slotted_limited {p : Program} (hp : p.Proper) (hn : p.slots = none) {phases : List Phase}
    {v : Nat} (hv : work phases = v) (hphases : Serq.Sized (some v) phases) (arrivals : Law Nat) :
    Limited (slotted p phases arrivals) (Present v) leftOf
      (fun runs => tokensOf ((State.at p runs).form p).batch) p.budget v [] where
  start := by intro r hr; cases hr
  keep := by
    intro runs k h
    have hf := (h.holds hn).form hp
    intro r hr
    simp only [slotted, slot, State.join, List.mem_append] at hr
    rcases hr with (hr | hr) | hr
    · exact hf.unfinished_sized r hr
    · exact line_sized _ _ (fun x hx => by rw [(List.mem_replicate.mp hx).2]; exact hphases) r hr
    · exact line_sized _ _ hf.finished_sized r hr
  balance := by
    intro runs k h
    have hf := (h.holds hn).form hp
    have h1 := unfinished_left ((State.at p runs).form p).batch ((State.at p runs).form p).rest
      hf.fits
    have h2 := hf.total
    rw [hf.free hn] at h2
    have h3 : workOf ((List.replicate k ((0 : Nat), phases)).map (·.2)) = k * v := by
      rw [List.map_replicate]
      have := workOf_eq v (List.replicate k phases) fun x hx => by
        rw [(List.mem_replicate.mp hx).2, hv]
      rwa [List.length_replicate] at this
    simp only [slotted, slot, State.join, leftOf_append, line_left, h3]
    simp only [State.at, workOf, List.map_nil, List.sum_nil, Nat.add_zero] at h2
    simp only [Forming.unfinished, Forming.finished, leftOf_append, Forming.runs] at *
    simp only [State.at] at *
    omega
  most := by
    intro runs h
    exact (((h.holds hn).form hp).shape hp).budget
  empty := by
    intro runs h
    cases runs with
    | nil => simp [leftOf]
    | cons r rs =>
      have := (h r (by simp)).positive
      simp only [leftOf, List.map_cons, List.sum_cons, Run.left, reduceCtorEq, iff_false]
      omega

/-- If it serves everyone, it serves the budget or has little work before it. -/
theorem slotted_loaded {p : Program} (hp : p.Proper) (hn : p.slots = none)
    (hs : p.schedule.Serves fun _ _ => False) {phases : List Phase} {v : Nat}
    (hv : work phases = v) (hphases : Serq.Sized (some v) phases) (arrivals : Law Nat) :
    Loaded (slotted p phases arrivals) (Present v) leftOf
      (fun runs => tokensOf ((State.at p runs).form p).batch) p.budget v [] where
  toLimited := slotted_limited hp hn hv hphases arrivals
  full := by
    intro runs h
    have hf := (h.holds hn).form hp
    rcases greedy_state hs hp (h.holds hn) with hg | hg
    · exact .inl hg
    · right
      have shape := hf.shape hp
      have h1 := shape.residents
      have h2 := shape.budget
      have h3 := leftOf_le v _ fun r hr => (hf.runs r hr).bounded v rfl
      have h4 := hf.total
      rw [hf.free hn] at h4
      simp only [State.at, workOf, List.map_nil, List.sum_nil, Nat.add_zero] at h4
      have h5 := Nat.mul_le_mul_right v (show ((State.at p runs).form p).runs.length ≤ p.budget by
        omega)
      simp only [State.at] at *
      omega
  some := by
    intro runs h hne
    have hf := (h.holds hn).form hp
    have hb := hp.budget
    rcases greedy_state hs hp (h.holds hn) with hg | hg
    · omega
    · have h1 := (hf.shape hp).residents
      have h4 := hf.total
      rw [hf.free hn] at h4
      simp only [State.at, workOf, List.map_nil, List.sum_nil, Nat.add_zero] at h4
      false_or_by_contra
      have h0 : ((State.at p runs).form p).runs = [] := by
        refine List.eq_nil_of_length_eq_zero ?_
        omega
      simp only [State.at] at h0 h4
      rw [h0] at h4
      cases runs with
      | nil => exact hne rfl
      | cons r rs =>
        have := (h r (by simp)).positive
        simp only [leftOf, List.map_nil, List.sum_nil, List.map_cons, List.sum_cons, Run.left] at h4
        omega

/-- For a schedule that serves everyone: the engine empties again and again, in finite expected
time, exactly when less work comes in a slot than a batch can serve. -/
theorem slotted_positive_recurrent_iff {p : Program} (hp : p.Proper) (hn : p.slots = none)
    (hs : p.schedule.Serves fun _ _ => False) {phases : List Phase}
    (hphases : Serq.Sized (some (work phases)) phases) (hv : 1 ≤ work phases) {arrivals : Law Nat}
    {w : Nat} (h0 : (w, 0) ∈ arrivals) (hw : 0 < w) :
    (slotted p phases arrivals).PositiveRecurrent [] ↔
      work phases * arrivals.mean (fun k => k) < p.budget :=
  (slotted_loaded hp hn hs rfl hphases arrivals).positive_recurrent_iff hp.budget hv h0 hw

/-- And then so is every list of runs that is reached. -/
theorem slotted_positive_recurrent {p : Program} (hp : p.Proper) (hn : p.slots = none)
    (hs : p.schedule.Serves fun _ _ => False) {phases : List Phase}
    (hphases : Serq.Sized (some (work phases)) phases) {arrivals : Law Nat} {w : Nat}
    (h0 : (w, 0) ∈ arrivals) (hw : 0 < w)
    (hload : work phases * arrivals.mean (fun k => k) < p.budget) {runs : List Run}
    (h : (slotted p phases arrivals).Reaches [] runs) :
    (slotted p phases arrivals).PositiveRecurrent runs :=
  (slotted_loaded hp hn hs rfl hphases arrivals).positive_recurrent h0 hw hload h

end Serq
