"""Devices, stages and pools become records of the program."""

from __future__ import annotations

from collections.abc import Mapping

from attrs import evolve

from serq.check import fold
from serq.check.complaints import Complaints
from serq.check.expressions import Expressions
from serq.check.limits import SMALLEST_BLOCK, granule_fault
from serq.check.names import Capacity, EngineNames
from serq.check.schedules import lower_schedule
from serq.check.show import number
from serq.check.standing import Standing
from serq.diagnostics import Note
from serq.ir.expr import Draw, Expr, Num, Var, walk
from serq.ir.moments import Moment
from serq.ir.pool import Pool, Preempt, Spill
from serq.ir.stage import Delay, Device, Engine, Fifo, Register, SharedProcessor, Stage, Tag
from serq.source import Span
from serq.syntax import tree


def lower_device(item: tree.Device, x: Expressions) -> Device | None:
    """A device; its time resources are written out where `execute` uses them."""
    device = x.names.devices.get(item.name.text)
    if device is None:
        return None
    check_capacities(device.capacities, device.name, "device", x)
    return Device(item.name.text, device.size, at=item.name.at)


def lower_stage(item: tree.Stage, order: int, x: Expressions) -> Stage | None:
    """A stage that is not an engine."""
    resource = x.names.stages.get(item.name.text)
    if resource is None:
        return None
    return stage_of_kind(item.kind, resource.name, resource.size, order, x, item.name.at)


def stage_of_kind(
    kind: tree.StageKind, name: str, size: int | None, order: int, x: Expressions, at: Span
) -> Stage:
    """A `fifo`, `ps` or `delay` stage of this name."""
    match kind.kind:
        case "fifo":
            servers = 1.0 if kind.value is None else x.constant(kind.value, order)
            servers = 1.0 if servers is None else servers
            return Fifo(name, servers, size, at=kind.at)
        case "ps":
            assert kind.value is not None
            capacity = x.plain(kind.value, Standing(Moment.CAPACITY, order))
            return SharedProcessor(name, capacity, size, at=at)
        case _:
            return Delay(name, size, at=at)


def lower_engine(item: tree.Engine, order: int, x: Expressions) -> Engine | None:
    """An engine: `tokens cap`, `schedule` and `execute` once each, whatever else once or never."""
    assert item.name is not None
    engine = x.names.engines.get(item.name.text)
    return None if engine is None else engine_of(item, engine, order, x)


def engine_of(item: tree.Engine, engine: EngineNames, order: int, x: Expressions) -> Engine:
    """The engine with these names and clauses."""
    complaints, at = x.complaints, engine.at
    clauses = find_clauses(item, complaints)
    check_capacities(engine.capacities, engine.name, "engine", x)
    here = Standing(Moment.CAP, order, engine=engine.name)
    cap: Expr = Num(1)
    execute: Expr = Num(1)
    match clauses.get(tree.TokensCap):
        case tree.TokensCap(value=value):
            cap = x.plain(value, here)
        case _:
            complaints.missing("SQ0245", at, engine=engine.name)
    device = x.names.devices.get(engine.device)
    match clauses.get(tree.Execute):
        case tree.Execute(value=value):
            times = device.times if device is not None else {}
            execute = x.plain(value, evolve(here, moment=Moment.EXECUTE, times=times))
        case _:
            complaints.missing("SQ0247", at, engine=engine.name)
    granule = None
    granule_clause = clauses.get(tree.Granule)
    if isinstance(granule_clause, tree.Granule):
        granule = x.constant(granule_clause.value, order)
    match clauses.get(tree.Schedule):
        case tree.Schedule() as written:
            schedule = lower_schedule(written, engine.name, order, x)
        case _:
            complaints.missing("SQ0246", at, engine=engine.name)
            schedule = lower_schedule(None, engine.name, order, x)
    if granule is not None and granule_clause is not None:
        fault = granule_fault(granule, schedule)
        if fault is not None:
            complaints.say(fault[0], granule_clause.at, **fault[1])
            granule = None
    registers = tuple(
        Register(
            part.name.text,
            x.constant(part.initial, order) or 0.0,
            x.names.registers[part.name.text].size,
            at=part.name.at,
        )
        for part in item.items
        if isinstance(part, tree.Register)
    )
    tags = tuple(
        Tag(part.name.text, x.constant(part.initial, order) or 0.0, at=part.name.at)
        for part in item.items
        if isinstance(part, tree.Tag)
    )
    return Engine(
        engine.name, engine.device, cap, schedule, execute, engine.size, granule, registers, tags, at=at
    )  # fmt: skip


def find_clauses(item: tree.Engine, complaints: Complaints) -> dict[type, tree.EngineItem]:
    """The clauses that an engine has at most once."""
    found: dict[type, tree.EngineItem] = {}
    names = {
        tree.TokensCap: "tokens cap", tree.Granule: "granule", tree.Schedule: "schedule",
        tree.Execute: "execute",
    }  # fmt: skip
    for part in item.items:
        name = names.get(type(part))
        if name is None:
            continue
        if type(part) in found and name != "granule":  # of which the last counts
            note = Note("the first one is here", found[type(part)].at)
            complaints.say("SQ0248", part.at, clause=name, notes=[note])
            continue
        found[type(part)] = part
    return found


def check_capacities(capacities: Mapping[str, Capacity], owner: str, kind: str, x: Expressions) -> None:
    """Every capacity must be declared as a pool, or nothing could hold it."""
    for name, capacity in capacities.items():
        if name not in x.names.owned.get(owner, ()):
            x.complaints.missing("SQ0249", capacity.at, name=name, owner=owner, kind=kind)


