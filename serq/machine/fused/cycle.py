"""Runs that repeat themselves: once a state comes back, whole periods are added at once.

A deterministic program whose requests come at one distance is in a state that depends on nothing but
what the engine and the requests still have to do. If that is the same at two arrivals, times and numbers
taken relative to them, everything between the two happens again, shifted, for ever. So k periods add k
times what one has added: samples with shifted times, counts, time integrals. All times are whole then,
and below 2^53, so that sums are exact.

Claims over what does not shift repeat their answers. Others (`now`, `served`, `arrived`) change by the
same amount in every period: where two equal answers settle those between (`spans`), they are compared
before the periods that are passed over and after them; if they are not equal, the loop runs again
without passing over anything.
"""

from __future__ import annotations

from collections.abc import Iterable

from serq.ir.expr import Attr, Binary, Draw, Expr, Num, Var, children, walk
from serq.ir.server import Branch, Hold, Observe, Run, Set, Statement
from serq.ir.workload import Renewal
from serq.machine.fused.fragment import Fused, Leave, expressions
from serq.machine.fused.spans import between, varies
from serq.machine.watch import Watch
from serq.values import is_whole

SHIFTING = frozenset({"now", "served", "arrived"})
"""What is larger in every period."""

COUNTED = (
    "events", "arrived", "ended", "turns", "completed", "iterations", "decode_starts", "decode_sum",
    "admissions", "queue_admissions", "live_area", "area", "busy_time", "service", "prefill_only",
    "decode_only", "mixed", "decode_area", "decode_duration", "served", "used_area", "queue_area",
    "holders_area", "wait_sum",
)  # fmt: skip
"""What grows by the same amount in every period."""

CLOCKS = ("finish_at", "live_since", "since", "started", "pool_since")
"""Times of the run; those of requests and segments are shifted where they are kept."""

CYCLE = """
if arrived >= look_at:
    shape = (finish_at - now, present, decoding, waiting, used, len(segs), len(pre))
    if seen is None:
        if uneven or now % 1 or warm_at < inf or not now < horizon < WHOLE:
            look_at = 2 * arrived
        else:
            <state>
            seen = (shape, state, now, m.lengths(), (<counted>,), (<failures>,))
            earlier_gaps, earlier_counts = gaps, gap_counts
            gaps, gap_counts = m.new_gaps()
    elif shape == seen[0]:
        <state>
        if state == seen[1]:
            shape, state, begun, lengths, counts, false = seen
            x = now - begun
            k = int((horizon - now) // x) - 2
            if wanted is not None:
                k = min(k, (wanted - arrived) // (arrived - counts[1]) - 2)
            look_at = 1 << 60
            if k > 0 and not uneven:
                expected = (<more failures>,)
                m.repeat(lengths, k, x, arrived - counts[1])
                for n in range(len(gap_counts)):
                    gap_counts[n] *= k + 1
                <count>
                x *= k
                <shift>
                now += x
                <count failures>
                false = (<failures>,)
                verify_at = arrived + n
            <gather>
            seen = None
    if seen is not None and arrived >= seen[4][1] + WINDOW:
        <gather>
        seen, look_at = None, 2 * arrived
elif arrived == verify_at:
    verify_at = -1
    if expected != (<more failures>,) or <inexact>:
        return None
"""

GATHER = """
earlier_gaps.extend(gaps)
earlier_counts.extend(gap_counts)
gaps, gap_counts = earlier_gaps, earlier_counts
"""

STATE = """
numbers = {}
rows = [finish_at - now, idle, fruitless, tokens, prefilled, decoders, used]
for i in pre:
    numbers[i] = len(numbers)
    rows.append(<row>)
    rows.append(remaining[i])
for g in segs:
    rows.append((len(line[g]), mark[g] == iteration, last[g] - now if mark[g] else 0))
    rows.append((len(unripe[g]), len(ripening[g])))
    for j in line[g]:
        i = j[-1]
        numbers[i] = len(numbers)
        rows.append(<row>)
        rows.append((due[i] - tick[g], total[i] - counted[i]))
    rows += [numbers[i] for i in unripe[g]]
    rows += [numbers[i] for i in ripening[g]]
for i in queue:
    rows.append(<row>)
for i in batch:
    if i >= 0:
        rows.append((numbers[i], given[i]))
    else:
        rows.append((-1 - segs.index(~i), dealt[~i]))
state = rows
"""

ROW = (
    "(arrived - serial[i], stage[i], joined_at[i] - now if stage[i] else 0, started_at[i] - now,"
    " first_token[i] - now if first_token[i] >= 0 else 1,"
    " last_token[i] - now if token_count[i] or decoded[i] else 1, token_count[i], decoded[i], known[i]"
)


def repeats(fused: Fused, watches: Iterable[Watch]) -> tuple[set[str], str | None]:
    """The attributes that are times, and why a state that comes back would not do (None: it does)."""
    program, workload = fused.program, fused.program.workload
    arrival = workload.arrival if workload else None
    if workload is None or not isinstance(arrival, Renewal) or not isinstance(arrival.gap, Num):
        return set(), "requests do not come at one distance"
    if not is_whole(arrival.gap.value) or program.gauges or not fused.steady:
        return set(), "something besides requests changes"
    if any(
        isinstance(node, Draw) for e in expressions(program, fused.engine, fused.steps) for node in walk(e)
    ):
        return set(), "it draws"
    if any(claim.given is not None for claim in program.claims):
        return set(), "a claim looks at each request"
    statements = [*workload.init, *workload.turn, *fused.steps]
    times: set[str] = set()
    others: set[str] = set()
    for s in _all(statements):
        if isinstance(s, Set):
            (times if is_time(s.value, frozenset()) else others).add(s.attribute)
    if times & others:
        return set(), "an attribute is a time and something else"
    for s in _all(statements):
        if not all(_stands(e, times) for e in _read(s)):
            return set(), "what a request does depends on when it came"
    for watch in watches:
        if varies(watch.value, SHIFTING):
            spans = between(watch.value, SHIFTING)
            if not (spans.true or spans.false):
                return set(), "two answers do not settle a claim"
    return times, None


def is_time(e: Expr, times: Iterable[str]) -> bool:
    """Whether a value is an instant: the clock, or an attribute that was set to it."""
    match e:
        case Var(name=name):
            return name == "now"
        case Attr(name=name):
            return name in times
    return False


def _stands(e: Expr, times: set[str]) -> bool:
    """Whether a value is the same for a request that comes later into the same state."""
    if isinstance(e, Binary) and e.operator == "-" and is_time(e.left, times) and is_time(e.right, times):
        return True
    if is_time(e, times) or (isinstance(e, Attr) and e.name == "serial"):
        return False
    return all(_stands(inner, times) for inner in children(e))


def _all(statements: Iterable[Statement | Leave]) -> Iterable[Statement | Leave]:
    for s in statements:
        yield s
        if isinstance(s, Branch):
            yield from _all(s.then)
            yield from _all(s.otherwise)


def _read(s: Statement | Leave) -> list[Expr]:
    match s:
        case Set(value=value):
            return [] if is_time(value, frozenset()) else [value]
        case Observe(value=value):
            return [value]
        case Run(work=work):
            return [work]
        case Hold(parts=parts):
            return [parts[0].units]
        case Branch(test=test):
            return [test]
    return []
