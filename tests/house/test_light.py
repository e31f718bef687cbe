"""What is loaded when: a command pays only for what it uses."""

from __future__ import annotations

import os
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
    heavy = {"numpy", "click", "cattrs", "lark", "attrs", "serq.diagnostics", "serq.syntax", "serq.ir"}
    assert not heavy & loaded_after("import serq")


def test_checking_a_program_loads_no_machine_and_no_statistics() -> None:
    code = "from serq.tools.cli import run_command\nassert run_command(['check', 'examples/hello.sq']) == 0"
    loaded = loaded_after(code)
    assert not {"numpy", "cattrs", "serq.report", "serq.machine.loop", "serq.lean"} & loaded


@pytest.mark.slow
def test_checking_a_program_takes_less_than_twice_its_imports(tmp_path: Path) -> None:
    """In processor time, with the bytecode cached as after an installation."""
    # Some environments forbid to write bytecode; compiling sixty files would drown what is measured.
    environment = {k: v for k, v in os.environ.items() if k != "PYTHONDONTWRITEBYTECODE"}
    environment["PYTHONPYCACHEPREFIX"] = str(tmp_path)

    def spent(*arguments: str) -> float:
        child = subprocess.Popen(
            [sys.executable, *arguments], cwd=ROOT, env=environment, stdout=subprocess.DEVNULL
        )
        _, status, usage = os.wait4(child.pid, 0)
        child.returncode = os.waitstatus_to_exitcode(status)
        assert child.returncode == 0
        return usage.ru_utime + usage.ru_stime

    # In turn, so that what else the machine does meets both.
    pairs = [
        (spent("-m", "serq", "check", "examples/hello.sq"), spent("-c", "import click, attrs, lark"))
        for _ in range(20)
    ]
    assert min(check for check, _ in pairs) < 2 * min(imports for _, imports in pairs)
