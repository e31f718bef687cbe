"""Random programs of the MEMORY language: pools of every kind, holds that grow, cache, lease, lose.

As in `tests.support.programs`, everything is deterministic and times and amounts are sums of powers
of two, so that two ways of running one program can be compared to the last digit.
"""

from __future__ import annotations

from attrs import define, evolve
from hypothesis import strategies as st

from tests.support.drafts import Draft, Draw, Names, Taste, reads
from tests.support.programs import Sample, claims
from tests.support.schedules import engine_text

SIZES = ("serial", "turn_no", "a", "b")
AMOUNTS = ("1", "2", "1 + a", "b", "3", "4 - a", "turn_no", "min(2, turn_no + b)")


@st.composite
def memory_samples(draw: Draw, taste: Taste | None = None) -> Sample:
    """Programs about memory, with the settings of their runs."""
    return MemoryDraft(Draft(draw, taste or Taste())).sample()


@st.composite
def same_requests(draw: Draw) -> tuple[Sample, Sample]:
    """One program about memory under two schedules; requests are drawn, and observed as they come."""
    draft = MemoryDraft(Draft(draw, Taste()), drawn=True)
    first = draft.sample()
    other = engine_text(draft.d, "e", "gpu", places=draft.places)
    assert first.source.count(draft.engine) == 1
    return first, evolve(first, source=first.source.replace(draft.engine, other))


INIT = "set a = serial - 3 * floor(serial / 3); set b = min(serial, 2);"
DRAWN = "set a = floor(~uniform(0, 3)); set b = ~bernoulli(0.5); observe born = now; observe length = a + b;"


