"""Random scheduling programs: loops, tags, arrays, aggregates over requests, all kinds of runs."""

from __future__ import annotations

from random import Random

from attrs import define, field

FIELDS = {
    "running": ("progress", "remaining", "decoding", "admission"),
    "batch": ("progress", "remaining", "given", "decoding"),
    "waiting": ("waited", "units", "admitted"),
}
EVERYWHERE = ("serial", "o", "lane", "mood")


@define
class Program:
    """A program being drawn. memory: requests hold units of a pool that their runs may grow with; bare:
    arrays and branches only, nothing looks at requests one by one."""

    draw: Random
    memory: bool = False
    bare: bool = False
    names: int = 0
    requests: list[tuple[str, str]] = field(factory=list)
    numbers: list[str] = field(factory=list)

    def one(self, *words: str) -> str:
        return self.draw.choice(words)

    def chance(self, of: int) -> bool:
        return self.draw.randrange(of) == 0

    def fresh(self) -> str:
        self.names += 1
        return f"n{self.names}"

    # ------------------------------------------------------------ expressions

    def number(self, sets: tuple[str, ...], depth: int = 0) -> str:
        """A number. sets: what aggregates range over here."""
        forms = ["constant", "constant", "register", "array"]
        forms += ["request"] * 3 if self.requests else []
        forms += ["name"] if self.numbers else []
        forms += ["sum", "choice"] if depth < 2 else []
        forms += ["survey", "survey"] if depth < 2 and not self.bare else []
        match self.one(*forms):
            case "constant":
                return self.one("0", "1", "2", "3", "0.5", "7")
            case "register":
                return self.one("n", "n", "turn", "running.count", "waiting.count")
            case "array":
                return f"load[{self.index()}]"
            case "request":
                name, among = self.draw.choice(self.requests)
                return f"{name}.{self.one(*EVERYWHERE, *FIELDS[among])}"
            case "name":
                return self.one(*self.numbers)
            case "sum":
                left, right = self.number(sets, depth + 1), self.number(sets, depth + 1)
                return f"({left} {self.one('+', '-', '*')} {right})"
            case "choice":
                test = self.test(sets, depth + 1)
                return f"({test} ? {self.number(sets, depth + 1)} : {self.number(sets, depth + 1)})"
            case _:
                return self.survey(sets, depth)

    def index(self) -> str:
        """An index of `load`, which has three numbers; now and then one that is outside."""
        inside = ["0", "1", "2", "min(2, max(0, floor(n)))"]
        inside += [f"min(2, max(0, floor({j})))" for j in self.numbers]
        return self.one(*inside * 30, "n")

    def survey(self, sets: tuple[str, ...], depth: int) -> str:
        among, name = self.one(*sets), self.fresh()
        self.requests.append((name, among))
        body = self.number(sets, depth + 1) if self.chance(2) else f"{name}.{self.one(*FIELDS[among], 'o')}"
        self.requests.pop()
        return f"({self.one('max', 'min', 'sum', 'count')} {name} in {among} ({body}))"

    def test(self, sets: tuple[str, ...], depth: int = 0) -> str:
        left, right = self.number(sets, depth), self.number(sets, depth)
        return f"{left} {self.one('<', '<=', '>', '==', '!=')} {right}"

    # ------------------------------------------------------------ statements

    ALL = ("running", "waiting", "batch")

    def block(self, depth: int) -> str:
        before = len(self.numbers)
        lines = [self.statement(depth) for _ in range(self.draw.randint(1, 3))]
        del self.numbers[before:]
        return " ".join(lines)

    def statement(self, depth: int) -> str:
        forms = ["set", "array"]
        forms += ["loop", "count"] if depth < 3 and not self.bare else []
        forms += ["branch"] if depth < 3 else []
        if depth and not self.bare:
            forms += ["let", "break"]
            forms += ["tag", "serve", "serve", "serve", "serve"] if self.requests else []
        match self.one(*forms):
            case "set":
                return f"set n = min(9, max(0 - 9, {self.number(self.ALL)}));"
            case "array":
                return f"set load[{self.index()}] = min(9, max(0 - 9, {self.number(self.ALL)}));"
            case "tag":
                name, _ = self.draw.choice(self.requests)
                return f"set {name}.{self.one('lane', 'mood')} = min(9, max(0 - 9, {self.number(self.ALL)}));"
            case "serve":
                name, among = self.draw.choice(self.requests)
                return f"{'admit' if among == 'waiting' else 'advance'} {name};"
            case "let":
                value, name = self.number(self.ALL), self.fresh()
                self.numbers.append(name)
                return f"let {name} = {value};"
            case "break":
                return f"branch ({self.test(self.ALL)}) {{ break; }}"
            case "branch":
                other = f" else {{ {self.block(depth + 1)} }}" if self.chance(3) else ""
                if depth == 0:
                    return f"branch ({self.test(self.ALL)}) {{ set turn = turn + 1; }}"
                return f"branch ({self.test(self.ALL)}) {{ {self.block(depth + 1)} }}{other}"
            case "count":
                name = self.fresh()
                self.numbers.append(name)
                body = self.block(depth + 1)
                self.numbers.remove(name)
                return f"for {name} in {self.draw.randint(0, 3)} {{ {body} }}"
            case _:
                return self.loop(depth)

    def loop(self, depth: int) -> str:
        among, name = self.one("running", "waiting"), self.fresh()
        self.requests.append((name, among))
        keys = ", ".join(self.number(self.ALL, 1) for _ in range(self.draw.randint(1, 2)))
        order = f" by ({keys})" if self.chance(2) else ""
        where = f" where ({self.test(self.ALL, 1)})" if self.chance(3) else ""
        serve = f"{'admit' if among == 'waiting' else 'advance'} {name};"
        body = f"{self.block(depth + 1)} {serve}" if self.chance(2) else f"{serve} {self.block(depth + 1)}"
        self.requests.pop()
        return f"for {name} in {among}{order}{where} {{ {body} }}"

    def schedule(self) -> str:
        each = "for a in running { advance a; } for w in waiting by (w.o) { admit w; }"
        serve = self.one(
            "advance running; admit waiting;", "admit waiting; advance running;", "advance running;",
            "advance running by (-remaining); admit waiting while (waiting.admitted < 1);", "admit waiting;",
            *(() if self.bare else (each,)),
        )  # fmt: skip
        lines = [self.statement(0) for _ in range(self.draw.randint(1, 4))]
        lines.insert(self.draw.randint(0, len(lines)), serve)
        return " ".join(lines)


