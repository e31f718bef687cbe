"""The register of diagnostic codes.

In: nothing. Out: `CODES`, every code with its words. Imports: nothing of serq.
Grows: a new code is a row in the file of its range; a code is never reused or renumbered.

| range | file | says |
|---|---|---|
| SQ01xx | `syntax` | this text is not a program |
| SQ02xx | `names` | unknown, missing, declared twice, refused as a name |
| SQ03xx | `types` | a size, a cost or a number where another belongs |
| SQ04xx | `moments` | read at a moment when it does not exist |
| SQ05xx | `limits` | outside the range that has a meaning, paths that cannot work |
| SQ06xx | `machine` | the run cannot go on |
| SQ08xx | `lean` | outside what can be stated |
| SQ09xx | `tools` | files, settings, constructs whose meaning is not built yet |
"""

from __future__ import annotations

from serq.codes import lean, limits, machine, moments, names, syntax, tools, types
from serq.codes.entry import Code

CODES: dict[str, Code] = {
    **syntax.CODES,
    **names.CODES,
    **types.CODES,
    **moments.CODES,
    **limits.CODES,
    **machine.CODES,
    **lean.CODES,
    **tools.CODES,
}

__all__ = ["CODES", "Code"]
