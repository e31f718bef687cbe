"""What the names of a program mean: one record of every declaration, filled by the first passes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Generic, TypeVar

from attrs import define, field, frozen

from serq.check.words import BUILT_IN
from serq.source import Span
from serq.syntax import tree

NEVER_READ = frozenset({"a device", "a gauge", "a claim", "an observation", "a definition"})
"""Kinds of declarations whose bare name no expression reads."""


@frozen
class Resource:
    """A stage or pool, or a family of them.

    name: what expressions and the machine call it (`kv`, `P.kv`). kind: "engine", "fifo", "ps",
    "delay" or "pool". size: members of a family, None for a single one. order: the position of its
    declaration. queue: the queue it belongs to, if any.
    """

    name: str
    kind: str
    size: int | None
    order: int
    at: Span
    queue: str | None = None

    @property
    def is_pool(self) -> bool:
        return self.kind == "pool"


@frozen
class Capacity:
    """A capacity of a device or engine: `cap` units in each of `size` pools, None for a single one."""

    cap: float
    at: Span
    size: int | None = None


@define
class DeviceNames:
    """A device: its time resources and capacities by name, and the engine that runs on it."""

    name: str
    size: int | None
    at: Span
    order: int
    times: dict[str, tree.TimeResource] = field(factory=dict)
    capacities: dict[str, Capacity] = field(factory=dict)
    engine: str | None = None


@define
class EngineNames:
    """An engine: what its clauses and the pools that it admits must know of it.

    lets: of its schedule; None for one out of place, which SQ0550 tells.
    """

    name: str
    size: int | None
    at: Span
    order: int
    device: str
    capacities: dict[str, Capacity] = field(factory=dict)
    lets: dict[str, Span | None] = field(factory=dict)


@frozen
class RegisterName:
    """size: of an array of registers, None for a single one."""

    engine: str
    at: Span
    size: int | None = None


@frozen
class TagName:
    engine: str
    at: Span


T = TypeVar("T")


@define
class Constants(Generic[T]):
    """Constants or lists by name; each `let` counts from its line on, the last one at run time."""

    history: dict[str, list[tuple[int, T, Span]]] = field(factory=dict)

    def add(self, name: str, order: int, value: T, at: Span) -> None:
        self.history.setdefault(name, []).append((order, value, at))

    def get(self, name: str, order: int | None = None) -> T | None:
        """The value at run time (`order` None), or as known in the item number `order`."""
        entries = self.history.get(name)
        if entries is None:
            return None
        if order is None:
            return entries[-1][1]
        return next((value for known, value, _ in reversed(entries) if known < order), None)

    def place(self, name: str) -> Span | None:
        entries = self.history.get(name)
        return entries[-1][2] if entries else None

    def places(self) -> dict[str, Span | None]:
        return {name: self.place(name) for name in self.history}


@define
class Names:
    """Everything declared.

    stages, pools: by the name used in expressions. queues: as written. registers, tags: by name,
    program-wide. attributes: where each is first assigned. costs: the resources of attributes that
    hold a cost. kinds: what an attribute holds, and where that was first said. records: the parts of
    `Cost x = { … }`. observes: by name, where first recorded. sides: who assigns an attribute,
    "workload" or "server". bindings: names of `at admission`; kept: those of them that bodies read.
    owned: the pools declared on a device or engine. blocks: the block of pools that have one.
    client_costs: the resources of costs made in the workload. declared: every name of the common
    name space with its kind, as messages say it. definitions: where each is.
    """

    constants: Constants[float] = field(factory=Constants)
    lists: Constants[tuple[float, ...]] = field(factory=Constants)
    stages: dict[str, Resource] = field(factory=dict)
    pools: dict[str, Resource] = field(factory=dict)
    devices: dict[str, DeviceNames] = field(factory=dict)
    engines: dict[str, EngineNames] = field(factory=dict)
    queues: dict[str, tree.Queue] = field(factory=dict)
    registers: dict[str, RegisterName] = field(factory=dict)
    tags: dict[str, TagName] = field(factory=dict)
    attributes: dict[str, Span] = field(factory=dict)
    costs: dict[str, frozenset[str]] = field(factory=dict)
    records: dict[str, tuple[str, ...]] = field(factory=dict)
    observes: dict[str, Span] = field(factory=dict)
    kinds: dict[str, tuple[frozenset[str] | None, Span]] = field(factory=dict)
    client_costs: list[tuple[str, Span]] = field(factory=list)
    share: str | None = None
    definitions: dict[str, Span] = field(factory=dict)
    sides: dict[str, set[str]] = field(factory=dict)
    bindings: dict[str, Span] = field(factory=dict)
    kept: dict[str, Span] = field(factory=dict)
    owned: dict[str, set[str]] = field(factory=dict)
    blocks: dict[str, float] = field(factory=dict)
    declared: dict[str, tuple[str, Span]] = field(factory=dict)

    def resource(self, name: str) -> Resource | None:
        return self.pools.get(name) or self.stages.get(name)

    def meaning(self, name: str) -> str | None:
        """What an expression already means by a name, as messages say it, or None.

        Devices, gauges, claims, observations and definitions are never read by their bare name.
        """
        if name in BUILT_IN:
            return "a built-in attribute"
        if name in self.declared and self.declared[name][0] not in NEVER_READ:
            return self.declared[name][0]
        if name in self.attributes:
            return "a session attribute"
        if name in self.registers:
            return "a register"
        if name in self.tags:
            return "a tag"
        return None

    def times(self) -> Mapping[str, str]:
        """The time resources of all devices, with their device."""
        return {time: device.name for device in self.devices.values() for time in device.times}
