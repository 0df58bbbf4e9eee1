"""How the default's spacing and trim were chosen: accuracy per label of many settings on eight datasets.

    python results/defaults/choose.py DATA OUT.csv [SEEDS]

DATA holds NAME.npz with X_train and y_train for each dataset below (digits are in scikit-learn). 70 % of up to 14,000
(images) or 8,000 (tables) rows are the pool, the rest the test set; images go through PCA to 30 columns, then
every column is standardised on the pool. Each strategy picks once; prefixes serve the smaller budgets. A row of the
output is dataset, seed, setting, budget, accuracy of an RBF SVM (C = 10), accuracy of a logistic regression.
"""

import csv
import os
import sys
import warnings
from multiprocessing import Pool
from pathlib import Path

for variable in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MHEAL_NUM_THREADS"):
    os.environ[variable] = "1"  # one process a core

import numpy as np
from sklearn.cluster import KMeans
from sklearn.datasets import load_digits
from sklearn.decomposition import PCA
from sklearn.linear_model import LogisticRegression
from sklearn.svm import SVC

import mheal.algorithms.local_spacing
from mheal import SphericalKMeans
from mheal.algorithms.density import charge_of
from mheal.algorithms.farthest_first import traverse
from mheal.backends.cpu.points import Points
from mheal.cluster.sampled import auto_clusters

NAMES = ("digits", "satimage", "phishing", "magic04", "mnist", "fashion_mnist", "nomao", "adult")
BUDGETS = (10, 20, 50, 100, 200, 500)
SETTINGS = [(20, 1.25, 0.0)]  # neighbours, power, trim
SETTINGS += [(K, 1.25, trim) for K in (20, 40, 60, 100) for trim in (0.02, 0.05, 0.08)]
SETTINGS += [(60, 1.1, 0.05), (60, 1.5, 0.05), (40, 1.5, 0.05), (100, 1.5, 0.05), (200, 1.25, 0.05)]


def load(folder: Path, name: str, seed: int):
    """Pool and test set, standardised on the pool."""
    rng = np.random.default_rng(seed)
    images = "mnist" in name
    if name == "digits":
        X, y = load_digits(return_X_y=True)
    else:
        data = np.load(folder / f"{name}.npz")
        keep = np.random.default_rng(0).permutation(len(data["X_train"]))[: 14_000 if images else 8_000]
        X, y = data["X_train"][keep].reshape(len(keep), -1).astype(np.float32), data["y_train"][keep]
    order = rng.permutation(len(X))
    cut = min(3000, len(X) * 3 // 10)
    test, pool = order[:cut], order[cut:]
    X_test, X_pool = X[test], X[pool]
    if images:
        pca = PCA(30, random_state=0).fit(X_pool / 255.0)
        X_test, X_pool = pca.transform(X_test / 255.0), pca.transform(X_pool / 255.0)
    mean, sd = X_pool.mean(0), X_pool.std(0)
    sd[sd < 1e-6] = 1
    scaled = [((A - mean) / sd).astype(np.float32) for A in (X_pool, X_test)]
    return scaled[0], y[pool], scaled[1], y[test]


def accuracies(X, y, X_test, y_test):
    """Of both models, each trained on these labels."""
    if len(set(y)) < 2:
        return [float(np.mean(y_test == y[0]))] * 2
    models = SVC(C=10), LogisticRegression(max_iter=500)
    return [round(model.fit(X, y).score(X_test, y_test), 4) for model in models]


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
    points = Points.raw(X)
    k = auto_clusters(len(X))
    labels = SphericalKMeans(k, max_iter=10, random_state=seed)._fit(points).labels_
    for neighbours, power, trim in SETTINGS:
        mheal.algorithms.local_spacing.NEIGHBOURS = neighbours
        spacing = mheal.algorithms.local_spacing.local_spacing(points, labels, k)
        start = np.array([int(spacing.argmin())])
        picks = traverse(points, max(BUDGETS) - 1, start, charge_of(spacing, power, trim))[0]
        record(f"K={neighbours} p={power} trim={trim}", np.r_[start, picks])
    return rows


if __name__ == "__main__":
    folder, out, seeds = Path(sys.argv[1]), Path(sys.argv[2]), int((sys.argv[3:] or [8])[0])
    with out.open("w", newline="") as file, Pool() as pool:
        csv.writer(file).writerow(["dataset", "seed", "setting", "budget", "svm", "logistic"])
        for rows in pool.imap_unordered(run, [(folder, n, s) for s in range(seeds) for n in NAMES]):
            csv.writer(file).writerows(rows)
            file.flush()
