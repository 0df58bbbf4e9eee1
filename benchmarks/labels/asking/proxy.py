"""May `mheal-asking` ask another model than the one that is trained on its labels?

    python results/asking/proxy.py DATA OUT.csv [SEEDS]

DATA holds NAME.npz with X_train and y_train; digits come with scikit-learn. CHOSEN are the datasets of `tables.py`,
JUDGED those of results/compare. 70 % of up to 8,000 rows (14,000 images, PCA to 30 columns) are the pool, the rest the
test set. Labels are bought up to 100 without a model, then up to 200, 300 and 500, each time after asking one that has
learnt from those bought. A row of the output is dataset, seed, the model asked ("none": MHEAL; "random": bought at
random), the model trained on the labels, labels and accuracy. What is done already is not done again.
"""

import os
import sys
import warnings
from pathlib import Path

for variable in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MHEAL_NUM_THREADS"):
    os.environ[variable] = "1"  # one process a core
sys.path.append(str(Path(__file__).parents[1]))  # where by_unit is

import numpy as np
from by_unit import arguments, measure
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split
from sklearn.neural_network import MLPClassifier
from tables import load

from mheal.backends.cpu.points import Points
from mheal.estimators import fit_model
from mheal.strategies import Pool, get
from mheal.strategies.doubt import probabilities

CHOSEN = ("adult", "nomao", "mnist", "fashion_mnist")
JUDGED = ("satimage", "magic04", "phishing", "digits")
TRAINED = ("logistic", "svm", "knn", "forest", "network")
ASKED = (
    "random", "none", *TRAINED, "logistic+knn", "svm+knn", "forest+knn", "network+knn", "logistic+knn+forest",
)  # fmt: skip
FIRST, BUDGETS = 100, (200, 300, 500)


def split(folder: Path, name: str, seed: int):
    """Pool and test set, standardised by the pool."""
    X, y = load_digits(return_X_y=True) if name == "digits" else load(folder, name)
    X, y = np.ascontiguousarray(X, np.float32), np.unique(y, return_inverse=True)[1]
    pool, test = train_test_split(np.arange(len(X)), test_size=0.3, stratify=y, random_state=seed)
    points = Points.standardized(X[pool])
    return points.array(), y[pool], (X[test] - points.offset) * points.scale, y[test]


class Several:
    """Models that learn from the same labels; what they say is averaged."""

    def __init__(self, models) -> None:
        self.models, self.classes_ = models, models[0].classes_

    def predict_proba(self, X):
        """The mean of theirs."""
        none = np.empty(0, np.int64)
        pools = [Pool(X, none, none, model) for model in self.models]
        return np.mean([probabilities(pool, np.arange(len(X))) for pool in pools], axis=0)


def fit(model: str, seed: int, X, y):
    """A classifier of these labels; "network" has one hidden layer of 128."""
    if "+" in model:
        return Several([fit(one, seed, X, y) for one in model.split("+")])
    if model != "network":
        return fit_model(model, seed, X, y)
    return MLPClassifier((128,), alpha=1e-3, max_iter=300, random_state=seed).fit(X, y)


def buy(asked: str, X, y, seed: int):
    """What has been bought at each budget."""
    rng = np.random.default_rng(seed)
    if asked == "random":
        order = rng.permutation(len(X))
        return [order[:budget] for budget in BUDGETS]
    strategy, none = get("mheal-asking")(), np.empty(0, np.int64)
    labeled, found = strategy.select(Pool(X, none, y[none], None, rng), FIRST).indices, []
    for budget in BUDGETS:
        model = None if asked == "none" else fit(asked, seed, X[labeled], y[labeled])
        pool = Pool(X, labeled, y[labeled], model, rng)
        labeled = np.append(labeled, strategy.select(pool, budget - len(labeled)).indices)
        found.append(labeled)
    return found


def run(job):
    """The rows of one dataset, seed and model asked."""
    folder, name, seed, asked = job
    warnings.filterwarnings("ignore")
    X, y, X_test, y_test = split(folder, name, seed)
    found = []
    for labeled in buy(asked, X, y, seed):
        for trained in TRAINED:
            right = fit(trained, seed, X[labeled], y[labeled]).predict(X_test) == y_test
            found.append([name, seed, asked, trained, len(labeled), round(right.mean(), 4)])
    return found


if __name__ == "__main__":
    folder, out, seeds = arguments()
    units = [(name, seed, asked) for seed in seeds for name in CHOSEN + JUDGED for asked in ASKED]
    measure(run, folder, out, ["dataset", "seed", "asked", "trained", "labels", "accuracy"], units)
