"""Writing files so that a reader never meets half of one."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path


def write_file(path: str, text: str) -> None:
    """Write `text` to `path`: to a file beside it first, renamed when it is complete.

    An existing file keeps its permissions and, when the writing fails, its content. A device or a
    pipe is written directly. Raises OSError.
    """
    target = Path(path)
    if target.exists() and not target.is_file():
        if target.is_dir():
            raise IsADirectoryError(f"it is a folder: {path}")
        target.write_text(text, encoding="utf-8")
        return
    target = target.resolve()  # a link stays a link to the new content
    handle, temporary = tempfile.mkstemp(prefix=f".{target.name}.", dir=target.parent)
    try:
        with open(handle, "w", encoding="utf-8", newline="\n") as file:
            file.write(text)
        os.chmod(temporary, target.stat().st_mode & 0o777 if target.exists() else 0o666 & ~_umask())
        os.replace(temporary, target)
    except BaseException:
        os.unlink(temporary)
        raise


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask
