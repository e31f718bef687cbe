"""Draws, and aggregates over the samples of an observation: what reads a law or a column of numbers."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from serq.check import fold
from serq.check.complaints import Complaints
from serq.check.fold import is_poison
from serq.check.show import count, number
from serq.ir.expr import COMPARISONS, Draw, Expr, Summary
from serq.ir.moments import CLIENT_TIMES, FORMS, LAWS
from serq.source import Span
from serq.syntax import tree

Lower = Callable[[tree.Expr], Expr]
"""An expression of the tree as one of the program, or `POISON`."""


def lower_draw(e: tree.Draw, lower: Lower, complaints: Complaints) -> Draw | None:
    """A random value; None when something is wrong with it, which is then said."""
    law = e.law.text
    if law not in LAWS:
        complaints.unknown("SQ0205", law, e.law.at, dict.fromkeys(LAWS))
        return None
    form = "table" if e.chances else "empirical" if e.file is not None else law
    wanted = LAWS[law]
    if form != law or (law in FORMS and not (e.chances or e.file)):
        plain = f"~{law}({', '.join('x' * (wanted or 0))})"
        complaints.say("SQ0309", e.at, law=law, form=FORMS.get(law, plain))
        return None
    if wanted is not None and not takes(complaints, f"~{law}", wanted, len(e.arguments), e.at):
        return None
    parts = e.arguments
    if e.chances:
        parts = tuple(part for pair in zip(e.arguments, e.chances, strict=True) for part in pair)
    arguments = tuple(lower(part) for part in parts)
    if any(is_poison(a) for a in arguments):
        return None
    return Draw(law, arguments, None if e.file is None else e.file.text, at=e.at)


def lower_summary(
    e: tree.Call, observes: Mapping[str, Span], lower: Lower, complaints: Complaints
) -> Summary | None:
    """An aggregate over the samples of an observation, or of a client time that no observation has the
    name of; None when something is wrong with it, which is then said."""
    name = e.name.text
    if not takes(complaints, name, 2 if name == "quantile" else 1, len(e.arguments), e.at):
        return None
    first, *rest = e.arguments
    operator: str | None = None
    argument: Expr | None = None
    if name == "share":
        test = first
        if not isinstance(test, tree.Binary) or test.operator not in COMPARISONS:
            complaints.say("SQ0313", test.at)
            return None
        operator, first, rest = test.operator, test.left, [test.right]
    if not isinstance(first, tree.Reference) or first.index is not None:
        if name == "share":
            complaints.say("SQ0313", first.at)
        else:
            complaints.say("SQ0307", first.at, function=name, kind="an observation")
        return None
    observation = first.name.text
    if first.member is not None:
        observation += f".{first.member.text}"
    if observation not in observes and observation not in CLIENT_TIMES:
        if observation:
            known = {**dict.fromkeys(CLIENT_TIMES), **observes}
            complaints.unknown("SQ0208", observation, first.at, known)
        return None
    if rest:
        argument = lower(rest[0])
        if is_poison(argument):
            return None
    if name == "quantile" and fold.constant(argument) is None:
        complaints.say("SQ0546", e.arguments[1].at, value="something that changes")
        return None
    return Summary(name, observation, operator, argument, at=e.at)


def check_quantile(summary: Summary, complaints: Complaints) -> None:
    """A quantile is taken at a number from 0 to 1."""
    at = fold.constant(summary.argument)
    if summary.function == "quantile" and at is not None and not 0 <= at <= 1:
        place = summary.argument.at if summary.argument is not None else None
        complaints.say("SQ0546", place or summary.at, value=number(at))


def takes(complaints: Complaints, name: str, wanted: int, got: int, at: Span) -> bool:
    """Whether a call has as many arguments as it needs; complains if not."""
    if wanted == got:
        return True
    complaints.say("SQ0301", at, name=name, takes=count(wanted, "argument"), got=got)
    return False
