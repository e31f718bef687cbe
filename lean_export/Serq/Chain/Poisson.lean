module

public import Serq.Chain.Load

/-! Poisson arrivals of a rational rate at an engine whose batches all take the same time: a Poisson
number of sessions comes in each.

The Poisson law has no bound, and its probabilities are not rational. So it is the limit of the
laws given at most `n`, and what is said of it is said of all of these at once: expected times to
the empty engine with one bound for every `n`, or above any bound for all large `n`. -/

@[expose] public noncomputable section

namespace Serq

/-- The Poisson law of mean `a / b`, given at most `n`: `k` has weight `n! * b^n * (a/b)^k / k!`. -/
def poisson (a b : Nat) : Nat → Law Nat
  | 0 => [(1, 0)]
  | n + 1 => (poisson a b n).map (fun x => ((n + 1) * b * x.1, x.2)) ++ [(a ^ (n + 1), n + 1)]

/-- `n!`. -/
def factorial : Nat → Nat
  | 0 => 1
  | n + 1 => (n + 1) * factorial n

theorem factorial_pos (n : Nat) : 0 < factorial n := by
  induction n with
  | zero => decide
  | succ n ih => exact Nat.mul_pos (by omega) ih

theorem le_of_mem_poisson {a b n w k : Nat} (h : (w, k) ∈ poisson a b n) : k ≤ n := by
  induction n generalizing w with
  | zero => simp [poisson] at h; omega
  | succ n ih =>
    simp only [poisson, List.mem_append, List.mem_map, List.mem_singleton, Prod.mk.injEq] at h
    rcases h with ⟨x, hx, rfl, rfl⟩ | ⟨rfl, rfl⟩
    · have := ih hx; omega
    · omega

/-- The weights are as said. -/
theorem poisson_weight {a b n w k : Nat} (h : (w, k) ∈ poisson a b n) :
    w * factorial k * b ^ k = factorial n * b ^ n * a ^ k := by
  induction n generalizing w with
  | zero =>
    simp only [poisson, List.mem_singleton, Prod.mk.injEq] at h
    obtain ⟨rfl, rfl⟩ := h; rfl
  | succ n ih =>
    simp only [poisson, List.mem_append, List.mem_map, List.mem_singleton, Prod.mk.injEq] at h
    rcases h with ⟨x, hx, rfl, rfl⟩ | ⟨rfl, rfl⟩
    · have := ih hx
      simp only [factorial, Nat.pow_succ]
      calc (n + 1) * b * x.1 * factorial x.2 * b ^ x.2
          = (n + 1) * b * (x.1 * factorial x.2 * b ^ x.2) := by ac_rfl
        _ = _ := by rw [this]; ac_rfl
    · ac_rfl

/-- The weight of no arrivals. -/
theorem zero_mem_poisson (a b n : Nat) : (factorial n * b ^ n, 0) ∈ poisson a b n := by
  induction n with
  | zero => simp [poisson, factorial]
  | succ n ih =>
    simp only [poisson, List.mem_append, List.mem_map]
    exact .inl ⟨_, ih, by simp only [factorial, Nat.pow_succ, Prod.mk.injEq, and_true]; ac_rfl⟩

theorem weight_poisson_succ (a b n : Nat) :
    (poisson a b (n + 1)).weight = (n + 1) * b * (poisson a b n).weight + a ^ (n + 1) := by
  have h (p : Law Nat) (m : Nat) :
      Law.weight (p.map fun x => (m * x.1, x.2)) = m * p.weight := by
    induction p with
    | nil => rfl
    | cons x p ih => simp only [Law.weight, List.map_cons, List.sum_cons] at *; rw [ih, Nat.mul_add]
  have h2 : Law.weight (poisson a b (n + 1)) =
      Law.weight ((poisson a b n).map fun x => ((n + 1) * b * x.1, x.2)) + a ^ (n + 1) := by
    simp [poisson, Law.weight]
  rw [h2, h]

