"""What do pretrained features gain, and what does picking gain on top?

python benchmarks/labels/features/prepare.py DATA TEXTS.csv
python benchmarks/labels/features/run.py DATA [--seeds N]
"""

import csv
import sys
from pathlib import Path

sys.path.append(str(Path(__file__).parents[1]))
import numpy as np
from common import Study, gain, mean, means, quiet, table

from mheal.evaluate import simulate

FEATURES = {  # the first needs no network, the last is the default where it is installed
    "cifar10": ("shapes", "efficientnet+shapes", "efficientnet"),
    "cifar100": ("shapes", "efficientnet+shapes", "efficientnet"),
    "fashion_mnist": ("shapes", "efficientnet", "efficientnet+shapes"),
    "mnist": ("shapes", "efficientnet", "efficientnet+shapes"),
    "reuters-r52": ("tfidf", "minilm", "minilm+tfidf"),
}
BUDGETS = (20, 50, 100, 200, 500)
COLUMNS = ("dataset", "seed", "features", "strategy", "labels", "accuracy", "balanced_accuracy")
HEAD = """# What do pretrained features gain, and what does picking gain on top?

**{verdict}** Accuracy in % at 100 labels of a logistic regression on the features; gains in points, ± standard error,
paired over {seeds} splits.

{table}

"shapes" and "tfidf" need no pretrained network. "efficientnet" is EfficientNet-Lite0, trained on ImageNet, of the extra
`mheal[vision]`; "minilm" is all-MiniLM-L6-v2 of `mheal[text]`; "+" puts the columns of both side by side, with the same
weight. The network has seen colour photographs: there it is best alone, and of grey images pixels and edges add what it
does not know. So `mheal select` uses "efficientnet", with "shapes" if all images are grey, or "minilm+tfidf", where
they are installed. This was decided on these datasets. {items} items of each set, 30 % of them for the test.

{curves}

Means over the splits, `mheal` and random picks. {speed}

    python benchmarks/labels/features/prepare.py DATA TEXTS.csv
    python benchmarks/labels/features/run.py DATA --seeds 5
"""


def run(job):
    """Learning curves of mheal and of random picks on one split."""
    data, name, seed, features = job
    quiet()
    stored = np.load(data / "features" / f"{name}_{features}.npz")
    counts = np.bincount(stored["y"])
    keep = np.isin(stored["y"], np.flatnonzero(counts >= 2))  # a class of one item cannot be on both sides of a split
    curves = simulate(stored["X"][keep], stored["y"][keep], ["mheal", "random"], BUDGETS, seeds=[seed])
    return [
        [name, seed, features, row["strategy"], row["labels"], *(round(row[m], 4) for m in COLUMNS[-2:])]
        for row in curves.rows
    ]


def page(rows):
    """A row for each dataset, then the curves."""
    body, curves, best = [], [], {}
    for name, (plain, *others) in FEATURES.items():
        pretrained = others[-1]
        mine = [row for row in rows if row["dataset"] == name]
        if not mine:
            continue
        at = {
            (features, strategy): means(
                [r for r in mine if (r["features"], r["strategy"], r["labels"]) == (features, strategy, "100")],
                "strategy", ("seed",),
            )[strategy]
            for features in (plain, pretrained) for strategy in ("mheal", "random")
        }  # fmt: skip
        best[name] = gain(at[pretrained, "random"], at[plain, "random"])
        body.append([
            name, plain, pretrained, mean(at[plain, "random"]), mean(at[pretrained, "random"]), best[name],
            mean(at[pretrained, "mheal"]), gain(at[pretrained, "mheal"], at[pretrained, "random"]),
        ])  # fmt: skip
        for features in (plain, *others):
            cells = []
            for labels in BUDGETS:
                found = means(
                    [r for r in mine if r["features"] == features and r["labels"] == str(labels)], "strategy", ("seed",)
                )
                cells.append(f"{mean(found['mheal'])}, {mean(found['random'])}")
            curves.append([name, features, *cells])
    head = ["dataset", "without", "with", "random, without", "random, with", "features gain", "mheal, with"]
    speed = Path(__file__).parent / "speed.csv"
    timed = ""
    if speed.exists():
        with speed.open(newline="", encoding="utf-8") as file:
            lines = list(csv.DictReader(file))
        each = ", ".join(f"{line['method']} {float(line['items a second']):,.0f}" for line in lines)
        timed = f"Items a second on {lines[0]['cores']} cores: {each}; a second run reads them from the cache."
    gains = [f"{name} {value}" for name, value in best.items()]
    return HEAD.format(
        verdict=f"On photographs, pretrained features gain more than any rule of selection: {', '.join(gains)} points.",
        table=table([*head, "picking gains"], body), seeds=len({row["seed"] for row in rows}),
        items="1,500 to 2,000", curves=table(["dataset", "features", *map(str, BUDGETS)], curves), speed=timed,
    )  # fmt: skip


def units(seeds):
    """Each kind of features on every split of every dataset."""
    return [(name, seed, features) for seed in range(seeds) for name, each in FEATURES.items() for features in each]


if __name__ == "__main__":
    Study(Path(__file__).parent, COLUMNS, units, run, page, seeds=5).main()
