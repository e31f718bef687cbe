"""Residents of an engine that is scheduled request by request: each is known by itself.

`SteadyRuns` keeps decodes of whole lengths that no memory grows with. A clock, the engine's `tick`,
counts the iterations that served anybody; a run stores the tick at which it would have begun and the
one at which it will be done, so an iteration that serves everybody changes no run. Whoever is left out
moves both by one. Other runs are visited one by one, by `EachRequest`; both keep what aggregates
read: progress is `tick - run.base`, what remains `run.finish - tick`.
"""

from __future__ import annotations

from bisect import insort
from collections.abc import Iterable, Mapping
from heapq import heappop, heappush
from typing import TYPE_CHECKING

from serq.machine.stages.each import EachRun
from serq.machine.stages.run import Run
from serq.values import is_whole

if TYPE_CHECKING:
    from serq.machine.sessions import Session
    from serq.machine.stages.engine import EngineMember
    from serq.machine.stages.schedule import AdvanceCode


class EachRequest(EachRun):
    """Runs of any kind, visited one by one. The engine's tick stands still."""

    def __init__(
        self,
        engine: EngineMember,
        runs: Iterable[Run] = (),
        batch: Mapping[Run, float] | None = None,
    ) -> None:
        super().__init__(engine, runs, batch)
        engine.tick = 0.0
        for run in self._runs:
            _note(run)

    def add(self, run: Run) -> None:
        super().add(run)
        _note(run)

    def standing(self) -> list[Run]:
        """The runs in standing order."""
        return sorted(self._runs, key=_order)

    def batch(self) -> list[Run]:
        """The runs that are served in this iteration, in serving order."""
        return list(self._batch)

    def given(self, run: Run) -> float:
        """Tokens that a run of the batch gets."""
        return self._batch[run]

    def max_progress_running(self) -> float:
        """The largest progress of a resident; 0 without one."""
        return 0.0 - min((run.base for run in self._runs), default=0.0)

    def min_progress_running(self) -> float:
        """The least progress of a resident; 0 without one."""
        return 0.0 - max((run.base for run in self._runs), default=0.0)

    def max_progress_batch(self) -> float:
        """The largest progress of a run of the batch; 0 without one."""
        return 0.0 - min((run.base for run in self._batch), default=0.0)

    def min_progress_batch(self) -> float:
        """The least progress of a run of the batch; 0 without one."""
        return 0.0 - max((run.base for run in self._batch), default=0.0)

    def sum_progress_running(self, slope: float, constant: float) -> float:
        """The sum of `constant + slope * progress` over the residents."""
        return sum([constant + slope * (0.0 - run.base) for run in self.standing()], 0.0)

    def sum_progress_batch(self, slope: float, constant: float) -> float:
        """The same over the runs of the batch."""
        return sum([constant + slope * (0.0 - run.base) for run in self._batch], 0.0)

    def begin(self) -> None:
        if self._runs or self.engine.fractional:
            super().begin()
        else:
            self.engine.residents = SteadyRuns(self.engine)
            self.engine.residents.begin()

    def serve_one(self, run: Run) -> None:
        """`advance r`: if it still runs here, and has not been served."""
        if run in self._runs and run not in self._batch:
            self.serve(run)

    def apply(self) -> None:
        served = list(self._batch)
        super().apply()
        for run in served:
            _note(run)


def _order(run: Run) -> tuple[float, int]:
    return run.order


def _note(run: Run) -> None:
    """What aggregates read, while the tick is 0."""
    run.base = -(run.before + (run.total - run.remaining))
    run.finish_at = run.remaining


