module

public import Serq.Chain.Projection
public import Serq.Chain.Poisson

/-!
The machine under arrivals one by one: an engine without work goes on at the next session, and not
at the end of a slot. So at the starts of batches it is the chain `slotted` without the empty state.
-/

@[expose] public noncomputable section

namespace Serq

/-! ## A chain that does not stay in a state -/

/-- The chain that is in `first` whenever the other would be in `o`. -/
def Chain.skip {S α : Type} [DecidableEq S] (c : Chain S α) (o first : S) : Chain S α :=
  ⟨c.law, fun s a => if c.step s a = o then first else c.step s a⟩

namespace Chain

variable {S α : Type} [DecidableEq S] (c : Chain S α) (o first : S)

theorem skip_visits (s : S) (as : List α)
    (h : (c.visits s as).any (fun t => decide (t = o)) = true) :
    ((c.skip o first).visits s as).any (fun t => decide (t = first)) = true := by
  induction as generalizing s with
  | nil => simp [visits] at h
  | cons a as ih =>
    simp only [visits, List.any_cons, Bool.or_eq_true, decide_eq_true_eq] at *
    by_cases h0 : c.step s a = o
    · left; simp [skip, h0]
    · right
      have := ih _ (h.resolve_left h0)
      simpa [skip, h0] using this

theorem skip_away_le (s : S) (t : Nat) :
    (c.skip o first).away (fun s => decide (s = first)) s t ≤
      c.away (fun s => decide (s = o)) s t := by
  refine Law.mean_mono _ fun as => ?_
  have h := c.skip_visits o first s as
  dsimp only
  revert h
  cases (c.visits s as).any (fun t => decide (t = o)) <;>
    cases ((c.skip o first).visits s as).any (fun t => decide (t = first)) <;>
    intro h <;> first | exact absurd (h rfl) (by decide) | decide

/-- The one is no later in `first` than the other in `o`. -/
theorem skip_returnTime_le (s : S) (n : Nat) :
    (c.skip o first).returnTime (fun s => decide (s = first)) s n ≤
      c.returnTime (fun s => decide (s = o)) s n := by
  show sumTo _ n ≤ sumTo _ n
  induction n with
  | zero => exact Rat.le_refl
  | succ n ih =>
    have := c.skip_away_le o first s n
    rw [sumTo_succ, sumTo_succ]
    grind

end Chain

/-! ## The machine -/

/-- The runs at the starts of batches: sessions come in each with the law of `arrivals`, and after
it one more where the engine would be empty. -/
def arriving (p : Program) (phases : List Phase) (arrivals : Law Nat) : Chain (List Run) Nat :=
  (slotted p phases arrivals).skip [] (slot p phases [] 1)

/-- A state in which a batch starts, and how many sessions came in each of the batches before it.
Between two of them the machine waits for a session, or it does not. -/
inductive Batches (p : Program) (w : Sessions) : List Nat → State → Prop where
  | initial : Starts p (Serq.initial p w) → Batches p w [] (Serq.initial p w)
  | first {s : State} : ¬ Starts p (Serq.initial p w) → Serq.next p w (Serq.initial p w) = some s →
      Batches p w [] s
  | next {counts : List Nat} {s t : State} : Batches p w counts s → Serq.next p w s = some t →
      Starts p t → Batches p w (counts ++ [t.arrived - s.arrived]) t
  | wait {counts : List Nat} {s t u : State} : Batches p w counts s → Serq.next p w s = some t →
      ¬ Starts p t → Serq.next p w t = some u → Batches p w (counts ++ [t.arrived - s.arrived]) u

