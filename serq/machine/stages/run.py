"""A run at an engine: tokens that one `run` statement of a session still needs."""

from __future__ import annotations

from math import floor
from typing import TYPE_CHECKING, Any

from serq.values import is_whole

if TYPE_CHECKING:
    from serq.machine.pools import Part
    from serq.machine.sessions import Session


def share(run: Run, left: float, each: float, granule: float | None) -> float:
    """Tokens that a run gets of a budget: 0 where a granule does not fit (semantics, section 4).

    left: tokens of the budget; each: the most one run may get.
    """
    if run.is_decode:
        return min(1.0, run.remaining, left)
    n = min(run.remaining, each, left)
    if granule is not None and n < run.remaining:
        n = floor(n / granule) * granule if granule <= n else 0.0
    return n


class Run:
    """A prefill or a decode.

    remaining: tokens still needed (while a run belongs to a segment, `finish` counts instead).
    part: what grows with it. order: (admission number, joining number), the engine's standing order.
    mark: the iteration in which it last got tokens. memory: units its session holds in the engine's
    memory.
    """

    __slots__ = (
        "admission", "base", "before", "counted", "counted_at", "finish", "finish_at", "grows_at",
        "is_decode", "joined_at", "mark", "memory", "order", "part", "remaining", "segment", "session",
        "shift", "since", "total",
    )  # fmt: skip

    def __init__(
        self,
        session: Session,
        is_decode: bool,
        work: float,
        admission: float,
        joined: int,
        now: float,
        part: Part | None,
    ) -> None:
        self.session = session
        self.part = part
        self.is_decode = is_decode
        self.remaining = work
        self.total = work
        self.admission = admission
        self.order = (admission, joined)
        self.joined_at = now
        self.mark = 0
        self.memory = 0.0
        # Of a decode in a segment: the tick at which it joined, the tick after which it is done, and
        # how many of its tokens are already counted in its session.
        self.segment: Any = None
        self.since = 0
        self.finish = 0
        self.counted = 0
        self.grows_at = 0
        self.shift = 0.0
        # Of a run that is scheduled by itself (`stages.steady`): tokens given in earlier runs since the
        # session's admission, ticks of its beginning and end, and the tick up to which they are counted.
        self.before = 0.0
        self.base = 0.0
        self.finish_at = 0.0
        self.counted_at = 0.0

    def is_whole(self) -> bool:
        """Whether its amounts are whole numbers, so that sums do not depend on the order of adding."""
        part = self.part
        return is_whole(self.remaining) and (
            part is None or (is_whole(part.position) and is_whole(part.units))
        )
