"""A whole program."""

from __future__ import annotations

from attrs import field, frozen

from serq.ir.claim import Claim, Gauge
from serq.ir.fields import Record, location
from serq.ir.pool import Pool
from serq.ir.server import Block
from serq.ir.stage import Device, Stage
from serq.ir.workload import Attribute, Workload
from serq.source import SourceFile, Span

IR_VERSION = 1
"""Raised whenever a program written as JSON by an older serq would be read differently."""


@frozen(eq=False, repr=False)
class Input(Record):
    """A number from outside: `external` is its name there, `value` what this program was given."""

    name: str
    external: str
    value: float
    at: Span | None = location()


@frozen(eq=False, repr=False)
class NumberList(Record):
    """A `let` with a list of numbers, not empty; external: its name outside if it is an input."""

    name: str
    values: tuple[float, ...]
    external: str | None = None
    at: Span | None = location()


@frozen(eq=False, repr=False)
class Constant(Record):
    """A `let` with its folded value; expressions carry the value, this is for people."""

    name: str
    value: float
    at: Span | None = location()


@frozen(eq=False, repr=False)
class Program(Record):
    """Everything the machine, the report and the exporters need to know.

    attributes, observes: in the order of their first appearance in the text. stages, pools,
    gauges, claims: in the order of declaration. share: "maxmin" or "bottleneck" when the program
    has runs over several stages. file: the name it was read under; source: its text, when it was
    read from one, so that messages of a run can show the line.
    """

    constants: tuple[Constant, ...] = ()
    inputs: tuple[Input, ...] = ()
    devices: tuple[Device, ...] = ()
    stages: tuple[Stage, ...] = ()
    pools: tuple[Pool, ...] = ()
    attributes: tuple[Attribute, ...] = ()
    observes: tuple[str, ...] = ()
    workload: Workload | None = None
    server: Block = ()
    gauges: tuple[Gauge, ...] = ()
    claims: tuple[Claim, ...] = ()
    share: str | None = None
    lists: tuple[NumberList, ...] = ()
    version: int = IR_VERSION
    file: str = ""
    at: Span | None = location()
    source: SourceFile | None = field(default=None, eq=False, repr=False, kw_only=True)
