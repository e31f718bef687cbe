module

public import Serq.Model

/-! What batches, arrivals and states keep, whatever the schedule. -/

@[expose] public noncomputable section

namespace Serq

/-! ## Sums -/

/-- Tokens of a session that is to run `phases`. -/
def work (phases : List Phase) : Nat := (phases.map (·.tokens)).sum

/-- Tokens of sessions. -/
def workOf (sessions : List (List Phase)) : Nat := (sessions.map work).sum

/-- Tokens that a run's session still needs. -/
def Run.left (r : Run) : Nat := r.remaining + work r.later

/-- Tokens that the sessions of runs still need. -/
def leftOf (runs : List Run) : Nat := (runs.map Run.left).sum

/-- Tokens that runs could take. -/
def demandOf (p : Program) (runs : List Run) : Nat := (runs.map (want p)).sum

theorem workOf_append (xs ys : List (List Phase)) : workOf (xs ++ ys) = workOf xs + workOf ys := by
  simp [workOf]

theorem leftOf_append (xs ys : List Run) : leftOf (xs ++ ys) = leftOf xs + leftOf ys := by
  simp [leftOf]

theorem demandOf_append (p : Program) (xs ys : List Run) :
    demandOf p (xs ++ ys) = demandOf p xs + demandOf p ys := by
  simp [demandOf]

theorem tokensOf_append (xs ys : List (Run × Nat)) : tokensOf (xs ++ ys) = tokensOf xs + tokensOf ys := by
  simp [tokensOf]

theorem leftOf_perm {xs ys : List Run} (h : xs.Perm ys) : leftOf xs = leftOf ys :=
  (h.map _).sum_nat

theorem demandOf_perm (p : Program) {xs ys : List Run} (h : xs.Perm ys) :
    demandOf p xs = demandOf p ys :=
  (h.map _).sum_nat

theorem workOf_le (V : Nat) (xs : List (List Phase)) (h : ∀ x ∈ xs, work x ≤ V) :
    workOf xs ≤ xs.length * V := by
  induction xs with
  | nil => simp [workOf]
  | cons x xs ih =>
    have := h x (by simp)
    have := ih fun y hy => h y (by simp [hy])
    simp only [workOf, List.map_cons, List.sum_cons, List.length_cons, Nat.add_mul] at *
    omega

theorem workOf_eq (V : Nat) (xs : List (List Phase)) (h : ∀ x ∈ xs, work x = V) :
    workOf xs = xs.length * V := by
  induction xs with
  | nil => simp [workOf]
  | cons x xs ih =>
    have := h x (by simp)
    have := ih fun y hy => h y (by simp [hy])
    simp only [workOf, List.map_cons, List.sum_cons, List.length_cons, Nat.add_mul] at *
    omega

theorem leftOf_le (V : Nat) (rs : List Run) (h : ∀ r ∈ rs, r.left ≤ V) : leftOf rs ≤ rs.length * V := by
  induction rs with
  | nil => simp [leftOf]
  | cons r rs ih =>
    have := h r (by simp)
    have := ih fun y hy => h y (by simp [hy])
    simp only [leftOf, List.map_cons, List.sum_cons, List.length_cons, Nat.add_mul] at *
    omega

/-! ## Lengths -/

/-- Every length is above 0, and `most` is at least their sum, if it is given. -/
structure Sized (most : Option Nat) (phases : List Phase) : Prop where
  positive : ∀ x ∈ phases, 1 ≤ x.tokens
  bounded : ∀ m, most = some m → work phases ≤ m

/-- The same of a run and of what follows it. -/
structure Run.Sized (most : Option Nat) (r : Run) : Prop where
  positive : 1 ≤ r.remaining
  later : ∀ x ∈ r.later, 1 ≤ x.tokens
  bounded : ∀ m, most = some m → r.left ≤ m

theorem start_left (ticket joined : Nat) (phases : List Phase) :
    leftOf (start ticket joined phases) = work phases := by
  cases phases <;> simp [start, leftOf, work, Run.left]

theorem start_length (ticket joined : Nat) (phases : List Phase) :
    (start ticket joined phases).length ≤ 1 := by
  cases phases <;> simp [start]

theorem Sized.start {most : Option Nat} {phases : List Phase} (h : Sized most phases)
    (ticket joined : Nat) : ∀ r ∈ start ticket joined phases, r.Sized most := by
  cases phases with
  | nil => simp [Serq.start]
  | cons x later =>
    intro r hr
    simp only [Serq.start, List.mem_singleton] at hr
    subst hr
    exact ⟨h.positive x (by simp), fun y hy => h.positive y (by simp [hy]),
      fun m hm => by simpa [Run.left, work] using h.bounded m hm⟩

