"""SQ09xx: files, settings, and constructs whose meaning is not built yet."""

from __future__ import annotations

from serq.codes.entry import Code

CODES: dict[str, Code] = {
    "SQ0901": Code(
        title="{construct} is not supported yet",
        help="leave it out to run the program; the rest of it has been checked",
        why="A construct without a meaning in the machine would make a report look better than it is.",
    ),
    # ------------------------------------------------------------ reading files
    "SQ0910": Code(
        title="there is no file `{path}`",
        help="look at the spelling, and at the folder in which the command runs",
        why="A path is taken relative to the folder in which the command runs.",
        example="serq check exmaple.sq",
    ),
    "SQ0911": Code(
        title="`{path}` is a folder",
        help="name a program in it, for example `{path}/NAME.sq`",
        why="A command works on programs, one at a time or several by name.",
        example="serq check .",
    ),
    "SQ0912": Code(
        title="`{path}` cannot be read: {reason}",
        help="look at the path and its permissions",
        why="The reason is what the operating system said.",
        example="serq check example.sq/part.sq",
    ),
    "SQ0913": Code(
        title="`{path}` is not UTF-8 text: byte {byte} cannot stand here",
        help="save the file as UTF-8",
        why="Names and comments may be in any alphabet; the bytes have to say which.",
        example="serq check example.txt",
    ),
    "SQ0914": Code(
        title="`{path}` is a binary file, not a program",
        help="give a program's text (`.sq`), or what `serq ir` wrote (`.json`)",
        why="A program is text. A file with NUL characters is something else.",
        example="serq check example.sq.gz",
    ),
    "SQ0915": Code(
        title="`{path}` is empty",
        help="the smallest program is `fn main() {{ }}`",
        why="An empty file is more often one that was never written than a program.",
    ),
    "SQ0916": Code(
        title="`{path}` is larger than {limit}, the most that is read",
        help="a program is a few pages of text; lists of numbers belong in a trace file",
        why="A program is read as a whole; the limit keeps the time and memory for that small.",
    ),
    # ------------------------------------------------------------ settings of a run
    "SQ0920": Code(
        title="the horizon is {value}",
        help="it is a finite time above 0, in the program's clock units",
        why="A run has to end, and statistics are averages over a time.",
        example="serq run example.sq --horizon inf",
    ),
    "SQ0921": Code(
        title="the warm-up is {value}",
        help="it is a finite time, at least 0, in the program's clock units",
        why="Statistics begin when the warm-up is over.",
        example="serq run example.sq --horizon 1000 --warmup -10",
    ),
    "SQ0922": Code(
        title="the warm-up of {warmup} leaves nothing to measure before the horizon of {horizon}",
        help="statistics cover the time from the warm-up to the horizon: make the horizon larger",
        why="There would be no time to average over.",
        example="serq run example.sq --horizon 1000 --warmup 1000",
    ),
    "SQ0923": Code(
        title="the seed is {value}",
        help="it is a whole number, at least 0",
        why="The seed selects the draws of a run, so that it can be had again.",
        example="serq run example.sq --horizon 1000 --seed -1",
    ),
    "SQ0924": Code(
        title="the number of arrivals is {value}",
        help="it is a whole number, at least 1",
        why="Such a run ends when that many sessions have come and gone.",
        example="serq run example.sq --horizon 1000 --arrivals 0",
    ),
    "SQ0925": Code(
        title="a number of arrivals was given, but `arrive {kind}` makes no stream of sessions to count",
        help="it goes with streams, as `arrive poisson(…)` and `arrive slotted(…)` are; leave it out here",
        why="A batch and a closed population say themselves how many sessions there are.",
        example="serq run example.sq --horizon 1000 --arrivals 20",
    ),
    "SQ0926": Code(
        title="inputs and definitions cannot be replaced in a program read from JSON",
        help="its constants are folded: set them when writing it, `serq ir FILE --set NAME=VALUE`",
        why="The file holds the program as it is run, with inputs and definitions already in their places.",
        example="serq check example.json --set budget=256",
    ),
    "SQ0927": Code(
        title="a trace was given, but the program has no `workload` whose sessions could replay it",
        help="leave the trace out, or declare a workload and a server",
        why="The turns of a trace are replayed by sessions.",
        example="serq run example.sq --horizon 1000 --trace turns.csv",
    ),
    "SQ0928": Code(
        title="the number of seeds is {value}",
        help="it is a whole number, from 1 to {most}",
        why="Each seed is a run of its own; two or more give intervals.",
        example="serq run example.sq --horizon 1000 --seeds 0",
    ),
    "SQ0929": Code(
        title="the number of jobs is {value}",
        help="it is a whole number, at least 1",
        why="Jobs are processes that run seeds side by side; the figures are the same for any number.",
        example="serq run example.sq --horizon 1000 --seeds 4 --jobs 0",
    ),
    "SQ0931": Code(
        title="the run does not fit into memory",
        help="shorten the horizon, or keep fewer samples: `--reservoir N` (`reservoir=` in Python)",
        why="Every sample of an observation or a client time takes 24 bytes; a reservoir holds some of them.",
        example="serq run example.sq --horizon 1e15",
    ),
    "SQ0934": Code(
        title="the number of samples to keep is {value}",
        help="it is a whole number, at least 1",
        why="A reservoir holds so many samples of each observation, however many there are.",
        example="serq run example.sq --horizon 1000 --reservoir 0",
    ),
    "SQ0935": Code(
        title="the program makes no claim `{name}`",
        help="its claims: {known}",
        why="A verdict is about one claim of the program, by its name.",
        example="serq verify example.sq --horizon 100 --claim quik --probability 0.9",
    ),
    "SQ0936": Code(
        title="claim `{name}` was not answered under seed {seed}: {reason}",
        help="let every run end with nobody left: `--arrivals N` with a horizon that is long enough",
        why="A path on which a claim has no answer is neither for it nor against it.",
        example="serq verify example.sq --horizon 10 --claim quick --probability 0.9",
    ),
    "SQ0937": Code(
        title="the {what} is {value}",
        help="it is {wanted}",
        why="A test of a probability has to say what it tests, how surely, and how finely.",
        example="serq verify example.sq --horizon 100 --claim quick --probability 1",
    ),
    "SQ0938": Code(
        title="stability is about sessions that keep coming at one rate, and {kind} brings none that do",
        help="`arrive poisson(…)`, `renewal(…)`, `gamma(…)` and `slotted(…)` are such streams",
        why="A backlog can grow without end only if sessions come whether or not others have gone; and a "
        "rate that changes, as that of `stages`, has no long run to be judged.",
        example="serq stability example.sq",
    ),
    "SQ0939": Code(
        title="the range of a parameter is written `{text}`, and {fault}",
        help="write NAME=LOW:HIGH with two numbers, the lower first, and no other value for NAME",
        why="The edge of stability is searched for between the two, by halving.",
        example="serq stability example.sq --param rate=2:1",
    ),
    # ------------------------------------------------------------ writing files
    "SQ0932": Code(
        title="the library `{path}` cannot be read",
        help="a library is a `.sq` file; its path is relative to the file that uses it",
        why="Its definitions are part of the program's meaning, so nothing can be checked without them.",
    ),
    "SQ0933": Code(
        title="`{path}` is being read already: {chain}",
        help="move what both need into a file that uses neither",
        why="A definition uses only earlier ones; files that use each other have no order.",
    ),
    "SQ0930": Code(
        title="cannot write {path}: {reason}",
        help="choose a place that exists, may be written to and has room",
        why="The reason is what the operating system said, or that the place is taken. Output is "
        "written to a temporary file first, so that no half of it is left.",
        example="serq emit-lean example.sq -o lean/Example.lean",
    ),
    # ------------------------------------------------------------ programs as JSON
    "SQ0940": Code(
        title="`{path}` is not JSON: {reason}",
        help="`serq ir FILE` writes a program as JSON",
        why="The place is where the text stops being JSON.",
        example="serq run example.json --horizon 1000",
    ),
    "SQ0941": Code(
        title="`{path}` is JSON, but not a program written by `serq ir`",
        help='such a file begins with {{"format": "serq program", "version": …}}',
        why="A program as JSON is the form that `serq ir` writes, and no other.",
        example="serq run example.json --horizon 1000",
    ),
    "SQ0942": Code(
        title="`{path}` is a program of version {found}; this serq reads version {version}",
        help="write it again from its text with `serq ir`",
        why="The form of the file has changed between the two; reading it all the same could change what "
        "the program means.",
        example="serq run example.json --horizon 1000",
    ),
    "SQ0943": Code(
        title="the value at `{where}` {reason}",
        help="the file is changed or cut short: write it again with `serq ir`",
        why="The path leads from the top of the file to the value that is wrong.",
        example="serq run example.json --horizon 1000",
    ),
    "SQ0944": Code(
        title="`{path}` is nested more than {limit} levels deep",
        help="write it again from its text with `serq ir`",
        why="A program that was checked is never that deep; something else has written the file.",
        example="serq run example.json --horizon 1000",
    ),
    # ------------------------------------------------------------ traces in other formats
    "SQ0950": Code(
        title="`{path}` is in no format that serq knows: its first line has {headings}",
        help="name the format, `--from FORMAT`, or the columns that count, `--columns new=NAME,out=NAME`",
        why="A column of other numbers would be replayed as tokens without anybody noticing.",
        example="serq trace convert example.csv",
    ),
    "SQ0951": Code(
        title="`{path}` cannot be read as `{format}`: {reason}",
        help="`--from` names another format, `--columns ROLE=NAME` another column",
        why="Half of a format would be replayed as another workload than the one recorded.",
        example="serq trace convert example.csv --from azure",
    ),
    "SQ0952": Code(
        title="a row of this trace has {width} fields, this one has {got}",
        help="mend the row, or pass over such rows with `--skip-bad`",
        why="Where a field is missing nobody knows which column the others belong to.",
        example="serq trace convert example.csv",
    ),
    "SQ0953": Code(
        title="`{field}` is `{text}`, which is not {wanted}",
        help="mend it, name another column with `--columns`, or pass over such rows with `--skip-bad`",
        why="Tokens are counted one by one, and time does not run backwards.",
        example="serq trace convert example.csv",
    ),
    "SQ0954": Code(
        title="this is no JSON object: {reason}",
        help="mend the line, or pass over such lines with `--skip-bad`",
        why="A trace as JSON has an object on each line, or one list of objects.",
        example="serq trace convert example.jsonl",
    ),
    "SQ0955": Code(
        title="this entry has no `{key}`",
        help="add it, name another key with `--columns`, or pass over such entries with `--skip-bad`",
        why="A request without its lengths cannot be replayed.",
        example="serq trace convert example.jsonl",
    ),
    "SQ0956": Code(
        title="`{path}` has no row that can be read: {passed}",
        help="it is probably in another format, or has other columns: see `serq trace convert --help`",
        why="`--skip-bad` is for a few bad rows; a file without a good one is not what it was taken for.",
        example="serq trace convert example.csv --skip-bad",
    ),
    "SQ0957": Code(
        title="the trace `{path}` has no turn",
        help="give at least one row below the heading",
        why="There is nothing to replay and nothing to show.",
        example="serq trace convert example.csv",
    ),
    "SQ0958": Code(
        title="`{where}` is text, and only a tokenizer knows how many tokens that is",
        help="put the number of tokens there, or estimate it: `--chars-per-token 4`",
        why="The tokens of a text depend on the model; an estimate has to be asked for.",
        example="serq trace convert example.json",
    ),
}
