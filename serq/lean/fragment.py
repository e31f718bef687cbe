"""What can be stated: a program as the pieces of its Lean statement, or every reason against it.

One engine with a constant budget that advances its runs in joining order; sessions that arrive at
a constant rate or all at once and run constant numbers of tokens, one run after the other; claims
about iterations. Whatever else a program has is refused if it can change an iteration.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from fractions import Fraction
from typing import Any

from attrs import define, field, frozen

from serq.diagnostics import Diagnostic, Note, Sink
from serq.ir.claim import AtEnd, Claim, EveryIteration, SomeIteration
from serq.ir.expr import Expr, Num, Place
from serq.ir.program import Program
from serq.ir.schedule import Admit, Advance, ExclusivePrefill, ScheduleBranch, ScheduleStatement, SetRegister
from serq.ir.server import (
    Block,
    Branch,
    Choose,
    Drop,
    End,
    Fork,
    Grow,
    Hold,
    Join,
    Load,
    Loop,
    Observe,
    Release,
    Run,
    Set,
    Statement,
    Turn,
    While,
)
from serq.ir.stage import Engine
from serq.ir.workload import Batch, Closed, NoArrivals, Poisson, Renewal, Workload
from serq.lean.bounds import batch_ranges, range_of
from serq.lean.terms import (
    ATOM,
    LARGEST,
    Constant,
    Number,
    Proposition,
    Reader,
    Term,
    as_number,
    as_test,
    both,
    denominator,
    negated,
    scaled,
)
from serq.source import Span

QUANTIFIERS = {EveryIteration: "EveryIteration", SomeIteration: "SomeIteration"}
"""The kinds of claim that have a meaning in `model.lean`."""

DECODES = Proposition("r.decoding = true")


@frozen
class Statement_:
    """A claim, with the proposition that an iteration `i` has to satisfy."""

    claim: Claim
    quantifier: str
    term: str


@frozen
class Fragment:
    """A program that can be stated.

    budget, most: tokens. schedule: for each `advance running` the test of a run `r` among `running`.
    ticks: how many make one unit of the clock, so that all times are whole. execute: ticks, of a
    `batch`. server: (mode, tokens) of every run of a session. arrivals: "renewal" with a gap in
    ticks, or "batch" with a number of sessions.
    """

    engine: Engine
    budget: int
    most: int | None
    schedule: tuple[str, ...]
    ticks: int
    execute: str
    server: tuple[tuple[str, int], ...]
    arrivals: tuple[str, int]
    claims: tuple[Statement_, ...]
