"""Which photographs should a network learn from? Typical ones, judged on CIFAR-10.

    python benchmarks/labels/typical_images/run.py DATA [--seeds N]

DATA holds cifar10.npz (X_train, y_train, X_test, y_test) and features/cifar10_simclr_0.npz, features that SimCLR learnt
from the training images (`python -m mheal_reproduction table3` makes them). Needs the package in `reproduction/` and,
in practice, a GPU.
"""

import sys
from pathlib import Path

sys.path.append(str(Path(__file__).parents[1]))
import numpy as np
from common import Study, gain, mean, means, quiet, table

import mheal

BUDGETS = {"test images": (1000, 2000, 5000, 10_000), "held out": (1000, 2000)}
LEFT_OUT, FIRST, NEIGHBORS, BLOCK = 10_000, 20, 20, 2000
STRATEGIES = ("random", "mheal without a model", "density_power=1")
ON_TEST = (*STRATEGIES, "density_power=0.8", "typiclust", "kmeans", "maxherding", "coreset")
HELD_OUT = (*STRATEGIES, "mheal")
VARIANTS = {  # settings in rows.csv that are not in mheal
    "represent power=1 from=64": "uncertainty not squared",
    "represent power=2 from=64 network": "distances in the network's last layer",
    "represent power=1 from=64 draws=20 bald": "disagreement of 20 draws of the dropout (BALD)",
}
COLUMNS = ("judged_on", "strategy", "seed", "labels", "spacing", "same", "accuracy")
HEAD = """# Which photographs should a network learn from?

**From typical ones with 1,000 or 2,000 labels; from 5,000 on it hardly matters.** A network that learns from pixels
alone gains most from images whose nearest neighbors are of the same class. TypiClust picks such images: it is {ahead}
points ahead of mheal at 1,000 labels and {ahead_2000} at 2,000.

{table}

"spacing" is the mean rank of the first 2,000 picks by local spacing, from 0 (densest) to 1 (sparsest). "same" is the
share of a pick's 20 nearest neighbors that are of its class. The last columns are the accuracy of a ResNet20 on the
test images in %, mean of 3 seeds (1 seed from 5,000 labels on, except random).

## Would other settings help mheal?

Not with certainty. The table shows gains over mheal without a model, in points, ± standard error over 3 seeds. Accuracy
is measured on 10,000 training images that are left out of the pool. "mheal" uses the network's uncertainty after the
first 1,000 picks, and differs by chance alone before. The last three rows are variants of it.

{variants}

Pool: CIFAR-10, features of SimCLR, networks and recipe of the paper's Table 3, starting from 20 random labels. Measured
with mheal 0.1.0 on an H200, `density_power=1` on a CPU. To measure again:

    python benchmarks/labels/typical_images/run.py DATA --seeds 3
"""


def run(job):
    """Measure how typical one strategy's picks are, and the accuracy of networks trained on them."""
    data, judged_on, strategy, seed = job
    quiet()
    with np.load(data / "cifar10.npz") as stored:
        images, y, tests, y_test = (stored[key] for key in ("X_train", "y_train", "X_test", "y_test"))
    X = np.load(data / "features" / "cifar10_simclr_0.npz")["features"].astype(np.float32)
    y, y_test = y.ravel(), y_test.ravel()
    if judged_on == "held out":
        images, y, tests, y_test = images[:-LEFT_OUT], y[:-LEFT_OUT], images[-LEFT_OUT:], y[-LEFT_OUT:]
        X = X[: len(images)]
    place, same = typicality(X, y)
    channels = np.ascontiguousarray(np.concatenate([images, tests]).transpose(0, 3, 1, 2))
    found, rows, network = [], np.random.default_rng(seed).permutation(len(X))[:FIRST], None
    for budget in BUDGETS[judged_on]:
        rows = picked(X, strategy, rows, budget, seed, network)
        network = trained(channels, rows, y[rows], seed)
        right = network.predict_proba(np.arange(len(X), len(channels))).argmax(axis=1) == y_test
        of_rows = [round(float(values[rows].mean()), 3) for values in (place, same)]
        found.append([judged_on, strategy, seed, budget, *of_rows, round(float(right.mean()), 4)])
    return found


