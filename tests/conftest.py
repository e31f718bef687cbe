"""What tests of several rooms share."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from types import ModuleType

import pytest
from hypothesis import settings

# A busy machine is no failure; a change is judged by the same examples every time.
settings.register_profile("serq", deadline=None, derandomize="CI" in os.environ)
settings.load_profile("serq")

ROOT = Path(__file__).parent.parent


@pytest.fixture(scope="session")
def root() -> Path:
    """The checkout."""
    return ROOT


@pytest.fixture(scope="session")
def reference() -> ModuleType:
    """The reference implementation; a test that asks for it is skipped where it is missing."""
    return pytest.importorskip("pyserq", reason="the reference implementation is not installed")


@pytest.fixture
def shell() -> Callable[..., subprocess.CompletedProcess[str]]:
    """Runs `serq` in a process of its own, in the checkout: shell("check", "examples/hello.sq")."""

    def run(*arguments: str, **options: object) -> subprocess.CompletedProcess[str]:
        command = [sys.executable, "-m", "serq", *arguments]
        settings = {"cwd": ROOT, "capture_output": True, "text": True, "timeout": 120} | options
        return subprocess.run(command, **settings)  # type: ignore[call-overload]

    return run
