"""`serq emit-lean`: where the Lean text goes, and a table of what became of each claim."""

from __future__ import annotations

import json
import os
import re
from pathlib import Path
from typing import Any

import serq
from serq.diagnostics import ProgramError, diagnose
from serq.ir.program import Program
from serq.lean.module import module_stem, module_text, package_text
from serq.lean.prove import Emitted, Verdict
from serq.tools.saying import print_exact, print_text, writing
from serq.tools.writing import write_file

WRITTEN = "Written by `serq emit-lean"
"""What stands in the heading of every file that is written here."""


def emit_program(program: Program, output: str | None, *, prove: bool, as_json: bool) -> str:
    """State the claims of `program`; returns the table, for whoever wants to show it.

    output: a file that ends in `.lean` and then stands alone, or a folder for a Lake package; None for
    standard output. Nothing is written when something cannot be. Raises ProgramError.
    """
    emitted = serq.claims_in_lean(program, prove=prove)
    files: dict[str, str] = {}
    if output is not None:
        files = _files(emitted, output)
        for path, text in files.items():
            _refuse_another(path, text)
        for path, text in files.items():
            with writing(path):
                if path != output:
                    os.makedirs(os.path.dirname(path), exist_ok=True)
                write_file(path, text)
        if not output.endswith(".lean") or os.path.isdir(output):
            _remove_old_proofs(emitted, output)
    if as_json:
        listing = verdicts_to_dict(program, emitted, list(files))
        if output is None:
            listing["lean"] = emitted.alone
        print_exact(json.dumps(listing, ensure_ascii=False, indent=1))
        return ""
    said = table(emitted.verdicts)
    if not prove and len(files) < 2 and all(v.status == "stated" for v in emitted.verdicts):
        said = ""  # one file with all the claims, as it was asked for
    if output is None:
        print_exact(emitted.alone)
        return said
    if said:
        print_text(said)
    return ""


def _files(emitted: Emitted, output: str) -> dict[str, str]:
    """What is to be written where."""
    if output.endswith(".lean") and not os.path.isdir(output):
        return {output: emitted.alone}
    stem = module_stem(emitted.stem)
    folder = Path(output)
    texts = {folder / name: package_text(name) for name in ("lakefile.toml", "lean-toolchain")}
    texts |= {folder / "Serq" / f"{name}.lean": module_text(name) for name in emitted.modules}
    texts[folder / "Serq" / "Generated" / f"{stem}.lean"] = emitted.statements
    if emitted.proofs is not None:
        texts[folder / "Serq" / "Proofs" / f"{stem}.lean"] = emitted.proofs
    return {str(path): text for path, text in texts.items()}


def _remove_old_proofs(emitted: Emitted, folder: str) -> None:
    """Proofs that were written of what the program was before are no proofs of what it is now."""
    path = Path(folder) / "Serq" / "Proofs" / f"{module_stem(emitted.stem)}.lean"
    if emitted.proofs is None and path.is_file() and WRITTEN in path.read_text("utf-8", errors="replace"):
        with writing(str(path)):
            path.unlink()


_NAMESPACE = re.compile(r"^namespace Serq\.Claims\.(.+)$", re.MULTILINE)


def _refuse_another(path: str, text: str) -> None:
    """Raise ProgramError when `text` would take the place of another program's claims in a package."""
    ours = _NAMESPACE.search(text)
    if ours is None or not os.path.isfile(path) or Path(path).parent.name != "Generated":
        return
    theirs = _NAMESPACE.search(Path(path).read_text(encoding="utf-8", errors="replace"))
    if theirs is not None and theirs[1] != ours[1]:
        reason = f"it holds the claims of `{theirs[1].strip('«»')}.sq`"
        raise ProgramError([diagnose("SQ0930", path=f"`{path}`", reason=reason)])


# ------------------------------------------------------------------------ the table


def table(verdicts: tuple[Verdict, ...]) -> str:
    """A line for each claim: its name, its line, and what became of it."""
    if not verdicts:
        return "no claims"
    rows = [(v.claim.name, str(v.claim.at.line) if v.claim.at else "", verdict_text(v)) for v in verdicts]
    name = max(len(row[0]) for row in rows)
    line = max(len(row[1]) for row in rows)
    return "\n".join(f"{a:<{name}}  {b:>{line}}  {c}" for a, b, c in rows)


def verdict_text(v: Verdict) -> str:
    """What became of a claim, in words."""
    match v.status:
        case "proved" | "refuted":
            if v.witness is None:
                return f"{v.status} by {' and '.join(v.by)}" + (f": {v.why}" if v.why else "")
            i, count = v.witness.iteration, v.witness.world.count
            where = f"{count} session{'s' * (count != 1)}, {v.witness.steps} steps, at {v.witness.now:.17g}"
            what = "the end" if i is None else f"demand {i.demand}, tokens {i.tokens}"
            return f"{v.status} by witness: {where}: {what}"
        case "outside":
            place = f", line {v.at.line}" if v.at is not None else ""
            return f"outside the fragment: {v.why}{place}"
    return f"stated: {v.why}"


def verdicts_to_dict(program: Program, emitted: Emitted, files: list[str]) -> dict[str, Any]:
    """The same for programs."""
    return {
        "file": program.file,
        "claims": [_verdict_to_dict(v) for v in emitted.verdicts],
        "files": files,
    }


def _verdict_to_dict(v: Verdict) -> dict[str, Any]:
    found: dict[str, Any] = {
        "name": v.claim.name,
        "line": v.claim.at.line if v.claim.at else None,
        "verdict": v.status,
        "by": list(v.by),
    }
    if v.why:
        found["why"] = v.why
    if v.at is not None:
        found["place"] = {"line": v.at.line, "column": v.at.column}
    if v.witness is not None:
        i = v.witness.iteration
        found["witness"] = {
            "sessions": v.witness.world.count, "steps": v.witness.steps, "now": v.witness.now,
        }  # fmt: skip
        if i is not None:
            found["witness"] |= {"demand": i.demand, "tokens": i.tokens}
    return found
