"""Compiles C and keeps what comes of it: by the system's compiler, or the one of `serq[fast]`.

`SERQ_CC` names another compiler, as `CC` does; `SERQ_CC=none` does without.
"""

from __future__ import annotations

import ctypes
import hashlib
import importlib.util
import os
import platform
import shutil
import subprocess
import sys
import tempfile
from functools import cache
from pathlib import Path

FLAGS = ("-O3", "-std=c11", "-shared", "-fPIC", "-ffp-contract=off", "-fno-fast-math")
"""IEEE arithmetic: nothing is contracted or reordered, so that figures are the same bit for bit."""

SECONDS = 60
"""After which a compiler is given up."""


@cache
def compiler() -> tuple[str, ...] | None:
    """The command of a C compiler, None where there is none."""
    if os.name != "posix":
        return None
    if chosen := os.environ.get("SERQ_CC", os.environ.get("CC", "")).split():
        return tuple(chosen) if shutil.which(chosen[0]) else None
    for name in ("cc", "gcc", "clang"):
        if found := shutil.which(name):
            return (found,)
    if importlib.util.find_spec("ziglang"):
        return (sys.executable, "-m", "ziglang", "cc")
    return None


def directory() -> Path:
    """Where compiled programs are kept: `serq` in the user's cache directory (XDG)."""
    base = os.environ.get("XDG_CACHE_HOME") or os.path.join(os.path.expanduser("~"), ".cache")
    return Path(base) / "serq"


def place_of(text: str) -> Path:
    """Where the library of a text is kept: other text, flags or another machine have another place."""
    told = "\n".join((*FLAGS, platform.machine(), platform.system(), text))
    return directory() / f"{hashlib.sha256(told.encode()).hexdigest()[:32]}.so"


def is_kept(text: str) -> bool:
    """Whether a text has been compiled before."""
    return place_of(text).exists()


def compile_text(text: str) -> ctypes.CDLL:
    """The library of a text. Raises OSError where there is no compiler, or it has failed."""
    place, command = place_of(text), compiler()
    if place.exists():
        return ctypes.CDLL(str(place))
    if command is None:
        raise OSError("there is no C compiler")
    place.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=place.parent) as work:
        source, made = Path(work) / "program.c", Path(work) / "program.so"
        source.write_text(text, encoding="utf-8")
        try:
            subprocess.run(
                [*command, *FLAGS, "-o", str(made), str(source), "-lm"],
                check=True, capture_output=True, timeout=SECONDS,
            )  # fmt: skip
        except subprocess.SubprocessError as fault:
            raise OSError(f"the C compiler has failed: {fault}") from fault
        made.replace(place)
    return ctypes.CDLL(str(place))
