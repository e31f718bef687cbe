"""SQ02xx: names that are unknown, missing, declared twice or refused.

Long, and one file all the same: a range of codes is a file.
"""

from __future__ import annotations

from serq.codes.entry import Code

CODES: dict[str, Code] = {
    # ------------------------------------------------------------ unknown
    "SQ0201": Code(
        title="there is no `{name}` to read here",
        help="declare it with `let {name} = …;`, or assign it with `set {name} = …;`",
        why="A name is read only if a `let`, a `set`, a `state` or the language itself supplies it.",
    ),
    "SQ0202": Code(
        title="there is no function `{name}`",
        help="the functions are min, max, abs, floor, ceil, sqrt, exp and ln; `def` names an expression",
        why="The functions are those that mean the same in a run and in mathematics. A formula of your own "
        "is a `def`, or a time resource of a device.",
    ),
    "SQ0203": Code(
        title="there is no {kind} `{name}`",
        help="declare it in `fn main()`",
        why="A misspelt stage or pool would otherwise be a new one that nobody serves.",
    ),
    "SQ0204": Code(
        title="`{name}` is not a constant known at this line",
        help="a constant is computed before the run, from numbers and the `let`s above it",
        why="Sizes, caps and `let`s are needed before anything runs, in the order of their lines.",
    ),
    "SQ0205": Code(
        title="there is no distribution `{name}`",
        help="the distributions are exp, det, uniform, erlang, h2, bernoulli, poisson, binomial, geometric, "
        "gamma, lognormal, weibull, pareto, table and empirical",
        why="A draw names one of the laws of the language. Others are made from them: a shifted exponential "
        "is `2 + ~exp(3)`.",
    ),
    "SQ0206": Code(
        title="`{name}` has no `{member}`",
        help="after `{name}.` stands one of {members}",
        why="Each list of an engine has its own counts: what runs, what waits, what is in the batch.",
    ),
    "SQ0207": Code(
        title="`{owner}` has no `{member}` to read",
        help="a dot follows `running`, `waiting`, `batch`, a cost record, or a queue with a `mark` or `set`",
        why="A `.` leads into something that has parts. Attributes of a session and observations have none.",
    ),
    "SQ0208": Code(
        title="nothing records an observation `{name}`",
        help="`observe {name} = …;` in a session or the server records one",
        why="An end claim about samples that nobody records would be about nothing.",
    ),
    "SQ0209": Code(
        title="engine `{engine}` has no register `{name}` to set",
        help="declare `state {name} = 0;` in the engine; a schedule cannot set a session's attribute",
        why="A schedule acts for all requests at once. What it remembers from one iteration to the next is "
        "a register of the engine.",
    ),
    # ------------------------------------------------------------ declared twice, definitions
    "SQ0210": Code(
        title="the {kind} `{name}` is declared twice",
        help="leave one of them out, or rename it",
        why="With two declarations of one name, a reader could not tell which one is meant.",
    ),
    "SQ0211": Code(
        title="two parameters are named `{name}`",
        help="give each parameter a name of its own",
        why="Both would stand for different arguments under one name.",
    ),
    "SQ0212": Code(
        title="definition `{name}` uses itself",
        help="write a `while` in the server, or spell the steps out",
        why="A definition is written out where it is used; one that reaches itself would never end.",
    ),
    "SQ0213": Code(
        title="definition `{name}` stands below `{by}`, which uses it",
        help="move `def {name}` above `def {by}`",
        why="Definitions are known from their line on. So a reader finds what a body uses above it, and no "
        "two can use each other.",
    ),
    "SQ0214": Code(
        title="the program has no definition `{name}` to replace",
        help="only a `def` whose body is an expression can be replaced from outside",
        why="A misspelt name would otherwise change nothing, silently.",
        example='serq check example.sq --def forwrad="10 + 0.04 * n"',
    ),
    "SQ0215": Code(
        title="definition `{name}` is made of statements: an expression cannot replace it",
        help="replace a definition whose body is an expression, or edit the program",
        why="An experiment replaces a formula, for example that of an iteration's time. Statements are the "
        "program itself.",
        example="serq check example.sq --def answer=10",
    ),
    "SQ0216": Code(
        title="the body assigns or binds its parameter `{name}`",
        help="a parameter stands for the argument's expression: use another name for what is assigned",
        why="The argument is written in the parameter's place, and an expression cannot be assigned.",
    ),
    "SQ0217": Code(
        title="`{name}` is made of statements, but a value is needed here",
        help="use it as a statement, `{name}(…);`",
        why="Statements do something and have no value.",
    ),
    "SQ0218": Code(
        title="`{name}` is an expression, but a statement is needed here",
        help="keep its value, for example `set x = {name}(…);`",
        why="A value that nothing uses changes nothing.",
    ),
    "SQ0219": Code(
        title="definition `{name}` is used above its line",
        help="move the `def` above its first use",
        why="Definitions are known from their line on.",
    ),
    # ------------------------------------------------------------ refused as a name
    "SQ0220": Code(
        title="no {kind} can be called `{name}`, a word of the language",
        help="choose another name",
        why="This name stands where a word of the language could stand; both could be meant.",
    ),
    "SQ0221": Code(
        title="no {kind} can be called `{name}`: the language supplies that name",
        help="choose another name",
        why="Expressions read the names of the language without a declaration; one word has one meaning.",
    ),
    "SQ0222": Code(
        title="the argument for `{parameter}` draws, and `{function}` reads it {times} times",
        help="draw once, `set x = …;`, and pass `x`",
        why="Each reading of the parameter would draw anew.",
    ),
    "SQ0223": Code(
        title="the argument for `{parameter}` reads `{read}`, which the body of `{function}` assigns",
        help="rename one of the two",
        why="The body is written out here, so the argument would see the body's value, not this one.",
    ),
    "SQ0224": Code(
        title="the argument for `{parameter}` reads `{read}`, which changes while `{function}` runs",
        help="keep it first, `set x = {read};`, and pass `x`",
        why="The body would read it at the moment of each of its statements, not here.",
    ),
    "SQ0225": Code(
        title="parameter `{name}` is used as a family or queue here, and its argument is not one",
        help="pass the bare name of the pool, stage or queue",
        why="The argument is written in the parameter's place: `place[0]` needs a name there, not a value.",
    ),
    "SQ0226": Code(
        title="a loop or an aggregate cannot bind `{name}`: it is {what}",
        help="choose a name that nothing else has, such as `j`",
        why="Within it the name stands for 0, 1, 2, … or for one request after the other; a name that means "
        "something else already could be misread.",
    ),
    "SQ0227": Code(
        title="no {kind} can be called `{name}`: every session has an attribute of that name",
        help="choose another name",
        why="`serial`, `turn_no`, `cached` and the like are attributes that every session has; one word has "
        "one meaning.",
    ),
    "SQ0228": Code(
        title="no {kind} can be called `{name}`: it is {other} already",
        help="rename one of the two: all declarations share one name space",
        why="A gauge, a stage and an attribute are all read by their bare names, so that one name cannot be "
        "two of them.",
    ),
    "SQ0229": Code(
        title="`{name}` is {what} and also an attribute that a session sets",
        help="rename one of the two",
        why="Both would be read by the same bare name.",
    ),
    # ------------------------------------------------------------ families
    "SQ0230": Code(
        title="`{name}` is a family of {size}: it needs an index",
        help="name a member, `{name}[0]`",
        why="Its members have separate queues and states, and the bare name would not say which one is "
        "meant.",
    ),
    "SQ0231": Code(
        title="there is no member {index} in `{name}`, which has {members}",
        help="an index is a whole number from 0 up, below the number of members",
        why="A family has a fixed number of members, which the declaration says.",
    ),
    "SQ0232": Code(
        title="`{name}` is not a family: an index means nothing here",
        help="write `{name}`",
        why="Only `stage NAME[n]`, `pool NAME[n]`, `engine NAME[n]` and `queue NAME[n]` make families.",
    ),
    "SQ0233": Code(
        title="there is no definition `{name}` to use here",
        help="a statement is a word of the language or a definition with braces of statements",
        why="A statement that begins with a name and a `(` uses a definition made of statements.",
    ),
    "SQ0234": Code(
        title="`{name}` is not a role of a queue",
        help="the roles are gateway, prefill, decode, link and l2",
        why="A role says which entries a queue has and who calls them.",
    ),
    "SQ0236": Code(
        title="`{name}` is a family of queues: a call needs the index of a member",
        help="name a member, `{name}[0]`",
        why="Each member of the family has its own stage and memory; the call says which one works.",
    ),
    "SQ0237": Code(
        title='"std/kvt" has no relation `{name}`',
        help="the relations are kvt.nixl_pull and kvt.nixl_push",
        why="A relation says how the reader of a request's memory gets it from the source.",
    ),
    # ------------------------------------------------------------ devices and engines
    "SQ0240": Code(
        title="capacity `{name}` of device `{device}` cannot be a family of its own",
        help="a device family, `device {device}[N]`, gives every member the capacity",
        why="Capacities of a device are what one device has. Several devices are a family of devices.",
    ),
    "SQ0241": Code(
        title="capacity `{name}` cannot be a family: engine `{engine}` is one already",
        help="leave out the size, every member of `{engine}` has its own `{name}`",
        why="The capacity is a family already, with one member for each engine.",
    ),
    "SQ0242": Code(
        title="device `{device}` already runs engine `{engine}`",
        help="declare a second device for this engine",
        why="A device's time is the time of its one engine's iterations.",
    ),
    "SQ0243": Code(
        title="engine `{engine}` has {members}, its device `{device}` has {others}",
        help="give both the same size: member i of the engine runs on member i of the device",
        why="Each engine of the family has a device of its own.",
    ),
    "SQ0244": Code(
        title="engine `{engine}` is a family and cannot have the register `{name}`",
        help="keep registers in an engine that is not a family",
        why="A register is read by its bare name in gauges and claims, which would not say which engine is "
        "meant.",
    ),
    "SQ0245": Code(
        title="engine `{engine}` has no `tokens cap`",
        help="say how many tokens one iteration computes: `tokens cap 512;`, or `tokens cap inf;`",
        why="The budget decides how prompts are cut and who shares an iteration. There is no value that "
        "would suit every engine.",
    ),
    "SQ0246": Code(
        title="engine `{engine}` has no `schedule`",
        help="say what an iteration does: `schedule {{ advance running; }}`",
        why="Who gets tokens first is what policies differ in. There is no default that would go without "
        "saying.",
    ),
    "SQ0247": Code(
        title="engine `{engine}` has no `execute`",
        help="say how long an iteration lasts: `execute (1 + batch.tokens);`",
        why="The duration of an iteration, given its batch, is the model of the hardware.",
    ),
    "SQ0248": Code(
        title="`{clause}` is given twice",
        help="keep one of them",
        why="Of two values only one could count.",
    ),
    "SQ0249": Code(
        title="capacity `{name}` of {kind} `{owner}` is not declared as a pool",
        help="declare `pool {name} on {owner} {{ }}`, or leave the capacity out: nothing could hold it",
        why="A capacity limits something only if sessions hold it, and they hold pools.",
    ),
    # ------------------------------------------------------------ use, args.number
    "SQ0250": Code(
        title='`use "{path}"` names nothing that can be used',
        help='a program uses "std/args", "std/kvt" or a file of definitions, `use "NAME.sq";`',
        why="What a program takes from outside has to be found. Definitions of your own are kept in files, "
        "see `use` in the language.",
    ),
    "SQ0251": Code(
        title="an input cannot be declared here",
        help='`args.number` stands in a `let` inside `fn main()`, below `use "std/args";`',
        why="Inputs are part of the deployment that `main` describes, and `use` shows at the top that there "
        "are some.",
    ),
    "SQ0252": Code(
        title="`{external}` cannot be the outside name of an input",
        help="the name in quotes is letters, digits and `_`, a letter first",
        why="It is written on a command line, as `--set NAME=VALUE`.",
    ),
    "SQ0253": Code(
        title="the input `{external}` is declared twice",
        help="declare it once and read its `let` where it is needed",
        why="One value from outside would have two defaults.",
    ),
    "SQ0254": Code(
        title="the program has no input `{name}`",
        help='an input is declared by `let x = args.number("{name}", 1);`',
        why="A misspelt input would otherwise change nothing, silently.",
        example="serq check example.sq --set buget=256",
    ),
    "SQ0255": Code(
        title="`{name}` is a constant of the program, not an input",
        help='declare it as one: `let {name} = args.number("{name}", …);`',
        why="A program says which of its numbers may be changed from outside.",
        example="serq check example.sq --set budget=256",
    ),
    "SQ0256": Code(
        title="the inputs given change the size of `{name}` from {before} to {after}",
        help="change the program instead: which members there are is part of it",
        why="Gauges, claims and indices name the members of a family. A program with other members is "
        "another program.",
        example="serq check example.sq --set workers=4",
    ),
    # ------------------------------------------------------------ pools
    "SQ0257": Code(
        title="`{name}` is {what}, not a number",
        help="read one of its numbers, `{name}[0]`",
        why="A list or an array has many numbers, and an expression computes with one.",
    ),
    "SQ0258": Code(
        title="`{name}` is no list here",
        help="declare one above, `let lens = [5, 1, 1];`; an array of registers is `state load[4] = 0;`",
        why="Only lists and arrays of registers have numbers to pick from, only lists have a length.",
    ),
    "SQ0259": Code(
        title="the list `{name}` is given no number",
        help="give at least one: `--set {name}=4,4,1`",
        why="A list without numbers has none that could be read.",
        example="serq run example.sq --horizon 1000 --set lens=[]",
    ),
    # ------------------------------------------------------------ requests
    "SQ0264": Code(
        title="a request has no `{name}` here",
        help="read a field such as `progress`, an attribute that sessions set, or a `tag` of the engine",
        why="A name after the dot is looked up among the fields that requests of this set have, the session "
        "attributes and the engine's tags.",
    ),
    "SQ0265": Code(
        title="`{name}` is a request, not a number",
        help="read what it has, such as `{name}.progress` or an attribute of its session",
        why="An expression computes with numbers.",
    ),
    "SQ0266": Code(
        title="no loop around calls a request `{name}`",
        help="stand it in `for {name} in waiting {{ … }}`, or in `for {name} in running {{ … }}`",
        why="One request is named by the loop that goes over it.",
    ),
    "SQ0267": Code(
        title="`{name}` is no tag of `{engine}`",
        help="declare it in the engine, `tag {name} = 0;`",
        why="Of what a request has, its tags alone are the schedule's to set.",
    ),
    "SQ0260": Code(
        title="{kind} `{name}` is on `{owner}`, which is declared below it",
        help="move it below the declaration of `{owner}`",
        why="An engine takes its time resources, and a pool its capacity, from what stands above it.",
    ),
    "SQ0261": Code(
        title="engine `{engine}` does not run on `{device}`",
        help="write `on {engine}.{runs_on}`",
        why="A pool `on ENGINE.DEVICE` is the memory of that engine, on the device it runs on.",
    ),
    "SQ0262": Code(
        title="`{owner}` has no capacity `{name}`",
        help="give it one, `{name} cap …;` in `{owner}`, or declare the pool alone",
        why="A pool `on` something takes its capacity from there.",
    ),
    "SQ0263": Code(
        title="pool `{name}` takes its capacity from `{owner}` and cannot say `cap`",
        help="write the capacity in `{owner}`",
        why="The capacity would be written in two places.",
    ),
    # ------------------------------------------------------------ one of each
    "SQ0270": Code(
        title="a program has one server",
        help="merge the two",
        why="There is one description of what is done for a request. Different treatment is a `branch` in "
        "it.",
    ),
    "SQ0271": Code(
        title="a program has one workload",
        help="merge the two",
        why="Sessions come from one stream. Different kinds of requests are made in its `init`.",
    ),
    "SQ0272": Code(
        title="the program has a workload and no server",
        help="say what is done for a turn: `server {{ … }}`",
        why="Sessions would come, and nothing would be done for them.",
    ),
    "SQ0273": Code(
        title="the program has a server and no workload",
        help="say who comes: `workload {{ arrive poisson(1); }}`",
        why="Nobody would ever come.",
    ),
    # ------------------------------------------------------------ programs from elsewhere
    "SQ0280": Code(
        title="the program does not declare the {kind} `{name}` that it names",
        help="a program written by `serq ir` is whole: write it again from its text",
        why="Reports and messages are about declared things, so a name without a declaration cannot be run.",
        example="serq check example.json",
    ),
    "SQ0281": Code(
        title="serq knows no {kind} `{word}`",
        help="a program written by `serq ir` is whole: write it again from its text",
        why="Such a file may have been edited, or written by another version of serq.",
        example="serq check example.json",
    ),
    # ------------------------------------------------------------ engines with a request of their own
    "SQ0291": Code(
        title="`taking` in engine `{engine}`, which has no `request`",
        help="declare `request (…) {{ … }}` in the engine, or write a `hold` in the server",
        why="`taking` says what a request of the engine holds while it runs, in the request's parameters.",
    ),
    "SQ0292": Code(
        title="the request of `{engine}` grows `{pool}`, which its `taking` does not take",
        help="take it: `admit waiting taking {pool} (…)`",
        why="A run grows what its session holds, and a request holds what `taking` takes.",
    ),
    "SQ0293": Code(
        title="the `admit waiting` statements of `{engine}` do not have the same `taking`",
        help="write the same `taking` on each",
        why="A request says once what it holds: which statement will admit it is not known while it waits.",
    ),
    "SQ0294": Code(
        title="the `{clause}` of `{engine}` reads `{name}`, which it does not see",
        help="make it a parameter of the request, and pass it in the call",
        why="A request is one for all sessions that call it: it sees its parameters, constants and live "
        "state, and its steps the clock and hidden attributes.",
    ),
    "SQ0295": Code(
        title="`{name}` is no capacity of engine `{engine}` or of its device",
        help="`taking` takes the engine's own pools; hold others around the call",
        why="`admit waiting` admits to what the engine and its device have.",
    ),
    "SQ0296": Code(
        title="engine `{engine}` has no `request` that a call could run",
        help="write `run {engine} prefill (…);` and `run {engine} decode (…);`, or declare a `request` in it",
        why="A call of an engine runs the request that the engine states.",
    ),
    "SQ0297": Code(
        title="engine `{engine}` is called outside the server",
        help="call it in the `server`, which serves a turn",
        why="What a client does is turns; how one is served is the server's business.",
    ),
    "SQ0298": Code(
        title="the argument for `{parameter}` of `{engine}` draws",
        help="draw once, `set x = …;`, and pass `x`",
        why="A parameter may be read at every try of an admission, and each reading would draw anew.",
    ),
    "SQ0299": Code(
        title="a `request` in the engine family `{engine}`",
        help="declare single engines, or write `hold` and `run` with an index in the server",
        why="A call names no member, so that it could not say which one runs the request.",
    ),
    # ------------------------------------------------------------ doubts
    "SQ0290": Code(
        title="constant `{name}` is declared again: expressions read this value everywhere",
        help="keep one of them, or give them different names",
        why="The last `let` of a name counts wherever it is read during the run, above it too. Sizes and "
        "caps between the two read the first one.",
        severity="doubt",
    ),
}
