"""Scores from samples of a model's weights, as from MC dropout: MaxEntropy, VariationRatios and BALD.

Samples are class probabilities, (samples, rows, classes). Entropies are in nats; 0·log 0 is 0.
"""

from abc import abstractmethod

import numpy as np
import numpy.typing as npt
from scipy.special import entr

from ..parameters import COUNT
from ..strategy import Pool, Rows, Strategy
from .common import smallest_first
from .uncertainty import committee

Samples = npt.NDArray[np.floating]
Scores = npt.NDArray[np.float64]


class BayesianScore(Strategy):
    """Base class: the rows with the largest `score`, ties broken at random.

    Parameters
    ----------
    draws : int
        Draws of the weights (MC dropout), or members of the committee that replaces them.
    """

    cost = "samples × a prediction of the pool (and a fit, without a network)"
    kind = "adaptive"
    needs_labels = True
    _parameter_constraints = {"draws": COUNT}

    def __init__(self, draws: int = 20) -> None:
        self.draws = draws

    def _pick(self, pool: Pool, n: int) -> Rows:
        rows = pool.unlabeled
        return smallest_first(pool, rows, -self.score(sampled_probabilities(pool, rows, self.draws)), n)

    @staticmethod
    @abstractmethod
    def score(samples: Samples) -> Scores:
        """The score of each row: the larger, the sooner it is picked."""


def sampled_probabilities(pool: Pool, rows: Rows, n: int) -> Samples:
    """Class probabilities under `n` samples of the model's weights, (n, rows, classes).

    They come from the model's `row_samples`, if it has any (MC dropout); otherwise from a committee of logistic
    regressions on resamples of the labels.
    """
    if hasattr(pool.model, "row_samples"):
        return np.asarray(pool.model.row_samples(rows, n, pool.rng))
    return np.stack(list(committee(pool, rows, n)))


def mean_probabilities(samples: Samples) -> Scores:
    """p̄, the mean over the samples: (rows, classes)."""
    return samples.mean(axis=0, dtype=np.float64)


def entropy_of_mean(samples: Samples) -> Scores:
    """H[p̄] of each row: its whole uncertainty."""
    return entr(mean_probabilities(samples)).sum(axis=1)


def expected_entropy(samples: Samples) -> Scores:
    """The mean of H[p] over the samples: the uncertainty that remains if the weights were known."""
    total = np.zeros(samples.shape[1])
    for p in samples:  # one sample at a time: all of them in float64 may not fit in memory
        total += entr(p.astype(np.float64)).sum(axis=1)
    return total / len(samples)


def mutual_information(samples: Samples) -> Scores:
    """H[p̄] − mean H[p], at least 0: what a row's label tells about the weights."""
    return np.maximum(entropy_of_mean(samples) - expected_entropy(samples), 0)


def variation_ratios(samples: Samples) -> Scores:
    """1 − max p̄ of each row."""
    return 1 - mean_probabilities(samples).max(axis=1)


class MaxEntropy(BayesianScore):
    """Rows with the largest entropy H[p̄] of the mean prediction over draws of the weights (Gal et al. 2017)."""

    name, title = "max-entropy", "Max Entropy"
    summary = "Largest entropy of the prediction averaged over dropout samples: for Bayesian networks"
    score = staticmethod(entropy_of_mean)


class VariationRatios(BayesianScore):
    """Rows with the largest 1 − max p̄, where p̄ is the mean prediction over draws of the weights.

    Proposed by Freeman (1965). The other definition, the share of samples that do not
    vote for the most frequent class, ties on most rows.
    """

    name, title = "variation-ratios", "Variation Ratios"
    summary = "Least confidence in the prediction averaged over dropout samples: for Bayesian networks"
    score = staticmethod(variation_ratios)


class BALD(BayesianScore):
    """Rows with the largest mutual information H[p̄] − mean H[p] between label and weights (Houlsby et al. 2011)."""

    name, title = "bald", "BALD"
    summary = "Rows on which dropout samples disagree, each confidently; picks in a large batch resemble each other"
    score = staticmethod(mutual_information)
