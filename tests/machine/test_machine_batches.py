"""Who gets how many tokens in which iteration: the tables of the semantics, batch by batch.

`A p3 B d1` is an iteration in which session 0 prefills three tokens and session 1 decodes one.
"""

from __future__ import annotations

import pytest

from tests.support.build import batches, engine, program, record, starts
from tests.support.build import samples as samples_of

READ = "run e prefill (cost(e, {}));"
WRITE = "run e decode (cost(e, {}));"
EXCLUSIVE = "exclusive prefill; admit waiting while (running.preempted == 0);"
IN_HOLD = "hold h (cost(h, 1)) {{ {} }}"
SHORTEST_FIRST = engine("advance running by (remaining);")
ONE_BY_ONE = "advance running; admit waiting while (waiting.admitted < 1);"
LAST_FIRST = engine("advance running by (-admission);")
BY_ADMISSION = engine("advance running by (admission);")


def serve(*lengths: float) -> str:
    """A prefill and a decode by turns."""
    return " ".join((READ, WRITE)[n % 2].format(length) for n, length in enumerate(lengths))


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        pytest.param(
            program((READ * 2).format(3, 3), arrive="batch(3)", engine=BY_ADMISSION),
            "A p3 B p1 · B p2 C p2 · C p1 A p3 · B p3 C p1 · C p2",
            id="without holds the joining order decides",
        ),
        pytest.param(
            program(IN_HOLD.format(READ.format(6)), "pool h { }", arrive="batch(3)", engine=LAST_FIRST),
            "C p4 · C p2 B p2 · B p4 · A p4 · A p2",
            id="the latest admitted first",
        ),
        pytest.param(
            program(
                f"branch (serial == 2) {{ {READ.format(9)} }} else {{ run z (cost(z, 0.5)); "
                f"hold h (cost(h, 1)) {{ {READ.format(6)} }} }}",
                "pool h { }",
                arrive="batch(3)",
            ),
            "C p4 · A p4 · A p2 B p2 · B p4 · C p4 · C p1",
            id="who never held anything comes last",
        ),
        pytest.param(
            program(serve(3, 2), arrive="batch(2)", engine=engine(cap="2.5")),
            "A p2.5 · A p0.5 B p2 · B p1 A d1 · A d1 B d1 · B d1",
            id="a fractional budget",
        ),
        pytest.param(
            program(serve(1, 1), arrive="batch(2)", engine=engine(cap="0.5")),
            "A p0.5 · A p0.5 · B p0.5 · B p0.5 · A d0.5 · A d0.5 · B d0.5 · B d0.5",
            id="half a token at a time",
        ),
        pytest.param(
            program(
                serve(3, 2),
                arrive="batch(3)",
                engine=engine("advance running each at most (2); admit waiting each at most (2);", "5"),
            ),
            "A p2 B p2 C p1 · A p1 B p1 C p2 · A d1 B d1 C d1 · A d1 B d1 C d1",
            id="two tokens each",
        ),
        pytest.param(
            program(serve(7, 2), arrive="batch(3)", engine=engine(cap="5", more="granule 2;")),
            "A p4 · A p3 B p2 · B p5 · C p4 A d1 · C p3 A d1 B d1 · B d1 C d1 · C d1",
            id="a granule",
        ),
        pytest.param(
            program(serve(5, 2), arrive="batch(3)", engine=engine("advance running decode first;")),
            "A p4 · A p1 B p3 · A d1 B p2 C p1 · A d1 B d1 C p2 · B d1 C p2 · C d1 · C d1",
            id="decode first",
        ),
        pytest.param(
            program(READ.format("9 - 3 * serial"), arrive="batch(3)", engine=SHORTEST_FIRST),
            "C p3 B p1 · B p4 · B p1 A p3 · A p4 · A p2",
            id="shortest first",
        ),
        pytest.param(
            program(serve(5, 2), arrive="batch(3)", engine=engine(EXCLUSIVE)),
            "A p4 · A p1 · B p4 · B p1 · C p4 · C p1 · A d1 B d1 C d1 · A d1 B d1 C d1",
            id="exclusive prefill",
        ),
        pytest.param(
            program(
                f"hold slots (cost(slots, 1)) {{ {serve(3, 2)} }}",
                "pool slots on e { }",
                arrive="batch(3)",
                engine=engine("advance running; admit waiting only (decoding);", more="slots cap 1;"),
            ),
            "",
            id="a newcomer that is not wanted waits for another event",
        ),
        pytest.param(
            program(
                f"hold slots (cost(slots, 1)) {{ {serve(3, 3)} }}",
                "pool slots on e { }",
                arrive="batch(2)",
                engine=engine(EXCLUSIVE, cap="1", more="slots cap 2;"),
            ),
            " · ".join(["A p1"] * 3 + ["A d1"] * 3 + ["B p1"] * 3 + ["B d1"] * 3),
            id="decodes that spend the budget keep prefills out",
        ),
        pytest.param(
            program(
                f"hold slots (cost(slots, 1)) {{ {WRITE.format('4 - serial')} }}",
                "pool slots on e { }",
                arrive="batch(3)",
                engine=engine(ONE_BY_ONE, more="slots cap 3;"),
            ),
            "A d1 · A d1 B d1 · A d1 B d1 C d1 · A d1 B d1 C d1",
            id="decodes admitted beside decodes that are served",
        ),
    ],
)  # fmt: skip
def test_batches(source: str, expected: str) -> None:
    assert batches(source) == expected


