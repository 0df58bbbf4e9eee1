"""What do images say? Accuracy per label of the default's constants on learnt features, judged on training images.

    python results/defaults/features.py DATA OUT.csv [SEEDS]

DATA holds mnist.npz, fashion_mnist.npz and cifar10.npz, and in features/ the codes of autoencoders and the features
of SimCLR that `mheal_reproduction.paper.image_features.Features` learns from them and keeps there. 30,000 random training images
are the pool, 10,000 others the validation set; the test set is not touched. 20 random labels come first and count.
MNIST and Fashion-MNIST: an RBF SVM (C = 10) on pixels, which knows nothing of the codes; CIFAR-10: a logistic
regression on the features. A row of the output is dataset, seed, setting, budget, accuracy.
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
from sklearn.linear_model import LogisticRegression
from sklearn.svm import SVC

from mheal import MHEAL
from mheal.algorithms import facility_location as cover
from mheal.algorithms import local_spacing as spacing
from mheal.strategies import Pool as Rows
from mheal.strategies import get

BUDGETS = {"mnist": (50, 100, 200, 300, 500), "cifar10": (100, 200, 500, 1000, 2000, 5000)}
BUDGETS["fashion_mnist"] = BUDGETS["mnist"]
WHOLE, LESS = (8192, 4096), (3072, 2048)  # rows that the cover chooses from, and rows that it looks at
SETTINGS = [  # cover, neighbours, of how many; and what the cover sees
    (64, 40, 128, *WHOLE), (128, 40, 128, *WHOLE), (256, 40, 128, *WHOLE), (256, 20, 512, *LESS),
    (256, 20, 512, *WHOLE), (512, 20, 512, *WHOLE),
]  # fmt: skip
OTHERS = ("random", "kmeans", "kmedoids", "maxherding")


def load(folder: Path, name: str, seed: int):
    """Features and labels of the pool, what the classifier sees of it, and the same of the validation set."""
    with np.load(folder / f"{name}.npz") as stored:
        images, y = stored["X_train"], stored["y_train"]
    kind = "simclr_0" if name == "cifar10" else f"codes_{seed}"
    with np.load(folder / "features" / f"{name}_{kind}.npz") as stored:
        X = stored["features"].astype(np.float32)
    order = np.random.default_rng(1000 + seed).permutation(len(X))
    pool, left_out = order[:30_000], order[-10_000:]
    seen = (X - X[pool].mean(0)) / X[pool].std(0)
    if name != "cifar10":
        seen, left_out = images.reshape(len(images), -1).astype(np.float32) / 255, left_out[:5000]
    return X[pool], y[pool], seen[pool], seen[left_out], y[left_out]


def run(job):
    """All rows of one dataset and seed."""
    folder, name, seed = job
    warnings.filterwarnings("ignore")
    X, y, seen, seen_left_out, y_left_out = load(folder, name, seed)
    first, most, rows = np.arange(20), max(BUDGETS[name]), []

    def record(setting, picks, budgets=BUDGETS[name]):
        for b in budgets:
            bought = np.append(first, picks[: b - 20])
            model = LogisticRegression(max_iter=200) if name == "cifar10" else SVC(C=10)
            accuracy = model.fit(seen[bought], y[bought]).score(seen_left_out, y_left_out)
            rows.append([name, seed, setting, b, round(accuracy, 4)])

    for other in OTHERS:
        strategy = get(other)()
        for b in [most] if strategy.kind == "ranked" else [b for b in BUDGETS[name] if b <= 1000]:
            picks = strategy.select(Rows(X, first, y[:20], None, np.random.default_rng(seed)), b - 20).indices
            record(other, picks, BUDGETS[name] if strategy.kind == "ranked" else [b])
    for length, spacing.NEIGHBOURS, spacing.REFERENCES, cover.CANDIDATES, cover.REFERENCES in SETTINGS:
        picks = MHEAL(cover=length, random_state=seed).select(X, most - 20, first).indices
        seen_less = f" of {LESS[0]}×{LESS[1]}" if LESS[0] == cover.CANDIDATES else ""
        record(f"cover={length}{seen_less} K={spacing.NEIGHBOURS} of {spacing.REFERENCES}", picks)
    return rows


if __name__ == "__main__":
    folder, out, seeds = Path(sys.argv[1]), Path(sys.argv[2]), int((sys.argv[3:] or [5])[0])
    with out.open("w", newline="") as file, Pool() as pool:
        csv.writer(file).writerow(["dataset", "seed", "setting", "budget", "accuracy"])
        for rows in pool.imap_unordered(run, [(folder, name, s) for s in range(seeds) for name in BUDGETS]):
            csv.writer(file).writerows(rows)
            file.flush()
