"""What the strategies share that score each row by draws of a Bayesian model (Gal, Islam and Ghahramani 2017)."""

from abc import abstractmethod

from .base import Pool, Rows, Strategy
from .doubt import Scores, lowest, samples
from .mc_scores import Samples


class FromDraws(Strategy):
    """The rows with the largest score, from `draws` of the model (see strategies/doubt.py); ties at random."""

    cost = "draws × a prediction of the pool (and a fit, without a network)"
    kind = "adaptive"
    needs_labels = True

    def __init__(self, draws: int = 20) -> None:
        self.draws = draws

    def _pick(self, pool: Pool, budget: int) -> Rows:
        rows = pool.unlabeled
        return lowest(pool, rows, -self.score(samples(pool, rows, self.draws)), budget)

    @staticmethod
    @abstractmethod
    def score(samples: Samples) -> Scores:
        """How much a label of each row is wanted."""
