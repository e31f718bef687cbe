"""SQ05xx: numbers without a meaning, paths that cannot work."""

from __future__ import annotations

from serq.codes.entry import Code

CODES: dict[str, Code] = {
    "SQ0510": Code(
        title="a family cannot have {value} members",
        help="its size is a whole number from 1 to {limit}",
        why="The members are written out in reports and have names, so that there are whole numbers of them.",
    ),
    "SQ0511": Code(
        title="an aggregate cannot count to {value}",
        help="its count is a whole number, at least 1",
        why="An aggregate is written out with its name bound to 0, 1, 2, ….",
    ),
    "SQ0512": Code(
        title="the aggregates of the program write out {terms} terms, at most {limit}",
        help="count over fewer members, nested aggregates multiply",
        why="Aggregates are written out before the run. Without a limit a short program could become a huge "
        "one.",
    ),
    "SQ0513": Code(
        title="`{name}` is not a number",
        help="0/0 and inf - inf have no value; infinity is written `inf`",
        why="Everything computed from it would be no number either.",
    ),
    "SQ0514": Code(
        title="a `fifo` stage cannot have {value} servers",
        help="their number is whole, at least 1; `delay` serves every job at once",
        why="A server is either there or not. Slower service is more work for each job.",
    ),
    "SQ0515": Code(
        title="register `{name}` cannot start at {value}",
        help="its first value is a finite number",
        why="Later iterations compute with a register; one infinite value would spoil them all.",
    ),
    "SQ0516": Code(
        title="the cap of pool `{name}` is not a number",
        help="0/0 has no value; a pool without limit says `cap inf;`",
        why="No demand would ever be found to fit, or not to fit.",
    ),
    "SQ0517": Code(
        title="stage `{name}` cannot work at rate {value}",
        help="the capacity of `ps` is above 0; `ps(inf)` completes every job at once",
        why="With such a capacity no job would ever be done.",
    ),
    "SQ0518": Code(
        title="there is no number {index} in `{name}`, which has {size}",
        help="an index is a whole number from 0 to {last}",
        why="A list and an array of registers have a fixed number of numbers, counted from 0.",
    ),
    "SQ0519": Code(
        title="`{name}` cannot have {value} {what}",
        help="write a whole number, at most {limit}",
        why="The registers of an array, and the passes of a loop, are counted before the run.",
    ),
    "SQ0521": Code(
        title="a block cannot have {value} units",
        help="a block is at least {least}; leave the option out to allocate unit by unit",
        why="Units are handed out in whole blocks. So small a block is a slip, and rounding to it none.",
    ),
    "SQ0523": Code(
        title="`{name}` and `{other}` are both the memory of engine `{engine}`",
        help="declare one of them alone, or on the engine: growing and preemption look at one memory",
        why="The memory of a run, `kv_decode` and the like, has to be that of one pool.",
    ),
    "SQ0522": Code(
        title="pool `{name}` has no block",
        help="declare one: `block 16;`",
        why="A pool without `block` is allocated unit by unit, and has no block whose size could be read.",
    ),
    "SQ0530": Code(
        title="sessions cannot arrive at rate {value}",
        help="a rate is positive and finite; `arrive none` brings nobody",
        why="The gaps of a Poisson stream have the mean 1/rate.",
    ),
    "SQ0531": Code(
        title="there cannot be {value} sessions",
        help="their number is whole, from 1 to {most}",
        why="They all exist from the start.",
    ),
    "SQ0532": Code(
        title="the gap between arrivals cannot be {value}",
        help="a gap is positive and finite",
        why="Sessions come one after the other. Several at once are `arrive batch(n)`.",
    ),
    "SQ0533": Code(
        title="this `{statement}` tests the constant {value}, and a test is 0 or 1",
        help="write a comparison",
        why="A test that is some other number is nearly always a probability, or a forgotten comparison.",
    ),
    "SQ0534": Code(
        title="{what} cannot be {value}",
        help="an amount of units, tokens or time is a number, at least 0",
        why="Negative work would let time run backwards, and a negative demand would add capacity.",
    ),
    "SQ0535": Code(
        title="this hold needs {need} units of `{pool}`, which has {cap}",
        help="ask for less, or raise the cap: as it stands the hold is never admitted",
        why="It would wait for ever, and everybody in its queue behind it.",
    ),
    "SQ0536": Code(
        title="`{draw}` has no law: {fault}",
        help="give it parameters in their range; a constant needs no draw",
        why="Numbers drawn with such parameters would follow no law that anybody has in mind.",
    ),
    "SQ0537": Code(
        title="sessions cannot arrive {value} apart",
        help="a mean gap is a finite number, at least {least}; several at once are `arrive batch(n)`",
        why="The clock is a double number: it would hardly move, and the run would not end.",
    ),
    "SQ0538": Code(
        title="the gaps of a stream cannot vary by {value}",
        help="a coefficient of variation is above 0 and at most {most}; it is 1 for `poisson`, and even "
        "gaps are `renewal(gap)`",
        why="It is the standard deviation of a gap over its mean. Beyond the limit most gaps would be too "
        "small for the clock.",
    ),
    "SQ0539": Code(
        title="a slot cannot last {value}",
        help="it is a finite time, at least {least}",
        why="Sessions come at the multiples of a slot; the clock has to move from one to the next.",
    ),
    "SQ0544": Code(
        title="a slot cannot bring {value} sessions",
        help="their number is whole, from 0 to {most}; draw it from a law such as `~poisson(m)`",
        why="Sessions come in whole numbers.",
    ),
    "SQ0545": Code(
        title="stage {place} of the stream cannot have {what}",
        help="a rate is from 0 to {most}, a duration is a time above 0, and only the last may be `inf`",
        why="Each stage has its rate for its duration; after one that never ends no other would begin.",
    ),
    "SQ0546": Code(
        title="a quantile is taken at a constant from 0 to 1, not at {value}",
        help="the median is `quantile(o, 0.5)`, the 99th percentile `quantile(o, 0.99)`",
        why="The level says which part of the samples is at most the quantile.",
    ),
    "SQ0566": Code(
        title="the times of `arrive at` are {fault}",
        help="list finite times, 0 or later, in the order in which the sessions come",
        why="Sessions are numbered as they arrive.",
    ),
    "SQ0540": Code(
        title="a `tokens cap` of {value} lets no iteration compute a token",
        help="it is above 0; no limit is written `tokens cap inf;`",
        why="The engine would never serve anybody.",
    ),
    "SQ0541": Code(
        title="a granule cannot be {value}",
        help="it is above 0; `granule inf;` gives a prefill all it needs or nothing",
        why="A granule is the least piece of a prompt that is worth computing, such as a tile of the "
        "hardware.",
    ),
    "SQ0542": Code(
        title="a granule of {granule} never fits under `each at most ({most})`",
        help="a prefill longer than {most} would never get a token: make the granule smaller",
        why="A piece is a multiple of the granule, or the rest of the prompt; a cap below one granule "
        "leaves no piece for a long prompt.",
    ),
    "SQ0543": Code(
        title="`granule` does not go with `exclusive prefill`",
        help="leave one of them out",
        why="An exclusive prefill takes the whole budget; there is nothing to cut.",
    ),
    "SQ0550": Code(
        title="`let {name}` stands below a statement of the schedule",
        help="move it to the top: a schedule's `let`s are read as the iteration starts",
        why="They are read once, before anybody gets a token.",
    ),
    "SQ0551": Code(
        title="the statements of this schedule do not have the same `each at most`",
        help="write the same cap on all of them: it is one cap per run for the whole iteration",
        why="How much one run may get in an iteration cannot depend on the statement that happens to serve "
        "it.",
    ),
    "SQ0552": Code(
        title="`each at most ({value})` would give no run a token",
        help="a cap is above 0; no cap is written `inf`",
        why="Nobody would get anything.",
    ),
    "SQ0553": Code(
        title="this `each at most` might be 0 or less",
        help="a cap is a constant, `inf`, `max(k, e)` with a constant k above 0, or a `? :` of these",
        why="If it were 0 in some iteration, every run would stand still without a word. The forms that are "
        "allowed show that it is not.",
    ),
    "SQ0554": Code(
        title="`inf` takes part in arithmetic in this `each at most`",
        help="no cap is `inf` alone, or as an outcome of `test ? c : inf`",
        why="`inf - inf` and `0 * inf` are no numbers.",
    ),
    "SQ0555": Code(
        title="`exclusive prefill` does not work in this schedule",
        help="its schedule is `exclusive prefill; admit waiting while (running.preempted == 0);`",
        why="The statement is a policy of its own: a prompt that fits is computed alone, and while there is "
        "none the decodes go on.",
    ),
    "SQ0556": Code(
        title="a path through the schedule of `{engine}` neither advances nor admits",
        help="let every arm of a `branch` reach `advance running` or `admit waiting`",
        why="An engine that schedules nothing waits for an event that may never come.",
    ),
    "SQ0557": Code(
        title="time may stand still in this `{statement}`",
        help="on every path through its body let time pass: a `run`, a `hold` with one in it, or `end`",
        why="The clock would never move again.",
    ),
    "SQ0560": Code(
        title="`{name}`, written out, makes the program larger than {limit} parts",
        help="definitions that use each other many times multiply: keep a value with `set` instead",
        why="Definitions, bindings and entries are written out where they are used. Without a limit a short "
        "program could become a huge one.",
    ),
    "SQ0561": Code(
        title="this expression is nested more than {limit} levels deep",
        help="keep a part of it in a `let` or a `set`",
        why="A limit on nesting keeps every later step of serq from running out of stack.",
    ),
    # ------------------------------------------------------------ legs, sessions
    # ------------------------------------------------------------ loops of a schedule
    "SQ0562": Code(
        title="`break` stands outside a loop",
        help="put it in a `for`, or remove it",
        why="It leaves the innermost loop around it.",
    ),
    "SQ0563": Code(
        title="`{verb}` does not go with `{name}`, which is {among}",
        help="loop over `{wanted}` to {verb} them",
        why="A request that waits is admitted; one that runs is advanced.",
    ),
    "SQ0564": Code(
        title="a loop cannot go over `batch`",
        help="loop over `running` or `waiting`; aggregates read the batch",
        why="The batch is what the loop's own statements form.",
    ),
    "SQ0565": Code(
        title="a loop over numbers has no order and no `where`",
        help="put a `branch` into the loop",
        why="It goes through 0, 1, 2, …; only requests are sorted and picked.",
    ),
    "SQ0570": Code(
        title="this `fork` is never joined",
        help="write `join;` where the session waits for its legs",
        why="A session may not end while a leg of it runs.",
    ),
    "SQ0571": Code(
        title="`join` waits for legs, and the program forks none",
        help="leave it out, or start a leg: `fork {{ … }}`",
        why="Nothing would ever be waited for.",
    ),
    "SQ0572": Code(
        title="a leg cannot `{statement}`",
        help="a leg runs beside its session, which turns, forks, joins and ends",
        why="A leg has a copy of the session's attributes and holds of its own, but the conversation is the "
        "session's.",
    ),
    "SQ0573": Code(
        title="`fork` inside a hold of `{pool}`, which may be preempted",
        help="fork before the hold: a preempted hold starts over and would fork again",
        why="A preempted hold gives up its memory and is done again from its beginning.",
    ),
    "SQ0574": Code(
        title="the server ends the session while it holds {pools}",
        help="end it before or after the hold",
        why="What is held is given back, and cached, when its block ends.",
    ),
    "SQ0575": Code(
        title="this session never turns",
        help="write `turn;` where the client sends a request",
        why="A session that asks for nothing would not be served, and no statistic would show it.",
    ),
    "SQ0576": Code(
        title="the client uses `{name}`, which belongs to the server",
        help="give the client a stage of its own, or do the work in the server",
        why="Thinking and typing take no capacity from the server. A shared stage would make clients wait "
        "for requests.",
    ),
    # ------------------------------------------------------------ holds
    "SQ0580": Code(
        title="`{verb} {pool}` stands outside a hold of `{pool}`",
        help="move it into `hold {pool} (…) {{ … }}`",
        why="Units belong to the hold that took them.",
    ),
    "SQ0581": Code(
        title="`{verb}` names another member of `{pool}` than the hold around it",
        help="write the pool as the hold does, index included",
        why="The hold has units of one member only.",
    ),
    "SQ0582": Code(
        title="this hold takes `{pool}` twice",
        help="take it once, with the units added",
        why="It could wait for itself.",
    ),
    "SQ0583": Code(
        title="this hold leases `{pool}`, which it does not take",
        help="lease a pool of the hold, written as the hold writes it",
        why="A lease keeps units of this hold after its body.",
    ),
    "SQ0584": Code(
        title="`cached` is read in a hold of {pools} without `cache`",
        help="`cache (cost(…, 0))` uses the session's prefix and keeps nothing; or read `cached` above",
        why="A hold without `cache` does not look at the session's prefix cache.",
    ),
    "SQ0585": Code(
        title="`reuse` in a hold without `cache`",
        help="add `cache (…)` after the hold's block, `cache (cost(…, 0))` keeps nothing",
        why="Only a hold with `cache` looks at the session's prefix.",
    ),
    "SQ0586": Code(
        title="`{name}` is `{reads}` as it was before the hold of {pools} began to wait",
        help="read it when the hold is admitted: `at admission ({name} = {reads})`",
        why="A hold may wait long after the value was read. What was free then may be taken now.",
    ),
    "SQ0587": Code(
        title="the index of `{pool}` reads `{name}`, which the hold's body changes",
        help="choose the member before the hold and do not assign it inside",
        why="The hold gives its units back to the member that the index names at the end.",
    ),
    "SQ0588": Code(
        title="`{verb} {pool}` reads an index again that may have changed since admission",
        help="keep the member in an attribute: `set j = …;` before the hold",
        why="State changes while the hold is held, and the index could then name another member.",
    ),
    "SQ0589": Code(
        title="`{pool}` may preempt this hold, and its index may then name another member",
        help="keep the member in an attribute: `set j = …;` before the hold",
        why="A preempted hold waits again, in the queue of the member that its index names then.",
    ),
    "SQ0590": Code(
        title="`cached` is read in a hold of {pools} after a hold of {inner} inside it",
        help="keep it before the inner hold: `set found = cached;`",
        why="Every admission sets `cached`. From the inner hold on it is what that one found, 0 if that one "
        "has no `cache`.",
    ),
}
