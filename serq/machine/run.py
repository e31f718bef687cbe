"""A run of a program, by the machine that is the fastest for it.

The machine of events (`loop`) runs every program. Some have a loop of their own, written for the program
(`fused`), or a compiled machine (`native`). All of them leave the same record behind.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress

from serq.ir.program import Program
from serq.ir.workload import Batch
from serq.machine.fused import is_fused, run_loop
from serq.machine.loop import Machine, Observer
from serq.machine.native import Impatient, Patience, is_compiled, is_native, run_native
from serq.machine.records import RunRecord
from serq.machine.reservoir import Reservoirs
from serq.machine.settings import Settings

SHORT = 500
"""Events of a run that is over before a loop would have been written for it; sessions count as such."""


def run_program(
    program: Program,
    settings: Settings,
    observers: Sequence[Observer] = (),
    progress: Callable[[float, int], None] | None = None,
) -> RunRecord:
    """Run a checked program.

    progress: called now and then with the clock and the iterations so far. Raises ProgramError when the run
    cannot go on.
    """
    if settings.reservoir is not None:
        reservoirs = Reservoirs(settings.reservoir, settings.warmup, settings.seed)
        observers, progress = [*observers, reservoirs], reservoirs.watched(progress)
    machine = _finished(program, settings, observers, progress)
    return machine.record([outcome for o in observers for outcome in o.finish(machine)])


def _finished(
    program: Program,
    settings: Settings,
    observers: Sequence[Observer],
    progress: Callable[[float, int], None] | None,
) -> Machine:
    """A machine at the end of its run, whichever way is the fastest; the figures are the same."""
    machine = _watched(program, settings, observers)
    fused, native = is_fused(machine), is_native(machine)
    if not fused and not native:
        machine.run(progress)
        return machine
    # What was compiled for an earlier run is there at once; else it has to be worth waiting for.
    compiled = native and is_compiled(machine)
    if not compiled:
        arrival = program.workload.arrival if program.workload else None
        crowded = isinstance(arrival, Batch) and arrival.count > SHORT
        if not crowded and machine.run(until=SHORT):
            return machine
    if native and not compiled:
        with suppress(Impatient):
            return _unaided(program, settings, observers, Patience(progress), fused)
        machine = _watched(program, settings, observers)
    if native and run_native(machine, progress):
        return machine
    return _unaided(program, settings, observers, progress, fused)


def _unaided(
    program: Program,
    settings: Settings,
    observers: Sequence[Observer],
    progress: Callable[[float, int], None] | None,
    fused: bool,
) -> Machine:
    """The same without a compiler: by a loop of the program's own if there is one."""
    # Periods that are passed over repeat samples, all of which have to be there.
    ways = (True, False) if settings.reservoir is None else (False,)
    for cycles in ways if fused else ():
        machine = _watched(program, settings, observers)
        over = run_loop(machine, progress, cycles)
        if over:
            return machine
        if over is not None:
            break
    machine = _watched(program, settings, observers)
    machine.run(progress)
    return machine


def _watched(program: Program, settings: Settings, observers: Sequence[Observer]) -> Machine:
    machine = Machine(program, settings)
    for observer in observers:
        observer.watch(machine)
    return machine
