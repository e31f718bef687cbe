"""Runs a program on its compiled machine, and hands what it leaves behind to the machine of events."""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from math import inf
from typing import TYPE_CHECKING, Any

import numpy as np

from serq.diagnostics import InternalError, ProgramError
from serq.ir.workload import Batch, NoArrivals, Poisson
from serq.machine.draws import OutsideLaw, Stream, key_of
from serq.machine.native.compile import compile_text
from serq.machine.native.fragment import Native, find_native
from serq.machine.native.layout import dtype
from serq.machine.native.writer import NativeWriter
from serq.machine.pools import Growth, Held, Need, Waiting
from serq.machine.records import Wait
from serq.machine.sessions import Session, compile_hold

if TYPE_CHECKING:
    from serq.machine.loop import Machine
    from serq.machine.pools import HoldCode

OVER, LEAVE = 1, 2
"""Answers of the compiled machine, as in `kernel.c`."""
EVENTS = 1 << 15
"""Events between two looks at a run."""
FED = 512
"""Sessions that are made ahead of their time."""


def write_native(machine: Machine) -> tuple[str, list[float]]:
    """The text of a program's compiled machine, and its parameters."""
    native = find_native(machine.program)
    if isinstance(native, str):
        raise InternalError(f"no compiled machine for a program where {native}")
    series = {name: 3 + number for number, name in enumerate(machine.observes)}
    writer = NativeWriter(native, machine.slots, series, machine.engines[0].watches)
    return writer.text(), writer.numbers


class Feeder:
    """Makes sessions ahead of their time: when they come, and what their `init` sets.

    at_once: how many come at time 0, without an event.
    """

    def __init__(self, machine: Machine) -> None:
        self.machine = machine
        arrival = machine.program.workload.arrival if machine.program.workload else NoArrivals()
        wanted = machine.settings.arrivals
        self.at_once = arrival.count if isinstance(arrival, Batch) else 0
        self._made = 0
        self._next_at = 0.0
        self._left = inf if wanted is None else wanted
        if isinstance(arrival, Batch):
            self._left = arrival.count
        elif isinstance(arrival, NoArrivals):
            self._left = 0
        elif not isinstance(arrival, Poisson):
            self._wait()

    def more(self, count: int) -> tuple[list[float], list[list[float]]]:
        """Times and attributes of the next sessions, up to the first that is too late to come."""
        machine = self.machine
        horizon = machine.settings.horizon
        times, rows = [], []
        while count > 0 and self._left > 0 and self._next_at <= horizon:
            machine.now = self._next_at
            times.append(self._next_at)
            rows.append(machine.make_attributes(self._made))
            self._made += 1
            self._left -= 1
            count -= 1
            if self._left > 0 and not self.at_once:
                self._wait()
        if self._left <= 0 or self._next_at > horizon:
            # Nobody comes after that, however often it is asked.
            later = self._next_at if self._next_at > horizon else inf
            times += [later, inf]
            rows += [[0.0] * len(machine.slots)] * 2
            self._left = 0
        machine.now = 0.0
        return times, rows

    def _wait(self) -> None:
        self.machine.now = self._next_at
        self._next_at += self.machine.next_gap()


