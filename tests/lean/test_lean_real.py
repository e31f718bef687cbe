"""Real Lean accepts the statements, and its model goes through the iterations of the programs.

What the model computes is compared with `iterations`, which plays the same events in Python, and
the propositions of claims with the failures that a run of serq counts.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

import serq
from serq.diagnostics import ProgramError
from serq.lean import emit_lean
from serq.lean.names import KEYWORDS
from tests.lean.drawn import random_case
from tests.lean.iterations import Iteration, everyone, iterations, one_phase
from tests.lean.programs import FASTERTRANSFORMER, ROOT, SARATHI, small, stated

pytestmark = pytest.mark.slow

CHECKER = Path(__file__).parent / "checker" / "lean_check.py"

EVALUATION = """
/-- The iterations among the next `k` states. -/
def trace (p : Program) (n : Nat) : Nat → Option State → List Iteration
  | 0, _ => []
  | _, none => []
  | k + 1, some s =>
    (if tokens p s.runs = 0 then [] else [iteration p s]) ++ trace p n k (next p n s)

def row (i : Iteration) : List Int :=
  [i.now, i.tokens, i.prefilled, i.decoders, i.residents, i.demand, i.served, i.arrived]
"""


@pytest.fixture(scope="session")
def package(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder of Lean files with the model in it."""
    folder = tmp_path_factory.mktemp("lean")
    (folder / "Serq").mkdir()
    shutil.copy(ROOT / "serq" / "lean" / "model.lean", folder / "Serq" / "Model.lean")
    return folder


@pytest.fixture(scope="session")
def accepted(package: Path) -> Callable[..., None]:
    """Asks Lean to check files, given as name = text. Skips where Lean cannot be had."""

    def check(**files: str) -> None:
        paths = [package / f"{name}.lean" for name in files]
        for path, text in zip(paths, files.values(), strict=True):
            path.write_text(text, encoding="utf-8")
        command = [sys.executable, str(CHECKER), "--root", str(package), *map(str, paths)]
        done = subprocess.run(command, capture_output=True, text=True)
        if done.returncode == 2 and os.environ.get("SERQ_REQUIRE_LEAN") != "1":
            pytest.skip(f"Lean cannot be run here: {done.stderr.strip().splitlines()[-1]}")
        assert done.returncode == 0, done.stdout + done.stderr

    return check


def evaluation(imports: list[str], body: list[str]) -> str:
    """A module that evaluates the model."""
    lines = ["module", "", *(f"public import {name}" for name in ("Serq.Model", *imports))]
    return "\n".join(
        [*lines, "", "noncomputable section", "", "namespace Serq", EVALUATION, *body, "", "end Serq", ""]
    )


def expected(program: str, sessions: int, rows: list[Iteration]) -> str:
    """An example that holds when the model goes through `rows`, and through no others before."""
    steps = len(rows) + sessions + 1
    listed = ",\n    ".join(str(list(row)) for row in rows)
    return (
        f"example : ((trace {program} {sessions} {steps} (some (initial {program} {sessions}))).map row)"
        f".take {len(rows)} =\n   [{listed}] := by decide +kernel"
    )


