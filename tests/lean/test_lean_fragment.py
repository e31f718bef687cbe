"""What cannot be stated is refused, at its place, with every reason."""

from __future__ import annotations

from typing import get_args

import pytest

import serq
from serq.codes import CODES
from serq.diagnostics import ProgramError
from serq.ir.server import End, Hold, Observe, Run, Set, Statement, Turn
from serq.lean import emit_lean, stateable
from serq.lean.sessions import REFUSED as REFUSED_STATEMENTS
from tests.lean.programs import ROOT, small, stated

HOLD = "hold p (cost(p, 1)) { run e prefill (cost(e, 5)); }"
POOL = "pool p { cap 4; }"
ALL = "advance running;"
SLOT = {"items": "pool s on e { }", "engine": "s cap 4;", "schedule": "advance running; admit waiting;"}
SEEN = {"server": "run e prefill (cost(e, 5)); observe o = 5; observe t = now;"}
SLOTTED = "hold s (cost(s, 1)) { run e prefill (cost(e, 5)); }"
ADMIT = "admit waiting while (running.preempted == 0);"

REFUSED: list[tuple[str, dict[str, str], str, str]] = [
    # code, a part of the program, what stands at the place, words of the message
    ("SQ0801", {"server": HOLD, "items": POOL}, "hold", "a `hold` of `p`, which the engine does not admit,"),
    ("SQ0801", {**SLOT, "server": SLOTTED + " cache (cost(s, 1))"}, "hold", "`cache`"),
    ("SQ0801", {**SLOT, "server": SLOTTED * 2}, "hold", "a second `hold`"),
    ("SQ0801", {**SLOT, "server": "run e prefill (cost(e, 2)); " + SLOTTED}, "run", "outside the `hold`"),
    ("SQ0801", {**SLOT, "server": SLOTTED.replace("cost(s, 1)", "cost(s, serial)")}, "serial", "never fit"),
    ("SQ0801", {**SLOT, "server": SLOTTED, "schedule": f"exclusive prefill; {ADMIT}"}, "exclusive", "slot"),
    ("SQ0801", {"server": "branch (serial == 0) { run e decode (cost(e, 5)); } else { }"}, "branch", ""),
    ("SQ0801", {"server": "loop { run e prefill (cost(e, 5)); }"}, "loop", "`loop`"),
    ("SQ0801", {"server": "while (serial == 0) { run e decode (cost(e, 1)); }"}, "while", "`while`"),
    ("SQ0801", {"server": "choose k in 2 by (queue(e)); run e decode (cost(e, 1));"}, "choose", "`choose`"),
    ("SQ0801", {"server": "run e prefill (cost(e, 0)); run e decode (cost(e, 1));"}, "run e pre", "0 tokens"),
    ("SQ0801", {"server": "run z (cost(z, 1));", "items": "stage z : delay;"}, "z", "`z`"),
    ("SQ0801", {"engine": "granule 2;"}, "e on gpu", "`granule`"),
    ("SQ0801", {"schedule": "branch (running.count > 1) { } else { } " * 6 + ALL}, "schedule", "60 steps"),
    ("SQ0801", {"workload": "arrive slotted(5, 2);"}, "slotted", "`slotted`"),
    ("SQ0801", {"workload": "arrive closed(5);"}, "closed", "`closed`"),
    ("SQ0802", {"schedule": "advance running only (admission > 2);"}, "admission", "`only` reads"),
    ("SQ0802", {"schedule": "advance running by (admission);"}, "admission", "a key of `by` reads"),
    ("SQ0806", {"claim": "ceil(now) > 3", "workload": "arrive poisson(0.5);"}, "ceil", "any times"),
    ("SQ0802", {"execute": "1 + batch.attention"}, "batch.attention", "`execute` reads"),
    ("SQ0802", {"claim": "used(p) < 3", "items": POOL}, "used(p)", "claim `c` reads `used(p)`"),
    ("SQ0802", {"claim": "kv_decode == 0"}, "kv_decode", "claim `c` reads `kv_decode`"),
    ("SQ0803", {"cap": "2.5"}, "2.5", "`tokens cap`"),
    ("SQ0803", {"cap": "inf"}, "inf", "`tokens cap`"),
    ("SQ0803", {"cap": "8 + queue(e)"}, "8 + queue(e)", "`tokens cap`"),
    ("SQ0803", {"schedule": "advance running each at most (max(1, running.count));"}, "max(1", "`each"),
    ("SQ0803", {"engine": "state n = 0.5;"}, "n = 0.5", "the register `n`"),
    ("SQ0803", {"engine": "state n = 0;", "schedule": f"{ALL} set n = n / 2;"}, "n / 2", "register `n`"),
    ("SQ0803", {"schedule": f"branch (running.count) {{ {ALL} }} else {{ {ALL} }}"}, "running.count", ""),
    ("SQ0803", {"server": "run e prefill (cost(e, serial));"}, "serial", "the length of this run"),
    ("SQ0803", {"server": "run e prefill (cost(e, ceil(~exp(3))));"}, "ceil", "the length of this run"),
    ("SQ0803", {"server": "run e prefill (cost(e, 2.5));"}, "2.5", "the length of this run"),
    ("SQ0803", {"server": "set o = ~exp(3); run e prefill (cost(e, o));"}, "o)", "the length of this run"),
    ("SQ0804", {"execute": "0.1 + batch.tokens"}, "0.1", "0.1"),
    ("SQ0804", {"execute": "batch.tokens / 3"}, "batch.tokens / 3", "parts of 1/3"),
    ("SQ0804", {"claim": "served < 1e17"}, "1e17", "1e+17"),
    ("SQ0804", {"claim": "now / 49 * 49 == now"}, "now / 49 * 49", "`*` that is a quotient"),
    ("SQ0804", {"claim": "tokens / 10 + tokens / 5 == 1"}, "tokens / 10 +", "`+` that is a quotient"),
    ("SQ0804", {"claim": "floor(served / 3 - 1) < 3"}, "served / 3 - 1", "`-` that is a quotient"),
    ("SQ0805", {"claim": "served / now < 3"}, "now < 3", "divides by something that varies"),
    ("SQ0806", {"claim": "sqrt(served) < 3"}, "sqrt", "`sqrt`"),
    ("SQ0806", {"claim": "served ^ 2 < 3"}, "served ^ 2", "`^`"),
    ("SQ0806", {"claim": "served < 1 / 0"}, "1 / 0", "inf"),
    ("SQ0806", {"execute": "~exp(3)"}, "~exp(3)", "`~exp`"),
    ("SQ0807", {"execute": "batch.tokens - 3"}, "batch.tokens - 3", "`execute`"),
    ("SQ0808", {"claims": "claim d: at end (largest(o) == 1);", **SEEN}, "largest", "`largest(o)`"),
    ("SQ0808", {"claims": "claim d: at end (total(t) == 1);", **SEEN}, "total", "`total(t)`"),
    ("SQ0809", {"claim": " + ".join(["tokens"] * 70) + " > 0"}, "tokens + tokens", "60 levels"),
]  # fmt: skip


