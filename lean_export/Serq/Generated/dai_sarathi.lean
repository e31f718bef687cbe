module

public import Serq.Model

/-! The claims of dai_sarathi.sq: `work_conserving`, `token_rate`, `bounded`.
Written by `serq emit-lean` (program format 1): statements without proofs, about every run of the
program, with exact numbers where a run of serq computes in doubles. -/

@[expose] public noncomputable section

namespace Serq.Claims.dai_sarathi

/-- Engine `llm` of dai_sarathi.sq. -/
def program : Program where
  budget := 128
  most := none
  slots := none
  registers := []
  schedule := .advance everyone standing .done
  execute := fun batch => 1128 + 3547 * ceilDiv batch.tokens 128

/-- The sessions of dai_sarathi.sq, any number of them. -/
def workload (w : Sessions) : Prop :=
  Renewal 46750 w ∧ ∀ k, w.phases k = [.prefill 290, .decode 990]

/-- Line 43: `claim work_conserving: every iteration of llm (demand < bmax || tokens == bmax);` -/
def work_conserving : Prop :=
  EveryIteration program workload fun i => i.demand < 128 ∨ i.tokens = 128

/-- Line 46: `claim token_rate: every iteration of llm (served * (c + a * bmax / b0) <= bmax *
now);` -/
def token_rate : Prop :=
  EveryIteration program workload fun i => i.served * 4675 ≤ 128 * i.now

/-- Line 49: `claim bounded: every iteration of llm (arrived * (prompt + output) <= served + (bmax +
1) * (prompt + output));` -/
def bounded : Prop :=
  EveryIteration program workload fun i => i.arrived * 1280 ≤ i.served + 165120

end Serq.Claims.dai_sarathi
