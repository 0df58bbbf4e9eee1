"""How sure a fitted model is of each row: what the strategies that ask a model share."""

import numpy as np
import numpy.typing as npt

from ..uncertainty import PoolProbabilities as Said
from ..uncertainty import Scores, decision_values, probabilities
from .base import Pool, Rows
from .committee import committee

__all__ = ["Said", "Scores", "decision_values", "knows_probabilities", "lowest", "probabilities", "samples"]


def knows_probabilities(pool: Pool) -> bool:
    """Whether the model gives probabilities, and not only decision values."""
    return hasattr(pool.model, "row_proba") or hasattr(pool.model, "predict_proba")


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
