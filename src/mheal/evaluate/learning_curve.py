"""A learning curve from labelled rows alone: train on some of them, test on the others."""

from collections.abc import Iterable
from dataclasses import dataclass
from math import ceil
from typing import Any

import numpy as np
import numpy.typing as npt

from ..classes import as_classes
from ..estimators import fit_model, for_pool, predict
from ..exceptions import UserError
from ..validation import as_array
from .statistics import Floats

MIN_LABELS = 20  # with fewer, a learning curve is noise


@dataclass(frozen=True)
class Resampled:
    """How often models that had not seen a labelled row predicted its class.

    labels : training sizes
    right : array of shape (n_labels, n_sizes), the share of the repetitions in which a row was classified correctly
    """

    labels: npt.NDArray[np.int64]
    right: Floats

    @property
    def accuracy(self) -> Floats:
        """Estimated accuracy for each number of labels."""
        return self.right.mean(axis=0)


def learning_curve(
    X: Any, y: Any, estimator: Any = "logistic", sizes: Iterable[int] | None = None,
    *, folds: int = 5, repeats: int = 5, seed: int = 0,
) -> Resampled:  # fmt: skip
    """Accuracy against training size, estimated from labelled rows alone.

    Each repetition deals the rows into folds, each class evenly. For each fold, models are fitted on growing samples
    of the other folds, with the classes in proportion, and are tested on the fold.

    Parameters
    ----------
    X, y : the labelled rows and their labels
    estimator : a name, "package.module:attribute", or a classifier, see `mheal.estimators`
    sizes : training sizes; by default eight in geometric steps
    folds, repeats, seed : how the rows are dealt, and how often

    Notes
    -----
    The estimate is for rows like these. Rows that were picked to be spread out are harder than the pool they come
    from: for them it is too low.
    """
    X = as_array(X)
    y = as_classes(y, n=len(X))
    classes = np.unique(y)
    if len(y) < MIN_LABELS:
        raise UserError(f"there are {len(y)} labelled rows: label at least {MIN_LABELS} before asking for a curve")
    if len(classes) < 2:
        raise UserError(f"all labels are {classes[0].item()!r}: there is nothing to learn from one class")
    if not 2 <= folds <= len(y) or repeats < 1:
        raise UserError(f"folds must be 2 to {len(y)} and repeats at least 1, got {folds} and {repeats}")
    most = len(y) - ceil(len(y) / folds)
    if sizes is None:
        sizes = np.geomspace(min(max(5, len(classes)), most / 2), most, 8).round()
    labels = np.unique(np.array(list(sizes), np.int64))
    if not len(labels) or labels[0] < 1 or labels[-1] > most:
        raise UserError(f"sizes must lie between 1 and {most}, the labels outside one fold; got {labels.tolist()}")

    model = for_pool(estimator, X)
    right = np.zeros((len(y), len(labels)))
    for repeat in range(repeats):
        rng = np.random.default_rng((seed, repeat))
        fold = np.empty(len(y), np.int64)
        fold[np.lexsort((rng.random(len(y)), y))] = np.arange(len(y)) % folds  # deals each class out evenly
        for k in range(folds):
            test, train = np.flatnonzero(fold == k), _in_proportion(np.flatnonzero(fold != k), y, rng)
            for i, size in enumerate(labels):
                fitted = fit_model(model, seed, X[train[:size]], y[train[:size]])
                right[test, i] += predict(fitted, X[test]) == y[test]
    return Resampled(labels, right / repeats)


def _in_proportion(rows: npt.NDArray[np.int64], y: npt.NDArray[Any], rng: np.random.Generator) -> npt.NDArray[np.int64]:
    """These rows in a random order whose every beginning has the classes about in proportion."""
    rows = rng.permutation(rows)
    due = np.empty(len(rows))
    for label in np.unique(y[rows]):
        members = np.flatnonzero(y[rows] == label)
        due[members] = (np.arange(len(members)) + rng.random(len(members))) / len(members)
    return rows[due.argsort(kind="stable")]
