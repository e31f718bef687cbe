"""What is asked of every iteration of an engine, and of every session: expressions and their answers.

All questions to one engine are answered by one generated function, as each iteration starts.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from attrs import define

from serq.ir.expr import Expr
from serq.machine.code import Writer, build
from serq.machine.scope import CLAIM_VARIABLES, RunScope
from serq.machine.witness import compile_witness, extremes_of

if TYPE_CHECKING:
    from serq.machine.loop import Machine
    from serq.machine.sessions import Session
    from serq.machine.stages.engine import EngineMember


@define(eq=False)
class Given:
    """What every session must satisfy. broken_by: the first session that does not."""

    value: Expr
    broken_by: int | None = None


@define(eq=False)
class Watch:
    """A question to every iteration of one engine, and its answers so far.

    value: what is asked. some: whether one true answer is looked for, rather than a false one. given:
    nothing is asked once it is broken. premise: what has to be true for `value` to say anything, if
    somebody wants to know whether it ever was.
    checked, failures: answers, and false ones among them. first: when the answer looked for came first;
    witness: in which iteration, and which requests were the extreme ones there, if it is about requests.
    needed: the premise was true.
    """

    value: Expr
    some: bool = False
    given: Given | None = None
    premise: Expr | None = None
    checked: int = 0
    failures: int = 0
    first: float | None = None
    witness: str | None = None
    needed: bool = False


def write_watches(machine: Machine, engine: EngineMember) -> Callable[[], None]:
    """The function that answers all questions to `engine` about the iteration it is about to start."""
    scope = RunScope(machine, CLAIM_VARIABLES)
    scope.lent["e"] = engine
    writer = Writer(scope, "")
    lines = []
    for k, watch in enumerate(engine.watches):
        w = f"w{k}"
        scope.lent[w] = watch
        told = [
            f"t = {writer.truth(watch.value)}",
            f"{w}.checked += 1",
            f"if not t: {w}.failures += 1",
            f"if {'' if watch.some else 'not '}t and {w}.first is None: {w}.first = m.now",
        ]
        if extremes := extremes_of(watch.value):
            scope.lent[f"name{k}"] = compile_witness(extremes, machine, engine)
            told[-1] += f"; {w}.witness = name{k}({w}.checked)"
        if watch.premise is not None:
            told.append(f"if not {w}.needed and {writer.truth(watch.premise)}: {w}.needed = True")
        if watch.given is not None:
            lines.append(f"if {w}.given.broken_by is None:")
            told = [f"    {line}" for line in told]
        lines += told
    source = "".join(writer.subs) + "def watch():\n" + "".join(f"    {line}\n" for line in lines)
    machine.sources[f"claims of {engine.name}"] = source
    look: Callable[[], None] = build(source, "watch", scope.lent)
    return look


def write_givens(machine: Machine, givens: Sequence[Given]) -> Callable[[Session], Any]:
    """The function that looks whether a new session satisfies what is given."""
    scope = RunScope(machine, attributes="s.attributes")
    writer = Writer(scope, "s")
    lines = []
    for k, given in enumerate(givens):
        scope.lent[f"g{k}"] = given
        lines.append(
            f"if g{k}.broken_by is None and not {writer.truth(given.value)}: g{k}.broken_by = s.serial"
        )
    source = "".join(writer.subs) + "def look(s):\n" + "".join(f"    {line}\n" for line in lines)
    look: Callable[[Session], Any] = build(source, "look", scope.lent)
    return look
