module

public import Serq.Model

/-! What every batch and every state of a run has in common, whatever the schedule. -/

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

theorem tokensOf_append (xs ys : List (Run × Nat)) :
    tokensOf (xs ++ ys) = tokensOf xs + tokensOf ys := by
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

theorem leftOf_le (V : Nat) (rs : List Run) (h : ∀ r ∈ rs, r.left ≤ V) :
    leftOf rs ≤ rs.length * V := by
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
      (∀ x ∈ (pass p test left rs).1, x.2 = want p x.1) ∧
        ∀ r ∈ (pass p test left rs).2, test r = false := by
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

/-! ## Arrivals -/

theorem Sessions.due_bounds (w : Sessions) (t more known : Nat) :
    known ≤ w.due t more known ∧ w.due t more known ≤ known + more := by
  induction more generalizing known with
  | zero => simp [Sessions.due]
  | succ more ih =>
    have := ih (known + 1)
    unfold Sessions.due; split <;> omega

theorem Sessions.due_time (w : Sessions) (t more known : Nat) :
    (∀ k, known ≤ k → k < w.due t more known → w.time k ≤ t) ∧
      (w.due t more known = known + more ∨ t < w.time (w.due t more known)) := by
  induction more generalizing known with
  | zero => exact ⟨fun k h1 h2 => by simp only [Sessions.due] at h2; omega, .inl rfl⟩
  | succ more ih =>
    have := ih (known + 1)
    unfold Sessions.due; split
    · rename_i h
      refine ⟨fun k h1 h2 => ?_, by omega⟩
      rcases Nat.eq_or_lt_of_le h1 with rfl | h1
      · exact h
      · exact this.1 k h1 h2
    · rename_i h
      exact ⟨fun k h1 h2 => by omega, .inr (by omega)⟩

theorem Sessions.upTo_bounds (w : Sessions) (t : Nat) {known : Nat} (h : known ≤ w.count) :
    known ≤ w.upTo t known ∧ w.upTo t known ≤ w.count := by
  have := w.due_bounds t (w.count - known) known
  simp only [Sessions.upTo]; omega

theorem Sessions.between_append (w : Sessions) {a b c : Nat} (h1 : a ≤ b) (h2 : b ≤ c) :
    w.between a b ++ w.between b c = w.between a c := by
  simp only [Sessions.between, ← List.map_append]
  congr 1
  have := List.range'_append (s := a) (m := b - a) (n := c - b) (step := 1)
  rw [Nat.one_mul, show a + (b - a) = b by omega, show b - a + (c - b) = c - a by omega] at this
  exact this

theorem Sessions.between_length (w : Sessions) (a b : Nat) : (w.between a b).length = b - a := by
  simp [Sessions.between]

theorem Sessions.between_all (w : Sessions) {P : List Phase → Prop} (h : ∀ k, P (w.phases k))
    (a b : Nat) : ∀ x ∈ w.between a b, P x := by
  intro x hx
  simp only [Sessions.between, List.mem_map] at hx
  obtain ⟨k, _, rfl⟩ := hx
  exact h k

/-! ## What a state holds -/

/-- The sessions of a state have `total` tokens left, and are not more than `count`. -/
structure State.Holds (p : Program) (most : Option Nat) (total count : Nat) (s : State) : Prop where
  runs : ∀ r ∈ s.runs, r.Sized most
  waiting : ∀ x ∈ s.waiting, Sized most x
  total : leftOf s.runs + workOf s.waiting = total
  count : s.runs.length + s.waiting.length ≤ count
  slots : ∀ c, p.slots = some c → s.runs.length ≤ c
  free : p.slots = none → s.waiting = []

variable {p : Program} {most : Option Nat} {w : Sessions}

theorem State.Holds.join {s : State} {total count : Nat} (h : s.Holds p most total count)
    {xs : List (Nat × List Phase)} (hx : ∀ x ∈ xs, Sized most x.2)
    (hs : ∀ c, p.slots = some c → s.runs.length + xs.length ≤ c) :
    (s.join xs).Holds p most (total + workOf (xs.map (·.2))) (count + xs.length) := by
  have hlen := line_length s.joined xs
  constructor
  · intro r hr
    rcases List.mem_append.mp hr with hr | hr
    · exact h.runs r hr
    · exact line_sized _ _ hx r hr
  · exact h.waiting
  · have := h.total
    simp only [State.join, leftOf_append, line_left]; omega
  · have := h.count
    simp only [State.join, List.length_append]; omega
  · intro c hc
    have := hs c hc
    simp only [State.join, List.length_append]; omega
  · exact h.free

