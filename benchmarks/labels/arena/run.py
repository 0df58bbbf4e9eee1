"""Which method gives the most accuracy for the fewest labels? Every method on every dataset, with five learners.

    python benchmarks/labels/arena/prepare.py DATA PACKED.npz                       # once
    python benchmarks/labels/arena/run.py PACKED.npz --out ROWS.csv --seconds 540   # again and again: it goes on
    python benchmarks/labels/arena/arena_page.py                                    # rewrites the page from rows.csv.gz

A unit is one method on one split of one dataset; its rows are written together. Seeds come first, then methods, so that
a run that is stopped has measured every method on the same splits, but for the last seed.
"""

import argparse
import csv
import sys
import time
from multiprocessing import TimeoutError as NotYet
from multiprocessing import get_context
from pathlib import Path

sys.path += [str(Path(__file__).parent), str(Path(__file__).parents[1])]
import common  # sets one thread a process, before NumPy loads
import numpy as np
from contenders import GROUPS, NAMES, labelled
from halves import halves
from sklearn.dummy import DummyClassifier
from sklearn.ensemble import HistGradientBoostingClassifier, RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import balanced_accuracy_score
from sklearn.neighbors import KNeighborsClassifier
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

from mheal.scaling import on_sphere

COLUMNS = ("dataset", "seed", "method", "learner", "labels", "accuracy", "balanced_accuracy")
BUDGETS = (10, 20, 50, 100, 200, 500)
POOL, TEST = 2500, 2000  # rows at most
LEARNERS = ("logistic", "svm", "forest", "1-nn", "boosting")


def learner(name, seed):
    """A learner by its name."""
    return {
        "logistic": lambda: LogisticRegression(max_iter=300),
        "svm": lambda: SVC(C=10),
        "forest": lambda: RandomForestClassifier(50, random_state=seed),
        "1-nn": lambda: KNeighborsClassifier(1),
        "boosting": lambda: HistGradientBoostingClassifier(
            max_iter=30, max_leaf_nodes=8, min_samples_leaf=2, learning_rate=0.2, early_stopping=False
        ),
    }[name]()


def split(packed, name, seed):
    """Pool and test rows with their classes, as methods and learners see them.

    Learners see columns of mean 0 and standard deviation 1; unit rows are multiplied by one number. No method sees the
    test rows.
    """
    with np.load(packed) as stored:
        X, y = stored[f"X_{name}"], stored[f"y_{name}"]
    order = np.random.default_rng(seed).permutation(len(X))
    size = min(POOL, int(0.6 * len(X)))
    pool, test = order[:size], order[size : size + TEST]
    if on_sphere(X[:100]):
        factor = np.float32(X.shape[1] ** 0.5)
        return X[pool], X[pool] * factor, y[pool], X[test] * factor, y[test]
    scaler = StandardScaler().fit(X[pool])
    return X[pool], scaler.transform(X[pool]), y[pool], scaler.transform(X[test]), y[test]


def run(job):
    """The rows of one unit."""
    packed, learners, dataset, seed, method = job
    common.quiet()
    X, seen, y, test, truth = split(packed, dataset, seed)
    budgets = [n for n in BUDGETS if n <= len(X) // 2]
    rows = []
    for n, picks in zip(budgets, labelled(method, X, y, budgets, seed), strict=True):
        several = len(np.unique(y[picks])) > 1
        for name in learners:
            model = (learner(name, seed) if several else DummyClassifier()).fit(seen[picks], y[picks])
            predicted = model.predict(test)
            scores = np.mean(predicted == truth), balanced_accuracy_score(truth, predicted)
            rows.append([dataset, seed, method, name, n, *(f"{score:.4f}" for score in scores)])
    return rows


def units(args):
    """What is to be measured, in order, without what the file already has."""
    done = set()
    if args.out.exists():
        done = {(line["dataset"], int(line["seed"]), line["method"]) for line in common.read(args.out)}
    names = [name for name, half in halves().items() if args.half in ("both", half)]
    names = [name for name in names if not args.datasets or name in args.datasets]
    every = [(name, seed, method) for seed in args.seeds for method in args.methods for name in names]
    return [(args.packed, args.learners, *unit) for unit in every if unit not in done]


def page(rows):
    """The text of README.md."""
    from arena_page import text  # needs what the measurements do not

    return text(rows)


def main():
    """Read the command line and measure."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("packed", type=Path, help="the file that prepare.py wrote")
    parser.add_argument("--out", type=Path, required=True, help="CSV file that rows are appended to")
    parser.add_argument("--seconds", type=float, default=1e6, help="stop after this time")
    parser.add_argument("--processes", type=int, help="units at a time; default: one for each core")
    parser.add_argument("--seeds", type=int, nargs="*", default=list(range(5)))
    parser.add_argument("--half", choices=("development", "confirmation", "both"), default="both")
    parser.add_argument("--methods", nargs="*", default=NAMES, choices=(*NAMES, *GROUPS), metavar="METHOD")
    parser.add_argument("--datasets", nargs="*", default=[])
    parser.add_argument("--learners", nargs="*", default=LEARNERS, choices=LEARNERS, metavar="LEARNER")
    args = parser.parse_args()
    args.methods = [method for name in args.methods for method in GROUPS.get(name, (name,))]
    end = time.monotonic() + args.seconds
    jobs = units(args)
    print(f"{len(jobs)} units to measure", flush=True)
    for method in args.methods:  # kernels are compiled once, before the processes start
        list(labelled(method, *split(args.packed, "diabetes", 0)[0:3:2], (10, 20), 0))
    print(f"kernels compiled, {end - time.monotonic():.0f} s left", flush=True)
    new = not args.out.exists()
    with args.out.open("a", newline="", encoding="utf-8") as file, get_context("spawn").Pool(args.processes) as pool:
        write = csv.writer(file, lineterminator="\n")
        if new:
            write.writerow(COLUMNS)
        results = pool.imap_unordered(run, jobs)
        for count in range(1, len(jobs) + 1):
            try:
                write.writerows(results.next(timeout=max(0.0, end - time.monotonic())))
            except NotYet:
                print("the time is up", flush=True)
                break
            except Exception as error:  # of one method on one dataset: the others are measured, and it is tried again
                print(f"failed: {error!r}", flush=True)
            file.flush()
            if count % 100 == 0 or count == len(jobs):
                print(f"{count} of {len(jobs)} units, {end - time.monotonic():.0f} s left", flush=True)
        pool.terminate()


if __name__ == "__main__":
    main()
