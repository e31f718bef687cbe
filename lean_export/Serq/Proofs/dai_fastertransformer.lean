module

public import Serq.Witness
public import Serq.Generated.dai_fastertransformer

/-! Proofs of the claims of dai_fastertransformer.sq.
Written by `serq emit-lean --prove`; nothing here has to be believed, for Lean checks it. -/

public section

namespace Serq.Proofs.dai_fastertransformer

/-- The sessions of the run that shows what `not_work_conserving` is. -/
@[expose] def world_not_work_conserving : Sessions := ⟨2, fun k => (k + 1) * 46750, fun _ =>
  [.prefill 290, .decode 990]⟩

/-- `not_work_conserving` is true: after 11 steps, at 93500, the demand is 291 and 1 token is given.
-/
theorem not_work_conserving : Claims.dai_fastertransformer.not_work_conserving := by
  have h0 : Reachable Claims.dai_fastertransformer.program world_not_work_conserving _ := .initial
  have h1 : Reachable Claims.dai_fastertransformer.program world_not_work_conserving ⟨93500, 2, 297,
    [⟨0, 1, true, 983, []⟩, ⟨0, 2, false, 290, [.decode 990]⟩], [], 0, 3, []⟩ :=
    h0.later (k := 11) (by decide +kernel)
  show SomeIteration _ _ _
  refine witness (w := world_not_work_conserving) ⟨fun _ => rfl, fun _ => rfl⟩
    h1 (by decide +kernel) ?_
  dsimp only
  decide +kernel

namespace Facts

theorem proper : Claims.dai_fastertransformer.program.Proper :=
  ⟨by decide, fun m (h : none = some m) => by cases h <;> decide⟩

theorem lengths : Lengths (some 1280) Claims.dai_fastertransformer.workload := by
  rintro w ⟨_, hw⟩ k
  rw [hw k]
  exact ⟨by decide, fun m (h : some 1280 = some m) => by cases h <;> decide⟩

theorem ordered : Ordered Claims.dai_fastertransformer.workload :=
  fun _ h => h.1.ordered (by decide)

theorem same : ∀ w, Claims.dai_fastertransformer.workload w → ∀ k, work (w.phases k) = 1280 := by
  rintro w ⟨_, hw⟩ k
  rw [hw k]; decide

end Facts

theorem Facts.arrivals :
    EveryIteration Claims.dai_fastertransformer.program Claims.dai_fastertransformer.workload fun i
      => i.arrived * 46750 ≤ i.now :=
  _root_.Serq.arrivals (fun _ h => h.1) Facts.ordered

theorem Facts.conservation :
    EveryIteration Claims.dai_fastertransformer.program Claims.dai_fastertransformer.workload fun i
      => i.served + i.demand ≤ i.arrived * 1280 :=
  _root_.Serq.conservation Facts.proper Facts.lengths

theorem Facts.counters :
    EveryIteration Claims.dai_fastertransformer.program Claims.dai_fastertransformer.workload fun i
      => 1 ≤ i.tokens ∧ i.tokens ≤ i.demand ∧ i.tokens = i.prefilled + i.decoders ∧ 0 ≤ i.prefilled
      ∧ 0 ≤ i.decoders ∧ i.decoders ≤ i.residents ∧ 1 ≤ i.residents ∧ i.residents ≤ i.demand ∧ 0 ≤
      i.waiting ∧ i.residents + i.waiting ≤ i.arrived ∧ 0 ≤ i.served ∧ 0 ≤ i.now :=
  _root_.Serq.counters Facts.proper Facts.lengths

/-- `token_rate` is true. -/
theorem token_rate : Claims.dai_fastertransformer.token_rate := by
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

end Serq.Proofs.dai_fastertransformer
