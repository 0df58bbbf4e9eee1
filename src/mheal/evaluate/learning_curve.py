"""A learning curve from labelled rows alone, the power law through it, and when to stop labelling."""

from collections.abc import Iterable
from dataclasses import dataclass
from math import ceil
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from ..classes import as_classes
from ..estimators import fit_model, for_pool, predict
from ..exceptions import UserError
from ..validation import as_array
from .statistics import Floats

MIN_LABELS = 20  # with fewer, a learning curve is noise
RESAMPLES = 500
EXPONENTS = (0.01, 5.0)  # outside, a curve is straight in log n, or over before it begins
GRID, ZOOMS = 40, 4


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


class Estimate(NamedTuple):
    """A number and its interval."""

    value: float
    low: float
    high: float


@dataclass(frozen=True)
class CurveFit:
    """accuracy(n) = a − b·n^(−c), and the same three for each bootstrap sample (`samples`, one to a column)."""

    a: float
    b: float
    c: float
    samples: Floats
    level: float

    def predict(self, labels: float) -> Estimate:
        """Expected accuracy with this many labels."""
        return self._estimate(_height(self._all, labels))

    def gain(self, now: float, more: float) -> Estimate:
        """Expected rise of the accuracy from `now` labels to `now + more`."""
        return self._estimate(_height(self._all, now + more) - _height(self._all, now))

    def ceiling(self) -> Estimate:
        """The accuracy that no number of labels exceeds."""
        return self._estimate(self._all[0])

    def labels_to_reach(self, target: float) -> Estimate:
        """Labels with which the accuracy reaches the target; infinite where the ceiling lies below it."""
        if not 0 < target <= 1:
            raise UserError(f"the target accuracy must lie between 0 and 1, got {target!r}")
        a, b, c = self._all
        reachable = a > target
        gap = np.where(reachable, a - target, 1.0)
        with np.errstate(over="ignore", divide="ignore"):  # b = 0 reaches it at once, a tiny c never
            labels = np.exp(np.log(b / gap) / c)
        return self._estimate(np.where(reachable, np.maximum(labels, 1.0), np.inf))

    @property
    def _all(self) -> Floats:
        return np.column_stack([[self.a, self.b, self.c], self.samples])

    def _estimate(self, values: Floats) -> Estimate:
        """The first value is the fit's own, the rest are the samples'."""
        tail = (1 - self.level) / 2
        low = np.quantile(values[1:], tail, method="lower")  # no interpolation: some may be infinite
        high = np.quantile(values[1:], 1 - tail, method="higher")
        return Estimate(float(values[0]), float(low), float(high))


def fit_curve(labels: npt.ArrayLike, accuracy: npt.ArrayLike, *, level: float = 0.9, seed: int = 0) -> CurveFit:
    """Fit accuracy(n) = a − b·n^(−c), 0 ≤ a ≤ 1, b ≥ 0, c > 0, by least squares, with bootstrap intervals.

    Parameters
    ----------
    labels : array of shape (n_sizes,)
    accuracy : array of shape (n_sizes,) or (n_curves, n_sizes)
        A curve, or one for each seed (or each labelled row, see `learning_curve`). Curves are resampled; for a single
        curve, noise of the size of the residuals is drawn anew.
    level : coverage of the intervals

    Notes
    -----
    The intervals cover the noise, not the error of the law itself: trust them up to about twice the largest number of
    labels.
    """
    n, Y = np.asarray(labels, np.float64), np.atleast_2d(np.asarray(accuracy, np.float64))
    if n.ndim != 1 or Y.shape[1:] != n.shape:
        raise ValueError(f"accuracy must have a column for each of the {n.size} numbers of labels, got {Y.shape}")
    if len(np.unique(n)) < 4 or n.min() < 1:
        raise UserError("a curve needs at least 4 different numbers of labels, each at least 1")
    if not (np.isfinite(Y).all() and Y.min() >= 0 and Y.max() <= 1):
        raise ValueError("accuracies must be shares between 0 and 1")
    mean = Y.mean(axis=0)
    law = _least_squares(n, mean[None])[:, 0]
    rng = np.random.default_rng(seed)
    if len(Y) > 1:
        free = len(Y) - 1
        weights = rng.multinomial(len(Y), np.full(len(Y), 1 / len(Y)), size=RESAMPLES) / len(Y)
        noise = (weights @ (Y - mean)) * np.sqrt(len(Y) / free)
    else:
        free = len(n) - 3
        fitted = _height(law, n)
        noise = np.sqrt(np.sum((mean - fitted) ** 2) / free) * rng.normal(size=(RESAMPLES, len(n)))
        mean = fitted
    # The size of the noise is itself an estimate: drawing it too widens the intervals as Student's t does.
    noise *= np.sqrt(free / rng.chisquare(free, size=(RESAMPLES, 1)))
    a, b, c = law.tolist()
    return CurveFit(a, b, c, _least_squares(n, mean + noise), level)