class SteadyRuns:
    """Decodes of whole lengths, in standing order, and the batch being formed or under way.

    fresh: runs whose latest token, if they have one, was not given by the last iteration; of the others
    sessions learn their tokens when that ends. ends: a heap of (tick, joining number, run), perhaps too
    early for a run that was left out since.
    """

    def __init__(self, engine: EngineMember) -> None:
        self.engine = engine
        engine.tick = 0.0
        self._runs: list[Run] = []
        self._batch: list[Run] = []
        self._served_below = 0
        self._fresh: dict[Run, None] = {}
        self._ends: list[tuple[float, int, Run]] = []
        self._last = 0.0
        # The least and the largest base of a resident, while they are known.
        self._bases: tuple[float, float] | None = None
        # The sum of all bases, while it is known.
        self._sum: float | None = None

    # ------------------------------------------------------------ who is here

    def runs(self) -> list[Run]:
        tick = self.engine.tick
        for run in self._runs:
            run.remaining = run.finish_at - tick
        return sorted(self._runs, key=lambda run: run.order[1])

    def standing(self) -> list[Run]:
        """The runs in standing order; not to be changed."""
        return self._runs

    def batch(self) -> list[Run]:
        """The runs that are served in this iteration, in serving order; not to be changed."""
        return self._batch

    def given(self, _: Run) -> float:
        """Tokens that a run of the batch gets."""
        return 1.0

    def _extremes(self) -> tuple[float, float]:
        if self._bases is None:
            bases = [run.base for run in self._runs]
            self._bases = (min(bases), max(bases)) if bases else (self.engine.tick, self.engine.tick)
        return self._bases

    def max_progress_running(self) -> float:
        """The largest progress of a resident; 0 without one."""
        return self.engine.tick - self._extremes()[0] if self._runs else 0.0

    def min_progress_running(self) -> float:
        """The least progress of a resident; 0 without one."""
        return self.engine.tick - self._extremes()[1] if self._runs else 0.0

    def max_progress_batch(self) -> float:
        """The largest progress of a run of the batch; 0 without one."""
        if len(self._batch) == len(self._runs):
            return self.max_progress_running()
        return self.engine.tick - min((run.base for run in self._batch), default=self.engine.tick)

    def min_progress_batch(self) -> float:
        """The least progress of a run of the batch; 0 without one."""
        if len(self._batch) == len(self._runs):
            return self.min_progress_running()
        return self.engine.tick - max((run.base for run in self._batch), default=self.engine.tick)

    def sum_progress_running(self, slope: float, constant: float) -> float:
        """The sum of `constant + slope * progress` over the residents."""
        if self._sum is None:
            self._sum = sum([run.base for run in self._runs], 0.0)
        return self._line(slope, constant, len(self._runs), self._sum)

    def sum_progress_batch(self, slope: float, constant: float) -> float:
        """The same over the runs of the batch."""
        if len(self._batch) == len(self._runs):
            return self.sum_progress_running(slope, constant)
        return self._line(slope, constant, len(self._batch), sum([run.base for run in self._batch], 0.0))

    def _line(self, slope: float, constant: float, count: int, bases: float) -> float:
        """Whole numbers, so that the order of the additions does not matter."""
        return 0.0 + count * constant + slope * (count * self.engine.tick - bases)

    def batch_runs(self) -> list[tuple[Run, float]]:
        return [(run, 1.0) for run in self._batch]

    def batch_size(self) -> int:
        return len(self._batch)

    def add(self, run: Run) -> None:
        if (
            not run.is_decode
            or run.part is not None
            or not is_whole(run.remaining)
            or not is_whole(run.before)
        ):
            self.engine.visit_each().add(run)
            return
        tick = self.engine.tick
        run.base = tick - run.before
        run.finish_at = tick + run.remaining
        self._bases = self._sum = None
        runs = self._runs
        if not runs or runs[-1].order < run.order:
            runs.append(run)
        else:
            insort(runs, run, key=_order)
        self._fresh[run] = None
        heappush(self._ends, (run.finish_at, run.order[1], run))

    def work(self) -> float:
        return self.engine.unfinished

    def demand(self) -> float:
        return float(len(self._runs))

    def running_memory(self, decode: bool) -> float:
        memory_of = self.engine.memory_of
        return sum((memory_of(run) for run in self._runs), 0.0) if decode else 0.0

    def batch_memory(self, decode: bool) -> float:
        memory_of = self.engine.memory_of
        return sum((memory_of(run) for run in self._batch), 0.0) if decode else 0.0

    def find(self, session: Session) -> Run | None:
        return next((run for run in self._runs if run.session is session), None)

    # ------------------------------------------------------------ forming a batch

    def begin(self) -> None:
        self._batch = []
        self._served_below = 0

    def _is_served(self, run: Run) -> bool:
        return run.mark == self.engine.iteration or run.order[1] < self._served_below

    def advance(self, code: AdvanceCode) -> None:
        e = self.engine
        if code.only is None and code.keys is None and not self._batch and len(self._runs) <= e.left:
            count = len(self._runs)
            self._batch = self._runs.copy()
            self._served_below = e.joined
            e.left -= count
            e.tokens += count
            e.decoders += count
            return
        waiting = [run for run in self._runs if not self._is_served(run)]
        keys = code.keys
        if keys is not None:
            waiting.sort(key=lambda run: (keys(run), run.order))
        for run in waiting:
            if e.left <= 0:
                return
            if code.only is None or code.only(run):
                self.serve(run)

    def serve_one(self, run: Run) -> None:
        """`advance r`: if it still runs here, and has not been served."""
        if run.finish_at > self.engine.tick and not self._is_served(run):
            self.serve(run)

    def serve(self, run: Run) -> bool:
        """A token for a run; there is one left."""
        e = self.engine
        run.mark = e.iteration
        self._batch.append(run)
        e.left -= 1.0
        e.tokens += 1.0
        e.decoders += 1
        return True

    def serve_first_prefill(self) -> bool:
        return False

    def serve_decodes(self) -> bool:
        for run in self._runs:
            if self.engine.left <= 0:
                break
            if not self._is_served(run):
                self.serve(run)
        return True

    def serve_alone(self, run: Run, budget: float) -> bool:
        raise AssertionError("a prefill is not kept here")

    # ------------------------------------------------------------ an iteration

    def start(self) -> None:
        """Nothing grows with these runs."""

    def apply(self) -> None:
        """The iteration is over: everyone served is a token further; who is done leaves."""
        e, fresh, now = self.engine, self._fresh, self.engine.machine.now
        batch = self._batch
        if len(batch) < len(self._runs):
            self._leave_out()
        old = len(batch) - (len(fresh) if len(batch) == len(self._runs) else sum(r in fresh for r in batch))
        e.tick = tick = e.tick + 1.0
        if old:
            e.add_gaps(now - self._last, old)
        if fresh:
            for run in [run for run in batch if run in fresh]:
                e.add_token(run.session)
                run.counted_at = tick
                del fresh[run]
        self._last = now
        ends = self._ends
        done: list[Run] = []
        while ends and ends[0][0] <= tick:
            _, number, run = heappop(ends)
            if run.finish_at > tick:
                heappush(ends, (run.finish_at, number, run))
            else:
                done.append(run)
        if done:
            if len(done) > 1:
                place = {run: i for i, run in enumerate(batch)}
                done.sort(key=place.__getitem__)
            gone = set(done)
            self._runs = [run for run in self._runs if run not in gone]
            self._bases = self._sum = None
        self._batch = []
        for run in done:
            self._settle(run)
            run.remaining = 0.0
            e.end_run(run)

    def _leave_out(self) -> None:
        """Runs that this iteration does not serve stay where they are, while the tick goes on."""
        served = set(self._batch)
        self._bases = self._sum = None
        for run in self._runs:
            if run not in served:
                if run not in self._fresh:
                    self._settle(run)
                    self._fresh[run] = None
                run.base += 1.0
                run.finish_at += 1.0

    def _settle(self, run: Run) -> None:
        """The session learns of its tokens up to the last iteration."""
        session, tick = run.session, self.engine.tick
        if run not in self._fresh:
            session.tokens += int(tick - run.counted_at)
            session.last_token = self._last
            run.counted_at = tick

    def spell_out(self) -> EachRequest:
        """The same residents and batch, run by run."""
        for run in self._runs:
            self._settle(run)
        return EachRequest(self.engine, self.runs(), dict(self.batch_runs()))
