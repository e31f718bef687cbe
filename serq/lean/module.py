"""A whole Lean file: the program as data, its workloads, one definition for each claim."""

from __future__ import annotations

import re
from functools import cache
from importlib.resources import files
from pathlib import Path, PurePath

from serq.diagnostics import InternalError, Sink
from serq.ir.expr import Attr, walk
from serq.ir.program import Program
from serq.lean.draws import Variable
from serq.lean.fragment import Arrivals, Fragment, Stated, read_fragment
from serq.lean.names import doc_comment, fill_term, identifiers, lean_name
from serq.lean.schedule import Clause, schedule_text
from serq.lean.sessions import Path as SessionPath
from serq.lean.terms import Reader, as_number, scaled

MODULES = ("Model", "Lemmas", "Schemes")
"""The files of the package that are written by hand, each after those it imports."""


def emit_lean(program: Program, *, import_model: bool = False) -> str:
    """Lean 4 text that states the claims of `program`, without proofs; the same text every time.

    import_model: begin with `import Serq.Model` (`lean_export/Serq/Model.lean`) instead of the
    model's text, so that several programs and their proofs share one meaning.
    Raises ProgramError (SQ08xx) with every construct that cannot be stated faithfully; a claim that
    cannot be is left out, and named in the text, when another one can.
    """
    text = Text(program, read_fragment(program))
    if import_model:
        return text.statements()
    return text.alone(("Model",), [])


