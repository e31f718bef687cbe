module

public import Serq.Schemes
public import Serq.Generated.dai_fastertransformer

/-! Proofs of the claims of dai_fastertransformer.sq.
Written by `serq emit-lean --prove`; nothing here has to be believed, for Lean checks it. -/

set_option linter.unusedSimpArgs false

public section

namespace Serq.Proofs.dai_fastertransformer

/-- The sessions of the run that shows what `not_work_conserving` is. -/
@[expose] def Worlds.not_work_conserving : Sessions := ⟨2, fun k => (k + 1) * 46750, fun _ =>
  [.prefill 290, .decode 990]⟩

/-- `not_work_conserving` is true: after 11 steps, at 93500, with demand 291 and tokens 1. -/
protected theorem not_work_conserving : Claims.dai_fastertransformer.not_work_conserving := by
  have h0 : Reachable Claims.dai_fastertransformer.program Worlds.not_work_conserving _ := .initial
  have h1 : Reachable Claims.dai_fastertransformer.program Worlds.not_work_conserving ⟨93500, 2,
    297, [⟨0, 1, true, 983, []⟩, ⟨0, 2, false, 290, [.decode 990]⟩], [], 0, 3, []⟩ :=
    h0.later (k := 11) (by decide +kernel)
  show SomeIteration _ _ _
  refine witness (w := Worlds.not_work_conserving) ⟨fun _ => rfl, fun _ => rfl⟩
    h1 (by decide +kernel) ?_
  all_goals dsimp only
  all_goals decide +kernel

namespace Facts

theorem proper : Claims.dai_fastertransformer.program.Proper :=
  ⟨show 1 ≤ 128 by decide, fun m (h : none = some m) => by cases h <;> decide⟩

theorem lengths : Lengths (some 1280) Claims.dai_fastertransformer.workload := by
  rintro w ⟨_, hw⟩ k
  rw [hw k]
  exact ⟨by decide, fun m (h : some 1280 = some m) => by cases h <;> decide⟩

theorem same : ∀ w, Claims.dai_fastertransformer.workload w → ∀ k, work (w.phases k) = 1280 := by
  rintro w ⟨_, hw⟩ k
  rw [hw k]; decide

end Facts

theorem Facts.token_rate_4675_128 :
    EveryIteration Claims.dai_fastertransformer.program Claims.dai_fastertransformer.workload fun i
      => i.served * 4675 ≤ 128 * i.now :=
  _root_.Serq.token_rate (P := 4675) (Q := 128) Facts.proper Facts.lengths (fun batch h => by
    have h1 : batch.tokens ≤ 128 := h.budget
    have ⟨h2, _, h3, h4, h5, h6, h7, h8, _⟩ := h
    show batch.tokens * 4675 ≤ 128 * (1128 + 3547 * ceilDiv batch.tokens 128)
    simp only [ceilDiv]
    omega)

/-- `token_rate` is true. -/
protected theorem token_rate : Claims.dai_fastertransformer.token_rate := by
  intro w hw s hr hs
  have h0 := Facts.token_rate_4675_128 w hw s hr hs
  generalize iteration _ s = i at *
  show i.served * 4675 ≤ 128 * i.now
  replace h0 : i.served * 4675 ≤ 128 * i.now := h0
  first | omega | trivial | simp | (simp; omega)

end Serq.Proofs.dai_fastertransformer
