"""Imports go down, never up, and sideways only where it is written here."""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

PACKAGE = Path(__file__).parents[2] / "serq"

GROUND = {"source", "diagnostics", "codes", "spelling", "values", "longfiles"}
EVERYTHING = GROUND | {
    "syntax",
    "ir",
    "check",
    "machine",
    "lean",
    "claims",
    "report",
    "traces",
    "studies",
    "fairness",
    "tools",
    "serq",
}

MAY_IMPORT: dict[str, set[str]] = {
    "source": set(),
    "codes": set(),
    "spelling": set(),
    "longfiles": set(),
    "values": set(),
    "diagnostics": {"source", "codes"},
    "syntax": GROUND,
    "ir": GROUND,
    "check": GROUND | {"syntax", "ir"},
    "machine": GROUND | {"ir"},
    "lean": GROUND | {"ir"},
    "claims": GROUND | {"ir", "machine"},
    "report": GROUND | {"ir", "machine.records"},
    "traces": GROUND | {"report.stats", "report.table"},
    "studies": EVERYTHING,
    "fairness": GROUND,
    "tools": EVERYTHING,
    "serq": EVERYTHING,
}
"""Room -> rooms, or single modules of a room. "serq" is the front door: `__init__` and `__main__`."""

OUTSIDE: dict[str, tuple[str, ...]] = {
    "lark": ("syntax/",),
    "click": ("tools/",),
    "cattrs": ("ir/jsonform.py",),
    "numpy": (
        "fairness/optimal.py",
        "report/",
        "studies/",
        "traces/",
        "machine/draws.py",
        "machine/trace.py",
        "machine/fused/run.py",
        "machine/native/layout.py",
        "machine/native/run.py",
        "machine/reservoir.py",
        "__init__.py",
    ),
    "scipy": ("fairness/optimal.py",),
    "matplotlib": ("traces/plot.py",),
    "sortedcontainers": ("machine/",),
    "attrs": ("",),
    "attr": ("",),
}
"""Package -> where under serq/ it may be imported."""

FILES = sorted(PACKAGE.rglob("*.py"))


def imports_of(file: Path) -> Iterator[tuple[int, str]]:
    """Line and module of every import, the ones inside functions and for type checking included."""
    for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from ((node.lineno, alias.name) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{file}:{node.lineno}: write the whole name of the module"
            names = [f"{node.module}.{alias.name}" for alias in node.names]
            # `from serq.machine import records` names a module, `from serq.source import Span` does not.
            yield from ((node.lineno, name if is_module(name) else node.module or "") for name in names)


def is_module(name: str) -> bool:
    path = PACKAGE.parent.joinpath(*name.split("."))
    return path.is_dir() or path.with_suffix(".py").exists()


def room_of(file: Path) -> str:
    parts = file.relative_to(PACKAGE).with_suffix("").parts
    return "serq" if parts[0].startswith("__") else parts[0]


@pytest.mark.parametrize("file", FILES, ids=lambda f: str(f.relative_to(PACKAGE)))
def test_a_file_imports_only_what_lies_below(file: Path) -> None:
    room = room_of(file)
    for line, module in imports_of(file):
        package, _, inside = module.partition(".")
        if package == "serq":
            target = inside.partition(".")[0] or "serq"
            allowed = target == room or target in MAY_IMPORT[room] or inside in MAY_IMPORT[room]
            assert allowed, f"{file}:{line}: {room} may not import serq.{inside}"
        elif package not in sys.stdlib_module_names:
            where = file.relative_to(PACKAGE).as_posix()
            homes = OUTSIDE.get(package, ())
            allowed = any(where.startswith(home) for home in homes)
            assert allowed, f"{file}:{line}: {package} may not be imported here"


def test_every_room_has_a_row() -> None:
    rooms = {room_of(file) for file in FILES}
    assert rooms <= set(MAY_IMPORT)
