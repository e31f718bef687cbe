"""What a stream brings and what an engine can do, told from the program without running it."""

from __future__ import annotations

from serq.check import fold
from serq.ir.expr import Binary, Conditional, Draw, Expr, Fold, Func, Num, Unary, Var
from serq.ir.laws import law_mean
from serq.ir.program import Program
from serq.ir.stage import Engine
from serq.ir.workload import Poisson, Renewal, Slotted

LARGEST_BUDGET = 65_536
"""Tokens; of a larger budget the bound is not looked for, since every batch is tried."""


def arrival_rate(program: Program) -> float | None:
    """Sessions per unit of time in the long run; None when it cannot be told from the program."""
    match program.workload.arrival if program.workload is not None else None:
        case Poisson(rate=rate):
            return rate
        case Renewal(gap=gap):
            mean = expected(gap)
            return 1 / mean if mean else None
        case Slotted(slot=slot, count=count):
            mean = expected(count)
            return None if mean is None else mean / slot
    return None


def expected(e: Expr) -> float | None:
    """The expectation of an expression of numbers and draws with constant parameters, if it is plain:
    sums, and products and quotients with numbers; None otherwise."""
    match e:
        case Num(value=value):
            return value
        case Draw(law=law, arguments=arguments) if all(isinstance(a, Num) for a in arguments):
            return law_mean(law, [a.value for a in arguments if isinstance(a, Num)])
        case Binary(operator="+" | "-" as sign, left=left, right=right):
            a, b = expected(left), expected(right)
            return None if a is None or b is None else a + b if sign == "+" else a - b
        case Binary(operator="*", left=Num(value=by), right=other):
            mean = expected(other)
            return None if mean is None else by * mean
        case Binary(operator="*" | "/" as sign, left=other, right=Num(value=by)) if by != 0:
            mean = expected(other)
            return None if mean is None else mean * by if sign == "*" else mean / by
    return None


def most_tokens_per_time(program: Program) -> float | None:
    """The token-rate bound: max over b up to the budget of b / (time of a batch of b tokens).

    No schedule computes more than that. None when the program has other than one engine, or when its
    budget is not a number or the time of a batch depends on more than its tokens.
    Source: the rate b_max/t_bmax of Dai, Deng, Li and Peng, arXiv 2504.07347, for any shape of the time.
    """
    engines = [stage for stage in program.stages if isinstance(stage, Engine)]
    if len(engines) != 1 or engines[0].size is not None:
        return None
    budget, execute = engines[0].tokens_cap, engines[0].execute
    if not isinstance(budget, Num) or not 1 <= budget.value <= LARGEST_BUDGET:
        return None
    best = 0.0
    for tokens in range(1, int(budget.value) + 1):
        lasts = fold.constant(_of_batch(execute, Num(float(tokens))))
        if lasts is None:
            return None
        if lasts > 0:
            best = max(best, tokens / lasts)
    return best or None


def _of_batch(e: Expr, tokens: Num) -> Expr:
    """An expression with a number for `batch.tokens`: a number, if it reads nothing else."""
    match e:
        case Var(name="batch.tokens"):
            return tokens
        case Unary(operator=operator, operand=operand):
            return fold.unary(operator, _of_batch(operand, tokens))
        case Binary(operator=operator, left=left, right=right):
            return fold.binary(operator, _of_batch(left, tokens), _of_batch(right, tokens))
        case Conditional(test=test, then=then, otherwise=otherwise):
            a, b = _of_batch(then, tokens), _of_batch(otherwise, tokens)
            return fold.conditional(_of_batch(test, tokens), a, b)
        case Func(function=function, arguments=arguments):
            return fold.func(function, [_of_batch(a, tokens) for a in arguments])
        case Fold(kind=kind, terms=terms):
            return fold.aggregate(kind, [_of_batch(t, tokens) for t in terms])
    return e
