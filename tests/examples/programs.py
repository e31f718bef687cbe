"""The shipped programs, and what their comments promise about their runs.

The comment at the head of a program has the commands it is made for, and below a command how the answers
to its claims differ from those of the first:

    //   serq run examples/engines/vllm.sq --horizon 10000000 --arrivals 200 --set rate=0.5
    //     `waits_for_tokens` holds

The answers of the first command stand above the claims, as the first word of their comments: `// Fails: …`.
"""

from __future__ import annotations

import re
import shlex
from functools import lru_cache
from pathlib import Path

from attrs import field, frozen

import serq

ROOT = Path(__file__).parents[2]
EXAMPLES = ROOT / "examples"
LIBRARIES = EXAMPLES / "lib"
FILES = sorted(EXAMPLES.rglob("*.sq"))
PROGRAMS = [path for path in FILES if path.parent != LIBRARIES]

MODELS = [path for path in PROGRAMS if path.parent.name in ("engines", "multi-turn")]
"""The programs whose comments promise an answer for every claim."""

_COMMAND = re.compile(r"^//   serq run (?P<arguments>\S.*)\n(?P<remarks>(?://     \S.*\n)*)", re.MULTILINE)
_REMARK = re.compile(r"`(?P<claim>\w+)` (?P<answer>holds|fails)")
_CLAIM = re.compile(
    r"^ *// (?P<answer>Holds|Fails)\b.*\n(?: *//.*\n)*(?: *)claim (?P<claim>\w+):", re.MULTILINE
)
_USE = re.compile(r'^use "(?P<file>[^"]+\.sq)";$', re.MULTILINE)


@frozen
class Command:
    """A run that a program is made for: its settings, and the answers to claims that it promises."""

    path: Path
    horizon: float
    arrivals: int | None
    sets: tuple[tuple[str, str], ...]
    promised: dict[str, str] = field(eq=False)

    def __str__(self) -> str:
        return " ".join([self.path.stem, *(f"{name}={value}" for name, value in self.sets)])


def commands(path: Path) -> list[Command]:
    """The commands at the head of a program, in order; the first one promises an answer for every claim."""
    text = path.read_text(encoding="utf-8")
    answers = {claim["claim"]: claim["answer"].lower() for claim in _CLAIM.finditer(text)}
    found = []
    for command in _COMMAND.finditer(text):
        file, *options = shlex.split(command["arguments"])
        assert ROOT / file == path, f"{path} gives a command for {file}"
        pairs = list(zip(options[::2], options[1::2], strict=True))
        settings = {option: value for option, value in pairs if option != "--set"}
        sets = tuple(tuple(value.split("=", 1)) for option, value in pairs if option == "--set")
        changed = {remark["claim"]: remark["answer"] for remark in _REMARK.finditer(command["remarks"])}
        arrivals = settings.pop("--arrivals", None)
        horizon = float(settings.pop("--horizon"))
        assert not settings, f"nothing here understands {settings}"
        promised = changed if found else answers | changed
        found.append(Command(path, horizon, int(arrivals) if arrivals else None, sets, promised))  # type: ignore[arg-type]
    return found


@lru_cache
def run(command: Command) -> serq.Report:
    """The report of a command; several tests look at one."""
    program = serq.compile(command.path, sets=dict(command.sets))
    return serq.run(program, horizon=command.horizon, arrivals=command.arrivals)


def with_libraries(path: Path) -> str:
    """The text of a program with its libraries written out."""

    def library(use: re.Match[str]) -> str:
        return with_libraries(path.parent / use["file"])

    return _USE.sub(library, path.read_text(encoding="utf-8"))


def without_draws(path: Path) -> str:
    """The text of a program with its libraries written out, and numbers that vary in place of draws.

    The reference draws other numbers for the same seed, so that only runs without any can be compared.
    The fractions are sixteenths: no rounding differs.
    """
    at = "(serial * 13 + turn_no * 7 + 3) / 16"
    text = re.sub(r"~exp\(", f"2 * ({at} - floor({at})) * (", with_libraries(path))
    text = re.sub(r"~uniform\(0, ", f"({at} - floor({at})) * (", text)
    text = re.sub(r"poisson\((\w+) / 1000\)", r"renewal(1000 / \1)", text)
    assert "~" not in text
    assert "poisson" not in text
    return text
