"""The experiment behind `mheal demo`: four ways to pick digits, one model, several splits.

Each split keeps 70 % of scikit-learn's 1,797 digits as the pool, by class, and tests on the rest. The model is
scikit-learn's logistic regression with its defaults, run to convergence, on pixels standardised over the whole pool
(which needs no labels). Smaller budgets use the first picks of the largest, also for the published algorithm, which
might start elsewhere for them.
"""

import csv
from pathlib import Path
from typing import NamedTuple

import numpy as np
from matplotlib.figure import Figure
from numpy.typing import NDArray
from sklearn.datasets import load_digits
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import train_test_split
from sklearn.preprocessing import StandardScaler
from threadpoolctl import threadpool_limits

from ...api import select
from ...evaluate import Curves
from ...runtime.files import replacing
from ...runtime.progress import Progress

Floats = NDArray[np.float64]
Rows = NDArray[np.int64]

BUDGETS = (10, 20, 30, 50, 75, 100)
STRATEGIES = {"mheal": "mheal", "random": "random", "k-center": "coreset", "MHEAL (paper)": "mheal-paper"}

MODEL = "logistic regression on digits"


class Runs(NamedTuple):
    """Accuracy by strategy, seed and number of labels; and the images that mheal picked in the first split."""

    curves: Curves
    images: Floats


def run(budget: int, seeds: int, progress: Progress) -> Runs:
    """Pick `budget` rows with every strategy in one split per seed, and score the model on the picks."""
    images, y = load_digits(return_X_y=True)
    rows = []
    first = np.empty((0, 8, 8))
    for seed in range(seeds):
        progress(seed, seeds, "picking and training")
        pool, test = train_test_split(np.arange(len(y)), test_size=0.3, stratify=y, random_state=seed)
        scale = StandardScaler().fit(images[pool])
        X, X_test = scale.transform(images[pool]), scale.transform(images[test])
        for title, name in STRATEGIES.items():
            picks = select(images[pool], budget, strategy=name, random_state=seed).indices
            if not len(first):
                first = images[pool][picks].reshape(-1, 8, 8)
            with threadpool_limits(1):  # tiny fits: threaded BLAS only waits, 60 times as long on busy cores
                for labels in (*(b for b in BUDGETS if b < budget), budget):
                    accuracy = _score(X[picks[:labels]], y[pool][picks[:labels]], X_test, y[test])
                    rows.append(dict(strategy=title, seed=seed, estimator=MODEL, labels=labels, accuracy=accuracy))
    return Runs(Curves(rows), first)


def _score(X: Floats, y: Rows, X_test: Floats, y_test: Rows) -> float:
    if len(np.unique(y)) == 1:  # nothing to learn yet
        return float(np.mean(y_test == y[0]))
    return float(LogisticRegression(max_iter=1000).fit(X, y).score(X_test, y_test))


def save(curves: Curves, path: Path) -> None:
    """Write a row for each strategy, seed and number of labels; no times, so that equal runs give equal files."""
    with replacing(path) as part, part.open("w", newline="") as file:
        table = csv.writer(file)
        table.writerow(["strategy", "seed", "labels", "accuracy"])
        for row in sorted(curves.rows, key=lambda row: (list(STRATEGIES).index(row["strategy"]), row["seed"])):
            table.writerow([row["strategy"], row["seed"], row["labels"], f"{row['accuracy']:.6f}"])


def draw_picks(images: Floats, path: Path) -> None:
    """Draw the picked images, best first, ten to a line, each under its rank."""
    lines = -(-len(images) // 10)
    figure = Figure(figsize=(6.5, 0.72 * lines + 0.5), layout="constrained")
    figure.suptitle(f"The {len(images)} digits that mheal picks to be labelled, best first", fontsize=11)
    for rank, ax in enumerate(figure.subplots(lines, 10, squeeze=False).flat, start=1):
        ax.set_axis_off()
        if rank <= len(images):
            ax.imshow(images[rank - 1], cmap="gray_r")
            ax.set_title(str(rank), fontsize=7, color="#555555", pad=2)
    with replacing(path) as part:
        figure.savefig(part, format="png", dpi=150)
