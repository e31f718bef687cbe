"""One iteration of an engine, step by step (semantics, section 4)."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from math import inf

from attrs import evolve

from serq.diagnostics import InternalError
from serq.ir.expr import Expr
from serq.ir.schedule import (
    Admit,
    AdmitOne,
    Advance,
    AdvanceOne,
    Break,
    ExclusivePrefill,
    ForIndex,
    ForRequests,
    ScheduleBranch,
    ScheduleStatement,
    SetName,
    SetRegister,
    SetTag,
)
from serq.machine.plain import caches, pools, tokens
from serq.machine.plain.evaluate import (
    Here,
    in_order,
    is_true,
    limits,
    members_of,
    register_size,
    share,
    slot_below,
    value,
)
from serq.machine.plain.sessions import resume_ready
from serq.machine.plain.state import Engine, Growth, Hold, Machine, Run, Session
from serq.machine.records import Iteration
from serq.source import Span
from serq.values import DONE, show

PASS_LIMIT = 1_000_000


def has_work(e: Engine) -> bool:
    """Whether the engine has runs, or waiting holds that it admits."""
    return bool(e.runs) or e.waiting() > 0


def try_iteration(m: Machine, e: Engine) -> None:
    """Form a batch and start it. An attempt that gives no token leaves the engine idle."""
    e.budget, e.each = limits(e, m)
    if not e.budget >= 0:
        m.fail("SQ0608", e.rule.tokens_cap.at, value=show(e.budget))
    e.batch = {}
    e.lost = e.returned = 0.0
    e.preempted = e.admitted = e.passes = 0
    e.refused = False
    e.newly = set()
    before, tags = e.registers.copy(), e.tags.copy()
    m.forming = e
    schedule = e.rule.schedule.statements
    if isinstance(schedule[0], ExclusivePrefill):
        _exclusive_prefill(m, e, next(s for s in schedule if isinstance(s, Admit)))
    else:
        _follow(m, e, schedule, {})
    m.forming = None
    if e.batch or e.preempted:
        e.fruitless = False
        _start(m, e)
        return
    e.fruitless = has_work(e)
    if not e.admitted:
        e.registers, e.tags = before, tags


# ---------------------------------------------------------------- the schedule


Names = dict[str, float | Run | Hold]


class _Left(Exception):
    """Raised by `break` in the innermost loop."""


def _follow(m: Machine, e: Engine, statements: tuple[ScheduleStatement, ...], names: Names) -> None:
    """names: what the loops around have bound."""
    for s in statements:
        here = Here(m, engine=e, names=names)
        match s:
            case Advance():
                _advance(m, e, s)
            case Admit():
                _admit(m, e, s)
            case ScheduleBranch(test=test, then=then, otherwise=otherwise):
                # What an arm binds is known to the end of the arm.
                _follow(m, e, then if _guard(m, test, here, s.at) else otherwise, names.copy())
            case SetRegister(register=register, value=assigned, index=index):
                slot = 0
                if index is not None:
                    slot = slot_below(register_size(e, register), index, register, s.at, here)
                number = value(assigned, here)
                if not -inf < number < inf:
                    m.fail("SQ0619", s.at, name=register, value=show(number))
                e.registers[register, slot] = number
            case SetTag(request=request, tag=tag, value=assigned):
                number = value(assigned, here)
                if not -inf < number < inf:
                    m.fail("SQ0647", s.at, name=tag, value=show(number))
                e.tags[_request(names, request).session, tag] = number
            case SetName(name=name, value=assigned):
                names[name] = value(assigned, here)
            case ForRequests():
                _loop(m, e, s, s.request, _chosen(m, e, s, here), names)
            case ForIndex(name=name, count=count):
                _loop(m, e, s, name, [float(j) for j in range(count)], names)
            case Break():
                raise _Left
            case AdmitOne(request=request):
                _admit_one(m, e, _request(names, request).session)
            case AdvanceOne(request=request):
                e.returned = 0.0
                run = _request(names, request)
                if isinstance(run, Run) and run in e.runs and run not in e.batch and e.left > 0:
                    _serve(m, run)
            case ExclusivePrefill():
                raise InternalError("`exclusive prefill` comes first")


def _request(names: Names, name: str) -> Run | Hold:
    request = names[name]
    assert isinstance(request, Run | Hold)
    return request


def _chosen(m: Machine, e: Engine, s: ForRequests, here: Here) -> list[Run | Hold]:
    """The requests that a loop goes over, picked and sorted as it starts."""

    def about(request: Run | Hold) -> Here:
        return evolve(here, names={**here.names, s.request: request})

    def key_of(request: Run | Hold, key: Expr) -> float:
        number = value(key, about(request))
        if number != number:
            m.fail("SQ0648", key.at or s.at)
        return number

    test = s.where
    present = members_of(e, s.among)
    picked = [r for r in present if test is None or _guard(m, test, about(r), test.at or s.at)]
    return sorted(picked, key=lambda r: [key_of(r, key) for key in s.keys])


def _loop(
    m: Machine,
    e: Engine,
    s: ForRequests | ForIndex,
    name: str,
    over: Sequence[float | Run | Hold],
    names: Names,
) -> None:
    with suppress(_Left):
        for item in over:
            e.passes += 1
            if e.passes > PASS_LIMIT:
                m.fail("SQ0646", s.at)
            _follow(m, e, s.body, {**names, name: item})


def _guard(m: Machine, test: Expr, here: Here, at: Span | None) -> bool:
    number = value(test, here)
    if number not in (0, 1):
        m.fail("SQ0601", at, value=show(number))
    return number == 1


def _about(m: Machine, run: Run) -> Here:
    """Where a key or predicate about a run is read."""
    return Here(m, run.session, run.session.attributes, engine=run.engine, subject=run)


def _advance(m: Machine, e: Engine, s: Advance) -> None:
    """`advance running`: step 2."""

    def rank(run: Run) -> list[float]:
        if s.order == "decode first":
            return [not run.is_decode]
        return [value(key, _about(m, run)) for key in s.keys]

    e.returned = 0.0
    unserved = [run for run in e.runs if run not in e.batch]
    for run in sorted(in_order(unserved), key=rank):
        if e.left <= 0:
            return
        if run not in e.runs or (s.only is not None and not is_true(s.only, _about(m, run))):
            continue
        _serve(m, run)
        if run not in e.runs:
            return


def _serve(m: Machine, run: Run) -> None:
    """Give a run what it may have of the budget that is left, if there is memory for it."""
    e = run.engine
    n = share(run, e.left, e.each)
    if run.stalls is not None:
        return
    if n <= 0:
        e.refused = True
    elif _make_memory(m, run, n):
        e.batch[run] = n
        e.returned = 0.0


def _make_memory(m: Machine, run: Run, n: float) -> bool:
    """The hold grows to the position that `n` more tokens reach; False: the run gets none."""
    part, e = run.growing, run.engine
    if part is None:
        return True
    more = part.pool.round_up(part.position + n) - part.units
    while more > 0 and not part.pool.has_room(more, part):
        victim = pools.choose_victim(m, part.pool)
        if victim is None:
            run.stalls = Growth(part, more, run)
            part.pool.growths.append(run.stalls)
            return False
        pools.preempt(m, victim)
        if run not in e.runs:
            return False
    if more > 0:
        caches.enlarge(m, part, more)
    return True


# ---------------------------------------------------------------- admission


def _admit(m: Machine, e: Engine, s: Admit) -> None:
    """`admit waiting`: step 3."""
    e.returned = 0.0
    while e.left > 0 and not e.refused and _may_admit(m, e, s):
        newcomers = _admit_head(m, e, e.left)
        if newcomers is None:
            return
        for run in newcomers:
            if e.left > 0 and run in e.runs and (s.only is None or is_true(s.only, _about(m, run))):
                _serve(m, run)
                if run not in e.runs:
                    return


def _may_admit(m: Machine, e: Engine, s: Admit) -> bool:
    allowed = s.condition is None or _guard(m, s.condition, Here(m, engine=e), s.at)
    return allowed and e.waiting() > 0


def _admit_head(m: Machine, e: Engine, offer: float) -> list[Run] | None:
    """Admit the head of the first queue with waiting holds, and let sessions go on until all wait.

    offer: the budget that its header reads. Returns the runs that have come to the engine by that,
    in standing order; None if the hold does not fit.
    """
    hold = pools.head(m, next(pool for pool in e.pools if pool.queue))
    assert hold is not None
    return _admit_hold(m, e, hold, offer)


def _admit_one(m: Machine, e: Engine, s: Session) -> None:
    """`admit r`: the hold that the session waits for here, if it still does."""
    e.returned = 0.0
    hold = next((hold for hold in e.holds() if hold.session is s), None)
    if hold is None or e.left <= 0 or e.refused:
        return
    for run in _admit_hold(m, e, hold, e.left) or ():
        if e.left > 0 and run in e.runs:
            _serve(m, run)


def _admit_hold(m: Machine, e: Engine, hold: Hold, offer: float) -> list[Run] | None:
    e.offer = offer
    asked = pools.needs(m, hold)
    e.offer = None
    if not pools.fits(asked):
        return None
    e.admitted += 1
    e.newly.add(hold.session)
    before = list(e.runs)
    pools.admit(m, hold, asked)
    resume_ready(m)
    return in_order([run for run in e.runs if run not in before])


def _exclusive_prefill(m: Machine, e: Engine, s: Admit) -> None:
    """One prefill alone, or decodes only until a prefill is admitted that replaces them: step 4."""
    prefills = [run for run in in_order(e.runs) if not run.is_decode]
    for run in prefills:
        if run in e.runs:
            _serve(m, run)
            if run in e.batch or run not in e.runs:
                return
    for run in in_order(e.runs) if not prefills else ():
        if e.left > 0 and run in e.runs:
            _serve(m, run)
            if run not in e.runs:
                break
    while e.left > 0 and _may_admit(m, e, s):
        newcomers = _admit_head(m, e, e.budget)
        if newcomers is None:
            return
        for run in newcomers:
            if run not in e.runs:
                continue
            if not run.is_decode:
                decodes, e.batch = e.batch, {}
                e.lost = e.returned = 0.0
                _serve(m, run)
                if run in e.batch:
                    return
                e.batch = {decode: n for decode, n in decodes.items() if decode in e.runs}
            elif not prefills and e.left > 0:
                _serve(m, run)


# ---------------------------------------------------------------- the iteration


def _start(m: Machine, e: Engine) -> None:
    """Claims look at the batch, then the iteration lasts what `execute` says: step 5."""
    for look in m.on_start:
        look(e)
    given = e.given(True, False)
    lasts = value(e.rule.execute, Here(m, draws=m.draws, engine=e))
    if not lasts > 0:
        if given:
            at = e.rule.execute.at or e.rule.at
            m.fail("SQ0607", at, value=show(lasts), tokens=show(given))
        lasts = 0.0  # somebody was preempted and nobody served: the next iteration follows at once
    batch = tuple((run.session.serial, n) for run, n in e.batch.items())
    e.under_way = Iteration(
        engine=e.rule.name, index=e.tally.index, start=m.now, duration=lasts, tokens=given,
        prefilled=e.given(False), decoders=e.decoders(), residents=len(e.runs), batch=batch,
    )  # fmt: skip
    for see in m.on_iteration:
        see(e.under_way)
    for run, n in e.batch.items():
        # Whoever loses its hold before the end of the iteration has computed its tokens.
        if run.growing is not None:
            run.growing.position += n
    e.tally.iterations += 1
    if e.decoders():
        e.tally.decode_starts += 1
        e.tally.decode_sum += e.decoders()
        e.tally.decode_duration += lasts
    if lasts < inf:
        m.schedule(m.now + lasts, lambda: _finish(m, e))


def _finish(m: Machine, e: Engine) -> None:
    """Tokens count; runs with nothing left leave, and their sessions go on, as they were served: step 6."""
    assert e.under_way is not None
    e.served += e.under_way.tokens
    e.under_way = None
    for run, n in e.batch.items():
        run.remaining -= n
        if run.is_decode:
            tokens.add_token(m, run.session, e)
        elif run.remaining <= DONE:
            tokens.end_prefill(m, run.session, e)
    for run in e.batch:
        if run.remaining <= DONE:
            e.runs.remove(run)
            e.progress[run.session] = run.session.admission, run.before + run.work
            e.tally.completed += 1
            e.tally.service_sum += m.now - run.joined
            run.session.stands = run.session.woken_by = None
            m.ready.append(run.session)
    e.batch = {}
