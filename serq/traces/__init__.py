"""Traces: recorded requests in the formats people have, as turns that sessions replay.

In: files of requests, in one of `FORMATS` or with their columns named. Out: serq's own trace,
`session,turn,new,out,think[,forced]`, and figures about a file. Imports: the ground floor, and the
tables of `report`; numpy, and matplotlib in `plot`. Grows: a format is a row of `FORMATS`; a new way of
writing rows (after CSV, JSON lines, JSON lists) is a reader beside `table` and `entries`.
"""

from __future__ import annotations

from serq.traces.convert import Conversion, Converted, convert_trace
from serq.traces.formats import FORMATS, UNITS, Format
from serq.traces.reading import Reading, TraceFile, open_trace
from serq.traces.show import show_summary, summary_to_json
from serq.traces.summary import TraceSummary, summarize_trace

__all__ = [
    "FORMATS", "UNITS", "Conversion", "Converted", "Format", "Reading", "TraceFile", "TraceSummary",
    "convert_trace", "open_trace", "show_summary", "summarize_trace", "summary_to_json",
]  # fmt: skip
