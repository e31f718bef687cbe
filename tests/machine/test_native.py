"""The compiled machine records what the machine of events records, to the last figure."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings

import serq
from serq.claims.judge import Judge
from serq.machine import native
from serq.machine.loop import Machine
from serq.machine.native import compile as compiling
from serq.machine.native.fragment import LAWS, find_native
from serq.machine.native.run import write_native
from serq.machine.records import RunRecord
from serq.machine.run import run_program
from serq.machine.settings import Settings
from serq.tools.cli import run_command
from tests.conformance.test_cases import find_cases
from tests.machine.test_fused import by_events, differences, fields
from tests.support.amounts import share, thinned
from tests.support.conversations import conversations
from tests.support.programs import Sample

ROOT = Path(__file__).parents[2]
CACHE = ROOT / "tests" / "bench" / "programs" / "prefix_cache.sq"

needs_compiler = pytest.mark.skipif(compiling.compiler() is None, reason="there is no C compiler")
EXAMPLES = settings(
    max_examples=share(12), suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture]
)


@pytest.fixture(autouse=True)
def kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """Where compiled programs are kept during a test."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    # What is computed is the same, and so many small programs are compiled in half the time.
    monkeypatch.setattr(compiling, "FLAGS", ("-O0", *compiling.FLAGS[1:]))
    yield tmp_path / "serq"


def watched(compiled: serq.Program, asked: Settings) -> tuple[Machine, Judge]:
    judge = Judge(compiled)
    machine = Machine(compiled, asked)
    judge.watch(machine)
    return machine, judge


def by_compiler(compiled: serq.Program, asked: Settings) -> RunRecord | None:
    """What the compiled machine records; None where it leaves the run to the machine of events."""
    machine, judge = watched(compiled, asked)
    assert native.is_native(machine)
    compiling.compile_text(write_native(machine)[0])
    return machine.record(judge.finish(machine)) if native.run_native(machine) else None


def check(s: Sample) -> None:
    compiled = serq.compile("conversation.sq", source=s.source)
    assert not isinstance(find_native(compiled), str)
    compare(compiled, Settings(s.horizon, s.warmup, 1, s.arrivals))


def compare(
    compiled: serq.Program, asked: Settings, fractions: bool = False, rounding: float = 1e-12
) -> None:
    """Both record the same; the compiled machine leaves only what cannot be done, and `fractions`."""
    found = by_compiler(compiled, asked)
    if fractions and found is None:
        return
    try:
        expected = by_events(compiled, asked)
    except serq.ProgramError:
        assert found is None
        return
    assert found is not None
    assert list(differences(fields(found), fields(expected), "run", rounding=rounding)) == []
    assert found.waits == expected.waits


@needs_compiler
@EXAMPLES
@given(s=conversations())
def test_conversations_run_the_same(s: Sample) -> None:
    check(s)


PARAMETERS = {
    "exp": ("3", "0"),
    "det": ("7",),
    "uniform": ("-1, 5",),
    "erlang": ("3.5, 2", "1, 4"),
    "bernoulli": ("0.3",),
    "h2": ("2, 4", "2, 0.5"),
    "geometric": ("0.01", "1"),
    "gamma": ("0.01, 3", "0.7, 0", "1, 2", "9, 3"),
    "lognormal": ("600, 1", "5, 0", "1, 1000000"),
    "pareto": ("0.1, 1", "2.5, 3"),
}
"""Law -> parameters, of all kinds."""


@needs_compiler
def test_every_law_draws_the_same() -> None:
    """Bit for bit, thousands of each."""
    assert set(PARAMETERS) == LAWS
    draws = [f"~{law}({given})" for law, of_law in PARAMETERS.items() for given in of_law]
    server = " ".join(f"observe x{k} = {draw};" for k, draw in enumerate(draws))
    source = f"""fn main() {{
      device gpu {{ }}
      engine e on gpu {{ tokens cap 1; schedule {{ advance running; }} execute (1); }}
      workload {{ arrive renewal(1); }}
      server {{ {server} run e prefill (cost(e, 1)); }}
    }}"""
    compare(serq.compile(source=source), Settings(1e9, arrivals=3_000), rounding=0)


