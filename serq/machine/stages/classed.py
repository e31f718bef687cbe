"""Residents in classes: runs that the schedule cannot tell apart are served as one.

For schedules whose orders and predicates read a run's phase (`decoding`), totals, constants and
registers, and for amounts that are whole. Prefills stand in one sorted list; decodes in segments.
An iteration then costs what it changes: the prefills that move, the segments that are served, the
runs that end; never the number of residents (compare the counting loop of `stages.each`).

It is one file: forming a batch, applying it and keeping the classes tidy share every invariant.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from sortedcontainers import SortedList

from serq.ir.expr import Attr, Expr, Observable, Var, walk
from serq.ir.moments import POOL_OBSERVABLES
from serq.machine.stages.each import EachRun
from serq.machine.stages.run import Run, share
from serq.machine.stages.segment import Order, Segment, merge

if TYPE_CHECKING:
    from serq.machine.sessions import Session
    from serq.machine.stages.engine import EngineMember
    from serq.machine.stages.schedule import AdvanceCode


def tells_apart(e: Expr) -> bool:
    """Whether an order or predicate may distinguish runs of one phase."""
    for node in walk(e):
        match node:
            case Attr():
                return True
            case Var(name="admission" | "remaining" | "running.kv_decode" | "running.kv_prefill"):
                return True
            case Observable(function=function) if function in POOL_OBSERVABLES:
                # Memory grows from run to run within one statement.
                return True
    return False


class _Phase:
    """Stands for every run of one phase where a predicate or key is read."""

    def __init__(self, is_decode: bool) -> None:
        self.is_decode = is_decode


def gather(plain: EachRun) -> EachRun | ClassedRuns:
    """The same residents in classes, between two iterations, if all amounts are whole."""
    runs = sorted(plain.runs(), key=lambda r: r.order)
    if not all(run.is_whole() and run.session.growth is None for run in runs):
        return plain
    classed = ClassedRuns(plain.engine)
    for run in runs:
        run.total, run.counted = run.remaining, 0
        classed.add(run)
    return classed


_DECODE, _PREFILL = _Phase(True), _Phase(False)


class ClassedRuns:
    """The runs at an engine by phase, and the batch being formed or under way.

    The batch lists prefills and segments in serving order. An amount that is not whole sends the
    engine to `EachRun` for good, so that sums never depend on the order of adding.
    """

    def __init__(self, engine: EngineMember) -> None:
        self.engine = engine
        self.prefills: SortedList = SortedList()
        self.segments: list[Segment] = []
        self._batch: list[Run | Segment] = []
        self._given: dict[Run, float] = {}
        self._apart = False
        # Sum over prefills of min(remaining, each) for a cap that never changes.
        self._wanted = 0.0
        self._prefill_memory = 0.0

    # ------------------------------------------------------------ who is here

    def runs(self) -> list[Run]:
        decodes = [run for segment in self.segments for run in segment.members()]
        return sorted([*(entry[1] for entry in self.prefills), *decodes], key=lambda r: r.order)

    def batch_runs(self) -> list[tuple[Run, float]]:
        found: list[tuple[Run, float]] = []
        for item in self._batch:
            if isinstance(item, Run):
                found.append((item, self._given[item]))
            else:
                found += [(run, 1.0) for run in item.members() if run.since < item.tick]
        return found

    def batch_size(self) -> int:
        return sum(1 if isinstance(item, Run) else item.served for item in self._batch)

    def add(self, run: Run) -> None:
        if not run.is_whole():
            self.engine.use_plain()
            self.engine.residents.add(run)
            return
        run.memory = self.engine.memory_of(run)
        if run.is_decode:
            self._add_decode(run)
        else:
            self.prefills.add((run.order, run))
            self._wanted += self._want(run)
            self._prefill_memory += run.memory

    def _make_memory(self, run: Run, more: float) -> bool:
        """Allocate `more` to the hold that grows with a run; False when there is no room at once."""
        part = run.part
        assert part is not None
        if not part.pool.has_room(more, part):
            return False
        part.pool.enlarge(part, more)
        if part.pool is self.engine.memory:
            run.memory += more
            if run.segment is not None:
                run.segment.memory += more
            else:
                self._prefill_memory += more
        return True

    def _grow(self, segment: Segment, growing: list[Run]) -> bool:
        """Allocate what members of a segment need for their next token; False when there is no room at once.

        Where nobody looks in between, they get it together.
        """
        first = growing[0].part
        assert first is not None
        pool, tick = first.pool, segment.tick
        together, block = len(growing) > 1 and pool.is_simple, pool.block
        needs, more = [], 0.0
        for run in growing:
            part = run.part
            assert part is not None
            together = together and part.pool is pool
            position = tick + run.shift
            # A hold that is full to its last block needs one more.
            full = block is not None and position == part.units and part.pool is pool
            need = block if full and block is not None else part.pool.round_up(position + 1.0) - part.units
            needs.append(need)
            more += need
        if together and pool.used + more <= pool.cap:
            pool.settle_tally()
            pool.make_room(more)
            pool.used += more
            here = pool is self.engine.memory
            for run, need in zip(growing, needs, strict=True):
                assert run.part is not None
                run.part.units += need
                segment.await_growth(run)
                if here:
                    run.memory += need
            if here:
                segment.memory += more
            return True
        for run, need in zip(growing, needs, strict=True):
            if not self._make_memory(run, need):
                return False
            segment.await_growth(run)
        return True

    def running_memory(self, decode: bool) -> float:
        if decode:
            return sum((segment.memory for segment in self.segments), 0.0)
        return self._prefill_memory

    def batch_memory(self, decode: bool) -> float:
        return sum((item.memory for item in self._batch if isinstance(item, Segment) == decode), 0.0)

    def _want(self, run: Run) -> float:
        return min(run.remaining, self.engine.each_constant)

    def find(self, session: Session) -> Run | None:
        return next((run for run in self.runs() if run.session is session), None)

    def work(self) -> float:
        return self.engine.unfinished

    def demand(self) -> float:
        e = self.engine
        if e.each_constant == e.each:
            return e.decoding + self._wanted
        return e.decoding + sum((min(run.remaining, e.each) for _, run in self.prefills), 0.0)

    def _add_decode(self, run: Run) -> None:
        segments = self.segments
        at = len(segments)
        while at and segments[at - 1].first > run.order:
            at -= 1
        before = segments[at - 1] if at else None
        if before is not None and self.engine.forming and before.mark == self.engine.iteration:
            # It has got its tokens in this iteration; who joins now may yet get one.
            if run.order < before.last_order:
                self._split(at - 1, before.count_before(run.order))
                at = next(
                    (i for i in range(at - 1, len(segments)) if segments[i].first > run.order), len(segments)
                )
        elif before is not None and (
            run.order < before.last_order or not self._prefill_between(before.last_order, run.order)
        ):
            before.add(run)
            return
        segment = Segment()
        segment.add(run)
        segments.insert(at, segment)

    def _prefill_between(self, low: Order, high: Order) -> bool:
        prefills = self.prefills
        at = prefills.bisect_right((low,))
        return bool(at < len(prefills) and prefills[at][0] < high)

    # ------------------------------------------------------------ forming a batch

    def begin(self) -> None:
        self._batch = []
        self._given = {}
        self._apart = True

    def advance(self, code: AdvanceCode) -> None:
        decode = code.only is None or bool(code.only(_DECODE))
        prefill = code.only is None or bool(code.only(_PREFILL))
        first = code.keys(_DECODE) if code.keys is not None else ()
        second = code.keys(_PREFILL) if code.keys is not None else ()
        if decode and prefill and first == second:
            self._apart = False
            fed = self._serve_in_order()
        elif first <= second:
            fed = (not decode or self.serve_decodes()) and (not prefill or self._serve_prefills())
        else:
            fed = (not prefill or self._serve_prefills()) and (not decode or self.serve_decodes())
        if not fed:
            # Somebody has to wait or to lose its memory: that is decided run by run, from here on.
            self.engine.visit_each().advance(code)

    def serve_decodes(self) -> bool:
        """Every decode in order; False when memory ran short."""
        at = 0
        while at < len(self.segments) and self.engine.left > 0:
            if self.segments[at].mark != self.engine.iteration and not self._serve_segment(at):
                return False
            at += 1
        return True

    def _serve_prefills(self) -> bool:
        e = self.engine
        for _, run in self.prefills:
            if e.left <= 0:
                break
            if run.mark != e.iteration and not self._serve_prefill(run):
                return False
        return True

    def _serve_in_order(self) -> bool:
        """Prefills and decodes as they stand, until the budget is spent; False: short of memory."""
        e, segments = self.engine, self.segments
        at = 0
        for order, run in self.prefills:
            while at < len(segments) and segments[at].first < order:
                if e.left <= 0:
                    return True
                if segments[at].mark != e.iteration:
                    if segments[at].last_order > order:
                        self._split(at, segments[at].count_before(order))
                        if segments[at].first > order:
                            break
                    if not self._serve_segment(at):
                        return False
                at += 1
            if e.left <= 0:
                return True
            if run.mark != e.iteration and not self._serve_prefill(run):
                return False
        while at < len(segments) and e.left > 0:
            if segments[at].mark != e.iteration and not self._serve_segment(at):
                return False
            at += 1
        return True

    def _split(self, at: int, count: int) -> None:
        """Split a segment after `count` members; empty parts vanish."""
        segment = self.segments[at]
        parts = segment.split(count) if 0 < count < segment.count else (segment,)
        if len(parts) == 1:
            segment.order = list(segment.members())
        self.segments[at : at + 1] = parts
        if segment in self._batch:
            place = self._batch.index(segment)
            self._batch[place : place + 1] = parts

    def _serve_segment(self, at: int) -> bool:
        """A token for every member of a segment; False when memory ran short, and none got one."""
        e, segment = self.engine, self.segments[at]
        if segment.count > e.left:
            self._split(at, int(e.left))
            segment = self.segments[at]
        growing = segment.pop_growing()
        if growing and not self._grow(segment, growing):
            return False
        segment.serve(e.iteration)
        self._batch.append(segment)
        e.left -= segment.served
        e.tokens += segment.served
        e.decoders += segment.served
        return True

    def _serve_prefill(self, run: Run) -> bool:
        """Tokens for a prefill; False when memory ran short, and it got none."""
        e = self.engine
        n = share(run, e.left, e.each, e.granule)
        if n <= 0:
            e.refused = True
            return True
        position = 0.0
        if run.part is not None:
            position = run.part.position
            more = run.part.pool.round_up(position + n) - run.part.units
            if more > 0 and not self._make_memory(run, more):
                return False
        run.mark = e.iteration
        self._given[run] = n
        self._batch.append(run)
        e.left -= n
        e.tokens += n
        e.prefilled += n
        e.attention += n * (position + n / 2)
        return True

    def serve(self, run: Run) -> bool:
        """Give a newcomer what it may have of the budget that is left; False if it was preempted itself."""
        if not run.is_decode:
            return self._serve_prefill(run) or self.engine.visit_each().serve(run)
        segment = run.segment
        at = self.segments.index(segment)
        if segment.count > 1:
            before = segment.count_before(run.order)
            if before:
                self._split(at, before)
                at += 1
            if self.segments[at].count > 1:
                self._split(at, 1)
        return self._serve_segment(at) or self.engine.visit_each().serve(run)

    def serve_first_prefill(self) -> bool:
        """The first prefill gets tokens; False when there is none, or none that finds memory."""
        if not self.prefills:
            return False
        if not self._serve_prefill(self.prefills[0][1]):
            return self.engine.visit_each().serve_first_prefill()
        return bool(self._batch)

    def serve_alone(self, run: Run, budget: float) -> bool:
        """Give a prefill what it may have of the whole budget, in place of the batch; False: no memory."""
        e, part = self.engine, run.part
        if part is not None:
            n = share(run, budget, e.each, e.granule)
            more = part.pool.round_up(part.position + n) - part.units
            if more > 0 and not part.pool.has_room(more, part):
                return e.visit_each().serve_alone(run, budget)
        self._take_back()
        e.left = budget
        return self._serve_prefill(run)

    def _take_back(self) -> None:
        """Cancel what the batch was given so far."""
        e = self.engine
        e.tokens = e.prefilled = e.attention = 0.0
        e.decoders = 0
        for item in self._batch:
            if isinstance(item, Segment):
                item.take_back()
        self._batch = []
        self._given = {}

    # ------------------------------------------------------------ an iteration

    def start(self) -> None:
        """The iteration starts: holds count its tokens as computed; those of segments are counted."""
        for run, n in self._given.items():
            if run.part is not None:
                run.part.position += n

    def apply(self) -> None:
        """The iteration is over: tokens count, runs with nothing left leave in serving order."""
        e = self.engine
        now = e.machine.now
        done: list[Run] = []
        segments = 0
        for item in self._batch:
            if isinstance(item, Run):
                self._apply_prefill(item, done)
                continue
            segments += 1
            for run in sorted(item.served_fresh, key=lambda r: r.order):
                e.add_token(run.session)
                run.counted += 1
            older = item.served - len(item.served_fresh)
            if older:
                e.add_gaps(now - item.last, older)
            item.last = now
            for run in item.pop_done():
                run.session.tokens += int(run.total) - run.counted
                run.session.last_token = now
                done.append(run)
        if segments > 1 or done:
            self._tidy()
        self._batch = []
        self._given = {}
        for run in done:
            e.end_run(run)

    def _apply_prefill(self, run: Run, done: list[Run]) -> None:
        self._wanted -= self._want(run)
        run.remaining -= self._given[run]
        if run.remaining > 0:
            self._wanted += self._want(run)
            return
        self.prefills.remove((run.order, run))
        self._prefill_memory -= run.memory
        self.engine.end_prefill(run.session)
        done.append(run)

    def _tidy(self) -> None:
        """Merge segments that were served together and stand together; drop empty ones."""
        iteration = self.engine.iteration
        kept: list[Segment] = []
        for segment in self.segments:
            if not segment.count:
                continue
            before = kept[-1] if kept else None
            if (
                before is not None
                and before.mark == iteration
                and segment.mark == iteration
                and (self._apart or not self._prefill_between(before.last_order, segment.first))
            ):
                kept[-1] = merge(before, segment)
                kept[-1].mark = iteration
            else:
                kept.append(segment)
        self.segments = kept

    def spell_out(self) -> EachRun:
        """The same residents and batch, run by run."""
        runs, batch = self.runs(), dict(self.batch_runs())
        for segment in self.segments:
            fresh = {*segment.fresh, *(segment.served_fresh if segment in self._batch else ())}
            for run in segment.members():
                segment.settle(run)
                if run.part is not None and self.engine.forming:
                    run.part.position -= run in batch
                run.remaining = float(run.finish - segment.tick + (run in batch))
                run.session.tokens += int(run.total - run.remaining) - run.counted
                if run not in fresh:
                    run.session.last_token = segment.last
        return EachRun(self.engine, sorted(runs, key=lambda r: r.order[1]), batch)
