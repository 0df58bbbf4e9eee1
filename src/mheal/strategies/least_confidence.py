"""Least confidence (Lewis and Gale 1994)."""

from .base import Pool, Rows, Strategy
from .doubt import lowest, probabilities


class LeastConfidence(Strategy):
    """Smallest probability of the best class."""

    name, title = "least-confidence", "Least confidence"
    summary = "Rows whose best class is least probable; with two classes the same as margin"
    cost = "one prediction of the pool"
    kind = "adaptive"
    needs_model = uses_proba = True

    def _pick(self, pool: Pool, budget: int) -> Rows:
        rows = pool.unlabeled
        return lowest(pool, rows, probabilities(pool, rows).max(axis=1), budget)
