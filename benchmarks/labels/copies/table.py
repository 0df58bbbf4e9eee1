"""Write README.md from the rows beside it: python results/copies/table.py"""

import csv
from collections import defaultdict
from pathlib import Path

import numpy as np

HERE = Path(__file__).parent
PAIRS = {"mheal": "mheal, copies once", "mheal-asking": "mheal-asking, copies once"}
TITLES = {
    "natural": "Tables, in which rows are alike by nature",
    "clean": "Images, each once",
    "repeated": "Images, a fifth of them twice",
    "noisy": "Images, a fifth of them twice, the copy with a wrong label",
}
HEAD = """# Should copies count?

Rows that are equal number for number may be alike by nature, as in a table of few categories: then their number says
what is common. Or they are stored twice by mistake, as images are: then it says nothing, but a row with a copy seems
denser than it is, and is bought more readily; if one of the two has a wrong label, half of such purchases are wrong.
`MHEAL(copies="once")` looks at the first of equal rows only. `copies.py` measures both ways (rows in `rows.csv`); the
labels that they are judged by are of training data.

So copies count by default, since on tables they are worth something. Where `mheal select` is given images, it looks at
each once: that gains much if some labels are wrong, and costs little if all are right.
"""


def main() -> None:
    runs: dict[str, dict[str, dict[tuple[str, str, str], dict[int, tuple[float, float]]]]] = defaultdict(
        lambda: defaultdict(lambda: defaultdict(dict))
    )
    with (HERE / "rows.csv").open(encoding="utf-8") as file:
        for row in csv.DictReader(file):
            key = row["dataset"], row["model"], row["seed"]
            found = 100 * float(row["accuracy"]), 100 * float(row["wrong"])
            runs[row["pool"]][row["strategy"]][key][int(row["labels"])] = found
    text = HEAD
    for pool, title in TITLES.items():
        text += f"\n## {title}\n{_said(runs[pool])}\n\n{_table(runs[pool], pool == 'noisy')}\n"
    (HERE / "README.md").write_text(text, encoding="utf-8")
    print(text)


def _said(strategies) -> str:
    """What it is about, and what counting once changes, paired."""
    keys = sorted(strategies["mheal"])
    names, models, seeds = (sorted({key[i] for key in keys}) for i in range(3))
    said = f"{' and '.join(names)}; {' and '.join(models)}; {len(seeds)} splits. Mean over all numbers of labels, once "
    differences = []
    for count, once in PAIRS.items():
        gap = np.array([_mean(strategies[once][key]) - _mean(strategies[count][key]) for key in keys])
        error = gap.std(ddof=1) / len(gap) ** 0.5
        differences.append(f"{count} {gap.mean():+.2f} ± {error:.2f}".replace("-0", "−0").replace("-1", "−1"))
    return said + f"minus count, in points, ± standard error of {len(keys)} pairs: " + "; ".join(differences) + "."


def _mean(run: dict[int, tuple[float, float]]) -> float:
    return float(np.mean([accuracy for accuracy, _ in run.values()]))


def _table(strategies, noisy: bool) -> str:
    budgets = sorted(next(iter(strategies["mheal"].values())))
    head = ["strategy", *map(str, budgets), *([f"wrong at {budgets[-1]}, %"] if noisy else [])]
    lines = [head, ["---"] * len(head)]
    for name, found in strategies.items():
        means = {n: np.mean([run[n] for run in found.values()], axis=0) for n in budgets}
        cells = [f"{means[n][0]:.1f}" for n in budgets]
        lines.append([name, *cells, *([f"{means[budgets[-1]][1]:.1f}"] if noisy else [])])
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


if __name__ == "__main__":
    main()
