"""The text of the loop, with holes for what a program says.

`loop` is Python over plain lists of numbers, one entry per request (`i`) or per segment (`g`); the decodes
of a segment are served as one (compare `serq.machine.stages.segment`). What a reader meets:

finished: iterations that have ended. tick[g]: tokens that each member of a segment has got since it
began. line[g]: its members, each as its rank (or what its rank is but for the tick) and i. due[i]: the
tick at which a decode is done. heap: when decodes are done at the earliest, counted by
`finished`; who would be done but for a segment that was passed over is parked until that is served.
pre, pre_rank: prefills and their ranks, in order. segs: segments in order. A rank says where a run stands:
its number, or keys before that. batch: who is served, a
prefill as i, a segment as ~g. given[i]: tokens of a prefill, room[i]: what it might have got.
unripe[g]: decodes that wait for the first token; ripening[g]: those that get it in this iteration.

Where something is not as the fragment promises, the loop returns False: the run starts again in the
machine that knows everything, which also has the words for what is wrong.

It is one file: a loop is read as a whole, and its pieces share every variable.

`<name>` alone in a line is a hole, filled with other pieces of this file or with what the writer makes.
"""

LOOP = """
def loop(m, horizon, warmup, wanted, progress):
    now = 0.0
    events = arrived = ended = turns = live = 0
    live_area = live_since = 0.0
    present = decoding = joined = iteration = finished = decoders = completed = 0
    area = busy_time = since = service = 0.0
    iterations = decode_starts = decode_sum = 0
    prefill_only = decode_only = mixed = decode_area = decode_duration = started = 0.0
    served = unfinished = prefill_demand = demand = 0.0
    tokens = prefilled = attention = left = lasts = 0.0
    idle, fruitless, apart, refused, drained = True, False, False, False, False
    batch_runs = admitted = waiting = holders = admissions = queue_admissions = 0
    used = used_area = queue_area = holders_area = pool_since = wait_sum = 0.0
    gaps, gap_counts = m.new_gaps()
    free, serial, stage, place, remaining, given, room, joined_at = [], [], [], [], [], [], [], []
    due, total, counted, segment_of, served_in = [], [], [], [], []
    started_at, first_token, last_token, token_count, decoded, known = [], [], [], [], [], []
    units, asked_at, admission = [], [], []
    spare, line, tick, last, mark, dealt = [], [], [], [], [], []
    unripe, ripening, parked = [], [], []
    pre, pre_rank, segs, heap, batch, done, ripe, newcomers = [], [], [], [], [], [], [], []
    ready, queue = [], deque()
    <start>
    arrive_at = finish_at = inf
    arrive_no, finish_no, number, at, again = 1, 1, 2, 0, PROGRESS_EVERY
    warm_at = warmup if warmup > 0 else inf
    <first arrivals>
    while True:
        # Sessions that can go on.
        if ready:
            at = 0
            while at < len(ready):
                i = ready[at]
                at += 1
                <sessions>
            ready.clear()
        # The instant is over, unless more happens in it.
        soon = arrive_at if arrive_at < finish_at else finish_at
        if warm_at < soon:
            soon = warm_at
        if soon != now or not events:
            instant = now
            if idle and (present or waiting):
                <try>
            <gauges>
        if drained:
            break
        # The next event.
        if warm_at <= arrive_at and warm_at <= finish_at:
            if warm_at > horizon:
                break
            now, warm_at = warm_at, inf
            events += 1
            <warm>
        elif finish_at < arrive_at or (finish_at == arrive_at and finish_no < arrive_no):
            if finish_at > horizon:
                break
            now, finish_at = finish_at, inf
            events += 1
            <finish>
        else:
            if arrive_at > horizon:
                break
            now = arrive_at
            events += 1
            <arrive>
        if events >= again:
            again = events + PROGRESS_EVERY
            progress(now, iterations)
    <end>
    return True
"""

# ---------------------------------------------------------------- sessions

ARRIVE = """
<cycle>
<create>
if wanted is None or arrived < wanted:
    gap = <gap>
    if not SMALLEST_GAP <= gap < inf or now + gap == now:
        return False
    arrive_at, arrive_no = now + gap, number
    number += 1
else:
    arrive_at = inf
"""