theorem wsum_poisson_succ (a b n : Nat) (f : Nat → Rat) :
    (poisson a b (n + 1)).wsum f =
      ((n + 1) * b : Nat) * (poisson a b n).wsum f + (a ^ (n + 1) : Nat) * f (n + 1) := by
  have h (p : Law Nat) (m : Nat) :
      Law.wsum (p.map fun x => (m * x.1, x.2)) f = m * p.wsum f := by
    induction p with
    | nil => simp [Law.wsum_nil, Rat.mul_zero]
    | cons x p ih => simp only [List.map_cons, Law.wsum_cons, ih, Rat.natCast_mul]; grind
  simp only [poisson, Law.wsum_append, h, Law.wsum_cons, Law.wsum_nil, Rat.add_zero]

/-- The mean falls short of `a / b` by the part that is cut. -/
theorem sum_poisson (a b n : Nat) :
    b * (poisson a b n).wsum (fun k => k) + (a ^ (n + 1) : Nat) = a * (poisson a b n).weight := by
  induction n with
  | zero => simp [poisson, Law.wsum, Law.weight]; grind
  | succ n ih =>
    rw [wsum_poisson_succ, weight_poisson_succ]
    simp only [Rat.natCast_add, Rat.natCast_mul, Nat.pow_succ a] at *
    grind

theorem weight_poisson_pos (a n : Nat) {b : Nat} (hb : 0 < b) : 0 < (poisson a b n).weight :=
  Nat.lt_of_lt_of_le (Nat.mul_pos (factorial_pos n) (Nat.pow_pos hb))
    (Law.le_weight (zero_mem_poisson a b n))

/-- That part goes to nothing when `n` grows. -/
theorem poisson_short (a b n : Nat) (hb : 0 < b) :
    ((n + 1) * b * a : Nat) ≤
      ((n + 1) * b * b : Nat) * (poisson a b (n + 1)).mean (fun k => k) + (a * a : Nat) := by
  have last (n : Nat) : a ^ n ≤ (poisson a b n).weight := by
    cases n with
    | zero => exact Nat.le_refl _
    | succ n => rw [weight_poisson_succ]; exact Nat.le_add_left _ _
  have hW : (n + 1) * b * a ^ n ≤ (poisson a b (n + 1)).weight := by
    rw [weight_poisson_succ]
    exact Nat.le_trans (Nat.mul_le_mul_left _ (last n)) (Nat.le_add_right _ _)
  have hcut : (n + 1) * b * a ^ (n + 2) ≤ a * a * (poisson a b (n + 1)).weight := by
    have := Nat.mul_le_mul_left (a * a) hW
    rwa [show a * a * ((n + 1) * b * a ^ n) = (n + 1) * b * a ^ (n + 2) by
      simp only [Nat.pow_succ]; ac_rfl] at this
  have h0 : (0 : Rat) < (poisson a b (n + 1)).weight := by
    exact_mod_cast weight_poisson_pos a (n + 1) hb
  have h1 := sum_poisson a b (n + 1)
  have h2 : (((n + 1) * b * a ^ (n + 2) : Nat) : Rat) ≤
      (a * a * (poisson a b (n + 1)).weight : Nat) := by exact_mod_cast hcut
  have h3 : (poisson a b (n + 1)).wsum (fun k => k) =
      (poisson a b (n + 1)).weight * (poisson a b (n + 1)).mean fun k => k := by
    rw [Law.mean]; grind
  rw [h3] at h1
  rw [Rat.natCast_mul _ (a ^ (n + 2)), Rat.natCast_mul (a * a)] at h2
  rw [Rat.natCast_mul ((n + 1) * b) a, Rat.natCast_mul ((n + 1) * b) b]
  generalize (((n + 1) * b : Nat) : Rat) = m at *
  generalize ((a * a : Nat) : Rat) = q at *
  generalize ((a ^ (n + 1 + 1) : Nat) : Rat) = e at *
  generalize ((poisson a b (n + 1)).weight : Rat) = W at *
  generalize (poisson a b (n + 1)).mean (fun k => (k : Rat)) = x at *
  refine Rat.le_of_mul_le_mul_right (c := W) ?_ h0
  calc m * a * W = m * (b * (W * x)) + m * e := by rw [Rat.mul_assoc, ← h1, Rat.mul_add]
    _ ≤ m * (b * (W * x)) + q * W := Rat.add_le_add_left.mpr h2
    _ = (m * b * x + q) * W := by grind

