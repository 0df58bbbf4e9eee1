"""Core-set by k-center greedy (Sener and Savarese 2018): our max-min."""

import numpy as np

from ..algorithms.farthest_first import farthest_first
from .base import Pool, Rows, Strategy


class CoreSet(Strategy):
    """Farthest-first traversal on standardised columns; the first pick is random where nothing is labelled."""

    name, title = "coreset", "Core-set"
    summary = "k-center greedy: always the row farthest from all labelled ones; finds outliers first"
    cost = "time N·√budget·d in practice, memory N"

    def _pick(self, pool: Pool, budget: int) -> Rows:
        start = None if len(pool.labeled) else int(pool.rng.integers(len(pool.X)))
        return farthest_first(pool.Z, budget, start=start, chosen=pool.labeled)


def complete(pool: Pool, picked: Rows, budget: int) -> Rows:
    """`picked` brought to `budget` rows by those farthest from it and from the labelled ones.

    For strategies that can run out of clusters, or of anything uncovered, before the budget is spent.
    """
    short = budget - len(picked)
    if short <= 0:
        return picked[:budget]
    return np.concatenate([picked, farthest_first(pool.Z, short, chosen=np.concatenate([pool.labeled, picked]))])
