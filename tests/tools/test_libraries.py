"""`use "file.sq"` brings definitions; what is wrong with a library is said where it is used."""

from __future__ import annotations

from pathlib import Path

import pytest

import serq

PROGRAM = """use "life.sq";
fn main() {{
  device gpu {{ }}
  engine e on gpu {{ tokens cap budget; schedule {{ advance running; }} execute (1); }}
  workload {{ arrive batch(2); }}
  server {{ ask(3, 2); observe done = now; }}
  {more}
}}
"""
LIFE = """use "parts/double.sq";
let budget = 4;
def ask(p, o) { run e prefill (cost(e, double(p))); run e decode (cost(e, o)); }
"""
DOUBLE = "def double(x) { 2 * x }\n"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "parts").mkdir()
    (tmp_path / "parts" / "double.sq").write_text(DOUBLE)
    (tmp_path / "life.sq").write_text(LIFE)
    return tmp_path


def refused(folder: Path, text: str) -> list[tuple[str, str, int]]:
    path = folder / "program.sq"
    path.write_text(text)
    with pytest.raises(serq.ProgramError) as error:
        serq.compile(path)
    return [(d.code, Path(d.at.file).name, d.at.line) for d in error.value.diagnostics if d.at]


def test_a_library_means_what_its_text_would_mean_in_the_program(folder: Path) -> None:
    path = folder / "program.sq"
    path.write_text(PROGRAM.format(more=""))
    whole = (DOUBLE + LIFE.partition("\n")[2] + PROGRAM.format(more="").partition("\n")[2]).strip()
    used = serq.run(path, horizon=20).to_dict()
    written = serq.run(serq.compile(source=whole), horizon=20).to_dict()
    assert used == written
    assert used["observes"]["done"]["count"] == 2


def test_a_library_used_twice_is_read_once(folder: Path) -> None:
    text = 'use "parts/double.sq";\n' + PROGRAM.format(more="")
    (folder / "program.sq").write_text(text)
    assert serq.run(folder / "program.sq", horizon=20).observes["done"].count == 2


def test_a_cycle_is_refused_where_it_closes(folder: Path) -> None:
    (folder / "parts" / "double.sq").write_text('use "../life.sq";\n' + DOUBLE)
    assert refused(folder, PROGRAM.format(more=""))[0] == ("SQ0933", "double.sq", 1)


def test_a_program_does_not_use_itself(folder: Path) -> None:
    assert refused(folder, 'use "program.sq";\nfn main() { }\n') == [("SQ0933", "program.sq", 1)]


@pytest.mark.parametrize("path", ["missing.sq", "parts.sq", "pipe.sq"])
def test_what_is_no_file_of_text_is_refused_at_its_use(folder: Path, path: str) -> None:
    (folder / "parts.sq").mkdir()
    (folder / "pipe.sq").symlink_to("/dev/zero")
    found = refused(folder, f'fn main() {{\n  use "{path}"; }}\n')
    assert found == [("SQ0932", "program.sq", 2)]


def test_a_library_holds_definitions_only(folder: Path) -> None:
    (folder / "life.sq").write_text(LIFE + "pool p { cap 1; }\n")
    assert ("SQ0121", "life.sq", 4) in refused(folder, PROGRAM.format(more=""))


def test_a_mistake_in_a_library_is_shown_in_its_file(folder: Path) -> None:
    (folder / "life.sq").write_text(LIFE.replace("double(p)", "tripple(p)"))
    assert [found[1:] for found in refused(folder, PROGRAM.format(more=""))] == [("life.sq", 3)]


def test_a_line_of_a_library_is_shown_when_its_program_cannot_be_stated() -> None:
    program = serq.compile(Path(__file__).parents[2] / "examples" / "engines" / "vllm.sq")
    with pytest.raises(serq.ProgramError) as error:
        serq.emit_lean(program)
    (inexact,) = (d for d in error.value.diagnostics if "0.13" in d.message)
    assert inexact.at is not None and inexact.at.file.endswith("llama_a10.sq")
    assert inexact.source is not None and "0.13 * n" in inexact.source.line(inexact.at.line)


@pytest.mark.parametrize(
    ("path", "cure"),
    [
        ("parts", 'it is a folder: name a file of definitions in it, `use "parts/NAME.sq";`'),
        ("parts/", 'it is a folder: name a file of definitions in it, `use "parts/NAME.sq";`'),
        ("life", 'did you mean `use "life.sq";`?'),
        ("parts/double", 'did you mean `use "parts/double.sq";`?'),
        ("notes.txt", "a file of definitions has a name that ends in `.sq`"),
        ("std/arg", 'did you mean `use "std/args";`?'),
        ("nowhere", 'a program uses "std/args", "std/kvt" or a file of definitions, `use "NAME.sq";`'),
    ],
)
def test_what_names_no_library_is_told_what_it_may_mean(folder: Path, path: str, cure: str) -> None:
    (folder / "notes.txt").write_text(DOUBLE)
    (complaint,) = serq.check_program(folder / "program.sq", source=f'use "{path}";\nfn main() {{ }}\n')
    assert (complaint.code, complaint.help) == ("SQ0250", cure)
