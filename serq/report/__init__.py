"""What a run comes to: statistics over its records, shown as text, JSON and CSV files.

In: `serq.machine.records.RunRecord`. Out: `Report`, the text and JSON of one, the files of a dump.
Imports: `serq.machine.records`, attrs, numpy (here and nowhere below, so `serq check` never loads it).
Grows: a figure is a field of a row in `report`, its formula in `stats`, a column in `show`.
"""

from __future__ import annotations

from serq.report.dump import dump_report
from serq.report.jsonform import report_to_json
from serq.report.make import make_report
from serq.report.report import (
    ClaimResult,
    GaugeSummary,
    OverCap,
    PoolRow,
    Report,
    SampleSummary,
    StageRow,
    WaitRow,
    exit_status,
)
from serq.report.show import show_report

__all__ = [
    "ClaimResult",
    "GaugeSummary",
    "OverCap",
    "PoolRow",
    "Report",
    "SampleSummary",
    "StageRow",
    "WaitRow",
    "dump_report",
    "exit_status",
    "make_report",
    "report_to_json",
    "show_report",
]
