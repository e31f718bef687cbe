"""Words of the language and names it supplies: what a program may not take for its own.

A word means something by its place only, so most declarations may take one; definitions, their
parameters, engines and devices may not, since their names stand where a word could.
"""

from __future__ import annotations

from serq.ir.moments import (
    AGGREGATES,
    BUILT_IN_SIZES,
    BUILT_IN_VALUES,
    FUNCTIONS,
    LAWS,
    OBSERVABLES,
    SUMMARIES,
    VARIABLES,
)

WORDS = frozenset(
    """
    let def use fn device engine on pool stage workload server share queue gauge claim given every
    some iteration of at end arrive poisson renewal closed batch none trace ordered hidden init turn
    session set observe Size Cost run prefill decode growing hold reserve reuse admission cache
    lease grow load drop release branch with else while loop choose in by fork join mark tool
    transfer from to cap block evict lru preempt lifo requeue head tail fifo held spill via when ps
    delay tokens granule state schedule execute advance running admit waiting only first each most
    exclusive maxmin bottleneck link serve nic latency cost sum request step memory budget chunk
    """.split()
)
"""Every word with a meaning somewhere, older ones included."""

CALLABLE = frozenset({*FUNCTIONS, *LAWS, *AGGREGATES, *OBSERVABLES, *SUMMARIES, "cost"})
"""Names that mean something before a parenthesis."""

SUPPLIED = frozenset(
    {
        "inf", "running", "batch", "preempted", "admitted",
        *(name for name in VARIABLES if "." not in name),
        *(name.partition(".")[2] for name in VARIABLES if "." in name and not name.endswith("count")),
    }
)  # fmt: skip
"""Names that an expression reads without a declaration."""

BUILT_IN = frozenset({*BUILT_IN_SIZES, *BUILT_IN_VALUES})
"""Attributes that every session has."""
