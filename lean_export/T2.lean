module
public import Serq.Witness
noncomputable section
namespace Serq
def p : Program := {budget := 128, most := none, slots := none, registers := [], schedule := .advance everyone standing .done, execute := fun b => 1128 + 3547 * ceilDiv b.tokens 128}
def ft : Program := {p with schedule := .advance (fun v r => decide (if v.decoding > 0 then r.decoding = true else r.decoding = false)) standing .done}
def w : Sessions := ⟨2, fun k => (k+1)*46750, fun _ => [.prefill 290, .decode 990]⟩
def w9 : Sessions := ⟨9, fun k => (k+1)*46750, fun _ => [.prefill 290, .decode 990]⟩
example : (stretch p w9 200 (initial p w9)).isSome = true := by decide +kernel