"""Initial centres: k-means++ on the sphere."""

from typing import Any

import numpy as np
import numpy.typing as npt
from scipy import sparse


def plus_plus(U: Any, weight: npt.NDArray[np.float64], k: int, rng: np.random.RandomState) -> npt.NDArray[np.int64]:
    """Row numbers of k seeds among the unit vectors U (dense or CSR). Each step draws a few rows and keeps the best.

    The probability of a row is proportional to its weight times its squared chord to the nearest seed. Rows are first
    sorted by content: shuffling them, or repeating rows instead of weighting them, gives equal seeds.
    """
    order = _by_content(U)
    U, weight = U[order], weight[order]
    trials = 2 + int(np.log(k))
    seeds = np.empty(k, np.int64)
    seeds[0] = _draw(weight, 1, rng)[0]
    nearest = _squared_chords(U, seeds[:1])[:, 0]
    for t in range(1, k):
        candidates = _draw(weight * nearest, trials, rng)
        left = np.minimum(_squared_chords(U, candidates), nearest[:, None])
        best = int(np.argmin(weight @ left))
        seeds[t], nearest = candidates[best], left[:, best]
    return order[seeds]


def _by_content(U: Any) -> npt.NDArray[np.int64]:
    """Row numbers sorted by the projection on a fixed random direction, so the order depends on content alone."""
    direction = np.random.RandomState(0).standard_normal(U.shape[1])
    key = U @ direction if sparse.issparse(U) else (U * direction).sum(axis=1)  # equal rows, equal keys
    return np.argsort(key, kind="stable")


def _draw(mass: npt.NDArray[np.float64], n: int, rng: np.random.RandomState) -> npt.NDArray[np.int64]:
    cumulative = np.cumsum(mass)
    if cumulative[-1] <= 0:  # every row coincides with a seed
        return rng.randint(len(mass), size=n)
    return np.minimum(np.searchsorted(cumulative, rng.uniform(size=n) * cumulative[-1], side="right"), len(mass) - 1)


def _squared_chords(U: Any, rows: npt.NDArray[np.int64]) -> npt.NDArray[np.float64]:
    dots = U @ U[rows].T
    dense = dots.toarray() if sparse.issparse(dots) else dots
    chords = np.maximum(2.0 - 2.0 * dense, 0.0).astype(np.float64)
    chords[chords < 1e-6] = 0.0  # rounding: duplicates of a row must be at distance 0
    return chords