OPEN_SLOT = """
n = <count>
if not is_slot_count(n):
    return False
for _ in range(int(n if wanted is None else min(n, wanted - arrived))):
    <create>
if wanted is None or arrived < wanted:
    slot += 1
    arrive_at, arrive_no = slot * <slot>, number
    number += 1
else:
    arrive_at = inf
"""

CREATE = """
live_area += live * (now - live_since)
live_since = now
live += 1
if free:
    i = free.pop()
else:
    i = len(serial)
    for column in columns:
        column.append(0)
serial[i] = arrived
arrived += 1
stage[i] = 0
<init>
ready.append(i)
"""

START_TURN = """
turns += 1
started_at[i] = now
first_token[i] = -1.0
token_count[i] = decoded[i] = known[i] = 0
<turn>
"""

END_SESSION = """
if first_token[i] >= 0:
    <know>
    if token_count[i] >= 2:
        tpot_times(now)
        tpot_sessions(serial[i])
        tpot_values((now - first_token[i]) / (token_count[i] - 1))
response_times(now)
response_sessions(serial[i])
response_values(now - started_at[i])
live_area += live * (now - live_since)
live_since = now
live -= 1
ended += 1
free.append(i)
if wanted == arrived and not live:
    drained = True
"""

KNOW = """
if not known[i]:
    known[i] = 1
    ttft_times(now)
    ttft_sessions(serial[i])
    ttft_values(first_token[i] - started_at[i])
"""

OBSERVE = """
v = <value>
if v != v:
    return False
<name>_times(now)
<name>_sessions(serial[i])
<name>_turns(<turn>)
<name>_values(v)
"""

GAUGE = """
v = <value>
if v != <name>:
    <name> = v
    <show>(instant, v)
"""

SETTLE = """
if now != since:
    if present:
        area += present * (now - since)
        busy_time += now - since
    since = now
"""

SETTLE_POOL = """
if now != pool_since:
    used_area += used * (now - pool_since)
    queue_area += waiting * (now - pool_since)
    holders_area += holders * (now - pool_since)
    pool_since = now
"""

ASK = """
u = <value>
if not 0 <= u <= <cap>:
    return False
<settle pool>
units[i] = u
asked_at[i] = now
queue.append(i)
waiting += 1
"""

GIVE_BACK = """
<settle pool>
used -= units[i]
holders -= 1
"""

JOIN = """
if w == 0:
    ready.append(i)
elif not 0 < w < WHOLE or w % 1:
    return False
else:
    <settle>
    present += 1
    joined_at[i] = now
    <place>
    joined += 1
    unfinished += w
    <newcomer>
    <line up>
"""

LINE_UP_PREFILL = """
remaining[i] = w
prefill_demand += <want w>
p = <rank of prefill>
if not pre or pre_rank[-1] < p:
    pre.append(i)
    pre_rank.append(p)
else:
    k = bisect(pre_rank, p)
    pre.insert(k, i)
    pre_rank.insert(k, p)
"""

LINE_UP_DECODE = """
decoding += 1
n = int(w)
<late comer>
p = <rank of decode>
k = len(segs)
while k:
    g = segs[k - 1]
    j = line[g][0]
    if <rank of j> < p:
        break
    k -= 1
g = segs[k - 1] if k else -1
if g >= 0:
    j = line[g][-1]
    h = <rank of j>
    if <served already>:
        if p < h:
            return False
        g = -1
    elif p > h and stands_between(pre_rank, h, p):
        g = -1
if g < 0:
    if spare:
        g = spare.pop()
        tick[g] = mark[g] = 0
    else:
        g = len(line)
        tick.append(0)
        last.append(0.0)
        mark.append(0)
        dealt.append(0)
        line.append([])
        unripe.append([])
        ripening.append([])
        parked.append([])
    segs.insert(k, g)
due[i] = tick[g] + n
j = <entry>
if not line[g] or line[g][-1] < j:
    line[g].append(j)
else:
    insort(line[g], j)
segment_of[i] = g
total[i] = n
counted[i] = 0
unripe[g].append(i)
heappush(heap, ((finished + (1 - idle) + n) << 32) | i)
"""

# ---------------------------------------------------------------- an iteration

