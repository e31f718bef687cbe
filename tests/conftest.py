"""What tests of several rooms share."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from io import BytesIO, TextIOWrapper
from pathlib import Path
from types import ModuleType

import pytest
from hypothesis import settings

from serq.tools.cli import run_command

# A busy machine is no failure; a change is judged by the same examples every time.
settings.register_profile("serq", deadline=None, derandomize="CI" in os.environ)
settings.register_profile("fast", settings.get_profile("serq"), max_examples=12)


def pytest_configure(config: pytest.Config) -> None:
    """Few examples where slow tests are left out, see `tests/support/amounts.py`."""
    settings.load_profile("fast" if "not slow" in config.option.markexpr else "serq")


ROOT = Path(__file__).parent.parent


@pytest.fixture(scope="session")
def root() -> Path:
    """The checkout."""
    return ROOT


@pytest.fixture(scope="session")
def reference() -> ModuleType:
    """The reference implementation; a test that asks for it is skipped where it is missing."""
    return pytest.importorskip("pyserq", reason="the reference implementation is not installed")


Shell = Callable[..., "subprocess.CompletedProcess[str]"]


@pytest.fixture
def shell(monkeypatch: pytest.MonkeyPatch) -> Shell:
    """Runs `serq` in the checkout as a shell would: shell("check", "examples/hello.sq", input="…").

    It is run in this process, which takes a hundredth of the time; with streams of its own, so that what it
    does to them is as in a process.
    """

    def run(*arguments: str, input: str = "") -> subprocess.CompletedProcess[str]:
        streams = [TextIOWrapper(BytesIO(), encoding="utf-8", newline="") for _ in range(2)]
        stdin = TextIOWrapper(BytesIO(input.encode()), encoding="utf-8")
        with monkeypatch.context() as patch:
            patch.chdir(ROOT)
            for name, stream in zip(("stdin", "stdout", "stderr"), (stdin, *streams), strict=True):
                patch.setattr(sys, name, stream)
            code = run_command(arguments)
        said = []
        for stream in streams:
            stream.flush()
            assert isinstance(stream.buffer, BytesIO)
            said.append(stream.buffer.getvalue().decode())
        return subprocess.CompletedProcess(["serq", *arguments], code, *said)

    return run


@pytest.fixture
def process() -> Shell:
    """Runs `serq` in a process of its own, in the checkout: for what only a process has."""

    def run(*arguments: str, **options: object) -> subprocess.CompletedProcess[str]:
        command = [sys.executable, "-m", "serq", *arguments]
        settings = {"cwd": ROOT, "capture_output": True, "text": True, "timeout": 120} | options
        return subprocess.run(command, **settings)  # type: ignore[call-overload]

    return run