def test_a_register_is_read_by_execute_and_claims_of_the_same_iteration() -> None:
    source = program(
        serve(5, 2),
        "claim counted: every iteration of e (n == served + tokens);",
        arrive="batch(2)",
        engine=engine("advance running; set n = n + batch.tokens;", execute="1 + n", more="state n = 0;"),
    )
    assert starts(source, 60) == [0, 5, 14, 26, 40]
    run = record(source, 60)
    assert run.client["response"].times[-1] == 55
    assert run.outcomes[0].result == "holds"


def test_an_attempt_in_vain_leaves_the_registers_alone() -> None:
    """Nobody may be served before the third arrival; the tries until then are not counted."""
    source = program(
        serve(2),
        "gauge tries = n;",
        arrive="renewal(1)",
        engine=engine(
            "set n = n + 1; advance running;", cap="running.count > 2 ? 8 : 0", more="state n = 0;"
        ),
    )
    assert starts(source, 3) == [3]
    assert list(record(source, 3).gauges["tries"].values) == [0, 1]


def test_an_iteration_sees_the_arrivals_of_its_instant() -> None:
    source = program(
        READ.format(3), "claim seen: every iteration of e (arrived == now);", arrive="renewal(1)"
    )
    assert starts(source, 5) == [1, 2, 3, 4, 5]
    assert record(source, 5).outcomes[0].result == "holds"


@pytest.mark.parametrize(
    ("server", "expected"),
    [
        ("hold p (cost(p, serial == 1 ? 3 : 1)) { AT run z (cost(z, 1)); }", [0, 1, 2, 2]),
        ("hold p (cost(p, 3)) { AT run z (cost(z, 2)); }", [0, 2, 4, 6]),
        (
            "hold p (cost(p, 1)) reserve (cost(p, 1 + min(serial, 2))) { AT run z (cost(z, 1)); }",
            [0, 0, 1, 2],
        ),
    ],
)
def test_when_holds_are_admitted(server: str, expected: list[float]) -> None:
    source = program(server.replace("AT", "observe at = now;"), "pool p { cap 3; }", arrive="batch(4)")
    assert samples_of(source, "at") == expected


def test_a_queue_with_keys_admits_by_them() -> None:
    source = program(
        "hold p (cost(p, 1)) { observe who = serial; run z (cost(z, 1)); }",
        "pool p { cap 1; queue by (-serial); }",
        arrive="batch(4)",
    )
    assert samples_of(source, "who") == [3, 2, 1, 0]


def test_units_given_back_in_an_admission_let_others_into_the_same_batch() -> None:
    """A leaves the outer pool while it is being admitted; B passes both pools at once."""
    source = program(
        "hold p (cost(p, 1)) { hold slots (cost(slots, 1)) { run z (cost(z, 0)); } }"
        "run e decode (cost(e, 1));",
        "pool p { cap 1; }",
        "pool slots on e { }",
        arrive="batch(3)",
        engine=engine("advance running; admit waiting;", more="slots cap 2;"),
    )
    assert batches(source).count("d1") == 3
    assert starts(source) == [0]


def test_who_comes_because_of_an_admission_is_served_in_it() -> None:
    """A is admitted, gives both its pools back and so lets B through: their runs are newcomers alike."""
    source = program(
        "hold p (cost(p, 1)) { branch (serial == 0) { hold slots (cost(slots, 1)) { } } else { } }"
        "run e decode (cost(e, 2));",
        "pool p { cap 1; }",
        "pool slots on e { }",
        arrive="batch(2)",
        engine=engine("advance running; admit waiting;", more="slots cap 2;"),
    )
    assert batches(source) == "A d1 B d1 · A d1 B d1"


def test_engines_try_once_at_an_instant_and_in_order() -> None:
    """`f` stands before `e`, which hands it a session when `f` has had its turn."""
    late = program(
        "hold slots (cost(slots, 1)) { branch (serial == 0) { run f decode (cost(f, 1)); observe at = now; } "
        "else { run e decode (cost(e, 3)); } }",
        "pool slots on e { }",
        arrive="batch(2)",
        engine=engine(name="f") + engine("advance running; admit waiting;", more="slots cap 2;"),
    )
    assert samples_of(late, "at") == [2]
