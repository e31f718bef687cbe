"""The engine: a stage that serves its runs in iterations (semantics, section 4).

An iteration reads the budget, follows the schedule, is watched by observers, and lasts what
`execute` says. Who gets how many tokens is decided by its *residents*: `EachRun` visits every run,
`ClassedRuns` serves runs that the schedule cannot tell apart as one. Both do exactly the same.

It is one file: everything an iteration reads, decides and leaves behind.
"""

from __future__ import annotations

from collections.abc import Callable
from math import inf
from typing import TYPE_CHECKING, Any

from serq.ir.expr import Num
from serq.ir.schedule import Admit
from serq.ir.stage import Engine
from serq.machine.pools import Part, PoolMember, Waiting, fits
from serq.machine.records import Iteration
from serq.machine.stages.base import StageMember
from serq.machine.stages.classed import ClassedRuns, gather, tells_apart
from serq.machine.stages.each import EachRun
from serq.machine.stages.run import Run, share
from serq.machine.stages.schedule import clause, per_run_expressions
from serq.machine.stages.scheduling import compile_schedule
from serq.machine.stages.steady import EachRequest, SteadyRuns
from serq.machine.watch import Watch
from serq.values import is_whole, show

if TYPE_CHECKING:
    from serq.machine.loop import Machine
    from serq.machine.sessions import Session