# -------------------------------------------------------------------- pools


def lower_pool(item: tree.Pool, order: int, x: Expressions) -> Pool | None:
    """A pool with its options; the last of a repeated option counts."""
    resource = x.names.pools.get(item.name.text)
    if resource is None:
        return None
    name = resource.name
    cap, engine, memory_of = owner_of(item, order, x)
    pool = Pool(name, cap, resource.size, engine, memory_of, at=item.name.at)
    for option in item.options:
        pool = with_option(pool, option, item, order, x)
    return pool


def owner_of(item: tree.Pool, order: int, x: Expressions) -> tuple[float, str | None, str | None]:
    """The cap of a pool `on` something, the engine that admits it, the engine whose memory it is."""
    owner = item.owner
    if owner is None:
        return float("inf"), None, None
    names, name, on = x.names, item.name.text.rpartition(".")[2], owner.name.text
    if on in names.engines:
        engine = names.engines[on]
        if engine.order > order:
            x.complaints.say("SQ0260", item.name.at, kind="pool", name=name, owner=on)
        if owner.member is None:
            found = engine.capacities.get(name)
            if found is None:
                missing_capacity(item, on, engine.at, x)
                return float("inf"), on, None
            return found.cap, on, None
        device = names.devices.get(owner.member.text)
        if device is None or device.name != engine.device:
            x.complaints.say("SQ0261", owner.at, engine=on, device=owner.member.text, runs_on=engine.device)
            return float("inf"), on, None
        capacity = device.capacities.get(name)
        if capacity is None:
            missing_capacity(item, device.name, device.at, x)
        return (capacity.cap if capacity else float("inf")), on, on
    if on in names.devices and owner.member is None:
        device = names.devices[on]
        if device.order > order:
            x.complaints.say("SQ0260", item.name.at, kind="pool", name=name, owner=on)
        capacity = device.capacities.get(name)
        if capacity is None:
            missing_capacity(item, on, device.at, x)
        return (capacity.cap if capacity else float("inf")), None, device.engine
    known = {n: d.at for n, d in names.devices.items()}
    known |= {n: e.at for n, e in names.engines.items()}
    x.complaints.unknown("SQ0203", on, owner.at, known, kind="device or engine")
    return float("inf"), None, None


def missing_capacity(item: tree.Pool, owner: str, at: Span, x: Expressions) -> None:
    """Complain about a pool on something that has no capacity of its name."""
    note = Note(f"`{owner}` is declared here", at)
    x.complaints.say("SQ0262", item.name.at, name=item.name.text, owner=owner, notes=[note])


def with_option(pool: Pool, option: tree.PoolOption, item: tree.Pool, order: int, x: Expressions) -> Pool:
    """The pool with one more option."""
    select = Standing(Moment.SELECT, order, engine=pool.engine)
    evict = Standing(Moment.EVICT, order)
    match option:
        case tree.CapOption(value=value):
            if item.owner is not None:
                x.complaints.say("SQ0263", option.at, name=pool.name, owner=item.owner.name.text)
                return pool
            cap = x.constant(value, order)
            if cap is not None and cap != cap:
                x.complaints.say("SQ0516", value.at, name=pool.name)
                cap = None
            return pool if cap is None else evolve(pool, cap=cap)
        case tree.BlockOption():
            block = x.names.blocks.get(pool.name, 1.0)
            if not block >= SMALLEST_BLOCK:
                least = number(SMALLEST_BLOCK)
                x.complaints.say("SQ0521", option.at, value=number(block), least=least)
                return pool
            return evolve(pool, block=block)
        case tree.EvictOption(keys=keys):
            return evolve(pool, evict_keys=lower_keys(keys, evict, x))
        case tree.QueueOption(keys=keys):
            lowered = lower_keys(keys, select, x)
            for key in lowered or ():
                if any(isinstance(node, Draw) for node in walk(key)):
                    x.complaints.say("SQ0417", option.at)
                    return pool
            return evolve(pool, queue_keys=lowered)
        case tree.ReserveOption():
            return evolve(pool, reserve_held=True)
        case tree.PreemptOption(kind="none"):
            return evolve(pool, preempt=None)
        case tree.PreemptOption(kind="lifo"):
            from_last = fold.unary("-", Var("admission", at=option.at), option.at)
            return evolve(pool, preempt=Preempt((from_last,), "head", at=option.at))
        case tree.PreemptOption(keys=keys, requeue=requeue):
            lowered = lower_keys(keys, Standing(Moment.VICTIM, order), x) or ()
            return evolve(pool, preempt=Preempt(lowered, requeue or "head", at=option.at))
        case tree.SpillOption():
            return evolve(pool, spill=lower_spill(option, evict, x))


def lower_keys(keys: tuple[tree.Expr, ...] | None, here: Standing, x: Expressions) -> tuple[Expr, ...] | None:
    """Keys of an order, compared in turn; None for the order without keys."""
    return None if keys is None else tuple(x.plain(key, here) for key in keys)


def lower_spill(option: tree.SpillOption, here: Standing, x: Expressions) -> Spill | None:
    """Where an evicted prefix goes; None when a name in it is wrong."""
    tier = x.resource(tree.Reference(option.tier, None, None, option.tier.at), "pool")
    via = x.resource(tree.Reference(option.via, None, None, option.via.at), "stage")
    work, condition = x.plain(option.work, here), x.plain(option.condition, here)
    if tier is None or via is None:
        return None
    return Spill(tier.name, via.name, work, condition, at=option.at)
