"""The statements that serve runs and admit holds made ready: each becomes a function without arguments.

The schedule around them is written by `stages.scheduling`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

from serq.ir.expr import Expr
from serq.ir.schedule import Admit, Advance, ScheduleBranch
from serq.ir.schedule import ScheduleStatement as Statement
from serq.machine.code import compile_truth, compile_value
from serq.machine.scope import ENGINE_VARIABLES, RUN_VARIABLES, RunScope
from serq.machine.stages.run import Run

if TYPE_CHECKING:
    from serq.machine.stages.engine import EngineMember

Step = Callable[[], None]


class AdvanceCode:
    """`advance running` made ready: `only` and `keys` take a run (or a phase); None if not written."""

    __slots__ = ("keys", "only")

    def __init__(
        self,
        only: Callable[[Any], Any] | None,
        keys: Callable[[Any], tuple[float, ...]] | None,
    ) -> None:
        self.only = only
        self.keys = keys


def clause(engine: EngineMember, e: Expr, drawn: bool = False) -> Callable[[], float]:
    """An expression of the engine's own clauses as a function; `drawn`: it may draw."""
    scope = RunScope(engine.machine, ENGINE_VARIABLES, draws="m.machine_draws" if drawn else None)
    scope.lent["e"] = engine
    return compile_value(e, scope, "", scope.lent)


def exclusive_prefill(engine: EngineMember, statements: Sequence[Statement]) -> Step:
    """The whole of a schedule that begins with `exclusive prefill`."""
    admit = next(s for s in statements if isinstance(s, Admit))
    condition = None if admit.condition is None else clause(engine, admit.condition)
    return lambda: engine.exclusive(condition, admit)


def serving_step(engine: EngineMember, s: Advance | Admit) -> Step:
    """`advance running` or `admit waiting`, with what it says of single runs."""
    allowed = None if s.only is None else _of_run(engine, compile_truth, s.only)
    if isinstance(s, Advance):
        code = AdvanceCode(allowed, _order(engine, s.order, s.keys))
        return lambda: engine.residents.advance(code)
    test = None if s.condition is None else clause(engine, s.condition)
    return lambda: engine.admit(test, allowed, s)


def per_run_expressions(statements: Sequence[Statement]) -> Iterator[Expr]:
    """The expressions of a schedule that are read once for each run: keys and `only`."""
    for s in statements:
        match s:
            case Advance(keys=keys, only=only):
                yield from keys
                if only is not None:
                    yield only
            case Admit(only=only) if only is not None:
                yield only
            case ScheduleBranch(then=then, otherwise=otherwise):
                yield from per_run_expressions(then)
                yield from per_run_expressions(otherwise)


def _of_run(engine: EngineMember, compile: Any, e: Expr) -> Callable[[Run], Any]:
    """A key or predicate as a function of a run."""
    names = {**ENGINE_VARIABLES, **RUN_VARIABLES}
    if engine.requested:
        names["remaining"] = "(r.finish_at - e.tick)"
    scope = RunScope(engine.machine, names, attributes="r.session.attributes", session="r.session")
    scope.lent["e"] = engine
    function: Callable[[Run], Any] = compile(e, scope, "r", scope.lent)
    return function


def _order(
    engine: EngineMember, order: str, keys: tuple[Expr, ...]
) -> Callable[[Run], tuple[float, ...]] | None:
    if order == "decode first":
        return lambda r: (not r.is_decode,)
    if order == "admission" or not keys:
        return None
    read = [_of_run(engine, compile_value, k) for k in keys]
    if len(read) == 1:
        only_key = read[0]
        return lambda r: (only_key(r),)
    return lambda r: tuple(f(r) for f in read)