def dai_rows(
    schedule: tuple[tuple[str, Callable[[bool, int, int], bool]], ...], sessions: int
) -> list[Iteration]:
    return iterations(
        budget=128,
        execute=lambda tokens, *_: 1128 + 3547 * -(-tokens // 128),
        server=[("prefill", 290), ("decode", 990)],
        sessions=sessions,
        gap=46750,
        schedule=schedule,
        limit=35,
    )


def test_the_statements_of_the_papers_programs(accepted: Callable[..., None]) -> None:
    accepted(
        dai_sarathi=emit_lean(serq.compile(SARATHI)),
        dai_fastertransformer=emit_lean(serq.compile(FASTERTRANSFORMER)),
    )


def test_the_model_goes_through_the_iterations_of_the_papers_programs(accepted: Callable[..., None]) -> None:
    # semantics, section 14: at 93500, when the second request comes, one engine fills its batch
    # and the other serves the single decode.
    sarathi = dai_rows((("admission", everyone),), 6)
    faster = dai_rows((("admission", one_phase),), 6)
    assert [r[1:] for r in sarathi if r.now == 93500] == [(128, 127, 1, 2, 291, 297, 2)]
    assert [r[1:] for r in faster if r.now == 93500] == [(1, 0, 1, 2, 291, 297, 2)]
    a, b = "Claims.sarathi.program", "Claims.faster.program"
    accepted(
        sarathi=emit_lean(serq.compile("sarathi.sq", source=SARATHI.read_text()), import_model=True),
        faster=emit_lean(serq.compile("faster.sq", source=FASTERTRANSFORMER.read_text()), import_model=True),
        Papers=evaluation(["sarathi", "faster"], [expected(a, 6, sarathi), expected(b, 6, faster)]),
    )


def test_the_model_goes_through_the_iterations_of_random_programs(accepted: Callable[..., None]) -> None:
    cases = {f"random{seed}": case for seed in range(24) if (case := random_case(seed)).rows}
    assert len(cases) > 20
    programs = {name: stated(small(**case.parts), f"{name}.sq") for name, case in cases.items()}
    bodies = [re.sub(r"\A.*?(?=namespace)", "", text, flags=re.DOTALL) for text in programs.values()]
    one_file = "module\n\npublic import Serq.Model\n\n@[expose] public noncomputable section\n\n" + "\n".join(
        bodies
    )
    checks = [expected(f"Claims.{name}.program", case.sessions, case.rows) for name, case in cases.items()]
    accepted(programs=one_file, Random=evaluation(["programs"], checks))


CLAIMS = [
    "tokens - demand < 0",
    "tokens - (demand - served) < 12",
    "-tokens < -7 || !(demand > 3)",
    "served / 3 <= (now - 50) / 5",
    "ceil(demand / 3) == floor((demand + 1) / 3)",
    "ceil(served / 7) > floor(now / 13) - 1",
    "floor((served - 30) / 7) >= 0",
    "abs(served - now / 2) <= 12.5",
    "min(demand / 2, served / 3) < max(tokens, 2.5) - 2",
    "(decoders > 0) + (prefilled > 0) == 2",
    "(decoders > 0) - (prefilled > 0) < 0",
    "decoders ? prefilled : tokens - 8",
    "(decoders > 1 ? served / 2 : 1 - arrived) <= 2",
    "(decoders ? demand == 1 : demand > 4) && !(prefilled - 8)",
    "sum k in 4 (abs(tokens - k)) < 20",
    "residents == arrived || queue(e) > 3",
]


def test_a_proposition_is_true_where_a_run_finds_its_claim_true(accepted: Callable[..., None]) -> None:
    claims = " ".join(f"claim c{k}: every iteration of e ({claim});" for k, claim in enumerate(CLAIMS))
    server = "run e prefill (cost(e, 11)); run e decode (cost(e, 5)); run e prefill (cost(e, 2));"
    source = small(execute="3 + batch.tokens", workload="arrive renewal(31);", server=server, claims=claims)
    text = stated(source, "claims.sq")
    program = serq.compile("claims.sq", source=source)
    report = serq.run(program, horizon=10000, arrivals=9)
    body = ["def iterations := trace Claims.claims.program 9 60 (some (initial Claims.claims.program 9))"]
    for k in range(len(CLAIMS)):
        found = re.search(rf"def c{k} : Prop :=\n  EveryIteration program (fun .*?)\n\n", text, re.DOTALL)
        assert found
        outcome = report.claim(f"c{k}")
        proposition = re.sub(
            r"^fun (\w+) =>(.*)", r"fun (\1 : Iteration) => !decide (\2)", found[1], flags=re.DOTALL
        )
        body.append(f"example : iterations.countP ({proposition}) = {outcome.failures} := by decide +kernel")
        assert 0 < outcome.failures < outcome.checked, f"{CLAIMS[k]} tells nothing apart"
    body.append(f"example : iterations.length = {outcome.checked} := by decide +kernel")
    accepted(claims=text, Truth=evaluation(["claims"], body))


def test_lean_takes_every_name_and_the_deepest_expressions(accepted: Callable[..., None]) -> None:
    names = sorted(
        KEYWORDS | {"max", "truth", "Nat", "Int", "EveryIteration", "Serq", "i", "größer", "_", "_x"}
    )
    plain = [name for name in names if _is_free(name)]
    claims = " ".join(
        f"claim {name}: every iteration of e (max(tokens, abs(demand)) > (now > 1));" for name in plain
    )
    deep = "tokens"
    for k in range(28):
        deep = f"(now > {k} ? ({deep}) / 2 : {k})"
    claims += f" claim deep: some iteration of e ({deep} == 1);"
    claims += f" claim wide: some iteration of e ({' || '.join(['now == 1'] * 50)});"
    claims += " claim long: some iteration of e (sum k in 50 (tokens - k) == 1);"
    text = stated(small(claims=claims), "a-b end.sq")
    assert len(plain) > 80
    accepted(Names=text)


def _is_free(name: str) -> bool:
    """Whether a program may call a claim so."""
    source = small(claims=f"claim {name}: every iteration of e (1);")
    try:
        serq.compile("small.sq", source=source)
    except ProgramError:
        return False
    return True
