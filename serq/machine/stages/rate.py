"""Stages that work at rate 1: lines of servers (`fifo`) and delays."""

from __future__ import annotations

from collections import deque
from math import inf
from typing import TYPE_CHECKING

from serq.machine.stages.base import StageMember

if TYPE_CHECKING:
    from serq.machine.loop import Machine
    from serq.machine.pools import Part
    from serq.machine.sessions import Session


class Job:
    """Work at a plain stage."""

    __slots__ = ("due", "joined", "session", "started", "work")

    def __init__(self, session: Session | None, work: float, joined: float) -> None:
        self.session = session
        self.work = work
        self.joined = joined
        self.started = joined
        self.due = inf


class FifoMember(StageMember):
    """`servers` servers, first come first served; a delay has a server for everyone."""

    def __init__(self, machine: Machine, name: str, index: int | None, servers: float) -> None:
        super().__init__(machine, name, index)
        self.servers = servers
        self.line: deque[Job] = deque()
        # A dict keeps the order in which service began, so that sums come out the same every run.
        self.serving: dict[Job, None] = {}

    def join(self, session: Session | None, mode: str | None, work: float, part: Part | None) -> None:
        self.change_present(+1)
        if session is not None:
            session.stage = self
        job = Job(session, work, self.machine.now)
        if len(self.serving) < self.servers:
            self._start(job)
        else:
            self.line.append(job)

    def _start(self, job: Job) -> None:
        job.started = self.machine.now
        job.due = job.started + job.work
        self.serving[job] = None
        if job.due < inf:
            self.machine.schedule(job.due, self._end, job)

    def cancel(self, session: Session) -> None:
        self.change_present(-1)
        for job in self.line:
            if job.session is session:
                self.line.remove(job)
                return
        job = next(job for job in self.serving if job.session is session)
        del self.serving[job]
        if self.line:
            self._start(self.line.popleft())

    def _end(self, job: Job) -> None:
        if job not in self.serving:
            return
        del self.serving[job]
        self.leave(job.session, job.joined, job.started)
        if self.line:
            self._start(self.line.popleft())

    def busy(self) -> float:
        return len(self.serving)

    def work(self) -> float:
        now = self.machine.now
        return sum((job.due - now for job in self.serving), 0.0) + sum((job.work for job in self.line), 0.0)
