"""Report -> JSON."""

from __future__ import annotations

import json

from serq.report.report import Report


def report_to_json(report: Report) -> str:
    """The report as one line of JSON, without a line end.

    Numbers read back exactly, whole ones have no fraction; what is not finite is null. The keys and
    their order are a promise to programs that read them.
    """
    return json.dumps(report.to_dict(), allow_nan=False, ensure_ascii=False)
