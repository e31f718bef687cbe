"""Programs as Lean: what a claim says, as a proposition about every run of the program.

In: a Program. Out: `emit_lean`, Lean 4 text without proofs; `stateable`, the reasons against it.
Imports: `serq.ir`, `serq.diagnostics`, attrs; Lean itself is not needed.
Grows: `fragment` learns a construct when `model.lean` gives it a meaning; a kind of claim is a row
in `fragment.QUANTIFIERS`.

`model.lean` is that meaning, written by hand. Statements are about exact numbers and about every
number of arrivals the workload can have; a run computes with doubles and follows one path.
"""

from __future__ import annotations

from serq.lean.fragment import stateable
from serq.lean.module import emit_lean

__all__ = ["emit_lean", "stateable"]
