"""The tables and figures of Yao and Zhou, from the policies in this folder.

    python examples/papers/yao_zhou/reproduce.py --out yao_zhou            tables, as text and CSV
    python examples/papers/yao_zhou/reproduce.py --out yao_zhou --figures  and the figures, by matplotlib

Every number comes from running a `.sq` program; the paper's own stand beside it. What the paper leaves
open is filled in here: lengths are uniform on 1 … 1000, of 400 requests each is accepted with probability
one half, and the length sample of Table 3 is a stand-in with the four moments that the paper gives.
"""

from __future__ import annotations

import argparse
import csv
import os
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ProcessPoolExecutor
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
from attrs import frozen

import serq
from serq.fairness import break_even, competitive_ratio, grouping_bound

HERE = Path(__file__).parent
HORIZON = 1e6
ALPHAS = (50, 100, 150, 250, 300, 400, 500)
C, TAU, PRICE = 0.0005, 1e-6, 0.002
"""Cost of a step and of a token-step, price of a token: section 6.1, the price from Table 1's sums."""

REPLICATIONS = 40
FIRST_SEED = 1000
PAPER_REPLICATIONS = 5

PAPER_1 = {
    # policy: throughput, gain over LJF in per cent, tau E, average extent
    "FCFS": (39.78, -0.12, 35.10, 566.3),
    "LJF": (39.83, 0.0, 0.0, 0.0),
}
COMPARED = ("throughput", "gain", "tau E", "extent")
PAPER_ISJL = {
    # alpha: gain over LJF in per cent, tau E, average extent
    50: (3.50, 1.33, 37), 100: (6.21, 2.79, 75), 150: (10.48, 4.35, 112), 250: (17.97, 7.71, 187),
    300: (20.31, 9.32, 223), 400: (21.42, 12.74, 291), 500: (22.03, 16.23, 362),
}  # fmt: skip
PAPER_2: dict[int, tuple[float | None, float, float | None]] = {
    50: (83.2, 1.35, 0.0162), 100: (147.6, 2.81, None), 150: (235.2, 4.36, None), 250: (380.0, 7.71, None),
    300: (None, 9.33, None), 400: (None, 12.72, None), 500: (None, 16.25, 0.0366),
}  # fmt: skip
"""alpha: steps saved against LJF, tau E, c* = tau E / saved; None where the figure is not known to us."""
PAPER_3 = {
    (16, "FCFS"): (216, 62), (16, "SJF"): (196, 60), (16, "LJF"): (243, 66),
    (16, "ISJL 50"): (262, 53), (16, "ISJL 100"): (270, 56), (16, "ISJL 150"): (276, 54),
    (32, "FCFS"): (278, 70), (32, "SJF"): (259, 67), (32, "LJF"): (323, 78),
    (32, "ISJL 50"): (357, 62), (32, "ISJL 100"): (369, 63), (32, "ISJL 150"): (378, 65),
}  # fmt: skip
"""(B, policy): throughput in an unknown unit, mean latency in another."""

COUNTEREXAMPLES = [
    # policy, lengths, B, alpha, more inputs, the optimum (serq.fairness.optimal_makespan)
    ("isjl", (25, 19, 19, 14, 3, 1), 2, 12, {}, 41),
    ("isjl_two_lanes", (27, 20, 20, 10, 5, 1, 1), 2, 13, {}, 42),
    ("isjl_two_lanes", (10, 7, 7, 3, 1, 1, 1), 2, 4, {}, 15),
    ("isjl", (4, 4, 4, 1, 1, 1), 3, 3, {}, 5),
    ("isjl", (4, 4, 4, 2, 2), 4, 2, {}, 4),
    ("isjl", (25, 25, 8, 6, 5, 4, 2), 2, 24, {}, 38),
]
SITUATIONS = [
    # what it shows, policy, lengths, B, alpha
    ("FCFS: short requests behind a long tail", "fcfs", (12, 3, 9, 2, 11, 1, 4, 2), 3, 4),
    ("SJF: the long ones starve", "sjf", (12, 3, 9, 2, 11, 1, 4, 2), 3, 4),
    ("LJF: batches with empty ends", "ljf", (12, 3, 9, 2, 11, 1, 4, 2), 3, 4),
    ("ISJL, B = 2: under-inserting", "isjl", (20, 12, 7, 7), 2, 6),
    ("ISJL, B = 2: over-inserting", "isjl", (20, 20, 9, 9), 2, 10),
    ("ISJL: the jigsaw instance, B = 3", "isjl", (5, 5, 4, 4, 3, 3, 3), 3, 2),
    ("Algorithm 3 as printed: unfair", "alg3_literal", (3, 3, 2, 2), 3, 1),
]