TRY = """
budget = <budget>
if not 0 <= budget or (budget != inf and (budget % 1 or budget > WHOLE)):
    return False
<lets>
left = budget
tokens = prefilled = attention = 0.0
decoders = admitted = 0
refused, apart = False, True
iteration += 1
<statements>
fruitless = not tokens
if tokens:
    demand = decoding + prefill_demand
    <claims>
    lasts = <lasts>
    if not 0 < lasts < inf:
        return False
    <uneven>
    <stride>
    iterations += 1
    if decoders:
        decode_starts += 1
        decode_sum += decoders
        decode_duration += lasts
    <count batch>
    idle = False
    started = now
    finish_at, finish_no = now + lasts, number
    number += 1
<undo>
"""

SERVE_PREFILL = """
offer = left if left < <each> else <each>
r = remaining[i]
n = r if r < offer else offer
<granule>
if n > 0:
    served_in[i] = iteration
    given[i] = n
    room[i] = offer
    batch.append(i)
    left -= n
    tokens += n
    prefilled += n
    attention += n * (n / 2)
else:
    refused = True
"""

GRANULE = """
if n < r:
    n = floor(n / <size>) * <size> if n >= <size> else 0.0
"""

SERVE_SEGMENT = """
if len(line[g]) > left:
    split(segs, k, int(left), <lists>)
    g = segs[k]
if parked[g]:
    for i in parked[g]:
        heappush(heap, ((finished + due[i] - tick[g]) << 32) | i)
    parked[g].clear()
tick[g] += 1
mark[g] = iteration
n = dealt[g] = len(line[g])
if unripe[g]:
    ripening[g], unripe[g] = unripe[g], ripening[g]
batch.append(~g)
left -= n
tokens += n
decoders += n
"""

SERVE_DECODES = """
k = 0
while left > 0 and k < len(segs):
    g = segs[k]
    if mark[g] != iteration:
        <serve segment>
    k += 1
"""

SERVE_PREFILLS = """
for i in pre:
    if left <= 0:
        break
    if served_in[i] != iteration:
        <serve prefill>
"""

SERVE_IN_ORDER = """
apart = False
k = q = 0
while left > 0:
    g = segs[k] if k < len(segs) else -1
    if g >= 0 and q < len(pre):
        j = line[g][0]
        if pre_rank[q] < <rank of j>:
            g = -1
    if g >= 0:
        if mark[g] != iteration:
            if q < len(pre):
                j = line[g][-1]
                if pre_rank[q] < <rank of j>:
                    # A prefill stands among them: those before it go first.
                    n = bisect(line[g], <cut>)
                    split(segs, k, n, <lists>)
                    g = segs[k]
            <serve segment>
        k += 1
    elif q < len(pre):
        i = pre[q]
        if served_in[i] != iteration:
            <serve prefill>
        q += 1
    else:
        break
"""

ADMIT = """
while left > 0 and not refused:
    <condition>
    if not waiting:
        break
    i = queue[0]
    if used + units[i] > <cap>:
        break
    queue.popleft()
    <settle pool>
    waiting -= 1
    queue_admissions += 1
    wait_sum += now - asked_at[i]
    admission[i] = admissions
    admissions += 1
    used += units[i]
    holders += 1
    admitted += 1
    newcomers.clear()
    ready.append(i)
    at = 0
    while at < len(ready):
        i = ready[at]
        at += 1
        <sessions>
    ready.clear()
    for i in newcomers:
        if left <= 0:
            break
        <serve newcomer>
"""

SERVE_NEWCOMER = """
if remaining[i] > 0:
    if <prefill allowed>:
        <serve prefill>
elif <decode allowed>:
    g = segment_of[i]
    if len(line[g]) > 1:
        return False
    k = segs.index(g)
    <serve segment>
"""

CONDITION = """
v = <value>
if v != 0 and v != 1:
    return False
if not v:
    break
"""

BRANCH = """
v = <value>
if v == 1:
    <then>
elif v == 0:
    <otherwise>
else:
    return False
"""

# ---------------------------------------------------------------- the end of an iteration