@define
class MemoryDraft:
    """A program about memory being drawn.

    cached: whether a statement in a hold may read `cached`: the hold has a `cache`, and no other hold comes
    before the statement there. drawn: whether requests and the gaps between them are random. engine: the
    text of the engine `e`; places: the capacity in it that is a pool.
    """

    d: Draft
    cached: bool = False
    drawn: bool = False
    engine: str = ""
    places: str = ""

    def sample(self) -> Sample:
        d = self.d
        d.pools = ["kv", *(("p",) if d.chance() else ())]
        d.lines = ["z", *(("q",) if d.chance(3) else ())]
        d.engines = ["e"]
        self.places = f"slots cap {d.one('2', '3', '1')};" if d.chance() else ""
        if self.places:
            d.pools.append("slots")
        shards = d.chance(5)
        if shards:
            d.pools += ["shard[0]", "shard[1]"]
        where = d.one("on gpu", "on e.gpu", "alone")
        cap, memory = d.one("8", "4", "6", "5", "12"), self.options("kv")
        items = ["stage z : delay;"]
        if "q" in d.lines:
            items.append("stage q : fifo;")
        items.append(
            f"pool kv {{ cap {cap}; {memory} }}" if where == "alone" else f"pool kv {where} {{ {memory} }}"
        )
        if "p" in d.pools:
            items.append(f"pool p {{ cap {d.one('3', '5', '2')}; {self.options('p')} }}")
        if self.places:
            items.append(f"pool slots on e {{ {self.options('slots')} }}")
        if shards:
            items.append(f"pool shard[2] {{ cap {d.one('4', '3')}; {self.options('shard')} }}")
        if "spill" in " ".join(items):
            tier = f"pool tier {{ cap {d.one('4', '2', '9')}; {d.one('', '', 'block 2;')} }}"
            items += [f"stage copy : {d.one('fifo', 'delay')};", tier]
            d.pools.append("tier")
        if d.chance(3):
            items.reverse()
        device = "device gpu { }" if where == "alone" else f"device gpu {{ kv cap {cap}; }}"
        self.engine = engine_text(d, "e", "gpu", places=self.places)
        items = [device, self.engine, *items, self.workload()]
        if d.chance(4):
            items[2:2] = self.second_engine()
        body = " ".join(self.statement(0) for _ in range(int(d.one("1", "2", "3"))))
        items.append(f"server {{ set x = 0;\n    {body}\n    observe seen = now - t0; observe other = x; }}")
        items += [f"gauge g{n} = {d.number(*d.state(), *d.registers)};" for n in range(int(d.one("0", "1")))]
        items += claims(d)
        source = "fn main() {\n  " + "\n  ".join(items) + "\n}\n"
        return Sample(source, float(d.one("20", "10", "40")), float(d.one("0", "0", "3", "2.5")))

    # ------------------------------------------------------------ declarations

    def second_engine(self) -> list[str]:
        """An engine `f`, perhaps with a memory of its own."""
        d = self.d
        engine = engine_text(d, "f", "card")
        d.engines.append("f")
        if not d.chance():
            return ["device card { }", engine]
        d.pools.append("ram")
        where = d.one("on card", "on f.card")
        return ["device card { ram cap 6; }", engine, f"pool ram {where} {{ {self.options('ram')} }}"]

    def options(self, pool: str) -> str:
        """What a pool declares beside its capacity."""
        d = self.d
        found = []
        if d.chance(3):
            key = d.number("a", "b", "waited", "serial", "turn_no", *self.live())
            found.append(
                d.one("queue by (-serial);", "queue by (a, waited);", f"queue by ({key});", "queue fifo;")
            )
        if d.chance(3 if pool == "kv" else 8):
            found.append(d.one("block 2;", "block 3;", "block 1;"))
        if pool != "slots" and d.chance(3):
            key = d.number("size", "age", "last", "waiting", "a", "serial", *self.live())
            found.append(
                d.one(
                    "evict by (size);",
                    "evict by (-last);",
                    "evict by (waiting, a);",
                    f"evict by ({key});",
                    "evict by (cached, turn_no);",
                    "evict lru;",
                )
            )
        if d.chance():
            found.append(self.preempt())
        if d.chance(4):
            found.append("reserve held;")
        if pool == "kv" and d.chance(4):
            work = d.one("size / 2", "1", "0", "age")
            test = d.one("1", "size > 1", "a > 0", "waiting", "cachedin(kv) < 2")
            found.append(f"spill tier via copy ({work}) when ({test});")
        return " ".join(found)

    def preempt(self) -> str:
        d = self.d
        key = d.number("a", "serial", "position", "decoding", "admission", *d.state())
        rule = d.one("lifo", "by (-serial)", "by (position)", "by (decoding, serial)", f"by ({key})", "none")
        requeue = "" if rule in ("lifo", "none") else d.one("", " requeue tail", " requeue head")
        return f"preempt {rule}{requeue};"

    def live(self) -> Names:
        """Live state and what a session has in the caches."""
        return (*self.d.state(), *reads("cachedin", tuple(self.d.pools)))

    def workload(self) -> str:
        d = self.d
        count = d.draw(st.integers(1, d.taste.crowd))
        gaps = "~exp(1)" if self.drawn else d.one("1", "2", "0.75")
        arrive = d.one(f"batch({count})", f"renewal({gaps})", f"closed({count})")
        session = d.one(
            "turn; run pause (cost(pause, 1)); turn; run pause (cost(pause, 0.5)); turn;",
            "turn; run pause (cost(pause, 1 + serial)); turn;",
            "run pause (cost(pause, 0.25 + b)); turn; turn;",
            "run pause (cost(pause, 0.5)); turn; branch (serial == 1) { end; } else { } turn;",
        )
        blocks = f"init {{ set t0 = now; {DRAWN if self.drawn else INIT} }}"
        if self.drawn:
            blocks += " turn { set b = ~bernoulli(0.5); observe next = b; }"
        return f"stage pause : delay; workload {{ arrive {arrive}; {blocks} session {{ {session} }} }}"

    # ------------------------------------------------------------ statements

    def statement(self, depth: int) -> str:
        d = self.d
        forms = ["run", "run", "observe", "observe"]
        if depth < 3 and len(set(d.held)) < len(d.pools):
            forms += ["hold"] * (6 if depth == 0 else 2)
        if d.held:
            forms += ["growing", "growing", "growing", "grow", "grow", "load", "release"]
        else:
            forms += ["drop"]
        if depth < 3:
            forms += ["branch"]
        pool = d.one(*d.held) if d.held else ""
        match d.one(*forms):
            case "run":
                return self.run()
            case "observe":
                more = ("cached",) if self.cached or not d.held else ()
                names = (*SIZES, *more, "computed", "now", *self.live(), "budget_left(e)", *d.work())
                return f"observe other = {d.number(*names)};"
            case "growing":
                return f"{self.run_engine()} growing {pool};"
            case "grow":
                return f"grow {pool} (cost({pool}, {d.one(*AMOUNTS)}));"
            case "load":
                return f"load {pool} (cost({pool}, {d.one('0', '1', 'b')}));"
            case "release":
                return f"release {pool}; {self.run()}"
            case "drop":
                return f"drop {d.one(*d.pools)};"
            case "branch":
                test = d.test(*SIZES, "now", *self.live())
                return f"branch ({test}) {{ {self.block(depth + 1)} }} else {{ {self.block(depth + 1)} }}"
            case _:
                return self.hold(depth)

    def block(self, depth: int) -> str:
        return " ".join(self.statement(depth) for _ in range(int(self.d.one("1", "2", "3"))))

    def tokens(self) -> str:
        d = self.d
        return d.one("3", "1", "2", "5", "0", "1 + a", *(() if d.taste.whole else ("2.5", "0.5")))

    def run_engine(self) -> str:
        engine = self.d.one(*self.d.engines)
        return f"run {engine} {self.d.one('decode', 'prefill')} (cost({engine}, {self.tokens()}))"

    def run(self) -> str:
        d = self.d
        if d.chance():
            return f"{self.run_engine()};"
        line = d.one(*d.lines)
        return f"run {line} (cost({line}, {d.one('1', '0.5', '2', '1 + a', '0.25 * b')}));"

    def hold(self, depth: int) -> str:
        """A hold of one or several pools with any of its clauses."""
        d = self.d
        free = [pool for pool in d.pools if pool not in d.held]
        # Now and then a pool that a hold around this one takes, too.
        taken = [d.one(*d.pools) if d.chance(6) else d.one(*free)]
        taken += [pool for pool in free if pool not in taken and d.chance(3)]
        binding, parts = "", []
        for pool in taken:
            units = d.one(*AMOUNTS, f"min({d.one(*AMOUNTS)}, budget_left(e))", f"min(free({pool}), 2)")
            if d.chance(5) and not binding:
                name = f"need{depth}"
                binding = f" at admission ({name} = {d.one(*AMOUNTS, f'max(1, cachedin({pool}))')})"
                units = name
            reserve = f" reserve (cost({pool}, {d.one(*AMOUNTS)}))" if d.chance(4) else ""
            parts.append(f"{pool} (cost({pool}, {units})){reserve}")
        every = ", ".join(taken)
        cache = reuse = lease = ""
        if d.chance():
            cache = f" cache (cost({every}, {d.one('9', *AMOUNTS, '0')}))"
            if d.chance(3):
                reuse = f" reuse (cost({every}, {d.one(*AMOUNTS, '0', 'budget_left(e)')}))"
        if d.chance(4):
            lease = f" lease {d.one(*taken)} ({d.one('1', '0.5', '3', '0', 'inf')})"
        self.cached = bool(cache)
        d.held += taken
        body = self.block(depth + 1)
        del d.held[-len(taken) :]
        self.cached = False  # every admission sets it
        return f"hold {', '.join(parts)}{reuse}{binding} {{ {body} }}{cache}{lease}"