theorem line_left (joined : Nat) (xs : List (Nat × List Phase)) :
    leftOf (line joined xs) = workOf (xs.map (·.2)) := by
  induction xs generalizing joined with
  | nil => rfl
  | cons x xs ih => simp [line, leftOf_append, ih, start_left, workOf]

theorem line_length (joined : Nat) (xs : List (Nat × List Phase)) :
    (line joined xs).length ≤ xs.length := by
  induction xs generalizing joined with
  | nil => simp [line]
  | cons x xs ih =>
    have := ih (joined + 1)
    have := start_length x.1 joined x.2
    simp only [line, List.length_append, List.length_cons]; omega

theorem line_sized {most : Option Nat} (joined : Nat) (xs : List (Nat × List Phase))
    (h : ∀ x ∈ xs, Sized most x.2) : ∀ r ∈ line joined xs, r.Sized most := by
  induction xs generalizing joined with
  | nil => simp [line]
  | cons x xs ih =>
    intro r hr
    simp only [line, List.mem_append] at hr
    rcases hr with hr | hr
    · exact (h x (by simp)).start _ _ r hr
    · exact ih _ (fun y hy => h y (by simp [hy])) r hr

/-- A program whose iterations are not void. -/
structure Program.Proper (p : Program) : Prop where
  budget : 1 ≤ p.budget
  most : ∀ m, p.most = some m → 1 ≤ m

theorem want_le (p : Program) (r : Run) : want p r ≤ r.remaining := by
  unfold want; split
  · omega
  · split <;> omega

theorem want_pos {p : Program} (hp : p.Proper) {r : Run} (h : 1 ≤ r.remaining) : 1 ≤ want p r := by
  unfold want; split
  · omega
  · split
    · exact h
    · have := hp.most _ ‹_›; omega

theorem want_decode {p : Program} {r : Run} (h : r.decoding = true) : want p r ≤ 1 := by
  simp only [want, h, if_true]; omega

theorem length_le_demand {p : Program} (rs : List Run) (h : ∀ r ∈ rs, 1 ≤ want p r) :
    rs.length ≤ demandOf p rs := by
  induction rs with
  | nil => simp
  | cons r rs ih =>
    have := h r (by simp)
    have := ih fun y hy => h y (by simp [hy])
    simp only [demandOf, List.map_cons, List.sum_cons, List.length_cons] at *; omega

theorem demand_le_left (p : Program) (rs : List Run) : demandOf p rs ≤ leftOf rs := by
  induction rs with
  | nil => simp [demandOf]
  | cons r rs ih =>
    have := want_le p r
    simp only [demandOf, leftOf, List.map_cons, List.sum_cons, Run.left] at *; omega

/-! ## Order -/

theorem insert_perm (keys : Run → List Int) (r : Run) (rs : List Run) :
    (insert keys r rs).Perm (r :: rs) := by
  induction rs with
  | nil => exact .refl _
  | cons s ss ih =>
    unfold insert; split
    · exact .refl _
    · exact (ih.cons s).trans (.swap r s ss)

theorem sort_perm (keys : Run → List Int) (rs : List Run) : (sort keys rs).Perm rs := by
  induction rs with
  | nil => exact .refl _
  | cons r rs ih => exact (insert_perm keys r _).trans (ih.cons r)

/-! ## Serving -/

theorem pass_perm (p : Program) (test : Run → Bool) (left : Nat) (rs : List Run) :
    ((pass p test left rs).1.map (·.1) ++ (pass p test left rs).2).Perm rs := by
  induction rs generalizing left with
  | nil => exact .refl _
  | cons r rs ih =>
    unfold pass; split
    · exact (ih _).cons r
    · exact List.perm_middle.trans ((ih _).cons r)

theorem pass_tokens (p : Program) (test : Run → Bool) (left : Nat) (rs : List Run) :
    tokensOf (pass p test left rs).1 ≤ left := by
  induction rs generalizing left with
  | nil => simp [pass, tokensOf]
  | cons r rs ih =>
    unfold pass; split
    · have := ih (left - min left (want p r))
      simp only [tokensOf, List.map_cons, List.sum_cons] at *; omega
    · exact ih _

