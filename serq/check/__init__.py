"""Tree -> program, or diagnostics.

In: `tree.Program`, a `Sink`. Out: `ir.Program`. Imports: `serq.syntax.tree`, `serq.ir`, attrs.
Grows: a pass is one verb in one file, and `program.lower_program` gives their order.
"""

from __future__ import annotations

from serq.check.program import check_program
from serq.check.whole import check_ir

__all__ = ["check_ir", "check_program"]
