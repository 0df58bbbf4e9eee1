"""Margin sampling (Tong and Koller 2001; Scheffer et al. 2001)."""

from ..uncertainty import margins
from .base import Pool, Rows, Strategy
from .doubt import decision_values, knows_probabilities, lowest, probabilities


class Margin(Strategy):
    """Smallest gap between the two best classes: of probabilities or, where there are none, of decision values."""

    name, title = "margin", "Margin"
    summary = "Rows where the model's two best classes are closest; for later rounds, repeats itself in batches"
    cost = "one prediction of the pool"
    kind = "adaptive"
    needs_model = uses_proba = True

    def _pick(self, pool: Pool, budget: int) -> Rows:
        rows = pool.unlabeled
        scores = probabilities if knows_probabilities(pool) else decision_values
        return lowest(pool, rows, margins(scores(pool, rows)), budget)