def picked(X, strategy, rows, budget, seed, network):
    """The labelled rows at this budget: `rows`, and what the strategy adds."""
    if strategy == "random":
        return np.random.default_rng(seed).permutation(len(X))[:budget]
    options = {"random_state": seed, "strategy": "mheal"}
    if strategy.startswith("density_power="):
        options["strategy"] = mheal.MHEAL(density_power=float(strategy.partition("=")[2]))
    elif strategy == "mheal" and network is not None:
        options["proba"] = network.predict_proba(np.arange(len(X)))
    elif not strategy.startswith("mheal"):
        options["strategy"], rows = strategy, rows[:FIRST]
    return np.append(rows, mheal.select(X, budget - len(rows), labeled=rows, **options).indices)


def trained(channels, rows, labels, seed):
    """A ResNet20 trained on these rows."""
    from mheal_reproduction.networks.recipes import cifar
    from mheal_reproduction.networks.training import train_many

    return train_many(channels, [(rows, labels)], [seed], cifar(len(rows)), classes=10)[0]


def typicality(X, y):
    """For each image, its rank by local spacing (0 to 1), and the share of its neighbors that have its class."""
    spacing, same = np.empty(len(X)), np.empty(len(X))
    for lo in range(0, len(X), BLOCK):
        part = slice(lo, lo + BLOCK)
        cosine = X[part] @ X.T
        rows = np.arange(len(cosine))
        cosine[rows, rows + lo] = -2  # not itself
        near = np.argpartition(-cosine, NEIGHBORS, axis=1)[:, :NEIGHBORS]
        squared = 2 - 2 * np.take_along_axis(cosine, near, axis=1)
        spacing[part] = np.sqrt(np.clip(squared, 0, None)).mean(axis=1)
        same[part] = (y[near] == y[part, None]).mean(axis=1)
    return spacing.argsort().argsort() / (len(X) - 1), same


def page(rows):
    """Write the page: typicality and accuracy of each strategy, and the gains of other settings."""
    tests = [row for row in rows if row["judged_on"] == "test images"]
    at_2000 = [row for row in tests if row["labels"] == "2000"]
    spacing, same = (means(at_2000, "strategy", ("seed",), name) for name in ("spacing", "same"))
    scores = scores_at(tests)
    body = []
    for name in sorted(same, key=lambda name: -np.mean(list(same[name].values()))):
        shown = f"**{name}**" if name.startswith("mheal") else name
        typical = [f"{float(mean(of[name], 4)) / 100:.2f}" for of in (spacing, same)]
        cells = [mean(of[name]) if name in of else "–" for of in scores.values()]
        body.append([shown, *typical, *cells])
    ours = "mheal without a model"
    held_out = scores_at([row for row in rows if row["judged_on"] == "held out"])
    settings = {name: name for name in ("random", "density_power=1", "mheal")} | VARIANTS
    variants = [
        [title, *(gain(held_out[n][name], held_out[n][ours]) for n in ("1000", "2000"))]
        for name, title in settings.items()
    ]
    lead = [f"{float(mean(scores[n]['typiclust'])) - float(mean(scores[n][ours])):.1f}" for n in ("1000", "2000")]
    return HEAD.format(
        ahead=lead[0], ahead_2000=lead[1], variants=table(["setting", "1,000 labels", "2,000 labels"], variants),
        table=table(["strategy", "spacing", "same", *(f"{int(n):,}" for n in scores)], body),
    )  # fmt: skip


def scores_at(rows):
    """Accuracy by labels, strategy and seed."""
    measured = [row for row in rows if row["accuracy"]]
    labels = sorted({row["labels"] for row in measured}, key=int)
    return {n: means([row for row in measured if row["labels"] == n], "strategy", ("seed",)) for n in labels}


def units(seeds):
    """Every strategy and seed."""
    return [("test images", s, seed) for seed in range(seeds) for s in ON_TEST] + [
        ("held out", s, seed) for seed in range(seeds) for s in HELD_OUT
    ]


if __name__ == "__main__":
    Study(Path(__file__).parent, COLUMNS, units, run, page, seeds=3).main()
