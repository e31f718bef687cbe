"""What there is while a program runs (semantics, section 1). Totals are not kept: they are summed."""

from __future__ import annotations

import heapq
from collections import defaultdict
from collections.abc import Callable, Generator, Sequence
from math import ceil, floor, inf
from typing import Any, NoReturn, Union

from attrs import define, field

from serq import ir
from serq.diagnostics import ProgramError, diagnose
from serq.ir import pool as ir_pool
