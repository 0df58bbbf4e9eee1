"""How sure a fitted model is of each row: what the strategies that ask a model share."""

import numpy as np
import numpy.typing as npt
from scipy.special import softmax

from ..exceptions import UserError, UserTypeError
from .base import Pool, Rows
from .committee import committee

Scores = npt.NDArray[np.float64]
BLOCK = 1 << 23  # numbers that a model is asked about at a time: they are copied for it


def knows_probabilities(pool: Pool) -> bool:
    """Whether the model gives probabilities, and not only decision values."""
    return hasattr(pool.model, "row_proba") or hasattr(pool.model, "predict_proba")


def probabilities(pool: Pool, rows: Rows) -> Scores:
    """The model's, of each class (columns as model.classes_); without any, softmax of the decision values."""
    if hasattr(pool.model, "row_proba"):
        return np.asarray(pool.model.row_proba(rows), np.float64)
    if hasattr(pool.model, "predict_proba"):
        step = max(1, BLOCK // pool.X.shape[1])
        blocks = [rows[lo : lo + step] for lo in range(0, max(1, len(rows)), step)]
        return np.concatenate([np.asarray(pool.model.predict_proba(pool.X[block]), np.float64) for block in blocks])
    return softmax(decision_values(pool, rows), axis=1)


class Said:
    """What the model says of the rows of a pool, found as parts of it are read."""

    def __init__(self, pool: Pool) -> None:
        self.pool = pool

    def __len__(self) -> int:
        return len(self.pool.X)

    def __getitem__(self, part: slice) -> Scores:
        return probabilities(self.pool, np.arange(*part.indices(len(self))))


def decision_values(pool: Pool, rows: Rows) -> Scores:
    """A column for each class; of two classes ∓f/2: their difference is f, their softmax the logistic of f."""
    model = pool.model
    if hasattr(model, "row_decision"):
        values = np.asarray(model.row_decision(rows), np.float64)
    elif hasattr(model, "decision_function"):
        values = np.asarray(model.decision_function(pool.X[rows]), np.float64)
    else:
        kind = type(model).__name__
        raise UserTypeError(f"{kind} has neither predict_proba nor decision_function: use a classifier that has one")
    if values.ndim == 1:
        values = np.column_stack([-values / 2, values / 2])
    if values.shape[1] != len(model.classes_):
        raise UserError(
            f"the model gives {values.shape[1]} decision values for {len(model.classes_)} classes: "
            "make it one-vs-rest (decision_function_shape='ovr')"
        )
    return values


def samples(pool: Pool, rows: Rows, n: int) -> npt.NDArray[np.floating]:
    """Probabilities under n draws of the model, (n, rows, classes).

    From the model where it can be drawn from, as by dropout; else from a committee fitted on resamples of the labels.
    """
    if hasattr(pool.model, "row_samples"):
        return np.asarray(pool.model.row_samples(rows, n, pool.rng))
    return np.stack(list(committee(pool, rows, n)))


def lowest(pool: Pool, rows: Rows, score: Scores, budget: int) -> Rows:
    """The `budget` rows with the smallest scores, smallest first; ties in random order, for models that tie often."""
    shuffled = pool.rng.permutation(len(rows))
    return rows[shuffled[np.argsort(score[shuffled], kind="stable")[:budget]]]
