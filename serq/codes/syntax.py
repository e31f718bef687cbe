"""SQ01xx: this text is not a program."""

from __future__ import annotations

from serq.codes.entry import Code

CODES: dict[str, Code] = {
    # ---------------------------------------------------------------- characters
    "SQ0101": Code(
        "{read} is not a character of the language",
        why="Outside comments and strings a program is written with letters, digits, `_` and the marks "
        "+ - * / ^ < <= > >= == != && || ! ? : ~ = , ; . ( ) { } [ ].",
    ),
    "SQ0102": Code(
        "this comment is never closed",
        "end it with `*/`",
        "A comment that begins with `/*` runs to the first `*/`; comments do not nest.",
    ),
    "SQ0103": Code(
        "this string does not end on its line",
        'close it with `"`',
        "A string stands on one line and has no escapes.",
    ),
    "SQ0104": Code(
        "`{read}` is not a number",
        "a number has at most one point: `1.2`",
        "A number is digits, an optional fraction and an optional exponent, such as 7, 2.5, .5 or 1e-3.",
    ),
    "SQ0105": Code(
        "the number `{number}` runs into `{read}`",
        "put an operator between them, or write the number in decimal digits",
        "There are no hexadecimal numbers and no units after a number.",
    ),
    "SQ0107": Code(
        "the program is {size} characters long, and at most {most} are read",
        "move data out of the program: a trace file for requests, an input (`args.number`) for numbers",
        "A program is read as a whole; the limit keeps the time and memory for that small.",
    ),
    "SQ0108": Code(
        "brackets are nested more than {most} deep here",
        "name an inner part with `let` or `set`, or make it a definition",
    ),
    "SQ0109": Code(
        "this expression has operators nested more than {most} deep",
        "split it: name a part of it with `let` or `set`, or use an aggregate such as `sum j in n (…)`",
    ),
    # ---------------------------------------------------------------- marks and brackets
    "SQ0110": Code("`;` is missing before {read}", "end the {thing} with `;`"),
    "SQ0111": Code("`{closing}` is missing before {read}"),
    "SQ0112": Code(
        "the block is not closed before {read}",
        "close it with `}}`",
        "Every `{{` needs its `}}`. The note shows where the block begins.",
    ),
    "SQ0113": Code(
        "comparisons do not chain",
        "compare twice: `a {operator} b && b {read} c`",
        "`1 < 2 < 3` would compare the truth of the first test with a number.",
    ),
    "SQ0114": Code("this conditional has no `:` part", "write `test ? value : other value`"),
    "SQ0115": Code("there is no unary `+`", "leave the `+` out"),
    "SQ0116": Code("`{word}` takes its {what} in parentheses"),
    "SQ0117": Code("after `else` comes a block, not {read}", "write `else {{ {example} }}`"),
    "SQ0118": Code("a block `{{ … }}` belongs before {read}", "put braces around what `{word}` governs"),
    "SQ0119": Code("an expression is not a statement"),
    "SQ0120": Code("`{read}` begins no {thing}"),
    "SQ0121": Code("`{read}` does not stand in {room}"),
    "SQ0122": Code(
        "this `;` ends nothing",
        "leave it out",
        "Only a `hold` may have a `;` after its block.",
    ),
    "SQ0123": Code("this `{read}` closes nothing", "remove it, or put back what opens it"),
    "SQ0124": Code(
        "`{read}` is out of order in this `hold`",
        "the order is: units and `reserve`, `reuse`, `at admission`, the block, `cache`, `lease`",
    ),
    "SQ0125": Code(
        "this schedule has no statement",
        "an engine that serves what runs and admits what waits: `advance running; admit waiting;`",
        "An iteration serves nobody unless the schedule says whom.",
    ),
    "SQ0126": Code(
        "a schedule has no loop",
        "a statement serves every run it speaks of: `advance running only (…)`, `admit waiting while (…)`",
        "A schedule runs once in each iteration, each statement once.",
    ),
    "SQ0127": Code(
        "a claim does not begin with {read}",
        "after `claim {name}:` comes `every iteration of E (…)`, `some iteration of E (…)` or `at end (…)`",
    ),
    "SQ0128": Code("{read} is not a kind of stage", "a stage is `fifo`, `fifo(c)`, `ps(c)` or `delay`"),
    "SQ0129": Code(
        "there are no `step` stages",
        "a stage that works in iterations is an engine: "
        "`engine {name} on DEVICE {{ tokens cap …; schedule {{ … }} execute (…); }}`",
    ),
    "SQ0130": Code("after `~` comes the name of a distribution", "for example `~exp(2)` or `~uniform(1, 3)`"),
    "SQ0131": Code(
        "a program has no settings: they are given when it is run",
        "leave the block out and run with `--horizon`, `--warmup`, `--seed` or `--arrivals`",
    ),
    "SQ0132": Code(
        "`main` takes no parameters", "write `fn main() {{ … }}`; inputs are declared with `args.number`"
    ),
    "SQ0133": Code("the body of a definition stands in braces", "write `def {name} {{ … }}`"),
    "SQ0134": Code(
        "a transfer says from where to where",
        "write `transfer (tokens) from P to Q (tokens);`",
    ),
    "SQ0135": Code("a name belongs here, not {read}"),
    "SQ0136": Code("a value belongs here, not {read}"),
    "SQ0137": Code("a quoted string belongs here, not {read}"),
    "SQ0138": Code("`=` gives a name its value; it does not compare", "write `==`"),
    "SQ0139": Code("`==` compares; a value is given with `=`", "write `=`"),
    "SQ0140": Code("`{read}` is not an operator", "write `{instead}`"),
    "SQ0141": Code("a value follows another without an operator"),
    "SQ0142": Code(
        "a pool does not say who admits", "say it where the pool belongs: `pool {name} on ENGINE {{ … }}`"
    ),
    "SQ0143": Code("`{read}` belongs to no `branch`", "`else` follows the `}}` of a `branch` directly"),
    "SQ0144": Code("{read} does not belong here", "leave it out, or put an operator before it"),
    "SQ0145": Code(
        "the expression ends before {read}",
        "give one expression, such as `2 * n`",
        example='serq check example.sq --set budget=256,512',
    ),
    "SQ0146": Code(
        "`{read}` belongs to no `hold`",
        "`reuse` stands before the block of a `hold`, `cache` and `lease` follow it directly",
    ),
    "SQ0147": Code("{expected} belongs here, not {read}"),
    # ---------------------------------------------------------------- the program as a whole
    "SQ0160": Code(
        "there is no `fn main()`",
        "put the deployment into `fn main() {{ … }}`; `use`, `def` and `let` may stand before it",
    ),
    "SQ0161": Code("a program has one `fn main()`", "move what it declares into the first one"),
    "SQ0162": Code(
        "nothing stands after `fn main() {{ … }}`", "move it into the braces of `main`, or before it"
    ),
    "SQ0163": Code(
        "only `use`, `def` and `let` stand before `fn main()`", "move it into `fn main() {{ … }}`"
    ),
    "SQ0164": Code("`fn` declares only `main`", "write `fn main()`, or `def {read}(…)` for a definition"),
}
