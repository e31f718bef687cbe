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


troubles: dict[str, None] = {}
"""Why runs of this process did without a compiler that was asked for."""


@cache
def compiler() -> tuple[str, ...] | None:
    """The command of a C compiler, None where there is none."""
    if os.name != "posix" or not directory().is_absolute():  # nobody's home is known
        return None
    if chosen := os.environ.get("SERQ_CC", os.environ.get("CC", "")).split():
        if shutil.which(chosen[0]):
            return tuple(chosen)
        if chosen != ["none"]:
            troubles[f"the C compiler `{chosen[0]}`, which SERQ_CC or CC names, is not there"] = None
        return None
    for name in ("cc", "gcc", "clang"):
        if found := shutil.which(name):
            return (found,)
    if importlib.util.find_spec("ziglang"):
        return (sys.executable, "-m", "ziglang", "cc")
    return None


def directory() -> Path:
    """Where compiled programs are kept: `serq` in the user's cache directory (XDG)."""
    chosen = os.environ.get("XDG_CACHE_HOME", "")
    base = chosen if os.path.isabs(chosen) else os.path.join(os.path.expanduser("~"), ".cache")
    return Path(base) / "serq"


def place_of(text: str) -> Path:
    """Where the library of a text is kept; another text, compiler or machine has another place."""
    told = "\n".join((*(compiler() or ()), *FLAGS, platform.machine(), platform.system(), text))
    return directory() / f"{hashlib.sha256(told.encode()).hexdigest()[:32]}.so"


def is_kept(text: str) -> bool:
    """Whether a text has been compiled before, and its library is as it was then.

    A library that was cut short would end the process that loads it: it is told by its digest.
    """
    place = place_of(text)
    try:
        return _digest(place) == place.with_suffix(".sha256").read_text(encoding="ascii")
    except (OSError, UnicodeError):
        return False


def _digest(library: Path) -> str:
    return hashlib.sha256(library.read_bytes()).hexdigest()


def compile_text(text: str) -> ctypes.CDLL:
    """The library of a text. Raises OSError where there is no compiler, or it has failed."""
    place = place_of(text)
    if not is_kept(text):
        try:
            _compile(text, place)
        except (OSError, subprocess.SubprocessError) as fault:
            troubles[f"a long run could not be compiled: {fault}"] = None
            raise OSError(str(fault)) from fault
    return ctypes.CDLL(str(place))


def _compile(text: str, place: Path) -> None:
    command = compiler()
    if command is None:
        raise OSError("there is no C compiler")
    place.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=place.parent) as work:
        source, made = Path(work) / "program.c", Path(work) / "program.so"
        source.write_text(text, encoding="utf-8")
        subprocess.run(
            [*command, *FLAGS, "-o", str(made), str(source), "-lm"],
            check=True, capture_output=True, timeout=SECONDS,
        )  # fmt: skip
        digest = made.with_suffix(".sha256")
        digest.write_text(_digest(made), encoding="ascii")
        made.replace(place)
        digest.replace(place.with_suffix(".sha256"))