class Text:
    """The parts of a program's Lean files."""

    def __init__(self, program: Program, fragment: Fragment) -> None:
        self.fragment = fragment
        self.stem = PurePath(program.file).stem or "program"
        self.source = PurePath(program.file).name or "a program without a file"
        self.namespace = f"Serq.Claims.{lean_name(self.stem)}"
        self.heading = _heading(program, fragment, self.source)
        self.any_times = fragment.arrivals.kind == "any"
        taken = {s.claim.name for s in fragment.claims}
        self.program = _free("program", taken)
        self.workload = _free("workload", taken)
        self.poisson = _free("stable", taken)
        self.restricted: dict[str, str] = {}
        for s in fragment.claims:
            if s.given is not None:
                name = self.restricted[s.claim.name] = _free(f"workload_{s.claim.name}", taken)
                taken.add(name)

    def statements(self, definitions: list[str] | None = None, imported: str = "Model") -> str:
        """A module that imports the model, or another of the package that does; by default it has the
        claims."""
        parts = [
            "module",
            f"public import Serq.{imported.replace('/', '.')}",
            self.heading,
            "@[expose] public noncomputable section",
            *(definitions or self.definitions()),
        ]
        return "\n\n".join(parts) + "\n"

    def alone(
        self,
        modules: tuple[str, ...],
        proofs: list[str],
        *,
        heading: str | None = None,
        definitions: list[str] | None = None,
    ) -> str:
        """A module that carries the text of others, then the definitions, by default those of the claims,
        and then `proofs`."""
        parts = [
            "module",
            heading or self.heading,
            "@[expose] public noncomputable section",
            *(f"namespace Serq\n\n{module_body(name)}\n\nend Serq" for name in modules),
            *(definitions or self.definitions()),
            *proofs,
        ]
        return "\n\n".join(parts) + "\n"

    def definitions(self) -> list[str]:
        """The program as data, its workloads and its claims, in their namespace."""
        data = [self.program_text(), self._workload()]
        claims = [(s, self.claim_term(s)) for s in self.fragment.claims]
        # A claim may be called `max`, or like a definition of the model. Protected, it does not stand
        # before the other in the claims that follow.
        taken = identifiers("".join([module_body("Model"), *data, *(body for _, body in claims)]))
        stated = []
        for s, body in claims:
            if s.given is not None:
                stated.append(self._restricted(s))
            stated.append(_definition(s, body, s.claim.name in taken))
        return [f"namespace {self.namespace}", *data, *stated, f"end {self.namespace}"]

    def claim_term(self, s: Stated) -> str:
        """What a claim says, as a term."""
        workload = self.restricted.get(s.claim.name, self.workload)
        names = f"{lean_name(self.program)} {lean_name(workload)}"
        variable = "e" if s.quantifier == "AtEnd" else "i"
        head = f"  {s.quantifier} {names} fun {_used(variable, s.proposition)} =>"
        if self.any_times:
            head = f"  {'∃' if s.quantifier == 'SomeIteration' else '∀'} ticks, 1 ≤ ticks"
            head += f" {'∧' if s.quantifier == 'SomeIteration' else '→'}"
            names = f"({lean_name(self.program)} ticks) {lean_name(workload)}"
            head += f" {s.quantifier} {names} fun {_used(variable, s.proposition)} =>"
        return fill_term(head, s.proposition, 4)

    def program_text(self) -> str:
        """The engine as data."""
        f = self.fragment
        slot = f.path.slot
        fields = [
            ("budget", str(f.budget)),
            ("most", "none" if f.most is None else f"some {f.most}"),
            ("slots", "none" if slot is None else f"some {slot.count}"),
            ("registers", "[" + ", ".join(map(str, f.registers)) + "]"),
            ("schedule", schedule_text(f.schedule)),
            ("execute", f"fun {_used('batch', f.execute.text)} => {execute_text(f)}"),
        ]
        lines = [
            doc_comment(f"Engine `{f.engine.name}` of {self.source}{_fineness(self.any_times)}."),
            f"def {lean_name(self.program)}{' (ticks : Nat)' if self.any_times else ''} : Program where",
            *(fill_term(f"  {field} :=", text, 4) for field, text in fields),
        ]
        return "\n".join(lines)

    def _workload(self) -> str:
        words = f"The sessions of {self.source}, any number of them"
        if self.fragment.arrivals.kind == "batch":
            words = f"The sessions of {self.source}"
        for v in self.fragment.path.variables:
            words += f"; {v.name} stands for {v.law}"
        head = f"def {lean_name(self.workload)} (w : Sessions) : Prop :="
        body = fill_term("  " + arrivals_text(self.fragment.arrivals), "∧ " + self._sessions(None), 4)
        return "\n".join([doc_comment(words + "."), head, body])

    def _restricted(self, s: Stated) -> str:
        name = self.restricted[s.claim.name]
        words = f"The sessions that claim `{s.claim.name}` speaks of."
        head = f"def {lean_name(name)} (w : Sessions) : Prop :="
        body = fill_term("  " + arrivals_text(self.fragment.arrivals), "∧ " + self._sessions(s.given), 4)
        return "\n".join([doc_comment(words), head, body])

    def _sessions(self, given: Clause | None) -> str:
        path = self.fragment.path
        limits = [f"{text} ∧ " for v in path.variables for _, text in v.limits]
        every, restriction = "∀ k", ""
        if given is not None and reads_serial(given):
            # Sessions that do not come need not satisfy it.
            every, restriction = "∀ k : Nat", f"(k < w.count → {given.text}) ∧ "
        elif given is not None:
            restriction = f"({given.text}) ∧ "
        some = _quantified(path.variables)
        return f"{every}, {some}{''.join(limits)}{restriction}w.phases k = {phases_text(path)}"


def _quantified(variables: tuple[Variable, ...]) -> str:
    """`∃`, for the draws of a session."""
    if not variables:
        return ""
    if all(v.natural for v in variables):
        return f"∃ {' '.join(v.name for v in variables)} : Nat, "
    return f"∃ {' '.join(f'({v.name} : {v.type})' for v in variables)}, "


def reads_serial(given: Clause) -> bool:
    """Whether a claim's `given` tells sessions apart by their number."""
    return any(isinstance(x, Attr) for x in walk(given.expr))


def _fineness(any_times: bool) -> str:
    if not any_times:
        return ""
    return ", where `ticks` make a unit of the clock: times are fractions with any denominator"


def execute_text(f: Fragment) -> str:
    """`execute` in ticks, of a `batch`."""
    return f"({f.execute.text}) * ticks" if f.arrivals.kind == "any" else f.execute.text


