"""Resource-fair batching: what a batch whose members' progress differs costs, and how well it can do.

In: lengths of requests in tokens, slots, alpha. Out: numbers and small records. Imports: attrs; scipy
in `optimal` only, when it is asked for. Grows: a quantity of the paper is a function in the file of its
section, with its equation.

Source: Yao and Zhou, "Fair LLM Serving with Balanced Batch Constraints". One step gives each member of a
batch one token; a batch is fair if no two members' progress differs by more than alpha. The policies
are programs, in `examples/papers/yao_zhou`.
"""

from serq.fairness.accounts import (
    Profit,
    alpha_for_cost,
    break_even,
    competitive_ratio,
    externality,
    grouping_bound,
    intrinsic_work,
    makespan,
    pooled,
    pooling_bound,
    split_profit,
)
from serq.fairness.calibrate import Calibration, Candidate, calibrate
from serq.fairness.optimal import exact_makespan, optimal_makespan

__all__ = [
    "Calibration",
    "Candidate",
    "Profit",
    "alpha_for_cost",
    "break_even",
    "calibrate",
    "competitive_ratio",
    "exact_makespan",
    "externality",
    "grouping_bound",
    "intrinsic_work",
    "makespan",
    "optimal_makespan",
    "pooled",
    "pooling_bound",
    "split_profit",
]
