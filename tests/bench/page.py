"""`python -m tests.bench.page RESULTS.json…` puts results into the page about performance.

The results are those of `python -m tests.bench --json RESULTS.json`. The page gets ratios, and a picture of
iterations per second: left, against the number of answers that are running; right, against how far a run
goes, told by its iterations, so that programs with different units of time share an axis. Needs the extra
`plot`.
"""

from __future__ import annotations

import json
import sys
from collections import defaultdict
from pathlib import Path
from typing import Any

from tests.bench.rows import ROOT

PAGE = ROOT / "docs" / "performance.md"
PICTURE = PAGE.with_suffix(".svg")
HEAD = ["| program | horizon | iterations | ratio | least | most |", "|---|--:|--:|--:|--:|--:|"]

OURS, PEER = "#1f6f8b", "#c8553d"
LONG = {"dai_sarathi": "-", "poisson, whole times": ":"}
"""The programs of the right picture, and their lines."""

Points = list[tuple[float, float]]


def rates(result: dict[str, Any], side: str) -> float:
    """Iterations per second, the median of the runs."""
    found = sorted(run["iterations"] / run["cpu_s"] for run in result[side])
    return float(found[len(found) // 2])


def curves(results: list[dict[str, Any]], side: str) -> tuple[Points, dict[str, Points]]:
    """Against the crowd, from the longest run of each size; against the length of a run, by program."""
    crowds: dict[float, tuple[float, float]] = {}
    lengths: dict[str, Points] = defaultdict(list)
    for result in results:
        if not result[side]:
            continue
        if result["name"].startswith("crowd of "):
            best = crowds.get(result["sets"]["crowd"], (0.0, 0.0))
            crowds[result["sets"]["crowd"]] = max(best, (result["horizon"], rates(result, side)))
        elif result["name"] in LONG:
            iterations = result[side][0]["iterations"]
            lengths[result["name"]].append((iterations, rates(result, side)))
    return sorted((n, rate) for n, (_, rate) in crowds.items()), lengths


def draw(results: list[dict[str, Any]], to: Path) -> None:
    """Both pictures, side by side."""
    import matplotlib

    matplotlib.use("svg")
    matplotlib.rcParams.update({"svg.hashsalt": "serq", "font.size": 9})
    import matplotlib.pyplot as plt

    figure, (left, right) = plt.subplots(1, 2, figsize=(8.4, 3.4), sharey=True, layout="constrained")
    for side, name, colour in (("ours", "serq", OURS), ("peer", "pyserq", PEER)):
        crowd, lengths = curves(results, side)
        left.plot(*zip(*crowd, strict=True), "o-", color=colour, label=name)
        for program, line in LONG.items():
            points = sorted(lengths[program])
            right.plot(*zip(*points, strict=True), "o", ls=line, color=colour, label=f"{name}: {program}")
    left.set(xlabel="answers running", ylabel="iterations per CPU second")
    right.set(xlabel="iterations of a run")
    for axes in (left, right):
        axes.set(xscale="log", yscale="log")
        axes.grid(alpha=0.25)
        axes.spines[["top", "right"]].set_visible(False)
        axes.legend(frameon=False)
    figure.savefig(to, metadata={"Date": None} if to.suffix == ".svg" else None)


def table(results: list[dict[str, Any]]) -> list[str]:
    """The ratios, a line for each result."""
    lines = list(HEAD)
    for result in results:
        found = result["ratio"]
        ratios = [f"{found[k]:.2f}" if found else "" for k in ("median", "least", "most")]
        name = result["name"] + (", the whole command" if result["commands"] else "")
        iterations = f"{result['ours'][0]['iterations']:,.0f}"
        cells = [name, f"{result['horizon']:g}", iterations, *ratios]
        lines.append(f"| {' | '.join(cells)} |")
    return lines


def replace_table(page: str, lines: list[str]) -> str:
    """The page with its table of ratios replaced."""
    before, _, rest = page.partition(HEAD[0] + "\n")
    after = rest.split("\n")
    while after[0].startswith("|"):
        del after[0]
    return before + "\n".join(lines + after)


def main() -> None:
    results = []
    for file in sys.argv[1:]:
        written = json.loads(Path(file).read_text(encoding="utf-8"))
        results += [result | {"commands": written["commands"]} for result in written["results"]]
    draw([r for r in results if not r["commands"]], PICTURE)
    page = PAGE.read_text(encoding="utf-8")
    PAGE.write_text(replace_table(page, table(results)), encoding="utf-8")


if __name__ == "__main__":
    main()
