"""Random programs of the CORE language, as text, for comparing two ways of running one program.

Every program is deterministic: what it draws has one outcome (`~det(3)`, `branch with (1)`). Times
and amounts are sums of powers of two, so that events meant to meet at one instant do so in floating
point, and no comparison of two reports hangs on the last digit.
"""

from __future__ import annotations

from attrs import frozen
from hypothesis import strategies as st

from tests.support.drafts import Draft, Draw, Taste, indices, reads
from tests.support.schedules import engine_text
from tests.support.servers import block

__all__ = ["Sample", "Taste", "samples"]


@frozen
class Sample:
    """A program and the settings of its run."""

    source: str
    horizon: float
    warmup: float = 0.0
    arrivals: int | None = None

    def __str__(self) -> str:
        settings = f"horizon {self.horizon:g}, warmup {self.warmup:g}, arrivals {self.arrivals}"
        return f"{settings}\n{self.source}"


@st.composite
def samples(draw: Draw, taste: Taste | None = None) -> Sample:
    """Programs with the settings of their runs."""
    d = Draft(draw, taste or Taste())
    stages = lines(d)
    places, where, cap = declare_pools(d)
    devices = [f"device gpu {{ kv cap {cap}; }}" if d.has_memory else "device gpu { }"]
    engines = [engine_text(d, "e", "gpu", places=places)]
    d.engines.append("e")
    stages += pools(d, where, cap)
    others = d.one("none", "none", "another", "family")
    if others == "another":
        devices.append("device card { }")
        engines.append(engine_text(d, "f", "card"))
        d.engines.append("f")
    elif others == "family":
        devices.append("device rack[2] { }")
        engines.append(engine_text(d, "F", "rack", size=2))
        d.engine_families["F"] = 2
    workload, is_stream = workload_text(d)
    if "pause" in workload:
        stages.append("stage pause : delay;")
    server = f"set x = 0; set k = 0;\n    {block(d)}\n    observe seen = now - t0; observe other = k + x;"
    gauges = [f"gauge g{n} = {d.number(*d.state(), *d.registers)};" for n in range(int(d.one("0", "1", "2")))]
    items = [*devices, *engines, *stages, workload, f"server {{\n    {server}\n  }}", *gauges, *claims(d)]
    horizon, arrivals = d.one("10", "20", "40", "7"), None
    if is_stream and d.chance(4):
        horizon, arrivals = "400", int(d.one("1", "3", "5"))
    warmup = d.one("3", "2.5", "6") if d.chance(4) else "0"
    source = "fn main() {\n  " + "\n  ".join(items) + "\n}\n"
    return Sample(source, float(horizon), float(warmup), arrivals)


def lines(d: Draft) -> list[str]:
    """Delays and lines of servers."""
    found = []
    if d.chance():
        d.lines.append("z")
        found.append("stage z : delay;")
    if d.chance(3):
        d.lines.append("q")
        found.append(f"stage q : fifo{d.one('', '(2)')};")
    if d.chance(4):
        d.line_families["D"] = 2
        found.append(f"stage D[2] : {d.one('fifo', 'delay')};")
    return found


def declare_pools(d: Draft) -> tuple[str, str, str]:
    """Capacities that `e` holds, and where and how large the pool `kv` is."""
    places = ""
    if d.taste.holds and d.chance():
        d.pools.append("slots")
        places = f"slots cap {d.one('2', '1', '3')};"
    where = d.one("", "", "on gpu", "on e.gpu", "alone") if d.taste.holds else ""
    if where:
        d.pools.append("kv")
    # A schedule that reads memory cannot serve its runs in classes.
    d.has_memory = where.startswith("on ")
    return places, where, d.one("4", "2", "6", "3")


def pools(d: Draft, where: str, cap: str) -> list[str]:
    """The pools; queues that `e` admits may read its registers."""
    found = []
    if "slots" in d.pools:
        found.append(f"pool slots on e {{ {queue(d, *d.registers)} }}")
    if where == "alone":
        found.append(f"pool kv {{ cap {cap}; {queue(d)} }}")
    elif where:
        found.append(f"pool kv {where} {{ {queue(d, *(d.registers if where == 'on e.gpu' else ()))} }}")
    return found


def queue(d: Draft, *registers: str) -> str:
    """In which order the holds that wait for a pool are tried."""
    key = d.number("a", "b", "waited", "now", *registers)
    return d.one("", "", "queue by (-serial);", "queue by (a, waited);", f"queue by ({key});")


def workload_text(d: Draft) -> tuple[str, bool]:
    """The workload, and whether its sessions arrive in a stream without end."""
    crowd = 1 + d.draw(indices(d.taste.crowd))
    gaps = ["1", "2", "0.75", "3"]
    if d.taste.draws:
        gaps.append("~det(1.5)")
    if d.taste.random:
        gaps += ["~exp(1.5)", "~uniform(0.5, 2)", "~weibull(0.8, 1.5)", "~pareto(3, 1)"]
    streams = [f"renewal({d.one(*gaps)})"]
    if d.taste.random:
        streams += ["poisson(0.75)", "gamma(0.75, 2)", "slotted(2, ~poisson(1.5))"]
    arrive = d.one(f"batch({crowd})", *streams, f"closed({crowd})")
    # A closed client that lets no time pass would come back for ever at one instant.
    first = "turn; run pause (cost(pause, 1)); turn;"
    session = d.one(
        "" if not arrive.startswith("closed") else f"session {{ {first} }}",
        f"session {{ {first} }}",
        "session { while (turn_no < 1 + a) { run pause (cost(pause, 0.5 + b)); turn; } }",
        "session { loop { turn; run pause (cost(pause, 2)); branch (turn_no >= 2) { end; } else { } } }",
        "session { run pause (cost(pause, 1 + serial)); turn; observe back = now - t0; }",
    )
    drawn = "set c = floor(~exp(4)); observe drawn = c; " if d.taste.random else ""
    init = f"init {{ {drawn}set t0 = now; set a = serial - 3 * floor(serial / 3); set b = min(serial, 2); }}"
    turn = d.one("", "turn { set g = turn_no + a; observe begun = g; }")
    return f"workload {{ arrive {arrive}; {init} {turn} {session} }}", arrive in streams


def claims(d: Draft) -> list[str]:
    """Up to three claims, about iterations and about the end."""
    batch = ("tokens", "prefilled", "decoders", "attention", "residents", "demand", "served")
    if d.has_memory:
        batch += ("kv_decode", "kv_prefill")
    found = []
    for n in range(int(d.one("0", "1", "2", "3"))):
        given = f" given ({d.test('serial', 'a', 'b', 't0')})" if d.chance(4) else ""
        kind, engine = d.one("every", "some", "end"), d.one(*d.iterating())
        names = (*batch, "arrived", "now", *d.state(), *(d.registers if engine == "e" else ()))
        test = d.one("demand < 4 || tokens == 4", d.test(*names))
        claim = f"{kind} iteration of {engine} ({test})"
        if kind == "end":
            summaries = reads("count total largest smallest prefix_total", ("seen", "other"))
            claim = f"at end ({d.test(*summaries, 'now', *d.registers)})"
        found.append(f"claim c{n}{given}: {claim};")
    return found