def scheduling_program(seed: int, bare: bool = False) -> str:
    """The text of a program; the same for the same seed."""
    draw = Random(seed)
    p = Program(draw, draw.randrange(3) == 0, bare)
    whole = draw.randrange(3) > 0
    many = "4 + floor(load[1])" if bare else "4 + count r in running (r.progress > 1)"
    cap = p.one("inf", "3", "2", many, *(() if whole else ("2.5",)))
    schedule = p.schedule()
    claims = " ".join(
        f"claim c{i}: {p.one('every', 'some')} iteration of e ({p.test(p.ALL)});" for i in range(3)
    )
    gauges = " ".join(f"gauge g{i} = {p.number(('running', 'waiting'))};" for i in range(2))
    claims, gauges = (text.replace("running.count", "queue(e)") for text in (claims, gauges))
    claims, gauges = (text.replace("waiting.count", "queued(slots)") for text in (claims, gauges))
    work = p.one("run e decode (cost(e, o));", "run e prefill (cost(e, o)); run e decode (cost(e, 2));",
                 "run e decode (cost(e, o)); run z (cost(z, 1)); run e decode (cost(e, 1));")  # fmt: skip
    if p.memory:
        body = (
            "hold slots (cost(slots, 1)), kv (cost(kv, 1)) "
            "{ run e prefill (cost(e, o)) growing kv; run e decode (cost(e, 3)) growing kv; "
            "observe d = now; }"
        )
        device, pool = "kv cap 9;", f"pool kv on gpu {{ preempt {p.one('lifo', 'none', 'by (admission)')}; }}"
    else:
        device, pool = "", ""
        outside = p.one("", "", "run e decode (cost(e, 1)); ")
        body = f"{outside}hold slots (cost(slots, 1)) {{ {work} observe d = now; }}"
    given = "load[2]" if bare else "sum r in batch (r.given)"
    arrive = p.one("batch(5)", "at (times)", "renewal(2)", "closed(3)", "batch(2)")
    queue = p.one("", "queue by (-o);")
    return f"""let times = [0, 0, 1, 4, 4, 7];
fn main() {{
  device gpu {{ {device} }}
  engine e on gpu {{
    slots cap {p.one("2", "3")};
    tokens cap {cap};
    state n = 0; state turn = 0; state load[3] = 1;
    {"" if bare else "tag lane = 0; tag mood = -1;"}
    schedule {{ {schedule} }}
    execute ({p.one("1", "1 + batch.tokens / 4", f"1 + max(0, n) + {given}")});
  }}
  pool slots on e {{ {queue} }}
  {pool}
  stage z : delay;
  workload {{ arrive {arrive}; init {{ set o = {p.one("1 + serial", "5 - serial / 2", "6")}; }} }}
  server {{ {body} }}
  {gauges}
  {claims}
}}
"""
