"""A whole Lean file: the meaning, the program as data, one definition for each claim."""

from __future__ import annotations

import re
from functools import cache
from importlib.resources import files
from pathlib import PurePath

from serq.diagnostics import InternalError
from serq.ir.program import Program
from serq.lean.fragment import Fragment, Stated, read_fragment
from serq.lean.names import doc_comment, fill_term, identifiers, lean_name
from serq.lean.terms import Proposition

MODEL_MODULE = "Serq.Model"
"""What a file imports that does not carry the meaning itself."""


def emit_lean(program: Program, *, import_model: bool = False) -> str:
    """Lean 4 text that states every claim of `program`, without proofs; the same text every time.

    import_model: begin with `import Serq.Model` (`lean_export/Serq/Model.lean`) instead of the
    model's text, so that several programs and their proofs share one meaning.
    Raises ProgramError (SQ08xx) with every construct that cannot be stated faithfully.
    """
    fragment = read_fragment(program)
    stem = PurePath(program.file).stem or "program"
    namespace = f"Serq.Claims.{lean_name(stem)}"
    source = PurePath(program.file).name or "a program without a file"
    parts = [
        "module",
        *(["public import " + MODEL_MODULE] if import_model else []),
        _heading(program, fragment, source),
        "@[expose] public noncomputable section",
        *([] if import_model else [f"namespace Serq\n\n{model_text()}\n\nend Serq"]),
        f"namespace {namespace}",
        *_definitions(fragment, source),
        f"end {namespace}",
    ]
    return "\n\n".join(parts) + "\n"


@cache
def model_text() -> str:
    """The definitions of `model.lean`, without the lines that make it a file of its own."""
    text = (files("serq.lean") / "model.lean").read_text(encoding="utf-8")
    found = re.search(r"^namespace Serq\n+(.*?)\n+end Serq$", text, re.DOTALL | re.MULTILINE)
    if found is None:
        raise InternalError("model.lean has no `namespace Serq`")
    return found[1]


def _heading(program: Program, fragment: Fragment, source: str) -> str:
    names = ", ".join(f"`{s.claim.name}`" for s in fragment.claims) or "none"
    lines = [
        f"The claims of {source}: {names}.",
        f"Written by `serq emit-lean` (program format {program.version}): statements without proofs, "
        "about every run of the program, with exact numbers where a run of serq computes in doubles.",
    ]
    if program.inputs:
        given = ", ".join(f"{i.name} = {i.value:.17g}" for i in program.inputs)
        lines.append(f"Its inputs here: {given}.")
    if fragment.ticks != 1:
        lines.append(f"One unit of its clock is {fragment.ticks} ticks.")
    return doc_comment("\n".join(lines), "/-!")


def _definitions(fragment: Fragment, source: str) -> list[str]:
    """The program as data, and its claims."""
    program = "program"
    while program in {s.claim.name for s in fragment.claims}:
        program += "_"
    data = _program(fragment, source, program)
    claims = [(s, _claim(s, program)) for s in fragment.claims]
    # A claim may be called `max`, or like a definition of the model. Protected, it does not stand
    # before the other in the claims that follow.
    taken = identifiers("".join([model_text(), data, *(body for _, body in claims)]))
    return [data, *(_definition(s, body, s.claim.name in taken) for s, body in claims)]


def _definition(stated: Stated, body: str, protected: bool) -> str:
    """A claim, under its own name and with its own words."""
    claim = stated.claim
    text = " ".join(claim.text.split()) or claim.name
    place = f"Line {claim.at.line}: " if claim.at else ""
    head = f"{'protected ' if protected else ''}def {lean_name(claim.name)} : Prop :="
    return "\n".join([doc_comment(f"{place}`{text}`"), head, body])


def _program(fragment: Fragment, source: str, name: str) -> str:
    kind, amount = fragment.arrivals
    runs = ", ".join(f".{mode} {tokens}" for mode, tokens in fragment.server)
    fields = [
        ("budget", str(fragment.budget)),
        ("most", "none" if fragment.most is None else f"some {fragment.most}"),
        ("schedule", "[" + ", ".join(_test(only) for only in fragment.schedule) + "]"),
        ("execute", f"fun {_used('batch', fragment.execute)} => {fragment.execute}"),
        ("server", f"[{runs}]"),
        ("arrivals", f".{kind} {amount}"),
    ]
    lines = [
        doc_comment(f"Engine `{fragment.engine.name}` of {source}, with its server and its arrivals."),
        f"def {name} : Program where",
        *(fill_term(f"  {field} :=", text, 4) for field, text in fields),
    ]
    return "\n".join(lines)


def _test(only: Proposition) -> str:
    """The test of an `advance running` as a function to Bool."""
    if only.text in ("True", "False"):
        return f"fun _ _ => {only.text.lower()}"
    return f"fun {_used('running', only.text)} {_used('r', only.text)} => decide ({only.text})"


def _used(variable: str, text: str) -> str:
    """A variable to bind, or `_` where it is not read."""
    return variable if re.search(rf"\b{variable}\.", text) else "_"


def _claim(stated: Stated, program: str) -> str:
    head = f"  {stated.quantifier} {program} fun {_used('i', stated.proposition)} =>"
    return fill_term(head, stated.proposition, 4)
