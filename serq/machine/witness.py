"""Who decided a claim about requests: the largest and the least ones in the iteration that did."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING

from serq.ir.expr import Expr, Survey, children
from serq.machine.code import Writer, build
from serq.machine.scope import CLAIM_VARIABLES, RunScope
from serq.machine.surveys import fold_max, fold_min, write_values
from serq.values import show

if TYPE_CHECKING:
    from serq.machine.loop import Machine
    from serq.machine.stages.engine import EngineMember

Found = tuple[Survey, float, "int | None"]
"""An aggregate, its value, and the number of the first session that has it."""


def extremes_of(e: Expr) -> list[Survey]:
    """The `max` and `min` over requests that a claim compares, those within others left out."""
    if isinstance(e, Survey):
        return [e] if e.kind in ("max", "min") else []
    return [survey for part in children(e) for survey in extremes_of(part)]


def show_witness(iteration: int, found: Iterable[Found]) -> str:
    """`iteration 3: max over batch is 4 (session 0), min over batch is 1 (session 2)`."""
    parts = [
        f"{survey.kind} over {survey.among} is {show(value)}"
        + ("" if serial is None else f" (session {serial})")
        for survey, value, serial in found
    ]
    return f"iteration {iteration}: {', '.join(parts)}"


def compile_witness(
    surveys: Sequence[Survey], machine: Machine, engine: EngineMember
) -> Callable[[int], str]:
    """A function that says, of the iteration that is about to start, who is extreme."""
    look: list[Callable[[], list[tuple[float, int]]]] = []
    for survey in surveys:
        scope = RunScope(machine, CLAIM_VARIABLES)
        scope.lent["e"] = engine
        writer = Writer(scope, "")
        body = write_values(survey, scope, writer)
        source = "".join(writer.subs) + f"def values():\n    return {body}\n"
        look.append(build(source, "values", scope.lent))

    def tell(iteration: int) -> str:
        found: list[Found] = []
        for survey, values in zip(surveys, (read() for read in look), strict=True):
            extreme = (fold_max if survey.kind == "max" else fold_min)([value for value, _ in values])
            serial = next((serial for value, serial in values if value == extreme), None)
            found.append((survey, extreme, serial))
        return show_witness(iteration, found)

    return tell
