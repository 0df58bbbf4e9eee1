"""How many of the first labels should cover the pool? Accuracy per label for several answers, on eight datasets.

    python results/defaults/cover.py DATA OUT.csv [SEEDS]

Datasets, splits, models and columns of the output as in choose.py; a setting is the parameter `cover` of MHEAL.
"""

import csv
import sys
import warnings
from multiprocessing import Pool
from pathlib import Path

import numpy as np
from choose import BUDGETS, NAMES, accuracies, load  # sets one thread a process
from sklearn.cluster import KMeans

from mheal import MHEAL

COVERS = (0, 32, 64, 128, 256, 512)


def run(job):
    """All rows of one dataset and seed."""
    folder, name, seed = job
    warnings.filterwarnings("ignore")
    X, y, X_test, y_test = load(folder, name, seed)
    rows = []

    def record(setting, picks, budgets=BUDGETS):
        for b in budgets:
            rows.append([name, seed, setting, b, *accuracies(X[picks[:b]], y[picks[:b]], X_test, y_test)])

    record("random", np.random.default_rng(seed + 99).permutation(len(X))[: max(BUDGETS)])
    for b in BUDGETS:
        if b <= len(X) // 3:
            distance = KMeans(b, n_init=1, random_state=seed).fit_transform(X)
            record("k-medoids", np.unique(distance.argmin(0)), [b])
    for cover in COVERS:
        record(f"cover={cover}", MHEAL(cover=cover, random_state=seed).select(X, max(BUDGETS)).indices)
    return rows


if __name__ == "__main__":
    folder, out, seeds = Path(sys.argv[1]), Path(sys.argv[2]), int((sys.argv[3:] or [8])[0])
    with out.open("w", newline="") as file, Pool() as pool:
        csv.writer(file).writerow(["dataset", "seed", "setting", "budget", "svm", "logistic"])
        for rows in pool.imap_unordered(run, [(folder, n, s) for s in range(seeds) for n in NAMES]):
            csv.writer(file).writerows(rows)
            file.flush()
