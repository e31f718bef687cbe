"""Checks of a whole program, whether it was read from text or from JSON."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager

from serq.check.cached import check_cached
from serq.check.complaints import Complaints
from serq.check.costs import check_costs
from serq.check.counts import check_counts
from serq.check.flows import check_flows
from serq.check.hidden import check_hidden
from serq.check.holds import check_holds
from serq.check.limits import check_limits
from serq.check.moments import check_moments
from serq.check.paths import check_paths
from serq.check.references import check_references
from serq.check.structure import check_structure
from serq.check.supported import check_supported
from serq.diagnostics import Sink
from serq.ir.program import Program

# An expression of the deepest kind takes about five calls per level.
_RECURSION = 12_000


@contextmanager
def deep_recursion() -> Iterator[None]:
    """Room for expressions as deep as the limit allows."""
    before = sys.getrecursionlimit()
    sys.setrecursionlimit(max(before, _RECURSION))
    try:
        yield
    finally:
        sys.setrecursionlimit(before)


def check_ir(program: Program, sink: Sink, complaints: Complaints | None = None) -> None:
    """Everything a machine relies on: moments, limits, paths; and that it knows every construct.

    complaints: what was said while the program was lowered from text, where every name was looked
    up; None for a program from elsewhere, whose names are looked up here.
    """
    with deep_recursion():
        said = complaints or Complaints(sink)
        if complaints is None:
            check_references(program, said)
            if sink.errors:
                return
            check_structure(program, said)
        check_moments(program, said)
        check_limits(program, said)
        check_counts(program, said)
        check_paths(program, said)
        check_holds(program, said)
        check_cached(program, said)
        check_costs(program, said)
        check_hidden(program, said)
        check_flows(program, said)
        if not sink.errors:
            check_supported(program, said)