# ---------------------------------------------------------------- runs


@frozen
class Outcome:
    """What one policy did with one workload: steps, token-steps, tokens."""

    T: float
    E: float
    Q: float
    O: float  # noqa: E741
    extent: float
    latency: float
    fair: bool
    start: tuple[float, ...]


def run(policy: str, lens: Sequence[int], B: int, alpha: float, **more: Any) -> Outcome:
    """One run of a program in this folder."""
    sets = {"lens": lens, "B": B, "alpha": alpha, **more}
    report = serq.run(serq.compile(HERE / f"{policy}.sq", sets=sets), horizon=HORIZON)
    last = {name: gauge.values[-1] for name, gauge in report.gauges.items()}
    start = sorted(zip(report.observes["start"].sessions, report.observes["start"].samples, strict=True))
    return Outcome(
        T=last["T"],
        E=last["E"],
        Q=last["Q"],
        O=float(sum(lens)),
        # The gauge is 0 once all is done.
        extent=report.gauges["extent"].mean * HORIZON / last["T"],
        latency=report.observes["completion"].mean,
        fair=report.claim("fair").result == "holds",
        start=tuple(float(value) for _, value in start),
    )


@cache
def workload(seed: int) -> tuple[int, ...]:
    """The requests of one replication of Table 1: lengths first, then who is accepted."""
    random = np.random.default_rng(seed)
    lengths = random.integers(1, 1001, 400)
    return tuple(int(n) for n in lengths[random.random(400) < 0.5])


POLICIES: dict[str, tuple[str, float]] = {
    "FCFS": ("fcfs", 0),
    "LJF": ("ljf", 0),
    **{f"ISJL {alpha}": ("isjl", alpha) for alpha in ALPHAS},
}


def replicate(seed: int) -> dict[str, Outcome]:
    """All policies of Table 1 on one workload."""
    return {name: run(policy, workload(seed), 50, alpha) for name, (policy, alpha) in POLICIES.items()}


def mean(values: Sequence[float]) -> tuple[float, float]:
    """A mean with its standard error."""
    return float(np.mean(values)), float(np.std(values, ddof=1) / np.sqrt(len(values)))


# ---------------------------------------------------------------- tables


@frozen
class Table:
    """A table as it is printed and written."""

    name: str
    title: str
    heading: tuple[str, ...]
    rows: list[tuple[str, ...]]
    remarks: tuple[str, ...] = ()

    def show(self) -> str:
        widths = [max(len(row[i]) for row in [self.heading, *self.rows]) for i in range(len(self.heading))]
        lines = [
            "  ".join(
                cell.ljust(w) if i == 0 else cell.rjust(w)
                for i, (cell, w) in enumerate(zip(row, widths, strict=True))
            )
            for row in [self.heading, *self.rows]
        ]
        return (
            "\n".join([self.title, "", *(line.rstrip() for line in lines), "", *self.remarks]).rstrip() + "\n"
        )

    def write(self, folder: Path) -> None:
        with open(folder / f"{self.name}.csv", "w", newline="", encoding="utf-8") as file:
            csv.writer(file).writerows([self.heading, *self.rows])


