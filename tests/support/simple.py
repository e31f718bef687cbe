"""Random programs of one engine whose requests come, take a slot perhaps, prefill, decode and go."""

from __future__ import annotations

from hypothesis import strategies as st

from tests.support.drafts import Draft, Draw, Taste, reads
from tests.support.programs import Sample
from tests.support.schedules import engine_text

BATCH = ("tokens", "prefilled", "decoders", "attention", "residents", "demand", "served", "arrived", "now")


def ranked_engine(d: Draft, places: str) -> str:
    """An engine that serves runs by what stays as it is while they are there, or by `remaining`."""
    key = d.one("a", "-b", "min(a, b)", "-admission", "admission + a", "serial", "decoding")
    order = d.one("remaining", key, f"{key}, remaining", f"remaining, {key}", f"{key}, remaining, -serial")
    only = d.one("", "", " only (decoding)", " only (running.decoding > 2 ? decoding : 1)")
    each = d.one("", "", " each at most (3)")
    advance = f"advance running{only} by ({order}){each};"
    schedule = d.one(
        f"{advance} admit waiting{each};",
        f"{advance} admit waiting{each};",
        f"branch (running.count > 3) {{ {advance} }} else {{ admit waiting{each}; }}",
    )
    if not places and "branch" in schedule:
        schedule = advance
    body = f"{places} tokens cap {d.one('3', '1', '2', '5', '20')}; schedule {{ {schedule} }}"
    lasts = d.one("1", "1 + batch.tokens / 8", "2 + batch.prefilled")
    return f"engine e on gpu {{ {body} execute ({lasts}); }}"


@st.composite
def simple_samples(draw: Draw) -> Sample:
    """Programs of which most run as one loop, long enough for iterations to repeat."""
    d = Draft(draw, Taste(whole=draw(st.booleans()), phased=True, random=draw(st.booleans())))
    slots = d.chance()
    places = f"slots cap {d.one('2', '1', '3', '8')};" if slots else ""
    engine = ranked_engine(d, places) if d.chance(3) else engine_text(d, "e", "gpu", places=places)
    d.engines.append("e")
    if slots:
        d.pools.append("slots")
    pool = "pool slots on e { }" if slots else ""
    gap = d.one("4", "1", "7.5", "20", "35")
    arrive = d.one(f"renewal({gap})", "batch(6)", f"renewal({gap})", "batch(1)", "batch(12)")
    if d.taste.random:
        arrive = d.one(
            arrive,
            "poisson(0.1)",
            "poisson(0.5)",
            "renewal(~exp(6))",
            "slotted(5, ~table(0: 0.5, 1: 0.25, 3: 0.25))",
            "slotted(20, ~poisson(2))",
        )
    length = ("4 * (1 + serial - 3 * floor(serial / 3))", "30", "12 - min(serial, 12)", "1", "17", "0")
    drawn = ("floor(~exp(20))", "1 + floor(~uniform(0, 40))") if d.taste.random else ()
    init = f"init {{ set t0 = now; set a = {d.one(*length, *drawn)}; set b = {d.one(*length, *drawn)}; }}"
    turn = d.one("", "", "turn { set c = turn_no; }", "turn { set new = 3 + serial; set out = 9; }")
    runs = d.one(
        "run e prefill (cost(e, a)); run e decode (cost(e, b));",
        "run e prefill (cost(e, a)); run e decode (cost(e, b));",
        "run e prefill (cost(e, a)); observe until = now - t0; run e decode (cost(e, b)); set x = a + b;",
        "run e decode (cost(e, b)); run e prefill (cost(e, a));",
        "run e prefill (cost(e, a)); run e prefill (cost(e, b)); run e decode (cost(e, a + b));",
        "branch (a > b) { set x = 9; } else { set x = b; }"
        " run e prefill (cost(e, a)); run e decode (cost(e, x));",
    )
    if "new" in turn:
        runs = d.one(runs, "run e prefill (cost(e, new)); run e decode (cost(e, out + cached));")
    if slots:
        size = d.one("1", "1", "1 + serial - 2 * floor(serial / 2)")
        runs = f"hold slots (cost(slots, {size})) {{ {runs} }}"
        runs = d.one(runs, runs, f"{runs} hold slots (cost(slots, 1)) {{ run e prefill (cost(e, 2)); }}")
    state = (*d.state(), *(("work(e)",) if d.chance(4) else ()))
    server = f"server {{ {runs} observe seen = now - t0; observe other = {d.number('a', 'b', *state)}; }}"
    gauges = [f"gauge g{n} = {d.number(*state)};" for n in range(int(d.one("0", "0", "1")))]
    claims = []
    for n in range(int(d.one("2", "1", "3", "0"))):
        given = f" given ({d.test('serial', 'a', 'b')})" if d.chance(5) else ""
        test = d.one(
            "demand < 4 || tokens == 4",
            f"served * 3 <= {d.one('10', '4')} * now + {d.one('0', '20')}",
            f"{d.one(*BATCH)} {d.one('<=', '<', '==', '>=')} {d.one(*BATCH, '20', '50')}",
            f"!(now > {d.one('20', '60')} && served {d.one('<', '>')} 2 * now)",
            d.test(*BATCH, *reads("queue busy", ("e",))),
        )
        claims.append(f"claim c{n}{given}: {d.one('every', 'some')} iteration of e ({test});")
    items = ["device gpu { }", engine, pool, f"workload {{ arrive {arrive}; {init} {turn} }}", server]
    horizon, arrivals = d.one("200", "60", "73.25", "400", "1500"), None
    if not arrive.startswith("batch") and d.chance(3):
        horizon, arrivals = "4000", int(d.one("3", "1", "9"))
    warmup = d.one("13", "6.5", "20") if d.chance(4) else "0"
    source = "fn main() {\n  " + "\n  ".join([*items, *gauges, *claims]) + "\n}\n"
    return Sample(source, float(horizon), float(warmup), arrivals)
