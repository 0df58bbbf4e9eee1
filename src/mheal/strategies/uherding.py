"""Uncertainty Herding (Bae et al. 2025): cover the rows the model is unsure of."""

from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.special import softmax
from sklearn.base import clone

from ..uncertainty import margins
from .base import Pool, Rows, Strategy
from .coverage import cover, gaussian
from .distances import by_blocks, median_distance
from .doubt import Scores, probabilities

TEMPERATURES = np.arange(1.0, 20.05, 0.1)
ENOUGH = 30  # labels; fewer cannot spare a hold-out to find the temperature with


class UHerding(Strategy):
    """MaxHerding in which each row counts with the model's doubt of it, 1 − (p₁ − p₂), and labelled rows not at all.

    Probabilities are softened by the temperature that calibrates a copy of the model, fitted on 70 % of the
    labels, on the other 30 %. The bandwidth is the smallest distance between labelled rows, so that it shrinks as
    labels grow and the strategy passes from coverage to uncertainty. Without a model it is MaxHerding.
    """

    name, title = "uherding", "UHerding"
    summary = "Covers the rows the model is unsure of; without a model it is MaxHerding"
    cost = "two fits of the model, then as MaxHerding"
    kind = "adaptive"

    def __init__(self, bandwidth: float | None = None) -> None:
        self.bandwidth = bandwidth

    def _pick(self, pool: Pool, budget: int) -> Rows:
        bandwidth = self.bandwidth or _smallest_gap(pool.Z[pool.labeled]) or median_distance(pool.Z, pool.rng)
        return cover(pool, budget, gaussian(bandwidth), None if pool.model is None else self._doubt(pool))

    def _doubt(self, pool: Pool) -> Scores:
        U = 1 - margins(_softened(probabilities(pool, np.arange(len(pool.X))), _temperature(pool)))
        U[pool.labeled] = 0
        return U


def _smallest_gap(A: npt.NDArray[Any]) -> float:
    """The smallest distance between different rows of A; 0 where there are no two."""
    if len(A) < 2:
        return 0.0
    squared = by_blocks(A, A, lambda block, _: np.where(block > 1e-6, block, np.inf).min(axis=1))
    return float(np.sqrt(squared.min())) if np.isfinite(squared.min()) else 0.0


def _softened(p: Scores, temperature: float) -> Scores:
    return softmax(np.log(np.maximum(p, 1e-30)) / temperature, axis=1)


def _temperature(pool: Pool) -> float:
    """The temperature with the smallest calibration error on labels held out.

    1 where they are too few, and of a model that knows rows by number, which cannot be fitted anew.
    """
    n = len(pool.labels)
    order = pool.rng.permutation(n)
    held, rest = order[: n * 3 // 10], order[n * 3 // 10 :]
    by_number = hasattr(pool.model, "row_proba") or hasattr(pool.model, "row_decision")
    if n < ENOUGH or by_number or len(np.unique(pool.labels[rest])) < 2:
        return 1.0
    model = clone(pool.model).fit(pool.X[pool.labeled[rest]], pool.labels[rest])
    p = probabilities(replace(pool, model=model), pool.labeled[held])
    right = model.classes_[p.argmax(axis=1)] == pool.labels[held]
    return float(min(TEMPERATURES, key=lambda t: _calibration_error(_softened(p, t).max(axis=1), right)))


def _calibration_error(confidence: Scores, right: npt.NDArray[np.bool_]) -> float:
    """Mean gap between confidence and accuracy over 15 bins (ECE)."""
    bins = np.minimum((confidence * 15).astype(int), 14)
    gap = np.bincount(bins, right, 15) - np.bincount(bins, confidence, 15)
    return float(np.abs(gap).sum() / len(confidence))
