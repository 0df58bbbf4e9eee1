"""GEN (Du et al. 2017): informative and representative rows, both measured in the space of predicted probabilities."""

from typing import Any, Literal

import numpy as np

from ..uncertainty import margins
from .base import Pool, Rows, Strategy
from .distances import by_blocks, nearest_distance, sample, squared_distances
from .doubt import Scores, probabilities

REFERENCES = 10_000


class Gen(Strategy):
    """Smallest β·(p₁ − p₂)·exp(d²) plus similarity to labelled rows minus similarity to the pool.

    d is the distance to the nearest support vector (of models without any: to the nearest labelled row), and all
    distances are between probability vectors, similarity exp(−‖p − q‖²). A batch is picked one by one,
    each pick counting as labelled from then on. weights "mmd" follows from the maximum mean discrepancy;
    "published" is a known implementation's, which follows the density alone while labels are few. Beyond 10,000 rows
    a sample of 10,000 stands for the pool.
    """

    name, title = "gen", "GEN"
    summary = "Uncertain rows that resemble the pool more than the labelled rows, as the model sees them"
    cost = "time N²·classes (N·10,000 beyond 10,000 rows), memory N·(d + classes)"
    kind = "adaptive"
    needs_model = True

    def __init__(self, beta: float = 1.0, weights: Literal["mmd", "published"] = "mmd") -> None:
        self.beta = beta
        self.weights = weights

    def _pick(self, pool: Pool, budget: int) -> Rows:
        P = probabilities(pool, np.arange(len(pool.X)))
        doubt = margins(P)
        support = P[pool.labeled[_support(pool.model, len(pool.labeled))]]
        if len(support):
            doubt = doubt * np.exp(nearest_distance(P, support) ** 2)
        return one_by_one(pool, P, self.beta * doubt, budget, self.weights)


def one_by_one(pool: Pool, P: Scores, cost: Scores, budget: int, weights: str = "mmd") -> Rows:
    """Rows with the smallest cost + ½ a_L·Σ_{labelled} S − ½ a_U·Σ_{unlabelled} S, S = exp(−‖p − q‖²)."""
    n, unlabeled = len(P), pool.unlabeled
    reference = sample(unlabeled, REFERENCES, pool.rng)
    scale = len(unlabeled) / len(reference)
    to_unlabeled = scale * by_blocks(P, P[reference], lambda block, _: np.exp(-block).sum(axis=1))
    to_labeled = np.zeros(n)
    if len(pool.labeled):
        to_labeled += by_blocks(P, P[pool.labeled], lambda block, _: np.exp(-block).sum(axis=1))
    open_cost = np.full(n, np.inf)
    open_cost[unlabeled] = cost[unlabeled]
    rows = np.empty(budget, np.int64)
    for i in range(budget):
        labeled, left = len(pool.labeled) + i, len(unlabeled) - i
        a_L, a_U = (left - 1, labeled + 1) if weights == "mmd" else (labeled + 1, left - 1)
        rows[i] = row = (open_cost + (a_L * to_labeled - a_U * to_unlabeled) / (2 * n)).argmin()
        open_cost[row] = np.inf
        similarity = np.exp(-squared_distances(P, P[row : row + 1])[:, 0])
        to_labeled += similarity
        to_unlabeled -= similarity
    return rows


def _support(model: Any, n_labeled: int) -> Rows:
    """Which of the labelled rows the model calls its support vectors; all of them where it has none."""
    last = model[-1] if hasattr(model, "steps") else model
    support = np.asarray(getattr(last, "support_", np.arange(n_labeled)), np.int64)
    return support if support.ndim == 1 and (support < n_labeled).all() else np.arange(n_labeled)
