"""Segments: decodes that stand together in the serving order and are served as one.

Every member gets one token whenever its segment is served, so a segment needs a counter (`tick`)
and, per member, the tick after which it is done and, if a hold grows with it, the tick at which it
needs more memory: growth costs one visit per block, not per token. A budget that ends inside a segment
splits it; segments that are served together again are merged, the smaller into the larger, so that a
member is moved O(log n) times.
"""

from __future__ import annotations

from bisect import insort
from collections.abc import Iterator
from heapq import heappop, heappush

from serq.machine.stages.run import Run

Order = tuple[float, int]


class Segment:
    """order: members in serving order, with some that have left (`run.segment` is not this one).

    Of its dicts only the keys count: they are sets that keep their order.
    count: members. fresh: members that have joined since the segment was last served. last: time of
    the last token of the members that are not fresh. mark: the iteration that last served it.
    served, served_fresh: members and fresh members of that iteration. memory: units that the members
    hold in their engine's memory.
    """

    __slots__ = (
        "_due", "_growing", "count", "fresh", "last", "mark", "memory", "order", "served", "served_fresh",
        "tick",
    )  # fmt: skip

    def __init__(self) -> None:
        self.order: list[Run] = []
        self.count = 0
        self.tick = 0
        self.fresh: dict[Run, None] = {}
        self.last = 0.0
        self.mark = 0
        self.served = 0
        self.served_fresh: dict[Run, None] = {}
        self.memory = 0.0
        self._due: list[tuple[int, Order, Run]] = []
        self._growing: list[tuple[int, Order, Run]] = []

    @property
    def first(self) -> Order:
        """No member stands before this."""
        return self.order[0].order

    @property
    def last_order(self) -> Order:
        """No member stands behind this."""
        return self.order[-1].order

    def members(self) -> Iterator[Run]:
        return (run for run in self.order if run.segment is self)

    def add(self, run: Run) -> None:
        """A new decode joins; it gets its first token when the segment is served next."""
        if not self.order or run.order > self.order[-1].order:
            self.order.append(run)
        else:
            insort(self.order, run, key=lambda r: r.order)
        self._take(run, int(run.remaining), fresh=True)

    def _take(self, run: Run, remaining: int, fresh: bool) -> None:
        run.segment = self
        run.since = self.tick
        run.finish = self.tick + remaining
        self.count += 1
        if fresh:
            self.fresh[run] = None
        heappush(self._due, (run.finish, run.order, run))
        self.memory += run.memory
        if run.part is not None:
            # A position is kept as its distance from the tick; it moves without being touched.
            run.shift = run.part.position - self.tick
            self.await_growth(run)

    def await_growth(self, run: Run) -> None:
        """Note the tick at which a member will need more than it has allocated."""
        assert run.part is not None
        run.grows_at = int(run.part.units - run.shift) + 1
        if run.grows_at <= run.finish:
            heappush(self._growing, (run.grows_at, run.order, run))

    def pop_growing(self) -> list[Run]:
        """Members that need more memory for their next token, in serving order."""
        growing, found = self._growing, []
        while growing and growing[0][0] <= self.tick + 1:
            at, _, run = heappop(growing)
            if run.segment is self and run.grows_at == at:
                # A run that has left and come back may be noted twice.
                run.grows_at = -1
                found.append(run)
        if len(found) > 1:
            found.sort(key=lambda r: r.order)
        return found

    def settle(self, run: Run) -> None:
        """Write down the position of a member that leaves the segment."""
        self.memory -= run.memory
        if run.part is not None:
            run.part.position = self.tick + run.shift

    def serve(self, iteration: int) -> None:
        """Every member gets a token."""
        self.mark = iteration
        self.tick += 1
        self.served = self.count
        self.served_fresh, self.fresh = self.fresh, {}

    def take_back(self) -> None:
        """Undo `serve`, before anything else happened."""
        self.tick -= 1
        self.mark = 0
        self.fresh = self.served_fresh | self.fresh
        self.served_fresh = {}

    def pop_done(self) -> list[Run]:
        """Members with nothing left leave, in serving order."""
        due, done = self._due, []
        while due and due[0][0] <= self.tick:
            finish, _, run = heappop(due)
            if run.segment is self and run.finish == finish:
                run.segment = None
                self.count -= 1
                self.settle(run)
                done.append(run)
        if len(done) > 1:
            done.sort(key=lambda r: r.order)
        if self.count * 4 + 64 < len(self.order):
            self.order = list(self.members())
            self._due = [entry for entry in due if entry[2].segment is self]
            self._due.sort()
            self._growing = [e for e in self._growing if e[2].segment is self]
            self._growing.sort()
        return done

    def split(self, count: int) -> tuple[Segment, Segment]:
        """The first `count` members and the others, as two segments; one of them is this one."""
        other = Segment()
        other.last, other.tick, other.mark = self.last, self.tick, self.mark
        front = count <= self.count - count
        source = self.order if front else reversed(self.order)
        moving: list[Run] = []
        passed = 0
        for run in source:
            if len(moving) == (count if front else self.count - count):
                break
            passed += 1
            if run.segment is self:
                moving.append(run)
        if front:
            del self.order[:passed]
        else:
            del self.order[len(self.order) - passed :]
            moving.reverse()
        for run in moving:
            other.order.append(run)
            since = run.since
            self.settle(run)
            other._take(run, run.finish - self.tick, run in self.fresh)
            self.fresh.pop(run, None)
            run.since = since
            other.served += since < self.tick
            if run in self.served_fresh:
                del self.served_fresh[run]
                other.served_fresh[run] = None
        self.count -= len(moving)
        self.served -= other.served
        return (other, self) if front else (self, other)

    def count_before(self, order: Order) -> int:
        """Members that stand before `order`."""
        return sum(run.segment is self and run.order < order for run in self.order)


def merge(a: Segment, b: Segment) -> Segment:
    """Two segments that stand next to each other, `a` first, as one: the smaller joins the larger."""
    large, small = (a, b) if a.count >= b.count else (b, a)
    for run in list(small.members()):
        joined = run in small.fresh
        if not joined and small.last != large.last:
            # Its last token was at another time than the others': it is looked at on its own once.
            run.session.last_token = small.last
            joined = True
        small.settle(run)
        large._take(run, run.finish - small.tick, joined)
    large.order = a.order + b.order
    return large
