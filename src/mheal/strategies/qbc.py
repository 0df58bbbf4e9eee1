"""Query by committee (Seung et al. 1992; Engelson and Dagan 1996)."""

import numpy as np
from scipy.special import entr

from .base import Pool, Rows, Strategy
from .committee import committee
from .doubt import lowest


class QueryByCommittee(Strategy):
    """Logistic regressions on resamples of the labels vote; rows with the most divided vote are picked.

    Votes tie often: among equals the larger entropy of the mean probabilities decides.
    """

    name, title = "qbc", "QBC"
    summary = "Rows on which models trained on resampled labels disagree; needs no model of yours"
    cost = "members × (a fit + a prediction of the pool)"
    kind = "adaptive"
    needs_labels = True

    def __init__(self, members: int = 10) -> None:
        self.members = members

    def _pick(self, pool: Pool, budget: int) -> Rows:
        rows = pool.unlabeled
        votes, mean = np.zeros((2, len(rows), len(np.unique(pool.labels))))
        for p in committee(pool, rows, self.members):
            votes[np.arange(len(rows)), p.argmax(axis=1)] += 1 / self.members
            mean += p / self.members
        division, doubt = entr(votes).sum(axis=1), entr(mean).sum(axis=1)
        # Entropies of votes differ by far more than a billionth of the doubt, which therefore only breaks ties.
        return lowest(pool, rows, -(division + 1e-9 * doubt), budget)
