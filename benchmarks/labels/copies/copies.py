"""Should copies count? Pools with copies by nature, by mistake, and by mistake with wrong labels.

    python results/copies/copies.py DATA OUT.csv [SEEDS]

DATA holds NAME.npz with X_train and y_train; none of these is in results/compare. Of the tables 70 % of the rows are
the pool, the rest the test set, so copies are as they come. Of the images (PCA to 30 columns) 10,000 are the pool and
4,000 the test set; repeated and noisy, 2,000 of the pool are there twice, as in Tables 4 and 5. A row of the output is
dataset, pool, model, seed, strategy, labels, accuracy and the share of wrong labels bought. What is done already is not
done again.
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
from sklearn.preprocessing import StandardScaler

from mheal.estimators import fit_model, predict
from mheal.strategies import Pool, get
from mheal_reproduction.paper.image_pools import KINDS, image_pool

POOLS = {"adult": ("natural",), "nomao": ("natural",), "mnist": KINDS, "fashion_mnist": KINDS}
MODELS = ("logistic", "svm")
BUDGETS = (20, 50, 100, 200, 500)
STRATEGIES = {
    "mheal": get("mheal")(),
    "mheal, copies once": get("mheal")(copies="once"),
    "mheal-asking": get("mheal-asking")(),
    "mheal-asking, copies once": get("mheal-asking")(copies="once"),
    **{name: get(name)() for name in ("random", "coreset", "kmedoids", "maxherding", "typiclust", "margin", "badge")},
}


def load(folder: Path, name: str, kind: str, seed: int):
    """Pool, what its labels are said to be and are, test rows and their labels."""
    data, images = np.load(folder / f"{name}.npz"), kind != "natural"
    X, y = data["X_train"].reshape(len(data["X_train"]), -1).astype(np.float32), data["y_train"].ravel()
    order = np.random.default_rng(seed).permutation(len(X))
    order, rows = (order[:14_000], 10_000) if images else (order, int(0.7 * len(X)))
    X, y = X[order], np.unique(y[order], return_inverse=True)[1]
    if images:
        X = PCA(30, random_state=0).fit_transform(X / 255)
    pool = image_pool(y[:rows], kind if images else "clean", seed)
    scale = StandardScaler().fit(X[:rows])
    Z = scale.transform(X).astype(np.float32)
    return Z[:rows][pool.images], pool.labels, y[:rows][pool.images], Z[rows:], y[rows:]


def buy(strategy, X, y, model, seed):
    """Rows bought and a model of them, at each budget; strategies that ask a model do so at each."""
    rng, labeled, fitted = np.random.default_rng(seed), np.empty(0, np.int64), None
    for budget in BUDGETS:
        if strategy.needs_model and fitted is None:
            labeled = np.random.default_rng(seed).permutation(len(X))[:budget]
        elif strategy.kind == "adaptive":
            pool = Pool(X, labeled, y[labeled], fitted, rng)
            labeled = np.append(labeled, strategy.select(pool, budget - len(labeled)).indices)
        elif not len(labeled) or strategy.kind == "one-shot":
            pool = Pool(X, labeled[:0], y[:0], None, np.random.default_rng(seed))
            ranked = strategy.select(pool, BUDGETS[-1] if strategy.kind == "ranked" else budget).indices
            labeled = ranked[:budget]
        else:
            labeled = ranked[:budget]
        fitted = fit_model(model, seed, X[labeled], y[labeled])
        yield labeled, fitted


def run(job):
    """The rows of one pool and seed that are not there yet."""
    folder, name, kind, seed, missing = job
    warnings.filterwarnings("ignore")
    X, said, truth, X_test, y_test = load(folder, name, kind, seed)
    found = []
    for strategy, model in missing:
        for labeled, fitted in buy(STRATEGIES[strategy], X, said, model, seed):
            accuracy, wrong = (predict(fitted, X_test) == y_test).mean(), (said[labeled] != truth[labeled]).mean()
            found.append([name, kind, model, seed, strategy, len(labeled), round(accuracy, 4), round(wrong, 4)])
    return found


def main() -> None:
    folder, out, seeds = Path(sys.argv[1]), Path(sys.argv[2]), int((sys.argv[3:] or [5])[0])
    there = list(csv.reader(out.open(encoding="utf-8")))[1:] if out.exists() else []
    done = {tuple(row[:5]) for row in there}
    jobs = []
    for seed in range(seeds):
        for name, kinds in POOLS.items():
            for kind in kinds:
                units = [(s, m) for s in STRATEGIES for m in MODELS if (name, kind, m, str(seed), s) not in done]
                jobs += [(folder, name, kind, seed, units)] if units else []
    processes = Processes(int(os.environ.get("PROCESSES", 0)) or None)
    with out.open("a", newline="", encoding="utf-8") as file, processes as pool:
        if not there:
            head = ["dataset", "pool", "model", "seed", "strategy", "labels", "accuracy", "wrong"]
            csv.writer(file).writerow(head)
        for rows in pool.imap_unordered(run, jobs):
            csv.writer(file).writerows(rows)
            file.flush()


if __name__ == "__main__":
    main()
