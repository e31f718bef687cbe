"""The wheel is complete: it parses and runs a program far from the checkout, and prepares nothing first."""

from __future__ import annotations

import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


@pytest.mark.slow
def test_the_wheel_carries_the_grammar_and_runs(tmp_path: Path) -> None:
    pytest.importorskip("hatchling", reason="hatchling builds the wheel")
    build = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(tmp_path)]
    subprocess.run(build, cwd=ROOT, check=True, capture_output=True)
    (wheel,) = tmp_path.glob("*.whl")
    site = tmp_path / "site"
    with zipfile.ZipFile(wheel) as archive:
        names = set(archive.namelist())
        archive.extractall(site)
    assert {
        "serq/syntax/serq.lark",
        "serq/syntax/serq.tables",
        "serq/py.typed",
        "serq/codes/examples/SQ0201.sq",
    } <= names
    assert not [name for name in names if not name.startswith(("serq/", "serq-"))]
    script = (
        f"import sys; sys.path.insert(0, {str(site)!r})\n"
        "import serq; assert serq.__file__.startswith(sys.path[0]), serq.__file__\n"
        f"report = serq.run({str(ROOT / 'examples/hello.sq')!r}, horizon=100)\n"
        "print(report.claim('work_conserving').result)\n"
        "assert 'lark' not in sys.modules, 'the grammar was analysed'\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", script], cwd=tmp_path, capture_output=True, text=True, check=True
    )
    assert done.stdout == "holds\n"
