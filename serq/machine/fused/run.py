"""Runs a program as one fused loop and hands what it leaves behind to the machine."""

from __future__ import annotations

import os
from array import array
from bisect import bisect_left, bisect_right, insort
from collections import deque
from collections.abc import Callable
from heapq import heappop, heappush
from math import floor, inf
from typing import TYPE_CHECKING, Any

from serq.diagnostics import InternalError
from serq.ir.workload import SMALLEST_GAP
from serq.machine.arrivals import is_slot_count
from serq.machine.code import build
from serq.machine.draws import OutsideLaw, Stream
from serq.machine.fused.fragment import find_fused
from serq.machine.fused.writer import LoopWriter, TooDeep
from serq.machine.settings import PROGRESS_EVERY

if TYPE_CHECKING:
    from serq.machine.loop import Machine

WHOLE = 2.0**53
WINDOW = 64
"""Arrivals that are compared with an earlier one before a later one takes its place."""


def _stands_between(ranks: list[Any], low: Any, high: Any) -> bool:
    """Whether a prefill stands between two ranks."""
    at = bisect_right(ranks, low)
    return bool(at < len(ranks) and ranks[at] < high)


LENT = {
    "PROGRESS_EVERY": PROGRESS_EVERY,
    "SMALLEST_GAP": SMALLEST_GAP,
    "Stream": Stream,
    "WHOLE": WHOLE,
    "bisect": bisect_right,
    "bisect_left": bisect_left,
    "deque": deque,
    "enumerate": enumerate,
    "floor": floor,
    "heappop": heappop,
    "heappush": heappush,
    "insort": insort,
    "int": int,
    "is_slot_count": is_slot_count,
    "len": len,
    "min": min,
    "range": range,
    "WINDOW": WINDOW,
    "stands_between": _stands_between,
    "sum": sum,
}
"""What a loop may call."""


SAMPLE = 24
"""Bytes that a sample takes."""


def _memory() -> float:
    """Bytes of the machine's memory, where that can be told."""
    try:
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (AttributeError, OSError, ValueError):
        return inf


