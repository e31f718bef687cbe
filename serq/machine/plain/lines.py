"""Lines of servers and delays (semantics, section 8)."""

from __future__ import annotations

from math import inf

from serq.machine.plain.state import Job, Line, Machine, Session


def join(m: Machine, line: Line, session: Session | None, work: float) -> None:
    """A job joins and begins as soon as a server is free."""
    job = Job(session, work, m.now)
    line.jobs.append(job)
    if session is not None:
        session.stands = job
    begin(m, line)


def begin(m: Machine, line: Line) -> None:
    """Free servers take the jobs that wait, in joining order."""
    for job in line.jobs:
        if job.started is None and line.busy < line.servers:
            job.started = m.now
            if job.due < inf:
                m.schedule(job.due, lambda job=job: finish(m, line, job))  # type: ignore[misc]


def finish(m: Machine, line: Line, job: Job) -> None:
    """A job is done, unless its session was taken away meanwhile."""
    if job not in line.jobs or job.started is None:
        return
    line.jobs.remove(job)
    line.tally.completed += 1
    line.tally.wait_sum += job.started - job.joined
    line.tally.service_sum += m.now - job.started
    if job.session is not None:
        job.session.stands = job.session.woken_by = None
        m.ready.append(job.session)
    begin(m, line)


def cancel(m: Machine, job: Job) -> None:
    """A session that loses its hold leaves the line it is in."""
    line = next(stage for stage in m.all_stages() if isinstance(stage, Line) and job in stage.jobs)
    line.jobs.remove(job)
    begin(m, line)