/-- With no more than `m` sessions counted, no fewer come when the law is cut off later. -/
theorem poisson_counted (a : Nat) {b m n : Nat} (hb : 0 < b) (h : m ≤ n) :
    (poisson a b m).mean (fun k => k) ≤ (poisson a b n).mean fun k => (min k m : Nat) := by
  obtain ⟨j, rfl⟩ := Nat.le.dest h
  clear h
  induction j with
  | zero =>
    refine Law.mean_le _ fun x hx => ?_
    rw [Nat.min_eq_left (le_of_mem_poisson hx)]; exact Rat.le_refl
  | succ j ih =>
    refine Rat.le_trans ih ?_
    rw [← Nat.add_assoc]
    have hm : (poisson a b (m + j)).mean (fun k => ((min k m : Nat) : Rat)) ≤ m := by
      rw [← Law.mean_const (weight_poisson_pos a (m + j) hb) (m : Rat)]
      exact Law.mean_mono _ fun k => by exact_mod_cast Nat.min_le_right k m
    have h0 : (0 : Rat) < (poisson a b (m + j)).weight := by
      exact_mod_cast weight_poisson_pos a (m + j) hb
    have h1 : (0 : Rat) < (poisson a b (m + j + 1)).weight := by
      exact_mod_cast weight_poisson_pos a (m + j + 1) hb
    have h2 := weight_poisson_succ a b (m + j)
    have h3 := wsum_poisson_succ a b (m + j) fun k => (min k m : Nat)
    have h4 : ((poisson a b (m + j + 1)).weight : Rat) =
        ((m + j + 1) * b : Nat) * (poisson a b (m + j)).weight + (a ^ (m + j + 1) : Nat) := by
      rw [h2, Rat.natCast_add, Rat.natCast_mul]
    have h5 : (0 : Rat) ≤ (a ^ (m + j + 1) : Nat) := by exact_mod_cast Nat.zero_le _
    have h6 := Rat.mul_le_mul_of_nonneg_left hm h5
    rw [show min (m + j + 1) m = m by omega] at h3
    clear h2 ih hm
    rw [Law.mean, Law.mean] at *
    generalize (poisson a b (m + j)).wsum (fun k => ((min k m : Nat) : Rat)) = x at *
    generalize (poisson a b (m + j + 1)).wsum (fun k => ((min k m : Nat) : Rat)) = y at *
    generalize ((poisson a b (m + j)).weight : Rat) = w at *
    generalize ((poisson a b (m + j + 1)).weight : Rat) = z at *
    generalize (((m + j + 1) * b : Nat) : Rat) = c at *
    generalize ((a ^ (m + j + 1) : Nat) : Rat) = e at *
    refine Rat.le_of_mul_le_mul_right (c := z) ?_ h1
    have e1 : y / z * z = y := by grind
    have e2 : x / w * z = c * x + e * (x / w) := by rw [h4]; grind
    rw [e1, e2, h3]
    exact Rat.add_le_add_left.mpr h6

