"""SQ01xx: this text is not a program."""

from __future__ import annotations

from serq.codes.entry import Code

CODES: dict[str, Code] = {
    # ---------------------------------------------------------------- characters
    "SQ0101": Code(
        title="{read} is not a character of the language",
        why="Outside comments and strings a program is written with letters, digits, `_` and the marks `+ - "
        "* / ^ < <= > >= == != && || ! ? : ~ = , ; . ( ) { } [ ]`.",
    ),
    "SQ0102": Code(
        title="this comment is never closed",
        help="end it with `*/`",
        why="A comment that begins with `/*` runs to the first `*/`; comments do not nest.",
    ),
    "SQ0103": Code(
        title="this string does not end on its line",
        help='close it with `"`',
        why="A string stands on one line and has no escapes.",
    ),
    "SQ0104": Code(
        title="`{read}` is not a number",
        help="a number has at most one point: `1.2`",
        why="A number is digits, an optional fraction and an optional exponent, such as 7, 2.5, .5 or 1e-3.",
    ),
    "SQ0105": Code(
        title="the number `{number}` runs into `{read}`",
        help="put an operator between them, or write the number in decimal digits",
        why="There are no hexadecimal numbers and no units after a number.",
    ),
    "SQ0107": Code(
        title="the program is {size} characters long, and at most {most} are read",
        help="move data out of the program: a trace file for requests, an input (`args.number`) for numbers",
        why="A program is read as a whole; the limit keeps the time and memory for that small.",
    ),
    "SQ0108": Code(
        title="brackets are nested more than {most} deep here",
        help="name an inner part with `let` or `set`, or make it a definition",
        why="A limit on nesting keeps every later step of serq from running out of stack.",
    ),
    "SQ0109": Code(
        title="this expression has operators nested more than {most} deep",
        help="split it: name a part of it with `let` or `set`, or use an aggregate such as `sum j in n (…)`",
        why="Every operator of a long sum stands inside the next one. A limit keeps every later step of "
        "serq from running out of stack.",
    ),
    # ---------------------------------------------------------------- marks and brackets
    "SQ0110": Code(
        title="`;` is missing before {read}",
        help="end the {thing} with `;`",
        why="Line ends mean nothing in a program: a `;` says where a statement or a declaration is over.",
    ),
    "SQ0111": Code(
        title="`{closing}` is missing before {read}",
        why="The note shows the bracket that is open. What follows would become part of it.",
    ),
    "SQ0112": Code(
        title="the block is not closed before {read}",
        help="close it with `}}`",
        why="Every `{` needs its `}`. The note shows where the block begins.",
    ),
    "SQ0113": Code(
        title="comparisons do not chain",
        help="compare twice: `a {operator} b && b {read} c`",
        why="`1 < 2 < 3` would compare the truth of the first test with a number.",
    ),
    "SQ0114": Code(
        title="this conditional has no `:` part",
        help="write `test ? value : other value`",
        why="An expression has a value whichever way its test goes.",
    ),
    "SQ0115": Code(
        title="there is no unary `+`",
        help="leave the `+` out",
        why="A `+` stands between two values. A number is positive unless a `-` precedes it.",
    ),
    "SQ0116": Code(
        title="`{word}` takes its {what} in parentheses",
        why="The parentheses show where the expression ends and the rest of the statement goes on.",
    ),
    "SQ0117": Code(
        title="after `else` comes a block, not {read}",
        help="write `else {{ {example} }}`",
        why="Braces are required everywhere, so that an `else` can belong to one `branch` only. Choices "
        "among several are nested.",
    ),
    "SQ0118": Code(
        title="a block `{{ … }}` belongs here, not {read}",
        help="put braces around what `{word}` governs",
        why="Braces are required everywhere, also around a single statement.",
    ),
    "SQ0119": Code(
        title="an expression is not a statement",
        why="A value that nothing uses changes nothing. It is nearly always a forgotten `set` or `observe`.",
    ),
    "SQ0120": Code(
        title="no {thing} begins with `{read}`",
        why="The first word tells what a statement or a declaration is. Words of other languages have their "
        "own cure here.",
    ),
    "SQ0121": Code(
        title="`{read}` cannot stand in {room}",
        why="Every kind of block has its own statements. The cure names the block in which this one has a "
        "meaning.",
    ),
    "SQ0122": Code(
        title="this `;` ends nothing",
        help="leave it out",
        why="Only a `hold` may have a `;` after its block.",
    ),
    "SQ0123": Code(
        title="this `{read}` closes nothing",
        help="remove it, or put back what opens it",
        why="One bracket too many often means that the one before it stands too early.",
    ),
    "SQ0124": Code(
        title="`{read}` is out of order in this `hold`",
        help="the order is: units and `reserve`, `reuse`, `at admission`, the block, `cache`, `lease`",
        why="The order is that in which the parts are read during a run: first when the hold is admitted, "
        "at last when it ends.",
    ),
    "SQ0125": Code(
        title="this schedule has no statement",
        help="an engine that serves what runs and admits what waits: `advance running; admit waiting;`",
        why="An iteration serves nobody unless the schedule says whom.",
    ),
    "SQ0126": Code(
        title="a schedule has no loop",
        help="a statement serves every run it speaks of: `advance running only (…)`, `admit waiting while "
        "(…)`",
        why="A schedule runs once in each iteration, each statement once.",
    ),
    "SQ0127": Code(
        title="a claim cannot begin with {read}",
        help="after `claim {name}:` comes `every iteration of E (…)`, `some iteration of E (…)` or `at end "
        "(…)`",
        why="A claim has to say when it is read: as iterations begin, or once when the run ends.",
    ),
    "SQ0128": Code(
        title="{read} is not a kind of stage",
        help="a stage is `fifo`, `fifo(c)`, `ps(c)` or `delay`",
        why="The kind says how jobs share the stage: in line, at once, or at a common capacity. What works "
        "in iterations on batches is an `engine`.",
    ),
    "SQ0129": Code(
        title="there are no `step` stages",
        help="a stage that works in iterations is an engine: `engine {name} on DEVICE {{ tokens cap …; "
        "schedule {{ … }} execute (…); }}`",
        why="What a batch contains and how long it takes is said by the schedule and the `execute` of an "
        "engine, which runs on a device.",
    ),
    "SQ0130": Code(
        title="after `~` comes the name of a distribution",
        help="for example `~exp(2)` or `~uniform(1, 3)`",
        why="`~` draws a random number, and the law has to be named.",
    ),
    "SQ0131": Code(
        title="a program has no settings: they are given when it is run",
        help="leave the block out and run with `--horizon`, `--warmup`, `--seed` or `--arrivals`",
        why="One program is run with many horizons and seeds. What is described and how it is measured are "
        "kept apart.",
    ),
    "SQ0132": Code(
        title="`main` takes no parameters",
        help="write `fn main() {{ … }}`; inputs are declared with `args.number`",
        why="`main` is where the deployment is declared; nobody calls it with values.",
    ),
    "SQ0133": Code(
        title="the body of a definition stands in braces",
        help="write `def {name} {{ … }}`",
        why="With braces a definition can hold an expression or statements, and shows where it ends.",
    ),
    "SQ0134": Code(
        title="a transfer says from where to where",
        help="write `transfer (tokens) from P to Q (tokens);`",
        why="A transfer moves a request's memory: it loads the tokens into one pool and releases what was "
        "held in the other.",
    ),
    "SQ0135": Code(
        title="a name belongs here, not {read}",
        why="A declaration is known by its name. A name begins with a letter or `_`; digits may follow.",
    ),
    "SQ0136": Code(
        title="a value belongs here, not {read}",
        why="An operator, an `=` or a parenthesis is waiting for a value: a number, a name, a call or an "
        "expression in parentheses.",
    ),
    "SQ0137": Code(
        title="a quoted string belongs here, not {read}",
        why="Files, libraries and the outside names of inputs are texts, not names of the program.",
    ),
    "SQ0138": Code(
        title="`=` gives a name its value; it does not compare",
        help="write `==`",
        why="One sign means one thing everywhere, so a forgotten `=` is found and not obeyed.",
    ),
    "SQ0139": Code(
        title="`==` compares; a value is given with `=`",
        help="write `=`",
        why="One sign means one thing everywhere: `set`, `let`, `observe` and `gauge` give values with `=`.",
    ),
    "SQ0140": Code(
        title="`{read}` is not an operator",
        help="write `{instead}`",
        why="Expressions have the operators `+ - * / ^`, comparisons, `&& || !` and `? :`. A remainder, a "
        "power or a logical word of another language has its own cure here.",
    ),
    "SQ0141": Code(
        title="a value follows another without an operator",
        why="There is no silent multiplication, and no value is dropped.",
    ),
    "SQ0142": Code(
        title="a pool does not say who admits",
        help="say it where the pool belongs: `pool {name} on ENGINE {{ … }}`",
        why="A pool on an engine, or on the engine's device, is admitted by that engine in `admit waiting`; "
        "any other admits as soon as a hold fits.",
    ),
    "SQ0143": Code(
        title="`{read}` belongs to no `branch`",
        help="`else` follows the `}}` of a `branch` directly",
        why="A `while` or `loop` has one block only. What follows a loop needs no `else`.",
    ),
    "SQ0144": Code(
        title="{read} does not belong here",
        help="leave it out, or put an operator before it",
        why="Up to here the text could be read, and here nothing can go on. Often an operator is missing, "
        "or a name has one `.` or `[` too many.",
    ),
    "SQ0145": Code(
        title="the expression ends before {read}",
        help="give one expression, such as `2 * n`",
        why="An input or a definition is replaced by exactly one expression.",
        example="serq check example.sq --set budget=256,512",
    ),
    "SQ0146": Code(
        title="`{read}` belongs to no `hold`",
        help="`reuse` stands before the block of a `hold`, `cache` and `lease` follow it directly",
        why="These clauses say what a hold takes from, and leaves in, the prefix cache. A `;` after the "
        "block ends the hold.",
    ),
    "SQ0147": Code(
        title="{expected} belongs here, not {read}",
        why="At this place the language has only these words.",
    ),
    # ---------------------------------------------------------------- the program as a whole
    "SQ0160": Code(
        title="there is no `fn main()`",
        help="put the deployment into `fn main() {{ … }}`; `use`, `def` and `let` may stand before it",
        why="`main` holds the deployment; constants, definitions and imports alone describe nothing.",
    ),
    "SQ0161": Code(
        title="a program has one `fn main()`",
        help="move what it declares into the first one",
        why="One program describes one deployment.",
    ),
    "SQ0162": Code(
        title="nothing may stand after `fn main() {{ … }}`",
        help="move it into the braces of `main`, or before it",
        why="A reader who has reached the end of `main` has seen the whole program.",
    ),
    "SQ0163": Code(
        title="only `use`, `def` and `let` may stand before `fn main()`",
        help="move it into `fn main() {{ … }}`",
        why="What stands before `main` can only be used by it. Everything that takes part in a run is "
        "declared inside.",
    ),
    "SQ0164": Code(
        title="`fn` declares only `main`",
        help="write `fn main()`, or `def {read}(…)` for a definition",
        why="There are no functions that are called while a program runs. A `def` gives an expression or "
        "some statements a name, and is written out where it is used.",
    ),
}
