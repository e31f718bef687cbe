"""Options that give inputs their values and definitions their bodies, the same for every command."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import click
from attrs import evolve

from serq.diagnostics import ProgramError
from serq.source import SourceFile, Span
from serq.tools.saying import quiet_option, remark


def read_pairs(what: str) -> Callable[[click.Context, click.Parameter, tuple[str, ...]], dict[str, str]]:
    """Reads repeated NAME=VALUE options; the last of one name counts, which is said."""

    def read(_: click.Context, __: click.Parameter, values: tuple[str, ...]) -> dict[str, str]:
        pairs: dict[str, str] = {}
        for value in values:
            name, equals, text = value.partition("=")
            if not equals or not name.strip().isidentifier() or not text.strip():
                empty = equals and name.strip().isidentifier()
                why = (
                    "has no value: a number, or for a list at least one"
                    if empty
                    else f"is not of the form {what}"
                )
                raise click.BadParameter(f"`{value}` {why}")
            give(pairs, name.strip(), text.strip())
        return pairs

    return read


def give(values: dict[str, str], name: str, value: str) -> None:
    """Add the value of a name; a command may give it again, after a default of a script, say."""
    if values.get(name, value) != value:
        remark(f"note: `{name}` is given more than once: {value} takes the place of {values[name]}")
    values[name] = value


def replacements(command: Callable[..., Any]) -> Callable[..., Any]:
    """The options that replace inputs and definitions, the same for every command."""
    for decorate in (
        click.option(
            "--def", "defs", multiple=True, metavar="NAME=EXPR", callback=read_pairs("NAME=EXPR"),
            help="Replace the body of an expression definition; the last of one name counts.",
        ),
        click.option(
            "--set", "sets", multiple=True, metavar="NAME=VALUE", callback=read_pairs("NAME=VALUE"),
            help="Supply an input declared with args.number: a number or a constant expression; "
            "the last of one name counts.",
        ),
    ):  # fmt: skip
        command = decorate(command)
    return quiet_option(command)


def refused_in_range(error: ProgramError, name: str, value: float, option: SourceFile) -> ProgramError:
    """Complaints about a program in which an input has the value of one end of a range.

    option: what the user wrote, which is shown for complaints about the input itself.
    """
    from serq.check.lists import given_file
    from serq.tools.loading import refused_at

    place = option.text.find(name) + 1
    at = Span(1, place, 1, place + len(name), option.name)
    said = [
        evolve(d, at=at, source=option) if d.at is not None and d.at.file == given_file(name) else d
        for d in error.diagnostics
    ]
    moved = ProgramError(said)
    return moved if any(d.source is option for d in said) else refused_at(moved, name, value)


def named_inputs(words: tuple[str, ...]) -> Iterator[tuple[str, str]]:
    """What follows "--": `--name value` or `--name=value`."""
    rest = iter(words)
    for word in rest:
        name, equals, value = word.removeprefix("--").partition("=")
        if not word.startswith("--") or not name.isidentifier():
            raise click.UsageError(f"unexpected argument `{word}`: inputs are given as -- --NAME VALUE")
        if not equals:
            value = next(rest, "")
        if not value.strip():
            raise click.UsageError(f"the input `{name}` has no value")
        yield name, value