def phases_text(path: SessionPath) -> str:
    """The runs of session `k`, as a list."""
    return "[" + ", ".join(f".{mode} {length}" for mode, length in _lengths(path)) + "]"


def _lengths(path: SessionPath) -> list[tuple[str, str]]:
    constant = path.constant
    if constant is not None:
        return [(mode, str(tokens)) for mode, tokens in constant]
    found = []
    for mode, e in path.phases:
        term = Reader("a length", path.readings(), Sink()).term(e)
        if term is None:
            raise InternalError("a length was read and cannot be written")
        value = as_number(term)
        text, _ = scaled(value, 1)
        found.append((mode, text if text.isdigit() else f"(Int.toNat ({text}))"))
    return found


def arrivals_text(arrivals: Arrivals) -> str:
    """How sessions `w` arrive, as a proposition."""
    match arrivals.kind:
        case "renewal":
            return f"Renewal {arrivals.amount} w"
        case "batch":
            return f"AtOnce {arrivals.amount} w"
    return "(w.time 0 = 0 ∧ Apart w)" if arrivals.from_0 else "Apart w"


def module_stem(stem: str) -> str:
    """The name of a program's modules and of their files, for a program in `stem`.sq."""
    plain = re.sub(r"[^A-Za-z0-9_]", "_", stem)
    return plain if lean_name(plain) == plain else f"program_{plain}"


def module_text(name: str) -> str:
    """A module of the package, as it is written by hand."""
    return package_text(f"{name}.lean")


@cache
def package_text(name: str) -> str:
    """A file of the package that is written by hand."""
    shipped = files("serq.lean") / "package" / name
    if shipped.is_file():
        return shipped.read_text(encoding="utf-8")
    # Where serq runs from its sources the package lies beside it.
    package = Path(__file__).parents[2] / "lean_export"
    beside = package / "Serq" / name if name.endswith(".lean") else package / name
    return beside.read_text(encoding="utf-8")


@cache
def module_body(name: str) -> str:
    """The definitions of a file of the package, without the lines that make it a file of its own."""
    found = re.search(r"^namespace Serq\n+(.*?)\n+end Serq$", module_text(name), re.DOTALL | re.MULTILINE)
    if found is None:
        raise InternalError(f"{name}.lean has no `namespace Serq`")
    return found[1]


def _free(name: str, taken: set[str]) -> str:
    while name in taken:
        name += "_"
    return name


def _heading(program: Program, fragment: Fragment, source: str) -> str:
    names = ", ".join(f"`{s.claim.name}`" for s in fragment.claims) or "none"
    lines = [
        f"The claims of {source}: {names}.",
        f"Written by `serq emit-lean` (program format {program.version}): statements without proofs, "
        "about every run of the program, with exact numbers where a run of serq computes in doubles.",
    ]
    if fragment.outside:
        left_out = ", ".join(f"`{o.claim.name}`" for o in fragment.outside)
        lines.append(f"Not stated here, because it cannot be: {left_out}.")
    if program.inputs:
        given = ", ".join(f"{i.name} = {i.value:.17g}" for i in program.inputs)
        lines.append(f"Its inputs here: {given}.")
    if fragment.ticks != 1:
        lines.append(f"One unit of its clock is {fragment.ticks} ticks.")
    for number, register in enumerate(fragment.register_names):
        lines.append(f"Register {number} is `{register}`.")
    if fragment.path.slot is not None:
        lines.append(f"A slot is {fragment.path.slot.units} of the pool `{fragment.path.slot.pool}`.")
    return doc_comment("\n".join(lines), "/-!")


def _definition(stated: Stated, body: str, protected: bool) -> str:
    """A claim, under its own name and with its own words."""
    claim = stated.claim
    text = " ".join(claim.text.split()) or claim.name
    place = f"Line {claim.at.line}: " if claim.at else ""
    head = f"{'protected ' if protected else ''}def {lean_name(claim.name)} : Prop :="
    return "\n".join([doc_comment(f"{place}`{text}`"), head, body])


def _used(variable: str, text: str) -> str:
    """A variable to bind, or `_` where it is not read."""
    return variable if re.search(rf"\b{variable}\.", text) else "_"
