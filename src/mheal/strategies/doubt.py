"""How sure a fitted model is of each row: what the strategies that ask a model share."""

from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.special import softmax

from .base import Pool, Rows

Scores = npt.NDArray[np.float64]


def probabilities(model: Any, X: npt.NDArray[Any]) -> Scores:
    """Of each class (columns as model.classes_): predict_proba or, without it, softmax of the decision values."""
    if hasattr(model, "predict_proba"):
        return np.asarray(model.predict_proba(X), np.float64)
    return softmax(decision_values(model, X), axis=1)


def decision_values(model: Any, X: npt.NDArray[Any]) -> Scores:
    """A column for each class; of two classes ∓f/2: their difference is f, their softmax the logistic of f."""
    if not hasattr(model, "decision_function"):
        kind = type(model).__name__
        raise TypeError(f"{kind} has neither predict_proba nor decision_function: use a classifier that has one")
    values = np.asarray(model.decision_function(X), np.float64)
    if values.ndim == 1:
        values = np.column_stack([-values / 2, values / 2])
    if values.shape[1] != len(model.classes_):
        raise ValueError(
            f"the model gives {values.shape[1]} decision values for {len(model.classes_)} classes: "
            "make it one-vs-rest (decision_function_shape='ovr')"
        )
    return values


def margins(scores: Scores) -> Scores:
    """Best score minus second best; one class alone leaves no doubt."""
    if scores.shape[1] < 2:
        return scores[:, 0]
    top = np.partition(scores, -2, axis=1)
    return top[:, -1] - top[:, -2]


def lowest(pool: Pool, rows: Rows, score: Scores, budget: int) -> Rows:
    """The `budget` rows with the smallest scores, smallest first; ties in random order, for models that tie often."""
    shuffled = pool.rng.permutation(len(rows))
    return rows[shuffled[np.argsort(score[shuffled], kind="stable")[:budget]]]
