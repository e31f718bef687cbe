"""Engines that state their own request: a call means the hold and the runs that it writes out."""

from __future__ import annotations

import pytest

from serq.diagnostics import show_diagnostic
from tests.check.cases import check, places

ENGINE = """\
fn main() {
  device card { ram cap 48; }
  engine mill on card {
    slots cap 2; tokens cap 9; execute (1);
    schedule { advance running; ADMIT }
    REQUEST
  }
  pool ram on card { block 4; preempt lifo; }
  pool slots on mill { }
  pool shelf { cap 6; }
  workload { arrive renewal(3); hidden o; init { set p = 6 + serial; set o = 3; } CLIENT }
  server { SERVER }
}
"""
ADMIT = "admit waiting while (running.preempted == 0) taking slots (1), ram (n) reserve (n + 2);"
REQUEST = "request (n, m) { prefill (n) growing ram; decode (m) growing ram; }"


def write(admit: str = ADMIT, request: str = REQUEST, server: str = "mill(p, o);", client: str = "") -> str:
    parts = {"ADMIT": admit, "REQUEST": request, "SERVER": server, "CLIENT": client}
    text = ENGINE
    for slot, part in parts.items():
        text = text.replace(slot, part)
    return text


@pytest.mark.parametrize(
    ("admit", "request_", "call", "by_hand"),
    [
        (
            ADMIT,
            REQUEST,
            "mill(p, o);",
            "hold slots (cost(slots, 1)), ram (cost(ram, p)) reserve (cost(ram, p + 2)) {"
            " run mill prefill (cost(mill, p)) growing ram; run mill decode (cost(mill, o)) growing ram; }",
        ),
        (
            "admit waiting taking ram (min(n, budget_left(mill)));",
            "request (n) { decode (n) growing ram; }",
            "mill(used(ram) + 1);",
            "hold ram (cost(ram, min(used(ram) + 1, budget_left(mill))))"
            " { run mill decode (cost(mill, used(ram) + 1)) growing ram; }",
        ),
        (
            "admit waiting;",
            "request (n) { prefill (n); decode (o); }",
            "hold shelf (cost(shelf, 1)) { mill(p * 2); }",
            "hold shelf (cost(shelf, 1))"
            " { run mill prefill (cost(mill, p * 2)); run mill decode (cost(mill, o)); }",
        ),
        (
            "branch (running.count > 3) { admit waiting taking slots (1); }"
            " else { admit waiting taking slots(1); }",
            "request () { prefill (3); }",
            "mill();",
            "hold slots (cost(slots, 1)) { run mill prefill (cost(mill, 3)); }",
        ),
    ],
)
def test_a_call_is_written_out(admit: str, request_: str, call: str, by_hand: str) -> None:
    called, errors = check(write(admit, request_, call))
    assert [show_diagnostic(e) for e in errors] == []
    written, errors = check(write("admit waiting;", "", by_hand))
    assert [show_diagnostic(e) for e in errors] == []
    assert called is not None and written is not None
    assert called.server == written.server


@pytest.mark.parametrize(
    ("code", "at", "parts"),
    [
        ("SQ0291", "taking", {"request": ""}),
        ("SQ0292", "ram; decode", {"admit": "admit waiting taking slots (1);"}),
        (
            "SQ0292",
            "qq; }",
            {"request": "request (n, m) { prefill (n) growing ram; decode (m) growing qq; }"},
        ),
        ("SQ0293", "taking slots(1)", {"admit": ADMIT + " admit waiting taking slots(1);"}),
        ("SQ0293", "admit waiting;", {"admit": ADMIT + " admit waiting;"}),
        ("SQ0294", "p) growing", {"request": "request (n, m) { prefill (p) growing ram; decode (m); }"}),
        ("SQ0294", "o), ram", {"admit": "admit waiting taking slots (o), ram (n);"}),
        ("SQ0294", "now)", {"admit": "admit waiting taking ram (sum j in 3 (j * now));"}),
        ("SQ0295", "shelf (1);", {"admit": "admit waiting taking ram (n), shelf (1);"}),
        ("SQ0582", "slots (2)", {"admit": "admit waiting taking slots (1), ram (n), slots (2);"}),
        ("SQ0211", "n) {", {"request": "request (n, n) { prefill (n) growing ram; }"}),
        ("SQ0221", "now)", {"request": "request (n, now) { prefill (n) growing ram; }"}),
        ("SQ0248", "request (a)", {"request": REQUEST + " request (a) { }"}),
        ("SQ0296", "mill(p, o);", {"admit": "admit waiting;", "request": ""}),
        ("SQ0297", "mill(p, o);", {"client": "session { turn; mill(p, o); }", "server": "mill(p, 1);"}),
        ("SQ0298", "mill(p, ~", {"server": "mill(p, ~exp(2));"}),
        ("SQ0301", "mill(p);", {"server": "mill(p);"}),
        ("SQ0201", "pp, o", {"server": "mill(pp, o);"}),
        (
            "SQ0440",
            "slots (n)",
            {"admit": "admit waiting taking slots (n), ram (1);", "server": "mill(o, p);"},
        ),
        ("SQ0534", "ram (n)", {"server": "mill(-1, o);"}),
        ("SQ0535", "ram (n)", {"server": "mill(100, o);"}),
        ("SQ0311", "slots (cost", {"admit": "admit waiting taking slots (cost(slots, 1)), ram (n);"}),
    ],
)
def test_a_misuse_is_refused_at_its_place(code: str, at: str, parts: dict[str, str]) -> None:
    source = write(**parts)
    line, column = next((i, t.index(at) + 1) for i, t in enumerate(source.split("\n"), 1) if at in t)
    _, errors = check(source)
    assert places(errors)[0] == (code, line, column)


def test_a_family_has_no_request() -> None:
    source = write().replace("device card", "device card[2]").replace("engine mill", "engine mill[2]")
    assert ("SQ0299", 6, 5) in places(check(source)[1])


def test_a_wrong_request_is_complained_about_once_however_often_it_is_called() -> None:
    source = write(request=REQUEST.replace("(n) growing", "(zz) growing"), server="mill(p, o); mill(1);")
    assert [code for code, _, _ in places(check(source)[1])] == ["SQ0294"]


def test_a_complaint_in_a_request_names_the_call() -> None:
    _, errors = check(write(server="mill(100, o);"))
    assert [note.message for note in errors[0].notes] == ["in the definition used here"]
