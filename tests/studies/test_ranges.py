"""What is said of the range of a parameter, and what the tables of stability leave unsaid."""

from __future__ import annotations

from pathlib import Path

import pytest
from attrs import evolve

import serq
from serq.studies.show import show_edge, show_stability
from serq.tools.cli import run_command

DESK = """use "std/args";
fn main() {
  let rate = args.number("rate", 0.5);
  let servers = args.number("servers", 1);
  stage desk : fifo(servers);
  workload { arrive poisson(rate); }
  server { run desk (cost(desk, 1)); }
}
"""


def refused(range_: str, tmp_path: Path, capsys: pytest.CaptureFixture[str], *more: str) -> str:
    """What the command says on standard error; it prints nothing else."""
    path = tmp_path / "desk.sq"
    path.write_text(DESK, encoding="utf-8")
    assert run_command(["stability", str(path), "--jobs", "1", "--param", range_, *more]) in (1, 2)
    captured = capsys.readouterr()
    assert captured.out == ""
    return captured.err


@pytest.mark.parametrize(
    ("range_", "fault"),
    [
        ("rate=.5:1.5:2", "it has 3 numbers"),
        ("rate=a:b:c:d", "it has 4 numbers"),
        ("rate=.5:1_0", "`1_0` is not a finite number"),
        ("rate= x : 1", "`x` is not a finite number"),
        ("rate=1: ", "it is not of this form"),
        ("rate=2 : 1", "2 is not below 1"),
    ],
)
def test_the_fault_of_a_range(
    range_: str, fault: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert f"and {fault}; write NAME=LOW:HIGH" in refused(range_, tmp_path, capsys)


@pytest.mark.parametrize(
    ("name", "help_"), [("zz", "its inputs are `rate`, `servers`"), ("rat", "did you mean `rate`?")]
)
def test_a_parameter_that_is_no_input_is_shown_where_it_stands(
    name: str, help_: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    said = refused(f" {name}=.5:1.5", tmp_path, capsys).splitlines()
    assert said[0] == f"--param:1:2: error[SQ0254]: the program has no input `{name}`"
    assert said[1:3] == [f"  1 |  {name}=.5:1.5", f"    |  {'^' * len(name)}"]
    assert said[3] == f"  help: {help_}"
    assert not any("--set" in line or "this is the program with" in line for line in said)


@pytest.mark.parametrize(("range_", "value"), [("servers=0.5:2", "0.5"), ("servers=1:2.5", "2.5")])
def test_the_value_that_is_refused_is_named(
    range_: str, value: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Both ends before the first run, which would take a while."""
    said = refused(range_, tmp_path, capsys, "--seeds", "1000", "--time", "1000")
    assert "SQ0514" in said
    assert said.endswith(f"  note: this is the program with servers = {value}\n")


def test_a_value_between_the_ends_is_named() -> None:
    with pytest.raises(serq.ProgramError) as error:
        serq.find_edge(source=DESK, parameter="servers", low=1, high=4, sets={"rate": 2}, seeds=4)
    assert "SQ0514" in str(error.value) and "with servers = 2.5" in str(error.value)


def test_what_was_not_looked_at_is_said() -> None:
    edge = serq.find_edge(source=DESK, parameter="rate", low=0.1, high=0.2)
    head = show_edge(edge).splitlines()[0]
    assert head == (
        "no edge found: rate is stable at 0.1 and stable at 0.2; what is between them was not looked at"
    )


def test_cycles_are_told_where_they_have_a_mean() -> None:
    """A cycle of even arrivals is one gap, of no variance but that of rounding."""
    source = DESK.replace("poisson(rate)", "renewal(1 / rate)")
    found = serq.stability(serq.compile(source=source, sets={"rate": 0.3}))
    assert found.verdict == "stable" and found.cycle is not None
    even = evolve(found, cycle_ci=1e-15 * found.cycle)
    assert f"a cycle takes {found.cycle:.6g} ± 0\n" in show_stability(even) + "\n"
    assert "to the empty system" in show_stability(evolve(found, verdict="unstable"))
    assert "a cycle takes" not in show_stability(evolve(found, verdict="unstable"))


def test_one_is_no_plural() -> None:
    found = serq.stability(serq.compile(source=DESK))
    text = show_stability(evolve(found, backlog=1.0, oldest=1.0))
    assert "1 session at the end" in text and " 1 arrival ago" in text
    text = show_stability(evolve(found, backlog=2.5, oldest=0.5))
    assert "2.5 sessions at the end" in text and " 0.5 arrivals ago" in text
