module

public import Serq.Lemmas

/-!
General theorems about every iteration of every run.

Each says something about an iteration that holds for any program of the fragment under conditions
that `decide`, `simp` and `omega` can close for given constants. A claim is proved when it follows
from some of them by linear arithmetic.
-/

@[expose] public noncomputable section

namespace Serq

/-- What the sessions of a workload run: lengths above 0, and no more than `most` in all. -/
def Lengths (most : Option Nat) (workload : Sessions → Prop) : Prop :=
  ∀ w, workload w → ∀ k, Sized most (w.phases k)

variable {p : Program} {workload : Sessions → Prop} {most : Option Nat}

theorem EveryIteration.imp {P Q : Iteration → Prop} (h : EveryIteration p workload P)
    (hi : ∀ i, P i → Q i) : EveryIteration p workload Q :=
  fun w hw s hr hs => hi _ (h w hw s hr hs)

theorem EveryIteration.and {P Q : Iteration → Prop} (h : EveryIteration p workload P)
    (hq : EveryIteration p workload Q) : EveryIteration p workload fun i => P i ∧ Q i :=
  fun w hw s hr hs => ⟨h w hw s hr hs, hq w hw s hr hs⟩

/-- What is never true is not true at some iteration. -/
theorem EveryIteration.never {P : Iteration → Prop} (h : EveryIteration p workload fun i => ¬ P i) :
    ¬ SomeIteration p workload P :=
  fun ⟨w, hw, s, hr, hs, hp⟩ => h w hw s hr hs hp

/-- What is wrong at some iteration is not true at every one. -/
theorem SomeIteration.refutes {P : Iteration → Prop} (h : SomeIteration p workload fun i => ¬ P i) :
    ¬ EveryIteration p workload P :=
  fun he => h.elim fun w ⟨hw, s, hr, hs, hp⟩ => hp (he w hw s hr hs)

/-! ## The shape of a batch -/

theorem tokens_le_demand (p : Program) (batch : List (Run × Nat))
    (h : ∀ x ∈ batch, x.2 ≤ want p x.1) :
    tokensOf batch ≤ demandOf p (batch.map (·.1)) := by
  induction batch with
  | nil => simp [tokensOf]
  | cons x xs ih =>
    have := h x (by simp)
    have := ih fun y hy => h y (by simp [hy])
    simp only [tokensOf, demandOf, List.map_cons, List.sum_cons] at *; omega

theorem tokens_eq_demand (p : Program) (batch : List (Run × Nat))
    (h : ∀ x ∈ batch, x.2 = want p x.1) :
    tokensOf batch = demandOf p (batch.map (·.1)) := by
  induction batch with
  | nil => simp [tokensOf, demandOf]
  | cons x xs ih =>
    have := h x (by simp)
    have := ih fun y hy => h y (by simp [hy])
    simp only [tokensOf, demandOf, List.map_cons, List.sum_cons] at *; omega

theorem tokens_split (p : Program) (batch : List (Run × Nat))
    (h : ∀ x ∈ batch, 1 ≤ x.2 ∧ x.2 ≤ want p x.1) :
    tokensOf batch = prefilledOf batch + decodersOf batch := by
  induction batch with
  | nil => simp [tokensOf, prefilledOf, decodersOf]
  | cons x xs ih =>
    have hx := h x (by simp)
    have := ih fun y hy => h y (by simp [hy])
    simp only [tokensOf, prefilledOf, decodersOf, List.map_cons, List.sum_cons,
      List.countP_cons] at *
    cases hd : x.1.decoding with
    | true =>
      have := want_decode (p := p) hd
      simp only [if_true]; omega
    | false => simp only [Bool.false_eq_true, if_false]; omega

theorem decoders_le (batch : List (Run × Nat)) : decodersOf batch ≤ batch.length :=
  List.countP_le_length

/-- Facts of one batch. -/
structure Shape (p : Program) (f : Forming) : Prop where
  budget : tokensOf f.batch ≤ p.budget
  demand : tokensOf f.batch ≤ demandOf p f.runs
  split : tokensOf f.batch = prefilledOf f.batch + decodersOf f.batch
  decoders : decodersOf f.batch ≤ f.runs.length
  residents : f.runs.length ≤ demandOf p f.runs

theorem Forming.Sound.shape (hp : p.Proper) {s : State} {f : Forming} (h : f.Sound p most s) :
    Shape p f where
  budget := by have := h.budget; omega
  demand := by
    have := tokens_le_demand p f.batch fun x hx => (h.given x hx).2
    simp only [Forming.runs, demandOf_append]; omega
  split := tokens_split p f.batch h.given
  decoders := by
    have := decoders_le f.batch
    simp only [Forming.runs, List.length_append, List.length_map]; omega
  residents := length_le_demand _ fun r hr => want_pos hp (h.runs r hr).positive

/-- No more tokens than the budget. -/
theorem budget (hp : p.Proper) (hl : Lengths most workload) :
    EveryIteration p workload fun i => i.tokens ≤ p.budget := by
  intro w hw s hr _
  have := (((hr.sound hp (hl w hw)).holds.form hp).shape hp).budget
  simp only [iteration]; omega

