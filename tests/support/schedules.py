"""Random engines: budgets, schedules of every form, registers, execution times."""

from __future__ import annotations

from attrs import define

from tests.support.drafts import Draft, Names

WHILE_NOBODY_PREEMPTED = "while (running.preempted == 0)"
ONE_PHASE = "running.decoding > 0 ? decoding : !decoding"


@define
class EngineDraft:
    """An engine being drawn.

    lists: what its clauses read of its lists and registers. own: its registers. each: `each at most`
    as every statement of its schedule repeats it, with a blank before.
    """

    d: Draft
    lists: Names
    own: Names = ()
    each: str = ""

    def some(self, whole: str, fractional: str) -> str:
        """One of the words; fractional ones only where amounts need not be whole."""
        words = whole.split() if self.d.taste.whole else f"{whole} {fractional}".split()
        return self.d.one(*words)

    # ------------------------------------------------------------ clauses

    def budget(self) -> str:
        d, lists = self.d, self.lists
        forms = ["4", "1", "2", "3", "7", "inf", "max(1, 6 - running.count)"]
        forms += [f"max(2, {d.one(*lists)})", f"({d.test(*lists)} ? 2 : 5)"]
        if not d.taste.whole:
            forms += ["2.5", "0.5", "max(0, 4 - running.decoding)", "1.5 + running.count / 4"]
        if d.taste.draws:
            forms.append("~det(4)")
        return d.one(*forms)

    def limit(self) -> tuple[str, str]:
        """A `let` that `each at most` reads, or nothing, and the most that one run may get."""
        d = self.d
        let = f"let cut = {d.number(*self.lists)}; " if d.chance(3) else ""
        reading = (*self.lists, "cut") if let else self.lists
        first, second = (self.some("1 2 3", "0.5 1.5") for _ in range(2))
        each = d.one(
            first, "inf", f"max({first}, {d.one(*reading)})", f"{d.test(*reading)} ? {first} : {second}"
        )
        return (let if "cut" in each else ""), f" each at most ({each})"

    def duration(self) -> str:
        """How long an iteration lasts; above 0 when it gave tokens."""
        d = self.d
        batch = ("batch.tokens", "batch.prefilled", "batch.decoding", "batch.attention", "running.count")
        if "running.kv_decode" in self.lists:
            batch += ("batch.kv_decode", "batch.kv_prefill")
        return d.one(
            "1",
            *(("0.5 + ~uniform(0, 1)", "0.25 + ~exp(1)") if d.taste.random else ()),
            "1 + batch.tokens / 8",
            "1.5 + batch.prefilled / 4",
            "1 + batch.attention",
            "0.5 + batch.decoding",
            f"0.5 + min(8, abs({d.number(*batch, *self.own)}))",
            f"0.5 + min(8, abs({d.number(*batch, *self.own, *d.state()[:6], 'now')}))",
        )

    # ------------------------------------------------------------ the schedule

    def schedule(self, depth: int = 0) -> str:
        """Statements of which every path serves or admits somebody."""
        d = self.d
        forms = ["advance", "both", "both", "two", "admit first"]
        if depth < 1:
            forms.append("branch")
        if self.own:
            forms += ["set", "set"]
        match d.one(*forms):
            case "advance":
                return self.advance()
            case "both":
                return f"{self.advance()} {self.admit()}"
            case "two":
                return f"{self.advance()} {self.advance()} {self.admit()}"
            case "admit first":
                return f"{self.admit()} {self.advance()}"
            case "set":
                before = d.one("", f"set n = {d.number(*self.plan())}; ")
                return f"{before}{self.schedule(depth + 1)} set n = {d.number(*self.plan())};"
            case _:
                test = d.test(*self.plan())
                then, otherwise = self.schedule(depth + 1), self.schedule(depth + 1)
                return f"branch ({test}) {{ {then} }} else {{ {otherwise} }}"

    def plan(self) -> Names:
        """What guards and `set`s of the schedule read."""
        so_far = ("waiting.admitted", "batch.tokens", "batch.prefilled", "running.preempted")
        return (*self.lists, *so_far)

    def per_run(self) -> Names:
        """What may tell runs apart."""
        return ("decoding",) if self.d.taste.phased else ("decoding", "remaining", "serial", "a", "b")

    def only(self) -> str:
        test = self.d.test(*self.per_run(), *self.lists)
        return f" only ({self.d.one('decoding', '!decoding', ONE_PHASE, test)})"

    def advance(self) -> str:
        d = self.d
        only = self.only() if d.chance(3) else ""
        keys = (*self.per_run(), *self.lists, "now")
        orders = ["", " admission", " decode first", " by (-decoding)", " by (decoding)"]
        if not d.taste.phased:
            orders += [" by (admission)", " by (-admission)", " by (remaining)", " by (decoding, -remaining)"]
            orders += [" by (-serial)", f" by ({d.number(*keys)}, {d.number(*keys)})"]
        orders.append(f" by ({d.number(*keys)})")
        return f"advance running{only}{d.one(*orders)}{self.each};"

    def admit(self) -> str:
        d = self.d
        only = self.only() if d.chance(4) else ""
        condition = d.one(
            "", WHILE_NOBODY_PREEMPTED, "while (waiting.admitted < 1)", f"while ({d.test(*self.plan())})"
        )
        return f"admit waiting{only} {condition}{self.each};"


def engine_text(d: Draft, name: str, device: str, size: int | None = None, places: str = "") -> str:
    """An engine; `size` makes it a family, `places` declares a capacity that it holds."""
    lists: Names = ("running.count", "running.decoding")
    if size is None:
        # A member of a family may not count the holds that wait for any of them.
        lists += ("waiting.count",)
    if name == "e" and d.has_memory and not d.taste.phased:
        lists += ("running.kv_decode", "running.kv_prefill")
    e = EngineDraft(d, lists)
    exclusive = d.chance(6)
    body = [places] if places else []
    if name == "e" and not exclusive and d.chance(3):
        e.own = ("n",)
        d.registers.append("n")
        e.lists += e.own
        body.append(f"state n = {d.one('0', '1', '2')};")
    let = ""
    if d.chance(3):
        let, e.each = e.limit()
    elif not exclusive and d.chance(4):
        body.append(f"granule {e.some('2 3 4', '0.5 1.5 inf')};")
    if exclusive:
        schedule = f"exclusive prefill{e.each}; admit waiting {WHILE_NOBODY_PREEMPTED}{e.each};"
    else:
        schedule = e.schedule()
        if e.own and "set n" not in schedule:
            schedule += f" set n = {d.number(*e.plan())};"
    body += [f"tokens cap {e.budget()};", f"schedule {{ {let}{schedule} }}", f"execute ({e.duration()});"]
    family = "" if size is None else f"[{size}]"
    return f"engine {name}{family} on {device} {{\n    " + "\n    ".join(body) + "\n  }"