theorem State.Holds.come {s : State} {total count : Nat} (h : s.Holds p most total count)
    {xs : List (List Phase)} (hx : ∀ x ∈ xs, Sized most x) :
    (s.come p xs).Holds p most (total + workOf xs) (count + xs.length) := by
  unfold State.come; split
  · rename_i hn
    have := h.join (xs := xs.map (0, ·)) (by simpa using hx) (by simp [hn])
    simpa [List.map_map, Function.comp_def] using this
  · rename_i c hc
    constructor
    · exact h.runs
    · intro x hx'
      rcases List.mem_append.mp hx' with hx' | hx'
      · exact h.waiting x hx'
      · exact hx x hx'
    · have := h.total
      simp only [workOf_append]; omega
    · have := h.count
      simp only [List.length_append]; omega
    · exact h.slots
    · simp [hc]

theorem State.come_runs_length {s : State} {c : Nat} (hc : p.slots = some c)
    (xs : List (List Phase)) :
    (s.come p xs).runs = s.runs := by
  simp [State.come, hc]

theorem State.come_now (s : State) (xs : List (List Phase)) : (s.come p xs).now = s.now := by
  unfold State.come State.join; split <;> rfl

theorem State.come_arrived (s : State) (xs : List (List Phase)) :
    (s.come p xs).arrived = s.arrived := by
  unfold State.come State.join; split <;> rfl

theorem State.come_served (s : State) (xs : List (List Phase)) :
    (s.come p xs).served = s.served := by
  unfold State.come State.join; split <;> rfl

/-- What every state has in common: nothing is lost, and the slots suffice. -/
structure State.Sound (p : Program) (most : Option Nat) (w : Sessions) (s : State) : Prop where
  arrived : s.arrived ≤ w.count
  served : s.served ≤ workOf (w.between 0 s.arrived)
  holds : s.Holds p most (workOf (w.between 0 s.arrived) - s.served) s.arrived

/-- A batch that is formed in a sound state is sound. -/
theorem State.Holds.form (hp : p.Proper) {s : State} {total count : Nat}
    (h : s.Holds p most total count) : (s.form p).Sound p most s := by
  refine form_keeps (Forming.Sound p most s) (fun f test keys hf => hf.serve hp test keys)
    (fun f only phases others hw hf h => h.admitOne hp only hw hf)
    (fun f registers h =>
      ⟨h.budget, h.runs, h.waiting, h.given, h.total, h.count, h.slots, h.free⟩) _ _ ?_
  exact ⟨by simp [tokensOf], by simpa [Forming.runs] using h.runs, h.waiting, by simp,
    by simp [Forming.runs], by simp [Forming.runs], by simpa [Forming.runs] using h.slots, h.free⟩

/-! ## Steps -/

theorem unfinished_left (batch : List (Run × Nat)) (rest : List Run)
    (h : ∀ x ∈ batch, x.2 ≤ x.1.remaining) :
    leftOf (((batch.map fun x : Run × Nat => x.1.after x.2).filter
        fun r : Run => decide (r.remaining ≠ 0)) ++ rest)
      + workOf ((((batch.filter fun x : Run × Nat => decide (x.2 = x.1.remaining)).map
          fun x => (x.1.ticket, x.1.later))).map (·.2))
      + tokensOf batch = leftOf (batch.map (·.1) ++ rest) := by
  induction batch with
  | nil => simp [workOf, tokensOf]
  | cons x batch ih =>
    have hx := h x (by simp)
    have ih := ih fun y hy => h y (by simp [hy])
    by_cases hz : x.2 = x.1.remaining
    · simp only [List.map_cons, List.filter_cons, hz, ne_eq, not_true, decide_false, decide_true,
        if_true, List.cons_append, leftOf, workOf, tokensOf, List.sum_cons, Run.left, Run.after,
        Nat.sub_self] at *
      simp only [Bool.false_eq_true, if_false]
      omega
    · have h0 : x.1.remaining - x.2 ≠ 0 := by omega
      simp only [List.map_cons, List.filter_cons, h0, hz, ne_eq, not_false_eq_true, decide_false,
        decide_true, if_true, List.cons_append, leftOf, workOf, tokensOf, List.sum_cons, Run.left,
        Run.after] at *
      simp only [Bool.false_eq_true, if_false]
      omega

