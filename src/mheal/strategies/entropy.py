"""Entropy sampling (Shannon 1948; Settles and Craven 2008)."""

from scipy.special import entr

from .base import Pool, Rows, Strategy
from .doubt import lowest, probabilities


class Entropy(Strategy):
    """Largest entropy of the predicted classes."""

    name, title = "entropy", "Entropy"
    summary = "Rows whose prediction is most spread over all classes, unlikely ones included"
    cost = "one prediction of the pool"
    kind = "adaptive"
    needs_model = uses_proba = True

    def _pick(self, pool: Pool, budget: int) -> Rows:
        rows = pool.unlabeled
        return lowest(pool, rows, -entr(probabilities(pool, rows)).sum(axis=1), budget)
