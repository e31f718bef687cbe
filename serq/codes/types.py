"""SQ03xx: a size, a cost or a number where another belongs."""

from __future__ import annotations

from serq.codes.entry import Code

CODES: dict[str, Code] = {
    "SQ0301": Code(title="`{name}` takes {takes}, {got} given"),
    "SQ0303": Code(
        title="`{name}` with an index is a pool or a stage, not a value",
        help="read its state: `queue({name}[0])`, `used({name}[0])`",
    ),
    "SQ0304": Code(
        title="`{name}` is a {what}, not a value",
        help="read its state, for example `{reads}`",
    ),
    "SQ0305": Code(
        title="`{name}` is a time resource: it needs its arguments",
        help="write `{name}(…)`",
    ),
    "SQ0306": Code(
        title="`cost` takes the resources and then an amount",
        help="write `cost(kv, 16)`, for several resources `cost(reqs, kv, 16)`",
    ),
    "SQ0307": Code(
        title="`{function}` needs the name of {kind} here",
    ),
    "SQ0308": Code(
        title="`{name}` is {what}, and {wanted} is needed here",
    ),
    # ------------------------------------------------------------ costs
    "SQ0310": Code(
        title="a cost of {wanted} is needed here, this is {got}",
        help="say what the amount is an amount of: `cost({resources}, …)`",
        why="An amount of memory, of tokens and of time are all numbers; `cost` keeps them apart.",
    ),
    "SQ0311": Code(
        title="{what} has no meaning",
        help="costs of one kind add and subtract, and are scaled by plain numbers",
    ),
    "SQ0312": Code(
        title="a plain quantity is needed here, this is a cost",
        help="leave out the `cost(…)` around it",
    ),
    "SQ0314": Code(
        title="`{name}` holds several costs",
        help="read one of them, `{name}.{part}`",
    ),
    "SQ0315": Code(
        title="`{record}` has no part `{name}`",
    ),
    "SQ0316": Code(
        title="cost `{name}` is read on a path that has not assigned it",
        help="assign it before, on every path: `set {name} = cost(…);`",
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
    ),
    "SQ0322": Code(
        title="the workload's `{block}` makes no costs",
        help="make a size, and convert it in the server: `cost(kv, size)`",
    ),
    "SQ0323": Code(
        title="`{name}` is declared a cost, and this is a plain quantity",
        help="say what it is an amount of: `cost(kv, …)`",
    ),
    "SQ0324": Code(
        title="the workload cannot assign `{name}`, which the scheduler keeps",
        help="choose another name",
    ),
    "SQ0325": Code(
        title="`{name}` is given values of two kinds",
        help="a name holds costs of one kind, or plain quantities, everywhere",
    ),
    # ------------------------------------------------------------ runs
    "SQ0330": Code(
        title="a run on an engine says whether it is a prefill or a decode",
        help="write `run {engine} prefill (…);` or `run {engine} decode (…);`",
    ),
    "SQ0331": Code(
        title="`{mode}` is for engines, and `{stage}` is not one",
        help="write `run {stage} (…);`",
    ),
    "SQ0332": Code(
        title="`growing` is for runs on an engine, and `{stage}` is not one",
        help="`grow` enlarges a hold at once",
    ),
    "SQ0333": Code(
        title="stage `{stage}` occurs twice in one run",
        help="a run holds each of its stages once",
    ),
    "SQ0334": Code(
        title="a run over several stages shares their capacity, and `{stage}` is {kind}",
        help="its stages are `ps` stages with a constant capacity",
    ),
    "SQ0335": Code(
        title="the program does not say how runs over several stages share their capacity",
        help="declare `share maxmin;` or `share bottleneck;`",
    ),
    "SQ0336": Code(
        title="`share` in a program without a run over several stages",
        help="leave it out",
    ),
    "SQ0337": Code(
        title="there is no rule `{rule}` to share by",
        help="the rules are `share maxmin;` and `share bottleneck;`",
    ),
    "SQ0338": Code(
        title="runs share the capacity of `{stage}`, which must be a constant above 0",
        help="give it one: `stage {stage} : ps(2);`",
    ),
    "SQ0340": Code(
        title="no stage {stages} is declared above, where `{statement}` could run",
        help="declare one, or name the stage: `{statement} on STAGE …`",
    ),
    "SQ0341": Code(
        title="both {stages} are declared above, and `{statement}` runs at one",
        help="name the stage: `{statement} on STAGE …`",
    ),
    "SQ0342": Code(
        title="`{statement}` cannot run on the engine `{engine}`",
        help="write `run {engine} prefill (…);`",
    ),
    "SQ0344": Code(
        title="`{reader}` has no entry that takes memory from `{source}`",
        help="declare one: `decode (x) from {source} {{ … }}`",
    ),
    "SQ0345": Code(
        title="queue `{queue}` has no `nic`",
        help="give it one, `nic ps(25);`: a copy runs over the NICs of both queues",
    ),
    "SQ0346": Code(
        title="an entry of `{queue}` acts on `{pool}`, which is no pool of the queue",
        help="an entry holds its queue's own pools, and takes over what its `from` leased",
    ),
    "SQ0347": Code(
        title="a transfer from `{name}` in an entry that takes from `{source}`",
        help="write `from {source}`",
    ),
    "SQ0348": Code(
        title="an entry of `{queue}` cannot read `{name}`, an attribute of the session",
        help="pass it as the argument",
        why="A queue sees what it is told and what is its own, as a server behind a network does.",
    ),
    "SQ0349": Code(
        title="an entry of `{queue}` cannot observe `{name}`",
        help="an entry observes its queue's own pools and stages; the server reads all and may pass it on",
    ),
    # ------------------------------------------------------------ statements out of place
    "SQ0350": Code(
        title="the workload's `{block}` only sets and observes",
        help="work belongs in `session` or the server",
    ),
    "SQ0351": Code(
        title="`mark` stands in a queue's entry only",
        help="here write `set x = now;`",
    ),
    "SQ0352": Code(
        title="a run without a stage stands in a queue's entry only",
        help="name the stage: `run STAGE (…);`",
    ),
    "SQ0353": Code(
        title="`turn` belongs to the session",
        help="the client decides when the next turn comes: write it in `workload {{ session {{ … }} }}`",
    ),
    # ------------------------------------------------------------ at admission
    "SQ0360": Code(
        title="the body reads `{name}`, which was live state when the hold was admitted",
        help="`set` what the body needs in the body",
        why="The body sees a name of `at admission` only if it reads attributes and numbers.",
    ),
    "SQ0361": Code(
        title="`{name}` reads `{reads}`, which is bound after it",
        help="a name of `at admission` reads the ones before it: change their order",
    ),
    "SQ0362": Code(
        title="`{name}` is bound at the admission of a hold, and read outside of it",
        help="`set` it in the hold's body under another name, or move this into the body",
    ),
    # ------------------------------------------------------------ queues
    "SQ0370": Code(
        title="the gateway `{name}` is a family",
        help="leave out its size: all requests enter at one gateway",
    ),
    "SQ0371": Code(
        title="queue `{name}` plays `{role}` and has no entry for it",
        help="write one: `{verb} … {{ … }}`",
    ),
    "SQ0372": Code(
        title="link `{name}` neither serves nor has a `transfer` entry",
        help="say what a transfer costs: `serve ps(25);` or `transfer (n) {{ … }}`",
    ),
    "SQ0373": Code(
        title="link `{name}` has a `latency` and a `transfer` entry",
        help="write the wait into the entry",
    ),
    "SQ0374": Code(
        title="queue `{name}` plays `l2` and is not one pool and a `serve`",
        help="a slower tier is what it holds and how fast it is: `pool kv {{ … }} serve ps(4);`",
    ),
    "SQ0375": Code(
        title="the {part} of queue `{name}` stand below its stage or entries",
        help="move them to the top of the queue",
    ),
    "SQ0376": Code(
        title="queue `{name}` has two stages",
        help="a queue has one engine or one `serve`",
    ),
    "SQ0377": Code(
        title="`{part}` of queue `{name}` cannot be a family of its own",
        help="leave out the size: every member of `{name}` has its own",
    ),
    "SQ0378": Code(
        title="`latency` belongs to a link, and `{name}` is not one",
        help="declare `queue {name} : link`, or write the wait into an entry",
    ),
    "SQ0379": Code(
        title="`{verb}` is an entry of the role `{role}`, which `{name}` does not play",
        help="declare `queue {name} : {role}`",
    ),
    "SQ0380": Code(
        title="the entry `{verb}` takes {takes}, not {got}",
        help="a route takes none, every other entry one",
    ),
    "SQ0381": Code(
        title="queue `{name}` takes memory from itself",
        help="`from` names another queue, declared above",
    ),
    "SQ0382": Code(
        title="the entries of `{name}` do not lease a pool on every way",
        help="end them with a hold that leases what is taken: `hold kv (…) {{ … }} … lease kv (inf)`",
    ),
    "SQ0383": Code(
        title="an entry of `{queue}` ends the session",
        help="end it in the server",
    ),
    "SQ0384": Code(
        title="`self` in `{queue}`, which is not a family",
        help="`self` is the index of a family's member",
    ),
    "SQ0385": Code(
        title="queue `{queue}` has no stage to run at",
        help="give it one, `serve fifo;`, or name the stage: `run STAGE (…);`",
    ),
    "SQ0386": Code(
        title="a session does not call `{queue}.{verb}`",
        help="write `turn;`: the server calls the entries of queues",
    ),
    "SQ0387": Code(
        title="queue `{queue}` has no entry `{verb}`",
        help="its entries: {known}",
    ),
    "SQ0388": Code(
        title="queue `{queue}` has no entry `{form}`",
        help="call it with `from` exactly if the entry says `from`",
    ),
    "SQ0389": Code(
        title="a transfer over `{queue}` names what it fills",
        help="write `{queue}.transfer (n) from P to kv (m);`",
    ),
    "SQ0390": Code(
        title="`{entry}` calls itself",
        help="entries are written out where they are called: call each other in one direction only",
    ),
    "SQ0391": Code(
        title="the argument of `{entry}` draws",
        help="draw first, `set x = …;`, and pass `x`",
    ),
    "SQ0392": Code(
        title="the entry `{entry}` takes memory from `{wanted}`",
        help="call it `… from {wanted}`",
    ),
    "SQ0393": Code(
        title="nothing says how `{queue}` copies what it takes",
        help="declare `kvt.nixl_pull (SOURCE, {queue});`, or name the stage: `transfer on LINK …`",
    ),
    "SQ0394": Code(
        title="`{statement}` belongs to a library that the program does not use",
        help='write `use "std/kvt";` at the top',
    ),
    "SQ0395": Code(
        title='"std/kvt" has no statement `{verb}`',
        help="it has `kvt.l2_load (TIER, POOL, n, per_token = c);` and `kvt.l2_store (POOL, TIER, …);`",
    ),
    "SQ0396": Code(
        title="`{verb}` takes the tier, the pool, a number of tokens, and the work of a token",
        help="write `kvt.{verb} (…, …, n, per_token = 0.125);`",
    ),
    "SQ0397": Code(
        title="tokens are copied from or to a queue that plays `l2`",
        help="declare one: `queue deep : l2 {{ pool kv {{ cap …; }} serve ps(4); }}`",
    ),
    "SQ0398": Code(
        title="pool `{pool}` belongs to queue `{queue}`, whose entries alone hold it",
        help="call an entry of `{queue}`",
    ),
    "SQ0399": Code(
        title="`{reader}` has a relation already",
        help="one relation says how a reader's copies run",
    ),
}
