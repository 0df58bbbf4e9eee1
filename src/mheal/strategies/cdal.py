"""CDAL with Core-set (Agarwal et al. 2020): farthest-first in what the model predicts, not in what rows look like."""

import numpy as np

from ..runtime.threads import spans
from .base import Pool, Rows, Strategy
from .doubt import Scores, probabilities

SMOOTHING = 1e-8
CELLS = 1 << 21  # distances held at a time


class CdalCoreSet(Strategy):
    """The row whose class probabilities are farthest, by symmetric KL divergence, from all labelled and picked ones.

    The first pick is random where nothing is labelled.
    """

    name, title = "cdal-coreset", "CDAL + Core-set"
    summary = "Core-set on predicted probabilities: always the prediction least like those of the labelled rows"
    cost = "time N·(labelled + budget)·classes, memory N·classes"
    kind = "adaptive"
    needs_model = True

    def _pick(self, pool: Pool, budget: int) -> Rows:
        divergence = SymmetricKL(probabilities(pool, np.arange(len(pool.X))))
        nearest = np.full(len(pool.X), np.inf)
        for lo, hi in spans(len(pool.labeled), max(1, CELLS // len(pool.X))):
            np.minimum(nearest, divergence.to(pool.labeled[lo:hi]).min(axis=1), out=nearest)
        nearest[pool.labeled] = -1
        rows = np.empty(budget, np.int64)
        for i in range(budget):
            blind = i == 0 and len(pool.labeled) == 0
            rows[i] = pool.rng.integers(len(pool.X)) if blind else nearest.argmax()
            np.minimum(nearest, divergence.to(rows[i : i + 1])[:, 0], out=nearest)
            nearest[rows[i]] = -1
        return rows


class SymmetricKL:
    """½ KL(p‖q) + ½ KL(q‖p) between rows of P; a zero, which would be infinitely far from all else, is 1e-8."""

    def __init__(self, P: Scores) -> None:
        P = P + SMOOTHING
        P /= P.sum(axis=1, keepdims=True)
        self.both = np.hstack([P, np.log(P)])
        self.classes = P.shape[1]
        self.negentropy = np.einsum("ij,ij->i", P, self.both[:, self.classes :])

    def to(self, rows: Rows) -> Scores:
        """From every row (rows) to these (columns)."""
        cross = self.both @ np.roll(self.both[rows], self.classes, axis=1).T  # Σ p log q + Σ q log p
        return np.maximum((self.negentropy[:, None] + self.negentropy[rows] - cross) / 2, 0)
