"""One repetition of §7.4: after each new label a support vector machine is trained and tested.

The paper gives neither split nor scaling nor kernel. Here pixels are divided by 255, and columns of tables are scaled
to [0, 1] on the training rows. The test set is the official one, or a random half if there is none. The pool has 2,000
random training rows. One random label of each class is given. The kernel is RBF with γ = 1/(d·variance of the pool).
"""

from dataclasses import dataclass
from functools import cache, cached_property
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.spatial.distance import cdist
from sklearn.svm import SVC

from mheal import datasets
from mheal.runtime.threads import single_threaded_blas
from mheal.strategies import Strategy

from ...report import Floats

Rows = npt.NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Repetition:
    """Pool and test set of one seed. The first rows of the pool, one of each class, are labelled at the start."""

    X: Floats
    y: Rows
    X_test: Floats
    y_test: Rows
    n_classes: int

    @property
    def first(self) -> Rows:
        """Rows of X labelled from the start."""
        return np.arange(self.n_classes)

    @cached_property
    def gamma(self) -> float:
        """The kernel's γ, as scikit-learn's "scale", but computed on the whole pool, so that it does not change."""
        return 1 / (self.X.shape[1] * float(self.X.var()))

    @cached_property
    def everything(self) -> Floats:
        """The rows of the pool, then those of the test set."""
        return np.vstack([self.X, self.X_test])

    @cached_property
    def norms(self) -> Floats:
        """‖x‖² of every row."""
        return np.einsum("ij,ij->i", self.everything, self.everything)

    def kernel_column(self, row: int) -> Floats:
        """The kernel between every row and one row of the pool."""
        squared = self.norms + self.norms[row] - 2 * (self.everything @ self.X[row])
        return np.exp(-self.gamma * np.maximum(squared, 0))


def repetition(name: str, data: Path | None, seed: int, pool_size: int) -> Repetition:
    """The dataset `name` under this seed."""
    X, y, *official = _load(name, data)
    order = np.random.default_rng(seed).permutation(len(X))
    train, test = (order, order[:0]) if official else np.split(order, [len(X) // 2])
    low, width = _range(X, train)
    X_test, y_test = official or (X[test], y[test])
    classes, first = np.unique(y[train], return_index=True)  # the first row of each class in a random order
    rows = np.concatenate([train[first], np.delete(train, first)])[:pool_size]
    return Repetition((X[rows] - low) / width, y[rows], (X_test - low) / width, y_test, len(classes))


@cache
def _load(name: str, data: Path | None) -> tuple[npt.NDArray[Any], ...]:
    """As in the file, rows of images flat."""
    return tuple(a.reshape(len(a), -1) if a.ndim > 2 else a for a in datasets.load(name, data))


def _range(X: npt.NDArray[Any], train: Rows) -> tuple[Any, Any]:
    """What to subtract from each column, and what to divide it by; constant columns become 0."""
    if X.dtype == np.uint8:
        return 0.0, 255.0
    low, high = X[train].min(axis=0).astype(np.float64), X[train].max(axis=0).astype(np.float64)
    return low, np.where(high > low, high - low, 1.0)


class GrowingSVC:
    """A support vector machine that is trained again with each new label; strategies can query it as a model.

    The kernel between all rows and a labelled row is computed once, for training, testing and decision values. There is
    no predict_proba, because Platt's scaling fails with one label for each class; strategies use decision values or
    their softmax.
    """

    def __init__(self, repetition: Repetition, C: float, labels: int) -> None:
        self.repetition, self.C = repetition, C
        self.labeled: Rows = np.empty(0, np.int64)
        self._kernel = np.empty((len(repetition.everything), labels))

    def learn(self, rows: Rows) -> None:
        """Add the labels of these rows of the pool, and train."""
        for at, row in enumerate(rows, start=len(self.labeled)):
            self._kernel[:, at] = self.repetition.kernel_column(row)
        self.labeled = np.concatenate([self.labeled, rows])
        labels = self.repetition.y[self.labeled]
        self._svc = SVC(C=self.C, kernel="precomputed").fit(self._known[self.labeled], labels)
        self.classes_, self.support_ = self._svc.classes_, self._svc.support_

    @property
    def _known(self) -> Floats:
        return self._kernel[:, : len(self.labeled)]

    def accuracy(self) -> float:
        """On the test set."""
        predicted = self._svc.predict(self._known[len(self.repetition.X) :])
        return float((predicted == self.repetition.y_test).mean())

    def row_decision(self, rows: Rows) -> Floats:
        """Decision values of rows of the pool, by their numbers, in scikit-learn's shape "ovr".

        With several classes, each value is the number of one-vs-one votes plus a confidence below 1/3, so two classes
        mostly differ by whole votes. No one-vs-rest machine is trained.
        """
        return self._svc.decision_function(self._known[rows])

    def decision_function(self, X: npt.NDArray[Any]) -> Floats:
        """Decision values of any rows."""
        squared = cdist(np.asarray(X, np.float64), self.repetition.X[self.labeled], "sqeuclidean")
        return self._svc.decision_function(np.exp(-self.repetition.gamma * squared))


def learning_curve(
    repetition: Repetition, strategy: Strategy, C: float, labels: int, rng: np.random.Generator, uses_labels: bool
) -> list[float]:
    """Test accuracy with the first labels, one more, … up to `labels`.

    A strategy that uses labels or the model picks one row at a time; any other picks all rows at once.
    """
    svc = GrowingSVC(repetition, C, labels)
    with single_threaded_blas():
        svc.learn(repetition.first)
        accuracy, missing = [svc.accuracy()], labels - repetition.n_classes
        X, y, first = repetition.X, repetition.y, repetition.first
        order = None if uses_labels else strategy.select(X, missing, labeled=first, random_state=rng).indices
        for step in range(missing):
            if order is None:
                known = svc.labeled
                row = strategy.select(X, 1, labeled=known, y=y[known], estimator=svc, random_state=rng).indices
            else:
                row = order[[step]]
            svc.learn(row)
            accuracy.append(svc.accuracy())
    return accuracy
