module

public import Serq.Chain.Projection
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

/-- The engine of point C, if every batch took as long as a full one. -/
noncomputable def even : Program := { Claims.dai_sarathi.program with execute := fun _ => 4675 }

/-- The machine is the chain. -/
example : Follows even [.prefill 290, .decode 990] 4675
    (slotted even [.prefill 290, .decode 990] [(19, 0), (1, 1)]) :=
  Regular.follows (Schedule.Serves.regular (p := even) Proofs.dai_sarathi.Facts.serves
    ⟨by decide, nofun⟩ rfl rfl (fun _ => rfl) ⟨by decide, fun m h => by cases h; decide⟩ (by decide)
    (fun _ _ => rfl)) _

/-- It goes from the first slot, with a batch, to the fifth, in which somebody comes. -/
example :
    let w := Sessions.slotted 4675 [.prefill 5] [2, 0, 0, 0, 3]
    (run even w 2 (initial even w)).map (fun s => (s.now, s.runs.length)) =
      some (4 * 4675, 3) := by
  decide +kernel

/-- A schedule that looks at the numbers of runs is not anonymous. -/
example : ¬ (Schedule.advance everyone (fun _ r => [(r.joined : Int)]) .done).Anonymous := by
  intro h
  have h1 := h (· + 1)
  simp only [Schedule.renumber, Schedule.advance.injEq] at h1
  have h2 := congrFun (congrFun h1.2.1 ⟨0, 0, 0, []⟩) ⟨0, 0, false, 1, []⟩
  exact absurd h2 (by decide)

/-- It matters who joins first: sessions after those that go on make runs that are not alike. -/
example : ¬ Alike
    (batched Claims.dai_sarathi.program [.prefill 2] [⟨0, 0, false, 1, [.decode 1]⟩] 0 1)
    (slot Claims.dai_sarathi.program [.prefill 2] [⟨0, 0, false, 1, [.decode 1]⟩] 1) := by
  rintro ⟨g, _, h⟩
  have h1 := congrArg (List.map Run.decoding) h
  rw [List.map_map, show Run.decoding ∘ Run.renumber g = Run.decoding from rfl] at h1
  exact absurd h1 (by decide +kernel)

/-- A fair coin does not come up in two tosses with probability 1/4. -/
example : (⟨[(1, 0), (1, 1)], fun _ a => a⟩ : Chain Nat Nat).away
    (fun t => decide (t = 0)) 0 2 = 1 / 4 := by
  simp [Chain.away, Chain.visits, Law.draws, Law.prob, Law.mean, Law.wsum, Law.weight]; grind

end Serq
