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
    OBSERVABLES,
    VARIABLES,
)

WORDS = frozenset(
    {
        "admission", "admit", "advance", "arrive", "at", "batch", "block", "bottleneck", "branch",
        "budget", "by", "cache", "cap", "choose", "chunk", "claim", "closed", "cost", "Cost",
        "decode", "def", "delay", "device", "drop", "each", "else", "end", "engine", "every",
        "evict", "exclusive", "execute", "fifo", "first", "fn", "fork", "from", "gauge", "given",
        "granule", "grow", "growing", "head", "held", "hidden", "hold", "in", "init", "iteration",
        "join", "latency", "lease", "let", "lifo", "link", "load", "loop", "lru", "mark", "maxmin",
        "memory", "most", "nic", "none", "observe", "of", "on", "only", "ordered", "poisson",
        "pool", "preempt", "prefill", "ps", "queue", "release", "renewal", "request", "requeue",
        "reserve", "reuse", "run", "running", "schedule", "serve", "server", "session", "set",
        "share", "Size", "some", "spill", "stage", "state", "step", "sum", "tail", "to", "tokens",
        "tool", "trace", "transfer", "turn", "use", "via", "waiting", "when", "while", "with",
        "workload",
    }
)  # fmt: skip
"""Every word with a meaning somewhere, older ones included."""

CALLABLE = frozenset(
    {
        *FUNCTIONS, *AGGREGATES, *OBSERVABLES, "cost", "total", "count", "largest", "smallest",
        "prefix_total", "exp", "det", "uniform", "erlang", "h2", "bernoulli",
    }
)  # fmt: skip
"""Names that mean something before a parenthesis and that no definition may have.

Laws and summaries that came to the language later are not among them: a law stands after `~` only, and
a definition `mean` is the program's own.
"""

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
