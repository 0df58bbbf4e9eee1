"""BALD, Bayesian active learning by disagreement (Houlsby et al. 2011; Gal, Islam and Ghahramani 2017)."""

from .base import Pool, Rows, Strategy
from .doubt import lowest, samples
from .mc_scores import mutual_information


class Bald(Strategy):
    """Largest mutual information between the label and the model, from `draws` of it."""

    name, title = "bald", "BALD"
    summary = "Rows on which draws of the model (dropout) are sure, each of something else; repeats itself in batches"
    cost = "draws × a prediction of the pool (and a fit, without a network)"
    kind = "adaptive"
    needs_labels = True

    def __init__(self, draws: int = 20) -> None:
        self.draws = draws

    def _pick(self, pool: Pool, budget: int) -> Rows:
        rows = pool.unlabeled
        return lowest(pool, rows, -mutual_information(samples(pool, rows, self.draws)), budget)
