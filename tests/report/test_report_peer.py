"""Our formulas on the samples of the reference implementation, against the figures it makes of them.

Left out where it is not installed.
"""

from __future__ import annotations

import json
from array import array

import numpy as np
import pytest

from serq.machine.records import Samples, Series
from serq.report import stats
from serq.report.make import summarize_gauge, summarize_samples

CHUNKED = """
let bmax = 128;
fn main() {
  device gpu { compute (t) = 3547 * ceil(t / 128); }
  engine e on gpu {
    tokens cap bmax;
    schedule { advance running by (admission); admit waiting while (running.preempted == 0); }
    execute (1128 + compute(batch.tokens));
  }
  workload { arrive renewal(46750); init { set t0 = now; } }
  server {
    run e prefill (cost(e, 290));
    run e decode (cost(e, 990));
    observe response = now - t0;
  }
  gauge jobs = queue(e);
}
"""

DRAWN = """
fn main() {
  stage desk : fifo;
  workload { arrive poisson(0.8); init { set t0 = now; } }
  server {
    run desk (cost(desk, ~exp(1)));
    observe sojourn = now - t0;
    observe slow = now - t0 > 10;
  }
  gauge line = queue(desk);
  gauge level = 0.01;
}
"""


def agrees(ours, theirs):
    """Equal to a relative 1e-9: the order of summation is nobody's promise."""
    return ours == theirs if theirs is None else ours == pytest.approx(theirs, rel=1e-9, abs=1e-12)


@pytest.fixture
def run(reference):
    """Runs a program's text on the reference implementation."""

    def run(source, horizon, warmup=0.0):
        return reference.run(reference.compile(source=source, horizon=horizon, warmup=warmup, seed=1))

    return run


@pytest.mark.parametrize(
    ("source", "horizon", "warmup"),
    [
        (CHUNKED, 5e6, 0.0),
        (CHUNKED, 5e6, 123_456.0),
        (DRAWN, 2_000.0, 0.0),
        (DRAWN, 300.0, 77.0),
        (DRAWN, 30.0, 0.0),
    ],
)
def test_samples_and_gauges_come_to_the_same_figures(run, source, horizon, warmup):
    theirs = run(source, horizon, warmup)
    told = json.loads(theirs.json())
    for kind in ("observes", "client"):
        for name, o in getattr(theirs, kind).items():
            columns = array("d", o.times), array("q", o.sessions), array("q", o.turns), array("d", o.samples)
            ours = summarize_samples(Samples(*columns), warmup)
            for figure, value in told[kind][name].items():
                assert agrees(getattr(ours, figure), value), (name, figure)
    for name, g in theirs.gauges.items():
        ours = summarize_gauge(Series(array("d", g.times), array("d", g.values)), warmup, theirs.end)
        for figure, value in told["gauges"][name].items():
            assert agrees(getattr(ours, figure), value), (name, figure)


def test_the_larger_program_has_the_figures_of_the_semantics(run):
    """Semantics, section 14: time to the first token under chunked prefill."""
    ttft = run(CHUNKED, 5e6).client["ttft"]
    samples = np.array(ttft.samples)
    assert samples.size == 105
    assert stats.mean(samples) == pytest.approx(23864.761905, rel=1e-9)
    assert stats.percentile(samples, 99) == 46750
    assert stats.batch_halfwidth(samples) == pytest.approx(4433.315272, rel=1e-9)


@pytest.mark.parametrize("tokens", [1, 2, 5, 6, 10, 30, 100, 300])
@pytest.mark.parametrize("first", [0.25, 1, 700])
def test_gaps_come_to_the_same_figures(run, first, tokens):
    """Iteration k of a lone request lasts first + k/512, so that is the gap before its k-th token."""
    source = f"""
    fn main() {{
      device gpu {{ }}
      engine e on gpu {{
        tokens cap 1;
        state k = 0;
        schedule {{ set k = k + 1; advance running; }}
        execute ({first} + k / 512);
      }}
      workload {{ arrive batch(1); }}
      server {{ run e prefill (cost(e, 1)); run e decode (cost(e, {tokens})); }}
    }}
    """
    e = run(source, 1e9).stages[0]
    gaps = first + np.arange(2, tokens + 2) / 512
    ones = np.ones(tokens, dtype=np.int64)
    assert agrees(stats.gap_mean(gaps, ones), e.mean_itl)
    p50, p99 = stats.gap_percentiles(gaps, ones, (50, 99))
    assert agrees(p50, e.itl_p50)
    assert agrees(p99, e.itl_p99)
