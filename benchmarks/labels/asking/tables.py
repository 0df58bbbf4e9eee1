"""How should MHEAL ask a model? Variants on two tables and two kinds of small images, none of them in results/compare.

    python results/asking/tables.py DATA OUT.csv [SEEDS]

DATA holds NAME.npz with X_train and y_train. 8,000 rows of a table or 14,000 images (PCA to 30 columns) are drawn,
70 % of them are the pool, the rest the test set. A row of the output is dataset, model, seed, strategy, labels and
accuracy. What is done already is not done again.
"""

import csv
import os
import sys
import warnings
from multiprocessing import Pool as Processes
from pathlib import Path

for variable in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MHEAL_NUM_THREADS"):
    os.environ[variable] = "1"  # one process a core

import numpy as np
from sklearn.decomposition import PCA
from variants import Asking

from mheal.evaluate.simulate import runs
from mheal.strategies import get

NAMES = ("adult", "nomao", "mnist", "fashion_mnist")
MODELS = ("logistic", "svm")
BUDGETS = (20, 50, 100, 150, 200, 300, 500)
STRATEGIES = [
    *(get(name)() for name in ("mheal", "margin", "badge", "uherding")),
    *(Asking(power=power, then=then) for then in ("cover", "spread") for power in (1, 2, 4)),
    *(Asking(ask_from=start, then=then) for then in ("cover", "spread") for start in (32, 128)),
]


def load(folder: Path, name: str):
    """Some rows, images as their principal columns."""
    data, images = np.load(folder / f"{name}.npz"), "mnist" in name
    keep = np.random.default_rng(0).permutation(len(data["X_train"]))[: 14_000 if images else 8_000]
    X = data["X_train"][keep].reshape(len(keep), -1).astype(np.float32)
    if images:
        X = PCA(30, random_state=0).fit_transform(X / 255)
    return X, data["y_train"][keep]


def run(job):
    """The rows of one dataset, model and seed that are not there yet."""
    folder, name, model, seed, done = job
    warnings.filterwarnings("ignore")
    units = runs(*load(folder, name), STRATEGIES, BUDGETS, model, [seed], done=done)
    return [[name, model, seed, r["strategy"], r["labels"], round(r["accuracy"], 4)] for unit in units for r in unit]


def main() -> None:
    folder, out, seeds = Path(sys.argv[1]), Path(sys.argv[2]), int((sys.argv[3:] or [5])[0])
    there = list(csv.reader(out.open(encoding="utf-8")))[1:] if out.exists() else []
    jobs = []
    for seed in range(seeds):
        for name in NAMES:
            for model in MODELS:
                done = {(row[3], seed) for row in there if row[:3] == [name, model, str(seed)]}
                jobs.append((folder, name, model, seed, done))
    processes = Processes(int(os.environ.get("PROCESSES", 0)) or None)
    with out.open("a", newline="", encoding="utf-8") as file, processes as pool:
        if not there:
            csv.writer(file).writerow(["dataset", "model", "seed", "strategy", "labels", "accuracy"])
        for rows in pool.imap_unordered(run, jobs):
            csv.writer(file).writerows(rows)
            file.flush()


if __name__ == "__main__":
    main()
