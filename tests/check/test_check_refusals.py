"""Every refused input of the language is refused for its own fault, at its place, in our words."""

from __future__ import annotations

import re
from types import ModuleType

import pytest

from serq.check import supported
from serq.codes import CODES
from tests.check.cases import Case, check, read_table, refuses

ROWS = list(read_table("rows.txt"))
REFUSED = list(read_table("refused.txt"))
KINDER = list(read_table("kinder.txt"))
SCHEDULING = list(read_table("scheduling.txt"))
ACCEPTED = list(read_table("accepted.txt"))

# Rows in which the second fault is another one: both are told, the first is the row's.
TWO_FAULTS = {91}


@pytest.fixture(autouse=True)
def everything_supported(monkeypatch: pytest.MonkeyPatch) -> None:
    """The rules of the language are tested whether or not the machine runs a construct yet."""
    monkeypatch.setattr(supported, "NOT_YET", {})


@pytest.mark.parametrize("case", ROWS, ids=str)
def test_a_row_is_refused_at_its_place(case: Case) -> None:
    _, errors = check(case.source)
    first = errors[0]
    assert first.at is not None
    assert (first.at.line - case.above, first.at.column) == case.place
    assert first.code.startswith(case.code)
    assert case.says in ("", first.message)
    assert len(errors) == 1 or case.number in TWO_FAULTS


def test_the_rows_are_complete() -> None:
    assert [case.number for case in ROWS] == list(range(1, 157))


@pytest.mark.parametrize("case", [*REFUSED, *KINDER, *SCHEDULING], ids=str)
def test_an_input_is_refused(case: Case) -> None:
    _, errors = check(case.source)
    first = errors[0]
    assert first.at is not None
    assert first.code == case.code
    assert (first.at.line - case.above, first.at.column) == case.place
    assert {error.code for error in errors} == {case.code}


@pytest.mark.parametrize("case", ACCEPTED, ids=str)
def test_an_input_is_accepted(case: Case) -> None:
    program, errors = check(case.source)
    assert program is not None, errors


@pytest.mark.parametrize("case", [*ROWS, *REFUSED], ids=str)
def test_the_reference_refuses_it_too(case: Case, reference: ModuleType) -> None:
    said = refuses(reference, case.source)
    assert said
    # where the reference names a place in a row, ours is the same
    place = re.match(r"(\d+):(\d+): ", said)
    if case.number and place and case.number != 117:
        assert (int(place[1]) - case.above, int(place[2])) == case.place


@pytest.mark.parametrize("case", [*ACCEPTED, *KINDER], ids=str)
def test_the_reference_accepts_it_too(case: Case, reference: ModuleType) -> None:
    assert refuses(reference, case.source) == ""


ELSEWHERE = {
    "SQ0214": "expansion", "SQ0215": "expansion", "SQ0254": "inputs", "SQ0255": "inputs",
    "SQ0256": "inputs", "SQ0259": "inputs", "SQ0280": "ir", "SQ0281": "ir", "SQ0290": "inputs",
    "SQ0560": "expansion", "SQ0561": "expansion", "SQ0309": "samples", "SQ0313": "samples",
    "SQ0538": "samples", "SQ0539": "samples", "SQ0544": "samples", "SQ0545": "samples",
    "SQ0546": "samples",
    **{f"SQ029{n}": "requests" for n in range(1, 10)},
}  # fmt: skip
"""Codes without an input in the tables -> the file of tests that has one."""


def test_every_code_of_the_checker_has_an_input() -> None:
    codes = {code for code in CODES if code[:4] in {"SQ02", "SQ03", "SQ04", "SQ05"}}
    shown = {case.code for case in [*ROWS, *REFUSED, *KINDER, *SCHEDULING]}
    assert codes - shown == set(ELSEWHERE)
