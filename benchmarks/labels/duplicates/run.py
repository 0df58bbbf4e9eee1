"""Should equal rows count more than once? Measured on tables that have equal rows, and on images stored twice.

    python benchmarks/labels/duplicates/run.py DATA [--seeds N]

DATA holds adult.npz, nomao.npz, mnist.npz and fashion_mnist.npz.
"""

import sys
from pathlib import Path

sys.path.append(str(Path(__file__).parents[1]))
import numpy as np
from common import Study, accuracy, fitted, gain, labelled, load, mean, means, quiet, table
from sklearn.decomposition import PCA
from sklearn.preprocessing import StandardScaler

POOLS = {"adult": ("natural",), "nomao": ("natural",)}
POOLS |= dict.fromkeys(("mnist", "fashion_mnist"), ("clean", "repeated", "noisy"))
TITLES = {
    "natural": "tables, equal rows by nature",
    "clean": "images, each once",
    "repeated": "images, a fifth of them twice",
    "noisy": "the same, second copy with a wrong label",
}
MODELS, BUDGETS, ROWS = ("logistic", "svm"), (20, 50, 100, 200, 500), 10_000
OTHERS = ("random", "coreset", "kmedoids", "maxherding", "typiclust", "margin", "badge")
STRATEGIES = {
    "mheal without a model": ("mheal", False, False),
    "mheal without a model, deduplicated": ("mheal", False, True),
    "mheal": ("mheal", True, False),
    "mheal, deduplicated": ("mheal", True, True),
    **{name: (name, True, False) for name in OTHERS},
}
COLUMNS = ("dataset", "pool", "model", "seed", "strategy", "labels", "accuracy", "wrong")
HEAD = """# Should equal rows count more than once?

**In tables, yes (`deduplicate=False`); for images, no (`deduplicate=True`).** In tables of few categories the number
of equal rows shows which values are common, and deduplicating costs {natural} points. A second copy of an image adds no
information. Deduplicating gains {noisy} points where second copies have wrong labels, and changes little otherwise.
The command `mheal select` follows this rule.

{table}

Accuracy in %, mean over 20 to 500 labels. "gain" is "deduplicated" minus "counted", in points, ± standard error, paired
over two datasets, two estimators and {seeds} splits. "best other" is the best of {others}. "wrong" is the share of
wrong labels among the first 500, without and with deduplicating.

Measured with mheal 0.1.0 on Adult and Nomao (70 % of the rows are the pool), MNIST and Fashion-MNIST (10,000 images and
2,000 copies, PCA to 30 columns). Logistic regression or an SVM is trained on the labels and provides the uncertainty.
To measure again:

    python benchmarks/labels/duplicates/run.py DATA
"""


def split(data, name, kind, seed):
    """Pool, its labels as stored (some wrong), its true labels, and a test set."""
    images = kind != "natural"
    X, y = load(data, name)
    order = np.random.default_rng(seed).permutation(len(X))
    order, rows = (order[:14_000], ROWS) if images else (order, int(0.7 * len(X)))
    X, y = X[order], y[order]
    if images:
        X = PCA(30, random_state=0).fit_transform(X)
    X = StandardScaler().fit(X[:rows]).transform(X).astype(np.float32)
    pool, given = copies(y[:rows], kind, seed)
    return X[:rows][pool], given, y[:rows][pool], X[rows:], y[rows:]


def copies(y, kind, seed):
    """Numbers of the pool's rows, a fifth of them twice, and their labels; "noisy" copies have wrong labels."""
    rows = np.arange(len(y))
    if kind in ("natural", "clean"):
        return rows, y
    rng = np.random.default_rng([seed, ("clean", "repeated", "noisy").index(kind)])
    copied = rng.choice(len(y), len(y) // 5, replace=False)
    labels = y[copied]
    if kind == "noisy":
        classes = int(y.max()) + 1
        labels = (labels + rng.integers(1, classes, len(labels))) % classes
    order = rng.permutation(len(rows) + len(copied))
    return np.append(rows, copied)[order], np.append(y, labels)[order]


def run(job):
    """Measure the learning curve of one strategy and model."""
    data, dataset, kind, model, seed, title = job
    quiet()
    X, given, truth, X_test, y_test = split(data, dataset, kind, seed)
    name, with_model, deduplicate = STRATEGIES[title]
    steps = labelled(X, name, BUDGETS, seed, given, model if with_model else None, deduplicate=deduplicate)
    found = []
    for rows in steps:
        score = accuracy(fitted(model, X[rows], given[rows], seed), X_test, y_test)
        found.append([*job[1:], len(rows), score, round(float(np.mean(given[rows] != truth[rows])), 4)])
    return found


def page(rows):
    """Write the page: two table rows for each kind of pool, mheal without and with a model."""
    unit, body, gains = ("dataset", "model", "seed"), [], {}
    for kind, title in TITLES.items():
        mine = [row for row in rows if row["pool"] == kind]
        scores = means(mine, "strategy", unit)
        wrong = means([row for row in mine if row["labels"] == "500"], "strategy", unit, "wrong")
        best = max(OTHERS[1:], key=lambda name: np.mean(list(scores[name].values())))
        for name in ("mheal without a model", "mheal"):
            once = f"{name}, deduplicated"
            found = gains[kind, name] = gain(scores[once], scores[name])
            share = f"{mean(wrong[name], 0)} → {mean(wrong[once], 0)} %" if kind == "noisy" else "–"
            others = [mean(scores["random"]), f"{mean(scores[best])} ({best})"]
            body.append([title, name, mean(scores[name]), mean(scores[once]), found, *others, share])
    head = ["pool", "strategy", "counted", "deduplicated", "gain", "random", "best other", "wrong"]
    splits = len({row["seed"] for row in rows})
    natural = gains["natural", "mheal without a model"].removeprefix("−")
    return HEAD.format(
        natural=natural, noisy=gains["noisy", "mheal without a model"].removeprefix("+"), table=table(head, body),
        seeds=splits, others=", ".join(OTHERS[1:]),
    )  # fmt: skip


def units(seeds):
    """Every strategy and model on every split of every pool."""
    pools = [(dataset, kind) for dataset, kinds in POOLS.items() for kind in kinds]
    return [(*pool, m, seed, s) for seed in range(seeds) for pool in pools for m in MODELS for s in STRATEGIES]


if __name__ == "__main__":
    Study(Path(__file__).parent, COLUMNS, units, run, page).main()
