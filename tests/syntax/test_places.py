"""Where a malformed program is complained about: the character at which reading had to stop."""

from __future__ import annotations

import pytest

from tests.syntax.reading import read

FILE = "@"
MAIN = "fn main() {\ndevice gpu { } engine e on gpu { }\n@\n}"
ENGINE = "fn main() {\ndevice gpu { kv cap 8; } engine e on gpu {\n@\n} }"
SERVER = "fn main() {\nworkload { arrive none; } server {\n@\n} }"

ROWS = [
    # template, text put in place of the @, code, line:column within that text
    (FILE, "fn main() { gauge g = 5 % 3; }", "SQ0101", "1:25"),
    (FILE, "fn main() { gauge g = 1 & 1; }", "SQ0101", "1:25"),
    (FILE, "/* fn main() { }", "SQ0102", "1:1"),
    (FILE, 'use "std/args', "SQ0103", "1:14"),
    (FILE, "fn main() { gauge g = 1..2; }", "SQ0104", "1:23"),
    (FILE, "fn main() { gauge g = 0x10; }", "SQ0105", "1:24"),
    (FILE, "fn main() { gauge g = 1 < 2 < 3; }", "SQ0113", "1:29"),
    (FILE, "fn main() { gauge g = 1 == 1 == 1; }", "SQ0113", "1:30"),
    (FILE, "fn main() { gauge g = 1 ? 2; }", "SQ0114", "1:28"),
    (FILE, "fn main() { gauge g = +1; }", "SQ0115", "1:23"),
    (FILE, "fn main() { gauge g = 1 +; }", "SQ0136", "1:26"),
    (FILE, "fn main() { ", "SQ0112", "1:13"),
    (FILE, "fn main(a) { }", "SQ0132", "1:9"),
    (FILE, "fn main() { ; }", "SQ0122", "1:13"),
    (FILE, "fn main() { server { }; }", "SQ0122", "1:23"),
    (SERVER, "set a = 1 run z (cost(z, 1));", "SQ0110", "1:11"),
    (SERVER, "set a = 1\n\n   run z (cost(z, 1));", "SQ0110", "3:4"),
    (SERVER, "branch serial == 0 { }", "SQ0116", "1:8"),
    (SERVER, "branch (serial == 0) { } else branch (1) { }", "SQ0117", "1:31"),
    (SERVER, "1 + 2;", "SQ0119", "1:1"),
    (
        SERVER,
        "hold p (cost(p, 1)) at admission (x = 1) reuse (cost(p, 1)) { } cache (cost(p, 0))",
        "SQ0124",
        "1:42",
    ),
    (SERVER, "hold p (cost(p, 1)) { } lease p (1) cache (cost(p, 0))", "SQ0124", "1:37"),
    (SERVER, "hold p (cost(p, 1)) { } ;;", "SQ0122", "1:26"),
    (SERVER, "set a = ~3;", "SQ0130", "1:10"),
    (SERVER, "transfer (1);", "SQ0134", "1:1"),
    (SERVER, "x = 3;", "SQ0120", "1:1"),
    (SERVER, "frobnicate;", "SQ0120", "1:1"),
    (ENGINE, "tokens cap 4; schedule { advance running; } execute 1;", "SQ0116", "1:53"),
    (ENGINE, "schedule { for j in B + 1 { advance running; } }", "SQ0116", "1:23"),
    (ENGINE, "schedule { for j in length(lens) { advance running; } }", "SQ0116", "1:27"),
    (ENGINE, "schedule { for j in -1 { advance running; } }", "SQ0116", "1:21"),
    (ENGINE, "schedule { for r in running where r.o { advance r; } }", "SQ0116", "1:35"),
    (ENGINE, "schedule { while (1) { advance running; } }", "SQ0126", "1:12"),
    (ENGINE, "tokens cap 4; schedule { } execute (1);", "SQ0125", "1:24"),
    (MAIN, "claim c: each iteration of e (1);", "SQ0127", "1:10"),
    (MAIN, "stage s : step { budget 4; }", "SQ0129", "1:11"),
    (MAIN, "stage s : lifo;", "SQ0128", "1:11"),
    (MAIN, "run { horizon 10; }", "SQ0131", "1:5"),
    (MAIN, "session { turn; }", "SQ0121", "1:1"),
    (MAIN, "pool p { cap 4; admit via e; }", "SQ0142", "1:17"),
    (FILE, "let a = 1;", "SQ0160", "1:1"),
    (FILE, "fn main() { }\nfn main() { }", "SQ0161", "2:4"),
    (FILE, "fn main() { }\nlet a = 1;", "SQ0162", "2:1"),
    (FILE, "pool p { }\nfn main() { }", "SQ0163", "1:1"),
    (FILE, "def f(x) = x;\nfn main() { }", "SQ0133", "1:10"),
    (FILE, "\ufefffn main() { ; }", "SQ0122", "1:13"),
    (FILE, "\tfn main() {\r\n\t; }", "SQ0122", "2:2"),
    (FILE, "fn main() { /* é\n\n */ ; }", "SQ0122", "3:5"),
    (FILE, "// \u2028 is no end of a line\nfn main() { ; }", "SQ0122", "2:13"),
]


@pytest.mark.parametrize(("template", "text", "code", "at"), ROWS, ids=[f"{r[2]}-{r[1][:24]}" for r in ROWS])
def test_a_complaint_stands_where_reading_stopped(template: str, text: str, code: str, at: str) -> None:
    lines_above = template[: template.index("@")].count("\n")
    _, (complaint,) = read(template.replace("@", text))
    assert complaint.at is not None
    assert (complaint.code, f"{complaint.at.line - lines_above}:{complaint.at.column}") == (code, at)


def test_a_file_of_definitions_without_main_and_with_items_is_one_complaint() -> None:
    _, complaints = read("device gpu { }\nworkload { arrive none; }\nserver { }\n")
    assert [c.code for c in complaints] == ["SQ0160"]
