"""Which programs the compiled machine takes: what it says about one is the reason why not.

Only what the text of a program shows is looked at here; amounts are looked at while it runs.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from attrs import frozen

from serq.ir.claim import AtEnd
from serq.ir.expr import (
    Draw,
    Expr,
    Item,
    LoopName,
    Observable,
    RegisterRead,
    RequestField,
    Summary,
    Survey,
    Unary,
    Var,
    walk,
)
from serq.ir.pool import Pool
from serq.ir.program import Program
from serq.ir.schedule import Admit, Advance, ScheduleBranch, ScheduleStatement, SetRegister
from serq.ir.server import Block, Branch, End, Hold, Loop, Observe, Run, Set, Statement, Turn, While
from serq.ir.stage import Delay, Engine
from serq.ir.workload import Batch, NoArrivals, Poisson, Renewal

READ = {"queue", "busy", "budget_left", "used", "free", "holders", "queued", "blocksize", "cachedin"}
"""Calls that the compiled machine answers."""


LAWS = {
    "exp", "det", "uniform", "erlang", "bernoulli", "h2", "geometric", "gamma", "lognormal", "pareto",
}  # fmt: skip
"""Laws that the compiled machine draws from; `init` may draw from any."""

LAST_ADMITTED = (Unary("-", Var("admission")),)
"""The keys of `preempt lifo`."""


@frozen
class Native:
    """A program that the compiled machine takes.

    stages: the engine first. holds: every `hold` of the server, in the order of the text. made_here:
    sessions come and are made without Python's help.
    """

    program: Program
    engine: Engine
    stages: tuple[Engine | Delay, ...]
    holds: tuple[Hold, ...]
    made_here: bool

    @property
    def memory(self) -> int:
        """The pool that is the engine's memory, or -1."""
        pools = self.program.pools
        return next((k for k, pool in enumerate(pools) if pool.memory_of == self.engine.name), -1)

    def stage(self, name: str) -> int:
        """The number of a stage."""
        return [stage.name for stage in self.stages].index(name)

    def pool(self, name: str) -> int:
        """The number of a pool."""
        return [pool.name for pool in self.program.pools].index(name)


class _Outside(Exception):
    """The program is not for the compiled machine; its text says why."""


def find_native(program: Program) -> Native | str:
    """What the compiled machine needs to know of a program, or why it is not for it."""
    try:
        return _find(program)
    except _Outside as why:
        return str(why)


def _need(given: bool, otherwise: str) -> None:
    if not given:
        raise _Outside(otherwise)


def _find(program: Program) -> Native:
    engines = [s for s in program.stages if isinstance(s, Engine)]
    delays = [s for s in program.stages if isinstance(s, Delay)]
    _need(len(engines) == 1, "it has not one engine")
    _need(len(delays) + 1 == len(program.stages), "it has stages that are neither an engine nor a delay")
    _need(all(s.size is None for s in program.stages), "a stage is a family")
    engine, workload = engines[0], program.workload
    _need(not engine.tags and all(r.size is None for r in engine.registers), "tags or arrays of registers")
    _need(not program.lists, "lists")
    if workload is None:
        raise _Outside("nobody arrives")
    _need(workload.trace is None, "it replays a trace")
    arrival = workload.arrival
    _need(isinstance(arrival, Poisson | Renewal | Batch | NoArrivals), "arrivals of another kind")
    for pool in program.pools:
        _pool(pool, engine)
    # Sessions are made ahead of their time: nothing that happens meanwhile may matter to them.
    _plain(workload.init)
    for e in (*of_block(workload.init), *((arrival.gap,) if isinstance(arrival, Renewal) else ())):
        for node in walk(e):
            _need(
                not isinstance(node, Observable | RegisterRead | Summary),
                "a session looks around as it comes",
            )
    _plain(workload.turn, observes=True)
    holds = tuple(_holds(program.server, ()))
    for e in _read(program, engine):
        _readable(e)
    _client(workload.session)
    list(_scheduled(engine.schedule.statements))
    gaps = (arrival.gap,) if isinstance(arrival, Renewal) else ()
    made = not isinstance(arrival, NoArrivals) and all(
        _drawable(e) for e in (*of_block(workload.init), *gaps)
    )
    return Native(program, engine, (engine, *delays), holds, made)


def _pool(pool: Pool, engine: Engine) -> None:
    known = (
        pool.size is None and pool.queue_keys is None and pool.evict_keys is None
        and not pool.reserve_held and pool.spill is None
    )  # fmt: skip
    _need(known, "a pool has keys of its own, a spill, or is a family")
    if pool.preempt is not None:
        plain = pool.preempt.keys in ((), LAST_ADMITTED) and pool.memory_of == engine.name
        _need(plain, "preemption by keys, or not in the engine's memory")


