"""Which model's uncertainty should be used, if there are labels but no model?

    python benchmarks/labels/estimators/run.py DATA [--seeds N]

DATA holds adult.npz, nomao.npz, mnist.npz, fashion_mnist.npz, satimage.npz, magic04.npz and phishing.npz.
"""

import sys
from pathlib import Path

sys.path.append(str(Path(__file__).parents[1]))
import numpy as np
from common import IMAGES, Study, accuracy, fitted, gain, load, means, quiet, table
from sklearn.base import BaseEstimator
from sklearn.decomposition import PCA
from sklearn.model_selection import train_test_split
from sklearn.preprocessing import StandardScaler

import mheal
from mheal.strategy import Pool
from mheal.uncertainty import probabilities

CHOSEN = ("adult", "nomao", "mnist", "fashion_mnist")
HELD_OUT = ("satimage", "magic04", "phishing", "digits")
TRAINED = ("logistic", "svm", "knn", "forest", "network")
ESTIMATORS = (*TRAINED, "logistic+knn", "svm+knn", "forest+knn", "network+knn", "logistic+knn+forest")
FIRST, BUDGETS = 100, (200, 300, 500)
OURS = "logistic+knn"
COLUMNS = ("dataset", "seed", "estimator", "trained", "labels", "accuracy")
HEAD = """# Which model's uncertainty should be used, if there are labels but no model?

**The mean of logistic regression and five nearest neighbours.** `mheal.select(X, n, labeled=rows, y=labels)` uses it.
The gain over picking without a model depends on what you then train on the labels; in points: {gains}. The choice was
made on other datasets. If you will train nearest neighbours, pass `estimator=KNeighborsClassifier()`, which gains
{alone}.

{table}

Gain in points over `mheal` without a model, mean over 200, 300 and 500 labels, ± standard error over {count} datasets
({held_out}) and {seeds} splits. Rows: the classifiers that provide the uncertainty; "+" averages their probabilities,
"network" has one hidden layer of 128. Columns: the model that is then trained on the labels. If the uncertainty comes
from that model itself, adding nearest neighbours helps in {helps} of {own} cases; so your `estimator` or `proba` is
used as it is.

The choice was made on {chosen}. There {ours} gains {before} on average, and the best, {best}, {largest}. {ours} is
cheaper on large pools.

First, 100 rows are picked without a model. Then rows are added up to 200, 300 and 500, each time with the classifier
fitted on the labels so far. 70 % of up to 8,000 rows (14,000 images, PCA to 30 columns) are the pool. Measured with
mheal 0.1.0. To measure again:

    python benchmarks/labels/estimators/run.py DATA
"""


def split(data, name, seed):
    """Pool and test set, both standardised with the mean and deviation of the pool."""
    X, y = load(data, name, 14_000 if name in IMAGES else 8_000)
    if name in IMAGES:
        X = PCA(30, random_state=0).fit_transform(X)
    pool, test = train_test_split(np.arange(len(X)), test_size=0.3, stratify=y, random_state=seed)
    scaler = StandardScaler().fit(X[pool])
    return scaler.transform(X[pool]), y[pool], scaler.transform(X[test]), y[test]


class Mean(BaseEstimator):
    """Mean class probabilities of classifiers; softmax of the decision values for those without probabilities."""

    def __init__(self, names, seed):
        self.names = names
        self.seed = seed

    def fit(self, X, y):
        """Fit every classifier on these labels."""
        self.models_ = [fitted(name, X, y, self.seed) for name in self.names]
        self.classes_ = self.models_[0].classes_
        return self

    def predict_proba(self, X):
        """Mean probabilities: (rows, classes)."""
        return np.mean([probabilities(Pool(X, model=m), np.arange(len(X))) for m in self.models_], axis=0)


def picked(estimator, X, y, seed):
    """Labelled rows at each budget, picked with the uncertainty of this estimator."""
    if estimator == "random":
        order = np.random.default_rng(seed).permutation(len(X))
        return [order[:budget] for budget in BUDGETS]
    rows, found = mheal.select(X, FIRST, random_state=seed).indices, []
    for budget in BUDGETS:
        model = {} if estimator == "none" else {"y": y[rows], "estimator": Mean(estimator.split("+"), seed)}
        more = mheal.select(X, budget - len(rows), labeled=rows, random_state=seed, **model)
        rows = np.append(rows, more.indices)
        found.append(rows)
    return found


def run(job):
    """Measure the accuracy of every model on rows that are picked with the uncertainty of one estimator."""
    data, name, seed, estimator = job
    quiet()
    X, y, X_test, y_test = split(data, name, seed)
    return [
        [name, seed, estimator, trained, len(rows), accuracy(fitted(trained, X[rows], y[rows], seed), X_test, y_test)]
        for rows in picked(estimator, X, y, seed)
        for trained in TRAINED
    ]


def page(rows):
    """Write the page: gains on the datasets that were not used for the choice."""

    unit = ("dataset", "seed")

    def scores(names, trained):
        return means([r for r in rows if r["dataset"] in names and r["trained"] in trained], "estimator", unit)

    body, ours = [], {}
    everywhere = scores(HELD_OUT, TRAINED)
    for name in ("random", *ESTIMATORS):
        cells = [gain(scores(HELD_OUT, [trained])[name], scores(HELD_OUT, [trained])["none"]) for trained in TRAINED]
        body.append([f"**{name}**" if name == OURS else name, *cells, gain(everywhere[name], everywhere["none"])])
        if name == OURS:
            ours = dict(zip(TRAINED, cells, strict=True))
    before = scores(CHOSEN, TRAINED)
    best = max(ESTIMATORS, key=lambda name: np.mean(list(before[name].values())))
    alone = gain(scores(HELD_OUT, ["knn"])["knn"], scores(HELD_OUT, ["knn"])["none"])
    own = [name for name in TRAINED if f"{name}+knn" in ESTIMATORS]
    helps = 0
    for name in own:
        mine = scores(HELD_OUT, [name])
        helps += np.mean(list(mine[f"{name}+knn"].values())) > np.mean(list(mine[name].values()))
    return HEAD.format(
        helps=helps, own=len(own), gains=", ".join(f"{cell} ({name})" for name, cell in ours.items()), alone=alone,
        table=table(["uncertainty of", *TRAINED, "mean"], body), count=len(HELD_OUT), held_out=", ".join(HELD_OUT),
        seeds=len({row["seed"] for row in rows}), chosen=", ".join(CHOSEN), ours=OURS, best=best,
        before=gain(before[OURS], before["none"]), largest=gain(before[best], before["none"]),
    )  # fmt: skip


def units(seeds):
    """Every estimator on every split of every dataset."""
    return [(d, seed, e) for seed in range(seeds) for d in CHOSEN + HELD_OUT for e in ("random", "none", *ESTIMATORS)]


if __name__ == "__main__":
    Study(Path(__file__).parent, COLUMNS, units, run, page).main()
