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
        example="serq check exmaple.sq",
    ),
    "SQ0911": Code(
        title="`{path}` is a folder",
        help="name a program in it, for example `{path}/NAME.sq`",
        example="serq check .",
    ),
    "SQ0912": Code(
        title="`{path}` cannot be read: {reason}",
        example="serq check example.sq/part.sq",
    ),
    "SQ0913": Code(
        title="`{path}` is not UTF-8 text: byte {byte} cannot stand here",
        help="save the file as UTF-8",
        example="serq check example.txt",
    ),
    "SQ0914": Code(
        title="`{path}` is a binary file, not a program",
        example="serq check example.sq.gz",
    ),
    "SQ0915": Code(
        title="`{path}` is empty",
        help="the smallest program is `fn main() {{ }}`",
    ),
    "SQ0916": Code(
        title="`{path}` is larger than {limit}, the most that is read",
        help="a program is a few pages of text; lists of numbers belong in a trace file",
    ),
    # ------------------------------------------------------------ settings of a run
    "SQ0920": Code(
        title="the horizon is {value}",
        help="it is a finite time above 0, in the program's clock units",
        example="serq run example.sq --horizon inf",
    ),
    "SQ0921": Code(
        title="the warm-up is {value}",
        help="it is a finite time, at least 0, in the program's clock units",
        example="serq run example.sq --horizon 1000 --warmup -10",
    ),
    "SQ0922": Code(
        title="the warm-up of {warmup} leaves nothing to measure before the horizon of {horizon}",
        help="statistics cover the time from the warm-up to the horizon: make the horizon larger",
        example="serq run example.sq --horizon 1000 --warmup 1000",
    ),
    "SQ0923": Code(
        title="the seed is {value}",
        help="it is a whole number, at least 0",
        example="serq run example.sq --horizon 1000 --seed -1",
    ),
    "SQ0924": Code(
        title="the number of arrivals is {value}",
        help="it is a whole number, at least 1",
        example="serq run example.sq --horizon 1000 --arrivals 0",
    ),
    "SQ0925": Code(
        title="a number of arrivals was given, but `arrive {kind}` makes no stream of sessions to count",
        help="it goes with `arrive poisson(…)` and `arrive renewal(…)`; leave it out here",
        example="serq run example.sq --horizon 1000 --arrivals 20",
    ),
    "SQ0926": Code(
        title="inputs and definitions cannot be replaced in a program read from JSON",
        help="its constants are folded: set them when writing it, `serq ir FILE --set NAME=VALUE`",
        example="serq check example.json --set budget=256",
    ),
    "SQ0927": Code(
        title="a trace was given, but the program has no `workload` whose sessions could replay it",
        help="leave the trace out, or declare a workload and a server",
        example="serq run example.sq --horizon 1000 --trace turns.csv",
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
        example="serq emit-lean example.sq -o lean/Example.lean",
    ),
    # ------------------------------------------------------------ programs as JSON
    "SQ0940": Code(
        title="`{path}` is not JSON: {reason}",
        help="`serq ir FILE` writes a program as JSON",
        example="serq run example.json --horizon 1000",
    ),
    "SQ0941": Code(
        title="`{path}` is JSON, but not a program written by `serq ir`",
        help='such a file begins with {{"format": "serq program", "version": …}}',
        example="serq run example.json --horizon 1000",
    ),
    "SQ0942": Code(
        title="`{path}` is a program of version {found}; this serq reads version {version}",
        help="write it again from its text with `serq ir`",
        example="serq run example.json --horizon 1000",
    ),
    "SQ0943": Code(
        title="`{where}` {reason}",
        help="the file is changed or cut short: write it again with `serq ir`",
        example="serq run example.json --horizon 1000",
    ),
    "SQ0944": Code(
        title="`{path}` is nested more than {limit} levels deep",
        example="serq run example.json --horizon 1000",
    ),
}
