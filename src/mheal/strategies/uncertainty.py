"""Uncertainty sampling: rows about which a model, or a committee of models, is least certain."""

from abc import abstractmethod
from collections.abc import Iterator

import numpy as np
from scipy.special import entr

from ..parameters import Count
from ..strategy import Pool, Rows, Scores, Strategy
from ..uncertainty import decision_values, margins, probabilities
from .common import smallest_first


class Scored(Strategy):
    """Base class: the unlabelled rows with the largest score, ties broken at random."""

    kind = "adaptive"

    def _pick(self, pool: Pool, n: int) -> Rows:
        rows = pool.unlabeled
        return smallest_first(pool, rows, -self._scores(pool, rows), n)

    @abstractmethod
    def _scores(self, pool: Pool, rows: Rows) -> Scores:
        """The score of each of these rows; rows with larger scores are picked first."""


class Margin(Scored):
    """Rows with the smallest margin p₁ − p₂ between the two most probable classes (Scheffer et al. 2001).

    If the model has no probabilities, its decision values are used instead.
    """

    name, title = "margin", "Margin"
    summary = "Rows whose two best classes are closest: the standard choice once a model is good"
    cost = "one prediction of the pool"
    needs_model = uses_proba = True

    def _scores(self, pool: Pool, rows: Rows) -> Scores:
        known = hasattr(pool.model, "row_proba") or hasattr(pool.model, "predict_proba")
        return -margins((probabilities if known else decision_values)(pool, rows))


class LeastConfidence(Scored):
    """Rows with the smallest probability p₁ of the most probable class (Lewis and Gale 1994)."""

    name, title = "least-confidence", "Least confidence"
    summary = "Rows whose most probable class is least probable; with two classes the same as margin"
    cost = "one prediction of the pool"
    needs_model = uses_proba = True

    def _scores(self, pool: Pool, rows: Rows) -> Scores:
        return -probabilities(pool, rows).max(axis=1)


class Entropy(Scored):
    """Rows with the largest entropy −Σ p log p of the predicted classes (Settles and Craven 2008)."""

    name, title = "entropy", "Entropy"
    summary = "Rows with the largest entropy of the predicted classes; unlikely classes count, too"
    cost = "one prediction of the pool"
    needs_model = uses_proba = True

    def _scores(self, pool: Pool, rows: Rows) -> Scores:
        return entr(probabilities(pool, rows)).sum(axis=1)


class QueryByCommittee(Scored):
    """Rows with the largest entropy of the votes of a committee (Seung et al. 1992).

    The members are logistic regressions, each fitted on a resample of the labels. Ties, which are frequent, are broken
    by the entropy of the mean probabilities.

    members : size of the committee
    """

    name, title = "qbc", "QBC"
    summary = "Rows on which models trained on resamples of the labels disagree; needs no model of yours"
    cost = "members × (a fit + a prediction of the pool)"
    needs_labels = True

    members: Count = 10

    def _scores(self, pool: Pool, rows: Rows) -> Scores:
        votes, mean = np.zeros((2, len(rows), len(np.unique(pool.labels))))
        for p in committee(pool, rows, self.members):
            votes[np.arange(len(rows)), p.argmax(axis=1)] += 1 / self.members
            mean += p / self.members
        # Different entropies of votes differ by far more than 1e-9, so the second term only breaks ties.
        return entr(votes).sum(axis=1) + 1e-9 * entr(mean).sum(axis=1)


def committee(pool: Pool, rows: Rows, members: int) -> Iterator[Scores]:
    """Yield the class probabilities of these rows, (rows, classes), by each member of the committee.

    Every resample has at least one row of each class, so all members predict all classes. With labels of one class,
    every probability is 1.
    """
    from sklearn.linear_model import LogisticRegression

    classes, y = np.unique(pool.labels, return_inverse=True)
    for _ in range(members):
        if len(classes) == 1:
            yield np.ones((len(rows), 1))
            continue
        order = pool.rng.permutation(len(y))
        one_each = order[np.unique(y[order], return_index=True)[1]]
        at = np.append(one_each, pool.rng.integers(len(y), size=max(0, len(y) - len(one_each))))
        member = LogisticRegression(max_iter=300).fit(pool.Z[pool.labeled[at]], y[at])
        yield member.predict_proba(pool.Z[rows])