theorem unfinished_length (batch : List (Run × Nat)) (rest : List Run) :
    (((batch.map fun x : Run × Nat => x.1.after x.2).filter
        fun r : Run => decide (r.remaining ≠ 0)) ++ rest).length
      + (((batch.filter fun x : Run × Nat => decide (x.2 = x.1.remaining)).map
          fun x => (x.1.ticket, x.1.later))).length ≤ (batch.map (·.1) ++ rest).length := by
  induction batch with
  | nil => simp
  | cons x batch ih =>
    simp only [List.map_cons, List.filter_cons, List.length_append, List.length_map,
      List.length_cons] at *
    have h1 : (x.1.after x.2).remaining = x.1.remaining - x.2 := rfl
    by_cases hz : x.2 = x.1.remaining
    · have e1 : decide ((x.1.after x.2).remaining ≠ 0) = false :=
        decide_eq_false (by rw [h1]; omega)
      have e2 : decide (x.2 = x.1.remaining) = true := decide_eq_true hz
      simp only [e1, e2, if_true, List.length_cons, Bool.false_eq_true, if_false]
      omega
    · have e2 : decide (x.2 = x.1.remaining) = false := decide_eq_false hz
      cases decide ((x.1.after x.2).remaining ≠ 0) <;>
        simp only [e2, if_true, List.length_cons, Bool.false_eq_true, if_false] <;> omega

theorem Forming.Sound.fits {s : State} {f : Forming} (h : f.Sound p most s) :
    ∀ x ∈ f.batch, x.2 ≤ x.1.remaining := fun x hx =>
  Nat.le_trans (h.given x hx).2 (want_le p x.1)

theorem Forming.Sound.unfinished_sized {s : State} {f : Forming} (h : f.Sound p most s) :
    ∀ r ∈ f.unfinished, r.Sized most := by
  intro r hr
  rcases List.mem_append.mp hr with hr | hr
  · simp only [List.mem_filter, List.mem_map, decide_eq_true_eq] at hr
    obtain ⟨⟨x, hx, rfl⟩, h0⟩ := hr
    have hs := h.runs x.1 (by
      simp only [Forming.runs, List.mem_append, List.mem_map]; exact .inl ⟨x, hx, rfl⟩)
    refine ⟨by simp only [Run.after] at *; omega, hs.later, fun m hm => ?_⟩
    have := hs.bounded m hm
    simp only [Run.left, Run.after] at *; omega
  · exact h.runs r (List.mem_append.mpr (.inr hr))

theorem Forming.Sound.finished_sized {s : State} {f : Forming} (h : f.Sound p most s) :
    ∀ x ∈ f.finished, Serq.Sized most x.2 := by
  intro x hx
  simp only [Forming.finished, List.mem_map, List.mem_filter] at hx
  obtain ⟨y, ⟨hy, _⟩, rfl⟩ := hx
  have hs := h.runs y.1 (by
    simp only [Forming.runs, List.mem_append, List.mem_map]; exact .inl ⟨y, hy, rfl⟩)
  refine ⟨hs.later, fun m hm => ?_⟩
  have := hs.bounded m hm
  simp only [Run.left] at *; omega

