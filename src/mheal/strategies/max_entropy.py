"""Max Entropy of a Bayesian model (Gal, Islam and Ghahramani 2017)."""

from .base import Pool, Rows, Strategy
from .doubt import lowest, samples
from .mc_scores import entropy_of_mean


class MaxEntropy(Strategy):
    """Largest entropy of the class probabilities, averaged over `draws` of the model (see strategies/doubt.py)."""

    name, title = "max-entropy", "Max Entropy"
    summary = "Rows whose prediction, averaged over draws of the model (dropout), is most spread over the classes"
    cost = "draws × a prediction of the pool (and a fit, without a network)"
    kind = "adaptive"
    needs_labels = True

    def __init__(self, draws: int = 20) -> None:
        self.draws = draws

    def _pick(self, pool: Pool, budget: int) -> Rows:
        rows = pool.unlabeled
        return lowest(pool, rows, -entropy_of_mean(samples(pool, rows, self.draws)), budget)
