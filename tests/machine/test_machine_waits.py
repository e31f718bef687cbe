"""Sessions that can never go on are named at the end of a run, with the pool and the place."""

from __future__ import annotations

import pytest

import serq

OVER = "hold p (cost(p, 9 + used(p))) { run z (cost(z, 1)); }"
INNER = "hold {0} (cost({0}, 4)) {{ run z (cost(z, 1)); }}"
OUTER = "hold {0} (cost({0}, 4)) {{ run z (cost(z, 1)); {1} }}"
ONE, OTHER = OUTER.format("p", INNER.format("q")), OUTER.format("q", INNER.format("p"))
NESTED = f"branch (serial == 0) {{ {ONE} }} else {{ {OTHER} }}"
GROW = "hold p (cost(p, 2)) { run z (cost(z, 1 + serial)); grow p (cost(p, 1)); run z (cost(z, 1)); }"
LEASE = "hold p (cost(p, 3)) { run z (cost(z, 1)); } cache (cost(p, 3)) lease p (LASTS)"
OWN = "hold p (cost(p, 3)) { hold p (cost(p, 2 + 0 * used(p))) { run z (cost(z, 1)); } }"


def waits(server: str, arrive: str = "batch(2)", session: str = "turn;") -> list[tuple[object, ...]]:
    text = f"""fn main() {{
  pool p {{ cap 4; }} pool q {{ cap 4; }} stage z : delay;
  workload {{ arrive {arrive}; session {{ {session} }} }}
  server {{
    {server}
  }}
}}"""
    report = serq.run(serq.compile(source=text), horizon=50)
    return [(w.kind, w.sessions, w.pools, w.places[0]) for w in report.waits]


def test_a_demand_that_never_fits_is_named() -> None:
    assert waits(OVER, "batch(1)") == [("over", (0,), ("p",), "<program>:5:5")]


@pytest.mark.parametrize("count", [2, 3, 7])
def test_sessions_that_hold_and_wait_for_each_other_are_named(count: int) -> None:
    ((kind, sessions, pools, _),) = waits(NESTED, f"batch({count})")
    assert kind == "cycle"
    assert dict(zip(sessions, pools, strict=True)) == {0: "q", 1: "p"}


def test_growths_that_wait_for_each_other_are_named() -> None:
    ((kind, sessions, pools, _),) = waits(GROW)
    assert (kind, set(sessions), set(pools)) == ("cycle", {0, 1}, {"p"})


def test_a_session_that_waits_for_its_own_hold_is_named() -> None:
    assert waits(OWN, "batch(1)")[0][:3] == ("cycle", (0,), ("p",))


def test_a_lease_that_waits_for_itself_is_named() -> None:
    found = waits(LEASE.replace("LASTS", "inf"), "batch(1)", "turn; turn;")
    assert found == [("lease", (0,), ("p",), "<program>:5:5")]


@pytest.mark.parametrize(
    "server", [LEASE.replace("LASTS", "100"), "hold p (cost(p, 4)) { run z (cost(z, 100)); }"]
)
def test_who_waits_for_what_will_come_is_not_named(server: str) -> None:
    assert waits(server, "batch(3)", "turn; turn;") == []