/-- What the counters have to do with each other. -/
theorem counters (hp : p.Proper) (hl : Lengths most workload) :
    EveryIteration p workload fun i =>
      1 ≤ i.tokens ∧ i.tokens ≤ i.demand ∧ i.tokens = i.prefilled + i.decoders ∧ 0 ≤ i.prefilled ∧
      0 ≤ i.decoders ∧ i.decoders ≤ i.residents ∧ 1 ≤ i.residents ∧ i.residents ≤ i.demand ∧
      0 ≤ i.waiting ∧ i.residents + i.waiting ≤ i.arrived ∧ 0 ≤ i.served ∧ 0 ≤ i.now := by
  intro w hw s hr hs
  have sound := hr.sound hp (hl w hw)
  have hf := sound.holds.form hp
  have shape := hf.shape hp
  have h1 := shape.demand
  have h2 := shape.split
  have h3 := shape.decoders
  have h4 := shape.residents
  have h5 := hf.count
  have h6 := sound.holds.count
  have h7 : 1 ≤ (s.form p).runs.length := by
    cases hb : (s.form p).batch with
    | nil => simp [Starts, hb, tokensOf] at hs
    | cons x xs =>
      simp only [Forming.runs, hb, List.map_cons, List.cons_append, List.length_cons]; omega
  simp only [Starts] at hs
  simp only [iteration, demandOf] at *
  omega

/-- Where there are no slots nobody waits for one. -/
theorem none_waits (hp : p.Proper) (hl : Lengths most workload) (hn : p.slots = none) :
    EveryIteration p workload fun i => i.waiting = 0 := by
  intro w hw s hr _
  have := ((hr.sound hp (hl w hw)).holds.form hp).free hn
  simp [iteration, this]

/-- No more sessions at the engine than slots. -/
theorem slots (hp : p.Proper) (hl : Lengths most workload) {c : Nat} (hc : p.slots = some c) :
    EveryIteration p workload fun i => i.residents ≤ c := by
  intro w hw s hr _
  have := ((hr.sound hp (hl w hw)).holds.form hp).slots c hc
  simp only [iteration]; omega

/-- What was served, with what is present, never exceeds what arrived. -/
theorem conservation {V : Nat} (hp : p.Proper) (hl : Lengths (some V) workload) :
    EveryIteration p workload fun i => i.served + i.demand ≤ i.arrived * V := by
  intro w hw s hr _
  have sound := hr.sound hp (hl w hw)
  have hf := sound.holds.form hp
  have h1 := demand_le_left p (s.form p).runs
  have h2 := hf.total
  have h3 := sound.holds.total
  have h4 := sound.served
  have h5 := workOf_le V _ (w.between_all (P := fun x => work x ≤ V)
    (fun k => (hl w hw k).bounded V rfl) 0 s.arrived)
  rw [Sessions.between_length, Nat.sub_zero] at h5
  have h6 : s.served + demandOf p (s.form p).runs ≤ s.arrived * V := by omega
  have h7 := Int.ofNat_le.mpr h6
  simp only [iteration, demandOf] at *
  rw [Int.natCast_add, Int.natCast_mul] at h7
  exact h7

/-! ## Work conservation -/

/-- A schedule that leaves no run without tokens while there is budget: every run passes the `only`
of some statement before the engine changes. `seen`: who would have been served before. -/
def Schedule.Serves : Schedule → (seen : Running → Run → Prop) → Prop
  | .done, seen => ∀ v r, seen v r
  | .advance only _ after, seen => after.Serves fun v r => seen v r ∨ only v r = true
  | .alone after, seen => after.Serves seen
  | .admit only _ after, seen =>
    ((∀ v r, seen v r) ∧ (∀ v r, only v r = true) ∧ after.Serves fun _ _ => True) ∨
      after.Serves fun _ _ => False
  | .assign _ _ after, seen =>
    ((∀ v r, seen v r) ∧ after.Serves fun _ _ => True) ∨ after.Serves fun _ _ => False
  | .branch _ yes no, seen => yes.Serves seen ∧ no.Serves seen

namespace Schedule.Serves

variable {seen : Running → Run → Prop} {after yes no : Schedule} {only : Running → Run → Bool}

theorem done (h : ∀ v r, seen v r) : Schedule.done.Serves seen := h

theorem advance {keys : Running → Run → List Int}
    (h : after.Serves fun v r => seen v r ∨ only v r = true) :
    (Schedule.advance only keys after).Serves seen := h

theorem alone (h : after.Serves seen) : (Schedule.alone after).Serves seen := h

theorem admit {condition : Plan → Bool} (h1 : ∀ v r, seen v r) (h2 : ∀ v r, only v r = true)
    (h3 : after.Serves fun _ _ => True) : (Schedule.admit only condition after).Serves seen :=
  .inl ⟨h1, h2, h3⟩

theorem admit_again {condition : Plan → Bool} (h : after.Serves fun _ _ => False) :
    (Schedule.admit only condition after).Serves seen := .inr h

theorem assign {register : Nat} {value : Plan → Int} (h1 : ∀ v r, seen v r)
    (h2 : after.Serves fun _ _ => True) : (Schedule.assign register value after).Serves seen :=
  .inl ⟨h1, h2⟩

theorem assign_again {register : Nat} {value : Plan → Int} (h : after.Serves fun _ _ => False) :
    (Schedule.assign register value after).Serves seen := .inr h

theorem branch {test : Plan → Bool} (h1 : yes.Serves seen) (h2 : no.Serves seen) :
    (Schedule.branch test yes no).Serves seen := ⟨h1, h2⟩

end Schedule.Serves

