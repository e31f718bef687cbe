"""When an expression is read, and what exists then.

A *moment* is the kind of place an expression stands in. This table decides for the checker what
may be read there, and tells the machines which values they must supply.
"""

from __future__ import annotations

from enum import Enum

from attrs import frozen


class Moment(Enum):
    """The kinds of place; the value is how messages name it."""

    CONST = "a constant"
    SESSION = "a statement"
    ADMIT = "a hold's header"
    SELECT = "a queue key"
    VICTIM = "a preemption key"
    EVICT = "an eviction key"
    CAPACITY = "a stage's capacity"
    CAP = "`tokens cap`"
    KEY = "an `advance running` key"
    ONLY = "`only`"
    PLAN = "a schedule's guard or `set`"
    EXECUTE = "`execute`"
    GAUGE = "a gauge"
    GIVEN = "`given`"
    ITERATION = "a claim over iterations"
    END = "a claim at the end"
    GAP = "an arrival gap or number"


M = Moment

OBSERVABLES = (
    "queue", "busy", "work", "budget_left", "used", "free", "holders", "queued", "cachedin",
    "blocksize", "est_lambda", "est_rho", "est_wait", "price",
)  # fmt: skip
"""Calls that read the live state; their first argument is a place."""

POOL_OBSERVABLES = frozenset(
    {"used", "free", "holders", "queued", "cachedin", "blocksize"}
)  # fmt: skip
SUMMARIES = (
    "total", "count", "largest", "smallest", "prefix_total", "mean", "stdev", "quantile", "share",
)  # fmt: skip
CLIENT_TIMES = ("ttft", "tpot", "response")
"""What every run records of its clients; summaries read them unless an observation has the name."""
FUNCTIONS = {"min": 2, "max": 2, "abs": 1, "floor": 1, "ceil": 1, "sqrt": 1, "exp": 1, "ln": 1}
LAWS = {
    "exp": 1, "det": 1, "uniform": 2, "erlang": 2, "h2": 2, "bernoulli": 1, "poisson": 1, "binomial": 2,
    "geometric": 1, "gamma": 2, "lognormal": 2, "weibull": 2, "pareto": 2, "table": None, "empirical": 0,
}  # fmt: skip
"""Law -> number of its parameters; a table takes any number of values, each with its probability."""
FORMS = {"table": "~table(v: p, …)", "empirical": '~empirical("FILE")'}
"""Laws that are written in a form of their own."""
AGGREGATES = ("max", "min", "sum")
BUILT_IN_SIZES = ("serial", "turn_no", "new", "out", "think", "more", "forced")
BUILT_IN_VALUES = ("cached", "computed")

_ALL = frozenset(OBSERVABLES)


@frozen
class Reads:
    """What a moment lets an expression read.

    attributes: session attributes; hidden: hidden ones too; observables: which calls; draws;
    now: the clock.
    """

    attributes: bool
    hidden: bool
    observables: frozenset[str]
    draws: bool
    now: bool


READS: dict[Moment, Reads] = {
    M.CONST: Reads(False, False, frozenset(), False, False),
    M.SESSION: Reads(True, True, _ALL, True, True),
    M.ADMIT: Reads(True, False, _ALL, False, True),
    M.SELECT: Reads(True, False, _ALL, False, True),
    M.VICTIM: Reads(True, False, _ALL - {"budget_left"}, False, True),
    M.EVICT: Reads(True, False, _ALL, True, True),
    M.CAPACITY: Reads(False, False, _ALL, True, True),
    M.CAP: Reads(False, False, _ALL - {"budget_left"}, True, True),
    M.KEY: Reads(True, False, _ALL, False, True),
    M.ONLY: Reads(True, False, _ALL - {"work"}, False, False),
    M.PLAN: Reads(False, False, _ALL - {"work"}, False, False),
    M.EXECUTE: Reads(False, False, _ALL, True, True),
    M.GAUGE: Reads(False, False, _ALL - {"work", "budget_left", "cachedin"}, False, False),
    M.GIVEN: Reads(True, True, frozenset(), False, False),
    M.ITERATION: Reads(
        False, False, frozenset({"queue", "busy", "used", "free", "holders", "queued"}), False, True
    ),
    M.END: Reads(False, False, frozenset(), False, True),
    M.GAP: Reads(False, False, frozenset(), True, False),
}


@frozen
class Variable:
    """A context variable: where it exists, its unit, and what it is."""

    moments: frozenset[Moment]
    unit: str
    doc: str


def _at(*moments: Moment) -> frozenset[Moment]:
    return frozenset(moments)


_ENGINE = _at(M.CAP, M.KEY, M.ONLY, M.PLAN, M.EXECUTE)
_LIST = _at(M.CAP, M.KEY, M.ONLY, M.PLAN)
_BATCH = _at(M.EXECUTE)