/-- The share of no arrivals does not vanish when `n` grows. -/
theorem poisson_share (a b : Nat) (hb : 0 < b) :
    ∃ p q : Nat, 0 < q ∧ ∀ n, (poisson a b n).weight * q ≤ p * (factorial n * b ^ n) := by
  refine ⟨(poisson a b (2 * a)).weight + a ^ (2 * a), factorial (2 * a) * b ^ (2 * a),
    Nat.mul_pos (factorial_pos _) (Nat.pow_pos hb), fun n => ?_⟩
  have w0 (n : Nat) : factorial (n + 1) * b ^ (n + 1) = (n + 1) * b * (factorial n * b ^ n) := by
    simp only [factorial, Nat.pow_succ]; ac_rfl
  have up (j : Nat) :
      ((poisson a b (2 * a + j)).weight + a ^ (2 * a + j)) * (factorial (2 * a) * b ^ (2 * a)) ≤
        ((poisson a b (2 * a)).weight + a ^ (2 * a)) *
          (factorial (2 * a + j) * b ^ (2 * a + j)) := by
    induction j with
    | zero => exact Nat.le_refl _
    | succ j ih =>
      have : 2 * a ≤ (2 * a + j + 1) * b :=
        Nat.le_trans (by omega) (Nat.le_mul_of_pos_right (2 * a + j + 1) hb)
      rw [← Nat.add_assoc, weight_poisson_succ, w0]
      have h2 := Nat.mul_le_mul_right (a ^ (2 * a + j)) this
      have h3 : (2 * a + j + 1) * b * (poisson a b (2 * a + j)).weight + a ^ (2 * a + j + 1)
            + a ^ (2 * a + j + 1)
          ≤ (2 * a + j + 1) * b * ((poisson a b (2 * a + j)).weight + a ^ (2 * a + j)) := by
        rw [Nat.pow_succ, Nat.mul_add]
        rw [Nat.mul_assoc 2 a] at h2
        have : a * a ^ (2 * a + j) = a ^ (2 * a + j) * a := Nat.mul_comm _ _
        omega
      refine Nat.le_trans (Nat.mul_le_mul_right _ h3) ?_
      rw [Nat.mul_assoc, Nat.mul_left_comm _ ((2 * a + j + 1) * b)]
      exact Nat.mul_le_mul_left _ ih
  have down (j : Nat) : (poisson a b n).weight * (factorial (n + j) * b ^ (n + j))
      ≤ (poisson a b (n + j)).weight * (factorial n * b ^ n) := by
    induction j with
    | zero => exact Nat.le_refl _
    | succ j ih =>
      rw [← Nat.add_assoc, weight_poisson_succ, w0, Nat.mul_left_comm]
      generalize (n + j + 1) * b = m
      rw [Nat.add_mul, Nat.mul_assoc]
      exact Nat.le_trans (Nat.mul_le_mul_left _ ih) (Nat.le_add_right _ _)
  by_cases h : n ≤ 2 * a
  · have := down (2 * a - n)
    rw [show n + (2 * a - n) = 2 * a by omega] at this
    exact Nat.le_trans this (Nat.mul_le_mul_right _ (Nat.le_add_right _ _))
  · have := up (n - 2 * a)
    rw [show 2 * a + (n - 2 * a) = n by omega] at this
    exact Nat.le_trans (Nat.mul_le_mul_right _ (Nat.le_add_right _ _)) this

theorem pow_le_pow {x y : Rat} (h0 : 0 ≤ x) (h : x ≤ y) (m : Nat) : 0 ≤ x ^ m ∧ x ^ m ≤ y ^ m := by
  induction m with
  | zero => simp only [Rat.pow_zero]; grind
  | succ m ih =>
    have h1 := Rat.mul_nonneg ih.1 h0
    have h2 := Rat.mul_le_mul_of_nonneg_right ih.2 h0
    have h3 := Rat.mul_le_mul_of_nonneg_left h (Rat.le_trans ih.1 ih.2)
    simp only [Rat.pow_succ]
    exact ⟨h1, Rat.le_trans h2 h3⟩

theorem inv_le_inv {x y : Rat} (hx : 0 < x) (h : x ≤ y) : y⁻¹ ≤ x⁻¹ := by
  have hxi := Rat.inv_pos.mpr hx
  have hyi := Rat.inv_pos.mpr (show 0 < y by grind)
  have h2 := Rat.mul_le_mul_of_nonneg_right h (Rat.le_of_lt (Rat.mul_pos hxi hyi))
  have e1 : x * (x⁻¹ * y⁻¹) = y⁻¹ := by grind
  have e2 : y * (x⁻¹ * y⁻¹) = x⁻¹ := by grind
  rwa [e1, e2] at h2

theorem mul_inv_le {a b m w : Rat} (hb : 0 < b) (hw : 0 < w) (h : b * m ≤ a * w) :
    w⁻¹ * m ≤ a * b⁻¹ := by
  have hbi := Rat.inv_pos.mpr hb
  have hwi := Rat.inv_pos.mpr hw
  have h2 := Rat.mul_le_mul_of_nonneg_right h (Rat.le_of_lt (Rat.mul_pos hbi hwi))
  have e1 : b * m * (b⁻¹ * w⁻¹) = w⁻¹ * m := by grind
  have e2 : a * w * (b⁻¹ * w⁻¹) = a * b⁻¹ := by grind
  rwa [e1, e2] at h2

