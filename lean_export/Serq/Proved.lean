module

public import Serq.Proofs.dai_sarathi
public import Serq.Proofs.dai_fastertransformer

/-! Each claim of the examples with its proof. -/

namespace Serq

/-- By budget and work conservation. -/
example : Claims.dai_sarathi.work_conserving := Proofs.dai_sarathi.work_conserving

/-- By token rate. -/
example : Claims.dai_sarathi.token_rate := Proofs.dai_sarathi.token_rate

/-- By backlog. -/
example : Claims.dai_sarathi.bounded := Proofs.dai_sarathi.bounded

/-- By witness. -/
example : Claims.dai_fastertransformer.not_work_conserving := Proofs.dai_fastertransformer.not_work_conserving

/-- By token rate. -/
example : Claims.dai_fastertransformer.token_rate := Proofs.dai_fastertransformer.token_rate

end Serq
