"""Inputs of the checker's tests: read from the tables in `data`, put into a program, checked."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path

from attrs import frozen

from serq.check import check_program
from serq.diagnostics import Diagnostic, Sink
from serq.ir.program import Program
from serq.source import SourceFile
from serq.syntax.parse import parse_expression, parse_program

DATA = Path(__file__).parent / "data"

PROGRAMS = {
    "F": "@",
    "M": """\
fn main() {
  device gpu { }
  engine e on gpu { tokens cap 4;
    schedule { advance running; } execute (1); }
  pool p { cap 4; }
  stage z : delay;
  workload { arrive batch(2); init { set t0 = now; } }
  server { run e prefill (cost(e, 3)); observe d = now - t0; }
@
}
""",
    "E": """\
fn main() {
  device gpu { f (t) = 2 * t; kv cap 8; }
  pool kv on gpu { }
  engine e on gpu {
@
  }
  workload { arrive batch(2); init { set t0 = now; } }
  server { run e prefill (cost(e, 3)); observe d = now - t0; }
}
""",
    "S": """\
fn main() {
  device gpu { kv cap 12; }
  engine e on gpu { reqs cap 2; tokens cap 4;
    schedule { advance running;
      admit waiting while (running.preempted == 0); }
    execute (1); }
  pool kv on gpu { preempt lifo; }
  pool reqs on e { }
  pool p { cap 4; }
  pool fam[2] { cap 4; }
  stage z : delay;
  stage q : ps(1);
  workload { arrive batch(2); hidden o; init { set o = 1; } }
  server {
@
  }
}
""",
    "W": """\
fn main() {
  device gpu { }
  engine e on gpu { tokens cap 4;
    schedule { advance running; } execute (1); }
  stage z : delay;
  server { run e prefill (cost(e, 3)); observe d = now; }
  workload {
@
  }
}
""",
}
"""Slot -> a program in which `@` is the line of the input."""


@frozen
class Case:
    """An input with the code and place that refuse it; `place` counts lines of the input.

    says: the message, "" where only the code is looked at. number: in the table of rows.
    """

    slot: str
    text: str
    code: str = ""
    place: tuple[int, int] = (0, 0)
    says: str = ""
    number: int = 0

    @property
    def above(self) -> int:
        """Lines of the program above the input."""
        return PROGRAMS[self.slot].partition("@")[0].count("\n")

    @property
    def source(self) -> str:
        """The whole program."""
        return PROGRAMS[self.slot].replace("@", self.text)

    def __str__(self) -> str:
        return f"{self.number or self.code or self.slot} {self.text[:60]}"


def read_table(name: str) -> Iterator[Case]:
    """The cases of a table; blank lines and headings separate them."""
    code = ""
    for line in (DATA / name).read_text(encoding="utf-8").splitlines():
        if line.startswith("## SQ"):
            code = line[3:]
        if not line or line.startswith("#"):
            continue
        # one blank stands on either side of the bar; any other belongs to the input
        head, text, *says = (line.replace("⏎", "\n") + " ").split("│")
        text = text[1:-1]
        match head.split():
            case [number, slot, place, row_code]:
                yield Case(slot, text, row_code, read_place(place), "".join(says).strip(), int(number))
            case [slot, place]:
                yield Case(slot, text, code, read_place(place))
            case [slot]:
                yield Case(slot, text)
            case _:
                raise AssertionError(f"not a line of a table: {line}")


def read_place(text: str) -> tuple[int, int]:
    line, _, column = text.partition(":")
    return int(line), int(column)


def check(
    source: str,
    *,
    sets: Mapping[str, str | float] | None = None,
    defs: Mapping[str, str] | None = None,
) -> tuple[Program | None, list[Diagnostic]]:
    """The program of a text, or None, with the complaints that refuse it."""
    sink = Sink()
    parsed = parse_program(SourceFile("test.sq", source), sink)
    program = check_program(
        parsed.tree,
        sink,
        sets=sets,
        defs=defs,
        skipped=parsed.skipped,
        complete=parsed.complete,
        parse_expression=parse_expression,
    )
    assert (program is None) == bool(sink.errors)
    return program, sink.errors


def places(diagnostics: list[Diagnostic]) -> list[tuple[str, int, int]]:
    """Code, line and column of each."""
    return [(d.code, d.at.line, d.at.column) if d.at else (d.code, 0, 0) for d in diagnostics]


def refuses(reference: object, source: str) -> str:
    """What the reference implementation says about a program, "" if it accepts it."""
    try:
        reference.compile(None, source=source, horizon=10.0)  # type: ignore[attr-defined]
    except Exception as error:
        return str(error)
    return ""
