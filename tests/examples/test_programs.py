"""Every shipped program is checked without a word, well laid out, and keeps what its comments promise."""

from __future__ import annotations

import json
import re
from pathlib import Path
from types import ModuleType

import pytest

import serq
from serq.tools.cli import run_command
from tests.examples.programs import (
    EXAMPLES,
    FILES,
    LIBRARIES,
    MODELS,
    PROGRAMS,
    ROOT,
    Command,
    commands,
    without_draws,
)
from tests.examples.programs import run as run_program
from tests.support.amounts import thinned


def name(path: Path) -> str:
    return str(path.relative_to(EXAMPLES))


FIRST = [commands(path)[0] for path in MODELS]
OTHERS = [command for path in MODELS for command in commands(path)[1:]]
EVERY = [*thinned(FIRST, 4), *(pytest.param(command, marks=pytest.mark.slow) for command in OTHERS)]


@pytest.mark.parametrize("path", PROGRAMS, ids=name)
def test_it_is_checked_without_a_word(path: Path) -> None:
    assert serq.check_program(path) == ()


def test_every_file_is_in_the_one_layout(capsys: pytest.CaptureFixture[str]) -> None:
    code = run_command(["fmt", "--check", *map(str, FILES)])
    assert (code, capsys.readouterr().out) == (0, "")


@pytest.mark.parametrize("path", sorted(LIBRARIES.glob("*.sq")), ids=name)
def test_a_library_is_used(path: Path) -> None:
    assert [p for p in PROGRAMS if f'lib/{path.name}";' in p.read_text(encoding="utf-8")]


@pytest.mark.parametrize("path", MODELS, ids=name)
def test_its_comment_says_what_it_leaves_out_and_where_its_numbers_come_from(path: Path) -> None:
    head = path.read_text(encoding="utf-8").partition("\nuse ")[0]
    for beginning in ("// Models ", "// Left out: ", "// Numbers: "):
        assert f"\n{beginning}" in head


@pytest.mark.parametrize("path", MODELS, ids=name)
def test_every_claim_has_its_answer_above_it_and_one_fails(path: Path) -> None:
    claims = re.findall(r"^ *claim (\w+):", path.read_text(encoding="utf-8"), re.MULTILINE)
    promised = commands(path)[0].promised
    assert list(promised) == claims
    assert list(promised.values()).count("fails") == 1


@pytest.mark.parametrize("command", EVERY, ids=str)
def test_the_answers_are_those_promised(command: Command) -> None:
    report = run_program(command)
    answers = {claim.name: claim.result for claim in report.claims}
    assert command.promised.items() <= answers.items()
    for pool in report.pools:
        assert (pool.stuck, pool.rejected, pool.over_cap, pool.growing_at_end) == (0, 0, None, 0)


@pytest.mark.parametrize("command", EVERY, ids=str)
def test_the_reference_gives_the_same_run(command: Command, reference: ModuleType) -> None:
    """Of a shorter run without draws: of about 50 sessions."""
    text = without_draws(command.path)
    sets = {name: float(value) for name, value in command.sets}
    arrivals = None if command.arrivals is None else 50
    horizon = command.horizon if arrivals else 100_000.0
    finite = {"arrivals": arrivals} if arrivals else {}
    theirs = reference.run(reference.compile(source=text, horizon=horizon, sets=sets, **finite)).json()
    ours = serq.run(serq.compile(source=text, sets=sets), horizon=horizon, arrivals=arrivals)
    assert_same(ours.to_dict(), json.loads(theirs))


def assert_same(ours: object, theirs: object, at: str = "report") -> None:
    """Whether two reports say the same, figures to nine digits; each has its own key for its version."""
    match ours, theirs:
        case dict(), dict():
            shared = theirs.keys() - {key for key in theirs if key.endswith("version")}
            assert shared <= ours.keys(), at
            for key in shared:
                assert_same(ours[key], theirs[key], f"{at}.{key}")
        case list(), list():
            assert len(ours) == len(theirs), at
            for number, pair in enumerate(zip(ours, theirs, strict=True)):
                assert_same(*pair, f"{at}[{number}]")
        case float() | int(), float() | int():
            assert ours == pytest.approx(theirs, rel=1e-9, abs=1e-9), at
        case _:
            assert ours == theirs, at


def test_the_page_about_examples_has_every_one() -> None:
    page = (ROOT / "docs" / "examples.md").read_text(encoding="utf-8")
    missing = [name(path) for path in FILES if f"`{name(path)}`" not in page]
    assert not missing


RANDOM = sorted((EXAMPLES / "papers" / "dai_random").glob("*.sq"))
KEEPS_FULL = {"sarathi", "orca"}
"""The work-conserving ones."""


@pytest.mark.parametrize("path", RANDOM, ids=lambda p: p.stem)
def test_a_random_engine_wastes_its_batches_or_does_not(path: Path) -> None:
    report = serq.run(path, horizon=20_000_000)
    keeps = path.stem.removesuffix("_slotted") in KEEPS_FULL
    claim = report.claims[0]
    assert (claim.name, claim.result) == (
        ("work_conserving", "holds") if keeps else ("not_work_conserving", "witnessed")
    )


# Far enough from the edge for a few hundred arrivals; near it, see tests/studies.
VERDICTS = {
    "sarathi": [(0.8, "stable"), (1.25, "unstable")],
    "orca": [(0.8, "stable"), (1.25, "unstable")],
    "vllm": [(0.8, "stable"), (1.15, "unstable")],
    "fastertransformer": [(0.007, "stable"), (0.015, "unstable")],
}


@pytest.mark.slow
@pytest.mark.parametrize("path", RANDOM, ids=lambda p: p.stem)
def test_a_random_engine_keeps_up_or_does_not(path: Path) -> None:
    for load, verdict in VERDICTS[path.stem.removesuffix("_slotted")]:
        program = serq.compile(path, sets={"load": load})
        assert serq.stability(program).verdict == verdict
