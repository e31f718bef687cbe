"""What has no meaning stops a run, with its place, its time and the session."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

import serq
from serq.machine.plain.loop import run_plain
from serq.machine.run import run_program
from serq.machine.settings import Settings

PROGRAM = """\
fn main() {
  device gpu { }
  engine e on gpu { tokens cap CAP; schedule { advance running; } execute (1); }
  pool seats { cap 9; }
  stage z : delay;
  workload { arrive renewal(GAP); init { INIT } }
  server { run z (cost(z, 1)); SERVER }
}
"""

FAULTS = [
    ("SQ0608", "4 - 3", {"CAP": "4 - 3 * queue(e)", "SERVER": "run e prefill (cost(e, 5));"}, "at time 9"),
    (
        "SQ0608",
        "(queue(e)",
        {"CAP": "(queue(e) - 1) / 0", "SERVER": "run e prefill (cost(e, 5));"},
        "at time 5",
    ),
    ("SQ0621", "~exp", {"SERVER": "set x = ~exp(1 - serial);"}, "at time 13, session 2"),
    ("SQ0621", "~uniform", {"SERVER": "set x = ~uniform(serial, 1);"}, "at time 13, session 2"),
    ("SQ0621", "~erlang", {"INIT": "set x = ~erlang(2 - serial, 1);"}, "at time 12, session 2"),
    ("SQ0621", "~h2", {"SERVER": "set x = ~h2(1, serial / serial);"}, "at time 5, session 0"),
    ("SQ0621", "serial / 2", {"SERVER": "branch with (serial / 2) { }"}, "at time 17, session 3"),
    ("SQ0621", "~exp(~det", {"GAP": "~exp(~det(-1))"}, "at time 0"),
    (
        "SQ0621",
        "~exp(1 - q",
        {"CAP": "4 + ~exp(1 - queue(e))", "SERVER": "run e decode (cost(e, 9));"},
        "at time 9",
    ),
    ("SQ0622", "observe", {"SERVER": "observe a = serial / serial;"}, "at time 5, session 0"),
    ("SQ0622", "observe", {"INIT": "observe a = serial / serial;"}, "at time 4, session 0"),
    (
        "SQ0623",
        "serial / serial",
        {"SERVER": "hold seats (cost(seats, 1)) { run z (cost(z, 1)); } lease seats (serial / serial);"},
        "at time 6, session 0",
    ),
    ("SQ0624", "renewal", {"GAP": "~uniform(0, 1e-13)"}, "at time"),
]


@pytest.mark.parametrize("run", [run_program, run_plain])
@pytest.mark.parametrize(("code", "word", "parts", "when"), FAULTS)
def test_what_has_no_meaning_stops_the_run(
    run: Callable[..., Any], code: str, word: str, parts: dict[str, str], when: str
) -> None:
    source = PROGRAM
    for slot, text in {"CAP": "4", "GAP": "4", "INIT": "", "SERVER": "", **parts}.items():
        source = source.replace(slot, text)
    program = serq.compile(source=source)
    with pytest.raises(serq.ProgramError) as caught:
        run(program, Settings(100.0, 0.0, 1, None))
    (said,) = caught.value.diagnostics
    assert said.code == code
    assert when in said.message
    line, column = next((i, t.index(word) + 1) for i, t in enumerate(source.split("\n"), 1) if word in t)
    assert said.at is not None and (said.at.line, said.at.column) == (line, column)


def test_what_a_law_allows_at_its_edge_is_drawn() -> None:
    server = (
        "observe a = ~exp(0) + ~uniform(2, 2) + ~erlang(1, 0) + ~h2(0, 0.5) + ~bernoulli(1) + ~bernoulli(0);"
    )
    source = PROGRAM.replace("CAP", "4").replace("GAP", "4").replace("INIT", "").replace("SERVER", server)
    assert serq.run(serq.compile(source=source), horizon=50).observes["a"].mean == 3
