"""A learning curve from labelled rows alone, and the power law through it."""

from dataclasses import dataclass, replace
from math import ceil
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
from scipy.special import expit, logit
from sklearn.metrics import pairwise_distances_argmin

from ..classes import as_classes, split_labels
from ..estimators import fit_model, for_pool, predict
from ..exceptions import UserError
from ..frames import frame_pool
from ..scaling import comparable
from ..validation import as_array, is_frame
from .statistics import Floats

FOLDS = 5
MIN_LABELS = 20  # with fewer, a learning curve is noise
NEIGHBOURS = 10_000  # weights of labelled rows are computed from at most this many rows of the pool
LEVEL, WIDTH = 0.8, 1.645  # coverage of the interval; half its width in standard deviations
MOST = 1_000_000  # largest number of labels that is considered
CHECKED = 10  # intervals were tested up to this multiple of the present labels (benchmarks/labels/plan)


@dataclass(frozen=True)
class Resampled:
    """How often models that were trained without a labelled row predict its class.

    labels : (n_sizes,) training sizes
    right : (n_labels, n_sizes), the share of the repetitions in which a row was classified correctly
    weights : (n_labels,), the mean of 1/n_labels and the share of the pool that is nearest to the row; sum 1
    y : the labels
    """

    labels: npt.NDArray[np.int64]
    right: Floats
    weights: Floats
    y: npt.NDArray[Any]

    @property
    def accuracy(self) -> Floats:
        """Estimated accuracy for each number of labels."""
        return np.clip(self.weights @ self.right, 0, 1)  # rounding

    @property
    def largest_class(self) -> float:
        """Share of the most frequent class among the labels."""
        return float(np.unique(self.y, return_counts=True)[1].max() / len(self.y))

    @property
    def balanced(self) -> "Resampled":
        """The same with weights that have equal sums in all classes, so that its accuracy is balanced accuracy."""
        _, codes = np.unique(self.y, return_inverse=True)
        of_class = np.bincount(codes, weights=self.weights)
        return replace(self, weights=self.weights / of_class[codes] / len(of_class))

    def fit(self) -> "CurveFit":
        """The power law through the estimated error, by least squares on logarithmic scales."""
        effective = float(1 / np.square(self.weights).sum())
        x, error = np.log(self.labels), np.log(np.maximum(1 - self.accuracy, 1 / effective))  # at least one error
        c = max(0.0, -float(np.polyfit(x, error, 1)[0]))
        return CurveFit(float(np.exp(error.mean() + c * x.mean())), c, len(self.y), effective)


def learning_curve(
    X: Any, y: Any, estimator: Any = "logistic", *, labeled: Any = None, repeats: int = 5, seed: int = 0
) -> Resampled:
    """Accuracy against training size in the pool X, (rows, columns), estimated from its labelled rows alone.

    Each repetition splits the labelled rows into five folds, stratified by class. For each fold, models are fitted on
    growing stratified samples of the other folds and tested on the fold. The smallest sample is a fifth of the labels.
    Picked rows are no random sample, so each row is also weighted by the share of X that is nearest to it.

    y, labeled : (n,) labels and (n,) their rows, as for `mheal.select`
    estimator : a name, "package.module:attribute", or a classifier, see `mheal.estimators`
    """
    if is_frame(X):
        X, _, labeled, y = frame_pool(X, "impute", labeled, y)
    pool = as_array(X)
    _, rows, y = split_labels(labeled, y, len(pool))
    X, y = pool[rows], as_classes(y)
    if len(y) < MIN_LABELS:
        raise UserError(f"there are {len(y)} labelled rows: label at least {MIN_LABELS} to estimate a curve")
    if (y == y[0]).all():
        raise UserError(f"all labels are {y[0].item()!r}: there is nothing to learn from one class")
    most = len(y) - ceil(len(y) / FOLDS)
    labels = np.geomspace(most / 4, most, 6).round().astype(np.int64)
    model = for_pool(estimator, pool)
    right = np.zeros((len(y), len(labels)))
    for repeat in range(repeats):
        rng = np.random.default_rng((seed, repeat))
        fold = np.empty(len(y), np.int64)
        fold[np.lexsort((rng.random(len(y)), y))] = np.arange(len(y)) % FOLDS  # deals out each class evenly
        for k in range(FOLDS):
            test, train = np.flatnonzero(fold == k), _in_proportion(np.flatnonzero(fold != k), y, rng)
            for i, size in enumerate(labels):
                fitted = fit_model(model, seed, X[train[:size]], y[train[:size]])
                right[test, i] += predict(fitted, X[test]) == y[test]
    points, some = comparable(pool), np.random.default_rng(seed).permutation(len(pool))[:NEIGHBOURS]
    nearest = pairwise_distances_argmin(points.take(some), points.take(rows))
    share = np.bincount(nearest, minlength=len(rows)) / len(some)
    return Resampled(labels, right / repeats, (share + 1 / len(rows)) / 2, y)


