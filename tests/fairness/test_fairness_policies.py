"""The policies of Yao and Zhou, as programs: schedules worked out elsewhere, and what must hold of all."""

from __future__ import annotations

import json
from collections.abc import Sequence
from math import sqrt
from pathlib import Path
from random import Random
from typing import Any

import pytest

import serq
from serq.fairness import externality, intrinsic_work, makespan, split_profit
from serq.machine.settings import Settings
from serq.tools.cli import run_command
from tests.fairness.policies import FOLDER, extents, instance, run
from tests.fairness.simulator import isjl
from tests.machine.test_plain import check
from tests.support.amounts import thinned

CASES = json.loads((Path(__file__).parent / "cases.json").read_text(encoding="utf-8"))["cases"]
"""Schedules of a program that follows the paper step by step and shares nothing with this one."""

PROGRAMS = {
    "FCFS": "fcfs", "SJF": "sjf", "LJF": "ljf", "ISJL2_beta_star": "isjl_two_lanes", "ISJL": "isjl",
    "ISJL_asc": "isjl_shortest_first", "GUARDED_LPT": "guarded_lpt",
    "LITERAL_ALG3_unchecked": "alg3_literal", "ROBUST_ISJL": "robust_isjl", "ONLINE_ISJL": "online_isjl",
}  # fmt: skip
ENTRIES = [(case, policy) for case in CASES for policy in case["policies"]]


@pytest.mark.parametrize(("case", "policy"), ENTRIES, ids=lambda x: x if isinstance(x, str) else x["name"])
def test_every_entry_of_the_cases(case: dict[str, Any], policy: str) -> None:
    want = case["policies"][policy]
    more = {"ROBUST_ISJL": {"upper": case.get("u")}, "ONLINE_ISJL": {"release": case.get("release")}}
    lens = case["o"]
    got = run(PROGRAMS[policy], lens, case["B"], case["alpha"], **more.get(policy, {}))
    assert got.start == want["start"]
    assert got.completion == want["completion"]
    assert (got.gauge("T"), got.gauge("E"), got.gauge("Q")) == (want["makespan"], want["E"], case["Q"])
    assert got.gauge("cost") == want["cost"]
    assert got.report.gauges["extent"].max == want["max_extent"]
    found = extents(got.start, lens)
    assert sum(found) / len(found) == pytest.approx(want["avg_extent"], abs=1e-9)
    assert sum(lens) / got.gauge("T") == pytest.approx(want["throughput"], abs=1e-9)
    releases = case.get("release", [0] * len(lens)) if policy == "ONLINE_ISJL" else [0] * len(lens)
    latency = sum(c - r for c, r in zip(got.completion, releases, strict=True)) / len(lens)
    assert latency == pytest.approx(want["AEL"], abs=1e-9)
    assert (got.claim("fair") == "holds") == want["fair"]
    assert got.report.claim("fair").failures == want["unfair_steps"]
    assert got.report.claim("fair").checked == want["busy_steps"]
    assert {got.claim(name) for name in ("capacity", "decomposition")} == {"holds"}


