"""Asking real Lean."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from serq.lean.chain import BATCH_MODULES
from serq.lean.module import Text, module_stem, phases_text
from serq.lean.prove import Emitted
from serq.lean.steps import Iteration
from serq.lean.witness import World
from tests.lean.programs import ROOT

CHECKER = Path(__file__).parent / "checker" / "lean_check.py"

TRACE = """
/-- The iterations among the next `k` states. -/
def trace (p : Program) (w : Sessions) : Nat → State → List (List Int)
  | 0, _ => []
  | k + 1, s =>
    let later := match next p w s with
      | none => []
      | some t => t.force (trace p w k)
    if Starts p s then row (iteration p s) :: later else later
where
  row (i : Iteration) : List Int :=
    [i.now, i.tokens, i.prefilled, i.decoders, i.residents, i.demand, i.served, i.arrived, i.waiting]
      ++ i.registers
"""


class Lean:
    """A folder of Lean files beside the package's own, and a Lean that checks them."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        for name in BATCH_MODULES:
            to = folder / "Serq" / f"{name}.lean"
            to.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(ROOT / "lean_export" / "Serq" / f"{name}.lean", to)

    def verdicts(self, files: dict[str, str]) -> tuple[int, str]:
        """The checker's exit code and what it said about files, given as path = text."""
        paths = [self.folder / f"{name}.lean" for name in files]
        for path, text in zip(paths, files.values(), strict=True):
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")
        return check(self.folder, paths)

    def decides(self, emitted: Emitted, changes: dict[str, str] | None = None) -> tuple[int, str]:
        """What Lean says about the modules of a program, with some of their words changed."""
        files = {f"Serq/Generated/{module_stem(emitted.stem)}": emitted.statements}
        if emitted.proofs is not None:
            files[f"Serq/Proofs/{module_stem(emitted.stem)}"] = emitted.proofs
        for before, after in (changes or {}).items():
            assert any(before in text for text in files.values()), before
            files = {name: text.replace(before, after) for name, text in files.items()}
        return self.verdicts(files)

    def accepts(self, files: dict[str, str]) -> None:
        """Fails unless Lean accepts all the files."""
        code, said = self.verdicts(files)
        assert code == 0, said


def check(root: Path, paths: list[Path]) -> tuple[int, str]:
    """Ask Lean; skips where it cannot be had, unless SERQ_REQUIRE_LEAN is 1."""
    command = [sys.executable, str(CHECKER), "--root", str(root), *map(str, paths)]
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode == 2 and os.environ.get("SERQ_REQUIRE_LEAN") != "1":
        pytest.skip(f"NOT CHECKED WITH LEAN: it cannot be run here: {done.stderr.strip().splitlines()[-1]}")
    return done.returncode, done.stdout + done.stderr


def world_text(text: Text, world: World) -> str:
    """Sessions as a Lean term; lengths of a program without draws."""
    time = f"k => (k + 1) * {world.gap}" if world.gap else "_ => 0"
    return f"⟨{world.count}, fun {time}, fun k => {phases_text(text.fragment.path)}⟩"


def goes_through(text: Text, world: World, rows: list[Iteration], limit: int) -> str:
    """An example that holds when the model goes through `rows`, the first `limit`, and no others."""
    namespace = text.namespace.removeprefix("Serq.")
    steps = len(rows) + world.count + 2
    listed = ",\n    ".join(str(values(row)) for row in rows)
    take = f".take {limit}" if len(rows) == limit else ""
    return (
        f"example :\n    let w : Sessions := {world_text(text, world)}\n"
        f"    (trace {namespace}.program w {steps} (initial {namespace}.program w)){take} =\n"
        f"   [{listed}] := by decide +kernel"
    )


def values(i: Iteration) -> list[int]:
    """An iteration as a row of numbers."""
    return [
        i.now, i.tokens, i.prefilled, i.decoders, i.residents, i.demand, i.served, i.arrived, i.waiting,
        *i.registers,
    ]  # fmt: skip


def evaluation(parts: list[str]) -> str:
    """A module that evaluates the model."""
    head = ["module", "public import Serq.Schemes", "@[expose] public noncomputable section"]
    return "\n\n".join([*head, f"namespace Serq\n{TRACE}\nend Serq", *parts]) + "\n"


def in_serq(parts: list[str]) -> str:
    return "\n\n".join(["namespace Serq", *parts, "end Serq"])


def together(emitted: dict[str, Emitted]) -> str:
    """One module with the statements and proofs of several programs."""
    parts = ["module", "public import Serq.Schemes", "@[expose] public noncomputable section"]
    parts.append("set_option linter.unusedSimpArgs false")
    for e in emitted.values():
        for text in (e.statements, e.proofs or ""):
            found = re.search(r"^namespace (\S+)\n.*^end \1$", text, re.DOTALL | re.MULTILINE)
            parts += [found[0]] if found else []
    return "\n\n".join(parts) + "\n"