class Link:
    """What the loop sees of the machine: where to put samples, and at the end everything else."""

    def __init__(self, machine: Machine) -> None:
        self.machine = machine
        self.engine = machine.engines[0]
        self.machine_draws = machine.machine_draws
        self.arrival_draws = machine.arrival_draws
        self.seed = machine.settings.seed
        self._series = dict(machine.client)
        self._series |= {f"observe{k}": s for k, s in enumerate(machine.observes.values())}

    def new_gaps(self) -> tuple[array[float], array[int]]:
        return array("d"), array("q")

    def appenders(self, name: str) -> tuple[Callable[[Any], None], ...]:
        """How samples are added: times, sessions, turns, values."""
        samples = self._series[name]
        return samples.times.append, samples.sessions.append, samples.turns.append, samples.values.append

    def lengths(self) -> list[int]:
        """How many samples there are of each kind."""
        return [len(s.times) for s in self._series.values()]

    def repeat(self, lengths: list[int], k: int, period: float, arrivals: int) -> None:
        """The samples since then come k times more, each time a period and some arrivals later."""
        import numpy as np

        count = sum(len(s.times) - since for since, s in zip(lengths, self._series.values(), strict=True))
        if k * count * SAMPLE > _memory():
            raise MemoryError
        later = np.arange(1, k + 1)[:, None]
        for since, samples in zip(lengths, self._series.values(), strict=True):
            times = np.array(samples.times[since:])
            sessions = np.array(samples.sessions[since:])
            samples.times.frombytes((times + later * period).astype("d").tobytes())
            samples.sessions.frombytes((sessions + later * arrivals).astype("i").tobytes())
            samples.turns.extend(samples.turns[since:] * k)
            samples.values.extend(samples.values[since:] * k)

    def gauge(self, k: int) -> Callable[[float, float], None]:
        """How a gauge is read: time, value."""
        return self.machine.gauge_series[k].show

    def answer(self, k: int, answers: tuple[int, int, float]) -> None:
        """The answers of the k-th question: how many, how many false ones, and the instant looked for."""
        watch = self.engine.watches[k]
        watch.checked, watch.failures, first = answers
        watch.first = first if first >= 0 else None

    def broken(self, k: int, serial: int) -> None:
        if serial >= 0:
            self.machine.givens[k].broken_by = serial

    def put_machine(
        self, now: float, events: int, arrived: int, live: int, ended: int, turns: int, live_area: float
    ) -> None:
        machine = self.machine
        machine.now, machine.events, machine.arrived = now, events, arrived
        machine.live, machine.ended, machine.turns = live, ended, turns
        machine.take_live_area(live_area)
        for samples in machine.client.values():
            # A session of the fragment has one turn.
            samples.turns.extend(array("i", [1]) * len(samples.times))

    def put_engine(
        self, area: float, busy_time: float, completed: int, service: float, iterations: int,
        prefill_only: float, decode_only: float, mixed: float, decode_area: float, decode_starts: int,
        decode_sum: int, decode_duration: float, gaps: array[float], gap_counts: array[int], waits: bool,
    ) -> None:  # fmt: skip
        tally = self.engine.tally
        tally.area, tally.busy_time, tally.completed, tally.service_sum = area, busy_time, completed, service
        tally.iterations = iterations
        tally.prefill_only, tally.decode_only, tally.mixed = prefill_only, decode_only, mixed
        tally.decode_area, tally.decode_starts = decode_area, decode_starts
        tally.decode_sum, tally.decode_duration = decode_sum, decode_duration
        tally.gaps, tally.gap_counts = gaps, gap_counts
        self.engine.take_tally(waits)

    def put_pool(
        self, used_area: float, queue_area: float, holders_area: float, admissions: int,
        queue_admissions: int, wait_sum: float,
    ) -> None:  # fmt: skip
        for pool in self.machine.holds.pools:
            tally = pool.tally
            tally.used_area, tally.queue_area, tally.holders_area = used_area, queue_area, holders_area
            tally.admissions, tally.queue_admissions, tally.wait_sum = admissions, queue_admissions, wait_sum
            pool.take_tally()


def is_fused(machine: Machine) -> bool:
    """Whether the program is of the fragment, and nobody but its claims looks on."""
    if machine.requested or machine.on_session or machine.on_iteration:
        return False
    if isinstance(find_fused(machine.program), str):
        return False
    engine = machine.engines[0]
    return not engine.on_iteration and all(w.premise is None for w in engine.watches)


def write_loop(machine: Machine, cycles: bool = True) -> tuple[str, dict[str, Any]]:
    """The source of the loop of a program of the fragment, and what it may call.

    cycles: it may pass over whole periods. Raises TooDeep.
    """
    fused = find_fused(machine.program)
    if isinstance(fused, str):
        raise InternalError(f"no loop for a program where {fused}")
    writer = LoopWriter(fused, machine.engines[0].watches, machine.givens, machine.samples_of, cycles)
    return writer.loop(), {**LENT, **writer.lent}


def run_loop(
    machine: Machine, progress: Callable[[float, int], None] | None = None, cycles: bool = True
) -> bool | None:
    """Run a machine that has just been built, by a loop of its own.

    False: something is not as a loop expects; the machine has to be built again and run by itself. None:
    a claim was not settled by the periods passed over; it has to be built again and run without `cycles`.
    """
    try:
        source, lent = write_loop(machine, cycles)
    except TooDeep:
        return False
    machine.sources["loop"] = source
    settings = machine.settings
    loop: Any = build(source, "loop", lent)
    try:
        over: bool | None = loop(
            Link(machine), settings.horizon, settings.warmup, settings.arrivals, progress or _silent
        )
        return over
    except OutsideLaw:
        return False


def _silent(_: float, __: int) -> None:
    """Nobody wants to know how far the run is."""
