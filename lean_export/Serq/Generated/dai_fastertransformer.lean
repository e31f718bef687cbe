module

public import Serq.Model

/-! The claims of dai_fastertransformer.sq: `not_work_conserving`, `token_rate`.
Written by `serq emit-lean` (program format 1): statements without proofs, about every run of the
program, with exact numbers where a run of serq computes in doubles. -/

@[expose] public noncomputable section

namespace Serq.Claims.dai_fastertransformer

/-- Engine `llm` of dai_fastertransformer.sq. -/
def program : Program where
  budget := 128
  most := none
  slots := none
  registers := []
  schedule := .advance (fun v r => decide (v.decoding > 0 ∧ r.decoding = true ∨ ¬ (v.decoding > 0) ∧
    r.decoding = false)) standing .done
  execute := fun batch => 1128 + 3547 * ceilDiv batch.tokens 128

/-- The sessions of dai_fastertransformer.sq, any number of them. -/
def workload (w : Sessions) : Prop :=
  Renewal 46750 w ∧ ∀ k, w.phases k = [.prefill 290, .decode 990]

/-- Line 45: `claim not_work_conserving: some iteration of llm (demand >= bmax && tokens < bmax);`
-/
def not_work_conserving : Prop :=
  SomeIteration program workload fun i => i.demand ≥ 128 ∧ i.tokens < 128

/-- Line 48: `claim token_rate: every iteration of llm (served * (c + a * bmax / b0) <= bmax *
now);` -/
def token_rate : Prop :=
  EveryIteration program workload fun i => i.served * 4675 ≤ 128 * i.now

end Serq.Claims.dai_fastertransformer
