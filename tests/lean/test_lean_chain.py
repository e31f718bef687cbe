"""Programs under `arrive slotted` as chains: what is stated, what decides, and what real Lean says."""

from __future__ import annotations

import contextlib
from fractions import Fraction
from itertools import pairwise
from pathlib import Path

import pytest

import serq
from serq.lean.chain import law_of, read_chain
from serq.lean.steps import Sessions, Stepper
from serq.machine.loop import Machine
from serq.machine.settings import Settings
from serq.tools.cli import run_command
from tests.lean.programs import PACKAGE, ROOT
from tests.lean.real import Lean, check

SARATHI = ROOT / "examples" / "papers" / "dai_random" / "sarathi_slotted.sq"

SMALL = """use "std/args";
fn main() {
  let load = args.number("load", 0);
  device gpu { }
  engine e on gpu { tokens cap CAP; schedule { SCHEDULE } execute (EXECUTE); }
  workload { arrive ARRIVE; init { set n = LENGTH; } }
  server { run e prefill (cost(e, n)); run e decode (cost(e, 2)); }
}
"""


def small(
    count: str = "~bernoulli(0.5)", cap: int = 6, length: str = "7", execute: str = "5",
    schedule: str = "advance running decode first;", stem: str = "small", arrive: str | None = None,
) -> serq.Program:  # fmt: skip
    source = SMALL
    for name, value in {
        "ARRIVE": arrive or f"slotted(5, {count})", "CAP": str(cap), "LENGTH": length, "EXECUTE": execute,
        "SCHEDULE": schedule,
    }.items():  # fmt: skip
        source = source.replace(name, value)
    return serq.compile(f"{stem}.sq", source=source)


def verdict(program: serq.Program) -> tuple[str, str]:
    (found,) = serq.claims_in_lean(program, prove=True).verdicts
    return found.status, found.why


@pytest.mark.parametrize(
    ("count", "law"),
    [
        ("3", {3: 1}),
        ("~bernoulli(0.3)", {0: Fraction(7, 10), 1: Fraction(3, 10)}),
        ("~binomial(2, 0.1)", {0: Fraction(81, 100), 1: Fraction(18, 100), 2: Fraction(1, 100)}),
        ("~table(0: 0.9475, 2: 1.05 / 20)", {0: Fraction(9475, 10000), 2: Fraction(525, 10000)}),
        ("2 * ~bernoulli(0.5) + ~bernoulli(0.5)", dict.fromkeys(range(4), Fraction(1, 4))),
        ("~table(0: 1 / 3, 1: 2 / 3)", {0: Fraction(1, 3), 1: Fraction(2, 3)}),
        ("min(~binomial(2, 0.5), 1)", {0: Fraction(1, 4), 1: Fraction(3, 4)}),
        ("3 - ~bernoulli(1)", {2: 1}),
    ],
)
def test_a_law_of_whole_numbers_is_read_exactly(count: str, law: dict[int, Fraction]) -> None:
    program = small(count)
    assert program.workload is not None
    assert law_of(program.workload.arrival.count) == law  # type: ignore[union-attr]


@pytest.mark.parametrize(
    ("parts", "code", "words"),
    [
        ({"count": "~poisson(1)"}, "SQ0803", "the number of sessions in a slot"),
        ({"count": "~bernoulli(0.123456789012)"}, "SQ0803", "the number of sessions in a slot"),
        ({"execute": "4"}, "SQ0801", "other than a slot"),
        ({"execute": "4 + batch.tokens / 8"}, "SQ0801", "other than a slot"),
        ({"length": "1 + ~bernoulli(0.5)"}, "SQ0803", "the work of a session"),
    ],
)
def test_what_is_no_chain_of_slots_is_refused(parts: dict[str, str], code: str, words: str) -> None:
    with pytest.raises(serq.ProgramError) as refused:
        serq.emit_lean(small(**parts))
    (reason,) = refused.value.diagnostics
    assert reason.code == code
    assert words in reason.message
    assert reason.at is not None


def test_the_load_decides() -> None:
    """A session brings 9 tokens, and a slot can serve 6."""
    assert verdict(small("~bernoulli(0.6)")) == ("proved", "9 · E[sessions] = 27/5 < 6")
    assert verdict(small("~bernoulli(0.7)")) == ("refuted", "9 · E[sessions] = 63/10 ≥ 6")
    assert verdict(small("2 * ~bernoulli(0.5)", cap=9)) == ("refuted", "9 · E[sessions] = 9 ≥ 9")


DECODES_ALONE = "branch (running.decoding > 0) { advance running only (decoding); } else { advance running; }"


def test_what_the_load_does_not_decide_is_stated() -> None:
    """Below capacity a schedule has to serve; above it, none is stable."""
    assert verdict(small(schedule=DECODES_ALONE))[0] == "stated"
    assert verdict(small("1", schedule=DECODES_ALONE)) == ("refuted", "9 · E[sessions] = 9 ≥ 6")
    assert verdict(small("1", cap=20)) == (
        "stated", "somebody comes in every slot, so the empty engine, where it starts, never comes back",
    )  # fmt: skip
    assert serq.claims_in_lean(small()).verdicts[0].status == "stated"