/-- The budget is spent, or everyone who was seen has all that it could take. -/
def Forming.Spent (p : Program) (seen : Running → Run → Prop) (f : Forming) : Prop :=
  f.left = 0 ∨ (∀ x ∈ f.batch, x.2 = want p x.1) ∧ ∀ r ∈ f.rest, ¬ seen f.running r

theorem Forming.serve_running (p : Program) (test : Run → Bool) (keys : Run → List Int)
    (f : Forming) :
    (f.serve p test keys).running = f.running := by
  have h := f.serve_runs p test keys
  simp only [Forming.running, h.length_eq, h.countP_eq]
  rfl

theorem Forming.Spent.serve {seen : Running → Run → Prop} {f : Forming} (h : f.Spent p seen)
    (test : Run → Bool) (keys : Run → List Int) :
    (f.serve p test keys).Spent p fun v r => seen v r ∨ v = f.running ∧ test r = true := by
  rcases h with h | ⟨h1, h2⟩
  · left; simp only [Forming.serve]; omega
  · rcases pass_greedy p test f.left (sort keys f.rest) with hg | ⟨hg1, hg2⟩
    · left; simp only [Forming.serve]; omega
    · right
      refine ⟨fun x hx => ?_, fun r hr => ?_⟩
      · rcases List.mem_append.mp hx with hx | hx
        · exact h1 x hx
        · exact hg1 x hx
      · have hmem : r ∈ f.rest := by
          refine (sort_perm keys f.rest).mem_iff.mp ?_
          refine (pass_perm p test f.left _).mem_iff.mp ?_
          exact List.mem_append.mpr (.inr hr)
        rw [Forming.serve_running]
        rintro (hs | ⟨_, ht⟩)
        · exact h2 r hmem hs
        · rw [hg2 r hr] at ht; cases ht