theorem pass_given (p : Program) (test : Run → Bool) (left : Nat) (rs : List Run) :
    ∀ x ∈ (pass p test left rs).1, x.1 ∈ rs ∧ x.2 ≤ want p x.1 ∧ (1 ≤ want p x.1 → 1 ≤ x.2) := by
  induction rs generalizing left with
  | nil => simp [pass]
  | cons r rs ih =>
    intro x
    unfold pass; split
    · intro hx
      rcases List.mem_cons.mp hx with rfl | hx
      · exact ⟨by simp, by simp only; omega, by simp only; omega⟩
      · have := ih _ x hx
        exact ⟨by simp [this.1], this.2⟩
    · intro hx
      have := ih _ x hx
      exact ⟨by simp [this.1], this.2⟩

/-- Either the budget is spent, or everyone who passes the test has all that it could take. -/
theorem pass_greedy (p : Program) (test : Run → Bool) (left : Nat) (rs : List Run) :
    tokensOf (pass p test left rs).1 = left ∨
      (∀ x ∈ (pass p test left rs).1, x.2 = want p x.1) ∧ ∀ r ∈ (pass p test left rs).2, test r = false := by
  induction rs generalizing left with
  | nil => right; simp [pass]
  | cons r rs ih =>
    unfold pass; split
    · rename_i h
      have hle := pass_tokens p test (left - min left (want p r)) rs
      rcases ih (left - min left (want p r)) with h1 | ⟨h1, h2⟩
      · left; simp only [tokensOf, List.map_cons, List.sum_cons] at *; omega
      · by_cases hw : want p r ≤ left
        · right
          refine ⟨fun x hx => ?_, h2⟩
          rcases List.mem_cons.mp hx with rfl | hx
          · simp only; omega
          · exact h1 x hx
        · left; simp only [tokensOf, List.map_cons, List.sum_cons] at *; omega
    · rename_i h
      by_cases hl : left = 0
      · left
        have := pass_tokens p test left rs
        simp only; omega
      · have ht : test r = false := by simpa [hl] using h
        rcases ih left with h1 | ⟨h1, h2⟩
        · exact .inl h1
        · right
          refine ⟨h1, fun y hy => ?_⟩
          rcases List.mem_cons.mp hy with rfl | hy
          · exact ht
          · exact h2 y hy

/-! ## One batch -/

theorem Forming.serve_runs (p : Program) (test : Run → Bool) (keys : Run → List Int) (f : Forming) :
    (f.serve p test keys).runs.Perm f.runs := by
  simp only [Forming.serve, Forming.runs, List.map_append, List.append_assoc]
  exact ((pass_perm p test f.left _).trans (sort_perm keys f.rest)).append_left _

theorem pass_insert (p : Program) (test : Run → Bool) (left : Nat) (rest rs : List Run) :
    ((pass p test left rs).1.map (·.1) ++ (rest ++ (pass p test left rs).2)).Perm (rest ++ rs) := by
  refine List.Perm.trans ?_ ((pass_perm p test left rs).append_left rest)
  rw [← List.append_assoc, ← List.append_assoc]
  exact (List.perm_append_comm).append_right _

theorem Forming.admitOne_runs (p : Program) (only : Running → Run → Bool) (phases : List Phase)
    (others : List (List Phase)) (f : Forming) :
    (f.admitOne p only phases others).runs.Perm (f.runs ++ start f.ticket f.joined phases) := by
  simp only [Forming.admitOne, Forming.runs, List.map_append, List.append_assoc]
  exact (pass_insert p _ f.left f.rest _).append_left _

/-- What every way of forming a batch keeps: `I` at the beginning is `I` at the end, if serving,
admitting somebody for whom there is room, and setting a register keep it. -/
theorem form_keeps {p : Program} (I : Forming → Prop)
    (serve : ∀ f test keys, I f → I (f.serve p test keys))
    (admit : ∀ f only phases others, f.waiting = phases :: others → f.full p = false → I f →
      I (f.admitOne p only phases others))
    (assign : ∀ f registers, I f → I { f with registers := registers })
    (schedule : Schedule) (f : Forming) (h : I f) : I (form p schedule f) := by
  induction schedule generalizing f with
  | done => exact h
  | advance only keys after ih => exact ih _ (serve _ _ _ h)
  | alone after ih => exact ih _ (serve _ _ _ h)
  | assign register value after ih => exact ih _ (assign _ _ h)
  | branch test yes no ihy ihn =>
    unfold form; split
    · exact ihy _ h
    · exact ihn _ h
  | admit only condition after ih =>
    refine ih _ ?_
    have key (ws : List (List Phase)) (f : Forming) (hw : f.waiting = ws) (h : I f) :
        I (f.admit p only condition ws) := by
      induction ws generalizing f with
      | nil => exact h
      | cons phases others ihw =>
        unfold Forming.admit; split
        · exact h
        · rename_i hc
          have hf : f.full p = false := by
            cases hfull : f.full p <;> simp_all
          exact ihw _ rfl (admit f only phases others hw hf h)
    exact key _ _ rfl h

