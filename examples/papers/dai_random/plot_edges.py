"""Plots how much of the load each engine of this folder leaves behind, from what `serq stability` found.

    for engine in sarathi orca vllm; do
      serq stability $engine.sq --param load=0.8:1.2 --resolution 0.02 --json > $engine.json
    done
    serq stability fastertransformer.sq --param load=0.002:0.05 --resolution 0.05 --json \\
      > fastertransformer.json
    python plot_edges.py edges.svg *.json

Needs matplotlib (the extra `plot` of serq).
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

import matplotlib

matplotlib.use("Agg")
from matplotlib import pyplot

LOOKS = {
    "sarathi": ("Sarathi-like", "#1b6ca8", "o"),
    "orca": ("Orca-like", "#2a9d63", "s"),
    "vllm": ("vLLM-like, prompts first", "#c77700", "^"),
    "fastertransformer": ("FasterTransformer-like", "#b3363e", "D"),
}


BESIDE = {"sarathi": -0.0025, "orca": 0.0025}
"""By how much marks stand beside their load, so that they do not cover each other."""


def main(out: str, files: list[str]) -> None:
    """Write the figure: one panel around the bound, one far below it, where one of the engines is."""
    pyplot.rcParams.update(
        {"font.size": 9, "svg.hashsalt": "serq", "axes.spines.top": False, "axes.spines.right": False}
    )
    figure, (low, high) = pyplot.subplots(1, 2, figsize=(7.6, 3.1), sharey=False, width_ratios=(1, 2))
    for file in files:
        name, colour, mark = LOOKS[Path(file).stem]
        found = json.loads(Path(file).read_text(encoding="utf-8"))
        panel = low if found["unstable"] < 0.5 else high
        beside = BESIDE.get(Path(file).stem, 0.0)
        panel.axvspan(found["stable"], found["unstable"], color=colour, alpha=0.18, linewidth=0)
        for probe in found["probes"]:
            look = probe["found"]["looks"][-1]["growth"]
            growth, error = look["mean"], (look["high"] - look["low"]) / 2
            filled = {"stable": "white", "unstable": colour}.get(probe["found"]["verdict"], "lightgrey")
            panel.errorbar(
                probe["value"] + beside,
                100 * growth,
                100 * error,
                color=colour,
                marker=mark,
                markersize=5,
                markerfacecolor=filled,
                linewidth=1,
                capsize=2,
            )
        panel.plot([], [], color=colour, marker=mark, linestyle="", label=name)
    loads = [1 + i / 200 for i in range(41)]
    high.plot(
        loads,
        [100 * (1 - 1 / x) for x in loads],
        color="black",
        linewidth=0.8,
        label="no schedule leaves less",
    )
    high.axvline(1, color="black", linewidth=0.8, linestyle=":", label="$b_{max} / t_{b_{max}}$")
    low.set_ylabel("left behind, % of the requests")
    low.set_xscale("log")
    low.set_xticks([0.002, 0.005, 0.01, 0.02, 0.05], ["0.002", "0.005", "0.01", "0.02", "0.05"])
    low.minorticks_off()
    for panel in (low, high):
        panel.axhline(0, color="grey", linewidth=0.5)
        panel.set_xlabel("load")
        panel.legend(frameon=False, loc="upper left", fontsize=8)
    figure.tight_layout()
    figure.savefig(out, metadata={"Date": None} if out.endswith(".svg") else None)


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2:])