namespace Loaded

/-- How long it takes to the empty state, below capacity, from what is left to do. -/
theorem returnTime_le {S : Type} [DecidableEq S] {c : Chain S Nat} {I : S → Prop}
    {load give : S → Nat} {b v : Nat} {o : S} (h : Loaded c I load give b v o)
    {w : Nat} (h0 : (w, 0) ∈ c.law) (hw : 0 < w) {r : Rat} (hr : v * c.law.mean (fun k => k) ≤ r)
    (hload : r < b) {s : S} (hs : I s) (n : Nat) :
    c.returnTime (fun s => decide (s = o)) s n ≤ 1 + (b - r)⁻¹ * (load s + r) +
      ((b - r)⁻¹ * r + 1) / ((w : Rat) / c.law.weight) ^ (b * v) * (b * v : Nat) := by
  have hp : 0 < c.law.weight := Nat.lt_of_lt_of_le hw (Law.le_weight h0)
  have hi := Rat.inv_pos.mpr (show 0 < b - r by grind)
  have hm := load_nonneg v hp
  have hr0 := Rat.le_trans hm hr
  have hq := Law.share_bounds h0 hw
  have hq0 := (Chain.pow_bounds hq.1 hq.2 (b * v)).1
  have hk : 0 ≤ ((b - r)⁻¹ * r + 1) / ((w : Rat) / c.law.weight) ^ (b * v) := by
    rw [Rat.div_def]
    have := Rat.mul_nonneg (Rat.le_of_lt hi) hr0
    exact Rat.mul_nonneg (by grind) (Rat.le_of_lt (Rat.inv_pos.mpr hq0))
  refine Rat.le_trans
    ((h.drift h0 hw hr hload).returnTime_le hp (fun s k hs => h.keep s k hs) hs n) ?_
  rw [Rat.add_assoc]
  refine Rat.add_le_add_left.mpr ?_
  have hU : c.law.mean (fun a => potential c load b v w r o (c.step s a)) ≤ c.law.mean (fun a =>
      (b - r)⁻¹ * load (c.step s a) +
        ((b - r)⁻¹ * r + 1) / ((w : Rat) / c.law.weight) ^ (b * v) * (b * v : Nat)) := by
    refine c.law.mean_mono fun a => ?_
    unfold potential
    refine Rat.add_le_add_left.mpr (Rat.mul_le_mul_of_nonneg_left ?_ hk)
    have := (Chain.hits_bounds (c := c) (A := fun s => decide (s = o)) hp (b * v) (c.step s a)).1
    grind
  refine Rat.le_trans hU ?_
  rw [Law.mean_add, Law.mean_const hp, Law.mean_mul, h.mean_load hp hs]
  refine Rat.add_le_add_right.mpr (Rat.mul_le_mul_of_nonneg_left ?_ (Rat.le_of_lt hi))
  have : (0 : Rat) ≤ (give s : Nat) := by exact_mod_cast Nat.zero_le _
  grind

end Loaded

namespace Limited

