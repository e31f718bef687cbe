"""SQ03xx: a size, a cost or a number where another belongs, statements out of place, queues.

Long, and one file all the same: a range of codes is a file.
"""

from __future__ import annotations

from serq.codes.entry import Code

CODES: dict[str, Code] = {
    "SQ0301": Code(
        title="`{name}` takes {takes}, {got} given",
        help="give it {takes}",
        why="An argument that is left out, or one too many, is usually a slip in a formula.",
    ),
    "SQ0303": Code(
        title="`{name}` with an index is a pool or a stage, not a value",
        help="read its state: `queue({name}[0])`, `used({name}[0])`",
        why="A member of a family is a place where work is done or memory is held, not a number.",
    ),
    "SQ0304": Code(
        title="`{name}` is a {what}, not a value",
        help="read its state, for example `{reads}`",
        why="The name stands for the whole thing. What can be computed with are numbers that it has at a "
        "moment: jobs, units, work.",
    ),
    "SQ0305": Code(
        title="`{name}` is a time resource: it needs its arguments",
        help="write `{name}(…)`",
        why="A time resource is a formula; only with its arguments it is a time.",
    ),
    "SQ0306": Code(
        title="`cost` takes the resources and then an amount",
        help="write `cost(kv, 16)`, for several resources `cost(reqs, kv, 16)`",
        why="A cost is an amount of something: the name says of what.",
    ),
    "SQ0307": Code(
        title="`{function}` needs the name of {kind} here",
        help="its argument is a declared name, not an expression",
        why="Such a function reads the state of something declared.",
    ),
    "SQ0308": Code(
        title="`{name}` is {what}, and {wanted} is needed here",
        help="name {wanted} here, or read `{name}` by a function for {what}",
        why="Stages have jobs, pools have units, engines have iterations: each is read by functions of its "
        "own.",
    ),
    # ------------------------------------------------------------ costs
    "SQ0309": Code(
        title="the distribution `{law}` is not written like this",
        help="write `{form}`",
        why="A table has values with their probabilities, samples come from a file in quotes, and every "
        "other law has a few parameters.",
    ),
    "SQ0310": Code(
        title="a cost of {wanted} is needed here, this is {got}",
        help="say what the amount is an amount of: `cost({resources}, …)`",
        why="An amount of memory, of tokens and of time are all numbers; `cost` keeps them apart.",
    ),
    "SQ0311": Code(
        title="{what} has no meaning",
        help="costs of one kind add and subtract, and are scaled by plain numbers",
        why="Tokens of an engine, units of a pool and times of a stage cannot be added or compared with "
        "each other, or with bare numbers.",
    ),
    "SQ0312": Code(
        title="a plain quantity is needed here, this is a cost",
        help="leave out the `cost(…)` around it",
        why="Tests, durations, keys and indices are numbers. A cost is for what runs and holds take.",
    ),
    "SQ0313": Code(
        title="`share` compares the samples of one observation with a value",
        help="write the observation on the left: `share(ttft <= 500)`",
        why="It is the fraction of the samples for which the comparison is true. For more than one "
        "condition, observe the test itself: `observe good = a && b;` and `mean(good)`.",
    ),
    "SQ0314": Code(
        title="`{name}` holds several costs",
        help="read one of them, `{name}.{part}`",
        why="Each part is an amount of another resource.",
    ),
    "SQ0315": Code(
        title="`{record}` has no part `{name}`",
        help="its parts are named after the resources it was written with",
        why="A record has a part for each resource that it was written with.",
    ),
    "SQ0316": Code(
        title="cost `{name}` is read on a path that has not assigned it",
        help="assign it before, on every path: `set {name} = cost(…);`",
        why="An attribute that nobody has assigned is 0. A cost of nothing would make a run that is never "
        "seen.",
    ),
    # ------------------------------------------------------------ sizes
    "SQ0320": Code(
        title="the server cannot assign `{name}`, a size that the workload makes",
        help="keep what the server computes under another name",
        why="What a request is does not depend on how it is served.",
    ),
    "SQ0321": Code(
        title="a server declares no `Size`",
        help="sizes are made in the workload; here write `set {name} = …;` or `Cost {name} = cost(…);`",
        why="A `Size` is a property of a request. A server computes values and costs.",
    ),
    "SQ0322": Code(
        title="the workload's `{block}` makes no costs",
        help="make a size, and convert it in the server: `cost(kv, size)`",
        why="A request has lengths. What they cost depends on the server that serves it.",
    ),
    "SQ0323": Code(
        title="`{name}` is declared a cost, and this is a plain quantity",
        help="say what it is an amount of: `cost(kv, …)`",
        why="`Cost` promises that the value is an amount of a known resource.",
    ),
    "SQ0324": Code(
        title="the workload cannot assign `{name}`, which the scheduler keeps",
        help="choose another name",
        why="`cached` and `computed` tell how far the server has come with a request. The client cannot "
        "know.",
    ),
    "SQ0325": Code(
        title="`{name}` is given values of two kinds",
        help="a name holds costs of one kind, or plain quantities, everywhere",
        why="What a name holds would depend on the path a session takes.",
    ),
    # ------------------------------------------------------------ runs
    "SQ0330": Code(
        title="a run on an engine says whether it is a prefill or a decode",
        help="write `run {engine} prefill (…);` or `run {engine} decode (…);`",
        why="A schedule treats them differently: a decode gets one token in an iteration, a prefill all "
        "that is left.",
    ),
    "SQ0331": Code(
        title="`{mode}` is for engines, and `{stage}` is not one",
        help="write `run {stage} (…);`",
        why="Only an engine forms batches of prefill chunks and decodes. Other stages just serve work.",
    ),
    "SQ0332": Code(
        title="`growing` is for runs on an engine, and `{stage}` is not one",
        help="`grow` enlarges a hold at once",
        why="A hold grows as an iteration reaches new positions, and only engines have iterations.",
    ),
    "SQ0333": Code(
        title="stage `{stage}` occurs twice in one run",
        help="a run holds each of its stages once",
        why="Such a run takes a share of each of its stages at the same time.",
    ),
    "SQ0334": Code(
        title="a run over several stages shares their capacity, and `{stage}` is {kind}",
        help="its stages are `ps` stages with a constant capacity",
        why="The job goes on at one rate at all its stages. Only a shared capacity can give it a rate.",
    ),
    "SQ0335": Code(
        title="the program does not say how runs over several stages share their capacity",
        help="declare `share maxmin;` or `share bottleneck;`",
        why="When several flows meet at several stages, their rates depend on the rule.",
    ),
    "SQ0336": Code(
        title="`share` in a program without a run over several stages",
        help="leave it out",
        why="The rule is about runs that hold several stages at once. A single `ps` stage shares its "
        "capacity evenly anyway.",
    ),
    "SQ0337": Code(
        title="there is no rule `{rule}` to share by",
        help="the rules are `share maxmin;` and `share bottleneck;`",
        why="`maxmin` raises all rates together until stages are full; `bottleneck` gives each run the "
        "least of its shares.",
    ),
    "SQ0338": Code(
        title="runs share the capacity of `{stage}`, which must be a constant above 0",
        help="give it one: `stage {stage} : ps(2);`",
        why="Rates are worked out whenever a run begins or ends. A capacity that changes in between would "
        "need others.",
    ),
    "SQ0340": Code(
        title="no stage {stages} is declared above, where `{statement}` could run",
        help="declare one, or name the stage: `{statement} on STAGE …`",
        why="`tool` and `transfer` are short for a run at a stage of that name.",
    ),
    "SQ0341": Code(
        title="both {stages} are declared above, and `{statement}` runs at one",
        help="name the stage: `{statement} on STAGE …`",
        why="Both could be meant.",
    ),
    "SQ0342": Code(
        title="`{statement}` cannot run on the engine `{engine}`",
        help="write `run {engine} prefill (…);`",
        why="A tool call or a transfer is one job of some length. An engine works on prompts and answers, "
        "in tokens.",
    ),
    "SQ0344": Code(
        title="`{reader}` has no entry that takes memory from `{source}`",
        help="declare one: `decode (x) from {source} {{ … }}`",
        why="A relation is about memory that one queue's entry takes over from another.",
    ),
    "SQ0345": Code(
        title="queue `{queue}` has no `nic`",
        help="give it one, `nic ps(25);`: a copy runs over the NICs of both queues",
        why="A copy occupies both ends at once.",
    ),
    "SQ0346": Code(
        title="an entry of `{queue}` acts on `{pool}`, which is not a pool of the queue",
        help="an entry holds its queue's own pools, and takes over what its `from` leased",
        why="A queue acts on its own memory, as a server behind a network does.",
    ),
    "SQ0347": Code(
        title="a transfer from `{name}` in an entry that takes from `{source}`",
        help="write `from {source}`",
        why="The entry says whose lease it takes over, and that memory is what is copied.",
    ),
    "SQ0348": Code(
        title="an entry of `{queue}` cannot read `{name}`, an attribute of the session",
        help="pass it as the argument",
        why="A queue sees what it is told and what is its own, as a server behind a network does.",
    ),
    "SQ0349": Code(
        title="an entry of `{queue}` cannot observe `{name}`",
        help="an entry observes its queue's own pools and stages; the server reads all and may pass it on",
        why="A queue sees its own state only, as a server behind a network does.",
    ),
    # ------------------------------------------------------------ statements out of place
    "SQ0350": Code(
        title="the workload's `{block}` only sets and observes",
        help="work belongs in `session` or the server",
        why="`init` and `turn` describe a request at an instant: no time passes in them.",
    ),
    "SQ0351": Code(
        title="`mark` stands in a queue's entry only",
        help="here write `set x = now;`",
        why="A mark notes when an entry came so far, and is read outside as `QUEUE.NAME`.",
    ),
    "SQ0352": Code(
        title="a run without a stage stands in a queue's entry only",
        help="name the stage: `run STAGE (…);`",
        why="An entry's queue has one stage, which goes without saying. A server has several.",
    ),
    "SQ0353": Code(
        title="`turn` belongs to the session",
        help="the client decides when the next turn comes: write it in `workload {{ session {{ … }} }}`",
        why="The server answers turns; the client asks.",
    ),
    # ------------------------------------------------------------ at admission
    "SQ0360": Code(
        title="the body reads `{name}`, which was live state when the hold was admitted",
        help="`set` what the body needs in the body",
        why="State goes on changing while the body runs. A name that still showed the old state would "
        "mislead.",
    ),
    "SQ0361": Code(
        title="`{name}` reads `{reads}`, which is bound after it",
        help="a name of `at admission` reads the ones before it: change their order",
        why="The names are bound one after the other.",
    ),
    "SQ0362": Code(
        title="`{name}` is bound at the admission of a hold, and read outside of it",
        help="`set` it in the hold's body under another name, or move this into the body",
        why="Its value belongs to one admission of one hold.",
    ),
    # ------------------------------------------------------------ queues
    "SQ0370": Code(
        title="the gateway `{name}` is a family",
        help="leave out its size: all requests enter at one gateway",
        why="A gateway decides where requests go. With several, something would have to decide among "
        "gateways.",
    ),
    "SQ0371": Code(
        title="queue `{name}` plays `{role}` and has no entry for it",
        help="write one: `{verb} … {{ … }}`",
        why="A role promises an entry that others call.",
    ),
    "SQ0372": Code(
        title="link `{name}` neither serves nor has a `transfer` entry",
        help="say what a transfer costs: `serve ps(25);` or `transfer (n) {{ … }}`",
        why="Nothing would say how long a transfer takes.",
    ),
    "SQ0373": Code(
        title="link `{name}` has a `latency` and a `transfer` entry",
        help="write the wait into the entry",
        why="A `latency` is a wait before the link serves. An entry says itself what is done, and when.",
    ),
    "SQ0374": Code(
        title="queue `{name}` plays `l2` but is not just one pool and a `serve`",
        help="a slower tier is what it holds and how fast it is: `pool kv {{ … }} serve ps(4);`",
        why="Copies to and from a slower tier take room in its pool and time at its stage.",
    ),
    "SQ0375": Code(
        title="the {part} of queue `{name}` stand below its stage or entries",
        help="move them to the top of the queue",
        why="What an entry or an engine uses stands above it.",
    ),
    "SQ0376": Code(
        title="queue `{name}` has two stages",
        help="a queue has one engine or one `serve`",
        why="A bare `run (…)` in an entry means the stage of the queue; there has to be one.",
    ),
    "SQ0377": Code(
        title="`{part}` of queue `{name}` cannot be a family of its own",
        help="leave out the size: every member of `{name}` has its own",
        why="A family of queues is a family of everything in it.",
    ),
    "SQ0378": Code(
        title="`latency` belongs to a link, and `{name}` is not one",
        help="declare `queue {name} : link`, or write the wait into an entry",
        why="Only a link is used by runs that do not pass an entry, where the wait could be written.",
    ),
    "SQ0379": Code(
        title="`{verb}` is an entry of the role `{role}`, which `{name}` does not play",
        help="declare `queue {name} : {role}`",
        why="The roles tell a reader what a queue is there for.",
    ),
    "SQ0380": Code(
        title="the entry `{verb}` takes {takes}, not {got}",
        help="a route takes none, every other entry one",
        why="Entries are called alike wherever they are called: a route with nothing, the others with one "
        "amount.",
    ),
    "SQ0381": Code(
        title="queue `{name}` takes memory from itself",
        help="`from` names another queue, declared above",
        why="Memory that an entry takes over was leased by an entry of another queue.",
    ),
    "SQ0382": Code(
        title="the entries of `{name}` do not lease a pool on every path",
        help="end them with a hold that leases what is taken: `hold kv (…) {{ … }} … lease kv (inf)`",
        why="The reader takes over what the source has leased. On a path without a lease there is nothing "
        "to take.",
    ),
    "SQ0383": Code(
        title="an entry of `{queue}` ends the session",
        help="end it in the server",
        why="A queue serves a part of a request. Only the server sees the whole of it.",
    ),
    "SQ0384": Code(
        title="`self` has no meaning in `{queue}`, which is not a family",
        help="`self` is the index of a family's member",
        why="A queue that is not a family has no index.",
    ),
    "SQ0385": Code(
        title="queue `{queue}` has no stage to run at",
        help="give it one, `serve fifo;`, or name the stage: `run STAGE (…);`",
        why="A bare `run (…)` means the stage of the queue.",
    ),
    "SQ0386": Code(
        title="a session does not call `{queue}.{verb}`",
        help="write `turn;`: the server calls the entries of queues",
        why="A client knows its server only.",
    ),
    "SQ0387": Code(
        title="queue `{queue}` has no entry `{verb}`",
        help="its entries: {known}",
        why="A call names the queue and one of its entries.",
    ),
    "SQ0388": Code(
        title="queue `{queue}` has no entry `{form}`",
        help="call it with `from` exactly if the entry says `from`",
        why="An entry with `from` takes over memory that another queue leased, an entry without it does "
        "not. A call says which one is meant.",
    ),
    "SQ0389": Code(
        title="a transfer over `{queue}` names what it fills",
        help="write `{queue}.transfer (n) from P to kv (m);`",
        why="The tokens leave one pool and arrive in another.",
    ),
    "SQ0390": Code(
        title="`{entry}` calls itself",
        help="entries are written out where they are called: call each other in one direction only",
        why="A call is replaced by the body of the entry; one that reaches itself would never end.",
    ),
    "SQ0391": Code(
        title="the argument of `{entry}` draws",
        help="draw first, `set x = …;`, and pass `x`",
        why="The argument is written in each place where the body reads its parameter, and each would draw "
        "anew.",
    ),
    "SQ0392": Code(
        title="the entry `{entry}` takes memory from `{wanted}`",
        help="call it `… from {wanted}`",
        why="What was leased elsewhere is not what this entry takes over.",
    ),
    "SQ0393": Code(
        title="nothing says how `{queue}` copies what it takes",
        help="declare `kvt.nixl_pull (SOURCE, {queue});`, or name the stage: `transfer on LINK …`",
        why="How long the copy takes, and what it occupies, depends on the relation between the two queues.",
    ),
    "SQ0394": Code(
        title="`{statement}` belongs to a library that the program does not use",
        help='write `use "std/kvt";` at the top',
        why="`use` shows at the top of a program what it takes from outside the language.",
    ),
    "SQ0395": Code(
        title='"std/kvt" has no statement `{verb}`',
        help="it has `kvt.l2_load (TIER, POOL, n, per_token = c);` and `kvt.l2_store (POOL, TIER, …);`",
        why="Copies to and from a slower tier are the only statements of that library.",
    ),
    "SQ0396": Code(
        title="`{verb}` takes the tier, the pool, a number of tokens, and the work of a token",
        help="write `kvt.{verb} (…, …, n, per_token = 0.125);`",
        why="How many tokens are copied, and the work of each at the tier's stage, make the time of the "
        "copy.",
    ),
    "SQ0397": Code(
        title="tokens are copied from or to a queue that plays `l2`",
        help="declare one: `queue deep : l2 {{ pool kv {{ cap …; }} serve ps(4); }}`",
        why="A slower tier is a queue with one pool and one stage, and its role says so.",
    ),
    "SQ0398": Code(
        title="pool `{pool}` belongs to queue `{queue}`, whose entries alone hold it",
        help="call an entry of `{queue}`",
        why="A queue keeps its memory to itself, as a server behind a network does.",
    ),
    "SQ0399": Code(
        title="`{reader}` has a relation already",
        help="one relation says how a reader's copies run",
        why="A reader's copies cannot run in two ways.",
    ),
}
