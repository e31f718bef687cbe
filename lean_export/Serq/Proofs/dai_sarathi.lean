module

public import Serq.Witness
public import Serq.Generated.dai_sarathi

/-! Proofs of the claims of dai_sarathi.sq.
Written by `serq emit-lean --prove`; nothing here has to be believed, for Lean checks it. -/

public section

namespace Serq.Proofs.dai_sarathi

namespace Facts

theorem proper : Claims.dai_sarathi.program.Proper :=
  ⟨by decide, fun m (h : none = some m) => by cases h <;> decide⟩

theorem lengths : Lengths (some 1280) Claims.dai_sarathi.workload := by
  rintro w ⟨_, hw⟩ k
  rw [hw k]
  exact ⟨by decide, fun m (h : some 1280 = some m) => by cases h <;> decide⟩

theorem ordered : Ordered Claims.dai_sarathi.workload :=
  fun _ h => h.1.ordered (by decide)

theorem serves : Claims.dai_sarathi.program.schedule.Serves fun _ _ => False :=
  .advance (.done (by intro v r; cases hd : r.decoding <;> simp [everyone, hd] <;> omega))

theorem same : ∀ w, Claims.dai_sarathi.workload w → ∀ k, work (w.phases k) = 1280 := by
  rintro w ⟨_, hw⟩ k
  rw [hw k]; decide

end Facts

theorem Facts.work_conservation :
    EveryIteration Claims.dai_sarathi.program Claims.dai_sarathi.workload fun i => i.tokens = 128 ∨
      i.tokens = i.demand :=
  _root_.Serq.work_conservation Facts.proper Facts.lengths Facts.serves

theorem Facts.budget :
    EveryIteration Claims.dai_sarathi.program Claims.dai_sarathi.workload fun i => i.tokens ≤ 128 :=
  _root_.Serq.budget Facts.proper Facts.lengths

/-- `work_conserving` is true. -/
theorem work_conserving : Claims.dai_sarathi.work_conserving := by
  intro w hw s hr hs
  have h0 := Facts.work_conservation w hw s hr hs
  have h1 := Facts.budget w hw s hr hs
  generalize iteration _ s = i at *
  show i.demand < 128 ∨ i.tokens = 128
  replace h0 : i.tokens = 128 ∨ i.tokens = i.demand := h0
  replace h1 : i.tokens ≤ 128 := h1
  omega

theorem Facts.arrivals :
    EveryIteration Claims.dai_sarathi.program Claims.dai_sarathi.workload fun i => i.arrived * 46750
      ≤ i.now :=
  _root_.Serq.arrivals (fun _ h => h.1) Facts.ordered

theorem Facts.conservation :
    EveryIteration Claims.dai_sarathi.program Claims.dai_sarathi.workload fun i => i.served +
      i.demand ≤ i.arrived * 1280 :=
  _root_.Serq.conservation Facts.proper Facts.lengths

theorem Facts.counters :
    EveryIteration Claims.dai_sarathi.program Claims.dai_sarathi.workload fun i => 1 ≤ i.tokens ∧
      i.tokens ≤ i.demand ∧ i.tokens = i.prefilled + i.decoders ∧ 0 ≤ i.prefilled ∧ 0 ≤ i.decoders ∧
      i.decoders ≤ i.residents ∧ 1 ≤ i.residents ∧ i.residents ≤ i.demand ∧ 0 ≤ i.waiting ∧
      i.residents + i.waiting ≤ i.arrived ∧ 0 ≤ i.served ∧ 0 ≤ i.now :=
  _root_.Serq.counters Facts.proper Facts.lengths

/-- `token_rate` is true. -/
theorem token_rate : Claims.dai_sarathi.token_rate := by
  intro w hw s hr hs
  have h0 := Facts.arrivals w hw s hr hs
  have h1 := Facts.conservation w hw s hr hs
  have h2 := Facts.counters w hw s hr hs
  generalize iteration _ s = i at *
  show i.served * 4675 ≤ 128 * i.now
  replace h0 : i.arrived * 46750 ≤ i.now := h0
  replace h1 : i.served + i.demand ≤ i.arrived * 1280 := h1
  replace h2 : 1 ≤ i.tokens ∧ i.tokens ≤ i.demand ∧ i.tokens = i.prefilled + i.decoders ∧ 0 ≤
    i.prefilled ∧ 0 ≤ i.decoders ∧ i.decoders ≤ i.residents ∧ 1 ≤ i.residents ∧ i.residents ≤
    i.demand ∧ 0 ≤ i.waiting ∧ i.residents + i.waiting ≤ i.arrived ∧ 0 ≤ i.served ∧ 0 ≤ i.now := h2
  omega

end Serq.Proofs.dai_sarathi