/-- At and above capacity the expected time to the empty state is infinite, from any other: cut off
after `t` it exceeds `B` under all laws but the first few. -/
theorem poisson_lt_returnTime {S : Type} [DecidableEq S] {step : S → Nat → S} {I : S → Prop}
    {load give : S → Nat} {budget v : Nat} {o : S} {a b : Nat} (hb : 0 < b)
    (h : ∀ n, Limited ⟨poisson a b n, step⟩ I load give budget v o)
    (hload : budget * b ≤ v * a) {s : S} (hs : I s) (hne : s ≠ o) (B : Rat) :
    ∃ m t, ∀ n, m ≤ n →
      B < (Chain.mk (poisson a b n) step).returnTime (fun s => decide (s = o)) s t := by
  have hl : 0 < load s := Nat.pos_of_ne_zero fun h0 => hne (((h 0).empty s hs).mp h0)
  have hl0 : (0 : Rat) < load s := by exact_mod_cast hl
  have hbb : (0 : Rat) < (b * b : Nat) := by exact_mod_cast Nat.mul_pos hb hb
  have hq : (0 : Rat) ≤ (v * (a * a) : Nat) := by exact_mod_cast Nat.zero_le _
  -- `q / (m + 1)` is what is lost in a step when `m + 1` sessions are counted at most
  obtain ⟨q, hqq⟩ : ∃ q : Rat, q = (v * (a * a) : Nat) * ((b * b : Nat) : Rat)⁻¹ := ⟨_, rfl⟩
  have hq0 : 0 ≤ q := by rw [hqq]; exact Rat.mul_nonneg hq (Rat.le_of_lt (Rat.inv_pos.mpr hbb))
  obtain ⟨m, hm⟩ := exists_nat_gt (q * B * (load s : Rat)⁻¹)
  have hm0 : (0 : Rat) < (m + 1 : Nat) := by exact_mod_cast Nat.succ_pos m
  have hmi := Rat.inv_pos.mpr hm0
  have hd : 0 ≤ q * ((m + 1 : Nat) : Rat)⁻¹ := Rat.mul_nonneg hq0 (Rat.le_of_lt hmi)
  have hu : 0 < (load s : Rat) - q * ((m + 1 : Nat) : Rat)⁻¹ * B := by
    have h1 : q * B * (load s : Rat)⁻¹ < (m + 1 : Nat) := by rw [Rat.natCast_add]; grind
    have h2 := Rat.mul_lt_mul_of_pos_right h1 (Rat.mul_pos hl0 hmi)
    generalize ((m + 1 : Nat) : Rat) = y at *
    generalize (load s : Rat) = l at *
    have e1 : q * B * l⁻¹ * (l * y⁻¹) = q * y⁻¹ * B := by grind
    have e2 : y * (l * y⁻¹) = l := by grind
    rw [e1, e2] at h2
    grind
  obtain ⟨t, ht⟩ := sumTo_unbounded hu hl0
    (show (0 : Rat) ≤ ((m + 1) * v : Nat) by exact_mod_cast Nat.zero_le _) B
  refine ⟨m + 1, t, fun n hmn => ?_⟩
  refine (h n).lt_returnTime (weight_poisson_pos a n hb) hd ?_ hs hne ht
  have h1 := Rat.le_trans (poisson_short a b m hb) (Rat.add_le_add_right.mpr
    (Rat.mul_le_mul_of_nonneg_left (poisson_counted a hb hmn) (by exact_mod_cast Nat.zero_le _)))
  have h2 := Rat.mul_le_mul_of_nonneg_left h1 (show (0 : Rat) ≤ v by exact_mod_cast Nat.zero_le _)
  have h3 : ((budget * ((m + 1) * b * b) : Nat) : Rat) ≤ (v * ((m + 1) * b * a) : Nat) := by
    have := Nat.mul_le_mul_left ((m + 1) * b) hload
    exact_mod_cast (show budget * ((m + 1) * b * b) ≤ v * ((m + 1) * b * a) by
      calc _ = (m + 1) * b * (budget * b) := by ac_rfl
        _ ≤ _ := this
        _ = _ := by ac_rfl)
  rw [Rat.natCast_mul, Rat.natCast_mul v] at h3
  show (budget : Rat) ≤ _ + v * (poisson a b n).mean fun k => (min k (m + 1) : Nat)
  rw [hqq, Rat.natCast_mul v (a * a)]
  rw [Nat.mul_assoc (m + 1) b b, Rat.natCast_mul (m + 1) (b * b)] at h2 h3
  generalize (poisson a b n).mean (fun k => ((min k (m + 1) : Nat) : Rat)) = x at *
  generalize (((m + 1) * b * a : Nat) : Rat) = y at *
  generalize ((b * b : Nat) : Rat) = c at *
  generalize ((m + 1 : Nat) : Rat) = k at *
  generalize ((a * a : Nat) : Rat) = r at *
  refine Rat.le_of_mul_le_mul_right (c := k * c) ?_ (Rat.mul_pos hm0 hbb)
  have e : (v * r * c⁻¹ * k⁻¹ + v * x) * (k * c) = v * (k * c * x + r) := by grind
  rw [e]
  exact Rat.le_trans h3 h2

