"""Write the arena's page and its picture of critical differences from the rows.

python benchmarks/labels/arena/arena_page.py
"""

import sys
from pathlib import Path

sys.path += [str(Path(__file__).parent), str(Path(__file__).parents[1])]
import matplotlib as mpl

mpl.use("svg")
import matplotlib.pyplot as plt
import numpy as np
from common import read, table, wrapped
from contenders import COLD, INFORMED
from ranking import SHARES, Arena, framed
from words import HEAD, MIDDLE, TAIL

FOLDER = Path(__file__).parent
HALVES = ("confirmation", "development")
BUDGETS = (10, 20, 50, 100, 200, 500)
BEFORE = "mheal, by distances"  # the rule of mheal 0.1.0
TRIAL = "mheal, mutual proximity"
FIRST = (*COLD, BEFORE, TRIAL)  # methods that need no labels,
SECOND = (
    "random",
    "mheal",
    "mheal with labels",
    "mheal with labels, by distances",
    "badge",
    "uherding",
    "margin",
    "TypiClust (scikit-activeml)",
)  # and others, measured on one split; rows.csv.gz has more of them


def comparable(rows, methods):
    """The methods on the splits that all of them share."""
    shared = set.intersection(
        *(set(rows.filter(rows["method"] == m).select("dataset", "seed").unique().iter_rows()) for m in methods)
    )
    keep = [unit in shared for unit in rows.select("dataset", "seed").iter_rows()]
    return rows.filter(keep)


def signed(value):
    """A difference in points."""
    return f"{value:+.1f}".replace("-", "−")


def comparison(arena, balanced, ours, deepest):
    """A row for each method, best rank on the confirmation half first. `deepest` has more seeds of some methods."""
    ranks = {half: arena.of_half(half).ranks().mean(axis=1) for half in HALVES}
    at = {n: arena.at(n).by_dataset().mean(axis=1) for n in BUDGETS}
    tests, body = arena.wilcoxon(ours), []
    for i in np.argsort(ranks["confirmation"]):
        name = arena.methods[i]
        more, against = ["–"] * 3, "–"
        if name != "random":
            saved = arena.saved(name)
            gap, where, below, above = (deepest if name in deepest.methods else arena).against_random(name)
            more = [" / ".join(f"{saved[n]:.1f}" for n in SHARES), f"{signed(gap)} ({where})", f"{below} / {above}"]
        if name != ours:
            against = f"{signed(tests[name][0])}, p {tests[name][1]:.3f}"
        shown = (f"**{name}**" if name == ours else name) + ("\\*" if name in INFORMED else "")
        numbers = [f"{ranks[half][i]:.1f}" for half in HALVES] + [f"{at[n][i]:.1f}" for n in BUDGETS]
        body.append([shown, *numbers, f"{balanced[i]:.1f}", *more, against])
    head = ["method", "rank, confirmation", "rank, development", *(f"at {n}" for n in BUDGETS), "balanced",
            "labels saved", "worst against random", "below / above", f"{ours} against it"]  # fmt: skip
    return table(head, body)


def picture(arena, file):
    """Mean ranks on each half; methods that a bar joins do not differ by Nemenyi's test."""
    plt.rcParams["svg.hashsalt"] = "arena"
    count = len(arena.methods)
    figure, axes = plt.subplots(1, len(HALVES), figsize=(11, 0.28 * count + 1.2), sharex=True)
    for axis, half in zip(axes, HALVES, strict=True):
        one = arena.of_half(half)
        ranks, width = one.ranks().mean(axis=1), one.critical_difference()
        order = np.argsort(ranks)
        for place, i in enumerate(order):
            axis.plot(ranks[i], place, "o", color="C3" if arena.methods[i].startswith("mheal") else "C0")
            axis.text(ranks[i] + 0.4, place, f"{arena.methods[i]}  {ranks[i]:.1f}", va="center", fontsize=7)
        reach = -1
        for place, i in enumerate(order):
            last = int(np.flatnonzero(ranks[order] <= ranks[i] + width)[-1])
            if last > max(reach, place):
                axis.plot([ranks[i] - 0.4] * 2, [place - 0.2, last + 0.2], color="0.6", lw=1.5)
            reach = max(reach, last)
        axis.invert_yaxis()
        axis.set_yticks([])
        axis.spines[["left", "right", "top"]].set_visible(False)
        sets, p = one.units["dataset"].n_unique(), one.friedman()
        axis.set_title(f"{half}: {sets} datasets, critical difference {width:.1f}, Friedman p {p:.0e}", fontsize=8)
        axis.set_xlabel("mean rank over datasets, 1 is best")
        axis.set_xlim(0, count + 6)
    figure.tight_layout()
    figure.savefig(file, metadata={"Date": None})


def arenas(rows, methods):
    """The comparison on the splits that all methods share, and their balanced accuracy."""
    shared = comparable(rows, methods)
    balanced = Arena.of(shared, methods, "balanced_accuracy").by_dataset().mean(axis=1)
    return Arena.of(shared, methods), balanced


def text(lines):
    """The text of README.md."""
    rows = framed(lines)
    deepest = Arena.of(rows, ["random", "mheal", BEFORE, TRIAL, "kmedoids"])  # with the most splits
    first, second = arenas(rows, FIRST), arenas(rows, SECOND)
    seeds = [arena.units["seed"].n_unique() for arena in (first[0], second[0], deepest)]
    table_of_first = comparison(*first, "mheal", deepest)
    parts = [HEAD.format(seeds=seeds[0], more=seeds[2], first=table_of_first), MIDDLE]
    parts += [comparison(*second, "mheal with labels", second[0]), TAIL]
    return "\n\n".join(part.strip() for part in parts)


if __name__ == "__main__":
    lines = read(FOLDER / "rows.csv.gz")
    picture(arenas(framed(lines), FIRST)[0], FOLDER / "critical_difference.svg")
    (FOLDER / "README.md").write_text(wrapped(text(lines)), encoding="utf-8")