def _in_proportion(rows: npt.NDArray[np.int64], y: npt.NDArray[Any], rng: np.random.Generator) -> npt.NDArray[np.int64]:
    """These rows in a random order in which the first n rows, for any n, are about stratified by class."""
    rows = rng.permutation(rows)
    due = np.empty(len(rows))
    for label in np.unique(y[rows]):
        members = np.flatnonzero(y[rows] == label)
        due[members] = (np.arange(len(members)) + rng.random(len(members))) / len(members)
    return rows[due.argsort(kind="stable")]


class Estimate(NamedTuple):
    """A number and its interval."""

    value: float
    low: float
    high: float


@dataclass(frozen=True)
class CurveFit:
    """The error 1 − accuracy(n) = b·n^(−c), c ≥ 0, fitted to a learning curve from `now` labels.

    effective : effective sample size: the number of equally weighted labels with the same sampling error
    """

    b: float
    c: float
    now: int
    effective: float

    def predict(self, labels: float) -> Estimate:
        """Expected accuracy with this many labels, and its 80 % interval."""
        between = np.geomspace(min(self.now, labels), labels, 30)
        return Estimate(*(float(end[-1]) for end in self._along(between)))

    def labels_to_reach(self, target: float) -> Estimate:
        """The total number of labels at which the curve and the ends of its interval reach the target, or infinity."""
        check_target(target)
        labels = np.geomspace(self.now, max(MOST, self.now), 2000)
        value, low, high = (end >= target for end in self._along(labels))
        return Estimate(*(float(labels[end.argmax()]) if end.any() else np.inf for end in (value, high, low)))

    def _along(self, labels: Floats) -> tuple[Floats, Floats, Floats]:
        """The expected accuracy and the ends of its interval at these numbers of labels, which rise in small steps.

        The interval is symmetric in the log odds. Their variance has three terms: the sampling error, a constant, and
        one that grows with the extrapolation; the last two were measured in `benchmarks/labels/plan`. The lower end is
        made non-decreasing, since more labels are assumed to do no harm.
        """
        value, now = (1 - np.clip(self.b * n**-self.c, 1e-9, 1 - 1e-9) for n in (labels, float(self.now)))
        times = np.maximum(1, labels / self.now)
        variance = 1 / (self.effective * now * (1 - now)) + 0.15 + np.log(times) / 4
        low, high = expit(logit(value) + WIDTH * np.outer([-1, 1], np.sqrt(variance)))
        return value, np.maximum.accumulate(low), high


def check_target(target: float | None, name: str = "the target accuracy") -> None:
    """Raise an error for a target accuracy that is not between 0 and 1, such as one in percent."""
    if target is not None and not 0 < target < 1:
        hint = f": write {target / 100:g} for {target:g} %" if 1 < target < 100 else ""
        raise UserError(f"{name} is a share between 0 and 1, got {target:g}{hint}")
