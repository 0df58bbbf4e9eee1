"""How uncertain a model is of each row, and how much that counts when rows are picked."""

from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
import numpy.typing as npt
from scipy.special import softmax
from sklearn.exceptions import NotFittedError
from sklearn.utils.validation import check_is_fitted

from .estimators import errors_of, estimator_name
from .exceptions import UserError, UserTypeError
from .runtime.threads import spans

if TYPE_CHECKING:
    from .strategy import Pool

Rows = npt.NDArray[np.int64]
Scores = npt.NDArray[np.float64]

MIN_LABELS = 64  # a model of fewer labels is uncertain of the wrong rows
POWER = 2.0  # of the uncertainty, as a weight
BLOCK = 1 << 16  # rows whose uncertainty is computed together
NUMBERS = 1 << 23  # numbers of X that a model gets at a time, as a copy
REMEDY = "give a model that was fitted on columns like those of X, or its class probabilities as proba"


class FewLabelsWarning(UserWarning):
    """Labels or a model were given, but are not used: there are too few labels, or they are no classes."""


class Model(Protocol):
    """A fitted classifier with `predict_proba` or `decision_function`, or one that knows rows of the pool by number.

    A network that reads images, while X holds their features, is of the second kind. It has any of these methods, which
    are used instead of those that take features:

    - row_proba(rows): class probabilities, (rows, classes)
    - row_decision(rows): decision values, (rows, classes)
    - row_samples(rows, n, rng): class probabilities under n draws of the model's weights, (n, rows, classes)
    - row_embedding(rows): the input of its last, linear layer, (rows, width)
    """

    classes_: npt.NDArray[Any]


class GivenProbabilities:
    """A model of which only the class probabilities of every row of the pool are known."""

    def __init__(self, proba: npt.NDArray[Any]) -> None:
        self.proba = proba
        self.classes_ = np.arange(proba.shape[1])

    def row_proba(self, rows: Rows) -> npt.NDArray[Any]:
        """Class probabilities of these rows of the pool."""
        return self.proba[rows]


def probabilities(pool: "Pool", rows: Rows, *, numbers: int = NUMBERS) -> Scores:
    """Class probabilities of these rows by the pool's model, a column for each of its classes_.

    Without predict_proba: softmax of the decision values. predict_proba gets at most `numbers` numbers at a time.
    """
    if hasattr(pool.model, "row_proba"):
        return _output(pool, "row_proba", rows)
    if hasattr(pool.model, "predict_proba"):
        step = max(1, numbers // pool.X.shape[1])
        parts = [rows[lo : lo + step] for lo in range(0, max(1, len(rows)), step)]
        return np.concatenate([_output(pool, "predict_proba", part) for part in parts])
    return softmax(decision_values(pool, rows), axis=1)


def decision_values(pool: "Pool", rows: Rows) -> Scores:
    """Decision values of these rows, a column for each class.

    With two classes the columns are ∓f/2: their difference is f, and their softmax is the logistic function of f.
    """
    for method in ("row_decision", "decision_function"):
        if hasattr(pool.model, method):
            return _output(pool, method, rows)
    kind = type(pool.model).__name__
    raise UserTypeError(f"{kind} has neither predict_proba nor decision_function: use a classifier that has one")


def _output(pool: "Pool", method: str, rows: Rows) -> Scores:
    """What this method of the model returns for the rows, a column for each class."""
    model, name = pool.model, f"{estimator_name(pool.model)}.{method}"
    with errors_of(model, f"{name} fails", REMEDY):
        given = rows if method.startswith("row_") else pool.X[rows]
        given = np.asarray(given.cpu() if hasattr(given, "cpu") else given)
        found = np.asarray(getattr(model, method)(given), float)
    if found.ndim == 1 and method in ("row_decision", "decision_function"):
        found = np.column_stack([-found / 2, found / 2])
    known = getattr(model, "classes_", None)
    classes = found.size // max(1, len(rows)) if known is None else len(known)
    if found.shape != (len(rows), classes):
        remedy = "return a column per class, for decisions one-vs-rest (decision_function_shape='ovr')"
        raise UserError(f"{name} returns shape {found.shape} for {len(rows)} rows and {classes} classes: {remedy}")
    if np.isnan(found).any():
        raise UserError(f"{name} returns NaN for row {rows[np.isnan(found).any(axis=1)][0]}: mend the model")
    return found


def margins(scores: npt.NDArray[Any]) -> Scores:
    """Best score minus second-best score of each row. With one class only, that class's score."""
    if scores.shape[1] < 2:
        return scores[:, 0]
    top = np.partition(scores, -2, axis=1)
    return top[:, -1] - top[:, -2]


def uncertainty(pool: "Pool", power: float = POWER) -> Scores | None:
    """(1 − (p₁ − p₂))^power of each row, p₁ and p₂ its two largest probabilities; None if it is 0 everywhere."""
    found = np.empty(len(pool.X))
    for lo, hi in spans(len(pool.X), BLOCK):
        found[lo:hi] = np.clip(1 - margins(probabilities(pool, np.arange(lo, hi))), 0, 1)
    return found**power if found.any() else None


def is_fitted(estimator: Any) -> bool:
    """Whether a classifier can predict; one that knows rows by their numbers always can."""
    if isinstance(estimator, str | type):
        return False
    if any(hasattr(estimator, name) for name in ("row_proba", "row_decision", "row_samples")):
        return True
    try:
        check_is_fitted(estimator)
    except NotFittedError:
        return False
    except (TypeError, AttributeError):  # no scikit-learn estimator, though it may have its methods
        return hasattr(estimator, "classes_")
    return True
