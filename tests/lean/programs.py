"""Programs for the tests of statements, as text."""

from __future__ import annotations

import re
from pathlib import Path

import serq
from serq.lean import emit_lean

ROOT = Path(__file__).parents[2]
PACKAGE = ROOT / "lean_export" / "Serq"
SARATHI = ROOT / "examples" / "papers" / "dai_sarathi.sq"
FASTERTRANSFORMER = ROOT / "examples" / "papers" / "dai_fastertransformer.sq"


def small(
    claim: str = "tokens > 0",
    *,
    items: str = "",
    engine: str = "",
    cap: str = "8",
    schedule: str = "advance running;",
    execute: str = "1 + batch.tokens",
    workload: str = "arrive renewal(10);",
    server: str = "run e prefill (cost(e, 5)); run e decode (cost(e, 3));",
    claims: str = "",
) -> str:
    """A program that can be stated, with some of its parts replaced. claim: about every iteration."""
    return (
        f"fn main() {{\n  device gpu {{ }}\n  engine e on gpu {{ tokens cap {cap}; {engine}\n"
        f"    schedule {{ {schedule} }}\n    execute ({execute}); }}\n  {items}\n"
        f"  workload {{ {workload} }}\n  server {{ {server} }}\n"
        f"  claim c: every iteration of e ({claim});\n  {claims}\n}}\n"
    )


def stated(source: str, name: str = "small.sq") -> str:
    """The Lean text of a program, without the model."""
    return emit_lean(serq.compile(name, source=source), import_model=True)


def proposition(claim: str, **parts: str) -> str:
    """What is stated about an iteration `i`, on one line."""
    text = stated(small(claim, **parts))
    (found,) = re.findall(
        r"EveryIteration program workload fun \w+ => (.*?)\n\nend", re.sub(r"\n    ", " ", text), re.DOTALL
    )
    return str(found)