@pytest.mark.parametrize(("code", "parts", "place", "words"), REFUSED)
def test_what_has_no_meaning_is_refused_at_its_place(
    code: str, parts: dict[str, str], place: str, words: str
) -> None:
    source = small(**parts)
    (reason,) = stateable(serq.compile("small.sq", source=source))
    assert (reason.code, words in reason.message) == (code, True), reason.message
    assert reason.at is not None and reason.help
    line = source.split("\n")[reason.at.line - 1]
    assert line[reason.at.column - 1 :].startswith(place)


def test_every_code_is_shown_here() -> None:
    assert {code for code, *_ in REFUSED} == {code for code in CODES if code.startswith("SQ08")}


def test_every_reason_is_given_by_place() -> None:
    source = small(
        "attention > 0",
        workload="arrive closed(2);",
        server=HOLD,
        items=POOL,
        execute="sqrt(batch.tokens) / 0",
    )
    with pytest.raises(ProgramError) as refused:
        emit_lean(serq.compile("small.sq", source=source))
    assert [d.code for d in refused.value.diagnostics] == ["SQ0806", "SQ0801", "SQ0801", "SQ0802"]


def test_an_aggregate_is_refused_once() -> None:
    program = serq.compile("small.sq", source=small("sum j in 3 (attention - j) > 0"))
    assert [d.code for d in stateable(program)] == ["SQ0802"]


def test_statements_inside_a_refused_one_are_named_as_well() -> None:
    server = "branch (serial == 0) { hold p (cost(p, 1)) { run e decode (cost(e, serial)); } } else { }"
    reasons = stateable(serq.compile("small.sq", source=small(server=server, items=POOL)))
    assert [d.message.split()[0] for d in reasons] == ["`branch`", "`hold`"]


def test_every_statement_is_read_or_refused() -> None:
    assert set(REFUSED_STATEMENTS) | {Set, Observe, Run, Hold, Turn, End} == set(get_args(Statement))


def test_a_second_engine_is_refused() -> None:
    other = "device g { } engine f on g { tokens cap 4; schedule { advance running; } execute (1); }"
    reasons = stateable(serq.compile("small.sq", source=small(items=other)))
    assert [(d.code, "`f`" in d.message) for d in reasons] == [("SQ0801", True)]


def test_a_program_without_an_engine_is_refused() -> None:
    assert [d.code for d in stateable(serq.compile("none.sq", source="fn main() { }"))] == ["SQ0801"]


def test_a_length_that_varies_says_where_it_comes_from() -> None:
    server = "set o = 3 * now; run e prefill (cost(e, o + ~exp(3)));"
    (reason,) = stateable(serq.compile("small.sq", source=small(server=server)))
    assert [note.message for note in reason.notes] == [
        "`o` is set here",
        "a draw of this law is a whole number only inside `floor` or `ceil`",
    ]


