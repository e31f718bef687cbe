"""Programs that can never go on: each report names the request, the pool and the place."""

from __future__ import annotations

from collections.abc import Callable

import pytest

import serq
from serq.report import show_report
from serq.report.show import find_notes

NEVER_FITS = """fn main() {
  pool kv { cap 4; }
  stage work : delay;
  workload { arrive batch(1); }
  server {
    hold kv (cost(kv, 9 + 0 * used(kv))) { run work (cost(work, 1)); }
  }
}
"""

REJECTED = """fn main() {
  pool kv { cap 4; }
  stage work : delay;
  workload { arrive batch(1); init { set prompt = 9; } }
  server {
    hold kv (cost(kv, prompt)) { run work (cost(work, 1)); }
  }
}
"""

LEASE = """fn main() {
  pool kv { cap 4; }
  stage work : delay;
  workload { arrive batch(1); session { turn; turn; } }
  server {
    hold kv (cost(kv, 3)) { run work (cost(work, 1)); } lease kv (inf)
  }
}
"""

GROWS_TOO_FAR = """
fn main() {
  pool kv { cap 4; }
  stage work : delay;
  workload { arrive batch(1); }
  server {
    hold kv (cost(kv, 2)) {
      run work (cost(work, 1));
      grow kv (cost(kv, 3));
    }
  }
}
"""

LIVELOCK = """fn main() {
  device gpu { kv cap 6; }
  engine llm on gpu {
    tokens cap 8;
    schedule { advance running; admit waiting while (running.preempted == 0); }
    execute (1);
  }
  pool kv on llm.gpu { preempt lifo; }
  workload { arrive batch(1); }
  server {
    hold kv (cost(kv, 1)) {
      run llm prefill (cost(llm, 4)) growing kv;
      run llm decode (cost(llm, 3)) growing kv;
    }
  }
}
"""

AT_ONE_INSTANT = """fn main() {
  device gpu { kv cap 12; }
  engine llm on gpu { tokens cap 8; schedule { advance running; admit waiting; } execute (1); }
  pool kv on llm.gpu { preempt lifo; }
  workload { arrive batch(2); }
  server {
    hold kv (cost(kv, 5)) {
      grow kv (cost(kv, 2));
      run llm decode (cost(llm, 3)) growing kv;
    }
  }
}
"""


@pytest.mark.parametrize(
    ("name", "source", "kind", "place"),
    [
        ("rejected", REJECTED, "rejected", "<program>:6:5"),
        ("never_fits", NEVER_FITS, "over", "<program>:6:5"),
        ("grows_too_far", GROWS_TOO_FAR, "over", "<program>:9:7"),
        ("lease_of_its_own", LEASE, "lease", "<program>:6:5"),
        ("livelock", LIVELOCK, "stuck", "<program>:11:5"),
    ],
)
def test_a_run_that_cannot_go_on_says_who_waits_where(
    name: str, source: str, kind: str, place: str, golden: Callable[[str, str], None]
) -> None:
    report = serq.run(serq.compile(source=source), horizon=100)
    (wait,) = report.waits
    assert (wait.kind, wait.sessions, wait.pools, wait.places) == (kind, (0,), ("kv",), (place,))
    (note,) = (note for note in find_notes(report) if note.startswith("wait: "))
    assert "session 0" in note and "pool kv" in note and place in note
    golden(f"{name}.txt", show_report(report))


@pytest.mark.parametrize("plain", [False, True])
def test_a_livelock_at_one_instant_is_stopped(plain: bool, golden: Callable[[str, str], None]) -> None:
    with pytest.raises(serq.ProgramError) as caught:
        serq.run(serq.compile(source=AT_ONE_INSTANT), horizon=100, plain=plain)
    (said,) = caught.value.diagnostics
    assert said.at is not None and (said.code, said.at.line, said.at.column) == ("SQ0631", 7, 5)
    golden("livelock_at_one_instant.txt", f"{caught.value}\n")
