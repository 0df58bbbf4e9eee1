"""Scores from samples of a model's weights, such as MC dropout: MaxEntropy, VariationRatios, BALD and BatchBALD.

Each sample gives class probabilities, (samples, rows, classes). Entropies are in nats; 0·log 0 is 0.
"""

from typing import ClassVar

import numpy as np
from scipy.special import entr

from ..algorithms.facility_location import lazy_greedy
from ..parameters import Count
from ..strategy import Array, Pool, Rows, Scores
from .common import smallest_first
from .uncertainty import Scored, committee

CONFIGURATIONS = 10_000  # largest number of joint labellings of a batch and one candidate in BatchBALD
BLOCK = 32  # candidates whose gains BatchBALD updates together


class BayesianScore(Scored):
    """Base class: the rows with the largest `score` of the samples.

    draws : number of samples of the weights (MC dropout), or of members of the committee that replaces them
    """

    cost = "samples × a prediction of the pool (and a fit, without a network)"
    needs_labels = True

    draws: Count = 20
    score: ClassVar["staticmethod[[Array], Scores]"]  # of each row

    def _scores(self, pool: Pool, rows: Rows) -> Scores:
        return self.score(sampled_probabilities(pool, rows, self.draws))


def sampled_probabilities(pool: Pool, rows: Rows, n: int) -> Array:
    """Class probabilities for `n` samples of the model's weights, (n, rows, classes).

    They come from the model's `row_samples` if it has that method (MC dropout), else from a committee fitted on labels.
    """
    draw = getattr(pool.model, "row_samples", None)
    return np.stack(list(committee(pool, rows, n))) if draw is None else np.asarray(draw(rows, n, pool.rng))


def entropy_of_mean(samples: Array) -> Scores:
    """H[p̄] of each row, where p̄ is the mean over the samples: the total uncertainty."""
    return entr(samples.mean(axis=0, dtype=np.float64)).sum(axis=1)


def expected_entropy(samples: Array) -> Scores:
    """The mean of H[p] over the samples: the uncertainty that would remain if the weights were known."""
    total = np.zeros(samples.shape[1])
    for p in samples:  # one sample at a time: all of them in float64 may not fit in memory
        total += entr(p.astype(np.float64)).sum(axis=1)
    return total / len(samples)


def mutual_information(samples: Array) -> Scores:
    """H[p̄] − mean H[p], at least 0: the information that a row's label gives about the weights."""
    return np.maximum(entropy_of_mean(samples) - expected_entropy(samples), 0)


class MaxEntropy(BayesianScore):
    """Rows with the largest entropy H[p̄] of the mean prediction over samples of the weights (Gal et al. 2017)."""

    name, title = "max-entropy", "Max Entropy"
    summary = "Largest entropy of the prediction averaged over dropout samples: for Bayesian networks"
    score = staticmethod(entropy_of_mean)


class VariationRatios(BayesianScore):
    """Rows with the largest 1 − max p̄, where p̄ is the mean prediction over samples of the weights.

    Proposed by Freeman (1965). The other definition, the share of samples that do not predict the most frequent class,
    has too many ties.
    """

    name, title = "variation-ratios", "Variation Ratios"
    summary = "Least confidence in the prediction averaged over dropout samples: for Bayesian networks"
    score = staticmethod(lambda samples: 1 - samples.mean(axis=0, dtype=np.float64).max(axis=1))


class BALD(BayesianScore):
    """Rows with the largest mutual information H[p̄] − mean H[p] between label and weights (Houlsby et al. 2011)."""

    name, title = "bald", "BALD"
    summary = "Rows on which dropout samples disagree, each confidently; picks in a large batch resemble each other"
    score = staticmethod(mutual_information)


class BatchBALD(BALD):
    """A batch, built greedily, with the largest mutual information between its labels and the model's weights.

    Proposed by Kirsch, van Amersfoort and Gal (2019). The joint entropy is exact up to 10,000 labellings of the
    batch (4 rows of 10 classes, 13 rows of two) and estimated from a sample of labellings beyond.

    draws : as in BALD
    max_candidates : only this many rows with the largest BALD score are considered, or four times the picks if that is
        more
    """

    name, title = "batchbald", "BatchBALD"
    summary = "BALD for batches: rows whose labels together give most information about the model; for small batches"
    cost = "as BALD, then time 10,000·1,000·samples at most for each pick"

    max_candidates: Count = 1000

    def _pick(self, pool: Pool, n: int) -> Rows:
        rows = pool.unlabeled
        P = sampled_probabilities(pool, rows, self.draws)
        best = smallest_first(pool, np.arange(len(rows)), -self.score(P), max(self.max_candidates, 4 * n))
        return rows[best[greedy(P[:, best].astype(np.float64), n, pool.rng)]]


def greedy(P: Scores, n: int, rng: np.random.Generator, block: int = BLOCK) -> Rows:
    """A greedy batch of `n` rows of P, (samples, rows, classes), in the order in which they are added."""
    batch, residual = Labellings(P, rng), expected_entropy(P)
    return lazy_greedy(
        mutual_information(P), lambda rows: batch.conditional_entropy(rows) - residual[rows], batch.add, n,
        batch=block, least=-np.inf,
    )  # fmt: skip


class Labellings:
    """The joint labellings of the batch: all of them or, if there are too many, a sample.

    The joint entropy grows with each row by H(y | batch) = Σ weight · H[belief · p], which ranks the candidates.

    weight : probability of each labelling, (labellings,)
    belief : posterior of the samples of the weights under each labelling, (labellings, samples)
    """

    def __init__(self, P: Scores, rng: np.random.Generator, configurations: int = CONFIGURATIONS) -> None:
        self.P, self.rng = P, rng
        draws, _, self.classes = P.shape
        self.most, self.sampled = max(1, configurations // self.classes), False
        self.weight, self.belief = np.ones(1), np.full((1, draws), 1 / draws)

    def conditional_entropy(self, rows: Rows) -> Scores:
        """H(y | labels of the batch) of each of these rows."""
        p = self.belief @ self.P[:, rows].reshape(len(self.P), -1)
        return (self.weight @ entr(p, out=p)).reshape(len(rows), self.classes).sum(axis=1)

    def add(self, row: int) -> None:
        """Extend every labelling by each class of this row or, if there are too many, by one random class."""
        self.sampled = self.sampled or len(self.weight) * self.classes > self.most
        if self.sampled:
            even = (np.arange(self.most) + self.rng.random()) / self.most
            at = np.searchsorted(self.weight.cumsum()[:-1] / self.weight.sum(), even, side="right")
            self.weight, p = np.full(self.most, 1 / self.most), self.P[:, row]
            cumulative = (self.belief[at] @ p).cumsum(axis=1)
            below = cumulative[:, :-1] <= self.rng.random((self.most, 1)) * cumulative[:, -1:]
            belief = self.belief[at] * p.T[below.sum(axis=1)]
        else:
            belief = (self.belief[:, None] * self.P[:, row].T).reshape(-1, len(self.P))
            self.weight = np.repeat(self.weight, self.classes) * belief.sum(axis=1)
            belief, self.weight = belief[self.weight > 0], self.weight[self.weight > 0]
        self.belief = belief / belief.sum(axis=1, keepdims=True)