def table_1(outcomes: list[dict[str, Outcome]], seeds: Sequence[int]) -> Table:
    """Profit, cost and throughput of every policy, and what a fair schedule can gain at most."""
    rows = []
    base = [o["LJF"] for o in outcomes]
    caps = {a: gain_caps(base, seeds, a) for a in ALPHAS}
    for name, (_, alpha) in POLICIES.items():
        own = [o[name] for o in outcomes]
        throughput = mean([o.O / o.T for o in own])
        gain = mean([100 * (b.T / o.T - 1) for o, b in zip(own, base, strict=True)])
        extra = mean([TAU * o.E for o in own])
        extent = mean([o.extent for o in own])
        cost = mean([C * o.T + TAU * (o.Q + o.E) for o in own])
        profit = mean([PRICE * o.O - C * o.T - TAU * (o.Q + o.E) for o in own])
        if name in PAPER_1:
            paper = PAPER_1[name]
            got = (throughput, gain, extra, extent)
            verdict = agreement(list(zip(COMPARED, got, paper, strict=True)), len(own))
            theirs = (f"{paper[0]:.2f}", f"{paper[1]:+.2f}", f"{paper[2]:.2f}", f"{paper[3]:.1f}")
        else:
            want, their_extra, their_extent = PAPER_ISJL[int(alpha)]
            theirs = ("", f"{want:+.2f}", f"{their_extra:.2f}", f"{their_extent:.0f}")
            cap = caps[int(alpha)]
            verdict = "not reproduced"
            if want > np.mean(cap) + 3 * np.std(cap, ddof=1) / np.sqrt(PAPER_REPLICATIONS):
                verdict = "not reachable by a fair schedule"
        rows.append(
            (
                name, shown(profit), shown(cost), shown(throughput), shown(gain, "+.2f"), shown(extra),
                shown(extent, ".1f"), f"{np.mean(caps[int(alpha)]):+.2f}" if alpha else "", *theirs, verdict,
            )
        )  # fmt: skip
    count = len(outcomes)
    return Table(
        "table_1",
        f"Table 1: {count} replications, n = 400 at one half, B = 50 (means, 3 standard errors)",
        (
            "policy", "profit", "cost", "tokens/step", "gain %", "tau E", "extent", "gain % at most",
            "paper tokens/step", "paper gain %", "paper tau E", "paper extent", "verdict",
        ),
        rows,
        (
            "`gain % at most`: no alpha-fair schedule of these workloads gains more over LJF: requests",
            "longer than 2 alpha run in groups of at most B that do not overlap (grouping_bound).",
            "`agrees`: within three standard errors of the means here; `but for`: only within three of the",
            f"difference, with the error that the paper's means over {PAPER_REPLICATIONS} replications have.",
        ),
    )  # fmt: skip


def agreement(figures: list[tuple[str, tuple[float, float], float]], count: int) -> str:
    """How means over `count` replications, with their standard errors, stand to the paper's figures."""
    beyond = {
        name: abs(got - want) / error for name, (got, error), want in figures
        if abs(got - want) > 3 * error + 1e-9
    }  # fmt: skip
    if not beyond:
        return "agrees"
    most = 3 * np.sqrt(1 + count / PAPER_REPLICATIONS)
    if any(off > most for off in beyond.values()):
        return "differs"
    return "agrees but for " + ", ".join(f"{name} ({off:.1f} SE)" for name, off in beyond.items())


def gain_caps(base: list[Outcome], seeds: Sequence[int], alpha: int) -> list[float]:
    """What a fair schedule can gain over LJF at most, in per cent, on each workload."""
    return [
        100 * (b.T / grouping_bound(workload(seed), 50, alpha) - 1)
        for b, seed in zip(base, seeds, strict=True)
    ]


