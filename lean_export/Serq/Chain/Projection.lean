module

public import Serq.Chain.Load

/-!
The machine of `Model.lean` goes through the states of the chain `slotted`.

The chain numbers the runs anew in each slot, and the machine goes on counting. Schedules do not see
the numbers but for their order, so batches are the same. The machine passes over slots in which
nobody is there and nobody comes, and the chain is empty in them.
-/

@[expose] public noncomputable section

namespace Serq

/-! ## Runs with other numbers -/

/-- A renumbering that keeps the order. -/
def Increasing (g : Nat → Nat) : Prop := ∀ i j, i < j → g i < g j

def Run.renumber (g : Nat → Nat) (r : Run) : Run := { r with joined := g r.joined }

/-- The same runs in the same places, which have joined in the same order. -/
def Alike (xs ys : List Run) : Prop := ∃ g, Increasing g ∧ xs = ys.map (Run.renumber g)

/-- The schedule that sees other numbers. -/
def Schedule.renumber (g : Nat → Nat) : Schedule → Schedule
  | .done => .done
  | .advance only keys after =>
    .advance (fun v r => only v (r.renumber g)) (fun v r => keys v (r.renumber g))
      (after.renumber g)
  | .alone after => .alone (after.renumber g)
  | .admit only condition after =>
    .admit (fun v r => only v (r.renumber g)) condition (after.renumber g)
  | .assign register value after => .assign register value (after.renumber g)
  | .branch test yes no => .branch test (yes.renumber g) (no.renumber g)

/-- A schedule whose `only` and keys do not look at the numbers of runs. -/
def Schedule.Anonymous (schedule : Schedule) : Prop := ∀ g, schedule.renumber g = schedule

theorem Increasing.le_iff {g : Nat → Nat} (hg : Increasing g) (i j : Nat) : g i ≤ g j ↔ i ≤ j := by
  rcases Nat.lt_trichotomy i j with h | rfl | h
  · have := hg i j h; omega
  · omega
  · have := hg j i h; omega

theorem Increasing.inj {g : Nat → Nat} (hg : Increasing g) (i j : Nat) : g i = g j ↔ i = j := by
  have h1 := hg.le_iff i j
  have h2 := hg.le_iff j i
  omega

theorem Alike.refl (xs : List Run) : Alike xs xs :=
  ⟨id, fun _ _ h => h, by rw [show Run.renumber id = id from rfl, List.map_id]⟩

theorem Alike.length {xs ys : List Run} (h : Alike xs ys) : xs.length = ys.length := by
  obtain ⟨g, _, rfl⟩ := h; exact List.length_map _

theorem Alike.nil_iff {xs ys : List Run} (h : Alike xs ys) : xs = [] ↔ ys = [] := by
  rw [← List.length_eq_zero_iff, ← List.length_eq_zero_iff, h.length]

theorem Alike.present {v : Nat} {xs ys : List Run} (h : Alike xs ys) (hy : Present v ys) :
    Present v xs := by
  obtain ⟨g, _, rfl⟩ := h
  intro r hr
  obtain ⟨s, hs, rfl⟩ := List.mem_map.mp hr
  exact ⟨(hy s hs).positive, (hy s hs).later, (hy s hs).bounded⟩

section
variable {p : Program} {g : Nat → Nat}

theorem before_renumber (hg : Increasing g) {keys : Run → List Int}
    (hk : ∀ r, keys (r.renumber g) = keys r) (r s : Run) :
    before keys (r.renumber g) (s.renumber g) = before keys r s := by
  have : Nat.ble (g r.joined) (g s.joined) = Nat.ble r.joined s.joined := by
    rw [Bool.eq_iff_iff, Nat.ble_eq, Nat.ble_eq]; exact hg.le_iff _ _
  simp only [before, hk]
  simp only [Run.renumber, this]

theorem sort_renumber (hg : Increasing g) {keys : Run → List Int}
    (hk : ∀ r, keys (r.renumber g) = keys r) (rs : List Run) :
    sort keys (rs.map (Run.renumber g)) = (sort keys rs).map (Run.renumber g) := by
  have insert_renumber (r : Run) (rs : List Run) :
      insert keys (r.renumber g) (rs.map (Run.renumber g)) =
        (insert keys r rs).map (Run.renumber g) := by
    induction rs with
    | nil => rfl
    | cons s ss ih =>
      simp only [insert, List.map_cons, before_renumber hg hk, ih]
      split <;> rfl
  induction rs with
  | nil => rfl
  | cons r rs ih => simp only [sort, List.map_cons, ih, insert_renumber]

/-- A run and what it got. -/
def given (g : Nat → Nat) (x : Run × Nat) : Run × Nat := (x.1.renumber g, x.2)

theorem pass_renumber {test other : Run → Bool} (ht : ∀ r, other (r.renumber g) = test r)
    (left : Nat) (rs : List Run) :
    pass p other left (rs.map (Run.renumber g)) =
      ((pass p test left rs).1.map (given g), (pass p test left rs).2.map (Run.renumber g)) := by
  induction rs generalizing left with
  | nil => rfl
  | cons r rs ih =>
    have hw : want p (r.renumber g) = want p r := rfl
    simp only [pass, List.map_cons, ht, hw, ih]
    split <;> rfl

/-- A batch while it is formed of runs with other numbers, in state `s`. -/
def Forming.renumber (g : Nat → Nat) (s : State) (f : Forming) : Forming :=
  { f with
    batch := f.batch.map (given g)
    rest := f.rest.map (Run.renumber g)
    ticket := s.ticket
    joined := s.joined }

theorem tokensOf_renumber (batch : List (Run × Nat)) :
    tokensOf (batch.map (given g)) = tokensOf batch := by
  simp [tokensOf, given, Function.comp_def]

theorem Forming.runs_renumber (s : State) (f : Forming) :
    (f.renumber g s).runs = f.runs.map (Run.renumber g) := by
  simp [Forming.runs, Forming.renumber, given, Function.comp_def]

theorem Forming.running_renumber (s : State) (f : Forming) :
    (f.renumber g s).running = f.running := by
  simp only [Forming.running, Forming.runs_renumber, List.length_map, List.countP_map]
  rfl