class NativeRun:
    """One run of a machine that has just been built, by its compiled machine."""

    def __init__(self, machine: Machine, native: Native, library: ctypes.CDLL, numbers: list[float]) -> None:
        self.machine = machine
        self.native = native
        self.library = library
        self.feeder = Feeder(machine)
        self.engine = machine.engines[0]
        self.pools = [members[0] for members in machine.pools.values()]
        self._samples = [*machine.client.values(), *machine.observes.values()]
        self._numbers = np.array([*numbers, 0.0])
        self._times: Any = np.zeros(0)
        self._rows: Any = np.zeros((0, len(machine.slots)))
        library.serq_create.restype = ctypes.c_void_p
        library.serq_create.argtypes = [ctypes.c_int64]
        library.serq_run.restype = ctypes.c_int64
        library.serq_run.argtypes = [ctypes.c_void_p, ctypes.c_int64]
        library.serq_close.argtypes = library.serq_destroy.argtypes = [ctypes.c_void_p]
        self._address: int | None = library.serq_create(max(64, self.feeder.at_once))
        if self._address is None:
            raise OSError("no memory")
        self.m = self._records(self._address, 1, "Run")[0]
        self._fill()

    def __enter__(self) -> NativeRun:
        return self

    def __exit__(self, *_: object) -> None:
        self.library.serq_destroy(self._address)

    # ------------------------------------------------------------ the arrays

    def _records(self, address: int, count: int, record: str) -> Any:
        return self._array(address, count, dtype(record))

    def _array(self, address: int, count: int, kind: Any) -> Any:
        """`count` things at an address; they are not copied."""
        kind = np.dtype(kind)
        if not count:
            return np.zeros(0, kind)
        return np.frombuffer((ctypes.c_char * (count * kind.itemsize)).from_address(int(address)), kind)

    def _fill(self) -> None:
        m, settings = self.m, self.machine.settings
        m["horizon"] = settings.horizon
        m["finish_at"] = m["arrive_at"] = inf
        m["warm_at"] = settings.warmup if settings.warmup > 0 else inf
        m["wanted"] = -1 if settings.arrivals is None else settings.arrivals
        m["idle"], m["at_once"] = 1, self.feeder.at_once
        m["P"] = self._numbers.ctypes.data
        m["key0"], m["key1"] = key_of(settings.seed).view(np.int64)
        for c, pool in zip(self._pools(), self.pools, strict=True):
            rule = pool.pool.preempt
            c["cap"], c["block"] = pool.cap, pool.block or 0.0
            c["head"] = c["tail"] = c["oldest"] = c["newest"] = -1
            c["of_engine"], c["may_preempt"] = pool.pool.engine is not None, rule is not None
            c["requeue_head"] = rule is not None and rule.requeue == "head"
        registers = self.engine.registers
        self._array(m["registers"], len(registers), "f8")[:] = registers
        self._claims()["first"] = -1.0

    def _pools(self) -> Any:
        return self._records(self.m["pools"], len(self.pools), "Pool")

    def _claims(self) -> Any:
        return self._records(self.m["claims"], len(self.engine.watches), "Claim")

    def _feed(self, count: int) -> None:
        m, done = self.m, int(self.m["fed"])
        times, rows = self.feeder.more(count)
        self._times = np.concatenate([self._times[done:], np.array(times, float)])
        fresh = np.array(rows, float).reshape(len(times), self._rows.shape[1])
        self._rows = np.concatenate([self._rows[done:], fresh])
        m["fed"], m["fed_end"] = 0, len(self._times)
        m["fed_at"], m["fed_attributes"] = self._times.ctypes.data, self._rows.ctypes.data

    # ------------------------------------------------------------ going on

    def run(self, progress: Callable[[float, int], None] | None) -> bool:
        """To the end; False: something is not as the compiled machine expects."""
        m = self.m
        if not self.native.made_here:
            self._feed(max(FED, self.feeder.at_once))
        while True:
            answer = self.library.serq_run(self._address, EVENTS)
            if answer == LEAVE:
                return False
            self._drain(over=answer == OVER)
            if answer == OVER:
                return self._close()
            if progress is not None:
                progress(float(m["now"]), int(m["iterations"]))
            if not self.native.made_here and m["fed_end"] - m["fed"] <= 1:
                self._feed(FED)

    def _drain(self, over: bool = False) -> None:
        """Samples so far go where they stay; what a gauge shows now may be taken back in this instant."""
        series = self._records(self.m["series"], len(self._samples), "Series")
        for samples, c in zip(self._samples, series, strict=True):
            found = self._records(c["samples"], int(c["count"]), "Sample")
            samples.times.frombytes(found["time"].tobytes())
            samples.values.frombytes(found["value"].tobytes())
            samples.sessions.frombytes(found["session"].astype("i").tobytes())
            samples.turns.frombytes(found["turn"].astype("i").tobytes())
        series["count"] = 0
        shown = self.machine.gauge_series
        for gauge, c in zip(shown, self._records(self.m["gauges"], len(shown), "Series"), strict=True):
            found = self._records(c["samples"], int(c["count"]), "Sample")
            kept = min(1 - over, len(found))
            gone = len(found) - kept
            gauge.times.frombytes(found["time"][:gone].tobytes())
            gauge.values.frombytes(found["value"][:gone].tobytes())
            found[:kept] = found[gone:]
            c["count"] = kept

    # ------------------------------------------------------------ the end

    def _close(self) -> bool:
        m, settings = self.m, self.machine.settings
        if settings.arrivals is None:
            m["now"] = settings.horizon
        elif not m["drained"] or (settings.warmup > 0 and m["now"] <= settings.warmup):
            return False
        self.library.serq_close(self._address)
        self._put_machine()
        self._put_stages()
        self._put_pools()
        self._put_sessions()
        return True

    def _put_machine(self) -> None:
        m, machine = self.m, self.machine
        machine.now = float(m["now"])
        machine.events, machine.arrived, machine.live = int(m["events"]), int(m["arrived"]), int(m["live"])
        machine.ended, machine.turns = int(m["ended"]), int(m["turns"])
        machine.take_live_area(float(m["live_area"]))
        for watch, claim in zip(self.engine.watches, self._claims(), strict=True):
            watch.checked, watch.failures = int(claim["checked"]), int(claim["failures"])
            watch.first = None if claim["first"] < 0 else float(claim["first"])

    def _put_stages(self) -> None:
        m, machine, engine = self.m, self.machine, self.engine
        stages = self._records(m["stages"], len(self.native.stages), "Stage")
        for stage, c in zip(self.native.stages, stages, strict=True):
            member = machine.stages[stage.name][0]
            tally = member.tally
            tally.area, tally.busy_time = float(c["area"]), float(c["busy_time"])
            tally.service_sum, tally.completed = float(c["service"]), int(c["completed"])
            member.put_tally()
        tally = engine.tally
        for name in ("prefill_only", "decode_only", "mixed", "decode_area", "decode_duration"):
            setattr(tally, name, float(m[name]))
        for name in ("iterations", "decode_starts", "decode_sum"):
            setattr(tally, name, int(m[name]))
        tally.idle_with_work = bool(m["idle"] and m["fruitless"])
        gaps = self._records(m["gaps"], int(m["gap_count"]), "Gap")
        tally.gaps.frombytes(gaps["gap"].tobytes())
        tally.gap_counts.frombytes(gaps["count"].tobytes())
        count = len(engine.registers)
        engine.registers[:] = self._array(m["registers"], count, "f8").tolist()

    def _put_pools(self) -> None:
        for pool, c in zip(self.pools, self._pools(), strict=True):
            pool.used, pool.cache.units = float(c["used"]), float(c["cached"])
            tally = pool.tally
            for name in (
                "used_area",
                "cached_area",
                "queue_area",
                "holders_area",
                "wait_sum",
                "evicted_units",
            ):
                setattr(tally, name, float(c[name]))
            for name in ("admissions", "queue_admissions", "evicted_entries", "preemptions", "rejected"):
                setattr(tally, name, int(c[name]))
            pool.take_tally()

    def _put_sessions(self) -> None:
        """Who holds and who waits: what is said at the end about those that wait in vain."""
        m, holds = self.m, self.machine.holds
        codes = [compile_hold(self.machine, hold) for hold in self.native.holds]
        for c in self._records(m["rejected"], int(m["rejections"]), "Rejection"):
            hold = codes[c["hold"]].statement
            label = hold.parts[c["part"]].place.name
            asked = Wait("rejected", (int(c["session"]),), (label,), (hold.at,), float(c["asked"]))
            holds.rejections.append(asked)
        for c in self._records(m["stuck"], int(m["stuck_count"]), "Stuck"):
            self.pools[c["pool"]].stuck[int(c["session"])] = codes[c["hold"]].statement.at
        slots = self._records(m["sessions"], int(m["room"]), "Session")
        # Who waits behind a head holds nothing here, and keeps nobody waiting.
        heads = {int(c["head"]) for c in self._pools() if c["queued"]}
        holding = np.flatnonzero((slots["serial"] >= 0) & (slots["hold"] > 0)).tolist()
        sessions = {i: self._session(i, slots[i]) for i in (*holding, *heads)}
        for i in sorted(holding, key=lambda i: float(slots[i]["admission"])):
            self._put_hold(sessions[i], i, codes[slots[i]["hold"] - 1])
        for pool, c in zip(self.pools, self._pools(), strict=True):
            i = int(c["grow_head"])
            for _ in range(int(c["growing"])):
                s = sessions[i]
                s.growth = Growth(s, s.holds[0].parts[pool], float(slots[i]["growth"]), None)
                pool.growths.append(s.growth)
                i = int(slots[i]["after"])
            if c["queued"]:
                i = int(c["head"])
                s, code = sessions[i], codes[slots[i]["waiting"] - 1]
                s.waiting = Waiting(s, code, code.pools(s), 0, float(slots[i]["wait_since"]))
                pool.enqueue(s.waiting)
                pool.queued_count = int(c["queued"])

    def _parts(self, i: int) -> Any:
        count = len(self.pools)
        return self._records(self.m["parts"] + i * count * dtype("Part").itemsize, count, "Part")

    def _session(self, i: int, c: Any) -> Session:
        machine, size = self.machine, len(self.machine.slots)
        attributes = self._array(self.m["attributes"] + i * size * 8, size, "f8").tolist()
        serial = int(c["serial"])
        session = Session(serial, attributes, Stream(machine.settings.seed, "session", serial))
        entries = self._records(self.m["entries"], int(self.m["entry_room"]), "Entry")
        for pool, part in zip(self.pools, self._parts(i), strict=True):
            if part["own"] >= 0:
                pool.cache.put_own(session, float(entries[part["own"]]["units"]))
        return session

    def _put_hold(self, session: Session, i: int, code: HoldCode) -> None:
        held = Held(Waiting(session, code, code.pools(session), 0, 0.0))
        session.holds.append(held)
        parts = self._parts(i)
        for pool in code.pools(session):
            part = parts[self.native.pool(pool.name)]
            if part["has"]:
                units = float(part["units"])
                pool.put_part(held, Need(pool, units, 0.0, units), float(part["position"]))


def run_native(machine: Machine, progress: Callable[[float, int], None] | None = None) -> bool:
    """Run a machine that has just been built, by its compiled machine.

    False: it has to be built again and run by itself, since something is not as a compiled machine
    expects, or there is no compiler.
    """
    native = find_native(machine.program)
    if isinstance(native, str):
        return False
    text, numbers = write_native(machine)
    machine.sources["compiled"] = text
    try:
        with NativeRun(machine, native, compile_text(text), numbers) as run:
            return run.run(progress)
    except (OutsideLaw, ProgramError, OSError):
        return False