def table_2(outcomes: list[dict[str, Outcome]]) -> Table:
    """From which cost of a step on ISJL, and longest first under the constraint, pay against LJF."""
    rows = []
    for alpha in ALPHAS:
        own = [o[f"ISJL {alpha}"] for o in outcomes]
        saved = float(np.mean([o["LJF"].T - i.T for o, i in zip(outcomes, own, strict=True)]))
        extra = float(np.mean([i.E for i in own]))
        c = break_even(TAU, extra, saved)
        paper_saved, paper_extra, paper_c = PAPER_2[alpha]
        if paper_c is None and paper_saved is not None:
            paper_c = paper_extra / paper_saved
        rows.append(
            (
                f"ISJL {alpha}", f"{saved:.1f}", f"{TAU * extra:.2f}", "none" if c is None else f"{c:.4f}",
                "" if paper_saved is None else f"{paper_saved:.1f}", f"{paper_extra:.2f}",
                "" if paper_c is None else f"{paper_c:.4f}",
            )
        )  # fmt: skip
    return Table(
        "table_2",
        "Table 2: break-even cost of a step against LJF",
        ("policy", "steps saved", "tau E", "c*", "paper saved", "paper tau E", "paper c*"),
        rows,
        (
            "A policy that saves no steps and adds externality pays at no cost of a step.",
            "Figures of the paper that are not known to us are left out.",
        ),
    )


def sample() -> tuple[int, ...]:
    """2000 lengths with the moments that Table 3 gives: mean 126, median 90, largest 905, and its variance.

    A lognormal with different spreads below and above the median, then moved by single tokens.
    """
    from statistics import NormalDist

    count, total, squares = 2000, 252_000, 61_627_920
    quantiles = [NormalDist().inv_cdf((k - 0.5) / count) for k in range(1, count + 1)]
    lengths = [min(905, max(1, round(90 * float(np.exp((0.92 if z < 0 else 0.84) * z))))) for z in quantiles]
    lengths[-1] = 905
    random = np.random.default_rng(7)
    movable = [i for i in range(count - 1) if lengths[i] not in (89, 90, 91)]
    while (off := sum(lengths) - total) != 0:
        i = movable[int(random.integers(len(movable)))]
        step = -1 if off > 0 else 1
        if 1 < lengths[i] + step < 905 and lengths[i] + step != 90:
            lengths[i] += step
    while (off := sum(n * n for n in lengths) - squares) != 0:
        # One token from i to j changes the sum of squares by 2 (n_j − n_i + 1).
        i, j = (movable[int(k)] for k in random.integers(len(movable), size=2))
        change = 2 * (lengths[j] - lengths[i] + 1)
        good = abs(off + change) < abs(off) and lengths[i] - 1 > 1 and lengths[j] + 1 < 905
        if i != j and good and lengths[i] - 1 != 90 and lengths[j] + 1 != 90:
            lengths[i] -= 1
            lengths[j] += 1
    order = np.random.default_rng(2026).permutation(count)
    return tuple(lengths[int(k)] for k in order)


def run_3(job: tuple[int, str, str, int]) -> tuple[tuple[int, str], Outcome]:
    """One row of Table 3."""
    B, name, policy, alpha = job
    return (B, name), run(policy, sample(), B, alpha)


def table_3(map_: Callable[..., Any]) -> Table:
    """Throughput and latency of a backlog of 2000, in tokens and steps."""
    policies = [("FCFS", "fcfs", 0), ("SJF", "sjf", 0), ("LJF", "ljf", 0)]
    policies += [(f"ISJL {a}", "isjl", a) for a in (50, 100, 150)]
    jobs = [(B, *policy) for B in (16, 32) for policy in policies]
    rows = []
    for (B, name), got in map_(run_3, jobs):
        throughput, latency = PAPER_3[B, name]
        rows.append(
            (
                f"{B} {name}", f"{got.O / got.T:.2f}", f"{100 * got.O / got.T / B:.1f}",
                f"{got.latency:,.0f}", f"{got.latency / got.T:.3f}", str(throughput), str(latency),
            )
        )  # fmt: skip
    return Table(
        "table_3",
        "Table 3: a stand-in for the length sample, 2000 requests at time 0",
        (
            "B, policy",
            "tokens/step",
            "% of B",
            "mean latency",
            "latency/T",
            "paper throughput",
            "paper latency",
        ),
        rows,
        (
            "No schedule passes B tokens a step, so the paper's throughput has another unit. SJF and LJF",
            "have the same makespan on every backlog; the paper has them 24 % apart.",
        ),
    )


