"""Stability and edges -> text, and -> JSON."""

from __future__ import annotations

import json

from serq.report.table import show_number, show_table
from serq.studies.edge import Edge
from serq.studies.stability import Stability


def study_to_json(found: Stability | Edge) -> str:
    """A study as one line of JSON, without a line end."""
    return json.dumps(found.to_dict(), allow_nan=False, ensure_ascii=False)


def show_stability(found: Stability) -> str:
    """The verdict, then the evidence: growth look by look, returns, load."""
    reasons = {
        "stable": "the backlog does not grow",
        "unstable": "the backlog grows as long as sessions come",
        "undecided": "neither growth nor its absence is certain; longer runs may tell (--most-events)",
    }
    rows = [
        [
            str(look.arrivals),
            _percent(look.growth),
            f"{_percent(look.low)} to {_percent(look.high)}",
            _percent(look.spread),
        ]
        for look in found.looks
    ]
    seeds = f"{len(found.seeds)} runs, seeds {found.seeds[0]} to {found.seeds[-1]}"
    facts = [["backlog", f"{show_number(found.backlog)} sessions at the end, on average"]]
    if found.returns:
        halfwidth = "" if found.cycle_ci is None else f" ± {show_number(found.cycle_ci)}"
        facts.append(
            [
                "returns",
                f"{found.returns} to the empty system; a cycle takes {show_number(found.cycle)}{halfwidth}",
            ]
        )
    else:
        facts.append(["returns", "none: once somebody was there, the system was never empty again"])
    if found.load is not None:
        rate = show_number(found.token_rate)
        facts.append(["load", f"{found.load:.4g} of the token-rate bound, {rate} tokens in a unit of time"])
    table = show_table(
        ["arrivals", "growth", f"{100 * found.confidence:.4g} % interval", "from run to run"], rows, left=0
    )
    parts = [
        f"{found.verdict}: {reasons[found.verdict]}",
        f"Growth of the backlog in the second half of the arrivals, as a part of them; {seeds}:",
        table,
        show_table(["", ""], facts, left=2).lstrip("\n"),
    ]
    return "\n\n".join(parts)


def show_edge(found: Edge) -> str:
    """The bracket, then every value that was looked at, in ascending order."""
    name = found.parameter
    rows = [
        [
            show_number(probe.value),
            probe.found.verdict,
            str(probe.found.looks[-1].arrivals),
            _percent(probe.found.looks[-1].growth),
            "" if probe.found.load is None else f"{probe.found.load:.4g}",
        ]
        for probe in sorted(found.probes, key=lambda probe: probe.value)
    ]
    table = show_table([name, "verdict", "arrivals", "growth", "load"], rows, left=0)
    confidence = found.probes[0].found.confidence
    if found.middle is None or found.stable is None or found.unstable is None:
        ends = " and ".join(f"{p.found.verdict} at {show_number(p.value)}" for p in found.probes[:2])
        return f"no edge found: {name} is {ends}\n\n{table}"
    width = abs(found.unstable - found.stable) / 2
    head = (
        f"edge: {name} = {show_number(found.middle)} ± {show_number(width)}, stable at "
        f"{show_number(found.stable)}, unstable at {show_number(found.unstable)} "
        f"(each with {100 * confidence:.4g} % confidence)"
    )
    return f"{head}\n\n{table}"


def _percent(part: float) -> str:
    return f"{100 * part:.2f} %"
