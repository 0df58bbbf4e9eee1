"""Write README.md from the rows beside it: python results/spaces/table.py"""

import csv
from collections import defaultdict
from pathlib import Path

import numpy as np

HERE = Path(__file__).parent
KINDS = {"Images": ("mnist", "fashion_mnist", "digits", "cifar10"), "Texts": ("fortunes", "debian")}
SPACES = ("standard", "raw", "unit")
HEAD = """# In which units should images and texts be compared?

PCA makes vectors of images (`--embed pca`), TF-IDF and SVD make vectors of texts. Their first columns vary much, their
last ones little. To give every column the same spread, as tables want it, makes as much of the last as of the first:
**standard**. **raw** takes vectors as they come, **unit** gives each of them length 1. What learns from the labels sees
pixels, or all words, not these vectors. `spaces.py` says more; rows in `rows.csv`.

Standard columns are behind up to 200 labels, with every strategy but Core-set on texts. Raw and unit are level on
images; on texts MHEAL is ahead with unit up to 100 labels, with raw from 200 on. So embedded items have unit length,
and rows of unit length, whoever made them, are compared as they are (`MHEAL(space="auto")`, `Pool.space`); other rows
have their columns standardised. What this does not mend: on these texts no strategy is ahead of random labels at 100
and 200.
"""

Runs = dict[tuple[str, str], dict[tuple[str, str, str], dict[int, float]]]


def read() -> Runs:
    """Accuracy by strategy and space, then by dataset, model and seed, then by labels."""
    found: Runs = defaultdict(lambda: defaultdict(dict))
    with (HERE / "rows.csv").open(encoding="utf-8") as file:
        for row in csv.DictReader(file):
            key = row["dataset"], row["model"], row["seed"]
            found[row["strategy"], row["space"]][key][int(row["labels"])] = 100 * float(row["accuracy"])
    return found


def gains(found: Runs) -> str:
    """What unit length gains over standard columns for our default, by dataset."""
    budgets = sorted(next(iter(found["mheal", "unit"].values())))
    lines = [["dataset", *map(str, budgets)], ["---"] * (1 + len(budgets))]
    for name in (name for names in KINDS.values() for name in names):
        cells = []
        for n in budgets:
            keys = [key for key in found["mheal", "unit"] if key[0] == name]
            gap = np.array([found["mheal", "unit"][key][n] - found["mheal", "standard"][key][n] for key in keys])
            cells.append(f"{gap.mean():+.1f} ± {gap.std(ddof=1) / len(gap) ** 0.5:.1f}".replace("-", "−"))
        lines.append([name, *cells])
    keys = list(found["mheal", "unit"])
    seeds = len({key[2] for key in keys})
    return f"""## What unit length gains for MHEAL
Accuracy against standard columns, in points, ± standard error; two models, {seeds} splits, paired.

{_table(lines)}"""


def means(found: Runs, kind: str) -> str:
    """Every strategy in every space."""
    mine = {key: {run: cells for run, cells in runs.items() if run[0] in KINDS[kind]} for key, runs in found.items()}
    budgets = sorted(next(iter(mine["mheal", "unit"].values())))
    lines = [["strategy", "space", *map(str, budgets)], ["---"] * (2 + len(budgets))]
    strategies = dict.fromkeys(strategy for strategy, _ in found)
    for key in ((strategy, space) for strategy in strategies for space in ("", *SPACES) if (strategy, space) in mine):
        cells = [f"{np.mean([run[n] for run in mine[key].values()]):.1f}" for n in budgets]
        lines.append([key[0], key[1] or "–", *cells])
    return f"""## {kind}
{", ".join(KINDS[kind])}; accuracy in %, mean over all.

{_table(lines)}"""


def _table(lines: list[list[str]]) -> str:
    return "\n".join("| " + " | ".join(cells) + " |" for cells in lines)


if __name__ == "__main__":
    rows = read()
    text = "\n\n".join([HEAD.strip(), gains(rows), *(means(rows, kind) for kind in KINDS)]) + "\n"
    (HERE / "README.md").write_text(text, encoding="utf-8")
    print(text)