def counterexamples() -> Table:
    """Instances on which ISJL falls below what the paper proves."""
    rows = []
    for policy, lens, B, alpha, more, best in COUNTEREXAMPLES:
        got = run(policy, lens, B, alpha, **more)
        gamma = min(1.0, alpha / max(lens))
        rows.append(
            (
                policy, " ".join(map(str, lens)), str(B), str(alpha), f"{got.T:.0f}", str(best),
                f"{best / got.T:.4f}", f"{competitive_ratio(gamma):.4f}",
            )
        )  # fmt: skip
    return Table(
        "counterexamples",
        "Instances below the claimed ratios: Theorem 3.9 claims 0.7664, 3.19 claims 0.75, 4.3 CR(gamma)",
        ("program", "lens", "B", "alpha", "steps", "optimum", "ratio", "CR(gamma)"),
        rows,
    )


def shown(value: tuple[float, float], form: str = ".2f") -> str:
    """A mean with three standard errors."""
    return f"{value[0]:{form}} ± {3 * value[1]:.2f}"


# ---------------------------------------------------------------- figures


def figures(outcomes: list[dict[str, Outcome]], folder: Path) -> None:
    """Figures 4 to 7 and the schedules that the paper draws."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    def save(name: str) -> None:
        plt.savefig(folder / f"{name}.png", dpi=120)
        plt.close()

    ratio_figure(plt)
    save("figure_4")
    cost_figure(plt, outcomes)
    save("figure_5")
    difference_figure(plt, outcomes)
    save("figure_6")
    plt.figure(figsize=(6, 3.4), layout="constrained")
    plt.hist(sample(), bins=range(0, 931, 15), color="tab:blue")
    plt.xlabel("output length, tokens")
    plt.ylabel("requests")
    plt.title("Lengths of the stand-in sample (2000 requests)")
    save("figure_7")
    schedules_figure(plt)
    save("schedules")


def ratio_figure(plt: Any) -> None:
    """CR(gamma) as claimed, and what the programs attain."""
    plt.figure(figsize=(7.5, 4.2), layout="constrained")
    gammas = np.linspace(0, 1, 201)
    plt.plot(gammas, [competitive_ratio(g) for g in gammas], label="CR(γ), claimed", color="tab:blue")
    plt.axhline(0.75, color="grey", linewidth=0.8, linestyle="--")
    for k, (policy, lens, B, alpha, more, best) in enumerate(COUNTEREXAMPLES):
        x, y = min(1.0, alpha / max(lens)), best / run(policy, lens, B, alpha, **more).T
        name = f"{policy}: {' '.join(map(str, lens))}; B = {B}, α = {alpha}"
        plt.plot([x], [y], "o", color=f"C{k + 1}", label=name)
    plt.ylim(0.64, 1.02)
    plt.xlabel("γ = α / longest request")
    plt.ylabel("makespan of the optimum over ISJL's")
    plt.legend(loc="upper center", fontsize=7)


def cost_figure(plt: Any, outcomes: list[dict[str, Outcome]]) -> None:
    """Cost in its parts, and profit against throughput."""
    _, (stack, frontier) = plt.subplots(1, 2, figsize=(11, 4.2), layout="constrained")
    names = list(POLICIES)
    parts = {
        "τQ intrinsic": [np.mean([TAU * o[n].Q for o in outcomes]) for n in names],
        "cT time": [np.mean([C * o[n].T for o in outcomes]) for n in names],
        "τE batching": [np.mean([TAU * o[n].E for o in outcomes]) for n in names],
    }
    bottom = np.zeros(len(names))
    for label, values in parts.items():
        stack.bar(names, values, bottom=bottom, label=label)
        bottom += np.array(values)
    stack.tick_params(axis="x", rotation=45)
    stack.set_ylabel("cost")
    stack.legend()
    for name in names:
        x = np.mean([o[name].O / o[name].T for o in outcomes])
        y = np.mean([PRICE * o[name].O - C * o[name].T - TAU * (o[name].Q + o[name].E) for o in outcomes])
        frontier.plot([x], [y], "o")
        frontier.annotate(name, (x, y), textcoords="offset points", xytext=(5, 4), fontsize=8)
    frontier.set_xlabel("tokens per step")
    frontier.set_ylabel("profit")
    frontier.margins(x=0.15)


def difference_figure(plt: Any, outcomes: list[dict[str, Outcome]]) -> None:
    """Profit over LJF's as a step gets dearer."""
    plt.figure(figsize=(6.5, 4), layout="constrained")
    costs = np.linspace(0, 0.04, 50)
    for alpha in ALPHAS:
        saved = np.mean([o["LJF"].T - o[f"ISJL {alpha}"].T for o in outcomes])
        extra = np.mean([TAU * o[f"ISJL {alpha}"].E for o in outcomes])
        plt.plot(costs, costs * saved - extra, label=f"α = {alpha}")
    plt.axhline(0, color="black", linewidth=0.8)
    plt.xlabel("c, cost of a step")
    plt.ylabel("profit of ISJL less that of LJF")
    plt.legend(fontsize=8)


