"""The reference implementation in a process of its own: it may run for ever, or take all memory.

One process answers one question after the other; one that is silent for too long is replaced.
"""

from __future__ import annotations

import json
import os
import select
import subprocess
import sys
from typing import Any, Literal

from attrs import define, field, frozen

from tests.support.programs import Sample

SECONDS = 2.0
"""As long as an answer may take."""

SERVER = """
import json, os, resource, sys
resource.setrlimit(resource.RLIMIT_AS, (3 << 30, 3 << 30))
resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
import pyserq
answers = os.fdopen(os.dup(1), "w")
os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
for line in sys.stdin:
    asked = json.loads(line)
    source = asked.pop("source")
    try:
        program = pyserq.compile(None, source=source, **asked)
    except ValueError as error:
        answer = ["refused", str(error)]
    else:
        try:
            answer = ["ends", pyserq.run(program).json()]
        except ValueError as error:
            answer = ["stops", str(error)]
    print(json.dumps(answer), file=answers, flush=True)
"""


@frozen
class PeerAnswer:
    """What the reference says of a program.

    kind: "refused" before the run, "stops" in its midst, "ends" with a report; "lost" if no answer came.
    report: without what is the reference's own, its version and the wording of notes.
    """

    kind: Literal["refused", "stops", "ends", "lost"]
    message: str = ""
    report: dict[str, Any] | None = None


@define
class Peer:
    """The reference, asked for reports of programs."""

    process: subprocess.Popen[bytes] | None = field(default=None)

    def ask(self, s: Sample, seconds: float = SECONDS) -> PeerAnswer:
        asked = {"source": s.source, "horizon": s.horizon, "warmup": s.warmup}
        if s.arrivals is not None:
            asked["arrivals"] = s.arrivals
        line = self._exchange(json.dumps(asked).encode() + b"\n", seconds)
        if line is None:
            self.close()
            return PeerAnswer("lost")
        kind, text = json.loads(line)
        if kind == "ends":
            return PeerAnswer(kind, report=_own_figures_only(json.loads(text)))
        return PeerAnswer(kind, text)

    def _exchange(self, line: bytes, seconds: float) -> bytes | None:
        """A line sent, a line received; None: nothing came in time, or the process has died."""
        if self.process is None:
            pipe = subprocess.PIPE
            self.process = subprocess.Popen(
                [sys.executable, "-c", SERVER], stdin=pipe, stdout=pipe, stderr=subprocess.DEVNULL
            )
        stdin, stdout = self.process.stdin, self.process.stdout
        assert stdin is not None and stdout is not None
        stdin.write(line)
        stdin.flush()
        answer = b""
        while not answer.endswith(b"\n"):
            if not select.select([stdout], [], [], seconds)[0]:
                return None
            piece = os.read(stdout.fileno(), 1 << 16)
            if not piece:
                return None
            answer += piece
        return answer

    def close(self) -> None:
        """End the process, if there is one."""
        if self.process is not None:
            self.process.kill()
            self.process.communicate()
            self.process = None


def _own_figures_only(report: dict[str, Any]) -> dict[str, Any]:
    del report["serq_version"]
    for figures in report["observes"].values():
        if figures["mean"] is not None and abs(figures["mean"]) < 1e-9:
            # A variance over the square of a mean that is 0 but for rounding.
            del figures["cv2"]
    for claim in report.get("claims", ()):
        del claim["note"]
    return report