/-- What a batch has in common with the state in which it is formed. -/
structure Forming.Sound (p : Program) (most : Option Nat) (s : State) (f : Forming) : Prop where
  budget : f.left + tokensOf f.batch = p.budget
  runs : ∀ r ∈ f.runs, r.Sized most
  waiting : ∀ x ∈ f.waiting, Serq.Sized most x
  given : ∀ x ∈ f.batch, 1 ≤ x.2 ∧ x.2 ≤ want p x.1
  total : leftOf f.runs + workOf f.waiting = leftOf s.runs + workOf s.waiting
  count : f.runs.length + f.waiting.length ≤ s.runs.length + s.waiting.length
  slots : ∀ c, p.slots = some c → f.runs.length ≤ c
  free : p.slots = none → f.waiting = []

theorem Forming.Sound.pass {p : Program} (hp : p.Proper) {most : Option Nat} {f : Forming}
    {test : Run → Bool} {rs : List Run} (hg : ∀ x ∈ f.batch, 1 ≤ x.2 ∧ x.2 ≤ want p x.1)
    (hr : ∀ r ∈ rs, r.Sized most) :
    ∀ x ∈ f.batch ++ (Serq.pass p test f.left rs).1, 1 ≤ x.2 ∧ x.2 ≤ want p x.1 := by
  intro x hx
  rcases List.mem_append.mp hx with hx | hx
  · exact hg x hx
  · have := pass_given p test f.left rs x hx
    exact ⟨this.2.2 (want_pos hp (hr _ this.1).positive), this.2.1⟩

theorem Forming.Sound.serve {p : Program} (hp : p.Proper) {most : Option Nat} {s : State}
    {f : Forming} (h : f.Sound p most s) (test : Run → Bool) (keys : Run → List Int) :
    (f.serve p test keys).Sound p most s := by
  have hperm := f.serve_runs p test keys
  have hrest : ∀ r ∈ sort keys f.rest, r.Sized most := fun r hr =>
    h.runs r (by simp [Forming.runs, (sort_perm keys f.rest).mem_iff.mp hr])
  constructor
  · have := pass_tokens p test f.left (sort keys f.rest)
    have := h.budget
    simp only [Forming.serve, tokensOf_append]; omega
  · intro r hr; exact h.runs r (hperm.mem_iff.mp hr)
  · exact h.waiting
  · exact Forming.Sound.pass hp h.given hrest
  · rw [leftOf_perm hperm]; exact h.total
  · rw [hperm.length_eq]; exact h.count
  · intro c hc; rw [hperm.length_eq]; exact h.slots c hc
  · exact h.free

theorem Forming.Sound.admitOne {p : Program} (hp : p.Proper) {most : Option Nat} {s : State}
    {f : Forming} (h : f.Sound p most s) (only : Running → Run → Bool) {phases : List Phase}
    {others : List (List Phase)} (hw : f.waiting = phases :: others) (hf : f.full p = false) :
    (f.admitOne p only phases others).Sound p most s := by
  have hperm := f.admitOne_runs p only phases others
  have hsized := (h.waiting phases (by simp [hw])).start f.ticket f.joined
  constructor
  · have := h.budget
    simp only [Forming.admitOne, tokensOf_append]
    have := pass_tokens p (only (Forming.running { f with
      rest := f.rest ++ Serq.start f.ticket f.joined phases, waiting := others,
      ticket := f.ticket + 1, joined := f.joined + 1, admitted := f.admitted + 1 })) f.left
      (Serq.start f.ticket f.joined phases)
    omega
  · intro r hr
    rcases List.mem_append.mp (hperm.mem_iff.mp hr) with hr | hr
    · exact h.runs r hr
    · exact hsized r hr
  · intro x hx; exact h.waiting x (by rw [hw]; exact List.mem_cons_of_mem _ hx)
  · exact Forming.Sound.pass hp h.given hsized
  · have := h.total
    rw [leftOf_perm hperm, leftOf_append, start_left]
    simp only [Forming.admitOne, hw, workOf, List.map_cons, List.sum_cons] at *; omega
  · have := h.count
    have := start_length f.ticket f.joined phases
    rw [hperm.length_eq]
    simp only [Forming.admitOne, hw, List.length_append, List.length_cons] at *; omega
  · intro c hc
    have := start_length f.ticket f.joined phases
    rw [hperm.length_eq, List.length_append]
    simp only [Forming.full, hc, decide_eq_false_iff_not] at hf
    omega
  · intro hn
    have := h.free hn
    simp [hw] at this

end Serq