theorem Forming.plan_renumber (s : State) (f : Forming) : (f.renumber g s).plan = f.plan := by
  have h : prefilledOf (f.batch.map (given g)) = prefilledOf f.batch := by
    simp only [prefilledOf, List.map_map]; rfl
  simp only [Forming.plan, Forming.running_renumber]
  simp only [Forming.renumber, tokensOf_renumber, h]

theorem Forming.serve_renumber (hg : Increasing g) {test other : Run → Bool}
    {keys : Run → List Int} (ht : ∀ r, other (r.renumber g) = test r)
    (hk : ∀ r, keys (r.renumber g) = keys r) (s : State) (f : Forming) :
    (f.renumber g s).serve p other keys = (f.serve p test keys).renumber g s := by
  simp only [Forming.serve, Forming.renumber, sort_renumber hg hk, pass_renumber ht,
    tokensOf_renumber, List.map_append]

theorem Forming.foremost_renumber (hg : Increasing g) (s : State) (f : Forming) (r : Run) :
    (f.renumber g s).foremost (r.renumber g) = f.foremost r := by
  simp only [Forming.foremost]
  rw [show (f.renumber g s).rest = f.rest.map (Run.renumber g) from rfl,
    sort_renumber hg (fun _ => rfl), List.find?_map]
  have h : ((!·.decoding) ∘ Run.renumber g : Run → Bool) = (!·.decoding) := rfl
  rw [h]
  cases (sort (fun _ => []) f.rest).find? (!·.decoding) with
  | none => rfl
  | some x =>
    simp only [Option.map_some, Option.any_some, Run.renumber]
    rw [Bool.eq_iff_iff, beq_iff_eq, beq_iff_eq]
    exact hg.inj _ _

/-- What an attempt leaves as it is where nobody waits. -/
structure Forming.Quiet (f h : Forming) : Prop where
  runs : h.runs.Perm f.runs
  waiting : h.waiting = []
  joined : h.joined = f.joined
  admitted : h.admitted = f.admitted
  registers : f.registers = [] → h.registers = []

theorem form_quiet (schedule : Schedule) (f : Forming) (hw : f.waiting = []) :
    f.Quiet (form p schedule f) := by
  induction schedule generalizing f with
  | done => exact ⟨.refl _, hw, rfl, rfl, id⟩
  | advance only keys after ih =>
    have h := ih (f.serve p (only f.running) (keys f.running)) hw
    exact ⟨h.runs.trans (f.serve_runs ..), h.waiting, h.joined, h.admitted, h.registers⟩
  | alone after ih =>
    have h := ih (f.serve p f.foremost (fun _ => [])) hw
    exact ⟨h.runs.trans (f.serve_runs ..), h.waiting, h.joined, h.admitted, h.registers⟩
  | admit only condition after ih =>
    simp only [form, hw, Forming.admit]
    exact ih f hw
  | assign register value after ih =>
    have h := ih { f with registers := f.registers.set register (value f.plan) } hw
    exact ⟨h.runs, h.waiting, h.joined, h.admitted, fun h0 => h.registers (by simp [h0])⟩
  | branch test yes no ihy ihn =>
    simp only [form]; split
    · exact ihy f hw
    · exact ihn f hw

