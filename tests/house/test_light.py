"""What is loaded when: a command pays only for what it uses."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


def loaded_after(code: str) -> set[str]:
    """Top-level names of the modules that are loaded after running `code`."""
    probe = f"import sys\n{code}\nprint(*sys.modules, file=sys.stderr)"
    done = subprocess.run([sys.executable, "-c", probe], cwd=ROOT, capture_output=True, text=True, check=True)
    return set(done.stderr.split())


def test_importing_serq_loads_nothing_heavy() -> None:
    heavy = {"numpy", "click", "cattrs", "lark", "serq.machine", "serq.syntax", "serq.ir"}
    assert not heavy & loaded_after("import serq")


def test_checking_a_program_loads_no_machine_and_no_statistics() -> None:
    code = "from serq.tools.cli import run_command\nassert run_command(['check', 'examples/hello.sq']) == 0"
    loaded = loaded_after(code)
    assert not {"numpy", "cattrs", "serq.report", "serq.machine.loop", "serq.lean"} & loaded


@pytest.mark.slow
def test_checking_a_program_takes_less_than_twice_its_imports() -> None:
    import time

    def fastest(*arguments: str) -> float:
        times = []
        for _ in range(7):
            begun = time.perf_counter()
            subprocess.run([sys.executable, *arguments], cwd=ROOT, check=True, stdout=subprocess.DEVNULL)
            times.append(time.perf_counter() - begun)
        return min(times)

    imports = fastest("-c", "import click, attrs, lark")
    assert fastest("-m", "serq", "check", "examples/hello.sq") < 2 * imports
