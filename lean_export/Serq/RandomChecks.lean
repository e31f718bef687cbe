module

public import Serq.Random
public import Serq.Proofs.dai_sarathi

/-! Instances of the theory of random arrivals, on both sides of the edge, and small controls. -/

namespace Serq

/-- One request in twenty slots is below capacity. -/
example : (slotted Claims.dai_sarathi.program [.prefill 290, .decode 990]
    [(19, 0), (1, 1)]).PositiveRecurrent [] := by
  rw [slotted_positive_recurrent_iff Proofs.dai_sarathi.Facts.proper rfl
    Proofs.dai_sarathi.Facts.serves ⟨by decide, fun m h => by cases h; decide⟩ (by decide)
    (w := 19) (by simp) (by decide)]
  simp [Law.mean, Law.wsum, Law.weight, work, Claims.dai_sarathi.program]; grind

/-- One request in ten slots is at capacity. -/
example : ¬ (slotted Claims.dai_sarathi.program [.prefill 290, .decode 990]
    [(9, 0), (1, 1)]).PositiveRecurrent [] := by
  rw [slotted_positive_recurrent_iff Proofs.dai_sarathi.Facts.proper rfl
    Proofs.dai_sarathi.Facts.serves ⟨by decide, fun m h => by cases h; decide⟩ (by decide)
    (w := 9) (by simp) (by decide)]
  simp [Law.mean, Law.wsum, Law.weight, work, Claims.dai_sarathi.program]; grind

/-- A slot is a batch: three for the prompt, then a token each. -/
example : (List.range 11).foldl
    (fun s _ => slot Claims.dai_sarathi.program [.prefill 290, .decode 990] s 0)
    [⟨0, 0, false, 290, [.decode 990]⟩] = [⟨0, 1, true, 982, []⟩] := by
  decide +kernel

/-- A fair coin does not come up in two tosses with probability 1/4. -/
example : (⟨[(1, 0), (1, 1)], fun _ a => a⟩ : Chain Nat Nat).away
    (fun t => decide (t = 0)) 0 2 = 1 / 4 := by
  simp [Chain.away, Chain.visits, Law.draws, Law.prob, Law.mean, Law.wsum, Law.weight]; grind

end Serq
