"""A run at an engine: tokens that one `run` statement of a session still needs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from serq.machine.pools import Part
    from serq.machine.sessions import Session


class Run:
    """A prefill or a decode.

    remaining: tokens still needed (while a run belongs to a segment, `finish` counts instead).
    part: what grows with it. order: (admission number, joining number), the engine's standing order. mark: the iteration in
    which it last got tokens.
    """

    __slots__ = (
        "admission", "counted", "finish", "is_decode", "joined_at", "mark", "order", "remaining",
        "part", "segment", "session", "since", "total",
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
        # Of a decode in a segment: the tick at which it joined, the tick after which it is done, and
        # how many of its tokens are already counted in its session.
        self.segment: Any = None
        self.since = 0
        self.finish = 0
        self.counted = 0
