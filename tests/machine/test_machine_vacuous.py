"""Claims that hold only because their premise never came true."""

from __future__ import annotations

import json

import pytest

import serq
from serq.report import report_to_json, show_report

PROGRAM = """\
fn main() {
  device gpu { }
  engine e on gpu { tokens cap 4; schedule { advance running; } execute (1); }
  workload { arrive batch(3); }
  server { run e prefill (cost(e, 5)); observe done = now; }
  claim c: CLAIM;
}
"""


def run(claim: str, pedantic: bool) -> serq.Report:
    return serq.run(
        serq.compile(source=PROGRAM.replace("CLAIM", claim)), horizon=100, arrivals=None, pedantic=pedantic
    )


@pytest.mark.parametrize(
    "claim",
    [
        "every iteration of e (!(demand > 99) || tokens == 4)",
        "every iteration of e (demand <= 99 || tokens == 4)",
        "every iteration of e (demand <= 99 || decoders == 0 || tokens == 4)",
        "every iteration of e (demand > 99 ? tokens == 4 : 1)",
        "every iteration of e (demand <= 99 ? 1 : tokens == 4)",
        "at end (count(done) < 9 || total(done) > 5)",
    ],
)
def test_a_premise_that_never_came_true_is_told(claim: str) -> None:
    plain, asked = run(claim, False), run(claim, True)
    assert plain.claim("c").result == asked.claim("c").result == "holds"
    assert plain.claim("c").note is None
    line = "vacuous: claim c holds only because its premise never came true"
    assert line in show_report(asked).splitlines()
    assert "vacuous" not in show_report(plain)
    note = json.loads(report_to_json(asked))["claims"][0]["note"]
    assert note == "holds only because its premise never came true"


@pytest.mark.parametrize(
    "claim",
    [
        "every iteration of e (demand < 4 || tokens == 4)",
        "every iteration of e (demand >= 4 ? tokens == 4 : 1)",
        "every iteration of e (tokens <= 4)",
        "every iteration of e (demand > 9 ? tokens == 4 : tokens > 0)",
        "at end (count(done) < 3 || total(done) > 5)",
        "some iteration of e (demand > 99 || tokens == 4)",
        "every iteration of e (demand > 99 && tokens == 4)",
        "every iteration of e (demand > 99 || tokens == 4)",
    ],
)
def test_other_claims_are_reported_as_ever(claim: str) -> None:
    assert show_report(run(claim, True)) == show_report(run(claim, False))
    assert report_to_json(run(claim, True)) == report_to_json(run(claim, False))