def test_poisson_arrivals_stand_beside_the_claims() -> None:
    """5 · 0.125 sessions come in the time of a batch, and bring 9 tokens each."""
    assert verdict(small(arrive="poisson(0.125)")) == ("proved", "9 · E[sessions] = 45/8 < 6")
    assert verdict(small(arrive="poisson(0.2)")) == ("refuted", "9 · E[sessions] = 9 ≥ 6")
    assert verdict(small(arrive="poisson(0.2)", cap=9))[0] == "refuted"
    assert verdict(small(arrive="poisson(0.2)", cap=10))[0] == "proved"
    assert verdict(small(arrive="poisson(0.2)", cap=10, schedule=DECODES_ALONE))[0] == "stated"
    found = serq.claims_in_lean(small(arrive="poisson(0.125)", execute="1 + batch.tokens"), prove=True)
    assert found.verdicts == ()  # its batches take different times


# ---------------------------------------------------------------- real Lean


def sarathi(stem: str, load: float) -> serq.Program:
    text = SARATHI.read_text(encoding="utf-8")
    return serq.compile(SARATHI.with_name(f"{stem}.sq"), source=text, sets={"load": load})


INSTANCES = {
    "table": (sarathi("table", 0.95), "proved"),
    "binomial": (small("~binomial(4, 0.1)", stem="binomial"), "proved"),
    "bernoulli": (
        small(schedule="advance running each at most (3);", cap=7, stem="bernoulli"), "proved",
    ),
    "full": (sarathi("full", 1), "refuted"),
    "above": (small("1 + ~bernoulli(0.25)", stem="above"), "refuted"),
    "leaves_out": (small("1", schedule=DECODES_ALONE, stem="leaves_out"), "refuted"),
    "steps": (small("~bernoulli(0.5)", execute="5 * ceil(batch.tokens / 8)", stem="steps"), "proved"),
    "squares": (
        small("~bernoulli(0.5)", execute="4 + min(1, batch.tokens * batch.tokens)", stem="squares"), "proved",
    ),
    "poisson": (small(arrive="poisson(0.125)", stem="poisson"), "proved"),
    "poisson_full": (small(arrive="poisson(0.2)", cap=9, stem="poisson_full"), "refuted"),
    "poisson_above": (
        small(arrive="poisson(0.3)", schedule=DECODES_ALONE, stem="poisson_above"), "refuted",
    ),
    "halves": (
        small(arrive="poisson(0.125)", execute="2.5 * ceil(batch.tokens / 8)", stem="halves"), "proved",
    ),
}  # fmt: skip


def instance(name: str) -> list[str]:
    """Statements and proofs as parts of one module."""
    emitted = serq.claims_in_lean(INSTANCES[name][0], prove=True)
    assert emitted.verdicts[0].status == INSTANCES[name][1]
    assert emitted.proofs is not None and "sorry" not in emitted.alone
    assert ("theorem machine_follows" in emitted.proofs) == ("theorem serves" in emitted.proofs)
    return [text[text.index("namespace Serq.") :] for text in (emitted.statements, emitted.proofs)]


def module(parts: list[str]) -> str:
    head = ["module", "public import Serq.Chain.Idle", "@[expose] public noncomputable section"]
    return "\n\n".join([*head, *parts]) + "\n"


@pytest.mark.slow
def test_lean_accepts_the_verdicts(lean: Lean) -> None:
    """Programs below capacity, exactly at it and above, in slots and under Poisson arrivals.

    With each that serves everyone that the machine goes through the states of its chain.
    """
    lean.accepts({"Chains": module([part for name in INSTANCES for part in instance(name)])})


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "before", "after"),
    [
        ("table", ": Claims.table.stable", ": ¬ Claims.table.stable"),
        ("full", "¬ Claims.full.stable", "Claims.full.stable"),
        ("poisson", ": Claims.poisson.stable", ": ¬ Claims.poisson.stable"),
        ("poisson_full", "¬ Claims.poisson_full.stable", "Claims.poisson_full.stable"),
        ("poisson", ".decode 2] 5 8\n", ".decode 2] 6 8\n"),
        ("poisson_full", ".decode 2] 1 1\n", ".decode 2] 99 100\n"),
    ],
)
def test_lean_rejects_the_other_verdict(lean: Lean, name: str, before: str, after: str) -> None:
    """And the same one of a load on the other side of capacity."""
    text = module(instance(name))
    assert text.count(before) == 1
    code, said = lean.verdicts({f"Swapped_{name}": text.replace(before, after)})
    assert code == 1, said


@pytest.mark.slow
def test_lean_rejects_a_machine_that_sees_the_numbers_of_runs(lean: Lean) -> None:
    """The chain of a schedule that looks at `joined` may still be stable, but is not that of the machine."""
    statements, proofs = instance("bernoulli")
    assert "advance everyone standing .done" in statements
    seen = statements.replace("standing", "(fun _ r => [(r.joined : Int)])")
    chain = proofs.split("theorem regular", 1)[0]
    lean.accepts({"Numbered": module([seen, f"{chain}end Serq.Proofs.bernoulli"])})
    code, said = lean.verdicts({"Followed": module([seen, proofs])})
    assert code == 1, said
    assert "renumber" in said