@dataclass(frozen=True)
class Advice:
    """Whether to label the next batch: the expected gain in accuracy, and a sentence that says why."""

    go_on: bool
    gain: Estimate
    sentence: str

    def __str__(self) -> str:
        return self.sentence


def stop_advice(fit: CurveFit, now: int, batch: int, *, target: float | None = None, min_gain: float = 0.005) -> Advice:
    """Go on while the target is not reached and the next `batch` labels should add at least `min_gain` accuracy."""
    if now < 1 or batch < 1:
        raise ValueError(f"now and batch must be at least 1 label, got {now} and {batch}")
    gain = fit.gain(now, batch)
    reached = target is not None and fit.predict(now).value >= target
    go_on = gain.value >= min_gain and not reached
    value, low, high, least = (f"{100 * share:.1f}" for share in (*gain, min_gain))
    text = f"{'Go on' if go_on else 'Stop'}: the next {batch} labels are expected to add {value} points of accuracy"
    text += f" ({fit.level:.0%} interval {low} to {high})"
    text += "." if gain.value >= min_gain else f", less than the threshold of {least}."
    if target is not None:
        text += " " + _about_target(fit, target, reached)
    return Advice(go_on, gain, text)


def _about_target(fit: CurveFit, target: float, reached: bool) -> str:
    if reached:
        return f"The target of {target:.1%} is reached."
    needed, top = fit.labels_to_reach(target), fit.ceiling()
    if needed.value == np.inf:
        text = f"{target:.1%} is not reachable by more labels alone: the curve levels off at {top.value:.1%}"
        if needed.low < np.inf:
            text += f" (at best at {top.high:.1%}, which would take at least {_count(needed.low)} labels)"
        return f"{text}; better features or another model may help."
    between = f"{_count(needed.low)} to {_count(needed.high)}"
    if needed.high == np.inf:
        between = f"at least {_count(needed.low)}, and perhaps no number is enough"
    return f"{target:.1%} should take about {_count(needed.value)} labels ({between})."


def _count(labels: float) -> str:
    return f"{np.ceil(labels):,.0f}" if labels < 1e6 else "over a million"


def _height(parameters: Floats, labels: npt.ArrayLike) -> Floats:
    a, b, c = parameters
    return np.asarray(a - b * np.asarray(labels, np.float64) ** -c)


def _least_squares(n: Floats, Y: Floats) -> Floats:
    """a, b, c (the rows) for each curve of Y, each the best of the whole range of c.

    Given c the law is linear in a and b, whose best values within bounds have a closed form; c alone is searched,
    on a grid that is zoomed around its best point, for all curves at once.
    """
    bounds = np.log(EXPONENTS)
    low, high = np.full((len(Y), 1), bounds[0]), np.full((len(Y), 1), bounds[1])
    every = np.arange(len(Y))
    for _ in range(ZOOMS):
        log_c = low + (high - low) * np.linspace(0, 1, GRID)
        z = np.exp(-np.exp(log_c)[:, :, None] * np.log(n))  # n^(−c): curve × grid × size
        a, b = _linear(z, Y[:, None, :])
        error = np.square(Y[:, None, :] - a[:, :, None] + b[:, :, None] * z).sum(axis=2)
        best = error.argmin(axis=1)
        step, middle = (high - low) / (GRID - 1), log_c[every, best][:, None]
        low, high = np.maximum(middle - step, bounds[0]), np.minimum(middle + step, bounds[1])
    return np.stack([a[every, best], b[every, best], np.exp(log_c[every, best])])


def _linear(z: Floats, Y: Floats) -> tuple[Floats, Floats]:
    """The best a ≤ 1 and b ≥ 0 of Y ≈ a − b·z over the last axis."""
    z_mean, y_mean = z.mean(axis=2), Y.mean(axis=2)
    centred = z - z_mean[:, :, None]
    b = np.maximum(0, -(centred * Y).sum(axis=2) / np.square(centred).sum(axis=2))
    a = y_mean + b * z_mean
    at_most = np.maximum(0, (z * (1 - Y)).sum(axis=2) / np.square(z).sum(axis=2))  # b where a = 1
    return np.where(a > 1, 1.0, a), np.where(a > 1, at_most, b)
