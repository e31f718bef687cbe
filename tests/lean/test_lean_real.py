"""Real Lean accepts the statements and the proofs, and its model goes through the programs' iterations.

What the model computes is compared with `serq.lean.steps`, which `test_lean_steps` compares with the
machine, and the propositions of claims with the failures that a run of serq counts.
"""

from __future__ import annotations

import contextlib
import re
import shutil
import subprocess
import time
from collections import Counter
from pathlib import Path

import pytest

import serq
from serq.diagnostics import ProgramError
from serq.lean import witness
from serq.lean.fragment import read_fragment
from serq.lean.module import Text, module_text
from serq.lean.names import KEYWORDS
from tests.lean.drawn import random_case
from tests.lean.programs import FASTERTRANSFORMER, PACKAGE, SARATHI, small, stated
from tests.lean.real import Lean, check, evaluation, goes_through, in_serq, together
from tests.lean.wild import wild_program

pytestmark = pytest.mark.slow


def test_the_whole_package() -> None:
    began = time.monotonic()
    code, said = check(PACKAGE.parent, [PACKAGE / "Proved.lean"])
    assert code == 0, said
    assert time.monotonic() - began < 600


@pytest.mark.long
def test_files_that_stand_alone(lean: Lean) -> None:
    """With the text of the package in them, and nothing to import."""
    lean.accepts({"Stated": serq.emit_lean(SARATHI), "Proven": serq.emit_lean(FASTERTRANSFORMER, prove=True)})


# --------------------------------------------------------------------- the model


def random_file(seeds: range, rows: int = 6) -> str:
    """A module that compares the model with random programs."""
    parts = []
    for seed in seeds:
        case = random_case(seed, rows)
        program = serq.compile(f"random{seed}.sq", source=small(**case.parts))
        text = Text(program, read_fragment(program))
        opening, program_as_data, *_, closing = text.definitions()
        compared = in_serq([goes_through(text, case.world, case.rows, rows)])
        parts += [opening, program_as_data, closing, compared]
    return evaluation(parts)


@pytest.mark.parametrize("first", [0, 100])
def test_the_model_goes_through_the_iterations_of_random_programs(lean: Lean, first: int) -> None:
    lean.accepts({f"Random{first}": random_file(range(first, first + 100))})


def test_a_model_that_is_broken_is_found_out(tmp_path: Path) -> None:
    broken = Lean(tmp_path)
    model = module_text("Model")
    swapped = model.replace("[if r.decoding then 0 else 1]", "[if r.decoding then 1 else 0]")
    assert swapped != model
    (tmp_path / "Serq" / "Model.lean").write_text(swapped, encoding="utf-8")
    code, said = broken.verdicts({"Random": random_file(range(17, 18), rows=12)})
    assert code == 1
    assert re.search(r"Random\.lean:\d+:\d+: error", said) and "Serq/Schemes.lean: ok" in said


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


def test_a_proposition_is_true_where_a_run_finds_its_claim_true(lean: Lean) -> None:
    claims = " ".join(f"claim c{k}: every iteration of e ({claim});" for k, claim in enumerate(CLAIMS))
    server = "run e prefill (cost(e, 11)); run e decode (cost(e, 5)); run e prefill (cost(e, 2));"
    source = small(execute="3 + batch.tokens", workload="arrive renewal(31);", server=server, claims=claims)
    program = serq.compile("claims.sq", source=source)
    text = Text(program, read_fragment(program))
    report = serq.run(program, horizon=10000, arrivals=9)
    name = "Claims.claims.program"
    body = [
        """def states (p : Program) (w : Sessions) : Nat → State → List State
  | 0, s => [s]
  | k + 1, s => s :: match next p w s with
    | none => []
    | some t => t.force (states p w k)""",
        "def w : Sessions := ⟨9, fun k => (k + 1) * 31, fun _ => [.prefill 11, .decode 5, .prefill 2]⟩",
        f"def iterations := ((states {name} w 120 (initial {name} w)).filter\n"
        f"    fun s => decide (Starts {name} s)).map (iteration {name})",
    ]
    for k in range(len(CLAIMS)):
        outcome = report.claim(f"c{k}")
        (claim,) = (s for s in text.fragment.claims if s.claim.name == f"c{k}")
        body.append(
            f"example : iterations.countP (fun i : Iteration => !decide ({claim.proposition})) = "
            f"{outcome.failures} := by decide +kernel"
        )
        assert 0 < outcome.failures < outcome.checked, f"{CLAIMS[k]} tells nothing apart"
    body.append(f"example : iterations.length = {outcome.checked} := by decide +kernel")
    lean.accepts({"Truth": evaluation([*text.definitions(), in_serq(body)])})


# ----------------------------------------------------------------- what is proved