def _plain(block: Block, observes: bool = False) -> None:
    """Statements that take no time; observes: samples may be taken."""
    for s in block:
        match s:
            case Set():
                pass
            case Observe():
                _need(observes, "a sample is taken before a session's first turn")
            case Branch(then=then, otherwise=otherwise):
                _plain(then, observes)
                _plain(otherwise, observes)
            case _:
                raise _Outside(f"a session does `{type(s).__name__.lower()}`")


def _holds(block: Block, held: tuple[str, ...]) -> Iterator[Hold]:
    """The holds of the server's block; held: pools of the hold around it."""
    for s in block:
        match s:
            case Set() | Observe() | End():
                pass
            case Run():
                _run(s, held)
            case Branch(then=then, otherwise=otherwise):
                yield from _holds(then, held)
                yield from _holds(otherwise, held)
            case While(body=body) | Loop(body=body):
                yield from _holds(body, held)
            case Hold():
                names = tuple(part.place.name for part in s.parts)
                _need(not held, "a hold within a hold")
                _need(s.lease is None, "a lease")
                _need(len(set(names)) == len(names), "a hold that has a pool twice")
                _need(all(part.place.index is None for part in s.parts), "a family of pools")
                yield s
                yield from _holds(s.body, names)
            case _:
                raise _Outside(f"a session does `{type(s).__name__.lower()}`")


def _run(s: Run, held: tuple[str, ...]) -> None:
    _need(len(s.places) == 1 and s.places[0].index is None, "a flow, or a family of stages")
    growing = s.growing
    _need(
        growing is None or (growing.index is None and growing.name in held), "it grows what it may not hold"
    )


def _client(block: Block) -> None:
    for s in block:
        match s:
            case Set() | Observe() | End() | Turn():
                pass
            case Run():
                _run(s, ())
            case Branch(then=then, otherwise=otherwise):
                _client(then)
                _client(otherwise)
            case While(body=body) | Loop(body=body):
                _client(body)
            case _:
                raise _Outside(f"a session does `{type(s).__name__.lower()}`")


def _scheduled(statements: Iterable[ScheduleStatement]) -> Iterator[Expr]:
    for s in statements:
        match s:
            case Advance(keys=keys, only=only):
                _need(not keys, "an order by keys")
                if only is not None:
                    yield only
            case Admit(only=only, condition=condition):
                yield from (e for e in (only, condition) if e is not None)
            case ScheduleBranch(test=test, then=then, otherwise=otherwise):
                yield test
                yield from _scheduled(then)
                yield from _scheduled(otherwise)
            case SetRegister(value=value):
                yield value
            case _:
                raise _Outside(f"the schedule has `{type(s).__name__}`")


def of_block(block: Iterable[Statement]) -> Iterator[Expr]:
    """The expressions of statements, those in their blocks included."""
    for s in block:
        match s:
            case Set(value=value) | Observe(value=value):
                yield value
            case Run(work=work):
                yield work
            case Hold(parts=parts, bindings=bindings, body=body):
                for part in parts:
                    yield part.units
                    if part.reserve is not None:
                        yield part.reserve
                yield from (e for e in (s.reuse, s.cache) if e is not None)
                yield from (b.value for b in bindings)
                yield from of_block(body)
            case Branch(test=test, then=then, otherwise=otherwise):
                yield test
                yield from of_block(then)
                yield from of_block(otherwise)
            case While(test=test, body=body):
                yield test
                yield from of_block(body)
            case Loop(body=body):
                yield from of_block(body)


def _read(program: Program, engine: Engine) -> Iterator[Expr]:
    """Every expression that is read while the run goes on."""
    yield engine.tokens_cap
    yield engine.execute
    schedule = engine.schedule
    if schedule.each_at_most is not None:
        yield schedule.each_at_most
    yield from (let.value for let in schedule.lets)
    yield from _scheduled(schedule.statements)
    yield from of_block(program.server)
    if program.workload is not None:
        yield from of_block(program.workload.turn)
        yield from of_block(program.workload.session)
    yield from (gauge.value for gauge in program.gauges)
    for claim in program.claims:
        _need(claim.given is None, "a claim with `given`")
        if not isinstance(claim, AtEnd):
            yield claim.value
        else:
            ends = (node for node in walk(claim.value) if isinstance(node, Observable))
            _need(
                all(node.function in ("used", "free", "holders", "queued") for node in ends),
                "a claim at the end looks around",
            )


def _drawable(e: Expr) -> bool:
    """Whether C can make the draws of an expression; the order of two is left open by C."""
    draws = [node.law for node in walk(e) if isinstance(node, Draw)]
    return not draws or (len(draws) == 1 and draws[0] in LAWS)


def _readable(e: Expr) -> None:
    _need(_drawable(e), "it draws on the way from a law that C has not, or twice in an expression")
    for node in walk(e):
        match node:
            case Observable(function=function, place=place):
                _need(function in READ and place.index is None, f"it reads {function}")
            case Summary() | Survey() | Item() | LoopName() | RequestField():
                raise _Outside("it looks at requests one by one, or at samples")