end Limited

/-- Sessions that come in Poisson numbers of mean `a / b` while a batch lasts keep the engine
stable: from any runs, whatever the cap on their number, the expected time until the engine is empty
has the same bound. -/
def PoissonStable (p : Program) (phases : List Phase) (a b : Nat) : Prop :=
  ∀ runs, Present (work phases) runs →
    ∃ B, ∀ n t, (slotted p phases (poisson a b n)).returnTime (fun s => decide (s = [])) runs t ≤ B

/-- A schedule that serves everyone keeps the engine stable below capacity. -/
theorem poisson_below {p : Program} (hp : p.Proper) (hn : p.slots = none)
    (hs : p.schedule.Serves fun _ _ => False) {phases : List Phase}
    (hphases : Serq.Sized (some (work phases)) phases) {a b : Nat} (hb : 0 < b)
    (hload : work phases * a < p.budget * b) : PoissonStable p phases a b := by
  intro runs hruns
  obtain ⟨x, q, hq, hxq⟩ := poisson_share a b hb
  have hb0 : (0 : Rat) < b := by exact_mod_cast hb
  have hbi := Rat.inv_pos.mpr hb0
  have hr : (work phases : Rat) * (a * (b : Rat)⁻¹) < p.budget := by
    have h2 : ((work phases * a : Nat) : Rat) < (p.budget * b : Nat) := by exact_mod_cast hload
    have h3 := Rat.mul_lt_mul_of_pos_right h2 hbi
    simp only [Rat.natCast_mul] at h3
    have e1 : (p.budget : Rat) * b * (b : Rat)⁻¹ = p.budget := by grind
    rw [e1] at h3
    grind
  generalize hv : work phases = v at *
  have hr0 : 0 ≤ (v : Rat) * (a * (b : Rat)⁻¹) := Rat.mul_nonneg (by exact_mod_cast Nat.zero_le _)
    (Rat.mul_nonneg (by exact_mod_cast Nat.zero_le _) (Rat.le_of_lt hbi))
  have hi := Rat.inv_pos.mpr (show 0 < (p.budget : Rat) - v * (a * (b : Rat)⁻¹) by grind)
  refine ⟨1 + ((p.budget : Rat) - v * (a * (b : Rat)⁻¹))⁻¹ * (leftOf runs + v * (a * (b : Rat)⁻¹)) +
    ((p.budget - v * (a * (b : Rat)⁻¹))⁻¹ * (v * (a * (b : Rat)⁻¹)) + 1) /
      ((q : Rat) / x) ^ (p.budget * v) * (p.budget * v : Nat), fun n t => ?_⟩
  have h0 := zero_mem_poisson a b n
  have hw : 0 < factorial n * b ^ n := Nat.mul_pos (factorial_pos n) (Nat.pow_pos hb)
  have hW : 0 < (poisson a b n).weight := Nat.lt_of_lt_of_le hw (Law.le_weight h0)
  have hW0 : (0 : Rat) < (poisson a b n).weight := by exact_mod_cast hW
  have hmean : (v : Rat) * (poisson a b n).mean (fun k => k) ≤ v * (a * (b : Rat)⁻¹) := by
    refine Rat.mul_le_mul_of_nonneg_left ?_ (by exact_mod_cast Nat.zero_le _)
    have h2 := sum_poisson a b n
    have h3 : (0 : Rat) ≤ (a ^ (n + 1) : Nat) := by exact_mod_cast Nat.zero_le _
    have h4 : b * (poisson a b n).wsum (fun k => k) ≤ a * (poisson a b n).weight := by grind
    rw [Law.mean_eq]
    exact mul_inv_le hb0 hW0 h4
  refine Rat.le_trans ((slotted_loaded hp hn hs hv hphases (poisson a b n)).returnTime_le h0 hw
    hmean hr hruns t) ?_
  have hx : 0 < x := by
    refine Nat.pos_of_ne_zero fun h => ?_
    have h2 := hxq n
    rw [h, Nat.zero_mul] at h2
    have := Nat.mul_pos hW hq
    omega
  have hx0 : (0 : Rat) < x := by exact_mod_cast hx
  have hq0 : (0 : Rat) < q := by exact_mod_cast hq
  have hshare : (q : Rat) / x ≤ (factorial n * b ^ n : Nat) / (poisson a b n).weight := by
    have h2 : (((poisson a b n).weight * q : Nat) : Rat) ≤ (x * (factorial n * b ^ n) : Nat) := by
      exact_mod_cast hxq n
    rw [Rat.natCast_mul, Rat.natCast_mul x] at h2
    generalize ((factorial n * b ^ n : Nat) : Rat) = y at *
    have := mul_inv_le hW0 hx0 (m := q) (a := y) (by grind)
    rw [Rat.div_def, Rat.div_def, Rat.mul_comm q]
    exact this
  have hqx : 0 < (q : Rat) / x := by rw [Rat.div_def]; exact Rat.mul_pos hq0 (Rat.inv_pos.mpr hx0)
  have hc := pow_le_pow (Rat.le_of_lt hqx) hshare (p.budget * v)
  have hc0 : 0 < ((q : Rat) / x) ^ (p.budget * v) := Rat.pow_pos hqx
  have hinv := inv_le_inv hc0 hc.2
  have hY : 0 ≤ ((p.budget : Rat) - v * (a * (b : Rat)⁻¹))⁻¹ * (v * (a * (b : Rat)⁻¹)) + 1 := by
    have := Rat.mul_nonneg (Rat.le_of_lt hi) hr0
    grind
  refine Rat.add_le_add_left.mpr
    (Rat.mul_le_mul_of_nonneg_right ?_ (by exact_mod_cast Nat.zero_le _))
  rw [Rat.div_def (_ + _) (_ ^ _), Rat.div_def (_ + _) (_ ^ _)]
  exact Rat.mul_le_mul_of_nonneg_left hinv hY

