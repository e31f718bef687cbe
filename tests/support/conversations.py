"""Random conversations with one engine and its memory: programs for which there is a compiled machine."""

from __future__ import annotations

from hypothesis import strategies as st

from tests.support.drafts import Draft, Draw, Taste
from tests.support.programs import Sample

BATCH = (
    "tokens", "prefilled", "decoders", "attention", "residents", "demand", "served", "arrived", "now",
    "kv_decode", "kv_prefill", "used(kv)", "free(kv)", "holders(kv)", "queue(llm)", "queue(pause)",
)  # fmt: skip
RUNNING = ("running.count", "running.decoding", "running.kv_decode", "running.kv_prefill", "used(kv)")
LASTS = ("batch.tokens", "batch.prefilled", "batch.decoding", "batch.kv_decode", "batch.attention / 64")


def engine(d: Draft) -> str:
    """An engine in the order of admission, or decodes first."""
    condition = d.one(
        "", "", " while (running.preempted == 0)", " while (free(kv) > 3)", " while (waiting.admitted < 2)"
    )
    only = d.one("", "", "", " only (decoding)", " only (running.decoding > 2 ? decoding : 1)")
    order = d.one("", " admission", " decode first")
    each = d.one("", "", " each at most (3)")
    advance = f"advance running{only}{order}{each};"
    admit = f"admit waiting{condition}{each};"
    schedule = d.one(
        f"{advance} {admit}",
        f"{advance} {admit}",
        f"{admit} {advance}",
        f"{advance} {admit} advance running{each};",
        f"set wait = wait + 1; branch (wait > 3) {{ {admit} set wait = 0; }} else {{ {advance} {admit} }}"
        f" advance running{each};",
    )
    granule = d.one("", "", "", "granule 2;")
    cap = d.one("8", "4", "20", "3 + running.count", "64")
    return (
        f"engine llm on gpu {{ state wait = 0; reqs cap {d.one('4', '2', '8')}; tokens cap {cap}; {granule}"
        f" schedule {{ {schedule} }} execute ({d.one('1', '0.5', '1 + batch.tokens / 8')} +"
        f" ({d.number(*LASTS)}) * 0); }}"
    )


def hold(d: Draft, need: str) -> str:
    """A request's time at the engine: prefill and decode in memory, with or without a prefix cache."""
    growing = d.one(" growing kv", " growing kv", "")
    slots = d.one("reqs (cost(reqs, 1)), ", "reqs (cost(reqs, 1)), ", "")
    kept = d.chance(3)
    size, binding = need, ""
    if kept:
        size, binding = "known", f" at admission (known = {need} + 0 * used(kv))"
    units = d.one(
        f"cost(kv, {size})", f"cost(kv, {size})", "cost(kv, 2)", f"cost(kv, min({size}, budget_left(llm)))"
    )
    reserve = d.one("", f" reserve (cost(kv, {need}))", f" reserve (cost(kv, {need} + 2))")
    cached = d.chance(3) is False
    reuse, cache, done = "", "", "0"
    if cached:
        where = "reqs, kv" if slots else "kv"
        reuse = d.one("", f" reuse (cost({where}, {need} - 1))", f" reuse (cost({where}, {d.one('4', 'o')}))")
        cache = f" cache (cost({where}, {d.one(f'{need} + o', f'{need} + o', 'p', '8')}))"
        done = "cached"
    prefill = f"run llm prefill (cost(llm, max(0, {need} - {done}))){growing};"
    decode = f"run llm decode (cost(llm, o)){growing};"
    read = d.one("o", "used(kv)", "computed")
    body = d.one(
        f"{prefill} {decode}",
        f"{prefill} observe first = now - born; {decode} observe second = {read};",
        decode,
        f"{prefill} run tool (cost(tool, 1)); run llm decode (cost(llm, 2)){growing};",
    )
    return f"hold {slots}kv ({units}){reserve}{reuse}{binding} {{ {body} }}{cache}"


@st.composite
def conversations(draw: Draw) -> Sample:
    """Sessions of some turns; memory that is plenty or short; whole amounts."""
    d = Draft(draw, Taste(whole=True))
    memory = d.one("64", "24", "12", "16", "1000")
    block = d.one("", "block 2; ", "block 4; ")
    evict = d.one("evict lru; ", "")
    preempt = d.one("", "preempt lifo; ", "preempt lifo; ", "preempt by (-admission) requeue tail; ")
    arrive = d.one("renewal(2)", "renewal(4)", "poisson(0.3)", "batch(7)", "batch(3)", "renewal(~exp(3))")
    length = ("1 + serial - 3 * floor(serial / 3)", "3", "5 + min(serial, 4)", "1 + floor(~exp(4))", "0")
    init = f"set p = {d.one(*length)}; set o = {d.one(*length)}; set ctx = 0; set n = 0; set born = now;"
    turns = d.one("1", "2", "3", "1 + serial - 3 * floor(serial / 3)")
    think = d.one("run pause (cost(pause, 1 + n));", "", "run pause (cost(pause, 0.5));")
    if d.chance(3):
        think = d.one("run pause (cost(pause, ~exp(2)));", "run pause (cost(pause, 1 + ~geometric(0.5)));")
    session = d.one(
        f"while (n < {turns}) {{ turn; set ctx = ctx + p + o; set n = n + 1; {think} }}",
        f"while (n < {turns}) {{ turn; set ctx = ctx + p + o; set n = n + 1; {think} }}",
        f"turn; set ctx = p; {think} turn;",
        f"loop {{ turn; set n = n + 1; branch (n > 2) {{ end; }} else {{ set ctx = ctx + 1; }} {think} }}",
    )
    turn = d.one(
        "",
        "",
        "turn { set p = 1 + floor(~uniform(0, 6)); }",
        "turn { set p = p + 1; }",
        "turn { observe at = now; set o = turn_no; }",
    )
    gauge = d.one("", "", "gauge room = free(kv); gauge there = queue(llm) + queued(kv);")
    claims = "".join(
        f"claim c{k}: {d.one('every', 'some')} iteration of llm ({d.test(*BATCH)});"
        for k in range(int(d.one("1", "2", "3")))
    )
    text = f"""fn main() {{
  device gpu {{ kv cap {memory}; }}
  {engine(d)}
  pool reqs on llm {{ }}
  pool kv on {d.one("gpu", "llm.gpu")} {{ {block}{evict}{preempt}}}
  stage pause : delay; stage tool : delay;
  workload {{ arrive {arrive}; init {{ {init} }} {turn} session {{ {session} }} }}
  server {{ {hold(d, "(ctx + p)")} observe seen = now - born; }}
  {gauge} {claims}
}}
"""
    finite = d.chance(4) and "batch" not in arrive
    return Sample(text, float(d.one("60", "200", "25")), float(d.one("0", "0", "10")), 6 if finite else None)