/-- Whoever has which number, the batch is the same. -/
theorem form_renumber (hg : Increasing g) (schedule : Schedule) (ha : schedule.Anonymous)
    (s : State) (f : Forming) (hw : f.waiting = []) :
    form p schedule (f.renumber g s) = (form p schedule f).renumber g s := by
  induction schedule generalizing f with
  | done => rfl
  | advance only keys after ih =>
    simp only [Schedule.Anonymous, Schedule.renumber, Schedule.advance.injEq] at ha
    have ho (v : Running) (r : Run) : only v (r.renumber g) = only v r :=
      congrFun (congrFun (ha g).1 v) r
    have hk (v : Running) (r : Run) : keys v (r.renumber g) = keys v r :=
      congrFun (congrFun (ha g).2.1 v) r
    simp only [form, Forming.running_renumber,
      Forming.serve_renumber hg (ho f.running) (hk f.running)]
    exact ih (fun g => (ha g).2.2) _ hw
  | alone after ih =>
    simp only [Schedule.Anonymous, Schedule.renumber, Schedule.alone.injEq] at ha
    simp only [form, Forming.serve_renumber hg (keys := fun _ => []) (f.foremost_renumber hg s)
      (fun _ => rfl)]
    exact ih ha _ hw
  | admit only condition after ih =>
    simp only [Schedule.Anonymous, Schedule.renumber, Schedule.admit.injEq] at ha
    have hw' : (f.renumber g s).waiting = [] := hw
    simp only [form, hw, hw', Forming.admit]
    exact ih (fun g => (ha g).2.2) _ hw
  | assign register value after ih =>
    simp only [Schedule.Anonymous, Schedule.renumber, Schedule.assign.injEq] at ha
    simp only [form, Forming.plan_renumber]
    exact ih (fun g => (ha g).2.2)
      { f with registers := f.registers.set register (value f.plan) } hw
  | branch test yes no ihy ihn =>
    simp only [Schedule.Anonymous, Schedule.renumber, Schedule.branch.injEq] at ha
    simp only [form, Forming.plan_renumber]
    split
    · exact ihy (fun g => (ha g).2.1) _ hw
    · exact ihn (fun g => (ha g).2.2) _ hw

end

/-! ## Steps -/

/-- The runs after a batch: `early` sessions come before those that go on then, `late` after. -/
def batched (p : Program) (phases : List Phase) (runs : List Run) (early late : Nat) : List Run :=
  let f := (State.at p runs).form p
  let s := { State.at p runs with runs := f.unfinished, joined := f.joined }
  (((s.join (List.replicate early (0, phases))).join f.finished).join
    (List.replicate late (0, phases))).runs

theorem batched_zero (p : Program) (phases : List Phase) (runs : List Run) (k : Nat) :
    batched p phases runs k 0 = slot p phases runs k := by
  simp [batched, slot, State.join, line]

/-- A state of the machine with the runs of the chain, but for their numbers, and nobody waiting. -/
structure State.Like (p : Program) (runs : List Run) (s : State) : Prop where
  alike : Alike s.runs runs
  joined : ∀ r ∈ s.runs, r.joined < s.joined
  waiting : s.waiting = []
  registers : s.registers = []

/-- The numbers of runs and of those that will join. -/
def State.Renumbers (g : Nat → Nat) (s t : State) : Prop :=
  s.runs = t.runs.map (Run.renumber g) ∧ ∀ i, g (t.joined + i) = s.joined + i

theorem line_renumber {g : Nat → Nat} {m n : Nat} (h : ∀ i, g (n + i) = m + i)
    (xs : List (Nat × List Phase)) : line m xs = (line n xs).map (Run.renumber g) := by
  induction xs generalizing m n with
  | nil => rfl
  | cons x xs ih =>
    have h0 := h 0
    simp only [Nat.add_zero] at h0
    have hs : start x.1 m x.2 = (start x.1 n x.2).map (Run.renumber g) := by
      cases x.2 <;> simp [start, Run.renumber, h0]
    have := ih (m := m + 1) (n := n + 1) fun i => by
      have := h (1 + i)
      rw [Nat.add_assoc n, this, Nat.add_assoc]
    simp only [line, hs, this, List.map_append]

theorem line_joined (n : Nat) (xs : List (Nat × List Phase)) :
    ∀ r ∈ line n xs, r.joined < n + xs.length := by
  induction xs generalizing n with
  | nil => simp [line]
  | cons x xs ih =>
    intro r hr
    simp only [line, List.mem_append] at hr
    rw [List.length_cons]
    rcases hr with hr | hr
    · cases hx : x.2 with
      | nil => simp [hx, start] at hr
      | cons y ys =>
        simp only [hx, start, List.mem_singleton] at hr
        subst hr; simp only; omega
    · have := ih (n + 1) r hr; omega

theorem State.Renumbers.join {g : Nat → Nat} {s t : State} (h : State.Renumbers g s t)
    (xs : List (Nat × List Phase)) : State.Renumbers g (s.join xs) (t.join xs) := by
  refine ⟨?_, fun i => ?_⟩
  · simp only [State.join, List.map_append, ← h.1, ← line_renumber h.2]
  · have := h.2 (xs.length + i)
    simp only [State.join, Nat.add_assoc] at *
    exact this

theorem State.join_joined {s : State} (h : ∀ r ∈ s.runs, r.joined < s.joined)
    (xs : List (Nat × List Phase)) : ∀ r ∈ (s.join xs).runs, r.joined < (s.join xs).joined := by
  intro r hr
  simp only [State.join, List.mem_append] at *
  rcases hr with hr | hr
  · have := h r hr; omega
  · exact line_joined _ _ r hr

theorem lt_nextJoined {runs : List Run} : ∀ r ∈ runs, r.joined < nextJoined runs := by
  induction runs with
  | nil => simp
  | cons x xs ih =>
    intro r hr
    simp only [nextJoined, List.foldr_cons] at *
    rcases List.mem_cons.mp hr with rfl | hr
    · omega
    · have := ih r hr; omega

theorem nextJoined_last (runs : List Run) :
    nextJoined runs = 0 ∨ ∃ r ∈ runs, r.joined + 1 = nextJoined runs := by
  induction runs with
  | nil => exact .inl rfl
  | cons x xs ih =>
    have hd : nextJoined (x :: xs) = max (x.joined + 1) (nextJoined xs) := rfl
    right
    rw [hd]
    by_cases hx : nextJoined xs ≤ x.joined + 1
    · exact ⟨x, by simp, by omega⟩
    · rcases ih with h | ⟨r, hr, h⟩
      · omega
      · exact ⟨r, by simp [hr], by omega⟩

/-- One renumbering for those who are there and for those who will come. -/
theorem State.Like.numbering {p : Program} {runs : List Run} {s : State} (h : s.Like p runs) :
    ∃ g, Increasing g ∧ State.Renumbers g s (State.at p runs) := by
  obtain ⟨g, hg, hr⟩ := h.alike
  have hlt : ∀ i, i < nextJoined runs → g i < s.joined := by
    intro i hi
    rcases nextJoined_last runs with h0 | ⟨r, hm, h0⟩
    · omega
    · have h1 := h.joined (r.renumber g) (by rw [hr]; exact List.mem_map_of_mem hm)
      have h2 := (hg.le_iff i r.joined).mpr (by omega)
      simp only [Run.renumber] at h1
      omega
  refine ⟨fun i => if i < nextJoined runs then g i else s.joined + (i - nextJoined runs), ?_, ?_,
    ?_⟩
  · intro i j hij
    dsimp only
    split <;> split
    · exact hg i j hij
    · have := hlt i ‹_›; omega
    · omega
    · omega
  · rw [hr]
    refine List.map_congr_left fun r hm => ?_
    have := lt_nextJoined r hm
    simp only [Run.renumber, this, if_true]
  · intro i
    simp only [State.at]
    rw [if_neg (by omega)]; omega

theorem Forming.finished_renumber {g : Nat → Nat} (s : State) (f : Forming) :
    (f.renumber g s).finished = f.finished := by
  simp only [Forming.finished, Forming.renumber, List.filter_map, List.map_map]
  rfl

theorem Forming.unfinished_renumber {g : Nat → Nat} (s : State) (f : Forming) :
    (f.renumber g s).unfinished = f.unfinished.map (Run.renumber g) := by
  simp only [Forming.unfinished, Forming.renumber, List.map_append, List.map_map, List.filter_map]
  rfl

section
variable {p : Program} {phases : List Phase} {runs : List Run} {s : State} {w : Sessions}

theorem State.Like.form (hr : p.registers = []) (ha : p.schedule.Anonymous) (h : s.Like p runs)
    {g : Nat → Nat} (hg : Increasing g) (hs : State.Renumbers g s (State.at p runs)) :
    s.form p = ((State.at p runs).form p).renumber g s := by
  unfold State.form
  rw [← form_renumber hg p.schedule ha s _ (by rfl)]
  congr 1
  simp only [Forming.renumber, hs.1, h.waiting, h.registers, State.at, hr, List.map_nil]

theorem Sessions.between_same (hw : ∀ i, w.phases i = phases) (a b : Nat) :
    w.between a b = List.replicate (b - a) phases := by
  simp only [Sessions.between, List.eq_replicate_iff, List.length_map, List.length_range',
    List.mem_map, true_and]
  rintro _ ⟨i, _, rfl⟩
  exact hw i

/-- The machine's iteration is the chain's batch, with the sessions that come meanwhile. -/
theorem State.Like.after (hn : p.slots = none) (hr : p.registers = []) (ha : p.schedule.Anonymous)
    (hw : ∀ i, w.phases i = phases) (h : s.Like p runs) (stop : Nat) {during arrived before : Nat}
    (h1 : w.upTo (stop - 1) s.arrived = during) (h2 : w.upTo stop during = arrived)
    (h3 : (if during = s.arrived then arrived else during) = before) :
    (s.after p w (s.form p) stop).Like p
      (batched p phases runs (before - s.arrived) (arrived - before)) := by
  obtain ⟨g, hg, hs⟩ := h.numbering
  have hf := h.form hr ha hg hs
  have q := form_quiet (p := p) p.schedule (f := {
    left := p.budget, batch := [], rest := s.runs, waiting := s.waiting, ticket := s.ticket
    joined := s.joined, registers := s.registers, admitted := 0 }) h.waiting
  have q0 := form_quiet (p := p) p.schedule (f := {
    left := p.budget, batch := [], rest := runs, waiting := [], ticket := 0
    joined := nextJoined runs, registers := p.registers, admitted := 0 }) rfl
  have hb : ∀ r ∈ (s.form p).unfinished, r.joined < (s.form p).joined := by
    intro r hm
    rw [show (s.form p).joined = s.joined from q.joined]
    have mem (x : Run) (hx : x ∈ (s.form p).runs) : x.joined < s.joined :=
      h.joined x (by simpa [Forming.runs] using q.runs.mem_iff.mp hx)
    rcases List.mem_append.mp hm with hm | hm
    · obtain ⟨⟨x, hx, rfl⟩, _⟩ := by simpa only [List.mem_filter, List.mem_map] using hm
      exact mem x.1 (List.mem_append.mpr (.inl (List.mem_map_of_mem hx)))
    · exact mem r (List.mem_append.mpr (.inr hm))
  simp only [State.after, h1, h2, h3, State.come, hn, w.between_same hw, List.map_replicate]
  have e0 : State.Renumbers g
      { now := stop, arrived := arrived, served := s.served + tokensOf (s.form p).batch
        runs := (s.form p).unfinished, waiting := (s.form p).waiting, ticket := (s.form p).ticket
        joined := (s.form p).joined, registers := (s.form p).registers }
      { State.at p runs with
        runs := ((State.at p runs).form p).unfinished
        joined := ((State.at p runs).form p).joined } := by
    refine ⟨?_, fun i => ?_⟩
    · simp only [hf, Forming.unfinished_renumber]
    · simp only
      rw [show (s.form p).joined = s.joined from q.joined,
        show ((State.at p runs).form p).joined = nextJoined runs from q0.joined]
      exact hs.2 i
  refine ⟨⟨g, hg, ?_⟩, ?_, q.waiting, q.registers h.registers⟩
  · have := (((e0.join (List.replicate (before - s.arrived) (0, phases))).join
      (s.form p).finished).join (List.replicate (arrived - before) (0, phases))).1
    rw [show (s.form p).finished = ((State.at p runs).form p).finished by
      rw [hf, Forming.finished_renumber]] at this ⊢
    exact this
  · exact State.join_joined (State.join_joined (State.join_joined hb _) _) _

theorem slot_nil (p : Program) (phases : List Phase) (k : Nat) :
    slot p phases [] k = line 0 (List.replicate k (0, phases)) := by
  have q := form_quiet (p := p) p.schedule (f := {
    left := p.budget, batch := [], rest := [], waiting := [], ticket := 0
    joined := nextJoined [], registers := p.registers, admitted := 0 }) rfl
  have h := List.append_eq_nil_iff.mp (List.Perm.eq_nil (l := ((State.at p []).form p).runs) q.runs)
  have hb : ((State.at p []).form p).batch = [] := by simpa using h.1
  have hj : ((State.at p []).form p).joined = 0 := q.joined
  simp only [slot, State.join, Forming.unfinished, Forming.finished, hb, h.2, hj, List.map_nil,
    List.filter_nil, List.append_nil, List.nil_append, line]

/-- Sessions that come to an engine without runs are those that the chain's empty slot brings. -/
theorem State.Like.come (hn : p.slots = none) (h0 : s.runs = []) (hq : s.waiting = [])
    (hr : s.registers = []) (k : Nat) :
    (s.come p (List.replicate k phases)).Like p (slot p phases [] k) := by
  simp only [State.come, hn, List.map_replicate, slot_nil]
  refine ⟨⟨fun i => s.joined + i, fun i j h => by dsimp only; omega, ?_⟩,
    State.join_joined (by simp [h0]) _, hq, hr⟩
  simp only [State.join, h0, List.nil_append]
  exact line_renumber (fun i => by rw [Nat.zero_add]) _

/-- The machine's wait is the chain's empty slot in which somebody comes. -/
theorem State.Like.wait (hn : p.slots = none) (hw : ∀ i, w.phases i = phases) (h : s.Like p []) :
    (s.wait p w (s.form p)).Like p
      (slot p phases [] (w.upTo (w.time s.arrived) s.arrived - s.arrived)) := by
  have q := form_quiet (p := p) p.schedule (f := {
    left := p.budget, batch := [], rest := s.runs, waiting := s.waiting, ticket := s.ticket
    joined := s.joined, registers := s.registers, admitted := 0 }) h.waiting
  have ha : (s.form p).admitted = 0 := q.admitted
  simp only [State.wait, ha, if_true, w.between_same hw]
  exact State.Like.come (s := { s with
    now := w.time s.arrived, arrived := w.upTo (w.time s.arrived) s.arrived })
    hn (h.alike.nil_iff.mpr rfl) h.waiting h.registers _

theorem initial_like (hn : p.slots = none) (hr : p.registers = [])
    (hw : ∀ i, w.phases i = phases) :
    (initial p w).Like p (slot p phases [] (w.upTo 0 0)) := by
  simp only [initial, w.between_same hw, Nat.sub_zero]
  exact State.Like.come hn rfl rfl hr _

end

/-! ## Sessions in slots -/

/-- The slot in which session `k` comes, when so many come in each. -/
def slotOf : (counts : List Nat) → Nat → Nat
  | [], _ => 0
  | c :: counts, k => if k < c then 0 else slotOf counts (k - c) + 1

/-- Sessions that come at the starts of slots of `T` ticks, so many in each, the first at 0. -/
def Sessions.slotted (T : Nat) (phases : List Phase) (counts : List Nat) : Sessions where
  count := counts.sum
  time k := slotOf counts k * T
  phases _ := phases

/-- The chain's runs at the start of slot `n`, after the sessions of that slot have come. -/
def atSlot (p : Program) (phases : List Phase) (counts : List Nat) : Nat → List Run
  | 0 => slot p phases [] (counts.getD 0 0)
  | n + 1 => slot p phases (atSlot p phases counts n) (counts.getD (n + 1) 0)

theorem Chain.visits_length {S α : Type} (c : Chain S α) (s : S) (as : List α) :
    (c.visits s as).length = as.length := by
  induction as generalizing s with
  | nil => rfl
  | cons a as ih => simp [visits, ih]

theorem Chain.visits_succ {S α : Type} {c : Chain S α} {s t : S} {as : List α} {n : Nat} {a : α}
    (h : (c.visits s as)[n]? = some t) (ha : as[n + 1]? = some a) :
    (c.visits s as)[n + 1]? = some (c.step t a) := by
  induction n generalizing s as with
  | zero =>
    match as with
    | [] => simp at ha
    | [_] => simp at ha
    | x :: y :: as => simp_all [visits]
  | succ n ih =>
    cases as with
    | nil => simp at ha
    | cons x as =>
      simp only [visits, List.getElem?_cons_succ] at *
      exact ih h ha

theorem visits_atSlot (p : Program) (phases : List Phase) (arrivals : Law Nat)
    {counts : List Nat} {n : Nat} (h : n < counts.length) :
    ((slotted p phases arrivals).visits [] counts)[n]? = some (atSlot p phases counts n) := by
  induction n with
  | zero =>
    cases counts with
    | nil => simp at h
    | cons c counts => simp [Chain.visits, atSlot, slotted]
  | succ n ih =>
    have := Chain.visits_succ (ih (by omega)) (List.getElem?_eq_getElem h)
    rw [this]
    simp [atSlot, slotted, List.getD, List.getElem?_eq_getElem h]

theorem take_sum_succ (counts : List Nat) (n : Nat) :
    (counts.take (n + 1)).sum = (counts.take n).sum + counts.getD n 0 := by
  induction counts generalizing n with
  | nil => simp
  | cons c counts ih =>
    cases n with
    | zero => simp
    | succ n => simp only [List.take_succ_cons, List.sum_cons, ih, List.getD_cons_succ]; omega

theorem take_sum_le (counts : List Nat) (n : Nat) : (counts.take n).sum ≤ counts.sum := by
  induction counts generalizing n with
  | nil => simp
  | cons c counts ih =>
    cases n with
    | zero => simp
    | succ n => have := ih n; simp only [List.take_succ_cons, List.sum_cons]; omega

theorem take_sum_mono (counts : List Nat) {m n : Nat} (h : m ≤ n) :
    (counts.take m).sum ≤ (counts.take n).sum := by
  induction h with
  | refl => exact Nat.le_refl _
  | step _ ih => rw [take_sum_succ]; omega

theorem slotOf_le {counts : List Nat} {k : Nat} (h : k < counts.sum) (n : Nat) :
    slotOf counts k ≤ n ↔ k < (counts.take (n + 1)).sum := by
  induction counts generalizing k n with
  | nil => simp at h
  | cons c counts ih =>
    simp only [List.sum_cons] at h
    simp only [slotOf, List.take_succ_cons, List.sum_cons]
    split
    · omega
    · cases n with
      | zero => simp; omega
      | succ n =>
        have := ih (k := k - c) (by omega) n
        omega

theorem Sessions.upTo_eq {w : Sessions} {t known all : Nat}
    (h : ∀ k, k < w.count → (w.time k ≤ t ↔ k < all)) (ha : all ≤ w.count) (hk : known ≤ all) :
    w.upTo t known = all := by
  have b := w.upTo_bounds t (Nat.le_trans hk ha)
  rcases Nat.lt_trichotomy (w.upTo t known) all with hlt | heq | hgt
  · rcases w.upTo_future t (Nat.le_trans hk ha) with h1 | h1
    · omega
    · have := (h _ (by omega)).mpr hlt; omega
  · exact heq
  · have := (h all (by omega)).mp (w.upTo_past t known all hk hgt); omega

theorem Sessions.slotted_time {T : Nat} (hT : 1 ≤ T) (phases : List Phase) {counts : List Nat}
    (n k : Nat) (h : k < (Sessions.slotted T phases counts).count) :
    ((Sessions.slotted T phases counts).time k ≤ n * T ↔ k < (counts.take (n + 1)).sum) ∧
      ((Sessions.slotted T phases counts).time k ≤ (n + 1) * T - 1 ↔
        k < (counts.take (n + 1)).sum) := by
  have h1 := slotOf_le h n
  have h2 : slotOf counts k * T ≤ n * T ↔ slotOf counts k ≤ n :=
    ⟨fun h => Nat.le_of_mul_le_mul_right h hT, fun h => Nat.mul_le_mul_right T h⟩
  have h3 : slotOf counts k * T < (n + 1) * T ↔ slotOf counts k < n + 1 := Nat.mul_lt_mul_right hT
  have h4 : 1 ≤ (n + 1) * T := Nat.mul_pos (by omega) hT
  simp only [Sessions.slotted]
  omega

/-! ## The machine in slots -/

/-- An engine that always serves somebody when somebody is there, sessions that run `phases`, in
batches that all take `T` ticks. -/
structure Regular (p : Program) (phases : List Phase) (T : Nat) : Prop where
  proper : p.Proper
  free : p.slots = none
  registers : p.registers = []
  anonymous : p.schedule.Anonymous
  lengths : Serq.Sized (some (work phases)) phases
  starts : ∀ runs, Present (work phases) runs → runs ≠ [] →
    tokensOf ((State.at p runs).form p).batch ≠ 0
  lasts : 1 ≤ T
  duration : ∀ b, Possible p b → p.execute b = T

/-- A schedule that serves everyone always serves somebody. -/
theorem Schedule.Serves.regular {p : Program} (hs : p.schedule.Serves fun _ _ => False)
    (hp : p.Proper) (hn : p.slots = none) (hr : p.registers = []) (ha : p.schedule.Anonymous)
    {phases : List Phase} (hl : Serq.Sized (some (work phases)) phases) {T : Nat} (hT : 1 ≤ T)
    (hd : ∀ b, Possible p b → p.execute b = T) : Regular p phases T where
  proper := hp
  free := hn
  registers := hr
  anonymous := ha
  lengths := hl
  starts := fun runs h hne => Nat.ne_of_gt ((slotted_loaded hp hn hs rfl hl []).some runs h hne)
  lasts := hT
  duration := hd

/-- Durations where a unit of the clock is left open. -/
theorem lasts_in_ticks {p : Program} {execute : Batch → Int} {T ticks : Nat}
    (he : ∀ b, p.execute b = execute b * ticks) (h : ∀ b, Possible p b → execute b = T) :
    ∀ b, Possible p b → p.execute b = (T * ticks : Nat) :=
  fun b hb => by rw [he, h b hb, Int.natCast_mul]

theorem Present.slot {p : Program} (hp : p.Proper) (hn : p.slots = none) {phases : List Phase}
    (hl : Serq.Sized (some (work phases)) phases) {runs : List Run}
    (h : Present (work phases) runs) (k : Nat) : Present (work phases) (slot p phases runs k) :=
  (slotted_limited hp hn rfl hl []).keep runs k h

/-- A state of the machine at the start of slot `n`. -/
structure State.In (p : Program) (T : Nat) (phases : List Phase) (counts : List Nat) (n : Nat)
    (s : State) : Prop where
  now : s.now = n * T
  arrived : s.arrived = (counts.take (n + 1)).sum
  like : s.Like p (atSlot p phases counts n)

section
variable {p : Program} {phases : List Phase} {T : Nat} {runs : List Run} {s : State}

theorem State.Like.tokens (h : Regular p phases T) (hs : s.Like p runs) :
    tokensOf (s.form p).batch = tokensOf ((State.at p runs).form p).batch := by
  obtain ⟨g, hg, hn⟩ := hs.numbering
  rw [hs.form h.registers h.anonymous hg hn]
  exact tokensOf_renumber _

theorem State.Like.idle (h : Regular p phases T) (hs : s.Like p []) :
    tokensOf (s.form p).batch = 0 := by
  rw [hs.tokens h]
  have q := form_quiet (p := p) p.schedule (f := {
    left := p.budget, batch := [], rest := [], waiting := [], ticket := 0
    joined := nextJoined [], registers := p.registers, admitted := 0 }) rfl
  have h := List.append_eq_nil_iff.mp (List.Perm.eq_nil (l := ((State.at p []).form p).runs) q.runs)
  have hb : ((State.at p []).form p).batch = [] := by simpa using h.1
  rw [hb]; rfl

/-- An iteration starts when somebody is there. -/
theorem State.Like.starts (h : Regular p phases T) (hs : s.Like p runs)
    (hp : Present (work phases) runs) (hne : runs ≠ []) : Starts p s := by
  rw [Starts, hs.tokens h]; exact h.starts runs hp hne

/-- It takes `T`. -/
theorem State.Like.next (h : Regular p phases T) (hs : s.Like p runs)
    (hp : Present (work phases) runs) (hne : runs ≠ []) (w : Sessions) :
    next p w s = some (s.after p w (s.form p) (s.now + T)) := by
  have h0 : tokensOf (s.form p).batch ≠ 0 := hs.starts h hp hne
  have holds : s.Holds p (some (work phases)) (leftOf s.runs) s.runs.length :=
    ⟨hs.alike.present hp, by simp [hs.waiting], by simp [hs.waiting, workOf],
      by simp [hs.waiting], by simp [h.free], fun _ => hs.waiting⟩
  have hd : (s.form p).duration p = T :=
    duration_of (P := fun _ d => d = T) h.proper (holds.form h.proper) h0 h.duration
  have hT := h.lasts
  simp only [Serq.next, h0, hd, if_false]
  rw [if_neg (by omega), Int.toNat_natCast]

theorem present_atSlot (h : Regular p phases T) (counts : List Nat) (n : Nat) :
    Present (work phases) (atSlot p phases counts n) := by
  have empty : Present (work phases) [] := fun r hr => by cases hr
  induction n with
  | zero => exact empty.slot h.proper h.free h.lengths _
  | succ n ih => exact ih.slot h.proper h.free h.lengths _

variable {counts : List Nat} {m n : Nat}

/-- While nobody comes the chain's empty slots follow one another. -/
theorem atSlot_empty (h0 : atSlot p phases counts m = []) (hle : m ≤ n)
    (hsum : (counts.take (n + 1)).sum = (counts.take (m + 1)).sum) :
    atSlot p phases counts n = [] := by
  induction n with
  | zero => rw [show m = 0 by omega] at h0; exact h0
  | succ n ih =>
    rcases Nat.eq_or_lt_of_le hle with rfl | hlt
    · exact h0
    · have h1 := take_sum_succ counts (n + 1)
      have h2 := take_sum_mono counts (m := m + 1) (n := n + 1) (by omega)
      rw [atSlot, ih (by omega) (by omega), show counts.getD (n + 1) 0 = 0 by omega, slot_nil]
      rfl

/-- A slot with a batch. -/
theorem State.In.batch (h : Regular p phases T) (hs : s.In p T phases counts n)
    (hne : atSlot p phases counts n ≠ []) :
    ∃ t, Serq.next p (Sessions.slotted T phases counts) s = some t ∧
      t.In p T phases counts (n + 1) := by
  have hstop : s.now + T = (n + 1) * T := by rw [hs.now, Nat.add_mul, Nat.one_mul]
  have u1 : (Sessions.slotted T phases counts).upTo (s.now + T - 1) s.arrived = s.arrived := by
    rw [hstop]
    refine Sessions.upTo_eq (fun k hk => ?_) ?_ (Nat.le_refl _)
    · rw [hs.arrived]; exact (Sessions.slotted_time h.lasts phases n k hk).2
    · rw [hs.arrived]; exact take_sum_le _ _
  have u2 : (Sessions.slotted T phases counts).upTo (s.now + T) s.arrived =
      (counts.take (n + 1 + 1)).sum := by
    rw [hstop]
    refine Sessions.upTo_eq (fun k hk => (Sessions.slotted_time h.lasts phases (n + 1) k hk).1)
      (take_sum_le _ _) ?_
    rw [hs.arrived]; exact take_sum_mono _ (by omega)
  refine ⟨_, hs.like.next h (present_atSlot h counts n) hne _, ?_, ?_, ?_⟩
  · rw [State.after_now, hstop]
  · rw [State.after_arrived, u1, u2]
  · have := hs.like.after h.free h.registers h.anonymous (phases := phases) (fun _ => rfl)
      (s.now + T) u1 u2 (if_pos rfl)
    rw [Nat.sub_self, batched_zero, hs.arrived, take_sum_succ counts (n + 1),
      Nat.add_sub_cancel_left] at this
    exact this

/-- The jump to the next slot in which somebody comes. -/
theorem State.In.jump (h : Regular p phases T) (hs : s.In p T phases counts m)
    (h0 : atSlot p phases counts m = []) (hle : m ≤ n)
    (hsum : (counts.take (n + 1)).sum = (counts.take (m + 1)).sum)
    (hc : counts.getD (n + 1) 0 ≠ 0) :
    ∃ t, Serq.next p (Sessions.slotted T phases counts) s = some t ∧
      t.In p T phases counts (n + 1) := by
  have h1 := take_sum_succ counts (n + 1)
  have h2 := take_sum_le counts (n + 1 + 1)
  have harr := hs.arrived
  have hlt : s.arrived < counts.sum := by omega
  have s1 := slotOf_le hlt n
  have s2 := slotOf_le hlt (n + 1)
  have htime : (Sessions.slotted T phases counts).time s.arrived = (n + 1) * T := by
    simp only [Sessions.slotted]; rw [show slotOf counts s.arrived = n + 1 by omega]
  have u : (Sessions.slotted T phases counts).upTo ((n + 1) * T) s.arrived =
      (counts.take (n + 1 + 1)).sum :=
    Sessions.upTo_eq (fun k hk => (Sessions.slotted_time h.lasts phases (n + 1) k hk).1) h2
      (by omega)
  have hl : s.Like p [] := h0 ▸ hs.like
  refine ⟨s.wait p (Sessions.slotted T phases counts) (s.form p), ?_, ?_, ?_, ?_⟩
  · simp only [Serq.next, hl.idle h, if_true]
    exact if_pos hlt
  · rw [State.wait_now, htime]
  · rw [State.wait_arrived, htime, u]
  · have := hl.wait h.free (w := Sessions.slotted T phases counts) (phases := phases) (fun _ => rfl)
    rw [htime, u, h1, show s.arrived = (counts.take (n + 1)).sum by omega, Nat.add_sub_cancel_left]
      at this
    rw [atSlot, atSlot_empty h0 hle hsum]
    exact this

theorem initial_in (h : Regular p phases T) (counts : List Nat) :
    (initial p (Sessions.slotted T phases counts)).In p T phases counts 0 := by
  have u : (Sessions.slotted T phases counts).upTo 0 0 = (counts.take (0 + 1)).sum :=
    Sessions.upTo_eq (fun k hk => by
      have := (Sessions.slotted_time h.lasts phases 0 k hk).1
      rwa [Nat.zero_mul] at this) (take_sum_le _ _) (Nat.zero_le _)
  refine ⟨?_, ?_, ?_⟩
  · rw [Serq.initial, State.come_now]; simp
  · rw [Serq.initial, State.come_arrived]; exact u
  · have := initial_like h.free h.registers (w := Sessions.slotted T phases counts)
      (phases := phases) (fun _ => rfl)
    rw [u, take_sum_succ] at this
    simpa [atSlot] using this

/-- Every state of the machine is that of a slot. -/
theorem Reachable.in_slot (h : Regular p phases T)
    (hr : Reachable p (Sessions.slotted T phases counts) s) : ∃ n, s.In p T phases counts n := by
  induction hr with
  | initial => exact ⟨0, initial_in h counts⟩
  | @next s t _ hn ih =>
    obtain ⟨n, hs⟩ := ih
    by_cases he : atSlot p phases counts n = []
    · have hl : s.Like p [] := he ▸ hs.like
      rcases next_cases hn with ⟨_, ha, _⟩ | ⟨h0, _⟩
      · replace ha : s.arrived < counts.sum := ha
        have s1 := slotOf_le ha n
        have s2 := slotOf_le ha (slotOf counts s.arrived)
        have s3 := slotOf_le ha (slotOf counts s.arrived - 1)
        have harr := hs.arrived
        have hj : slotOf counts s.arrived = slotOf counts s.arrived - 1 + 1 := by omega
        have mono := take_sum_mono counts
          (show n + 1 ≤ slotOf counts s.arrived - 1 + 1 by omega)
        have succ := take_sum_succ counts (slotOf counts s.arrived - 1 + 1)
        rw [← hj] at s3 mono succ
        obtain ⟨u, hu, hin⟩ := hs.jump h he (n := slotOf counts s.arrived - 1) (by omega)
          (by rw [← hj]; omega) (by rw [← hj]; omega)
        rw [hn] at hu
        cases hu
        exact ⟨_, hin⟩
      · exact absurd (hl.idle h) h0
    · obtain ⟨u, hu, hin⟩ := hs.batch h he
      rw [hn] at hu
      cases hu
      exact ⟨_, hin⟩

/-- In every slot the machine has a state, or it has jumped over the slot. -/
theorem reaches_slot (h : Regular p phases T) (counts : List Nat) (n : Nat) :
    ∃ m s, m ≤ n ∧ Reachable p (Sessions.slotted T phases counts) s ∧ s.In p T phases counts m ∧
      (counts.take (n + 1)).sum = (counts.take (m + 1)).sum ∧
      (m < n → atSlot p phases counts m = []) := by
  induction n with
  | zero =>
    exact ⟨0, _, Nat.le_refl _, .initial, initial_in h counts, rfl, fun h => absurd h (by omega)⟩
  | succ n ih =>
    obtain ⟨m, s, hle, hr, hs, hsum, he⟩ := ih
    by_cases h0 : atSlot p phases counts m = []
    · by_cases hc : counts.getD (n + 1) 0 = 0
      · refine ⟨m, s, by omega, hr, hs, ?_, fun _ => h0⟩
        rw [take_sum_succ, hc, hsum, Nat.add_zero]
      · obtain ⟨t, ht, hin⟩ := hs.jump h h0 hle hsum hc
        exact ⟨n + 1, t, Nat.le_refl _, .next hr ht, hin, rfl, fun h => absurd h (by omega)⟩
    · rcases Nat.eq_or_lt_of_le hle with rfl | hlt
      · obtain ⟨t, ht, hin⟩ := hs.batch h h0
        exact ⟨m + 1, t, Nat.le_refl _, .next hr ht, hin, rfl, fun h => absurd h (by omega)⟩
      · exact absurd (he hlt) h0

end

/-- The machine goes through the states of a chain: with any numbers of sessions in the slots, it
has states only at the starts of slots, its runs there are those of the chain, and an iteration
starts in a slot just when the chain is not empty there. -/
structure Follows (p : Program) (phases : List Phase) (T : Nat) (c : Chain (List Run) Nat) :
    Prop where
  times : ∀ counts s, Reachable p (Sessions.slotted T phases counts) s → ∃ n, s.now = n * T
  runs : ∀ counts n runs, (c.visits [] counts)[n]? = some runs →
    ∀ s, Reachable p (Sessions.slotted T phases counts) s → s.now = n * T → Alike s.runs runs
  starts : ∀ counts n runs, (c.visits [] counts)[n]? = some runs → (runs ≠ [] ↔
    ∃ s, Reachable p (Sessions.slotted T phases counts) s ∧ s.now = n * T ∧ Starts p s)

theorem Regular.follows {p : Program} {phases : List Phase} {T : Nat} (h : Regular p phases T)
    (arrivals : Law Nat) : Follows p phases T (slotted p phases arrivals) := by
  have known {counts : List Nat} {n : Nat} {runs : List Run}
      (hv : ((slotted p phases arrivals).visits [] counts)[n]? = some runs) :
      runs = atSlot p phases counts n := by
    obtain ⟨hlt, _⟩ := List.getElem?_eq_some_iff.mp hv
    rw [Chain.visits_length] at hlt
    rw [visits_atSlot p phases arrivals hlt] at hv
    cases hv; rfl
  have like {counts : List Nat} {n : Nat} {s : State}
      (hr : Reachable p (Sessions.slotted T phases counts) s) (hn : s.now = n * T) :
      s.Like p (atSlot p phases counts n) := by
    obtain ⟨m, hs⟩ := hr.in_slot h
    have hm : m * T = n * T := by rw [← hs.now, hn]
    rw [← Nat.eq_of_mul_eq_mul_right h.lasts hm]
    exact hs.like
  refine ⟨fun counts s hr => ?_, fun counts n runs hv s hr hn => ?_,
    fun counts n runs hv => ⟨?_, ?_⟩⟩
  · obtain ⟨n, hs⟩ := hr.in_slot h
    exact ⟨n, hs.now⟩
  · rw [known hv]; exact (like hr hn).alike
  · rw [known hv]
    intro hne
    obtain ⟨m, s, hle, hr, hs, hsum, he⟩ := reaches_slot h counts n
    rcases Nat.eq_or_lt_of_le hle with rfl | hlt
    · exact ⟨s, hr, hs.now, hs.like.starts h (present_atSlot h counts m) hne⟩
    · exact absurd (atSlot_empty (he hlt) hle hsum) hne
  · rintro ⟨s, hr, hn, hst⟩ he
    rw [known hv] at he
    exact hst ((he ▸ like hr hn : s.Like p []).idle h)

/-! ## Stability of the machine -/

/-- The machine starts an iteration in each of the slots in which these numbers of sessions come. -/
def Busy (p : Program) (phases : List Phase) (T : Nat) (counts : List Nat) : Prop :=
  ∀ n, n < counts.length →
    ∃ s, Reachable p (Sessions.slotted T phases counts) s ∧ s.now = n * T ∧ Starts p s

open Classical in
/-- The expected number of slots until the machine, empty at first, is empty is finite. -/
def Empties (p : Program) (phases : List Phase) (T : Nat) (arrivals : Law Nat) : Prop :=
  ∃ B : Rat, ∀ n, ((List.range n).map fun t =>
    (arrivals.draws t).prob fun counts => decide (Busy p phases T counts)).sum ≤ B

open Classical in
/-- The machine returns to the empty engine when the chain does. -/
theorem Follows.empties_iff {p : Program} {phases : List Phase} {T : Nat} {c : Chain (List Run) Nat}
    (h : Follows p phases T c) : Empties p phases T c.law ↔ c.PositiveRecurrent [] := by
  have same (counts : List Nat) : decide (Busy p phases T counts) =
      !(c.visits [] counts).any fun runs => decide (runs = []) := by
    rw [Bool.eq_iff_iff, decide_eq_true_iff, Bool.not_eq_true', List.any_eq_false]
    constructor
    · intro hb runs hm he
      obtain ⟨n, hn⟩ := List.mem_iff_getElem?.mp hm
      obtain ⟨hlt, _⟩ := List.getElem?_eq_some_iff.mp hn
      rw [Chain.visits_length] at hlt
      exact (h.starts counts n runs hn).mpr (hb n hlt) (of_decide_eq_true he)
    · intro ha n hn
      rw [← Chain.visits_length c []] at hn
      exact (h.starts counts n _ (List.getElem?_eq_getElem hn)).mp fun he =>
        ha _ (List.getElem_mem hn) (decide_eq_true he)
  unfold Empties Chain.PositiveRecurrent Chain.FiniteReturn Chain.returnTime Chain.away
  simp only [same]

end Serq
