"""SQ02xx: names that are unknown, missing, declared twice or refused."""

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
    ),
    "SQ0203": Code(
        title="there is no {kind} `{name}`",
        help="declare it in `fn main()`",
    ),
    "SQ0204": Code(
        title="`{name}` is no constant known here",
        help="a constant is computed before the run, from numbers and the `let`s above it",
        why="Sizes, caps and `let`s are needed before anything runs, in the order of their lines.",
    ),
    "SQ0205": Code(
        title="there is no distribution `{name}`",
        help="the distributions are exp, det, uniform, erlang, h2 and bernoulli",
    ),
    "SQ0206": Code(
        title="`{name}` has no `{member}`",
        help="after `{name}.` stands one of {members}",
    ),
    "SQ0207": Code(
        title="`{owner}` has no `{member}` to read",
        help="a dot follows `running`, `waiting`, `batch`, a cost record, or a queue with a `mark` or `set`",
    ),
    "SQ0208": Code(
        title="nothing records an observation `{name}`",
        help="`observe {name} = …;` in a session or the server records one",
    ),
    "SQ0209": Code(
        title="engine `{engine}` has no register `{name}` to set",
        help="declare `state {name} = 0;` in the engine; a schedule cannot set a session's attribute",
    ),
    # ------------------------------------------------------------ declared twice, definitions
    "SQ0210": Code(
        title="the {kind} `{name}` is declared twice",
        help="leave one of them out, or rename it",
    ),
    "SQ0211": Code(
        title="two parameters are named `{name}`",
        help="give each parameter a name of its own",
    ),
    "SQ0212": Code(
        title="definition `{name}` uses itself",
        help="write a `while` in the server, or spell the steps out",
        why="A definition is written out where it is used; one that reaches itself would never end.",
    ),
    "SQ0213": Code(
        title="definition `{name}` stands below `{by}`, which uses it",
        help="move `def {name}` above `def {by}`",
    ),
    "SQ0214": Code(
        title="the program has no definition `{name}` to replace",
        help="only a `def` whose body is an expression can be replaced from outside",
        example='serq check example.sq --def forwrad="10 + 0.04 * n"',
    ),
    "SQ0215": Code(
        title="definition `{name}` is made of statements, an expression cannot replace it",
        example="serq check example.sq --def answer=10",
    ),
    "SQ0216": Code(
        title="the body assigns or binds its parameter `{name}`",
        help="a parameter stands for the argument's expression: use another name for what is assigned",
    ),
    "SQ0217": Code(
        title="`{name}` is made of statements, but a value is needed here",
        help="use it as a statement, `{name}(…);`",
    ),
    "SQ0218": Code(
        title="`{name}` is an expression, but a statement is needed here",
        help="keep its value, for example `set x = {name}(…);`",
    ),
    "SQ0219": Code(
        title="definition `{name}` is used above its line",
        help="move the `def` above its first use",
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
    ),
    "SQ0226": Code(
        title="an aggregate cannot count with `{name}`: it is {what}",
        help="choose a name that nothing else has, such as `j`",
    ),
    "SQ0227": Code(
        title="no {kind} can be called `{name}`: every session has an attribute of that name",
        help="choose another name",
    ),
    "SQ0228": Code(
        title="no {kind} can be called `{name}`: it is {other} already",
        help="rename one of the two: all declarations share one name space",
    ),
    "SQ0229": Code(
        title="`{name}` is {what} and also an attribute that a session sets",
        help="rename one of the two",
    ),
    # ------------------------------------------------------------ families
    "SQ0230": Code(
        title="`{name}` is a family of {size}: it needs an index",
        help="name a member, `{name}[0]`",
    ),
    "SQ0231": Code(
        title="there is no member {index} in `{name}`, which has {members}",
    ),
    "SQ0232": Code(
        title="`{name}` is not a family, an index means nothing",
        help="write `{name}`",
    ),
    "SQ0233": Code(
        title="there is no definition `{name}` to use here",
        help="a statement is a word of the language or a definition with braces of statements",
    ),
    "SQ0234": Code(
        title="a queue plays no role `{name}`",
        help="the roles are gateway, prefill, decode, link and l2",
    ),
    "SQ0236": Code(
        title="`{name}` is a family of queues: a call needs the index of a member",
        help="name a member, `{name}[0]`",
    ),
    "SQ0237": Code(
        title='"std/kvt" has no relation `{name}`',
        help="the relations are kvt.nixl_pull and kvt.nixl_push",
    ),
    # ------------------------------------------------------------ devices and engines
    "SQ0240": Code(
        title="capacity `{name}` of device `{device}` cannot be a family of its own",
        help="a device family, `device {device}[N]`, gives every member the capacity",
    ),
    "SQ0241": Code(
        title="capacity `{name}` cannot be a family: engine `{engine}` is one already",
        help="leave out the size, every member of `{engine}` has its own `{name}`",
    ),
    "SQ0242": Code(
        title="device `{device}` already runs engine `{engine}`",
        help="declare a second device for this engine",
        why="A device's time is the time of its one engine's iterations.",
    ),
    "SQ0243": Code(
        title="engine `{engine}` has {members}, its device `{device}` has {others}",
        help="give both the same size: member i of the engine runs on member i of the device",
    ),
    "SQ0244": Code(
        title="register `{name}` in the engine family `{engine}`",
        help="registers are kept by single engines only",
    ),
    "SQ0245": Code(
        title="engine `{engine}` has no `tokens cap`",
        help="say how many tokens one iteration computes: `tokens cap 512;`, or `tokens cap inf;`",
    ),
    "SQ0246": Code(
        title="engine `{engine}` has no `schedule`",
        help="say what an iteration does: `schedule {{ advance running; }}`",
    ),
    "SQ0247": Code(
        title="engine `{engine}` has no `execute`",
        help="say how long an iteration lasts: `execute (1 + batch.tokens);`",
    ),
    "SQ0248": Code(
        title="`{clause}` is given twice",
        help="keep one of them",
    ),
    "SQ0249": Code(
        title="capacity `{name}` of {kind} `{owner}` is not declared as a pool",
        help="declare `pool {name} on {owner} {{ }}`, or leave the capacity out: nothing could hold it",
    ),
    # ------------------------------------------------------------ use, args.number
    "SQ0250": Code(
        title='`use "{path}"` names nothing that can be used',
        help='a program uses "std/args", "std/kvt" or a file of definitions, `use "NAME.sq";`',
    ),
    "SQ0251": Code(
        title="an input cannot be declared here",
        help='`args.number` stands in a `let` inside `fn main()`, below `use "std/args";`',
    ),
    "SQ0252": Code(
        title="an input cannot be called `{external}` outside",
        help="the name in quotes is letters, digits and `_`, a letter first",
    ),
    "SQ0253": Code(
        title="the input `{external}` is declared twice",
        help="declare it once and read its `let` where it is needed",
    ),
    "SQ0254": Code(
        title="the program has no input `{name}`",
        help='an input is declared by `let x = args.number("{name}", 1);`',
        example="serq check example.sq --set buget=256",
    ),
    "SQ0255": Code(
        title="`{name}` is a constant of the program, not an input",
        help='declare it as one: `let {name} = args.number("{name}", …);`',
        example="serq check example.sq --set budget=256",
    ),
    "SQ0256": Code(
        title="the inputs given change the size of `{name}` from {before} to {after}",
        help="change the program instead: which members there are is part of it",
        example="serq check example.sq --set workers=4",
    ),
    # ------------------------------------------------------------ pools
    "SQ0260": Code(
        title="{kind} `{name}` stands above `{owner}`, which it is on",
        help="move it below the declaration of `{owner}`",
    ),
    "SQ0261": Code(
        title="engine `{engine}` does not run on `{device}`",
        help="write `on {engine}.{runs_on}`",
    ),
    "SQ0262": Code(
        title="`{owner}` has no capacity `{name}`",
        help="give it one, `{name} cap …;` in `{owner}`, or declare the pool alone",
    ),
    "SQ0263": Code(
        title="pool `{name}` takes its capacity from `{owner}` and cannot say `cap`",
        help="write the capacity in `{owner}`",
    ),
    # ------------------------------------------------------------ one of each
    "SQ0270": Code(title="a program has one server", help="merge the two"),
    "SQ0271": Code(title="a program has one workload", help="merge the two"),
    "SQ0272": Code(
        title="the program has a workload and no server",
        help="say what is done for a turn: `server {{ … }}`",
    ),
    "SQ0273": Code(
        title="the program has a server and no workload",
        help="say who comes: `workload {{ arrive poisson(1); }}`",
    ),
    # ------------------------------------------------------------ programs from elsewhere
    "SQ0280": Code(
        title="the program does not declare the {kind} `{name}` that it names",
        help="a program written by `serq ir` is whole: write it again from its text",
        example="serq check example.json",
    ),
    "SQ0281": Code(
        title="`{word}` is no {kind} that serq knows",
        help="a program written by `serq ir` is whole: write it again from its text",
        example="serq check example.json",
    ),
    # ------------------------------------------------------------ doubts
    "SQ0290": Code(
        title="constant `{name}` is declared again: expressions read this value everywhere",
        severity="doubt",
    ),
}
