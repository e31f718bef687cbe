"""A machine of its own for one program, in C: one engine, its memory, delays, sessions of many turns.

`fragment` says which programs have one, `writer` writes what is special about a program, `kernel.c` is
the rest, `compile` makes and keeps it, `run` drives it and hands what it leaves behind to the machine of
events.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from typing import TYPE_CHECKING

from serq.machine.native.fragment import find_native

if TYPE_CHECKING:
    from serq.machine.loop import Machine

PATIENCE = 1.5
"""Seconds of processor time that a run may take before it is worth compiling."""


class Impatient(Exception):
    """A run takes so long that compiling it is worth while."""


class Patience:
    """Hands on how far a run is, until it has taken too long."""

    def __init__(self, progress: Callable[[float, int], None] | None) -> None:
        self.progress = progress
        self.end = time.process_time() + PATIENCE

    def __call__(self, now: float, iterations: int) -> None:
        if time.process_time() > self.end:
            raise Impatient
        if self.progress is not None:
            self.progress(now, iterations)


def take_troubles() -> list[str]:
    """Why runs since the last time did without a compiler that was asked for."""
    compiling = sys.modules.get("serq.machine.native.compile")
    found = list(compiling.troubles) if compiling else []
    if compiling:
        compiling.troubles.clear()
    return found


def is_native(machine: Machine) -> bool:
    """Whether there is a compiled machine for the program, a compiler, and nobody looks on but claims."""
    if machine.requested or machine.on_session or machine.on_iteration or machine.givens:
        return False
    if isinstance(find_native(machine.program), str):
        return False
    engine = machine.engines[0]
    if engine.on_iteration or not all(w.premise is None and w.given is None for w in engine.watches):
        return False
    from serq.machine.native.compile import compiler

    return compiler() is not None


def is_compiled(machine: Machine) -> bool:
    """Whether the program has been compiled here before, perhaps with other inputs."""
    from serq.machine.native.compile import directory, is_kept

    if not directory().is_dir():
        return False
    from serq.machine.native.run import write_native

    return is_kept(write_native(machine)[0])


def run_native(machine: Machine, progress: Callable[[float, int], None] | None = None) -> bool:
    """Run a machine that has just been built, by its compiled machine.

    False: it has to be built again and run by itself, since something is not as a compiled machine
    expects, or the compiler has failed.
    """
    from serq.machine.native import run

    return run.run_native(machine, progress)