def schedules_figure(plt: Any) -> None:
    """Schedules of the situations that the paper draws: one bar a request, on the slot it takes."""
    _, axes = plt.subplots(len(SITUATIONS), 1, figsize=(9, 1.5 * len(SITUATIONS)), layout="constrained")
    colors = plt.get_cmap("tab10")
    for axis, (title, policy, lens, B, alpha) in zip(axes, SITUATIONS, strict=True):
        got = run(policy, lens, B, alpha)
        free = [0.0] * B
        for k in sorted(range(len(lens)), key=lambda k: (got.start[k], k)):
            slot = next(j for j in range(B) if free[j] <= got.start[k])
            free[slot] = got.start[k] + lens[k]
            axis.barh(slot, lens[k], left=got.start[k], color=colors(k % 10), edgecolor="white", height=0.9)
            axis.text(got.start[k] + lens[k] / 2, slot, str(lens[k]), ha="center", va="center", fontsize=8)
        axis.set_title(f"{title} (α = {alpha}; {got.T:.0f} steps)", fontsize=9, loc="left")
        axis.set_yticks(range(B), [f"slot {j + 1}" for j in range(B)], fontsize=7)
        axis.invert_yaxis()
        axis.xaxis.get_major_locator().set_params(integer=True)
        axis.tick_params(axis="x", labelsize=7)


# ---------------------------------------------------------------- the whole


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--out", type=Path, default=Path("yao_zhou"), help="folder for CSV files and figures")
    parser.add_argument("--replications", type=int, default=REPLICATIONS, help="of Table 1 (40)")
    parser.add_argument("--jobs", type=int, default=2, help="processes (2)")
    parser.add_argument("--figures", action="store_true", help="draw the figures, with matplotlib")
    parser.add_argument("--skip", action="append", default=[], metavar="N", help="leave out Table N")
    asked = parser.parse_args()
    asked.out.mkdir(parents=True, exist_ok=True)
    seeds = range(FIRST_SEED, FIRST_SEED + asked.replications)
    begun = time.monotonic()
    with ProcessPoolExecutor(asked.jobs) as pool:
        outcomes = list(pool.map(replicate, seeds))
        tables = [counterexamples(), table_1(outcomes, seeds), table_2(outcomes)]
        if "3" not in asked.skip:
            tables.append(table_3(pool.map))
    for table in tables:
        print(table.show())
        table.write(asked.out)
    if asked.figures:
        figures(outcomes, asked.out)
    spent = os.times()
    print(
        f"written to {asked.out} in {time.monotonic() - begun:.0f} s; {asked.jobs} processes computed for "
        f"{spent.user + spent.children_user:.0f} s"
    )


if __name__ == "__main__":
    main()