def test_what_changes_no_iteration_may_stand_in_the_program() -> None:
    plain = stated(small())
    workload = "arrive renewal(10); init { set born = now; Size n = 5; } turn { set k = n - 2; }"
    decorated = small(
        items="pool p { cap 4; } stage z : delay; gauge g = used(p); let b = 8;",
        cap="b",
        schedule="let u = running.count; advance running; admit waiting while (running.preempted == 0);",
        workload=workload,
        server="set m = n; run e prefill (cost(e, m)); observe t = now - born; run e decode (cost(e, k));",
    )
    assert stated(decorated).split("-/", 1)[1].split("/--")[1] == plain.split("-/", 1)[1].split("/--")[1]


def test_a_session_of_several_turns_runs_the_server_each_time() -> None:
    source = small(
        server="run e prefill (cost(e, turn_no + 4));",
        workload="arrive batch(3); session { turn; set k = 1; turn; end; turn; }",
    )
    text = stated(source)
    assert "AtOnce 3 w ∧ ∀ k, w.phases k = [.prefill 5, .prefill 6]\n" in text


def test_a_schedule_becomes_a_tree() -> None:
    schedule = (
        "advance running only (running.count > 2) decode first each at most (3);"
        "branch (n > 1) { set n = n + 1; } else { } advance running by (remaining, n) each at most (3);"
    )
    text = " ".join(stated(small(schedule=schedule, engine="state n = 4;")).split())
    assert "most := some 3 slots := none registers := [4]" in text
    last = ".advance everyone (fun v r => [(r.remaining : Int), v.register 0]) .done"
    assert (
        "schedule := .advance (fun v _ => decide (v.count > 2)) decodeFirst (.branch (fun v => decide "
        f"(v.register 0 > 1)) (.assign 0 (fun v => v.register 0 + 1) ({last})) ({last}))"
    ) in text


def test_slots_are_counted_in_sessions() -> None:
    parts = {**SLOT, "server": SLOTTED.replace("1", "3"), "engine": "s cap 10;"}
    text = stated(small("used(s) <= 9 && free(s) >= 1 && queued(s) < 5 && holders(s) < 4", **parts))
    assert "slots := some 3\n" in text and "(.admit everyone always .done)" in text
    claim = "((i.residents * 3 ≤ 9 ∧ 10 - i.residents * 3 ≥ 1) ∧ i.waiting < 5) ∧ i.residents < 4"
    assert claim in " ".join(text.split())


def test_draws_are_any_numbers_that_given_allows() -> None:
    workload = "arrive poisson(1); init { set p = 1 + floor(~exp(9)); set b = ~bernoulli(0.2); }"
    text = stated(
        small(
            workload=workload,
            server="run e prefill (cost(e, p + serial)); run e decode (cost(e, 1 + b));",
            claims="claim d given (p <= 7): every iteration of e (served <= 12 * arrived);",
        )
    )
    runs = (
        "w.phases k = [.prefill (Int.toNat (1 + (x0 : Int) + (k : Int))), "
        ".decode (Int.toNat (1 + (x1 : Int)))]"
    )
    text = " ".join(text.split())
    assert f"(w.time 0 = 0 ∧ Apart w) ∧ ∀ k, ∃ x0 x1 : Nat, x1 ≤ 1 ∧ {runs}" in text
    assert f"∃ x0 x1 : Nat, x1 ≤ 1 ∧ (1 + (x0 : Int) ≤ 7) ∧ {runs}" in text
    assert "∀ ticks, 1 ≤ ticks → EveryIteration (program ticks) workload_d fun i => i.served" in text
    assert "def program (ticks : Nat) : Program" in text and "=> (1 + batch.tokens) * ticks" in text


def test_a_claim_that_cannot_be_stated_leaves_the_others() -> None:
    source = small(claims="claim d: every iteration of e (kv_decode == 0);")
    text = stated(source)
    assert "def c : Prop" in text and "def d : Prop" not in text
    assert "Not stated here, because it cannot be: `d`." in text
    assert [r.code for r in stateable(serq.compile("small.sq", source=source))] == ["SQ0802"]


@pytest.mark.parametrize(
    "execute",
    [
        "batch.prefilled * 3 + batch.decoding * 0.5",
        "max(1, batch.tokens - 5)",
        "running.count - 0.5",
        "ceil(batch.tokens / 128)",
        "batch.tokens > 4 ? 2 : batch.tokens / 4",
        "abs(0 - batch.tokens)",
        "0 - min(-1, batch.decoding)",
        "sum k in 3 (batch.tokens + k)",
    ],
)
def test_a_duration_above_0_for_every_batch_is_found(execute: str) -> None:
    assert stateable(serq.compile("small.sq", source=small(execute=execute))) == []


@pytest.mark.parametrize(
    "execute",
    [
        "batch.prefilled",
        "floor(batch.tokens / 9)",
        "8 - batch.tokens",
        "!batch.prefilled",
        "0 * batch.tokens",
    ],
)
def test_a_duration_that_may_be_0_is_refused(execute: str) -> None:
    assert [d.code for d in stateable(serq.compile("small.sq", source=small(execute=execute)))] == ["SQ0807"]


def test_the_first_example_says_what_keeps_it_from_being_stated() -> None:
    reasons = stateable(serq.compile(ROOT / "examples" / "hello.sq"))
    assert {d.code for d in reasons} == {"SQ0804"}
