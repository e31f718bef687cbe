"""Absurd programs are refused soon, and in a message that can be read."""

from __future__ import annotations

from time import perf_counter

import pytest

from serq.diagnostics import show_diagnostic
from tests.check.cases import check

LONG = "a" * 300_000
STAGE = "fn main() { stage z : delay; workload { arrive batch(1); } server { run z (cost(z, 1)); } "

ABSURD = {
    "a long name that is unknown": (f"fn main() {{ let {LONG} = 1; gauge g = {LONG}b; }}", "SQ0201"),
    "a long text": ("fn main() { let a = " + "1 + " * 2_500_000 + "1; }", "SQ0107"),
    "nested parentheses": ("fn main() { let a = " + "(" * 100_000 + "1" + ")" * 100_000 + "; }", "SQ0108"),
    "an aggregate over a billion": ("fn main() { let a = sum j in 1e9 (j); }", "SQ0512"),
    "an aggregate without end": ("fn main() { let a = sum j in (inf) (j); }", "SQ0511"),
    "nested aggregates": ("fn main() { let a = sum j in 4096 (sum k in 4096 (k)); }", "SQ0512"),
    "a family of a billion": ("fn main() { stage z[1e9] : delay; }", "SQ0510"),
    "a crowd": (STAGE.replace("batch(1)", "closed(1e12)") + "}", "SQ0531"),
    "a draw of a billion draws": (STAGE.replace("cost(z, 1)", "cost(z, ~erlang(1e9, 1))") + "}", "SQ0536"),
    "a NUL": ("fn main() { let a = 1\0; }", "SQ0101"),
}


@pytest.mark.parametrize("what", ABSURD)
def test_an_absurd_program_is_refused_soon(what: str) -> None:
    source, code = ABSURD[what]
    begun = perf_counter()
    _, errors = check(source)
    assert perf_counter() - begun < 10
    assert errors[0].code == code
    assert all(len(show_diagnostic(e)) < 2_000 for e in errors)


@pytest.mark.parametrize("source", ["\ufefffn main() { }", "fn main() {\r\n\tlet a\t= 1;\r\n}\r\n"])
def test_marks_tabs_and_line_ends_of_all_kinds_are_no_trouble(source: str) -> None:
    _, errors = check(source)
    assert errors == []


def test_a_name_may_be_as_long_as_the_text() -> None:
    program, _ = check(f"fn main() {{ let {LONG} = 1; }}")
    assert program is not None and program.constants[0].name == LONG
