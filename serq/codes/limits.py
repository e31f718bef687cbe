"""SQ05xx: numbers without a meaning, paths that cannot work."""

from __future__ import annotations

from serq.codes.entry import Code

CODES: dict[str, Code] = {
    "SQ0510": Code(
        title="a family cannot have {value} members",
        help="its size is a whole number from 1 to {limit}",
    ),
    "SQ0511": Code(
        title="an aggregate cannot count to {value}",
        help="its count is a whole number, at least 1",
    ),
    "SQ0512": Code(
        title="the aggregates of the program write out {terms} terms, at most {limit}",
        help="count over fewer members, nested aggregates multiply",
    ),
    "SQ0513": Code(
        title="constant `{name}` is not a number",
        help="0/0 and inf - inf have no value; infinity is written `inf`",
    ),
    "SQ0514": Code(
        title="a `fifo` stage cannot have {value} servers",
        help="their number is whole, at least 1; `delay` serves every job at once",
    ),
    "SQ0515": Code(
        title="register `{name}` cannot start at {value}",
        help="its first value is a finite number",
    ),
    "SQ0516": Code(
        title="the cap of pool `{name}` is not a number",
        help="0/0 has no value; a pool without limit says `cap inf;`",
    ),
    "SQ0521": Code(
        title="a block cannot have {value} units",
        help="a block is above 0; leave the option out to allocate unit by unit",
    ),
    "SQ0523": Code(
        title="`{name}` and `{other}` are both the memory of engine `{engine}`",
        help="declare one of them alone, or on the engine: growing and preemption look at one memory",
    ),
    "SQ0522": Code(
        title="pool `{name}` has no block",
        help="declare one: `block 16;`",
    ),
    "SQ0530": Code(
        title="sessions cannot arrive at rate {value}",
        help="a rate is positive and finite; `arrive none` brings nobody",
    ),
    "SQ0531": Code(
        title="there cannot be {value} sessions",
        help="their number is whole, from 1 to {most}",
    ),
    "SQ0532": Code(
        title="the gap between arrivals cannot be {value}",
        help="a gap is positive and finite",
    ),
    "SQ0533": Code(
        title="this `{statement}` tests the constant {value}, and a test is 0 or 1",
        help="write a comparison",
    ),
    "SQ0534": Code(
        title="{what} cannot be {value}",
        help="an amount of units, tokens or time is a number, at least 0",
    ),
    "SQ0535": Code(
        title="this hold needs {need} units of `{pool}`, which has {cap}",
        help="ask for less, or raise the cap: as it stands the hold is never admitted",
    ),
    "SQ0540": Code(
        title="a `tokens cap` of {value} lets no iteration compute a token",
        help="it is above 0; no limit is written `tokens cap inf;`",
    ),
    "SQ0541": Code(
        title="a granule cannot be {value}",
        help="it is above 0; `granule inf;` gives a prefill all it needs or nothing",
    ),
    "SQ0542": Code(
        title="a granule of {granule} never fits under `each at most ({most})`",
        help="a prefill longer than {most} would never get a token: make the granule smaller",
    ),
    "SQ0543": Code(
        title="`granule` does not go with `exclusive prefill`",
        help="leave one of them out",
    ),
    "SQ0550": Code(
        title="`let {name}` stands below a statement of the schedule",
        help="move it to the top: a schedule's `let`s are read as the iteration starts",
    ),
    "SQ0551": Code(
        title="the statements of this schedule do not have the same `each at most`",
        help="write the same cap on all of them: it is one cap per run for the whole iteration",
    ),
    "SQ0552": Code(
        title="`each at most ({value})` would give no run a token",
        help="a cap is above 0; no cap is written `inf`",
    ),
    "SQ0553": Code(
        title="this `each at most` might be 0 or less",
        help="a cap is a constant, `inf`, `max(k, e)` with a constant k above 0, or a `? :` of these",
    ),
    "SQ0554": Code(
        title="`inf` takes part in arithmetic in this `each at most`",
        help="no cap is `inf` alone, or as an outcome of `test ? c : inf`",
    ),
    "SQ0555": Code(
        title="`exclusive prefill` does not work in this schedule",
        help="its schedule is `exclusive prefill; admit waiting while (running.preempted == 0);`",
    ),
    "SQ0556": Code(
        title="a path through the schedule of `{engine}` neither advances nor admits",
        help="let every arm of a `branch` reach `advance running` or `admit waiting`",
        why="An engine that schedules nothing waits for an event that may never come.",
    ),
    "SQ0557": Code(
        title="time may stand still in this `{statement}`",
        help="on every path through its body let time pass: a `run`, a `hold` with one in it, or `end`",
    ),
    "SQ0560": Code(
        title="`{name}`, written out, makes the program larger than {limit} parts",
        help="definitions that use each other many times multiply: keep a value with `set` instead",
    ),
    "SQ0561": Code(
        title="this expression is nested more than {limit} levels deep",
        help="keep a part of it in a `let` or a `set`",
    ),
    # ------------------------------------------------------------ legs, sessions
    "SQ0570": Code(
        title="this `fork` is never joined",
        help="write `join;` where the session waits for its legs",
        why="A session may not end while a leg of it runs.",
    ),
    "SQ0571": Code(
        title="`join` waits for legs, and the program forks none",
        help="leave it out, or start a leg: `fork {{ … }}`",
    ),
    "SQ0572": Code(
        title="a leg cannot `{statement}`",
        help="a leg runs beside its session, which turns, forks, joins and ends",
    ),
    "SQ0573": Code(
        title="`fork` inside a hold of `{pool}`, which may be preempted",
        help="fork before the hold: a preempted hold starts over and would fork again",
    ),
    "SQ0574": Code(
        title="the server ends the session while it holds {pools}",
        help="end it before or after the hold",
        why="What is held is given back, and cached, when its block ends.",
    ),
    "SQ0575": Code(
        title="this session never turns",
        help="write `turn;` where the client sends a request",
    ),
    "SQ0576": Code(
        title="the client uses `{name}`, which belongs to the server",
        help="give the client a stage of its own, or do the work in the server",
    ),
    # ------------------------------------------------------------ holds
    "SQ0580": Code(
        title="`{verb} {pool}` stands outside a hold of `{pool}`",
        help="move it into `hold {pool} (…) {{ … }}`",
    ),
    "SQ0581": Code(
        title="`{verb}` names another member of `{pool}` than the hold around it",
        help="write the pool as the hold does, index included",
    ),
    "SQ0582": Code(
        title="this hold takes `{pool}` twice",
        help="take it once, with the units added",
    ),
    "SQ0583": Code(
        title="this hold leases `{pool}`, which it does not take",
        help="lease a pool of the hold, written as the hold writes it",
    ),
    "SQ0584": Code(
        title="`cached` is read in a hold of {pools} without `cache`",
        help="`cache (cost(…, 0))` uses the session's prefix and keeps nothing; or read `cached` above",
        why="A hold without `cache` does not look at the session's prefix cache.",
    ),
    "SQ0585": Code(
        title="`reuse` in a hold without `cache`",
        help="add `cache (…)` after the hold's block, `cache (cost(…, 0))` keeps nothing",
    ),
    "SQ0586": Code(
        title="`{name}` is `{reads}` as it was before the hold of {pools} began to wait",
        help="read it when the hold is admitted: `at admission ({name} = {reads})`",
    ),
    "SQ0587": Code(
        title="the index of `{pool}` reads `{name}`, which the hold's body changes",
        help="choose the member before the hold and do not assign it inside",
    ),
    "SQ0588": Code(
        title="`{verb} {pool}` reads an index again that may have changed since admission",
        help="keep the member in an attribute: `set j = …;` before the hold",
    ),
    "SQ0589": Code(
        title="`{pool}` may preempt this hold, and its index may then name another member",
        help="keep the member in an attribute: `set j = …;` before the hold",
    ),
}
