module

public import Serq.Schemes
public import Serq.Generated.dai_sarathi

/-! Proofs of the claims of dai_sarathi.sq.
Written by `serq emit-lean --prove`; nothing here has to be believed, for Lean checks it. -/

set_option linter.unusedSimpArgs false

public section

namespace Serq.Proofs.dai_sarathi

namespace Facts

theorem proper : Claims.dai_sarathi.program.Proper :=
  ⟨show 1 ≤ 128 by decide, fun m (h : none = some m) => by cases h <;> decide⟩

theorem lengths : Lengths (some 1280) Claims.dai_sarathi.workload := by
  rintro w ⟨_, hw⟩ k
  rw [hw k]
  exact ⟨by decide, fun m (h : some 1280 = some m) => by cases h <;> decide⟩

theorem serves : Claims.dai_sarathi.program.schedule.Serves fun _ _ => False :=
  .advance (.done (by intro v r; cases hd : r.decoding <;> simp [everyone, hd] <;> omega))

theorem same : ∀ w, Claims.dai_sarathi.workload w → ∀ k, work (w.phases k) = 1280 := by
  rintro w ⟨_, hw⟩ k
  rw [hw k]; decide

end Facts

theorem Facts.budget :
    EveryIteration Claims.dai_sarathi.program Claims.dai_sarathi.workload fun i => i.tokens ≤ 128 :=
  _root_.Serq.budget Facts.proper Facts.lengths

theorem Facts.work_conservation :
    EveryIteration Claims.dai_sarathi.program Claims.dai_sarathi.workload fun i => i.tokens = 128 ∨
      i.tokens = i.demand :=
  _root_.Serq.work_conservation Facts.proper Facts.lengths Facts.serves

/-- `work_conserving` is true. -/
protected theorem work_conserving : Claims.dai_sarathi.work_conserving := by
  intro w hw s hr hs
  have h0 := Facts.budget w hw s hr hs
  have h1 := Facts.work_conservation w hw s hr hs
  generalize iteration _ s = i at *
  show i.demand < 128 ∨ i.tokens = 128
  replace h0 : i.tokens ≤ 128 := h0
  replace h1 : i.tokens = 128 ∨ i.tokens = i.demand := h1
  first | omega | trivial | simp | (simp; omega)

theorem Facts.token_rate_4675_128 :
    EveryIteration Claims.dai_sarathi.program Claims.dai_sarathi.workload fun i => i.served * 4675 ≤
      128 * i.now :=
  _root_.Serq.token_rate (P := 4675) (Q := 128) Facts.proper Facts.lengths (fun batch h => by
    have h1 : batch.tokens ≤ 128 := h.budget
    have ⟨h2, _, h3, h4, h5, h6, h7, h8, _⟩ := h
    show batch.tokens * 4675 ≤ 128 * (1128 + 3547 * ceilDiv batch.tokens 128)
    simp only [ceilDiv]
    omega)

/-- `token_rate` is true. -/
protected theorem token_rate : Claims.dai_sarathi.token_rate := by
  intro w hw s hr hs
  have h0 := Facts.token_rate_4675_128 w hw s hr hs
  generalize iteration _ s = i at *
  show i.served * 4675 ≤ 128 * i.now
  replace h0 : i.served * 4675 ≤ 128 * i.now := h0
  first | omega | trivial | simp | (simp; omega)

theorem Facts.backlog :
    EveryIteration Claims.dai_sarathi.program Claims.dai_sarathi.workload fun i => i.arrived *
      59840000 ≤ i.served * 46750 + 7665455970 :=
  _root_.Serq.backlog (V := 1280) (gap := 46750) (E := 5937250) (K := 7665455970) Facts.proper Facts.lengths
    Facts.serves rfl (fun _ h => h.1) Facts.same (by decide)
    (fun batch h hfull => by
    have h1 : batch.tokens ≤ 128 := h.budget
    have h0 : batch.tokens = 128 := hfull
    have ⟨h2, _, h3, h4, h5, h6, h7, h8, _⟩ := h
    show 1280 * (1128 + 3547 * ceilDiv batch.tokens 128) ≤ 46750 * batch.tokens
    simp only [ceilDiv]
    omega)
    (fun batch h => by
    have h1 : batch.tokens ≤ 128 := h.budget
    have ⟨h2, _, h3, h4, h5, h6, h7, h8, _⟩ := h
    show 1280 * (1128 + 3547 * ceilDiv batch.tokens 128) ≤ 46750 * batch.tokens + 5937250
    simp only [ceilDiv]
    omega)
    (by decide) (by decide)

/-- `bounded` is true. -/
protected theorem bounded : Claims.dai_sarathi.bounded := by
  intro w hw s hr hs
  have h0 := Facts.backlog w hw s hr hs
  generalize iteration _ s = i at *
  show i.arrived * 1280 ≤ i.served + 165120
  replace h0 : i.arrived * 59840000 ≤ i.served * 46750 + 7665455970 := h0
  first | omega | trivial | simp | (simp; omega)

end Serq.Proofs.dai_sarathi
