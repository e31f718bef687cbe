"""Random statements of a server: runs, holds, branches, loops, choices."""

from __future__ import annotations

from tests.support.drafts import Draft, Names

SIZES = ("serial", "turn_no", "a", "b")
"""Attributes that the workload sets."""

VALUES = ("x", "k")
"""Attributes that the server sets."""


def block(d: Draft, depth: int = 0) -> str:
    count = d.one("1", "2", *(("3",) if depth == 0 else ()))
    return " ".join(statement(d, depth) for _ in range(int(count)))


def statement(d: Draft, depth: int) -> str:
    forms = ["turn", "run", "run", "observe", "set"]
    if depth < 2:
        forms += ["branch", "while", "choose"]
        if len(d.pools) > len(d.held):
            forms += ["hold", "hold", "hold"]
    match d.one(*forms):
        case "turn":
            e = d.one(*d.engines)
            return f"run {e} prefill (cost({e}, {tokens(d)})); run {e} decode (cost({e}, {tokens(d)}));"
        case "run":
            return run(d)
        case "observe":
            return f"observe {d.one('seen', 'other')} = {d.number(*readable(d))};"
        case "set":
            return f"set x = {d.number(*readable(d))};"
        case "choose":
            keys = f"{d.number(*readable(d))}, {d.one('k', '-k')}"
            return f"choose k in {d.one('2', '3', 'a', '4 - a')} by ({keys}); observe other = k;"
        case "branch":
            return branch(d, depth)
        case "while":
            return loop(d, depth)
        case _:
            return hold(d, depth)


def readable(d: Draft) -> Names:
    """What a statement may read."""
    return (*SIZES, *VALUES, "now", *d.state(), *d.work())


def tokens(d: Draft) -> str:
    """Tokens of a run at an engine; now and then none."""
    amounts = ["3", "1", "2", "5", "9", "0", "1 + a", "2 * b", "4 - a"]
    if not d.taste.whole:
        amounts += ["2.5", "0.5", "1.5 + a / 4"]
    if d.taste.draws:
        amounts.append("~det(3)")
    if d.taste.random:
        amounts += ["floor(~exp(6))", "1 + ~uniform(0, 4)", "~geometric(0.2)", "~table(1: 0.5, 2 + a: 0.5)"]
    return d.one(*amounts)


def time(d: Draft) -> str:
    """Work at a line or delay."""
    times = ["1", "0.5", "2", "1 + a", "0.25 * b", "3"]
    if d.taste.draws:
        times.append("~det(1)")
    if d.taste.random:
        times += ["~exp(1.5)", "~h2(1, 3)", "~erlang(3, 2)", "~gamma(0.7, 2)", "~lognormal(1, 2)"]
    return d.one(*times)


def run(d: Draft) -> str:
    """A run at any stage; of a family, at the member chosen just before."""
    place = d.one(*d.engines, *d.lines, *d.families)
    work = time(d) if place in d.lines or place in d.line_families else tokens(d)
    mode = "" if place in d.lines or place in d.line_families else d.one("prefill ", "decode ")
    if place not in d.families:
        return f"run {place} {mode}(cost({place}, {work}));"
    key = d.one(f"queue({place}[k])", f"work({place}[k])", f"busy({place}[k]), -k", "-k", "a * k")
    choice = f"choose k in {d.families[place]} by ({key});"
    return f"{choice} run {place}[{d.one('k', 'k', '0')}] {mode}(cost({place}, {work}));"


def branch(d: Draft, depth: int) -> str:
    test = f"({d.test(*readable(d))})"
    if d.taste.draws and d.chance(4):
        test = f"with ({d.one('0', '1', *(('0.5', '1 / (2 + a)') if d.taste.random else ()))})"
    then, otherwise = block(d, depth + 1), block(d, depth + 1)
    if not d.held and d.chance(6):
        then += " end;"
    return f"branch {test} {{ {then} }} else {{ {otherwise} }}"


def loop(d: Draft, depth: int) -> str:
    """A bounded loop that lets time pass."""
    d.loops += 1
    i = f"i{d.loops}"
    passes = f"run {d.lines[0]} (cost({d.lines[0]}, 1));" if d.lines else "run e decode (cost(e, 1));"
    body = f"{passes} {block(d, depth + 1)} set {i} = {i} + 1;"
    return f"set {i} = 0; while ({i} < {d.one('1', '2', '1 + a')}) {{ {body} }}"


def hold(d: Draft, depth: int) -> str:
    free = [p for p in d.pools if p not in d.held]
    first = d.one(*free)
    taken = [first, *(p for p in free if p != first and d.chance(3))]
    names = [d.one("1", "1 + a", "b", "3 - a") for _ in taken]
    binding = ""
    if d.chance(5):
        names[0] = f"need{len(d.held)}"
        binding = f" at admission ({names[0]} = {d.one('1', '1 + a', f'min(2, free({first}))')})"
    parts = ", ".join(part(d, pool, units) for pool, units in zip(taken, names, strict=True))
    d.held += taken
    body = block(d, depth + 1)
    if d.chance(5):
        body += f" release {first}; {run(d)}"
    del d.held[-len(taken) :]
    return f"hold {parts}{binding} {{ {body} }}"


def part(d: Draft, pool: str, units: str) -> str:
    reserve = f" reserve (cost({pool}, {d.one('1', '1 + b', 'a')}))" if d.chance(5) else ""
    return f"{pool} (cost({pool}, {units})){reserve}"
