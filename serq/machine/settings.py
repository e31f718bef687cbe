"""How to run a program: what stands outside its text."""

from __future__ import annotations

from attrs import frozen

PROGRESS_EVERY = 1_024
"""Events between two reports of progress, at least; a loop that passes over many at once reports then."""


@frozen
class Settings:
    """horizon, warmup: time units; arrivals: end the run when so many sessions have come and gone.

    reservoir: how many samples of each observation to keep, None for all.
    """

    horizon: float
    warmup: float = 0.0
    seed: int = 1
    arrivals: int | None = None
    reservoir: int | None = None