@pytest.mark.slow
def test_the_instances_and_controls_of_the_package_hold() -> None:
    code, said = check(PACKAGE.parent, [PACKAGE / "RandomChecks.lean"])
    assert code == 0, said


SCHEDULES = ("advance running decode first;", "advance running;", "advance running by (remaining);")


@pytest.mark.parametrize("schedule", SCHEDULES)
def test_the_model_goes_through_the_slots_of_a_run(schedule: str) -> None:
    """With all sessions of an instant after a wait, and jumps over slots in which nobody comes."""
    program = small("2 * ~bernoulli(0.1)", schedule=schedule)
    machine = Machine(program, Settings(horizon=5.0 * 300 - 1))
    found: list[tuple[float, ...]] = []
    times: list[int] = []
    machine.on_session.append(lambda _: times.append(round(machine.now)))
    machine.on_iteration.append(
        lambda i: found.append((i.start, i.tokens, i.prefilled, i.decoders, i.residents))
    )
    machine.run()
    fragment = read_chain(program).fragment
    constant = fragment.path.constant
    assert constant is not None
    w = Sessions(len(times), times.__getitem__, lambda _: constant)
    steps = [i for _, i in Stepper(fragment).states(w) if i is not None]
    rows = [(i.now, i.tokens, i.prefilled, i.decoders, i.residents) for i in steps]
    assert rows[: len(found)] == found
    assert any(later[0] > row[0] + 5 for row, later in pairwise(found))


@pytest.mark.slow
def test_the_chain_goes_through_the_slots_of_a_run(lean: Lean) -> None:
    """As many runs at the starts of the slots as in the machine; who comes then is before who goes on."""
    parts = []
    for k, schedule in enumerate(SCHEDULES):
        program = small("~binomial(2, 0.4)", cap=4, schedule=schedule)
        sessions, residents = followed(program, slots=60)
        text = serq.claims_in_lean(program).statements.split("namespace Serq.Claims.small", 1)[1]
        body = text.rsplit("end Serq.Claims.small", 1)[0]
        same = f"(chain.visits [] {sessions}).map List.length =\n    {residents}"
        parts.append(f"namespace Chain{k}\n{body}\nexample : {same} := by decide +kernel\nend Chain{k}")
        assert max(residents) > 3
    head = (
        "module\n\npublic import Serq.Random\n\n@[expose] public noncomputable section\n\nnamespace Serq\n\n"
    )
    lean.accepts({"Slots": head + "\n\n".join(parts) + "\n\nend Serq\n"})


def followed(program: serq.Program, slots: int) -> tuple[list[int], list[int]]:
    """Sessions that come in each slot of a run, and runs at the engine when its batch is formed."""
    machine = Machine(program, Settings(horizon=5.0 * slots - 1))
    sessions, residents = [0] * slots, [0] * slots

    def come(_: object) -> None:
        sessions[round(machine.now / 5)] += 1

    machine.on_session.append(come)
    machine.on_iteration.append(lambda i: residents.__setitem__(round(i.start / 5), i.residents))
    machine.run()
    return sessions, residents


def test_a_package_has_what_its_chains_need(tmp_path: Path) -> None:
    from serq.tools.cli import run_command

    assert run_command(["emit-lean", str(SARATHI), "--prove", "-o", str(tmp_path / "lean")]) == 0
    written = {p.relative_to(tmp_path / "lean").as_posix() for p in (tmp_path / "lean").rglob("*.lean")}
    assert {"Serq/Random.lean", "Serq/Chain/Projection.lean", "Serq/Proofs/sarathi_slotted.lean"} <= written


def test_a_chain_is_read_from_the_example() -> None:
    chain = read_chain(serq.compile(SARATHI))
    assert (chain.law, chain.work, chain.load) == (((0, 381), (2, 19)), 1280, Fraction(608, 5))


def test_a_package_keeps_no_proofs_of_what_the_program_was(tmp_path: Path) -> None:
    """Nor does it take away a file that somebody wrote by hand."""
    program, package = tmp_path / "small.sq", tmp_path / "package"
    proofs = package / "Serq" / "Proofs" / "small.lean"

    def emit(length: int, cap: int) -> None:
        text = SMALL
        for name, value in {
            "ARRIVE": "slotted(5, ~bernoulli(0.5))", "CAP": str(cap), "LENGTH": str(length), "EXECUTE": "5",
            "SCHEDULE": "advance running only (decoding);",
        }.items():  # fmt: skip
            text = text.replace(name, value)
        program.write_text(text)
        with contextlib.suppress(SystemExit):
            run_command(["emit-lean", "--prove", "-o", str(package), str(program)])

    for cap, is_there in ((3, True), (6, False), (3, True)):  # refuted above capacity, stated below
        emit(7, cap)
        assert proofs.is_file() is is_there
    proofs.write_text("-- by hand\n")
    emit(7, 6)
    assert proofs.read_text() == "-- by hand\n"
