"""SQ04xx: read at a moment when it does not exist."""

from __future__ import annotations

from serq.codes.entry import Code

CODES: dict[str, Code] = {
    "SQ0401": Code(
        title="`{name}` belongs to a session, and {moment} has none",
        help="read the engine's lists or the state of pools and stages instead",
        why="An engine, a gauge and a claim are about the deployment, where many sessions live at once.",
    ),
    "SQ0402": Code(
        title="`{name}` ({doc}) does not exist in {moment}",
        help="it is read in {where}",
        why="A value exists from some step of an iteration on, or for some thing being compared. Elsewhere "
        "there is nothing to read.",
    ),
    "SQ0403": Code(
        title="`{name}` is written `{proper}` in {moment}",
        help="write `{proper}`",
        why="Inside an engine a value is named with its list, in a claim bare: one value, one name.",
    ),
    "SQ0404": Code(
        title="`{name}` is read inside an engine, not in {moment}",
        help="elsewhere the state of an engine is read by `queue(e)`, `busy(e)` and `work(e)`",
        why="The lists of an engine are its own view, as an iteration is formed. Everybody else sees jobs "
        "and work.",
    ),
    "SQ0405": Code(
        title="{moment} cannot draw (`~{law}`)",
        help="draw before, in a statement: `set x = ~{law}(…);`, and read `x`",
        why="It is read many times, or decides an order: each reading would draw anew.",
    ),
    "SQ0406": Code(
        title="{moment} cannot read the clock",
        help="let it depend on what changes at events: lists, queues, pools",
        why="It must stay as it is from one event to the next; `now` moves between them.",
    ),
    "SQ0407": Code(
        title="`{function}(…)` cannot be read in {moment}",
        help="`queue`, `used` and `queued` change at events only and are read almost everywhere",
        why="A gauge or a guard is read when something happens. `work` falls between events, so its value "
        "would be stale.",
    ),
    "SQ0408": Code(
        title="register `{name}` of engine `{engine}` cannot be read here",
        help="it is read in its engine and in claims over it, in the holds and queues it admits, in gauges "
        "and in end claims",
        why="A register is the scheduler's own memory. Requests do not see it.",
    ),
    "SQ0409": Code(
        title="`{function}(…)` of an observation is read by claims at the end only, not in {moment}",
        help="write the claim as `claim NAME: at end ({function}(…) …);`",
        why="Samples are complete when the run ends; earlier, a total would be that of the samples so far.",
    ),
    "SQ0410": Code(
        title="an arrival gap cannot read {reads}",
        help="a gap, or the number of a slot, is made of constants and draws on a stream of its own",
        why="With the same seed the same sessions come at the same times, whatever the server does.",
    ),
    "SQ0411": Code(
        title="`computed` is the position of an earlier preemption, not of this candidate",
        help="a preemption key reads `position`",
        why="Candidates are compared by how far each of them has come now.",
    ),
    "SQ0412": Code(
        title="the schedule's `let {name}` is read in `each at most` only",
        help="write its expression here, or keep it in a register",
        why="A `let` of a schedule is read once, as the iteration starts, for the cap of that iteration.",
    ),
    "SQ0413": Code(
        title="the index of `{name}` must be a number in {moment}",
        help="name one member, or take all: `sum j in 2 (queue({name}[j]))`",
        why="It is read at every event and has to mean the same member each time.",
    ),
    "SQ0417": Code(
        title="a queue key cannot draw",
        help="draw once before the hold, `set x = ~…;`, and order by `x`",
        why="The keys are read again at every try: the order would change each time.",
    ),
    "SQ0418": Code(
        title="`{name}` of `at admission` draws",
        help="draw once before the hold, `set x = ~…;`, and read `x`",
        why="The header is read again at every try to admit the hold.",
    ),
    "SQ0420": Code(
        title="`{name}` is a time resource of a device, read in its engine's `execute` only",
        help="move it to `execute`, or use a `def`",
        why="A time resource says how long the device takes. Only the duration of an iteration is a time.",
    ),
    "SQ0430": Code(
        title="a constant cannot draw (`~{law}`)",
        help="draw where the value is used, or in a `set`",
        why="A constant has one value in all runs of the program.",
    ),
    "SQ0431": Code(
        title="a constant cannot read `{name}`",
        help="a constant is computed before the run, from numbers and the `let`s above it",
        why="Constants are computed before there is anything to read.",
    ),
    "SQ0440": Code(
        title="`{name}` is hidden from the scheduler, and {moment} reads it",
        help="only a run's work, `cache` and `observe` may read what the scheduler does not know",
        why="A scheduler that reads a request's hidden length decides with knowledge no server has.",
    ),
    "SQ0441": Code(
        title="`{name}` cannot be hidden from the scheduler, which keeps it",
        help="hide what the workload sets, such as the length of an answer",
        why="The scheduler computes `cached` and `computed` itself.",
    ),
    "SQ0442": Code(
        title="nothing sets `{name}`, there is nothing to hide",
        help="`hidden` names an attribute that some `set` or `choose` makes",
        why="A misspelt name would hide nothing, and the scheduler would read the real one.",
    ),
    "SQ0443": Code(
        title="{what} reads `{hidden}`, which is hidden from the scheduler and not yet revealed",
        help="decide after a run whose work reads it, such as `run e decode (cost(e, {hidden}));`",
        why="A server learns a request's hidden length only by serving it to the end.",
    ),
    "SQ0444": Code(
        title="{what} reads `{read}`, made from `{hidden}`, which is hidden and not yet revealed",
        help="decide after a run whose work reads `{hidden}`",
        why="A server learns a request's hidden length only by serving it to the end.",
    ),
    # ------------------------------------------------------------ requests
    "SQ0460": Code(
        title="an aggregate over `{among}` cannot be read in {moment}",
        help="guards and `set`s of a schedule, `execute` and claims over iterations read all three sets; "
        "`tokens cap` and gauges `running` and `waiting`",
        why="The members of a set are known at these moments only: no batch is formed when the cap is read.",
    ),
    "SQ0461": Code(
        title="`{name}` is not read of a request in `{among}`",
        help="`{request}.{name}` is read of requests in {where}: {doc}",
        why="A request that waits makes no progress yet; one that runs waits no more.",
    ),
    "SQ0462": Code(
        title="`{name}` is a tag of engine `{engine}`, read of its requests only",
        help="write `r.{name}` in a loop or an aggregate of `{engine}`, with `r` its request",
        why="An engine keeps a tag with each request that waits or runs there; elsewhere there is none.",
    ),
    "SQ0463": Code(
        title="this gauge does not say whose `{among}` it reads",
        help="use a gauge over requests in programs with one engine that is not a family",
        why="Each engine has its own running and waiting requests, and a gauge names none.",
    ),
    "SQ0450": Code(
        title="`{name}` is a {what}: only an engine has iterations",
        help="name an engine, or claim `at end`",
        why="A claim over iterations is read as each of them starts.",
    ),
    "SQ0451": Code(
        title="a claim is about one member of `{name}`: its index must be a number",
        help="name a member, `{name}[0]`",
        why="The claim is read at the iterations of one engine, which has to be known before the run.",
    ),
}