/-- Every state in which an iteration starts is one of these. -/
theorem Reachable.batches {p : Program} {w : Sessions} {s : State} (h : Reachable p w s)
    (hs : Starts p s) : ∃ counts, Batches p w counts s := by
  have key : (∃ counts, Batches p w counts s) ∨ ¬ Starts p s ∧ (s = Serq.initial p w ∨
      ∃ counts r, Batches p w counts r ∧ Serq.next p w r = some s) := by
    clear hs
    induction h with
    | initial =>
      by_cases h0 : Starts p (Serq.initial p w)
      · exact .inl ⟨_, .initial h0⟩
      · exact .inr ⟨h0, .inl rfl⟩
    | @next s t _ hn ih =>
      rcases ih with ⟨counts, hb⟩ | ⟨h0, rfl | ⟨counts, r, hb, hr⟩⟩
      · by_cases ht : Starts p t
        · exact .inl ⟨_, .next hb hn ht⟩
        · exact .inr ⟨ht, .inr ⟨counts, s, hb, hn⟩⟩
      · exact .inl ⟨_, .first h0 hn⟩
      · exact .inl ⟨_, .wait hb hr h0 hn⟩
  exact key.resolve_right fun h => h.1 hs

theorem Batches.reachable {p : Program} {w : Sessions} {counts : List Nat} {s : State}
    (h : Batches p w counts s) : Reachable p w s := by
  induction h with
  | initial => exact .initial
  | first _ hn => exact .next .initial hn
  | next _ hn _ ih => exact .next ih hn
  | wait _ hn _ hw ih => exact .next (.next ih hn) hw

/-- No session comes at the instant at which an iteration ends. -/
def NoTies (p : Program) (w : Sessions) (T : Nat) : Prop :=
  ∀ s, Reachable p w s → Starts p s → ∀ k, w.time k ≠ s.now + T

section
variable {p : Program} {phases : List Phase} {T : Nat} {runs : List Run} {s : State} {w : Sessions}

/-- An iteration, whenever sessions come: those that come while it lasts are before those that go on
when it ends, and those that come as it ends are after them, if others came while it lasted. -/
theorem State.Like.iteration (h : Regular p phases T) (hs : s.Like p runs)
    (hp : Present (work phases) runs) (hne : runs ≠ []) (hw : ∀ k, w.phases k = phases)
    (ha : s.arrived ≤ w.count) :
    ∃ t early late, Serq.next p w s = some t ∧ t.now = s.now + T ∧
      t.arrived = s.arrived + early + late ∧ t.Like p (batched p phases runs early late) ∧
      (late ≠ 0 → early ≠ 0 ∧ ∃ k, w.time k = s.now + T) := by
  have b1 := w.upTo_bounds (s.now + T - 1) ha
  have b2 := w.upTo_bounds (s.now + T) b1.2
  have f1 := w.upTo_future (s.now + T - 1) ha
  have p2 := w.upTo_past (s.now + T) (w.upTo (s.now + T - 1) s.arrived)
    (w.upTo (s.now + T - 1) s.arrived) (Nat.le_refl _)
  have hT := h.lasts
  have like := hs.after h.free h.registers h.anonymous hw (s.now + T) rfl rfl rfl
  refine ⟨_, _, _, hs.next h hp hne w, State.after_now .., ?_, like, fun hlate => ?_⟩
  · rw [State.after_arrived]; split <;> omega
  · split at hlate
    · omega
    · rw [if_neg ‹_›]
      refine ⟨by omega, w.upTo (s.now + T - 1) s.arrived, ?_⟩
      have := p2 (by omega)
      omega

/-- The same, if nobody comes as it ends. -/
theorem State.Like.next_batch (h : Regular p phases T) (hs : s.Like p runs)
    (hp : Present (work phases) runs) (hne : runs ≠ []) (hw : ∀ k, w.phases k = phases)
    (ha : s.arrived ≤ w.count) (hties : ∀ k, w.time k ≠ s.now + T) {t : State}
    (hn : Serq.next p w s = some t) : t.Like p (slot p phases runs (t.arrived - s.arrived)) := by
  obtain ⟨u, early, late, hu, _, harr, hl, hlate⟩ := hs.iteration h hp hne hw ha
  rw [hn] at hu
  cases hu
  have h0 : late = 0 := by
    false_or_by_contra
    obtain ⟨_, k, hk⟩ := hlate ‹_›
    exact hties k hk
  subst h0
  rwa [batched_zero, show early = t.arrived - s.arrived by omega] at hl

