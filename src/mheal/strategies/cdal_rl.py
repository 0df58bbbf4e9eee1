"""CDAL with reinforcement learning (Agarwal et al. 2020): a recurrent policy learns which predictions are diverse."""

import numpy as np

from .base import Pool, Rows, Strategy
from .doubt import probabilities
from .networks import network


class CdalRl(Strategy):
    """A Bi-LSTM reads the predicted class probabilities and learns, by REINFORCE, how to score rows.

    It is rewarded for picks whose predictions differ and that lie near all others; the best rewarded picks of all
    `epochs` are kept. The pool is read in random chunks of at most 2,000 rows, each with its share of the budget.
    """

    name, title = "cdal-rl", "CDAL + RL"
    summary = "Diverse predictions, picked by a policy that learns by reinforcement"
    cost = "epochs × a recurrent network over the pool, memory 0.5 GB"
    kind = "adaptive"
    needs_torch = True
    needs_model = True

    def __init__(self, epochs: int = 10) -> None:
        self.epochs = epochs

    def _pick(self, pool: Pool, budget: int) -> Rows:
        deep, rows = network("cdal_rl", self.name), pool.unlabeled
        order = pool.rng.permutation(len(rows))
        P = probabilities(pool, rows[order]).astype(np.float32)
        return rows[order[deep.diverse(P, budget, seed=int(pool.rng.integers(2**31)), epochs=self.epochs)]]
