"""What every stage keeps: how many jobs are present, and its figures since the warm-up."""

from __future__ import annotations

from typing import TYPE_CHECKING

from serq.machine.records import StageTally

if TYPE_CHECKING:
    from serq.machine.loop import Machine
    from serq.machine.pools import Part
    from serq.machine.sessions import Session


class StageMember:
    """One stage, or one member of a family. `present`: jobs here, waiting and in service."""

    is_engine = False

    def __init__(self, machine: Machine, name: str, index: int | None) -> None:
        self.machine = machine
        self.name = name
        self.index = index
        self.present = 0
        self.tally = StageTally(name, index, self.is_engine)
        self._since = 0.0

    def join(self, session: Session | None, mode: str | None, work: float, part: Part | None) -> None:
        """A job of `work` (time, or tokens at an engine; above 0) joins now.

        session: None when nobody waits for it. part: what grows with the position of a run at an
        engine, if anything.
        """
        raise NotImplementedError

    def cancel(self, session: Session) -> None:
        """The session's job goes without being done."""
        raise NotImplementedError

    def write_positions(self) -> None:
        """Write down how far each job has come that a hold grows with: somebody may lose it."""

    def is_decode(self, session: Session) -> bool:
        """Whether the session's job here is a decode."""
        return False

    def busy(self) -> float:
        """Servers, or jobs, at work."""
        raise NotImplementedError

    def work(self) -> float:
        """Unfinished work at this moment, in the stage's unit."""
        raise NotImplementedError

    def change_present(self, by: int) -> None:
        """Jobs come or go; the time averages are settled up to now first."""
        self.settle_tally()
        self.present += by

    def settle_tally(self) -> None:
        now = self.machine.now
        passed = now - self._since
        if passed and self.present:
            self.tally.area += self.present * passed
            self.tally.busy_time += passed
        self._since = now

    def leave(self, session: Session | None, joined: float, started: float) -> None:
        """A job that is done goes; its session may run on."""
        self.change_present(-1)
        tally = self.tally
        tally.completed += 1
        tally.wait_sum += started - joined
        tally.service_sum += self.machine.now - started
        if session is not None:
            session.stage = session.woken_by = None
            self.machine.make_ready(session)

    def end_warmup(self) -> None:
        """Forget the figures so far; what is present stays."""
        iterations = self.tally.iterations
        self.tally = StageTally(self.name, self.index, self.is_engine, iterations=iterations)
        self._since = self.machine.now

    def put_tally(self) -> None:
        """The tally is complete up to now."""
        self._since = self.machine.now

    def close(self) -> StageTally:
        """The figures up to now, the end of the run."""
        self.settle_tally()
        return self.tally
