"""SQ07xx: what is legal, and looks like a slip (`serq check --pedantic`)."""

from __future__ import annotations

from serq.codes.entry import Code

PEDANTIC = "serq check --pedantic example.sq"

CODES: dict[str, Code] = {
    "SQ0701": Code(
        title="nothing reads the {kind} `{name}`",
        help="delete it, or read it where it was meant",
        why="A number that nobody reads is left over from an earlier version, or was forgotten in a formula.",
        severity="doubt",
        example=PEDANTIC,
    ),
    "SQ0702": Code(
        title="`{item}` is given twice, and this one counts",
        help="keep one of them",
        why="Of a repeated item the last one counts; the earlier one is easily taken for the one in force.",
        severity="doubt",
        example=PEDANTIC,
    ),
    "SQ0703": Code(
        title="{kind} `{name}` does not read the state: it {reads}",
        help="read what it is about: `tokens`, `queue(…)`, `count(…)`, …",
        why="Such a figure says nothing about the system: it would be the same if nobody came.",
        severity="doubt",
        example=PEDANTIC,
    ),
    "SQ0704": Code(
        title="this comparison is always {value}",
        help="compare something that changes, or leave the comparison out",
        why="A test whose result is known before the run decides nothing.",
        severity="doubt",
        example=PEDANTIC,
    ),
    "SQ0705": Code(
        title="the test of this `{statement}` is the constant {value}",
        help="test something that changes, or leave the test out",
        why="A test whose result is known before the run decides nothing.",
        severity="doubt",
        example=PEDANTIC,
    ),
    "SQ0706": Code(
        title="both outcomes of this {what} are the same",
        help="keep one of them, without the test",
        why="A choice between equal things is usually a copy in which the difference was forgotten.",
        severity="doubt",
        example=PEDANTIC,
    ),
    "SQ0707": Code(
        title="`~{law}({parameters})` draws as if {instead}",
        help="write the parameter that counts",
        why="`~erlang` sums a whole number of exponentials, and `~h2` varies at least as much as one.",
        severity="doubt",
        example=PEDANTIC,
    ),
    "SQ0708": Code(
        title="every sample of `{name}` here is {value}",
        help="observe something that changes; `count({name})` counts samples of any value",
        why="The mean of a constant is known before the run.",
        severity="doubt",
        example=PEDANTIC,
    ),
    "SQ0709": Code(
        title="{kind} `{name}` is {unused}",
        help="delete it, or use it where it was meant",
        why="What no session ever uses shapes nothing: its row in the report stays empty.",
        severity="doubt",
        example=PEDANTIC,
    ),
    "SQ0710": Code(
        title="claim `{name}` compares nothing: it is true whenever its value is not 0",
        help="compare the value, as in `share(ttft <= 500) >= 0.99`",
        why="A claim is false when it is 0 and true otherwise; a figure that is bad may be anything but 0.",
        severity="doubt",
        example=PEDANTIC,
    ),
}
