"""A program under many seeds: `serq run --seeds N` and `serq.replicate`."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from attrs import evolve, frozen

from serq.diagnostics import ProgramError
from serq.ir.jsonform import program_from_json, program_to_json
from serq.ir.program import Program
from serq.machine.settings import Settings
from serq.report.replications import Replica, Replications, make_replica, make_replications
from serq.studies.workers import results_in_order
from serq.tools.running import record_run, with_source


@frozen
class RunSeeds:
    """The work of running a program under one seed after another.

    program: as JSON, which carries deep expressions where pickling would not. settings: of every run, but
    for the seed. version: of serq.
    """

    program: str
    settings: Settings
    version: str

    @classmethod
    def of(cls, program: Program, settings: Settings, version: str) -> RunSeeds:
        """The work for a checked program."""
        return cls(program_to_json(program), settings, version)

    def start(self) -> Callable[[int], Replica]:
        """What runs the program under a seed."""
        program = program_from_json(self.program, "<program>")

        def perform(seed: int) -> Replica:
            return make_replica(record_run(program, evolve(self.settings, seed=seed)), self.version)

        return perform


def replicate(
    program: Program,
    settings: Settings,
    seeds: Sequence[int],
    version: str,
    jobs: int,
    progress: Callable[[float], None] | None = None,
) -> Replications:
    """Run a program under each seed.

    settings: of every run, but for the seed. jobs: processes; the result is the same for any number.
    progress: called with the number of runs done. Raises ProgramError for the first seed, in their
    order, whose run cannot go on.
    """
    work = RunSeeds.of(program, settings, version)
    replicas = []
    try:
        for replica in results_in_order(work, seeds, min(jobs, len(seeds))):
            replicas.append(replica)
            if progress is not None:
                progress(len(replicas))
    except ProgramError as error:
        raise with_source(error, program) from None
    return make_replications(replicas)