/-- The state after a batch. -/
theorem State.Sound.after (hw : ∀ k, Sized most (w.phases k)) {s : State} (h : s.Sound p most w)
    {f : Forming} (hf : f.Sound p most s) (stop : Nat) : (s.after p w f stop).Sound p most w := by
  have b1 := w.upTo_bounds (stop - 1) h.arrived
  have b2 := w.upTo_bounds stop b1.2
  have hleft := unfinished_left f.batch f.rest hf.fits
  have hlen := unfinished_length f.batch f.rest
  have htotal := h.holds.total
  have hcount := h.holds.count
  have hserved := h.served
  have hft := hf.total
  have hfc := hf.count
  simp only [State.after]
  generalize w.upTo (stop - 1) s.arrived = during at *
  generalize w.upTo stop during = arrived at *
  have hbefore : s.arrived ≤ (if during = s.arrived then arrived else during) ∧
      (if during = s.arrived then arrived else during) ≤ arrived := by split <;> omega
  generalize (if during = s.arrived then arrived else during) = before at *
  have hb1 := w.between_append (Nat.zero_le _) hbefore.1
  have hb2 := w.between_append (Nat.zero_le _) hbefore.2
  have hsum : workOf (w.between 0 arrived) =
      workOf (w.between 0 s.arrived) + workOf (w.between s.arrived before) +
        workOf (w.between before arrived) := by
    rw [← hb2, ← hb1, workOf_append, workOf_append]
  have ended : State.Holds p most
      (leftOf f.unfinished + workOf f.waiting) (f.unfinished.length + f.waiting.length) {
        now := stop, arrived := arrived, served := s.served + tokensOf f.batch
        runs := f.unfinished, waiting := f.waiting, ticket := f.ticket, joined := f.joined
        registers := f.registers } := by
    refine ⟨hf.unfinished_sized, hf.waiting, rfl, Nat.le_refl _, fun c hc => ?_, hf.free⟩
    have := hf.slots c hc
    simp only [Forming.unfinished, Forming.runs] at *; omega
  have come1 := ended.come (w.between_all hw s.arrived before)
  have join := come1.join hf.finished_sized (fun c hc => by
    have := hf.slots c hc
    rw [State.come_runs_length hc]
    simp only [Forming.unfinished, Forming.finished, Forming.runs] at *; omega)
  have come2 := join.come (w.between_all hw before arrived)
  simp only [Sessions.between_length] at come2
  simp only [Forming.unfinished, Forming.finished, Forming.runs] at *
  refine ⟨?_, ?_, ?_⟩
  · rw [State.come_arrived]; simp only [State.join, State.come_arrived]; omega
  · rw [State.come_arrived, State.come_served]
    simp only [State.join, State.come_arrived, State.come_served]; omega
  · have ha : ∀ x : State, (x.come p (w.between before arrived)).arrived = x.arrived :=
      fun x => State.come_arrived x _
    refine ⟨come2.runs, come2.waiting, ?_, ?_, come2.slots, come2.free⟩
    · rw [come2.total, State.come_arrived, State.come_served]
      simp only [State.join, State.come_arrived, State.come_served]; omega
    · refine Nat.le_trans come2.count ?_
      rw [State.come_arrived]
      simp only [State.join, State.come_arrived]; omega

theorem empty_of_tokens {s : State} {f : Forming} (hf : f.Sound p most s)
    (h0 : tokensOf f.batch = 0) :
    f.batch = [] := by
  cases hb : f.batch with
  | nil => rfl
  | cons x xs =>
    have := (hf.given x (by simp [hb])).1
    simp only [hb, tokensOf, List.map_cons, List.sum_cons] at h0; omega