SLOTS = dict(
    items="pool s on e { }", engine="s cap 4; state n = 0;", workload="arrive batch(7);",
    schedule="set n = n + 1; advance running decode first; admit waiting while (n > 0);",
    server="hold s (cost(s, 1)) { run e prefill (cost(e, 5)); run e decode (cost(e, 3)); }",
    claims="claim full: every iteration of e (tokens == min(demand, 8) && used(s) <= 4);"
    "claim crowd: some iteration of e (queued(s) > 2 && n > 1);"
    "claim nobody: some iteration of e (decoders > residents || free(s) < 0);"
    "claim late: every iteration of e (n < 5);",
)  # fmt: skip
DRAWN = dict(
    workload="arrive poisson(0.1); init { set p = min(20, 1 + floor(~exp(5)));"
    " set o = max(1, ceil(~exp(3))); set b = ~bernoulli(0.5); }",
    server="run e prefill (cost(e, p + b)); run e decode (cost(e, o));",
    claims="claim small given (p + o <= 30): every iteration of e (served + demand <= 31 * arrived);"
    "claim large: every iteration of e (served <= 31 * arrived);"
    "claim two given (b == 1): some iteration of e (residents > 1);",
)
ORCA = dict(
    schedule="branch (running.decoding > 2) { advance running only (decoding) each at most (4); }"
    " else { } advance running only (!decoding || remaining >= 0) by (remaining) each at most (4);",
    execute="0.5 + batch.prefilled + batch.decoding / 4 + max(0, running.count - 3)",
    claims="claim wc: every iteration of e (demand < 8 || tokens == 8);"
    "claim rate: every iteration of e (served <= 4 * now && (tokens > 8 ? 0 : abs(-tokens) <= 8));"
    "claim ends: every iteration of e (arrived * 10 <= now);",
)
VANILLA = dict(
    schedule="exclusive prefill; admit waiting while (running.preempted == 0);",
    execute="1 + ceil(batch.tokens / 3)",
    workload="arrive renewal(6);",
    claims="claim wc: every iteration of e (demand < 8 || tokens == 8);"
    "claim rate: every iteration of e (served * 4 <= 8 * now);"
    "claim bounded: every iteration of e (8 * arrived <= served + 72);",
)


ENDS = dict(
    server="run e prefill (cost(e, 5)); run e decode (cost(e, 3)); observe o = 8; observe t = now;",
    claims="claim all: at end (total(o) == 8 * count(o) && count(o) == count(t));"
    "claim rate: at end (9 * count(t) <= now && 10 * count(o) <= now);"
    "claim few: at end (count(o) < 4);",
)
ANY = dict(
    schedule="advance running only (decoding); advance running;",
    execute="0.5 + batch.tokens / 2",
    workload="arrive renewal(~exp(3));",
    claims="claim rate: every iteration of e (now * 16 >= 9 * served);"
    "claim wc: every iteration of e (tokens == min(8, demand));"
    "claim early: every iteration of e (now > 3);"
    "claim never: some iteration of e (tokens > 8);",
)


NEGATIVE = dict(
    cap="4",
    workload="arrive renewal(60); init { set p = max(1, 5 - floor(~uniform(-10, 0))); }",
    server="run e prefill (cost(e, p)); run e decode (cost(e, 1 + ceil(abs(p) / 3)));",
    claims="claim low: every iteration of e (served + demand <= 8 * arrived);"
    "claim high: every iteration of e (served + demand <= 21 * arrived);"
    "claim same given (p == 6): every iteration of e (9 * arrived <= served + 9 * 60);",
)
NUMBERED = dict(
    server="run e prefill (cost(e, serial + 1)); run e decode (cost(e, 2)); observe o = 3;",
    claims="claim few given (serial < 3): every iteration of e (arrived <= 2);"
    "claim any given (serial < 3): some iteration of e (arrived == 3);"
    "claim known given (serial < 3): at end (total(o) == 3 * count(o));"
    "claim later: at end (now <= 49); claim two given (serial < 3): at end (count(o) == 2);",
)
ARRAY = dict(
    engine="state f[3] = 1;",
    schedule="advance running; set f[1] = batch.tokens + f[2];",
    claims="claim differ: some iteration of e (f[0] != f[1]); claim stay: every iteration of e (f[1] < 7);",
)
TRIVIAL = dict(
    claims="claim rfl: every iteration of e (tokens <= 8 && (1 || now > 3));"
    "claim one: some iteration of e (1); claim same: some iteration of e (tokens == tokens);"
    "claim two: some iteration of e (queue(e) == residents);"
    "claim witness: some iteration of e (tokens == 5); claim world_one: every iteration of e (tokens > 3);",
)


