"""Claims that hold only because their premise never came true."""

from __future__ import annotations

import json

import pytest

import serq
from serq.report import report_to_json, show_report
from serq.report.show_replications import show_replications

PROGRAM = """\
fn main() {
  device gpu { }
  engine e on gpu { tokens cap 4; schedule { advance running; } execute (1); }
  workload { arrive batch(3); }
  server { run e prefill (cost(e, 5)); observe done = now; branch (serial > 9) { observe never = now; } }
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


@pytest.mark.parametrize(
    "claim",
    [
        "quantile(never, 0.99) <= 5",
        "count(done) == 3 && mean(never) <= 1",
        "largest(never) <= 5",
        "smallest(never) >= 0",
        "share(never > 5) <= 0.01",
        "!(stdev(never) > 1)",
        "abs(mean(never) - largest(never)) == 0",
        "count(done) == 9 || mean(never) <= 1",
    ],
)
def test_what_holds_of_no_sample_is_told(claim: str) -> None:
    report = run(f"at end ({claim})", False)
    line = "vacuous: claim c holds only because there is no sample of never"
    assert line in show_report(report).splitlines()
    assert json.loads(report_to_json(report))["claims"][0]["note"] is None
    asked = json.loads(report_to_json(run(f"at end ({claim.removeprefix('count(done) == 9 || ')})", True)))
    assert asked["claims"][0]["note"] == "holds only because there is no sample of never"


@pytest.mark.parametrize(
    "claim",
    [
        "count(never) == 0",
        "total(never) <= 5",
        "mean(done) <= 50",
        "count(never) == 0 || mean(never) <= 5",
        "count(done) == 3 || mean(never) <= 5",
        "share(never <= 5) >= 0.99",
    ],
)
def test_what_needs_no_sample_of_it_is_not_told(claim: str) -> None:
    assert "vacuous" not in show_report(run(f"at end ({claim})", False))


def test_runs_of_many_seeds_tell_it_together() -> None:
    program = serq.compile(source=PROGRAM.replace("CLAIM", "at end (mean(never) <= 5)"))
    text = show_replications(serq.replicate(program, horizon=100, seeds=3))
    assert "vacuous: claim c holds in 3 of 3 runs only because there is no sample of never" in text