class EngineMember(StageMember):
    """One engine, or one member of a family.

    What observers read while an iteration starts: tokens, prefilled, decoders (this batch),
    attention, present, served (tokens of earlier iterations), demand(), registers. left: budget not
    yet given; returned: more of it, for whoever comes next. each: the most one run may get. refused:
    a granule left a run without a token. watches: questions to each iteration. forming: a batch is
    being formed now. fruitless: the last attempt left work undone and started no iteration.
    """

    is_engine = True

    def __init__(self, machine: Machine, engine: Engine, index: int | None) -> None:
        super().__init__(machine, engine.name, index)
        self.engine = engine
        self.registers: list[float] = []
        self.register_slots: dict[str, int] = {}
        self.register_sizes = {r.name: r.size or 1 for r in engine.registers}
        for r in engine.registers:
            self.register_slots[r.name] = len(self.registers)
            self.registers += [r.initial] * (r.size or 1)
        self.tag_slots = {t.name: i for i, t in enumerate(engine.tags)}
        self.granule = engine.granule
        self.locals: dict[str, float] = {}
        self.each_constant = inf
        self.watches: list[Watch] = []
        self.on_iteration: list[Callable[[], None]] = []
        self.idle = True
        self.served = 0.0
        self.joined = 0
        self.decoding = 0
        self.iteration = 0
        self.unfinished = 0.0
        self.left = self.returned = 0.0
        self.each = inf
        self.tokens = 0.0
        self.prefilled = 0.0
        self.decoders = 0
        self.attention = 0.0
        self.preempted = 0
        self.admitted = 0
        self.refused = False
        self.forming = False
        self._newcomers: list[Run] = []
        self.fruitless = False
        self.short_at = -1
        self._started = 0.0
        self._batch_runs = 0
        self._offer: float | None = None
        # The budget that was last found to be whole.
        self._whole_budget = 0.0
        # Of an engine that looks at its requests one by one (`stages.steady`).
        self.requested = False
        self.fractional = False
        self.tick = 0.0
        # The tags of each request that has some set; any other has the first ones.
        self.tags: dict[Session, list[float]] = {}
        self.first_tags = [t.initial for t in engine.tags]
        self.newly: set[Session] = set()
        self._progress: dict[Session, tuple[float, float]] = {}
        self._unset: list[tuple[Session, list[float] | None]] = []
        self.residents: EachRun | ClassedRuns | SteadyRuns = EachRun(self)

    # ------------------------------------------------------------ building

    def prepare(self) -> None:
        """Compile the engine's clauses; the machine's names are all known by now."""
        engine, machine = self.engine, self.machine
        schedule = engine.schedule
        self._cap = clause(self, engine.tokens_cap, drawn=True)
        self._lets = [(let.name, clause(self, let.value, drawn=True)) for let in schedule.lets]
        each = schedule.each_at_most
        self._each = None if each is None else clause(self, each, drawn=True)
        self.requested = engine.name in machine.requested
        self.lines = [member for ms in machine.pools.values() for member in ms if self._admits(member)]
        self._schedule = compile_schedule(self, schedule.statements)
        self._execute = clause(self, engine.execute, drawn=True)
        memory = [
            members for name, members in machine.pools.items()
            if members[0].pool.memory_of == engine.name
        ]  # fmt: skip
        self.memory: PoolMember | None = None
        if memory:
            self.memory = memory[0][self.index or 0]
        # Where the cap is read anew in every iteration, no total of capped amounts can be kept.
        self.each_constant = each.value if isinstance(each, Num) else inf
        self._may_class = self._can_class()
        if self.requested:
            self._may_class = False
            self.residents = SteadyRuns(self)
        elif self._may_class:
            self.residents = ClassedRuns(self)

    def _admits(self, member: PoolMember) -> bool:
        if member.pool.engine != self.name:
            return False
        return self.index is None or member.index == self.index

    def _can_class(self) -> bool:
        """Whether the schedule tells runs apart by their phase only, and gives them whole tokens."""
        if self.granule is not None and not (is_whole(self.granule) or self.granule == inf):
            return False
        return not any(tells_apart(e) for e in per_run_expressions(self.engine.schedule.statements))

    # ------------------------------------------------------------ what is read

    def busy(self) -> float:
        return self._batch_runs

    def work(self) -> float:
        return self.residents.work()

    def demand(self) -> float:
        """What all runs could take in one iteration without a budget (semantics, section 9)."""
        return self.residents.demand()

    def waiting_count(self) -> float:
        return sum(pool.queued_count for pool in self.lines)

    def running_memory(self, decode: bool) -> float:
        """Units that the runs of one phase hold in the pool on this engine's device."""
        return self.residents.running_memory(decode)

    def batch_memory(self, decode: bool) -> float:
        """The same for the runs of this batch."""
        return self.residents.batch_memory(decode)

    def memory_of(self, run: Run) -> float:
        """Units that a run's session holds in this engine's memory."""
        memory = self.memory
        if memory is None:
            return 0.0
        return sum((h.parts[memory].units for h in run.session.holds if memory in h.parts), 0.0)

    def waiting_holds(self) -> list[Waiting]:
        """The holds that wait in the queues this engine admits, as these are declared."""
        lines = self.lines
        if len(lines) == 1 and not lines[0].returned:
            return list(lines[0].queue.values())
        return [waiting for line in lines for waiting in (*line.returned, *line.queue.values())]

    def waited(self, waiting: Waiting) -> float:
        """How long a hold has been in its queue; of one that was preempted meanwhile, since then."""
        again = waiting.session.waiting
        joined = waiting.joined if again is None or again.asked is not waiting.asked else again.joined
        return self.machine.now - joined

    def units_of(self, waiting: Waiting) -> float:
        """What a hold asks of the pool that it queues for, as its header reads now."""
        self._offer = self.left if self.forming else None
        units = waiting.needs()[0].units
        self._offer = None
        return units

    def set_tag(self, session: Session, slot: int, value: float) -> None:
        """Keep a number with a request; an attempt that comes to nothing takes it back."""
        known = self.tags.get(session)
        self._unset.append((session, known))
        self.tags[session] = fresh = (known or self.first_tags).copy()
        fresh[slot] = value

    def forget(self, session: Session, ended: bool = False) -> None:
        """A request joins a queue afresh, or its session has ended: its tags are the first ones again."""
        self.tags.pop(session, None)
        if ended:
            self._progress.pop(session, None)

    def has_work(self) -> bool:
        return self.present > 0 or self._is_awaited()

    def _is_awaited(self) -> bool:
        """Whether somebody waits for this engine to be admitted."""
        lines = self.lines
        if not lines:
            return False
        return lines[0].queued_count > 0 or any(pool.queued_count for pool in lines[1:])

    # ------------------------------------------------------------ runs

    def budget_left(self) -> float:
        """Tokens for newcomers: of the try that reads it, or what the present runs would leave.

        Whether a granule holds some of them back is not looked at.
        """
        if self._offer is not None:
            return self._offer
        left = self._cap()
        for name, read in self._lets:
            self.locals[name] = read()
        each = inf if self._each is None else self._each()
        for run in sorted(self.residents.runs(), key=lambda r: r.order):
            if left <= 0:
                break
            left -= share(run, left, each, None)
        return left

    def join(self, session: Session | None, mode: str | None, work: float, part: Part | None) -> None:
        assert session is not None
        self.change_present(+1)
        decode, now = mode == "decode", self.machine.now
        run = Run(session, decode, work, session.admission, self.joined, now, part)
        session.stage = self
        if part is not None:
            part.held.advanced = True
        self.joined += 1
        self.decoding += run.is_decode
        self.unfinished += work
        if self.forming:
            self._newcomers.append(run)
        if self.requested:
            admission, before = self._progress.get(session, (run.admission, 0.0))
            run.before = before if admission == run.admission else 0.0
        self.residents.add(run)

    def is_decode(self, session: Session) -> bool:
        run = self.residents.find(session)
        return run is not None and run.is_decode

    def cancel(self, session: Session) -> None:
        """A run is preempted: its tokens of this iteration return to the budget.

        Only what a run that does not grow loses to a `grow` is lost, as the reference has it.
        """
        residents = self.visit_each()
        run = residents.find(session)
        assert run is not None
        residents.remove(run)
        self.change_present(-1)
        self.decoding -= run.is_decode
        self.unfinished -= run.remaining

    def lose(self, tokens: float) -> None:
        """A run of the iteration under way is preempted; what it was given counts as served."""
        self._batch_runs -= 1
        self.unfinished += tokens

    def take_returned(self) -> None:
        """Tokens that preempted runs have returned are to be had by the next statement, or the next run."""
        self.left += self.returned
        self.returned = 0.0

    def make_memory(self, run: Run, tokens: float) -> bool:
        """The run's hold grows to the position that `tokens` more reach; False: no room, no tokens.

        Where it does not fit, victims lose theirs, the run itself perhaps.
        """
        part = run.part
        assert part is not None
        pool = part.pool
        more = pool.round_up(part.position + tokens) - part.units
        while more > 0 and not pool.has_room(more, part):
            holds = self.machine.holds
            victim = holds.choose_victim(pool)
            self.short_at = self.iteration
            if victim is None:
                holds.stall(part, more)
                return False
            returned, given = self.returned, self.tokens
            holds.preempt(victim)
            self.returned = returned + (given - self.tokens)
            if victim is part:
                return False
        if more > 0:
            pool.enlarge(part, more)
        return True

    def end_run(self, run: Run) -> None:
        """A run that has all its tokens leaves; called in serving order."""
        self.decoding -= run.is_decode
        if self.requested:
            self._progress[run.session] = (run.session.admission, run.before + run.total)
        self.leave(run.session, run.joined_at, run.joined_at)

    def add_token(self, session: Session) -> None:
        """A token of the session's turn is out now; client times and inter-token gaps follow."""
        now = self.machine.now
        if session.first_token is None:
            session.first_token = now
        else:
            self.add_gaps(now - session.last_token, 1)
        session.tokens += 1
        session.last_token = now
        session.token_at = self
        session.decoded = True
        self.machine.know_ttft(session)

    def end_prefill(self, session: Session) -> None:
        """A prefill is done: the next token of the turn, or its first one, again if need be."""
        now = self.machine.now
        if session.decoded or session.lost_token_at is self:
            self.add_gaps(now - session.last_token, 1)
        if session.decoded or session.ttft_known:
            session.tokens += 1
        else:
            session.first_token = now
            session.tokens = 1
        session.last_token, session.token_at, session.lost_token_at = now, self, None

    def begin_decode(self, session: Session) -> None:
        """A decode begins, of whatever length: right after the first token it settles when that was."""
        if session.first_token == self.machine.now:
            self.machine.know_ttft(session)

    def add_gaps(self, gap: float, count: int) -> None:
        tally = self.tally
        gaps = tally.gaps
        if gaps and gaps[-1] == gap:
            tally.gap_counts[-1] += count
        else:
            gaps.append(gap)
            tally.gap_counts.append(count)

    def use_plain(self) -> None:
        """Visit every run from now on: some amount is not whole, and sums must not depend on order."""
        self.visit_each()
        self._may_class = False
        self.fractional = True

    def write_positions(self) -> None:
        self.visit_each()

    def visit_each(self) -> EachRun:
        """The residents, run by run: memory is short, and who waits or loses it depends on each."""
        if isinstance(self.residents, ClassedRuns | SteadyRuns):
            self.residents = self.residents.spell_out()
        residents: EachRun = self.residents
        return residents

    # ------------------------------------------------------------ iterations

    def try_iteration(self) -> None:
        """Form a batch and start it; an attempt that gives nobody a token leaves the engine idle."""
        machine = self.machine
        budget = self._cap()
        if not budget >= 0:
            machine.fail("SQ0608", self.engine.tokens_cap.at, value=show(budget))
        for name, read in self._lets:
            self.locals[name] = read()
        self.each = inf if self._each is None else self._each()
        if budget != self._whole_budget or self.each != inf:
            if not (is_whole(budget) or budget == inf) or not (is_whole(self.each) or self.each == inf):
                self.use_plain()
            self._whole_budget = budget
        self.left, self.returned = budget, 0.0
        self.tokens = self.prefilled = self.attention = 0.0
        self.decoders = self.preempted = self.admitted = 0
        self.refused = False
        before = self.registers.copy() if self.registers else self.registers
        if self.requested:
            self.newly, self._unset = set(), []
        self.iteration += 1
        if self._may_class and isinstance(self.residents, EachRun) and self.short_at < self.iteration - 1:
            self.residents = gather(self.residents)
        self.forming = True
        machine.forming = self
        self.residents.begin()
        self._schedule()
        machine.forming = None
        self.forming = False
        if self.tokens or self.preempted:
            self.fruitless = False
            self._start()
            return
        self.fruitless = self.has_work()
        if not self.admitted:
            self.registers[:] = before
            for session, tags in reversed(self._unset):
                if tags is None:
                    self.tags.pop(session, None)
                else:
                    self.tags[session] = tags

    def _start(self) -> None:
        machine = self.machine
        for look in self.on_iteration:
            look()
        lasts = self._execute()
        if not lasts > 0:
            if self.tokens:
                machine.fail(
                    "SQ0607", self.engine.execute.at or self.engine.at, value=show(lasts),
                    tokens=show(self.tokens),
                )  # fmt: skip
            lasts = 0.0  # nobody was served, somebody preempted: the next iteration follows at once
        self.residents.start()
        self._batch_runs = self.residents.batch_size()
        tally = self.tally
        tally.iterations += 1
        if self.decoders:
            tally.decode_starts += 1
            tally.decode_sum += self.decoders
            tally.decode_duration += lasts
        self._started = machine.now
        self.idle = False
        if machine.on_iteration:
            self._show(lasts)
        if lasts < inf:
            machine.schedule(machine.now + lasts, self._finish, None)

    def _show(self, lasts: float) -> None:
        batch = tuple((run.session.serial, n) for run, n in self.residents.batch_runs())
        iteration = Iteration(
            self.name, self.index, self.machine.now, lasts, self.tokens, self.prefilled, self.decoders,
            self.present, batch,
        )  # fmt: skip
        for look in self.machine.on_iteration:
            look(iteration)

    def _finish(self, _: None) -> None:
        self._tally_iteration()
        self.idle = True
        self._batch_runs = 0
        self.served += self.tokens
        self.unfinished -= self.tokens
        self.residents.apply()

    def _tally_iteration(self) -> None:
        """Time under the iteration since it began, or since the warm-up ended."""
        passed = self.machine.now - self._started
        self._started = self.machine.now
        tally = self.tally
        if not self.prefilled:
            if self.tokens:
                tally.decode_only += passed
        elif self.decoders:
            tally.mixed += passed
        else:
            tally.prefill_only += passed
        tally.decode_area += self.decoders * passed

    def end_warmup(self) -> None:
        super().end_warmup()
        self._started = self.machine.now

    def close(self) -> Any:
        if not self.idle:
            self._tally_iteration()
        if self.idle and self.fruitless:
            self.tally.idle_with_work = True
        return super().close()

    def take_tally(self, waits: bool) -> None:
        """The tally is complete up to now; waits: somebody is here, and the last attempt came to nothing."""
        self._since = self.machine.now
        self.tally.idle_with_work = waits

    # ------------------------------------------------------------ admission

    def admit(
        self,
        condition: Callable[[], float] | None,
        allowed: Callable[[Run], Any] | None,
        statement: Admit,
    ) -> None:
        self.take_returned()
        while self.left > 0 and not self.refused and self._may_admit(condition, statement):
            newcomers = self._admit_head(self.left)
            if newcomers is None:
                return
            for run in newcomers:
                if self.left <= 0 or run.session.stage is not self:
                    continue
                # Whoever is preempted by its own growth ends the statement.
                if (allowed is None or allowed(run)) and not self.residents.serve(run):
                    return

    def _may_admit(self, condition: Callable[[], float] | None, statement: Admit) -> bool:
        if condition is not None:
            value = condition()
            if value != 0 and value != 1:
                self.machine.bad_guard(value, None, statement.at)
            if not value:
                return False
        return self._is_awaited()

    def _admit_head(self, offer: float) -> list[Run] | None:
        """Admit the head of the first queue with waiting holds.

        offer: the budget that its header reads. Returns the runs that come to this engine before all
        is quiet again, its own and those of sessions that go on because of it, in standing order;
        None if it does not fit.
        """
        waiting = next(pool for pool in self.lines if pool.queued_count).head()
        assert waiting is not None
        return self._admit_hold(waiting, offer)

    def advance_one(self, run: Run) -> None:
        """`advance r`: tokens to this run if it has not been served in this iteration."""
        self.take_returned()
        residents = self.residents
        if self.left > 0 and isinstance(residents, EachRequest | SteadyRuns):
            residents.serve_one(run)

    def admit_one(self, session: Session) -> None:
        """`admit r`: the hold that the session waits for, if this engine admits it and it fits."""
        self.take_returned()
        waiting = session.waiting
        if waiting is None or self.left <= 0 or self.refused or waiting.pools[0] not in self.lines:
            return
        for run in self._admit_hold(waiting, self.left) or ():
            if self.left > 0 and run.session.stage is self:
                self.residents.serve(run)

    def _admit_hold(self, waiting: Waiting, offer: float) -> list[Run] | None:
        if waiting.is_short():
            return None
        self._offer = offer
        needs = waiting.needs()
        self._offer = None
        if not fits(needs):
            return None
        machine = self.machine
        machine.holds.admit(waiting, needs)
        self.admitted += 1
        if self.requested:
            self.newly.add(waiting.session)
        self._newcomers = []
        machine.make_ready(waiting.session)
        machine.resume_ready()
        return sorted(self._newcomers, key=lambda r: r.order)

    def exclusive(self, condition: Callable[[], float] | None, statement: Admit) -> None:
        """One prefill alone, or decodes only; a prefill that can be admitted replaces the decodes."""
        if self.residents.serve_first_prefill():
            return
        prefilling = self.present > self.decoding
        budget = self.left
        if not prefilling and not self.residents.serve_decodes():
            self.visit_each().serve_decodes()
        while self.left > 0 and self._may_admit(condition, statement):
            newcomers = self._admit_head(budget)
            if newcomers is None:
                return
            for run in newcomers:
                if run.session.stage is not self:
                    continue
                # Who came may have changed how the residents are kept.
                if not run.is_decode:
                    if self.residents.serve_alone(run, budget):
                        return
                elif not prefilling and self.left > 0:
                    self.residents.serve(run)