@pytest.mark.parametrize("length", thinned([1, 2, 3, 5, 50, 1000], 2))
def test_a_long_request_among_short_ones(length: int) -> None:
    """Proposition 5.4: one of L tokens and L of one, two slots."""
    lens = [length, *[1] * length]
    first = run("fcfs", lens, 2, length)
    assert (first.gauge("T"), first.gauge("E")) == (length, length * (length - 1) / 2)
    longest = run("ljf", lens, 2, length)
    assert (longest.gauge("T"), longest.gauge("E")) == (length + (length - 1 + 1) // 2, 0)


@pytest.mark.parametrize(
    ("policy", "lens", "B", "alpha", "more", "steps"),
    [
        ("isjl", [25, 19, 19, 14, 3, 1], 2, 12, {}, 56),
        ("isjl_two_lanes", [25, 19, 19, 14, 3, 1], 2, 12, {"beta": 12}, 56),
        ("isjl_two_lanes", [27, 20, 20, 10, 5, 1, 1], 2, 13, {}, 57),
        ("isjl", [4, 4, 4, 1, 1, 1], 3, 3, {}, 7),
        ("isjl", [4, 4, 4, 2, 2], 4, 2, {}, 6),
        ("isjl", [20, 20, 9, 9], 2, 10, {}, 38),
        ("guarded_lpt", [17, 9, 8], 2, 8, {}, 25),
    ],
)
def test_instances_below_what_the_paper_proves(
    policy: str, lens: list[int], B: int, alpha: int, more: dict[str, float], steps: int
) -> None:
    """The optima are 41, 41, 42, 5, 4, 29 and 17."""
    got = run(policy, lens, B, alpha, **more)
    assert got.gauge("T") == steps
    assert got.claim("fair") == "holds"


ALL = ("isjl", "fcfs", "sjf", "ljf", "guarded_lpt", "isjl_shortest_first", "alg3_literal", "robust_isjl",
       "online_isjl")  # fmt: skip


def check_instance(seed: int, policies: Sequence[str] = ALL) -> int:
    """What must hold of policies on a drawn instance; how many steps the printed algorithm is unfair."""
    random = Random(seed)
    lens, B, alpha = instance(random)
    upper = [n + random.randint(0, 4) for n in lens]
    release = sorted(random.randint(0, sum(lens) // B) for _ in lens)
    more = {"robust_isjl": {"upper": upper}, "online_isjl": {"release": release}}
    unfair = 0
    for policy in policies:
        got = run(policy, lens, B, alpha, **more.get(policy, {}))
        starts = [int(s) for s in got.start]
        assert [c - s for s, c in zip(got.start, got.completion, strict=True)] == lens
        assert got.gauge("T") == makespan(starts, lens)
        assert got.gauge("E") == externality(starts, lens)
        assert got.gauge("Q") == intrinsic_work(lens)
        assert got.claim("decomposition") == "holds"
        parts = split_profit(starts, lens, c=500, tau=1)
        assert got.gauge("cost") == parts.cost / 1e6
        assert got.claim("capacity") == "holds"
        fair = policy not in ("fcfs", "sjf", "alg3_literal")
        if fair:
            assert (got.claim("fair"), got.claim("externality")) == ("holds", "holds")
        assert (got.claim("fair") == "holds") == (max(extents(got.start, lens)) <= alpha)
        if policy == "ljf":
            assert got.gauge("E") == 0
        claim = got.report.claim("fair")
        if policy == "alg3_literal" and claim.failures:
            assert claim.note is not None
            assert claim.note.startswith("iteration ")
            assert claim.note.count("session ") == 2
            unfair += claim.failures
    return unfair


@pytest.mark.parametrize("seed", thinned(range(25)))
def test_what_must_hold_of_a_random_instance(seed: int) -> None:
    check_instance(seed)


def test_the_printed_algorithm_is_unfair_to_some() -> None:
    assert any(check_instance(seed, ["alg3_literal"]) for seed in range(25))


def blocks(first: int, end: int, size: int) -> list[Any]:
    """The first seeds of blocks of instances; all but three take many minutes together."""
    starts = range(first, end, size)
    return [*starts[:3], *(pytest.param(start, marks=pytest.mark.long) for start in starts[3:])]


@pytest.mark.slow
@pytest.mark.parametrize("block", range(0, 2_000, 250))
def test_what_must_hold_of_two_thousand_random_instances(block: int) -> None:
    """ISJL on each of them, and on every fourth another policy in turn."""
    for seed in range(block, block + 250):
        other = [] if seed % 4 else [ALL[1 + seed // 4 % (len(ALL) - 1)]]
        check_instance(seed, ["isjl", *other])


@pytest.mark.slow
@pytest.mark.long
@pytest.mark.parametrize("block", range(25, 2_000, 75))
def test_what_must_hold_of_many_random_instances_under_every_policy(block: int) -> None:
    for seed in range(block, min(block + 75, 2_000)):
        check_instance(seed)


def check_schedules(seed: int) -> None:
    """The programs against the simulator on a drawn instance."""
    random = Random(seed)
    longest = random.choice((3, 8, 25, 60))
    lens = [random.randint(1, longest) for _ in range(random.randint(1, 14))]
    B, alpha = random.randint(1, 6), random.randint(0, longest)
    upper = [n + random.randint(0, max(1, longest // 2)) for n in lens]
    release = sorted(random.randint(0, 2 * longest) for _ in lens)
    beta = (sqrt(17) - 1) / 4 * alpha
    assert run("isjl", lens, B, alpha).start == isjl(lens, B, alpha)
    assert run("isjl_shortest_first", lens, B, alpha).start == isjl(lens, B, alpha, shortest_first=True)
    assert run("isjl_two_lanes", lens, 2, alpha).start == isjl(lens, 2, alpha, beta=beta)
    assert run("robust_isjl", lens, B, alpha, upper=upper).start == isjl(lens, B, alpha, sizes=upper)
    assert run("online_isjl", lens, B, alpha, release=release).start == isjl(lens, B, alpha, release=release)
    assert run("guarded_lpt", lens, B, alpha).start == isjl(lens, B, alpha, packs=False)
    assert run("alg3_literal", lens, B, alpha).start == isjl(lens, B, alpha, literal=True)


@pytest.mark.parametrize("seed", thinned([*range(20), 93]))
def test_the_programs_follow_the_description(seed: int) -> None:
    check_schedules(seed)


@pytest.mark.slow
@pytest.mark.parametrize("block", blocks(20, 1_000, 70))
def test_the_programs_follow_the_description_on_many_instances(block: int) -> None:
    for seed in range(block, min(block + 70, 1_000)):
        check_schedules(seed)


def test_the_simulator_gives_the_cases() -> None:
    for case in CASES:
        lens, B, alpha = case["o"], case["B"], case["alpha"]
        modes = {
            "ISJL": isjl(lens, B, alpha),
            "ISJL_asc": isjl(lens, B, alpha, shortest_first=True),
            "GUARDED_LPT": isjl(lens, B, alpha, packs=False),
            "LITERAL_ALG3_unchecked": isjl(lens, B, alpha, literal=True),
            "ROBUST_ISJL": isjl(lens, B, alpha, sizes=case.get("u")),
            "ONLINE_ISJL": isjl(lens, B, alpha, release=case.get("release")),
        }
        for policy in modes.keys() & case["policies"].keys():
            assert modes[policy] == case["policies"][policy]["start"], (case["name"], policy)


@pytest.mark.parametrize("path", sorted(FOLDER.glob("*.sq")), ids=lambda p: p.stem)
def test_a_policy_runs_the_same_on_both_machines(path: Path) -> None:
    check(serq.compile(path), Settings(200.0))


def test_inputs_that_do_not_fit_together_are_told() -> None:
    fewer = run("online_isjl", [3, 2, 1], 2, 1, release=[0, 1])
    assert (fewer.claim("complete"), fewer.claim("fair")) == ("fails", "holds")
    assert run("online_isjl", [3, 2], 2, 1, release=[0, 1]).claim("complete") == "holds"
    assert run("robust_isjl", [4, 4], 2, 1, upper=[4, 3]).claim("bounded") == "fails"
    assert run("robust_isjl", [4, 4], 2, 1, upper=[4, 5]).claim("bounded") == "holds"
    nobody = run("isjl", [4, 4], 2, -1)
    assert nobody.claim("externality") == "not_evaluated"


def test_isjl_is_short() -> None:
    text = (FOLDER / "isjl.sq").read_text(encoding="utf-8")
    assert sum(1 for line in text.splitlines() if line.strip() and not line.strip().startswith("//")) <= 90


@pytest.mark.parametrize("path", sorted(FOLDER.glob("*.sq")), ids=lambda p: p.stem)
def test_a_policy_says_the_same_as_json(path: Path, tmp_path: Path) -> None:
    program = serq.compile(path)
    written = tmp_path / "policy.json"
    written.write_text(serq.program_to_json(program), encoding="utf-8")
    again = serq.compile(written)
    assert again == program
    assert serq.run(again, horizon=200).to_dict() == serq.run(program, horizon=200).to_dict()


def test_lean_does_not_state_them() -> None:
    with pytest.raises(serq.ProgramError) as refused:
        serq.emit_lean(FOLDER / "isjl.sq")
    assert {d.code for d in refused.value.diagnostics} <= {"SQ0801", "SQ0802", "SQ0803", "SQ0808"}
    assert any("a scheduling program" in d.message for d in refused.value.diagnostics)


def test_lists_on_the_command_line(capsys: pytest.CaptureFixture[str]) -> None:
    words = ["run", str(FOLDER / "isjl.sq"), "--horizon", "1e6", "--", "--lens", "4,4,4,1,1,1", "--alpha=3"]
    assert run_command(words) == 0
    assert "\nT          6.99998 " in capsys.readouterr().out
