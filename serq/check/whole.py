"""Checks of a whole program, whether it was read from text or from JSON."""

from __future__ import annotations

from serq.check.complaints import Complaints
from serq.check.limits import check_limits
from serq.check.moments import check_moments
from serq.check.supported import check_supported
from serq.diagnostics import Sink
from serq.ir.program import Program


def check_ir(program: Program, sink: Sink, complaints: Complaints | None = None) -> None:
    """Everything a machine relies on: moments, limits, paths; and that it knows every construct."""
    complaints = complaints or Complaints(sink)
    check_moments(program, complaints)
    check_limits(program, complaints)
    if not sink.errors:
        check_supported(program, complaints)
