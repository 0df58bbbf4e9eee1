"""Query by committee (Seung et al. 1992; Engelson and Dagan 1996)."""

import numpy as np
from scipy.special import entr
from sklearn.linear_model import LogisticRegression

from .base import Pool, Rows, Strategy
from .doubt import lowest


class QueryByCommittee(Strategy):
    """Logistic regressions on resamples of the labels vote; rows with the most divided vote are picked.

    Every resample keeps one row of each class, so that every member knows all classes. Votes tie often: among
    equals the larger entropy of the mean probabilities decides.
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
        classes, y = np.unique(pool.labels, return_inverse=True)
        votes, mean = np.zeros((len(rows), len(classes))), np.zeros((len(rows), len(classes)))
        if len(classes) > 1:  # members who know one class agree
            for _ in range(self.members):
                drawn = self._resample(y, pool.rng)
                model = LogisticRegression(max_iter=300).fit(pool.Z[pool.labeled[drawn]], y[drawn])
                p = model.predict_proba(pool.Z[rows])
                votes[np.arange(len(rows)), p.argmax(axis=1)] += 1 / self.members
                mean += p / self.members
        division, doubt = entr(votes).sum(axis=1), entr(mean).sum(axis=1)
        # Entropies of votes differ by far more than a billionth of the doubt, which therefore only breaks ties.
        return lowest(pool, rows, -(division + 1e-9 * doubt), budget)

    def _resample(self, y: Rows, rng: np.random.Generator) -> Rows:
        order = rng.permutation(len(y))
        _, one_each = np.unique(y[order], return_index=True)
        return np.concatenate([order[one_each], rng.integers(len(y), size=max(0, len(y) - len(one_each)))])