@needs_compiler
@pytest.mark.parametrize(
    "draw",
    thinned([
        "exp(-1)", "uniform(1, 0)", "erlang(0, 1)", "bernoulli(1.5)", "h2(-1, 2)", "geometric(1e-16)",
        "gamma(0, 1)", "lognormal(1, -1)", "lognormal(1, 1e7)", "pareto(0.01, 1)",
    ]),
)  # fmt: skip
def test_a_draw_outside_its_law_is_refused(draw: str) -> None:
    """By the machine of events, to which such a run is left."""
    law, given = draw.rstrip(")").split("(")
    parameters = given.split(", ")
    known = " ".join(f"set a{k} = {value} + 0 * serial;" for k, value in enumerate(parameters))
    source = f"""fn main() {{
      device gpu {{ }}
      engine e on gpu {{ tokens cap 1; schedule {{ advance running; }} execute (1); }}
      workload {{ arrive renewal(1); init {{ {known} }} }}
      server {{
        observe x = ~{law}({", ".join(f"a{k}" for k in range(len(parameters)))});
        run e prefill (cost(e, 1));
      }}
    }}"""
    compiled, asked = serq.compile(source=source), Settings(1e9, arrivals=10)
    assert by_compiler(compiled, asked) is None
    with pytest.raises(serq.ProgramError, match="SQ0621"):
        by_events(compiled, asked)


@needs_compiler
@pytest.mark.slow
@settings(EXAMPLES, max_examples=120)
@given(s=conversations())
def test_many_conversations_run_the_same(s: Sample) -> None:
    check(s)


@needs_compiler
@pytest.mark.parametrize("memory", thinned([40_000, 100_000]))
def test_a_prefix_cache_under_load(memory: int) -> None:
    compiled, asked = serq.compile(CACHE, sets={"memory": memory}), Settings(150.0, 20.0, 1)
    found = by_compiler(compiled, asked)
    assert found is not None
    assert sum(pool.preemptions for pool in found.pools) > 50 or memory == 100_000
    assert list(differences(fields(found), fields(by_events(compiled, asked)), "run", rounding=1e-12)) == []


def test_other_inputs_have_the_same_text() -> None:
    asked = Settings(10.0)
    texts = {write_native(watched(serq.compile(CACHE, sets={"memory": m}), asked)[0])[0] for m in (500, 700)}
    assert len(texts) == 1


