"""What programs become: the records that machine, report and exporters read."""

from __future__ import annotations

import math

import pytest

from serq.check import supported
from serq.ir.claim import AtEnd, EveryIteration
from serq.ir.expr import (
    Attr,
    Binary,
    Conditional,
    Draw,
    Fold,
    Func,
    Local,
    Num,
    Observable,
    Place,
    RegisterRead,
    Summary,
    Unary,
    Var,
)
from serq.ir.pool import Pool, Preempt
from serq.ir.program import Program
from serq.ir.schedule import Admit, Advance, Schedule, ScheduleBranch, ScheduleLet, SetRegister
from serq.ir.server import (
    Binding,
    Branch,
    Choose,
    Hold,
    HoldPart,
    Load,
    Observe,
    Release,
    Run,
    Set,
    Turn,
)
from serq.ir.stage import Delay, Device, Engine, Fifo, Register
from serq.ir.workload import Attribute, Batch, Closed, NoArrivals, Poisson, Renewal, Workload
from tests.check.cases import check


@pytest.fixture(autouse=True)
def everything_supported(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(supported, "NOT_YET", {})


def lowered(source: str) -> Program:
    program, errors = check(source)
    assert program is not None, errors
    return program


def server_of(statements: str, items: str = "") -> tuple[object, ...]:
    """The server's statements; there is a delay `z` and a pool `p`."""
    return lowered(
        f"fn main() {{ stage z : delay; pool p {{ cap 9; }} {items}"
        f" workload {{ arrive batch(1); }} server {{ {statements} }} }}"
    ).server


WHOLE = """\
let bmax = 4;
fn main() {
  device gpu { compute (t) = 2 * t; }
  engine e on gpu {
    tokens cap bmax;
    schedule { advance running; admit waiting while (running.preempted == 0); }
    execute (1 + compute(batch.tokens));
  }
  workload { arrive renewal(10); init { set t0 = now; } }
  server {
    run e prefill (cost(e, 5));
    observe response = now - t0;
  }
  gauge jobs = queue(e);
  claim full: every iteration of e
    (demand < bmax   || tokens == bmax);
  claim ends given (serial < 3): at end (count(response) == 2);
}
"""


def test_a_whole_program() -> None:
    program = lowered(WHOLE)
    e = Place("e")
    advance = Advance()
    admit = Admit(condition=Binary("==", Var("running.preempted"), Num(0)))
    execute = Binary("+", Num(1), Binary("*", Num(2), Var("batch.tokens")))
    assert program.devices == (Device("gpu"),)
    assert program.stages == (Engine("e", "gpu", Num(4), Schedule((advance, admit)), execute),)
    assert program.attributes == (Attribute("t0", "size"),)
    assert program.observes == ("response",)
    assert program.workload == Workload(Renewal(Num(10)), init=(Set("t0", Var("now")),), session=(Turn(),))
    assert program.server == (
        Run((e,), "prefill", Num(5)),
        Observe("response", Binary("-", Var("now"), Attr("t0"))),
    )
    full, ends = program.claims
    assert full == EveryIteration(
        "full",
        e,
        Binary("||", Binary("<", Var("demand"), Num(4)), Binary("==", Var("tokens"), Num(4))),
        text="claim full: every iteration of e (demand < bmax || tokens == bmax);",
    )
    assert ends == AtEnd(
        "ends",
        Binary("==", Summary("count", "response"), Num(2)),
        given=Binary("<", Attr("serial"), Num(3)),
        text="claim ends given (serial < 3): at end (count(response) == 2);",
    )
    assert program.file == "test.sq"
    assert program.source is not None and program.source.text == WHOLE


def test_a_schedule() -> None:
    program = lowered(
        "fn main() { device d { } engine e on d { state n = 1; tokens cap inf; granule 2; schedule {"
        " let c = running.count > 3 ? 8 : 16;"
        " advance running only (decoding == 1) decode first each at most (c);"
        " branch (n > 1) { advance running by (-remaining, admission) each at most (c); }"
        " else { set n = n + batch.tokens; }"
        " admit waiting only (1) each at most (c); } execute (1); } }"
    )
    engine = program.stages[0]
    assert isinstance(engine, Engine)
    n = RegisterRead("e", "n")
    assert engine.tokens_cap == Num(math.inf)
    assert engine.granule == 2
    assert engine.registers == (Register("n", 1),)
    assert engine.schedule == Schedule(
        (
            Advance("decode first", only=Binary("==", Var("decoding"), Num(1))),
            ScheduleBranch(
                Binary(">", n, Num(1)),
                (Advance("by", (Unary("-", Var("remaining")), Var("admission"))),),
                (SetRegister("n", Binary("+", n, Var("batch.tokens"))),),
            ),
            Admit(only=Num(1)),
        ),
        (ScheduleLet("c", Conditional(Binary(">", Var("running.count"), Num(3)), Num(8), Num(16))),),
        Local("c"),
    )


def test_pools_know_who_admits_them_and_whose_memory_they_are() -> None:
    program = lowered(
        "fn main() { device d { kv cap 8; } engine e on d { reqs cap 2; tokens cap 1;"
        " schedule { advance running; } execute (1); }"
        " pool alone { } pool kv on d { preempt lifo; block 2; } pool reqs on e { queue by (waited); } }"
    )
    assert program.pools == (
        Pool("alone", math.inf),
        Pool("kv", 8, memory_of="e", block=2, preempt=Preempt((Unary("-", Var("admission")),))),
        Pool("reqs", 2, engine="e", queue_keys=(Var("waited"),)),
    )
    admitted = lowered(
        "fn main() { device d { kv cap 8; } engine e on d { tokens cap 1;"
        " schedule { advance running; } execute (1); } pool kv on e.d { } }"
    )
    assert admitted.pools == (Pool("kv", 8, engine="e", memory_of="e"),)


def test_families_take_the_size_of_their_owner() -> None:
    program = lowered(
        "fn main() { device d[2] { kv cap 8; } engine e[2] on d { reqs cap 2; tokens cap 1;"
        " schedule { advance running; } execute (1); } pool kv on d { } pool reqs on e { } }"
    )
    assert [pool.size for pool in program.pools] == [2, 2]
    single = lowered(
        "fn main() { device d { } engine e on d { slots[3] cap 2; tokens cap 1;"
        " schedule { advance running; } execute (1); } pool slots on e { } }"
    )
    assert [pool.size for pool in single.pools] == [3]


@pytest.mark.parametrize(
    "written, arrival",
    [
        ("poisson(2)", Poisson(2)),
        ("renewal(~exp(2))", Renewal(Draw("exp", (Num(2),)))),
        ("closed(3)", Closed(3)),
        ("batch(1 + 1)", Batch(2)),
        ("none", NoArrivals()),
    ],
)
def test_arrivals(written: str, arrival: object) -> None:
    program = lowered(f"fn main() {{ workload {{ arrive {written}; }} server {{ }} }}")
    assert program.workload is not None
    assert program.workload.arrival == arrival


def test_attributes_and_observations_come_in_the_order_of_the_text() -> None:
    program = lowered(
        "fn main() { server { set c = a; Cost k = { z : 1 }; run z (k.z); observe second = c; }"
        " stage z : delay; workload { arrive batch(1); hidden out, b; init { set a = 1; set b = 2;"
        " observe first = a; } } }"
    )
    assert program.attributes == (
        Attribute("c", "value"),
        Attribute("k.z", "cost"),
        Attribute("a", "size"),
        Attribute("b", "size", hidden=True),
        Attribute("out", "size", hidden=True),
    )
    assert program.observes == ("second", "first")


def test_aggregates_are_written_out() -> None:
    program = lowered(
        "fn main() { let n = 2; stage z[n] : fifo; gauge g = max j in n (queue(z[j]) * j);"
        " gauge h = sum j in 3 (j); }"
    )
    terms = tuple(Binary("*", Observable("queue", Place("z", Num(j))), Num(j)) for j in (0.0, 1.0))
    assert program.gauges[0].value == Fold("max", terms)
    assert program.gauges[1].value == Num(3)


def test_nothing_that_was_written_is_dropped() -> None:
    program = lowered("fn main() { stage z : fifo; gauge g = 0 * queue(z) + (1 ? 2 : queue(z)); }")
    reading = Observable("queue", Place("z"))
    assert program.gauges[0].value == Binary(
        "+", Binary("*", Num(0), reading), Conditional(Num(1), Num(2), reading)
    )


def test_a_hold_with_names_of_admission() -> None:
    (hold,) = server_of(
        "hold p (cost(p, need)) reserve (cost(p, 4)) at admission (need = serial + 1, live = used(p))"
        " { set seen = need; run z (cost(z, need)); } cache (cost(p, live)) lease p (2);"
    )
    need = Binary("+", Attr("serial"), Num(1))
    live = Observable("used", Place("p"))
    assert hold == Hold(
        (HoldPart(Place("p"), need, Num(4)),),
        (Set("seen", Attr("need")), Run((Place("z"),), None, Attr("need"))),
        bindings=(Binding("need", need, True), Binding("live", live, False)),
        cache=live,
        lease=(Place("p"), Num(2)),
    )


def test_branch_with_draws_its_test() -> None:
    branch, _ = server_of("branch with (0.25) { } run z (cost(z, 1));")
    assert branch == Branch(Draw("bernoulli", (Num(0.25),)), (), ())


def test_choose() -> None:
    choose, _ = server_of("choose j in 2 by (serial, -j); run z (cost(z, 1));")
    assert choose == Choose("j", Num(2), (Attr("serial"), Unary("-", Attr("j"))))


def test_tool_and_transfer_are_written_out() -> None:
    statements = server_of(
        "tool 3; hold p (cost(p, 2)) { transfer (4) from p to p (1); run z (cost(z, 1)); }",
        "stage tool : delay; stage link : fifo;",
    )
    tool, hold = statements
    assert tool == Run((Place("tool"),), None, Num(3))
    assert isinstance(hold, Hold)
    assert hold.body[:3] == (
        Run((Place("link"),), None, Num(4)),
        Load(Place("p"), Num(1)),
        Release(Place("p")),
    )


STATIONS = """\
use "std/kvt";
fn main() {
  queue P[2] : prefill {
    pool m { cap 9; }
    serve fifo;
    nic ps(3);
    prefill (n) { hold m (cost(m, n)) { run (cost(P, self + 1)); } cache (cost(m, n)) lease m (inf) }
  }
  queue D : decode {
    pool k { cap 9; }
    serve fifo(2);
    nic ps(2);
    decode (n) from P {
      hold k (cost(k, n)) { transfer (n) from P to k (n); mark got; run (cost(D, 1)); }
    }
  }
  kvt.nixl_pull (P, D, latency = 0.5);
  share maxmin;
  workload { arrive batch(1); init { set size = 3; } }
  server {
    choose i in 2 by (used(P[i].m));
    P[i].prefill (size);
    D.decode (size) from P[i];
    observe copied = D.got;
  }
}
"""


def test_queues_are_written_out() -> None:
    program = lowered(STATIONS.replace("size", "len"))
    names = [(stage.name, type(stage).__name__, stage.size) for stage in program.stages]
    assert names == [
        ("P", "Fifo", 2),
        ("P.nic", "SharedProcessor", 2),
        ("D", "Fifo", None),
        ("D.nic", "SharedProcessor", None),
        ("D.nic.latency", "Delay", None),
    ]
    assert program.stages[2] == Fifo("D", 2)
    assert program.stages[4] == Delay("D.nic.latency")
    assert [(pool.name, pool.size) for pool in program.pools] == [("P.m", 2), ("D.k", None)]
    i, size = Attr("i"), Attr("len")
    memory = Place("P.m", i)
    prefill, decode, copied = program.server[1:]
    assert prefill == Hold(
        (HoldPart(memory, size),),
        (Run((Place("P", i),), None, Binary("+", i, Num(1))),),
        cache=size,
        lease=(memory, Num(math.inf)),
    )
    assert isinstance(decode, Hold)
    assert decode.body == (
        Run((Place("D.nic.latency"),), None, Num(0.5)),
        Run((Place("P.nic", i), Place("D.nic")), None, size),
        Load(Place("D.k"), size),
        Release(memory),
        Set("D.got", Var("now")),
        Run((Place("D"),), None, Num(1)),
    )
    assert copied == Observe("copied", Attr("D.got"))


def test_a_copy_from_and_to_a_slower_tier() -> None:
    (hold,) = lowered(
        'use "std/kvt"; fn main() { queue deep : l2 { pool kv { cap 60; } serve ps(4); }'
        " pool m { } stage z : delay; workload { arrive batch(1); } server { hold m (cost(m, 9)) {"
        " kvt.l2_load (deep, m, 4, per_token = 0.5); run z (cost(z, 1));"
        " kvt.l2_store (m, deep, 8, per_token = 0.25); } } }"
    ).server
    assert isinstance(hold, Hold)
    work, load, _, store = hold.body
    assert work == Run((Place("deep"),), None, Num(2))
    assert load == Load(Place("m"), Num(4))
    assert isinstance(store, Hold)
    missing = Func("max", (Num(0), Binary("-", Num(8), Attr("cached"))))
    assert store.parts == (HoldPart(Place("deep.kv"), Observable("cachedin", Place("deep.kv"))),)
    assert store.body[1] == Run((Place("deep"),), None, Binary("*", missing, Num(0.25)))
    assert store.cache == Num(8)
