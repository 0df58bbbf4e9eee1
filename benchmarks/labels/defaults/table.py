"""Write results/defaults/README.md from the rows: mean accuracy of both models, and its spread over the seeds."""

import csv
from collections import defaultdict
from pathlib import Path
from statistics import mean, stdev

HERE = Path(__file__).parent
BUDGETS = ("10", "20", "50", "100", "200", "500")
Cells = dict[tuple[str, str, str, str], list[float]]
INTRODUCTION = """# Why the default is what it is

First images, as networks see them, then eight datasets (digits, Satimage, Phishing, Magic04, MNIST and Fashion-MNIST
after PCA to 30 columns, Nomao, Adult), 8 seeds each, mean accuracy of an RBF SVM and a logistic regression; protocol
in `features.py`, `choose.py` and `cover.py`, raw rows in `feature_rows.csv`, `rows.csv` and `cover_rows.csv`, this
page from `table.py`. ± is the standard deviation over the seeds, on the eight of the mean over datasets. The labels
these settings are judged by chose among them, so this page says which setting to start from, not how well it will do
on your data. "k-medoids" is k-means with as many clusters as labels, one label for each: it has to be told the budget
in advance, and its picks for 50 labels are not among those for 100.
"""
FEATURES = """
## Images: how long to cover, and how many neighbours
"cover" is the number of first labels that go to the rows that stand best for the pool (`mheal.algorithms.facility_location`), before the
charged max-min takes over; the local spacing behind the charge is that of the "K" nearest "of" so many possible
neighbours in a cluster. The cover chooses from 8,192 rows and looks at 4,096 others, "of 3072×2048" from fewer. Judged
on training images that were left out of the pool.
"""
CHARGE = """
## Power and trim
"K" is the number of neighbours behind the local spacing, of 128 possible ones in a cluster, "p" the power of the
charge, "trim" the share of the sparsest rows that come last; nothing covers the pool first. K matters up to 50 labels
only, where the pool is now covered instead, so K is chosen on images, and this table chose p and trim.
"""
COVER = """
## Tables and small images: how long to cover
Covering helps the first fifty labels most on images (digits at 20 labels: {digits}), and costs some on tables with many
binary columns (Phishing: {phishing}). It hardly matters here when it ends, so images decide.
"""
TITLES = {
    "mnist": "MNIST, codes of an autoencoder, SVM on pixels",
    "fashion_mnist": "Fashion-MNIST, the same",
    "cifar10": "CIFAR-10, features of SimCLR, logistic regression",
}


def main() -> None:
    """The tables, each with its reasons."""
    charge, cover = read("rows.csv"), read("cover_rows.csv")

    def at_20(dataset: str) -> str:
        before, after = (
            mean(v for key, values in cover.items() if key[:3] == (s, "20", dataset) for v in values)
            for s in ("cover=0", "cover=256")
        )
        return f"{before:.3f} → {after:.3f}"

    text = INTRODUCTION + FEATURES + features()
    text += COVER.format(digits=at_20("digits"), phishing=at_20("phishing"))
    text += "\n" + table(cover, "cover=256") + CHARGE + "\n" + table(charge)
    (HERE / "README.md").write_text(text)


def read(name: str) -> Cells:
    """Mean of both models by setting, budget, dataset and seed."""
    cells: Cells = defaultdict(list)
    with (HERE / name).open() as file:
        for row in csv.DictReader(file):
            value = (float(row["svm"]) + float(row["logistic"])) / 2
            cells[row["setting"], row["budget"], row["dataset"], row["seed"]].append(value)
    return cells


def features() -> str:
    """A table a dataset: mean ± sd over the seeds, of those that were run."""
    cells: dict[tuple[str, str, int], list[float]] = defaultdict(list)
    with (HERE / "feature_rows.csv").open() as file:
        for row in csv.DictReader(file):
            cells[row["dataset"], row["setting"], int(row["budget"])].append(float(row["accuracy"]))
    text = ""
    for dataset, title in TITLES.items():
        budgets = sorted({key[2] for key in cells if key[0] == dataset})
        text += f"\n### {title}\n| setting | {' | '.join(f'{b:,} labels' for b in budgets)} |\n"
        text += "|---" * (len(budgets) + 1) + "|\n"
        for setting in dict.fromkeys(key[1] for key in cells if key[0] == dataset):
            found = [cells[dataset, setting, b] for b in budgets]
            shown = [f"{mean(v):.3f} ± {stdev(v):.3f}" if len(v) > 1 else "–" for v in found]
            name = f"**{setting}** (default)" if setting == "cover=256 K=20 of 512" else setting
            text += f"| {name} | {' | '.join(shown)} |\n"
    return text


def table(cells: Cells, default: str = "") -> str:
    """Average over datasets first, then mean ± sd over the seeds."""
    settings, seeds = sorted({key[0] for key in cells}), sorted({key[3] for key in cells})

    def of(setting: str, budget: str) -> list[float]:
        return [
            mean(v for key, values in cells.items() if (key[0], key[1], key[3]) == (setting, budget, s) for v in values)
            for s in seeds
        ]

    values = {setting: [of(setting, b) for b in BUDGETS] for setting in settings}
    overall = {setting: mean(mean(v) for v in values[setting]) for setting in settings}
    lines = ["| setting | " + " | ".join(f"{b} labels" for b in BUDGETS) + " | mean |", "|---" * 8 + "|"]
    for setting in sorted(settings, key=overall.__getitem__, reverse=True):
        name = f"**{setting}** (default)" if setting == default else setting
        shown = " | ".join(f"{mean(v):.3f} ± {stdev(v):.3f}" for v in values[setting])
        lines.append(f"| {name} | {shown} | {overall[setting]:.4f} |")
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    main()
