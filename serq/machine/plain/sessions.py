"""What sessions do: statements, walked one by one; each session is a generator that yields while it waits."""

from __future__ import annotations

from collections.abc import Generator
from contextlib import suppress

from serq.diagnostics import InternalError
from serq.ir.server import (
    Block,
    Branch,
    Choose,
    Drop,
    End,
    Grow,
    Load,
    Loop,
    Observe,
    Release,
    Set,
    Statement,
    Turn,
    While,
)
from serq.ir.server import Hold as HoldStatement
from serq.ir.server import Run as RunStatement
from serq.ir.workload import Closed, Workload
from serq.machine.draws import Stream
from serq.machine.plain import caches, lines, pools, tokens
from serq.machine.plain.evaluate import Here, of_session, pool_at, stage_at, value
from serq.machine.plain.state import Ended, Engine, Hold, Machine, Pool, Preempted, Run, Session, Tokens
from serq.source import Span
from serq.values import is_whole, show

WAKE_LIMIT = 1_000
PASS_LIMIT = 1_000_000
REPLACE_LIMIT = 10_000

Steps = Generator[None, None, None]


# ---------------------------------------------------------------- coming and going


def create(m: Machine) -> None:
    """A session arrives: `init` runs, claims look whether it is in their scope, it is ready."""
    workload = workload_of(m)
    serial, seed = m.arrived, m.settings.seed
    m.arrived += 1
    m.live += 1
    s = Session(serial, Stream(seed, "session", serial), (), Tokens(0.0, under_way=False))
    s.attributes["serial"] = float(serial)
    if workload.trace is not None:
        count = len(m.recorded)
        s.recorded = m.recorded[
            serial % count if workload.trace.ordered else int(m.trace_draws.uniform01() * count)
        ]
    for _ in block(m, s, workload.init, Stream(seed, "workload", serial, 0)):
        raise InternalError("`init` waits")
    for look in m.on_session:
        look(s)
    s.program = _client(m, s, workload)
    m.ready.append(s)


def workload_of(m: Machine) -> Workload:
    """The workload, which every program with sessions has."""
    if m.program.workload is None:
        raise InternalError("a program without a workload has no sessions")
    return m.program.workload


def _client(m: Machine, s: Session, workload: Workload) -> Steps:
    with suppress(Ended):
        yield from block(m, s, workload.session, s.draws)


def resume_ready(m: Machine) -> None:
    """Let every ready session go on until it waits or ends, and those that become ready meanwhile."""
    while m.ready:
        s = m.ready.pop(0)
        if s.woke_at != m.now:
            s.woke_at, s.wakes, s.passes = m.now, 0, 0
        s.wakes += 1
        if s.wakes > WAKE_LIMIT:
            _go_round(m, s)
        try:
            next(s.program)
        except StopIteration:
            _end(m, s)


def _go_round(m: Machine, s: Session) -> None:
    """The session is woken without end at one instant: by what, and where."""
    match s.woken_by:
        case Hold(losses=losses, statement=statement):
            m.fail("SQ0631", statement.at, session=s, name=list(losses)[-1].label)
        case at:
            m.fail("SQ0605", at, session=s)


def _end(m: Machine, s: Session) -> None:
    s.ended = True
    pools.end_session(m, s)
    m.live -= 1
    m.ended += 1
    arrival = workload_of(m).arrival
    if isinstance(arrival, Closed):
        m.replaced = [time for time in m.replaced if time == m.now] + [m.now]
        if len(m.replaced) > arrival.count + REPLACE_LIMIT:
            m.fail("SQ0612", arrival.at, session=s)
        create(m)


# ---------------------------------------------------------------- statements


def block(m: Machine, s: Session, statements: Block, draws: Stream) -> Steps:
    """One statement after the other."""
    for statement in statements:
        yield from perform(m, s, statement, draws)