theorem Sessions.Apart.upTo (ho : Apart w) {k : Nat} (hk : k < w.count) :
    w.upTo (w.time k) k = k + 1 := by
  have b := w.upTo_bounds (w.time k) (Nat.le_of_lt hk)
  have f := w.upTo_future (w.time k) (Nat.le_of_lt hk)
  have := w.upTo_past (w.time k) k (k + 1) (by omega)
  have := ho k
  rcases Nat.lt_trichotomy (w.upTo (w.time k) k) (k + 1) with hlt | heq | hgt
  · rw [show w.upTo (w.time k) k = k by omega] at f
    omega
  · exact heq
  · omega

/-- An engine without work goes on with the next session, alone. -/
theorem State.Like.next_session (h : Regular p phases T) (hs : s.Like p [])
    (hw : ∀ k, w.phases k = phases) (ho : Apart w) {t : State} (hn : Serq.next p w s = some t) :
    t.Like p (slot p phases [] 1) := by
  rcases next_cases hn with ⟨_, ha, rfl⟩ | ⟨h0, _⟩
  · have := hs.wait h.free hw
    rwa [Sessions.Apart.upTo ho ha, Nat.add_sub_cancel_left] at this
  · exact absurd (hs.idle h) h0

theorem slot_ne (hne : phases ≠ []) {k : Nat} (hk : k ≠ 0) : slot p phases [] k ≠ [] := by
  obtain ⟨n, rfl⟩ := Nat.exists_eq_succ_of_ne_zero hk
  cases phases with
  | nil => exact absurd rfl hne
  | cons x xs => simp [slot_nil, List.replicate_succ, line, start]

end

/-- The machine goes through the states of a chain from one batch to the next: whatever the times of
the sessions, if none comes as an iteration ends, its runs at the start of a batch are those of
`arriving` after the numbers of sessions that came in the batches before, and after the batch it
waits just when `slotted` would be empty. -/
structure FollowsBatches (p : Program) (phases : List Phase) (T : Nat) : Prop where
  runs : ∀ w, (∀ k, w.phases k = phases) → Apart w → NoTies p w T →
    ∀ counts s, Batches p w counts s → ∀ arrivals,
      Alike s.runs (counts.foldl (arriving p phases arrivals).step (slot p phases [] 1))
  waits : ∀ w, (∀ k, w.phases k = phases) → Apart w → NoTies p w T →
    ∀ counts s, Batches p w counts s → ∀ t, Serq.next p w s = some t → ∀ arrivals,
      (¬ Starts p t ↔ slot p phases
        (counts.foldl (arriving p phases arrivals).step (slot p phases [] 1))
        (t.arrived - s.arrived) = [])

