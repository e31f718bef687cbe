"""Constants and inputs get their values, in the order of their lines."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

from serq.check.complaints import Complaints
from serq.check.expand import ParseExpression
from serq.check.expressions import Expressions
from serq.check.lists import Given, given_file, given_list, list_values
from serq.diagnostics import Note
from serq.ir.program import Constant, Input, NumberList
from serq.source import SourceFile, Span
from serq.spelling import closest
from serq.syntax import tree

MOST_NAMED = 12
"""Inputs that a complaint about another name lists."""

LIBRARIES = ("std/args", "std/kvt")


def fold_constants(
    before: Sequence[tree.Item],
    items: Sequence[tree.Item],
    x: Expressions,
    given: Mapping[str, Given],
    parse_expression: ParseExpression,
) -> tuple[tuple[Constant, ...], tuple[Input, ...], tuple[NumberList, ...]]:
    """The values of all constants and lists, kept in `x.names` too.

    before: items above `fn main()`. given: values for inputs by external name, a number or the text
    of a constant expression over earlier constants; for lists several of them.
    """
    complaints = x.complaints
    constants: dict[str, Constant] = {}
    inputs: dict[str, Input] = {}
    lists: dict[str, NumberList] = {}
    externals: dict[str, Span | None] = {}
    imported: set[str] = set()
    for order, item in enumerate((*before, *items)):
        match item:
            case tree.Import(path=path):
                if path.text not in LIBRARIES:
                    complaints.say("SQ0250", item.at, path=path.text)
                imported.add(path.text)
            case tree.Let(name=name):
                value = constant_value(item.value, order, x, item.at, name.text)
                keep(constants, x, name, order, value, item.at)
            case tree.ListLet(name=name):
                numbers = list_values(item.values, order, x, name.text)
                lists[name.text] = keep_list(x, name, order, numbers, None)
            case tree.ListInput(name=name, external=external):
                check_input(item, imported, order < len(before), externals, complaints)
                numbers = list_values(item.values, order, x, name.text)
                if external.text in given:
                    wanted_list = given_list(external.text, given[external.text], order, x, parse_expression)
                    numbers = numbers if wanted_list is None else wanted_list
                lists[name.text] = keep_list(x, name, order, numbers, external.text)
            case tree.Input(name=name, external=external):
                check_input(item, imported, order < len(before), externals, complaints)
                value = constant_value(item.default, order, x, item.at, name.text)
                if external.text in given:
                    wanted = given_value(external.text, given, order, x, parse_expression)
                    # what reads a refused one meets the default, about which there is nothing to say
                    value = value if wanted is None else wanted
                keep(constants, x, name, order, value, item.at)
                number = 0.0 if value is None else value
                inputs[external.text] = Input(name.text, external.text, number, at=external.at)
            case _:
                pass
    for unknown in given:
        if unknown not in externals:
            refuse_input(unknown, given, constants, externals, complaints)
    return tuple(constants.values()), tuple(inputs.values()), tuple(lists.values())


def check_input(
    item: tree.Input | tree.ListInput,
    imported: set[str],
    outside: bool,
    externals: dict[str, Span | None],
    complaints: Complaints,
) -> None:
    """An input stands in `main` under `use "std/args"`, and has an external name of its own."""
    external = item.external
    if "std/args" not in imported or outside:
        complaints.missing("SQ0251", item.mark)
    if not external.text.isidentifier():
        complaints.say("SQ0252", external.at, external=external.text)
    elif external.text in externals:
        note = Note("it is declared here", externals[external.text])
        complaints.say("SQ0253", after(external.at), external=external.text, notes=[note])
    externals[external.text] = external.at


def keep_list(
    x: Expressions, name: tree.Name, order: int, numbers: tuple[float, ...] | None, external: str | None
) -> NumberList:
    """Note a list; what reads a wrong one, which is kept as a single NaN, stays silent."""
    values = (math.nan,) if numbers is None else numbers
    x.names.lists.add(name.text, order, values, name.at)
    return NumberList(name.text, values, external, at=name.at)


def keep(
    constants: dict[str, Constant],
    x: Expressions,
    name: tree.Name,
    order: int,
    value: float | None,
    at: Span,
) -> None:
    """Note a constant; what reads a wrong one, which is kept as NaN, stays silent."""
    number = math.nan if value is None else value
    if name.text in constants:
        note = Note("an earlier one is here", constants[name.text].at)
        x.complaints.say("SQ0290", at, name=name.text, notes=[note])
    x.names.constants.add(name.text, order, number, name.at)
    constants[name.text] = Constant(name.text, number, at=name.at)


def constant_value(e: tree.Expr, order: int, x: Expressions, at: Span, name: str) -> float | None:
    """The value of a `let`'s expression; None when it has none, which is then already said."""
    value = x.constant(e, order)
    if value is not None and value != value:
        x.complaints.say("SQ0513", at, name=name)
        return None
    return value


def given_value(
    external: str,
    given: Mapping[str, Given],
    order: int,
    x: Expressions,
    parse_expression: ParseExpression,
) -> float | None:
    """The value that an input was given from outside."""
    written = given[external]
    text = written if isinstance(written, str) else show_given(written)
    source = SourceFile(given_file(external), text)
    at = Span(1, 1, 1, 1 + len(text), source.name)
    x.complaints.sink.sources.setdefault(source.name, source)
    if isinstance(written, Sequence) and not isinstance(written, str):
        cure = f"give one number: only an input declared with `args.numbers` is a list, not {external}"
        x.complaints.say("SQ0513", at, name=external, help=cure)
        return None
    if not isinstance(written, str):
        value: float | None = float(written)
    else:
        expression = parse_expression(source, x.complaints.sink)
        value = None if expression is None else x.constant(expression, order)
    if value is not None and value != value:
        x.complaints.say("SQ0513", at, name=external)
        return None
    return value


def refuse_input(
    external: str,
    given: Mapping[str, Given],
    constants: Mapping[str, Constant],
    externals: Mapping[str, Span | None],
    complaints: Complaints,
) -> None:
    """Say that there is no input of this name."""
    written = given[external]
    text = written if isinstance(written, str) else show_given(written)
    source = SourceFile(given_file(external), text)
    complaints.sink.sources.setdefault(source.name, source)
    at = Span(1, 1, 1, 1 + len(text), source.name)
    if external in constants:
        note = Note(f"`{external}` is declared here", constants[external].at)
        complaints.say("SQ0255", at, name=external, notes=[note])
        return
    if externals and closest(external, externals) is None:
        shown = [f"`{name}`" for name in externals]
        inputs = ", ".join(shown[:MOST_NAMED]) + (", …" if len(shown) > MOST_NAMED else "")
        complaints.say("SQ0254", at, name=external, help=f"its inputs are {inputs}")
    else:
        complaints.unknown("SQ0254", external, at, externals)


def show_given(given: float | Sequence[float]) -> str:
    """What an input was given, as text."""
    return ", ".join(map(repr, given)) if isinstance(given, Sequence) else repr(float(given))


def after(at: Span) -> Span:
    """The place just behind a piece of text."""
    return Span(at.end_line, at.end_column, at.end_line, at.end_column + 1, at.file)