@needs_compiler
def test_what_was_compiled_is_kept_and_nothing_else(kept: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    compiled, asked = serq.compile(CACHE), Settings(5.0)
    assert not native.is_compiled(watched(compiled, asked)[0])
    first = by_compiler(compiled, asked)
    assert sorted(path.suffix for path in kept.iterdir()) == [".sha256", ".so"]
    assert native.is_compiled(watched(compiled, asked)[0])
    monkeypatch.setattr(subprocess, "run", None)
    again = by_compiler(compiled, asked)
    assert first is not None and again is not None
    assert list(differences(fields(first), fields(again), "run", rounding=0)) == []


@needs_compiler
@pytest.mark.parametrize("damage", thinned([lambda b: b[: len(b) // 2], lambda b: b"", lambda b: b"hello"]))
def test_a_library_that_was_damaged_is_made_anew(damage: Callable[[bytes], bytes], kept: Path) -> None:
    compiled, asked = serq.compile(CACHE), Settings(5.0)
    compiling.compile_text(write_native(watched(compiled, asked)[0])[0])
    [library] = kept.glob("*.so")
    whole = library.read_bytes()
    # Another file under the name: one that is in use must not be written to.
    library.unlink()
    library.write_bytes(damage(whole))
    assert not native.is_compiled(watched(compiled, asked)[0])
    assert by_compiler(compiled, asked) is not None
    assert len(library.read_bytes()) == len(whole)


@needs_compiler
def test_another_compiler_has_libraries_of_its_own(monkeypatch: pytest.MonkeyPatch) -> None:
    places = set()
    for command in ("cc -O1", "cc -ffast-math"):
        monkeypatch.setenv("SERQ_CC", command)
        compiling.compiler.cache_clear()
        places.add(compiling.place_of("text"))
    monkeypatch.undo()
    compiling.compiler.cache_clear()
    assert len(places) == 2


@needs_compiler
def test_a_long_run_is_compiled_when_it_has_taken_too_long(
    kept: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    compiled, asked = serq.compile(CACHE), Settings(60.0)
    unaided = run_program(compiled, asked, [Judge(compiled)])
    assert not kept.exists()
    monkeypatch.setattr(native, "PATIENCE", 0.0)
    aided = run_program(compiled, asked, [Judge(compiled)])
    assert sorted(path.suffix for path in kept.iterdir()) == [".sha256", ".so"]
    assert list(differences(fields(aided), fields(unaided), "run", rounding=1e-12)) == []


@pytest.mark.parametrize(
    ("command", "note"),
    [("none", ""), ("nonsense -O2", "the C compiler `nonsense`"), ("false", "could not be compiled")],
)
def test_without_a_compiler_that_works_everything_goes_on(
    command: str, note: str, kept: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(native, "PATIENCE", 0.0)
    monkeypatch.setenv("SERQ_CC", command)
    compiling.compiler.cache_clear()
    monkeypatch.setattr(compiling, "troubles", {})
    try:
        assert run_command(["run", str(CACHE), "--horizon", "30", "--json"]) == 0
    finally:
        monkeypatch.undo()
        compiling.compiler.cache_clear()
    out, err = capsys.readouterr()
    assert json.loads(out)["stages"][0]["iterations"] > 500
    assert note in err if note else not err
    assert not kept.exists() or not list(kept.iterdir())


@needs_compiler
def test_a_crowd_is_left_to_the_others() -> None:
    source = CACHE.read_text()
    for old, new in (
        ("renewal(0.3)", "batch(1500)"),
        ("reqs cap 64", "reqs cap 1500"),
        ("cap 512", "cap 1e6"),
    ):
        assert old in source
        source = source.replace(old, new)
    crowd = serq.compile("crowd.sq", source=source, sets={"memory": 1e6})
    assert by_compiler(crowd, Settings(5.0)) is None


@needs_compiler
@pytest.mark.parametrize("gap", thinned(["0 * ~exp(1)", "~exp(1) - 5", "1e-13 * ~det(1)", "inf * ~det(1)"]))
def test_a_gap_that_means_nothing_is_left_to_the_others(gap: str) -> None:
    source = CACHE.read_text().replace("renewal(0.3)", f"renewal({gap})")
    compiled = serq.compile("gaps.sq", source=source)
    compare(compiled, Settings(5.0), fractions=True)
    assert by_compiler(compiled, Settings(5.0)) is None


@pytest.mark.parametrize(
    ("old", "new", "why"),
    [
        ("evict lru", "evict by (size)", "keys of its own"),
        ("preempt lifo", "preempt by (position)", "preemption by keys"),
        ("advance running;", "advance running by (o);", "an order by keys"),
        ("stage tool : delay", "stage tool : fifo", "neither an engine nor a delay"),
        ("renewal(0.3)", "closed(5)", "arrivals of another kind"),
    ],
)
def test_what_it_does_not_take_has_a_reason(old: str, new: str, why: str) -> None:
    source = CACHE.read_text()
    assert old in source
    found = find_native(serq.compile("other.sq", source=source.replace(old, new)))
    assert isinstance(found, str) and why in found


@needs_compiler
@pytest.mark.slow
@pytest.mark.parametrize(("source", "case"), list(find_cases()))
def test_a_conformance_case_runs_the_same(source: Path, case: dict[str, Any]) -> None:
    try:
        compiled = serq.compile(source, sets=case.get("sets", {}))
    except serq.ProgramError:
        pytest.skip("it is refused")
    asked = Settings(float(case["horizon"]), float(case.get("warmup", 0)), case["seed"], case.get("arrivals"))
    if not native.is_native(watched(compiled, asked)[0]):
        pytest.skip("there is no compiled machine for it")
    compare(compiled, asked, fractions=True)