def perform(m: Machine, s: Session, statement: Statement, draws: Stream) -> Steps:
    """One statement; yields whenever the session has to wait."""
    here = of_session(m, s, draws)
    match statement:
        case Set(attribute=name, value=assigned):
            s.attributes[name] = value(assigned, here)
        case Observe(name=name, value=observed):
            sample = value(observed, here)
            if sample != sample:
                m.fail("SQ0622", statement.at, session=s, name=name)
            m.observes[name].add(m.now, s.serial, int(s.attributes["turn_no"]), sample)
        case RunStatement():
            _run(m, s, statement, here)
            yield
        case HoldStatement():
            yield from _hold(m, s, statement, draws)
        case Grow(place=place, amount=amount):
            pool = pool_at(place, here)
            if pools.grow(m, s, pool, _amount(m, s, pool, value(amount, here), statement.at), statement.at):
                yield
        case Load(place=place, amount=amount):
            pool = pool_at(place, here)
            pools.load(m, s, pool, _amount(m, s, pool, value(amount, here), statement.at), statement.at)
        case Release(place=place):
            pools.release(m, s, pool_at(place, here))
        case Drop(place=place):
            caches.drop(pool_at(place, here), s)
        case Branch(then=then, otherwise=otherwise):
            yield from block(m, s, then if _guard(m, s, statement, here) else otherwise, draws)
        case While(body=body):
            while _guard(m, s, statement, here):
                _count_pass(m, s, statement.at)
                yield from block(m, s, body, draws)
        case Loop(body=body):
            while True:
                _count_pass(m, s, statement.at)
                yield from block(m, s, body, draws)
        case Choose():
            _choose(m, s, statement, here)
        case Turn():
            yield from _turn(m, s)
        case End():
            raise Ended
        case _:
            raise InternalError(f"the plain machine has no {type(statement).__name__}")


def _guard(m: Machine, s: Session, statement: Branch | While, here: Here) -> bool:
    test = value(statement.test, here)
    if test not in (0, 1):
        m.fail("SQ0601", statement.at, session=s, value=show(test))
    return test == 1


def _count_pass(m: Machine, s: Session, at: Span | None) -> None:
    s.passes += 1
    if s.passes > PASS_LIMIT:
        m.fail("SQ0606", at, session=s)


def _amount(m: Machine, s: Session, pool: Pool, amount: float, at: Span | None) -> float:
    if not amount >= 0:
        m.fail("SQ0613", at, session=s, name=pool.rule.name, value=show(amount))
    return amount


def _turn(m: Machine, s: Session) -> Steps:
    tokens.start_turn(m, s)
    number = int(s.attributes["turn_no"])
    workload = workload_of(m)
    if workload.trace is not None:
        # Past the last recorded turn the values stay.
        for turn in s.recorded[number - 1 : number]:
            s.attributes.update(turn._asdict())
        s.attributes["more"] = float(number < len(s.recorded))
    yield from block(m, s, workload.turn, Stream(m.settings.seed, "workload", s.serial, number))
    yield from block(m, s, m.program.server, s.draws)
    tokens.end_turn(m, s)


def _run(m: Machine, s: Session, statement: RunStatement, here: Here) -> None:
    """A job joins a stage. Without work the session goes to the end of the line of ready ones."""
    if len(statement.places) > 1:
        raise InternalError("the plain machine has no runs over several stages")
    stage = stage_at(statement.places[0], here)
    work = value(statement.work, here)
    if statement.mode == "decode":
        tokens.begin_decode(m, s)
    if not work >= 0:
        m.fail("SQ0602", statement.at, session=s, value=show(work))
    if work == 0:
        s.woken_by = statement.at
        m.ready.append(s)
    elif isinstance(stage, Engine):
        growing = None
        if statement.growing is not None:
            growing = pools.growing(m, s, pool_at(statement.growing, here), statement.at)
            growing.hold.advanced = True
        admission, tokens_before = stage.progress.get(s, (s.admission, 0.0))
        before = tokens_before if admission == s.admission else 0.0
        s.stands = Run(s, stage, statement.mode == "decode", work, m.now, growing, before)
        stage.runs.append(s.stands)
    else:
        lines.join(m, stage, s, work)


def _hold(m: Machine, s: Session, statement: HoldStatement, draws: Stream) -> Steps:
    """Wait for units, hold them during the body, give them back; again from the start if they are lost."""
    hold = pools.ask(m, s, statement)
    while True:
        try:
            yield
            for binding in statement.bindings:
                if binding.kept:
                    s.attributes[binding.name] = value(binding.value, of_session(m, s))
            yield from block(m, s, statement.body, draws)
            break
        except Preempted as lost:
            if lost.hold is not hold:
                raise
        except Ended:
            pools.give_all_back(m, hold)
            raise
    pools.end(m, hold)


def _choose(m: Machine, s: Session, statement: Choose, here: Here) -> None:
    count = value(statement.count, here)
    if not (count <= 0 or is_whole(count)):
        m.fail("SQ0604", statement.at, session=s, value=show(count))

    def rank(index: int) -> list[float]:
        s.attributes[statement.attribute] = float(index)
        return [value(key, here) for key in statement.keys]

    s.attributes[statement.attribute] = float(min(range(int(max(count, 0))), key=rank, default=0))
