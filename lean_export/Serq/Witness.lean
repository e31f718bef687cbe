module

public import Serq.Schemes

/-!
Long runs, step by step: the kernel evaluates a stretch between two states that are written out.

Evaluation here is strict: the numbers of a state are computed before the next step, so that a
stretch of `k` steps takes `k` times as long as one.
-/

@[expose] public noncomputable section

namespace Serq

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

variable {p : Program} {workload : Sessions → Prop} {w : Sessions}

/-- A state that is reached is followed by another, some steps later. -/
theorem Reachable.later {s t : State} (h : Reachable p w s) {k : Nat}
    (hk : stretch p w k s = some t) : Reachable p w t :=
  reachable_run h (stretch_eq p w k s ▸ hk)

/-- An iteration of some run. -/
theorem witness {claim : Iteration → Prop} (hw : workload w) {s : State} (h : Reachable p w s)
    (hs : Starts p s) (hc : claim (iteration p s)) : SomeIteration p workload claim :=
  ⟨w, hw, s, h, hs, hc⟩

end Serq