theorem Forming.Spent.mono {seen seen' : Running → Run → Prop} {f : Forming} (h : f.Spent p seen)
    (hi : ∀ r, seen' f.running r → seen f.running r) : f.Spent p seen' :=
  h.imp id fun h => ⟨h.1, fun r hr hs => h.2 r hr (hi r hs)⟩

theorem Forming.Spent.admit {c : Prop} {only : Running → Run → Bool}
    (ho : c → ∀ v r, only v r = true)
    (condition : Plan → Bool) (ws : List (List Phase)) {f : Forming}
    (h : f.Spent p fun _ _ => c) : (f.admit p only condition ws).Spent p fun _ _ => c := by
  induction ws generalizing f with
  | nil => exact h
  | cons phases others ih =>
    unfold Forming.admit; split
    · exact h
    · rename_i hc
      refine ih ?_
      rcases h with h | ⟨h1, h2⟩
      · exact absurd (.inl h) hc
      · simp only [Forming.admitOne, Forming.Spent]
        generalize hq : only _ = test
        rcases pass_greedy p test f.left (start f.ticket f.joined phases) with hg | ⟨hg1, hg2⟩
        · left; omega
        · right
          refine ⟨fun x hx => ?_, fun r hr hcc => ?_⟩
          · rcases List.mem_append.mp hx with hx | hx
            · exact h1 x hx
            · exact hg1 x hx
          · rcases List.mem_append.mp hr with hr | hr
            · exact h2 r hr hcc
            · have := hg2 r hr
              rw [← hq, ho hcc] at this; cases this

theorem form_serves (schedule : Schedule) {seen : Running → Run → Prop} (hs : schedule.Serves seen)
    {f : Forming} (h : f.Spent p seen) : (form p schedule f).Spent p fun _ _ => True := by
  induction schedule generalizing seen f with
  | done => exact h.mono fun r _ => hs _ r
  | advance only keys after ih =>
    refine ih hs ((h.serve _ _).mono fun r hr => ?_)
    rw [Forming.serve_running] at *
    exact hr.imp id fun hr => ⟨rfl, hr⟩
  | alone after ih => exact ih hs ((h.serve _ _).mono fun r hr => .inl hr)
  | admit only condition after ih =>
    rcases hs with ⟨h1, h2, h3⟩ | h3
    · exact ih h3 (Forming.Spent.admit (fun _ => h2) _ _ (h.mono fun r _ => h1 _ r))
    · exact ih h3 (Forming.Spent.admit (fun hf => hf.elim) _ _ (h.mono fun r hr => hr.elim))
  | assign register value after ih =>
    rcases hs with ⟨h1, h3⟩ | h3
    · exact ih h3 (h.imp id fun h => ⟨h.1, fun r hr _ => h.2 r hr (h1 _ r)⟩)
    · exact ih h3 (h.imp id fun h => ⟨h.1, fun r hr hf => hf.elim⟩)
  | branch test yes no ihy ihn =>
    unfold form; split
    · exact ihy hs.1 h
    · exact ihn hs.2 h

theorem greedy_state (hs : p.schedule.Serves fun _ _ => False) (hp : p.Proper) {s : State}
    {total count : Nat} (h : s.Holds p most total count) :
    tokensOf (s.form p).batch = p.budget ∨
      tokensOf (s.form p).batch = demandOf p (s.form p).runs := by
  have hb := (h.form hp).budget
  have hq : (s.form p).Spent p fun _ _ => True :=
    form_serves p.schedule hs (.inr ⟨by simp, by simp⟩)
  rcases hq with h0 | ⟨h1, h2⟩
  · left; omega
  · right
    have hrest : (s.form p).rest = [] := by
      cases hr : (s.form p).rest with
      | nil => rfl
      | cons r rs => exact absurd trivial (h2 r (by simp [hr]))
    rw [tokens_eq_demand p _ h1, Forming.runs, hrest, List.append_nil]

/-- A batch is full, or everyone has all that it could take. -/
theorem work_conservation (hp : p.Proper) (hl : Lengths most workload)
    (hs : p.schedule.Serves fun _ _ => False) :
    EveryIteration p workload fun i => i.tokens = p.budget ∨ i.tokens = i.demand := by
  intro w hw s hr _
  have := greedy_state hs hp (hr.sound hp (hl w hw)).holds
  simp only [iteration, demandOf] at *; omega

/-! ## Time -/

/-- Who has arrived when. -/
structure State.Timely (w : Sessions) (s : State) : Prop where
  arrived : s.arrived ≤ w.count
  past : ∀ k, k < s.arrived → w.time k ≤ s.now
  future : s.arrived = w.count ∨ s.now < w.time s.arrived

theorem Sessions.upTo_future (w : Sessions) (t : Nat) {known : Nat} (h : known ≤ w.count) :
    w.upTo t known = w.count ∨ t < w.time (w.upTo t known) := by
  have := (w.due_time t (w.count - known) known).2
  simp only [Sessions.upTo]
  rcases this with h | h
  · left; omega
  · exact .inr h

theorem Sessions.upTo_past (w : Sessions) (t : Nat) (known : Nat) :
    ∀ k, known ≤ k → k < w.upTo t known → w.time k ≤ t :=
  (w.due_time t (w.count - known) known).1

theorem State.after_now (w : Sessions) (s : State) (f : Forming) (stop : Nat) :
    (s.after p w f stop).now = stop := by
  simp only [State.after, State.come_now, State.join]

theorem State.after_arrived (w : Sessions) (s : State) (f : Forming) (stop : Nat) :
    (s.after p w f stop).arrived = w.upTo stop (w.upTo (stop - 1) s.arrived) := by
  simp only [State.after, State.come_arrived, State.join]

theorem State.after_served (w : Sessions) (s : State) (f : Forming) (stop : Nat) :
    (s.after p w f stop).served = s.served + tokensOf f.batch := by
  simp only [State.after, State.come_served, State.join]

theorem State.wait_now (w : Sessions) (s : State) (f : Forming) :
    (s.wait p w f).now = w.time s.arrived := by
  simp only [State.wait, State.come_now]

theorem State.wait_arrived (w : Sessions) (s : State) (f : Forming) :
    (s.wait p w f).arrived = w.upTo (w.time s.arrived) s.arrived := by
  simp only [State.wait, State.come_arrived]

theorem State.wait_served (w : Sessions) (s : State) (f : Forming) :
    (s.wait p w f).served = s.served := by
  simp only [State.wait, State.come_served]; split <;> rfl

/-- What `next` is, case by case. -/
theorem next_cases {w : Sessions} {s t : State} (h : next p w s = some t) :
    (tokensOf (s.form p).batch = 0 ∧ s.arrived < w.count ∧ t = s.wait p w (s.form p)) ∨
    (tokensOf (s.form p).batch ≠ 0 ∧ 0 < (s.form p).duration p ∧
      t = s.after p w (s.form p) (s.now + ((s.form p).duration p).toNat)) := by
  simp only [next] at h
  split at h
  · split at h
    · cases h; exact .inl ⟨‹_›, ‹_›, rfl⟩
    · cases h
  · split at h
    · cases h
    · cases h; exact .inr ⟨‹_›, by omega, rfl⟩

theorem Reachable.timely {w : Sessions} {s : State} (h : Reachable p w s) : s.Timely w := by
  refine invariant (State.Timely w) ?_ (fun s t h hn => ?_) h
  · have b := w.upTo_bounds 0 (Nat.zero_le w.count)
    refine ⟨?_, ?_, ?_⟩
    · rw [Serq.initial, State.come_arrived]; exact b.2
    · rw [Serq.initial, State.come_arrived, State.come_now]
      exact fun k hk => w.upTo_past 0 0 k (Nat.zero_le _) hk
    · rw [Serq.initial, State.come_arrived, State.come_now]
      exact w.upTo_future 0 (Nat.zero_le _)
  · rcases next_cases hn with ⟨_, ha, rfl⟩ | ⟨_, _, rfl⟩
    · have hf : s.now < w.time s.arrived := by
        rcases h.future with h | h
        · omega
        · exact h
      refine ⟨?_, ?_, ?_⟩
      · rw [State.wait_arrived]; exact (w.upTo_bounds _ h.arrived).2
      · rw [State.wait_arrived, State.wait_now]
        intro k hk
        by_cases h1 : k < s.arrived
        · have := h.past k h1; omega
        · exact w.upTo_past _ _ k (by omega) hk
      · rw [State.wait_arrived, State.wait_now]
        exact w.upTo_future _ h.arrived
    · have b1 := w.upTo_bounds (s.now + ((s.form p).duration p).toNat - 1) h.arrived
      have b2 := w.upTo_bounds (s.now + ((s.form p).duration p).toNat) b1.2
      refine ⟨?_, ?_, ?_⟩
      · rw [State.after_arrived]; exact b2.2
      · rw [State.after_arrived, State.after_now]
        intro k hk
        by_cases h1 : k < s.arrived
        · have := h.past k h1; omega
        · by_cases h2 : k < w.upTo (s.now + ((s.form p).duration p).toNat - 1) s.arrived
          · have := w.upTo_past _ _ k (by omega) h2; omega
          · exact w.upTo_past _ _ k (by omega) hk
      · rw [State.after_arrived, State.after_now]
        exact w.upTo_future _ b1.2

/-- What a batch can be. -/
structure Possible (p : Program) (b : Batch) : Prop where
  tokens : 1 ≤ b.tokens
  budget : b.tokens ≤ p.budget
  split : b.tokens = b.prefilled + b.decoding
  prefilled : 0 ≤ b.prefilled
  decoding : 0 ≤ b.decoding
  present : b.decoding ≤ b.running
  running : 1 ≤ b.running
  waiting : 0 ≤ b.waiting
  slots : ∀ c : Nat, p.slots = some c → b.running ≤ c

/-- What is true of the numbers from 1 to `most`, one by one. -/
theorem one_by_one {P : Int → Prop} (most : Nat) (h : ∀ n : Fin most, P ((n.val + 1 : Nat) : Int))
    (t : Int) (h1 : 1 ≤ t) (h2 : t ≤ most) : P t := by
  have := h ⟨t.toNat - 1, by omega⟩
  rwa [show ((t.toNat - 1 + 1 : Nat) : Int) = t by omega] at this

/-- Whatever holds for every possible batch holds for this one. -/
theorem duration_of (hp : p.Proper) {s : State} {f : Forming} (hf : f.Sound p most s)
    (h0 : tokensOf f.batch ≠ 0) {P : Int → Int → Prop}
    (h : ∀ b, Possible p b → P b.tokens (p.execute b)) : P (tokensOf f.batch) (f.duration p) := by
  have shape := hf.shape hp
  have h1 := shape.budget
  have h2 := shape.split
  have h3 := shape.decoders
  have h7 : 1 ≤ f.runs.length := by
    cases hb : f.batch with
    | nil => simp [hb, tokensOf] at h0
    | cons x xs =>
      simp only [Forming.runs, hb, List.map_cons, List.cons_append, List.length_cons]; omega
  exact h { tokens := tokensOf f.batch, prefilled := prefilledOf f.batch
            decoding := decodersOf f.batch, running := f.runs.length
            waiting := f.waiting.length, registers := f.registers }
    { tokens := by show 1 ≤ (tokensOf f.batch : Int); omega
      budget := Int.ofNat_le.mpr h1
      split := by show (tokensOf f.batch : Int) = prefilledOf f.batch + decodersOf f.batch; omega
      prefilled := Int.natCast_nonneg _
      decoding := Int.natCast_nonneg _
      present := Int.ofNat_le.mpr h3
      running := by show 1 ≤ (f.runs.length : Int); omega
      waiting := Int.natCast_nonneg _
      slots := fun c hc => Int.ofNat_le.mpr (hf.slots c hc) }

/-- A property of the initial state that steps between reachable states preserve. -/
theorem Reachable.keeps {w : Sessions} (I : State → Prop) (h0 : I (Serq.initial p w))
    (hs : ∀ s t, Reachable p w s → I s → Serq.next p w s = some t → I t) {s : State}
    (h : Reachable p w s) : I s := by
  induction h with
  | initial => exact h0
  | next hr hn ih => exact hs _ _ hr ih hn

theorem Reachable.rate {P Q : Nat} (hp : p.Proper) {w : Sessions}
    (hl : ∀ k, Sized most (w.phases k))
    (hc : ∀ b, Possible p b → b.tokens * P ≤ Q * p.execute b) {s : State} (hr : Reachable p w s) :
    (s.served : Int) * P ≤ Q * (s.now : Int) := by
  refine hr.keeps (fun s => (s.served : Int) * P ≤ Q * (s.now : Int)) ?_ (fun s t hr ih hn => ?_)
  · show ((Serq.initial p w).served : Int) * P ≤ Q * ((Serq.initial p w).now : Int)
    rw [Serq.initial, State.come_served, State.come_now]; simp
  · have timely := hr.timely
    dsimp only at ih ⊢
    rcases next_cases hn with ⟨_, ha, rfl⟩ | ⟨h0, hd, rfl⟩
    · rw [State.wait_served, State.wait_now]
      refine Int.le_trans ih (Int.mul_le_mul_of_nonneg_left ?_ (Int.natCast_nonneg _))
      rcases timely.future with h | h <;> omega
    · rw [State.after_served, State.after_now]
      have hf := (hr.sound hp hl).holds.form hp
      have := duration_of (P := fun t d => t * P ≤ Q * d) hp hf h0 hc
      have hn : (((s.form p).duration p).toNat : Int) = (s.form p).duration p :=
        Int.toNat_of_nonneg (Int.le_of_lt hd)
      rw [Int.natCast_add, Int.natCast_add, hn, Int.add_mul, Int.mul_add]
      exact Int.add_le_add ih this

/-- If no batch takes less than `P` ticks for every `Q` of its tokens, all of them do not. -/
theorem token_rate {P Q : Nat} (hp : p.Proper) (hl : Lengths most workload)
    (hc : ∀ b, Possible p b → b.tokens * P ≤ Q * p.execute b) :
    EveryIteration p workload fun i => i.served * P ≤ Q * i.now :=
  fun w hw _ hr _ => hr.rate hp (hl w hw) hc

/-- The same where a unit of the clock is `ticks`. -/
theorem token_rate_in_ticks {P Q ticks : Nat} {execute : Batch → Int}
    (he : ∀ b, p.execute b = execute b * ticks) (hp : p.Proper) (hl : Lengths most workload)
    (hc : ∀ b, Possible p b → b.tokens * P ≤ Q * execute b) :
    EveryIteration p workload fun i => i.served * P * ticks ≤ Q * i.now := by
  refine (token_rate (P := P * ticks) (Q := Q) hp hl fun b h => ?_).imp fun i h => ?_
  · have := Int.mul_le_mul_of_nonneg_right (hc b h) (Int.natCast_nonneg ticks)
    rw [he, Int.natCast_mul]
    grind
  · rw [Int.natCast_mul] at h
    grind

/-! ## Arrivals -/

theorem Reachable.punctual {gap : Nat} {w : Sessions} (hw : Renewal gap w) {s : State}
    (hr : Reachable p w s) : s.arrived * gap ≤ s.now := by
  rcases Nat.eq_zero_or_pos s.arrived with h | h
  · simp [h]
  · have := hr.timely.past (s.arrived - 1) (by omega)
    rwa [hw, show s.arrived - 1 + 1 = s.arrived by omega] at this

/-- Nobody comes before time. -/
theorem arrivals {gap : Nat} (hw : ∀ w, workload w → Renewal gap w) :
    EveryIteration p workload fun i => i.arrived * gap ≤ i.now := by
  intro w hww s hr _
  have := Int.ofNat_le.mpr (hr.punctual (hw w hww))
  rw [Int.natCast_mul] at this
  exact this

/-- Everybody is there from the beginning. -/
theorem all_arrived {count : Nat} (hw : ∀ w, workload w → AtOnce count w) :
    EveryIteration p workload fun i => i.arrived = count := by
  intro w hww s hr _
  have future := hr.timely.future
  have h := (hw w hww).1
  have h2 := (hw w hww).2 s.arrived
  simp only [iteration]; omega

/-- At or below capacity the backlog is bounded: a full batch serves at least what comes meanwhile,
and when a batch is not full there are fewer sessions than its tokens. -/
theorem backlog {V gap E K : Nat} (hp : p.Proper) (hl : Lengths (some V) workload)
    (hs : p.schedule.Serves fun _ _ => False) (hn : p.slots = none)
    (hw : ∀ w, workload w → Renewal gap w) (hv : ∀ w, workload w → ∀ k, work (w.phases k) = V)
    (hg : 1 ≤ gap)
    (hfull : ∀ b, Possible p b → b.tokens = p.budget → V * p.execute b ≤ gap * b.tokens)
    (hpart : ∀ b, Possible p b → V * p.execute b ≤ gap * b.tokens + E)
    (hk1 : gap * V ≤ K) (hk2 : gap * (p.budget * V) + E ≤ K + V) :
    EveryIteration p workload fun i => i.arrived * (gap * V) ≤ i.served * gap + K := by
  intro w hww s hr _
  have time := hw w hww
  have hserved (s : State) (hr : Reachable p w s) : s.served + leftOf s.runs = s.arrived * V := by
    have sound := hr.sound hp (hl w hww)
    have h1 := sound.holds.total
    have h2 := sound.served
    have h3 := workOf_eq V _ (w.between_all (P := fun x => work x = V) (hv w hww) 0 s.arrived)
    rw [Sessions.between_length, Nat.sub_zero] at h3
    rw [sound.holds.free hn] at h1
    simp only [workOf, List.map_nil, List.sum_nil] at h1
    simp only [workOf] at h2 h3
    omega
  have key : V * min s.now (w.count * gap) ≤ gap * s.served + K := by
    refine hr.keeps (fun s => V * min s.now (w.count * gap) ≤ gap * s.served + K) ?_
      (fun s t hr ih hnext => ?_)
    · show V * min (Serq.initial p w).now (w.count * gap) ≤ gap * (Serq.initial p w).served + K
      rw [Serq.initial, State.come_served, State.come_now]; simp
    · dsimp only at ih ⊢
      have sound := hr.sound hp (hl w hww)
      have hf := sound.holds.form hp
      have shape := hf.shape hp
      have timely := hr.timely
      have hleft := hserved s hr
      have greedy := greedy_state hs hp sound.holds
      have hfree := hf.free hn
      have htotal := hf.total
      rw [hfree, sound.holds.free hn] at htotal
      have hbound := leftOf_le V (s.form p).runs fun r hr => (hf.runs r hr).bounded V rfl
      have hres := shape.residents
      rcases next_cases hnext with ⟨h0, ha, rfl⟩ | ⟨h0, hd, rfl⟩
      · rw [State.wait_served, State.wait_now, time]
        have hb := hp.budget
        have hnil : (s.form p).runs.length = 0 := by omega
        rw [hnil, Nat.zero_mul] at hbound
        have hz : s.served = s.arrived * V := by omega
        rw [hz]
        calc V * min ((s.arrived + 1) * gap) (w.count * gap)
            ≤ V * ((s.arrived + 1) * gap) := Nat.mul_le_mul_left _ (Nat.min_le_left _ _)
          _ = gap * (s.arrived * V) + gap * V := by
            rw [Nat.add_mul, Nat.mul_add, Nat.one_mul]; ac_rfl
          _ ≤ _ := Nat.add_le_add_left hk1 _
      · rw [State.after_served, State.after_now]
        have hpart' := duration_of (P := fun t d => V * d ≤ gap * t + E) hp hf h0 hpart
        have hfull' := duration_of (P := fun t d => t = p.budget → V * d ≤ gap * t) hp hf h0 hfull
        have hnat : (((s.form p).duration p).toNat : Int) = (s.form p).duration p :=
          Int.toNat_of_nonneg (Int.le_of_lt hd)
        rw [← hnat] at hpart' hfull'
        generalize ((s.form p).duration p).toNat = d at *
        generalize hT : tokensOf (s.form p).batch = T at *
        have hstep : V * min (s.now + d) (w.count * gap) ≤
            V * min s.now (w.count * gap) + V * d := by
          rw [← Nat.mul_add]
          exact Nat.mul_le_mul_left _ (by omega)
        rw [Nat.mul_add gap]
        rcases greedy with hfullT | hpartT
        · have := hfull' (by omega)
          have : V * d ≤ gap * T := by exact_mod_cast this
          omega
        · by_cases hb : T = p.budget
          · have := hfull' (by omega)
            have : V * d ≤ gap * T := by exact_mod_cast this
            omega
          · have hVd : V * d ≤ gap * T + E := by exact_mod_cast hpart'
            have hbud := shape.budget
            rw [hT] at hbud
            have hlen : (s.form p).runs.length + 1 ≤ p.budget := by omega
            have hmul := Nat.mul_le_mul_right V hlen
            rw [Nat.add_mul, Nat.one_mul] at hmul
            simp only [workOf, List.map_nil, List.sum_nil, Nat.add_zero] at htotal
            have hA : s.arrived * V + V ≤ s.served + p.budget * V := by omega
            have hmin : min s.now (w.count * gap) + 1 ≤ (s.arrived + 1) * gap := by
              rw [Nat.add_mul, Nat.one_mul]
              rcases timely.future with h | h
              · rw [h]; omega
              · rw [time, Nat.add_mul, Nat.one_mul] at h; omega
            have hmin2 := Nat.mul_le_mul_left V hmin
            rw [Nat.mul_add V, Nat.mul_one] at hmin2
            have hA2 := Nat.mul_le_mul_left gap hA
            rw [Nat.mul_add gap s.served, Nat.mul_add gap (s.arrived * V)] at hA2
            have e1 : V * ((s.arrived + 1) * gap) = gap * (s.arrived * V) + gap * V := by
              rw [Nat.add_mul, Nat.mul_add, Nat.one_mul]; ac_rfl
            omega
  have timely := hr.timely
  have hmin : s.arrived * gap ≤ min s.now (w.count * gap) := by
    have h1 := hr.punctual time
    have h2 := Nat.mul_le_mul_right gap timely.arrived
    omega
  have h1 : s.arrived * (gap * V) ≤ s.served * gap + K := by
    calc s.arrived * (gap * V) = V * (s.arrived * gap) := by ac_rfl
      _ ≤ V * min s.now (w.count * gap) := Nat.mul_le_mul_left _ hmin
      _ ≤ gap * s.served + K := key
      _ = s.served * gap + K := by rw [Nat.mul_comm]
  show (s.arrived : Int) * (gap * V) ≤ s.served * gap + K
  exact_mod_cast h1

/-! ## Ends -/

/-- Where every session has `V` tokens, all of them have been given at the end. -/
theorem totals {V : Nat} (hp : p.Proper) (hl : Lengths most workload)
    (hv : ∀ w, workload w → ∀ k, work (w.phases k) = V) :
    AtEnd p workload fun e => e.served = e.sessions * V := by
  intro w hw s hr ⟨_, hruns, hwaiting⟩ _ _
  have sound := hr.sound hp (hl w hw)
  have h1 := sound.holds.total
  have h2 := sound.served
  have h3 := workOf_eq V _ (w.between_all (P := fun x => work x = V) (hv w hw) 0 s.arrived)
  rw [Sessions.between_length, Nat.sub_zero] at h3
  rw [hruns, hwaiting] at h1
  simp only [leftOf, workOf, List.map_nil, List.sum_nil] at h1 h2 h3
  have h4 : s.served = s.arrived * V := by omega
  show (s.served : Int) = s.arrived * V
  exact_mod_cast h4

/-- Numbers are not negative at the end. -/
theorem end_counters : AtEnd p workload fun e => 0 ≤ e.sessions ∧ 0 ≤ e.now ∧ 0 ≤ e.served :=
  fun _ _ _ _ _ _ _ => ⟨Int.natCast_nonneg _, Int.natCast_nonneg _, Int.natCast_nonneg _⟩

/-- `token_rate`, at the end. -/
theorem end_rate {P Q : Nat} (hp : p.Proper) (hl : Lengths most workload)
    (hc : ∀ b, Possible p b → b.tokens * P ≤ Q * p.execute b) :
    AtEnd p workload fun e => e.served * P ≤ Q * e.now := by
  intro w hw s hr _ stop ht
  have h1 := hr.rate hp (hl w hw) hc
  have h2 : (Q : Int) * s.now ≤ Q * stop :=
    Int.mul_le_mul_of_nonneg_left (Int.ofNat_le.mpr ht) (Int.natCast_nonneg Q)
  exact Int.le_trans h1 h2

/-- `arrivals`, at the end. -/
theorem end_arrivals {gap : Nat} (hw : ∀ w, workload w → Renewal gap w) :
    AtEnd p workload fun e => e.sessions * gap ≤ e.now := by
  intro w hww s hr _ stop ht
  have := Int.ofNat_le.mpr (Nat.le_trans (hr.punctual (hw w hww)) ht)
  rw [Int.natCast_mul] at this
  exact this

/-- `all_arrived`, at the end. -/
theorem end_count {count : Nat} (hw : ∀ w, workload w → AtOnce count w) :
    AtEnd p workload fun e => e.sessions = count := by
  intro w hww s _ ⟨h, _⟩ _ _
  show (s.arrived : Int) = count
  rw [h, (hw w hww).1]

/-- What is wrong at one end is not true at every one. -/
theorem end_refutes {w : Sessions} {claim : Ending → Prop} (hw : workload w) {s : State}
    (hr : Reachable p w s) {stop : Nat} (he : s.Ended w) (ht : s.now ≤ stop)
    (hc : ¬ claim (ending s stop)) : ¬ AtEnd p workload claim :=
  fun h => hc (h w hw s hr he stop ht)

/-! ## Witnesses

Long runs, step by step: the kernel evaluates a stretch between two states that are written out. It
is strict: the numbers of a state are computed before the next step, so that a stretch of `k` steps
takes `k` times as long as one. -/

/-- `k n`, after `n` has been computed. -/
def force {α : Type} (n : Nat) (k : Nat → α) : α :=
  Nat.rec (motive := fun _ => α) (k 0) (fun m _ => k (Nat.succ m)) n

theorem force_eq {α : Type} (n : Nat) (k : Nat → α) : force n k = k n := by
  cases n <;> rfl

/-- The same of all runs in a list. -/
def forceRuns {α : Type} : List Run → (List Run → α) → α
  | [], k => k []
  | r :: rs, k =>
    force r.ticket fun ticket => force r.joined fun joined => force r.remaining fun remaining =>
      match r.decoding with
      | true => forceRuns rs fun rs => k (⟨ticket, joined, true, remaining, r.later⟩ :: rs)
      | false => forceRuns rs fun rs => k (⟨ticket, joined, false, remaining, r.later⟩ :: rs)

theorem forceRuns_eq {α : Type} (rs : List Run) (k : List Run → α) : forceRuns rs k = k rs := by
  induction rs generalizing k with
  | nil => rfl
  | cons r rs ih =>
    obtain ⟨ticket, joined, decoding, remaining, later⟩ := r
    cases decoding <;> simp only [forceRuns, force_eq, ih]

/-- The same of all numbers in a list. -/
def forceInts {α : Type} : List Int → (List Int → α) → α
  | [], k => k []
  | .ofNat n :: ns, k => force n fun n => forceInts ns fun ns => k (.ofNat n :: ns)
  | .negSucc n :: ns, k => force n fun n => forceInts ns fun ns => k (.negSucc n :: ns)

theorem forceInts_eq {α : Type} (ns : List Int) (k : List Int → α) : forceInts ns k = k ns := by
  induction ns generalizing k with
  | nil => rfl
  | cons n ns ih => cases n <;> simp only [forceInts, force_eq, ih]

/-- The same of a whole state. -/
def State.force {α : Type} (s : State) (k : State → α) : α :=
  Serq.force s.now fun now => Serq.force s.arrived fun arrived => Serq.force s.served fun served =>
  forceRuns s.runs fun runs => Serq.force s.ticket fun ticket => Serq.force s.joined fun joined =>
  forceInts s.registers fun registers =>
  k ⟨now, arrived, served, runs, s.waiting, ticket, joined, registers⟩

theorem State.force_eq {α : Type} (s : State) (k : State → α) : s.force k = k s := by
  simp only [State.force, Serq.force_eq, forceRuns_eq, forceInts_eq]

/-- `run`, strictly. -/
def stretch (p : Program) (w : Sessions) : Nat → State → Option State
  | 0, s => some s
  | k + 1, s =>
    match next p w s with
    | none => none
    | some t => t.force (stretch p w k)

theorem stretch_eq (p : Program) (w : Sessions) (k : Nat) (s : State) :
    stretch p w k s = run p w k s := by
  induction k generalizing s with
  | zero => rfl
  | succ k ih =>
    simp only [stretch, run]
    cases next p w s with
    | none => rfl
    | some t => simp only [State.force_eq, ih, Option.bind_some]

variable {w : Sessions}

/-- A state that is reached is followed by another, some steps later. -/
theorem Reachable.later {s t : State} (h : Reachable p w s) {k : Nat}
    (hk : stretch p w k s = some t) : Reachable p w t :=
  reachable_run h (stretch_eq p w k s ▸ hk)

/-- Sessions that come at equal distances. -/
theorem apart (start gap : Nat) (h : 1 ≤ gap) (k : Nat) :
    start + k * gap < start + (k + 1) * gap := by
  rw [Nat.add_mul]; omega

/-- An iteration of some run. -/
theorem witness {claim : Iteration → Prop} (hw : workload w) {s : State} (h : Reachable p w s)
    (hs : Starts p s) (hc : claim (iteration p s)) : SomeIteration p workload claim :=
  ⟨w, hw, s, h, hs, hc⟩

end Serq