FINISH = """
if not prefilled:
    decode_only += now - started
elif decoders:
    mixed += now - started
else:
    prefill_only += now - started
decode_area += decoders * (now - started)
started = now
idle = True
batch_runs = 0
served += tokens
unfinished -= tokens
finished += 1
while heap and heap[0] >> 32 <= finished:
    i = heappop(heap) & 0xFFFFFFFF
    g = segment_of[i]
    if mark[g] != iteration:
        parked[g].append(i)
    elif due[i] <= tick[g]:
        ripe.append(i)
    else:
        heappush(heap, ((finished + due[i] - tick[g]) << 32) | i)
if len(ripe) > 1:
    ripe.sort(key=place.__getitem__)
    <ripe order>
moved = 0
for i in batch:
    if i >= 0:
        r = remaining[i]
        prefill_demand -= <want r>
        <find prefill>
        r -= given[i]
        remaining[i] = r
        if r > 0:
            prefill_demand += <want r>
            <rank prefill>
            continue
        <find done>
        del pre[k], pre_rank[k]
        if decoded[i]:
            <gap of i>
        if decoded[i] or known[i]:
            token_count[i] += 1
        else:
            first_token[i] = now
            token_count[i] = 1
        last_token[i] = now
        done.append(i)
        continue
    g = ~i
    moved += 1
    <count tokens>
    last[g] = now
    for i in ripe:
        if segment_of[i] == g:
            j = line[g]
            k = bisect_left(j, <entry>)
            del j[k]
            token_count[i] += total[i] - counted[i]
            last_token[i] = now
            decoding -= 1
            done.append(i)
if moved > 1 or ripe:
    <tidy>
batch.clear()
ripe.clear()
if done:
    <settle>
    for i in done:
        present -= 1
        completed += 1
        service += now - joined_at[i]
        ready.append(i)
    done.clear()
"""

COUNT_TOKENS = """
n = dealt[g]
if ripening[g]:
    j = ripening[g]
    if len(j) > 1:
        j.sort(key=place.__getitem__)
        <ripening order>
    for i in j:
        counted[i] += 1
        if first_token[i] < 0:
            first_token[i] = now
        else:
            <gap of i>
        token_count[i] += 1
        last_token[i] = now
        decoded[i] = 1
        <know>
    n -= len(j)
    j.clear()
if n:
    x = now - last[g]
    if gaps and gaps[-1] == x:
        gap_counts[-1] += n
    else:
        gaps.append(x)
        gap_counts.append(n)
"""

GAP = """
x = now - last_token[i]
if gaps and gaps[-1] == x:
    gap_counts[-1] += 1
else:
    gaps.append(x)
    gap_counts.append(1)
"""

TIDY = """
kept = []
for at, g in enumerate(segs):
    if not line[g]:
        spare.append(g)
        continue
    h = kept[-1] if kept else -1
    if h < 0 or mark[h] != iteration or mark[g] != iteration:
        kept.append(g)
        continue
    if not apart:
        j, g = line[h][-1], h
        p = <rank of j>
        g = segs[at]
        j = line[g][0]
        if stands_between(pre_rank, p, <rank of j>):
            kept.append(g)
            continue
    # Two that were served together are one from now on; the smaller joins the larger.
    large, small = (h, g) if len(line[h]) >= len(line[g]) else (g, h)
    n = tick[large] - tick[small]
    for j in line[small]:
        i = j[-1]
        due[i] += n
        segment_of[i] = large
    <line of small>
    if unripe[small]:
        unripe[large] += unripe[small]
        unripe[small].clear()
    if large == h:
        line[h] += line[g]
    else:
        line[g][:0] = line[h]
    line[small].clear()
    spare.append(small)
    kept[-1] = large
segs = kept
"""

WARM = """
area = busy_time = service = 0.0
prefill_only = decode_only = mixed = decode_area = decode_duration = 0.0
completed = decode_starts = decode_sum = ended = turns = 0
used_area = queue_area = holders_area = wait_sum = live_area = 0.0
queue_admissions = 0
gaps, gap_counts = m.new_gaps()
since = started = pool_since = live_since = now
"""

# ---------------------------------------------------------------- strides