def test_programs_of_every_kind_are_decided(lean: Lean) -> None:
    """Lean accepts every proof; which claims have one, and which way, is worked out by hand."""
    wanted = {
        "slots": (SLOTS, {"full": "proved", "crowd": "proved", "nobody": "refuted", "late": "refuted"}),
        "drawn": (DRAWN, {"small": "proved", "large": "refuted", "two": "proved"}),
        "orca": (ORCA, {"wc": "proved", "rate": "proved", "ends": "proved"}),
        "ends": (ENDS, {"all": "proved", "rate": "proved", "few": "refuted"}),
        "any": (ANY, {"rate": "proved", "wc": "proved", "early": "refuted", "never": "refuted"}),
        "vanilla": (VANILLA, {"wc": "stated", "rate": "proved", "bounded": "stated"}),
        "negative": (NEGATIVE, {"low": "refuted", "high": "proved", "same": "proved"}),
        "numbered": (
            NUMBERED,
            {"few": "refuted", "any": "proved", "known": "proved", "later": "refuted", "two": "refuted"},
        ),
        "array": (ARRAY, {"differ": "proved", "stay": "refuted"}),
        "trivial": (
            TRIVIAL,
            {"rfl": "proved", "one": "proved", "same": "proved", "two": "proved", "witness": "proved",
             "world_one": "refuted"},
        ),
    }  # fmt: skip
    every = {}
    for name, (parts, verdicts) in wanted.items():
        emitted = serq.claims_in_lean(serq.compile(f"{name}.sq", source=small(**parts)), prove=True)
        found = {v.claim.name: v.status for v in emitted.verdicts if v.claim.name != "c"}
        assert (name, found) == (name, verdicts)
        every[name] = emitted
    lean.accepts({"Kinds": together(every)})


def test_every_proof_about_a_random_program_is_accepted(lean: Lean, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever is said to be decided: claims over draws, arrays, slots and gaps of every kind."""
    monkeypatch.setattr(witness, "MOST_STATES", 400)
    monkeypatch.setattr(witness, "MOST_WORK", 300)
    every = {}
    for seed in range(16):
        with contextlib.suppress(ProgramError):
            program = serq.compile(f"wild{seed}.sq", source=wild_program(seed).source)
            every[str(seed)] = serq.claims_in_lean(program, prove=True)
    found = Counter(v.status for emitted in every.values() for v in emitted.verdicts)
    assert min(found["proved"], found["refuted"]) > 40
    lean.accepts({"Wild": together(every)})


@pytest.mark.long
def test_a_long_witness_is_accepted(lean: Lean) -> None:
    """291 steps with up to 30 sessions: the backlog reaches that of 20 sessions (1402500 by a run)."""
    source = SARATHI.read_text(encoding="utf-8").rstrip().removesuffix("}")
    source += "claim few: every iteration of llm (arrived * 1280 <= served + 20 * 1280); }"
    emitted = serq.claims_in_lean(serq.compile("long.sq", source=source), prove=True)
    assert emitted.proofs is not None and "maxHeartbeats 0" in emitted.proofs
    lean.accepts({"Long": together({"long": emitted})})


@pytest.mark.parametrize(
    ("program", "before", "after"),
    [
        (FASTERTRANSFORMER, "i.demand ≥ 128 ∧ i.tokens < 128", "i.demand ≥ 292 ∧ i.tokens < 128"),
        (FASTERTRANSFORMER, "⟨93500, 2,", "⟨93501, 2,"),
        (FASTERTRANSFORMER, "refine witness", "sorry --"),
        (FASTERTRANSFORMER, "public section", "axiom magic : False\n\npublic section"),
        (SARATHI, "i.served * 4675 ≤ 128 * i.now", "i.served * 4676 ≤ 128 * i.now"),
        (SARATHI, "i.demand < 128 ∨", "i.demand < 127 ∨"),
        (SARATHI, "everyone standing", "(fun _ r => r.decoding) standing"),
        (SARATHI, "Renewal 46750 w", "Renewal 46749 w"),
    ],
)
def test_a_changed_claim_proof_or_witness_is_rejected(
    lean: Lean, program: Path, before: str, after: str
) -> None:
    code, said = lean.decides(serq.claims_in_lean(program, prove=True), {before: after})
    assert code == 1 and re.search("error|sorry|axiom", said)


def test_lean_takes_every_name_and_the_deepest_expressions(lean: Lean) -> None:
    names = sorted(
        KEYWORDS | {"max", "truth", "Nat", "Int", "EveryIteration", "Serq", "i", "größer", "_", "_x", "w"}
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
    few = " ".join(
        f"claim {name}: every iteration of e (tokens <= 8);"
        for name in ("max", "budget", "end", "h", "rfl", "trivial", "Reachable", "Facts", "Worlds")
    )
    lean.accepts({"Names": text})
    emitted = serq.claims_in_lean(serq.compile("a-b end.sq", source=small(claims=few)), prove=True)
    code, said = lean.decides(emitted)
    assert code == 0, said


def _is_free(name: str) -> bool:
    """Whether a program may call a claim so."""
    source = small(claims=f"claim {name}: every iteration of e (1);")
    try:
        serq.compile("small.sq", source=source)
    except ProgramError:
        return False
    return True


def test_lake_builds_the_package(tmp_path: Path) -> None:
    if shutil.which("lake") is None:
        pytest.skip("NOT TRIED: there is no lake on PATH")
    package = tmp_path / "lean_export"
    shutil.copytree(PACKAGE.parent, package)
    done = subprocess.run(["lake", "build"], cwd=package, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
