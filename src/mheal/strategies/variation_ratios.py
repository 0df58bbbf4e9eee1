"""Variation Ratios of a Bayesian model (Freeman 1965; Gal, Islam and Ghahramani 2017)."""

from .base import Pool, Rows, Strategy
from .doubt import lowest, samples
from .mc_scores import variation_ratios


class VariationRatios(Strategy):
    """Largest 1 − max p̄, with p̄ the class probabilities averaged over `draws` of the model; ties at random.

    The other reading, the share of draws that do not vote for the commonest class, ties on most rows.
    """

    name, title = "variation-ratios", "Variation Ratios"
    summary = "Rows whose best class is least probable when averaged over draws of the model (dropout)"
    cost = "draws × a prediction of the pool (and a fit, without a network)"
    kind = "adaptive"
    needs_labels = True

    def __init__(self, draws: int = 20) -> None:
        self.draws = draws

    def _pick(self, pool: Pool, budget: int) -> Rows:
        rows = pool.unlabeled
        return lowest(pool, rows, -variation_ratios(samples(pool, rows, self.draws)), budget)
