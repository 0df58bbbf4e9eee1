"""Write the arena's page and its picture of critical differences from the rows.

python benchmarks/labels/arena/page.py
"""

import sys
from pathlib import Path

sys.path += [str(Path(__file__).parent), str(Path(__file__).parents[1])]
import matplotlib as mpl

mpl.use("svg")
import matplotlib.pyplot as plt
import numpy as np
import polars as pl
from common import table, wrapped
from methods import COLD, INFORMED, OTHERS, ROUNDS
from results import SHARES, Arena, read
from run import BUDGETS
from text import HEAD, ROUNDS_HEAD, TAIL
from variants import VARIANTS

FOLDER = Path(__file__).parent
HALVES = ("confirmation", "development")
ENOUGH = 0.9  # a method belongs in a comparison if it has this share of the units of the one with most


def present(rows, methods):
    """Those of the methods that were measured in full."""
    count = dict(rows.group_by("method").len().iter_rows())
    most = max(count.get(name, 0) for name in methods)
    return [name for name in methods if count.get(name, 0) >= ENOUGH * most]


def signed(value):
    """A difference in points."""
    return f"{value:+.1f}".replace("-", "−")


def comparison(rows, methods):
    """A row for each method, best rank on the confirmation half first."""
    methods = present(rows, methods)
    both = Arena.of(rows, methods)
    balanced = Arena.of(rows, methods, "balanced_accuracy").by_dataset().mean(axis=1)
    ranks = {half: Arena.of(rows.filter(pl.col("half") == half), methods).ranks().mean(axis=1) for half in HALVES}
    at = {n: both.at(n).by_dataset().mean(axis=1) for n in BUDGETS}
    body = []
    for i in np.argsort(ranks["confirmation"]):
        name = both.methods[i]
        if name == "random":
            more = ["–"] * 4
        else:
            saved = both.saved(name)
            gap, where, below, above = both.against_random(name)
            more = [" / ".join(f"{saved[n]:.2f}" for n in SHARES), f"{signed(gap)} ({where})", f"{below}", f"{above}"]
        shown = f"**{name}**" if name.startswith("mheal") else name
        body.append(
            [shown + ("\\*" if name in INFORMED else ""), *(f"{ranks[half][i]:.2f}" for half in HALVES),
             *(f"{at[n][i]:.1f}" for n in BUDGETS), f"{balanced[i]:.1f}", *more]
        )  # fmt: skip
    head = ["method", "rank, confirmation", "rank, development", *(f"at {n}" for n in BUDGETS), "balanced", "saved",
            "worst against random", "below", "above"]  # fmt: skip
    return table(head, body)


def tests(rows, methods, ours):
    """Wilcoxon's tests of one method against all others, on each half and on both."""
    methods = present(rows, methods)
    found = [Arena.of(rows.filter(pl.col("half") == half), methods).wilcoxon(ours) for half in HALVES]
    found.append(Arena.of(rows, methods).wilcoxon(ours))
    body = [
        [name, *(f"{signed(gap)} (p {p:.3f})" for gap, p in (result[name] for result in found))]
        for name in sorted(found[2], key=lambda name: found[2][name])
    ]
    return table([f"{ours} against", *HALVES, "both"], body)


def picture(rows, methods, file):
    """Mean ranks on each half; methods that a bar joins do not differ by Nemenyi's test."""
    methods = present(rows, methods)
    figure, axes = plt.subplots(len(HALVES), 1, figsize=(9, 0.36 * len(methods) * len(HALVES) + 1.2), sharex=True)
    for axis, half in zip(axes, HALVES, strict=True):
        arena = Arena.of(rows.filter(pl.col("half") == half), methods)
        ranks, width = arena.ranks().mean(axis=1), arena.critical_difference()
        order = np.argsort(ranks)
        sets = arena.units["dataset"].n_unique()
        for place, i in enumerate(order):
            ours = arena.methods[i].startswith("mheal")
            axis.plot(ranks[i], place, "o", color="C3" if ours else "C0")
            axis.text(ranks[i] + 0.15, place, f"{arena.methods[i]}  {ranks[i]:.2f}", va="center", fontsize=8)
        reach = 0
        for place, i in enumerate(order):
            last = int(np.flatnonzero(ranks[order] <= ranks[i] + width)[-1])
            if last > reach or place == 0:
                axis.plot([ranks[i] - 0.12] * 2, [place, last], color="0.6", lw=2, solid_capstyle="butt")
            reach = max(reach, last)
        axis.invert_yaxis()
        axis.set_yticks([])
        axis.spines[["left", "right", "top"]].set_visible(False)
        title = f"{half}: {sets} datasets, critical difference {width:.2f}, Friedman p {arena.friedman():.1g}"
        axis.set_title(title, fontsize=9, loc="left")
    axes[-1].set_xlabel("mean rank over datasets (1 is best)")
    figure.tight_layout()
    plt.rcParams["svg.hashsalt"] = "arena"
    figure.savefig(file, metadata={"Date": None})


if __name__ == "__main__":
    rows = read(FOLDER / "rows.csv.gz")
    cold, rounds = (*COLD, *OTHERS, *VARIANTS), ("random", "mheal", *ROUNDS)
    picture(rows, cold, FOLDER / "critical_difference.svg")
    seeds = rows["seed"].n_unique()
    parts = [HEAD.format(seeds=seeds), comparison(rows, cold), tests(rows, cold, "mheal"), ROUNDS_HEAD]
    parts += [comparison(rows, rounds), tests(rows, rounds, "mheal with labels"), TAIL]
    (FOLDER / "README.md").write_text(wrapped("\n\n".join(part.strip() for part in parts)), encoding="utf-8")