STRIDE = """
most = (heap[0] >> 32) - finished if heap else 1 << 60
if most > 1 and not admitted:
    for i in batch:
        if i >= 0:
            r = remaining[i] - room[i]
            k = -int(-r // given[i]) if r > 0 else 1
            <linear demand>
            if k < most:
                most = k
    end = arrive_at if arrive_at < warm_at else warm_at
    x = now + lasts
    if most > 1 and x < end and x <= horizon:
        first, begun = now, served
        if lasts % 1 == 0 and now % 1 == 0 and horizon < WHOLE:
            # Whole times add up exactly, in one step.
            k = most - 1
            if not now + k * lasts < end:
                k = int((end - now) / lasts)
                while not now + k * lasts < end:
                    k -= 1
                while now + (k + 1) * lasts < end:
                    k += 1
            if now + k * lasts > horizon:
                k = int((horizon - now) / lasts)
                while now + k * lasts > horizon:
                    k -= 1
                while now + (k + 1) * lasts <= horizon:
                    k += 1
            now = x
            <first tokens>
            now = first + k * lasts
            if decoders and k > 1:
                if gaps and gaps[-1] == lasts:
                    gap_counts[-1] += decoders * (k - 1)
                else:
                    gaps.append(lasts)
                    gap_counts.append(decoders * (k - 1))
            x = k * lasts
            if not prefilled:
                decode_only += x
            elif decoders:
                mixed += x
            else:
                prefill_only += x
            decode_area += decoders * x
            if decoders:
                decode_duration += x
            <claims of whole strides>
        else:
            k = 0
            while True:
                y = x - now
                if not prefilled:
                    decode_only += y
                elif decoders:
                    mixed += y
                else:
                    prefill_only += y
                decode_area += decoders * y
                if decoders:
                    decode_duration += lasts
                now = x
                k += 1
                if k == 1:
                    <first tokens>
                elif decoders:
                    if gaps and gaps[-1] == y:
                        gap_counts[-1] += decoders
                    else:
                        gaps.append(y)
                        gap_counts.append(decoders)
                <claims of a step>
                x = now + lasts
                if k == most - 1 or not x < end or x > horizon:
                    break
        served = begun + k * tokens
        unfinished -= k * tokens
        finished += k
        iterations += k
        events += k
        number += k
        if decoders:
            decode_starts += k
            decode_sum += k * decoders
        for i in batch:
            if i >= 0:
                prefill_demand -= <want of i>
                remaining[i] -= k * given[i]
                prefill_demand += <want of i>
            else:
                tick[~i] += k
                last[~i] = now
        <claims that stand>
"""

FIRST_TOKENS = """
for i in batch:
    if i < 0:
        g = ~i
        <count tokens>
"""

STEP_CLAIMS = """
served = begun + k * tokens
demand -= prefilled
<checks>
"""

WHOLE_CLAIMS = """
served = begun + k * tokens
x = demand
demand -= k * prefilled
<ends>
if <uneven>:
    for j in range(1, k + 1):
        now = first + j * lasts
        served = begun + j * tokens
        demand = x - j * prefilled
        <checks>
else:
    <same>
"""

SPLIT = """
def split(segs, k, count, <lists>):
    # The first `count` members of a segment become one of their own; the smaller part moves.
    g = segs[k]
    if not 0 < count < len(line[g]):
        return
    if spare:
        h = spare.pop()
    else:
        h = len(line)
        for column in (tick, mark, dealt):
            column.append(0)
        last.append(0.0)
        for column in (line, unripe, ripening, parked):
            column.append([])
    tick[h], last[h], mark[h] = tick[g], last[g], mark[g]
    front = 2 * count <= len(line[g])
    if front:
        line[h] = line[g][:count]
        del line[g][:count]
    else:
        line[h] = line[g][count:]
        del line[g][count:]
    for j in line[h]:
        segment_of[j[-1]] = h
    for some in (unripe, parked):
        both = some[g]
        some[g] = [i for i in both if segment_of[i] == g]
        some[h] = [i for i in both if segment_of[i] == h]
    segs[k : k + 1] = (h, g) if front else (g, h)
"""

END = """
<gather>
if wanted is None:
    now = horizon
elif not drained or now <= warmup:
    return False
<settle>
<settle pool>
live_area += live * (now - live_since)
if not idle:
    if not prefilled:
        decode_only += now - started
    elif decoders:
        mixed += now - started
    else:
        prefill_only += now - started
    decode_area += decoders * (now - started)
<claims>
m.put_machine(now, events, arrived, live, ended, turns, live_area)
m.put_engine(area, busy_time, completed, service, iterations, prefill_only, decode_only, mixed, decode_area,
             decode_starts, decode_sum, decode_duration, gaps, gap_counts,
             idle and fruitless and (present or waiting) > 0)
m.put_pool(used_area, queue_area, holders_area, admissions, queue_admissions, wait_sum)
"""