/-- The state after a wait. -/
theorem State.Sound.wait (hw : ∀ k, Sized most (w.phases k)) {s : State} (h : s.Sound p most w)
    {f : Forming} (hf : f.Sound p most s) (h0 : tokensOf f.batch = 0) :
    (s.wait p w f).Sound p most w := by
  have hb := empty_of_tokens hf h0
  have hu := w.upTo_bounds (w.time s.arrived) h.arrived
  have hx := w.between_all hw s.arrived (w.upTo (w.time s.arrived) s.arrived)
  have hlen := w.between_length s.arrived (w.upTo (w.time s.arrived) s.arrived)
  have hsum := workOf_append (w.between 0 s.arrived)
    (w.between s.arrived (w.upTo (w.time s.arrived) s.arrived))
  rw [w.between_append (Nat.zero_le s.arrived) hu.1] at hsum
  have hserved := h.served
  have htotal := h.holds.total
  have hcount := h.holds.count
  have hft := hf.total
  have hfc := hf.count
  simp only [State.wait]
  generalize w.upTo (w.time s.arrived) s.arrived = arrived at *
  split
  · have come := State.Holds.come (p := p) (most := most)
      (s := { s with now := w.time s.arrived, arrived := arrived })
      ⟨h.holds.runs, h.holds.waiting, rfl, Nat.le_refl _, h.holds.slots, h.holds.free⟩ hx
    refine ⟨?_, ?_, ⟨come.runs, come.waiting, ?_, ?_, come.slots, come.free⟩⟩
    · rw [State.come_arrived]; simp only; omega
    · rw [State.come_arrived, State.come_served]; simp only; omega
    · rw [come.total, State.come_arrived, State.come_served]; simp only; omega
    · refine Nat.le_trans come.count ?_
      rw [State.come_arrived]; simp only; omega
  · simp only [Forming.runs, hb, List.map_nil, List.nil_append] at hft hfc
    have runs := hf.runs
    have slots := hf.slots
    simp only [Forming.runs, hb, List.map_nil, List.nil_append] at runs slots
    have come := State.Holds.come (s := { s with
        runs := f.rest, waiting := f.waiting, ticket := f.ticket, joined := f.joined
        registers := f.registers, now := w.time s.arrived, arrived := arrived })
      (p := p) (most := most) ⟨runs, hf.waiting, rfl, Nat.le_refl _, slots, hf.free⟩ hx
    refine ⟨?_, ?_, ⟨come.runs, come.waiting, ?_, ?_, come.slots, come.free⟩⟩
    · rw [State.come_arrived]; simp only; omega
    · rw [State.come_arrived, State.come_served]; simp only; omega
    · rw [come.total, State.come_arrived, State.come_served]; simp only; omega
    · refine Nat.le_trans come.count ?_
      rw [State.come_arrived]; simp only; omega

/-- A property of the initial state that iterations and waits preserve. -/
theorem invariant (I : State → Prop) (h0 : I (initial p w))
    (hs : ∀ s t, I s → next p w s = some t → I t) {s : State} (h : Reachable p w s) : I s := by
  induction h with
  | initial => exact h0
  | next _ hn ih => exact hs _ _ ih hn

/-- Every state is sound. -/
theorem Reachable.sound (hp : p.Proper) (hw : ∀ k, Sized most (w.phases k)) {s : State}
    (h : Reachable p w s) : s.Sound p most w := by
  refine invariant (State.Sound p most w) ?_ (fun s t h hn => ?_) h
  · have b := w.upTo_bounds 0 (Nat.zero_le w.count)
    have come := State.Holds.come (p := p) (most := most) (s := {
        now := 0, arrived := w.upTo 0 0, served := 0, runs := [], waiting := [], ticket := 0
        joined := 0, registers := p.registers }) (total := 0) (count := 0)
      ⟨by simp, by simp, by simp [leftOf, workOf], by simp, by simp, by simp⟩
      (w.between_all hw 0 (w.upTo 0 0))
    refine ⟨?_, ?_, ⟨come.runs, come.waiting, ?_, ?_, come.slots, come.free⟩⟩
    · rw [Serq.initial, State.come_arrived]; exact b.2
    · rw [Serq.initial, State.come_served]; simp
    · rw [Serq.initial, come.total, State.come_arrived, State.come_served]; simp
    · rw [Serq.initial, State.come_arrived]
      simpa [Sessions.between_length] using come.count
  · have hf := h.holds.form hp
    simp only [Serq.next] at hn
    split at hn
    · split at hn
      · cases hn; exact h.wait hw hf ‹_›
      · cases hn
    · split at hn
      · cases hn
      · cases hn; exact h.after hw hf _

theorem reachable_run {k : Nat} {s t : State} (hs : Reachable p w s) (h : run p w k s = some t) :
    Reachable p w t := by
  induction k generalizing s with
  | zero => simp only [run, Option.some.injEq] at h; exact h ▸ hs
  | succ k ih =>
    simp only [run] at h
    cases hn : next p w s with
    | none => simp [hn] at h
    | some u => exact ih (.next hs hn) (by simpa [hn] using h)

end Serq
