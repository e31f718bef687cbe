"""An example of every code: something small that gets it, and the same when it is mended.

A code's files stand in `examples/`. `SQ0617.sq` and `SQ0617.csv` are what the command of the code finds
as `example.sq` and `example.csv`; `SQ0617.fixed.csv` is the second when it is mended. A code may have no
file at all: nothing is wrong with the text of a program, say, that was run with a horizon below 0.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from attrs import frozen

from serq.codes import CODES

FOLDER = Path(__file__).parent / "examples"

# Programs that are too large to be kept, and to be looked at: the bytes of a comment.
_LARGE = {"SQ0107": 2**20 + 1, "SQ0916": 4 * 2**20 + 1}
_SHOWN = 4096


@frozen
class Example:
    """What gets a code.

    command: as typed in a folder with `files`. fixed: files that take the place of some of them so
    that the command goes well; empty if mending is not a matter of a file.
    """

    command: str
    files: Mapping[str, bytes]
    fixed: Mapping[str, bytes]


def find_example(code: str) -> Example:
    """The example of a code of the register."""
    files: dict[str, bytes] = {}
    fixed: dict[str, bytes] = {}
    if code in _LARGE:
        files["example.sq"] = b"// ".ljust(_LARGE[code] - 1, b"x") + b"\n"
    for path in sorted(FOLDER.glob(f"{code}.*")):
        name = path.name.removeprefix(code)
        kind = fixed if name.startswith(".fixed.") else files
        kind["example" + name.replace(".fixed", "")] = path.read_bytes()
    return Example(CODES[code].example, files, fixed)


def show_file(content: bytes) -> str:
    """A file of an example as text: bytes that are none as `\\xe9`, and of a long file its size."""
    if len(content) > _SHOWN:
        return f"… {len(content):,} bytes …\n".replace(",", " ")
    text = content.decode("utf-8", "backslashreplace")
    return "".join(c if c.isprintable() or c in "\n\t" else f"\\x{ord(c):02x}" for c in text)