/-- What the machine and `arriving` have in common at the start of a batch. -/
theorem Batches.like {p : Program} {phases : List Phase} {T : Nat} (h : Regular p phases T)
    (hne : phases ≠ []) (arrivals : Law Nat) {w : Sessions} (hw : ∀ k, w.phases k = phases)
    (ho : Apart w) (hties : NoTies p w T) {counts : List Nat} {s : State}
    (hb : Batches p w counts s) :
    ∃ runs, s.Like p runs ∧ runs ≠ [] ∧ Present (work phases) runs ∧
      runs = counts.foldl (arriving p phases arrivals).step (slot p phases [] 1) := by
  have empty : Present (work phases) [] := fun r hr => by cases hr
  have first_ne := slot_ne (p := p) hne (k := 1) (by decide)
  have first_present := empty.slot h.proper h.free h.lengths 1
  have start := initial_like h.free h.registers hw (w := w)
  have sized : ∀ k, Serq.Sized (some (work phases)) (w.phases k) := fun k => by
    rw [hw]; exact h.lengths
  induction hb with
  | initial hs =>
    refine ⟨_, ?_, first_ne, first_present, rfl⟩
    have b := w.upTo_bounds 0 (Nat.zero_le w.count)
    have past := w.upTo_past 0 0 1 (by omega)
    have : w.time 0 < w.time 1 := ho 0
    have h1 : w.upTo 0 0 ≠ 0 := fun h0 => by
      rw [h0, slot_nil] at start
      exact hs (State.Like.idle h start)
    rwa [show w.upTo 0 0 = 1 by omega] at start
  | first hs hn =>
    refine ⟨_, ?_, first_ne, first_present, rfl⟩
    have h1 : w.upTo 0 0 = 0 := by
      false_or_by_contra
      exact hs (start.starts h (empty.slot h.proper h.free h.lengths _) (slot_ne hne ‹_›))
    rw [h1, slot_nil] at start
    exact State.Like.next_session h start hw ho hn
  | @next counts s t hb hn hst ih =>
    obtain ⟨runs, like, some, present, hruns⟩ := ih
    have hl := like.next_batch h present some hw (hb.reachable.sound h.proper sized).arrived
      (hties s hb.reachable (like.starts h present some)) hn
    have hne : slot p phases runs (t.arrived - s.arrived) ≠ [] := fun he => by
      rw [he] at hl
      exact hst (hl.idle h)
    refine ⟨_, hl, hne, present.slot h.proper h.free h.lengths _, ?_⟩
    rw [List.foldl_append, ← hruns]
    exact (if_neg hne).symm
  | @wait counts s t u hb hn hst hwait ih =>
    obtain ⟨runs, like, some, present, hruns⟩ := ih
    have hl := like.next_batch h present some hw (hb.reachable.sound h.proper sized).arrived
      (hties s hb.reachable (like.starts h present some)) hn
    have he : slot p phases runs (t.arrived - s.arrived) = [] :=
      Classical.byContradiction fun hne =>
        hst (hl.starts h (present.slot h.proper h.free h.lengths _) hne)
    rw [he] at hl
    refine ⟨_, hl.next_session h hw ho hwait, first_ne, first_present, ?_⟩
    rw [List.foldl_append, ← hruns]
    exact (if_pos he).symm

theorem Regular.follows_batches {p : Program} {phases : List Phase} {T : Nat}
    (h : Regular p phases T) (hne : phases ≠ []) : FollowsBatches p phases T := by
  refine ⟨fun w hw ho hties counts s hb arrivals => ?_,
    fun w hw ho hties counts s hb t hn arrivals => ?_⟩
  · obtain ⟨_, like, _, _, rfl⟩ := hb.like h hne arrivals hw ho hties
    exact like.alike
  · obtain ⟨runs, like, some, present, hruns⟩ := hb.like h hne arrivals hw ho hties
    have sized : ∀ k, Serq.Sized (Option.some (work phases)) (w.phases k) := fun k => by
      rw [hw]; exact h.lengths
    have hl := like.next_batch h present some hw (hb.reachable.sound h.proper sized).arrived
      (hties s hb.reachable (like.starts h present some)) hn
    rw [← hruns]
    refine ⟨fun hst => Classical.byContradiction fun hne =>
      hst (hl.starts h (present.slot h.proper h.free h.lengths _) hne), fun he hst => ?_⟩
    rw [he] at hl
    exact hst (hl.idle h)

/-- Stable on the machine: from any runs, whatever the cap on the number of sessions in a batch, the
expected number of batches until one session is alone at the engine has the same bound. -/
def PoissonReturns (p : Program) (phases : List Phase) (a b : Nat) : Prop :=
  ∀ runs, Present (work phases) runs → ∃ B, ∀ n t,
    (arriving p phases (poisson a b n)).returnTime (fun s => decide (s = slot p phases [] 1)) runs t
      ≤ B

theorem PoissonStable.returns {p : Program} {phases : List Phase} {a b : Nat}
    (h : PoissonStable p phases a b) : PoissonReturns p phases a b := by
  intro runs hr
  obtain ⟨B, hB⟩ := h runs hr
  exact ⟨B, fun n t => Rat.le_trans (Chain.skip_returnTime_le _ _ _ _ _) (hB n t)⟩

end Serq
