"""Aggregates over samples in claims at the end, worked out by hand or by another formula."""

from __future__ import annotations

import random
import statistics

import pytest

import serq

# Sessions 0 to 4 stand in line for a desk that takes 2: done at 2, 4, 6, 8, 10.
LINE = """fn main() {{
  stage desk : fifo;
  workload {{ arrive batch(5); }}
  server {{ run desk (cost(desk, 2)); observe done = now;{more} }}
  claim c: at end ({claim});
}}
"""


def holds(claim: str, more: str = "") -> bool:
    compiled = serq.compile(source=LINE.format(claim=claim, more=more))
    answers = {serq.run(compiled, horizon=20, plain=plain).claim("c").result for plain in (False, True)}
    assert len(answers) == 1 and answers <= {"holds", "fails"}
    return answers == {"holds"}


@pytest.mark.parametrize(
    "claim",
    [
        "mean(done) == 6",
        "stdev(done) == sqrt(10)",
        "quantile(done, 0) == 2",
        "quantile(done, 0.2) == 2",
        "quantile(done, 0.21) == 4",
        "quantile(done, 0.5) == 6",
        "quantile(done, 0.8) == 8",
        "quantile(done, 0.81) == 10",
        "quantile(done, 1) == 10",
        "quantile(done, 1 - 0.5) == 6",
        "share(done <= 6) == 0.6",
        "share(done < 6) == 0.4",
        "share(done > 6) == 0.4",
        "share(done >= 6) == 0.6",
        "share(done == 6) == 0.2",
        "share(done != 6) == 0.8",
        "share(done <= mean(done) + stdev(done)) == 0.8",
        "share(done < largest(done)) == 0.8",
        # the response of a client is when it is done, for all came at 0
        "mean(response) == mean(done) && count(response) == 5",
        "share(response <= 6) >= 0.6",
        "largest(response) == 10 && smallest(response) == 2 && total(response) == 30",
        # nobody got a token
        "count(ttft) == 0 && mean(ttft) == 0 && stdev(ttft) == 0",
        "quantile(tpot, 0.99) == 0 && share(tpot <= 5) == 0",
        # goodput: requests in time per unit of time
        "count(response) * share(response <= 6) / now == 0.15",
    ],
)
def test_what_samples_come_to(claim: str) -> None:
    assert holds(claim)


def test_an_observation_of_the_program_has_the_name_first() -> None:
    assert holds("mean(response) == 3", " observe response = 3;")


def test_one_sample_has_no_spread() -> None:
    assert holds("stdev(one) == 0 && mean(one) == 7", " branch (serial == 0) { observe one = 7; }")


def test_client_times_are_those_of_the_report() -> None:
    source = """fn main() {
      device gpu { }
      engine llm on gpu { tokens cap 4; schedule { advance running; } execute (1 + batch.tokens); }
      workload { arrive poisson(0.05); init { set prompt = 1 + floor(~exp(6)); } }
      server { run llm prefill (cost(llm, prompt)); run llm decode (cost(llm, 5)); }
      claim first: at end (share(ttft <= 10) >= 0.5);
      claim pace: at end (quantile(tpot, 0.9) <= 4);
    }"""
    report = serq.run(serq.compile(source=source), horizon=1e5, arrivals=200)
    ttft, tpot = report.client["ttft"].samples, report.client["tpot"].samples
    assert report.claim("first").result == ("holds" if (ttft <= 10).mean() >= 0.5 else "fails")
    assert report.claim("pace").result == ("holds" if sorted(tpot)[179] <= 4 else "fails")


def test_the_formulas_are_those_of_the_standard_library() -> None:
    drawn = random.Random(5)
    lengths = [round(drawn.gammavariate(2, 30), 6) for _ in range(100)]
    table = " : ".join(f"serial == {i} ? {x}" for i, x in enumerate(lengths))
    more = f" observe length = {table} : 0;"
    source = LINE.replace("batch(5)", "batch(100)")
    for claim, expected in [
        ("mean(length)", statistics.fmean(lengths)),
        ("stdev(length)", statistics.stdev(lengths)),
        ("quantile(length, 0.07)", sorted(lengths)[6]),
        ("quantile(length, 0.5)", sorted(lengths)[49]),
        ("quantile(length, 0.99)", sorted(lengths)[98]),
    ]:
        text = source.format(claim=f"abs({claim} - {expected!r}) < 1e-9", more=more)
        assert serq.run(serq.compile(source=text), horizon=300).claim("c").result == "holds", claim