VARIABLES: dict[str, Variable] = {
    "now": Variable(
        frozenset(m for m, r in READS.items() if r.now), "time", "the clock"
    ),
    # Inside an engine the list names are used, in claims over iterations the bare ones.
    "running.count": Variable(_ENGINE, "runs", "runs at the engine now"),
    "running.decoding": Variable(_LIST, "runs", "of those, decodes"),
    "running.kv_decode": Variable(_LIST, "tokens", "memory held by the decoding runs"),
    "running.kv_prefill": Variable(_LIST, "tokens", "memory held by the prefilling runs"),
    "running.preempted": Variable(_at(M.PLAN), "preemptions", "preemptions so far in this iteration"),
    "waiting.count": Variable(_ENGINE, "holds", "holds waiting in the queues this engine admits"),
    "waiting.admitted": Variable(_at(M.PLAN), "admissions", "admissions so far in this iteration"),
    "batch.tokens": Variable(_at(M.PLAN, M.EXECUTE), "tokens", "tokens given"),
    "batch.prefilled": Variable(_at(M.PLAN, M.EXECUTE), "tokens", "prefill tokens given"),
    "batch.decoding": Variable(_BATCH, "runs", "decodes in the batch"),
    "batch.kv_decode": Variable(_BATCH, "tokens", "memory held by the batch's decodes, after growth"),
    "batch.kv_prefill": Variable(_BATCH, "tokens", "memory held by the batch's prefills, after growth"),
    "batch.attention": Variable(
        _BATCH, "tokens^2", "sum over prefill chunks of n * (K + n / 2), K the position before the chunk"
    ),
    "tokens": Variable(_at(M.ITERATION), "tokens", "tokens given in this iteration"),
    "prefilled": Variable(_at(M.ITERATION), "tokens", "prefill tokens given"),
    "decoders": Variable(_at(M.ITERATION), "runs", "decodes in the batch"),
    "kv_decode": Variable(_at(M.ITERATION), "tokens", "memory held by the batch's decodes"),
    "kv_prefill": Variable(_at(M.ITERATION), "tokens", "memory held by the batch's prefills"),
    "attention": Variable(_at(M.ITERATION), "tokens^2", "as `batch.attention`"),
    "residents": Variable(_at(M.ITERATION), "runs", "all runs at the engine"),
    "demand": Variable(_at(M.ITERATION), "tokens", "what the runs could take without a budget"),
    "served": Variable(_at(M.ITERATION), "tokens", "tokens given in earlier iterations"),
    "arrived": Variable(_at(M.ITERATION), "sessions", "sessions created so far"),
    "decoding": Variable(_at(M.KEY, M.ONLY, M.VICTIM), "0 or 1", "1 if this run decodes"),
    "admission": Variable(
        _at(M.KEY, M.ONLY, M.VICTIM), "number", "number of the session's latest hold admission"
    ),
    "remaining": Variable(_at(M.KEY, M.ONLY), "tokens", "tokens this run still needs"),
    "position": Variable(_at(M.VICTIM), "tokens", "computed position of the candidate's hold"),
    "waited": Variable(_at(M.SELECT), "time", "time since this hold joined the queue"),
    "size": Variable(_at(M.EVICT), "tokens", "the entry's units"),
    "age": Variable(_at(M.EVICT), "time", "time since the entry's release"),
    "last": Variable(_at(M.EVICT), "time", "the entry's release time"),
    "waiting": Variable(_at(M.EVICT), "0 or 1", "1 if the entry's session waits in a pool's queue"),
    "present": Variable(_at(M.CAPACITY), "jobs", "jobs at the stage"),
}  # fmt: skip
"""Every context variable. `inf` is a number, `self` exists inside a queue's entry only."""


# ---------------------------------------------------------------- requests in scheduling programs

SETS = ("running", "waiting", "batch")
"""What a survey ranges over; a loop of a schedule over the first two."""

SURVEYED: dict[Moment, tuple[str, ...]] = {
    M.CAP: ("running", "waiting"),
    M.PLAN: SETS,
    M.EXECUTE: SETS,
    M.GAUGE: ("running", "waiting"),
    M.ITERATION: SETS,
}
"""Where aggregates over requests are read, and over which sets."""


@frozen
class RequestValue:
    """A field of a request: of which sets it is read, its unit, and what it is."""

    sets: tuple[str, ...]
    unit: str
    doc: str


_HERE = ("running", "batch")

REQUEST_FIELDS: dict[str, RequestValue] = {
    "progress": RequestValue(
        _HERE, "tokens", "tokens this engine has given it since its admission, this iteration not included"
    ),
    "given": RequestValue(("batch",), "tokens", "tokens it gets in this iteration"),
    "remaining": RequestValue(_HERE, "tokens", "tokens its run still needs"),
    "decoding": RequestValue(_HERE, "0 or 1", "1 if it decodes"),
    "admission": RequestValue(_HERE, "number", "number of its session's latest hold admission"),
    "waited": RequestValue(("waiting",), "time", "time since it joined its queue"),
    "units": RequestValue(("waiting",), "units", "what its hold asks of the pool it queues for, now"),
    "admitted": RequestValue(("waiting",), "0 or 1", "1 if it was admitted in this iteration"),
}
"""What `r.NAME` reads of a request besides the attributes of its session and the tags of its engine."""
