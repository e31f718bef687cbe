"""Files appear whole or not at all."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from serq.tools.writing import write_file


def test_a_file_is_written_with_the_usual_permissions(tmp_path: Path) -> None:
    path = tmp_path / "a.txt"
    mask = os.umask(0o022)
    try:
        write_file(str(path), "ä\n")
    finally:
        os.umask(mask)
    assert path.read_bytes() == "ä\n".encode()
    assert path.stat().st_mode & 0o777 == 0o644
    path.chmod(0o600)
    write_file(str(path), "new\n")
    assert path.read_text() == "new\n"
    assert path.stat().st_mode & 0o777 == 0o600


def test_a_link_stays_a_link(tmp_path: Path) -> None:
    (tmp_path / "real").write_text("old")
    (tmp_path / "link").symlink_to("real")
    write_file(str(tmp_path / "link"), "new")
    assert (tmp_path / "link").is_symlink()
    assert (tmp_path / "real").read_text() == "new"


def test_a_failure_leaves_the_old_file_and_nothing_else(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "a.txt"
    path.write_text("old")

    def fail(*_: object) -> None:
        raise OSError("no")

    monkeypatch.setattr(os, "replace", fail)
    with pytest.raises(OSError, match="no"):
        write_file(str(path), "new")
    assert path.read_text() == "old"
    assert [p.name for p in tmp_path.iterdir()] == ["a.txt"]


def test_devices_are_written_and_folders_are_not(tmp_path: Path) -> None:
    write_file(os.devnull, "gone")
    with pytest.raises(IsADirectoryError):
        write_file(str(tmp_path), "x")
