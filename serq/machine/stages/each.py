"""Residents that are visited one by one: any schedule, any amounts. Short, slow, plain."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING

from serq.machine.stages.run import Run, share
from serq.values import DONE

if TYPE_CHECKING:
    from serq.machine.sessions import Session
    from serq.machine.stages.engine import EngineMember
    from serq.machine.stages.schedule import AdvanceCode


class EachRun:
    """The runs at an engine, in joining order, and the batch being formed or under way."""

    def __init__(
        self,
        engine: EngineMember,
        runs: Iterable[Run] = (),
        batch: Mapping[Run, float] | None = None,
    ) -> None:
        self.engine = engine
        self._runs: dict[Run, None] = dict.fromkeys(runs)
        self._batch: dict[Run, float] = dict(batch or {})

    def runs(self) -> list[Run]:
        return list(self._runs)

    def batch_runs(self) -> list[tuple[Run, float]]:
        """(run, tokens) of the batch, in serving order."""
        return list(self._batch.items())

    def batch_size(self) -> int:
        return len(self._batch)

    def add(self, run: Run) -> None:
        self._runs[run] = None

    def work(self) -> float:
        return sum((run.remaining for run in self._runs), 0.0)

    def running_memory(self, decode: bool) -> float:
        memory_of = self.engine.memory_of
        return sum((memory_of(run) for run in self._runs if run.is_decode == decode), 0.0)

    def batch_memory(self, decode: bool) -> float:
        memory_of = self.engine.memory_of
        return sum((memory_of(run) for run in self._batch if run.is_decode == decode), 0.0)

    def find(self, session: Session) -> Run | None:
        return next((run for run in self._runs if run.session is session), None)

    def remove(self, run: Run) -> None:
        """A run is preempted; what the batch gave it returns to the budget if it grows."""
        del self._runs[run]
        n = self._batch.pop(run, 0.0)
        e = self.engine
        if n and not e.forming:
            e.lose(n)
        elif n:
            e.tokens -= n
            if run.part is not None:
                e.returned += n
            if run.is_decode:
                e.decoders -= 1
            else:
                e.prefilled -= n
                e.attention -= n * ((0.0 if run.part is None else run.part.position) + n / 2)

    def demand(self) -> float:
        each = self.engine.each
        return sum((min(1.0 if r.is_decode else each, r.remaining) for r in self._runs), 0.0)

    # ------------------------------------------------------------ forming a batch

    def begin(self) -> None:
        self._batch = {}

    def advance(self, code: AdvanceCode) -> None:
        self.engine.take_returned()
        waiting = [r for r in self._runs if r not in self._batch]
        keys = code.keys
        if keys is None:
            waiting.sort(key=lambda r: r.order)
        else:
            waiting.sort(key=lambda r: (keys(r), r.order))
        for run in waiting:
            if self.engine.left <= 0:
                return
            if run in self._runs and (code.only is None or code.only(run)) and not self.serve(run):
                return

    def serve(self, run: Run) -> bool:
        """Give a run what it may have of the budget that is left; False if it was preempted itself."""
        e = self.engine
        if run.session.growth is not None:
            return True
        n = share(run, e.left, e.each, e.granule)
        if n <= 0:
            e.refused = True
            return True
        if run.part is not None and not e.make_memory(run, n):
            return run in self._runs
        self._batch[run] = n
        e.left -= n
        e.take_returned()
        e.tokens += n
        if run.is_decode:
            e.decoders += 1
        else:
            e.prefilled += n
            e.attention += n * ((0.0 if run.part is None else run.part.position) + n / 2)
        return True

    def serve_first_prefill(self) -> bool:
        """The first prefill that does not wait for memory gets tokens; False when there is none.

        One that is preempted by its own growth is the last to be tried.
        """
        for run in sorted((r for r in self._runs if not r.is_decode), key=lambda r: r.order):
            if run in self._runs and (not self.serve(run) or self._batch):
                return True
        return False

    def serve_decodes(self) -> bool:
        """A token for every decode in order; prefills are not here now."""
        for run in sorted(self._runs, key=lambda r: r.order):
            if self.engine.left <= 0:
                break
            if run in self._runs and run not in self._batch and not self.serve(run):
                break
        return True

    def serve_alone(self, run: Run, budget: float) -> bool:
        """Give a prefill what it may have of the whole budget, in place of the batch; False: no memory.

        Then the batch stays, but for those that were preempted for it.
        """
        e, batch = self.engine, self._batch
        self._batch = {}
        e.tokens = e.prefilled = e.attention = 0.0
        e.decoders = 0
        e.left, e.returned = budget, 0.0
        self.serve(run)
        if self._batch:
            return True
        self._batch = {decode: n for decode, n in batch.items() if decode in self._runs}
        e.decoders = len(self._batch)
        e.tokens = sum(self._batch.values())
        e.left, e.returned = budget - e.tokens, 0.0
        return False

    # ------------------------------------------------------------ an iteration

    def start(self) -> None:
        """The iteration starts: holds count its tokens as computed, should they be lost before its end."""
        for run, n in self._batch.items():
            if run.part is not None:
                run.part.position += n

    def apply(self) -> None:
        """The iteration is over: tokens count, runs with nothing left leave in serving order."""
        e = self.engine
        done = []
        for run, n in self._batch.items():
            run.remaining -= n
            if run.is_decode:
                e.add_token(run.session)
            if run.remaining <= DONE:
                if not run.is_decode:
                    e.end_prefill(run.session)
                done.append(run)
        self._batch = {}
        for run in done:
            del self._runs[run]
            e.end_run(run)
