"""Whole runs as one generated loop, for programs of a common kind (`fragment`).

One engine, requests that come, take a slot perhaps, prefill, decode and go, schedules that tell requests
apart by their phase only: then everything of a run fits in the local variables of one Python function,
written for the program (`writer`, with the text in `text`). Iterations that repeat until something
happens are taken in one stride. A run leaves the same behind as in the machine of `serq.machine.loop`.
"""

from serq.machine.fused.run import is_fused, run_loop, write_loop

__all__ = ["is_fused", "run_loop", "write_loop"]
