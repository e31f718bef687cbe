"""One Lean for all tests of this folder: what it has accepted once is not checked again."""

from __future__ import annotations

import pytest

from tests.lean.real import Lean


@pytest.fixture(scope="session")
def lean(tmp_path_factory: pytest.TempPathFactory) -> Lean:
    return Lean(tmp_path_factory.mktemp("lean"))