/-- Whatever the schedule, from any runs at all, an engine takes that long to be empty. -/
theorem poisson_lt_returnTime {p : Program} (hp : p.Proper) (hn : p.slots = none)
    {phases : List Phase} (hphases : Serq.Sized (some (work phases)) phases) {a b : Nat}
    (hb : 0 < b) (hload : p.budget * b ≤ work phases * a) {runs : List Run}
    (hruns : Present (work phases) runs) (hne : runs ≠ []) (B : Rat) :
    ∃ m t, ∀ n, m ≤ n →
      B < (slotted p phases (poisson a b n)).returnTime (fun s => decide (s = [])) runs t :=
  Limited.poisson_lt_returnTime hb (fun n => slotted_limited hp hn rfl hphases (poisson a b n))
    hload hruns hne B

/-- So it is not stable. -/
theorem poisson_above {p : Program} (hp : p.Proper) (hn : p.slots = none) {phases : List Phase}
    (hphases : Serq.Sized (some (work phases)) phases) {a b : Nat} (hb : 0 < b)
    (hload : p.budget * b ≤ work phases * a) : ¬ PoissonStable p phases a b := by
  intro hstable
  have hv : 0 < work phases * a := Nat.lt_of_lt_of_le (Nat.mul_pos hp.budget hb) hload
  have hv := Nat.pos_of_mul_pos_right hv
  have h := slotted_limited hp hn rfl hphases (poisson a b 0)
  have h0 := h.balance [] 0 h.start
  have h1 := h.balance [] 1 h.start
  have hl : leftOf ([] : List Run) = 0 := rfl
  generalize hr : (slotted p phases (poisson a b 0)).step [] 1 = runs at h1
  have hne : runs ≠ [] := by rintro rfl; omega
  have hruns : Present (work phases) runs := hr ▸ h.keep [] 1 h.start
  obtain ⟨B, hB⟩ := hstable runs hruns
  obtain ⟨m, t, ht⟩ := poisson_lt_returnTime hp hn hphases hb hload hruns hne B
  exact Rat.not_le.mpr (ht m (Nat.le_refl m)) (hB m t)

end Serq
