"""Stability and edges -> text, and -> JSON."""

from __future__ import annotations

import json

from serq.report.table import above_rounding, show_number, show_percent, show_table
from serq.studies.edge import Edge
from serq.studies.looks import Growth, Look
from serq.studies.stability import TOO_LATE, Stability


def study_to_json(found: Stability | Edge) -> str:
    """A study as one line of JSON, without a line end."""
    return json.dumps(found.to_dict(), allow_nan=False, ensure_ascii=False)


def show_stability(found: Stability) -> str:
    """The verdict, then the evidence: growth look by look, lines, the oldest session, returns, load."""
    head = f"{found.verdict}: {found.reason}"
    if not found.looks:
        return head
    rows = [[str(look.arrivals), *_grown(look.growth), _percent(look.growth.spread)] for look in found.looks]
    seeds = f"{len(found.seeds)} runs, seeds {found.seeds[0]} to {found.seeds[-1]}"
    interval = f"{show_percent(found.confidence)} interval"
    parts = [
        head,
        f"Growth of the backlog in the second half of the arrivals, as a part of them; {seeds}:",
        show_table(["arrivals", "growth", interval, "from run to run"], rows, left=0),
    ]
    if any(look.growth.controlled for look in found.looks):
        parts.append(
            "The intervals allow for how fast the sessions happened to come; the last column does not."
        )
    last = found.looks[-1]
    if last.lines:
        lines = [
            [line.name, str(line.came), *(_grown(line.growth) if line.growth is not None else ["?", "?"])]
            for line in last.lines
        ]
        parts += [
            "Growth of each line, as a part of the jobs that came to it, in the last of these looks:",
            show_table(["line", "jobs", "growth", interval], lines, left=1),
        ]
    return "\n\n".join([*parts, show_table(["", ""], _facts(found, last), left=2).lstrip("\n")])


def _facts(found: Stability, last: Look) -> list[list[str]]:
    age, interval = _grown(last.oldest)
    sessions, arrivals = _amount(found.backlog, "session"), _amount(found.oldest, "arrival")
    facts = [
        ["backlog", f"{sessions} at the end, on average"],
        ["oldest", f"{arrivals} ago; this has grown by {age}, {interval}"],
    ]
    if found.returns:
        returns = f"{found.returns} to the empty system"
        # The cycles that ended have a mean even where not every cycle ends.
        if found.verdict != "unstable" and found.cycle is not None:
            ci = above_rounding(found.cycle_ci, found.cycle)
            halfwidth = "" if ci is None else f" ± {show_number(ci)}"
            returns += f"; a cycle takes {show_number(found.cycle)}{halfwidth}"
        facts.append(["returns", returns])
    else:
        facts.append(["returns", "none: once somebody was there, the system was never empty again"])
    if found.load is not None:
        rate = show_number(found.token_rate)
        facts.append(["load", f"{found.load:.4g} of the token-rate bound, {rate} tokens in a unit of time"])
    return facts


def _amount(x: float | None, what: str) -> str:
    return f"{show_number(x)} {what if x == 1 else what + 's'}"


def _grown(growth: Growth) -> list[str]:
    """A growth and its interval."""
    return [_percent(growth.mean), f"{_percent(growth.low)} to {_percent(growth.high)}"]


def show_edge(found: Edge) -> str:
    """The bracket, then every value that was looked at, in ascending order."""
    name = found.parameter
    rows = [
        [
            show_number(probe.value),
            probe.found.verdict,
            *_last_look(probe.found),
            "" if probe.found.load is None else f"{probe.found.load:.4g}",
        ]
        for probe in sorted(found.probes, key=lambda probe: probe.value)
    ]
    table = show_table([name, "verdict", "arrivals", "growth", "load"], rows, left=0)
    confidence = found.probes[0].found.confidence
    late = "" if found.in_time else TOO_LATE
    if found.middle is None or found.stable is None or found.unstable is None:
        ends = " and ".join(f"{p.found.verdict} at {show_number(p.value)}" for p in found.probes[:2])
        if len(found.probes) == 2:
            ends += "; what is between them was not looked at"
        return f"no edge found: {name} is {ends}{late}\n\n{table}"
    width = abs(found.unstable - found.stable) / 2
    head = (
        f"edge: {name} = {show_number(found.middle)} ± {show_number(width)}, stable at "
        f"{show_number(found.stable)}, unstable at {show_number(found.unstable)} "
        f"(each with {show_percent(confidence)} confidence){late}"
    )
    return f"{head}\n\n{table}"


def _last_look(found: Stability) -> list[str]:
    """Its arrivals and the growth; nothing when no look could be finished."""
    if not found.looks:
        return ["", ""]
    return [str(found.looks[-1].arrivals), _percent(found.looks[-1].growth.mean)]


def _percent(part: float) -> str:
    return f"{100 * part:.2f} %"
