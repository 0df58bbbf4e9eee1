"""What draws of a model say about each row: how unsure they are, and how much of that is disagreement.

Samples are class probabilities, (draws, rows, classes). Entropies are in nats, and 0·log 0 is 0.
"""

import numpy as np
import numpy.typing as npt
from scipy.special import entr

from .doubt import Scores

Samples = npt.NDArray[np.floating]


def mean_probabilities(samples: Samples) -> Scores:
    """p̄, the mean over the draws: (rows, classes)."""
    return samples.mean(axis=0, dtype=np.float64)


def entropy_of_mean(samples: Samples) -> Scores:
    """H[p̄], of each row: all of its doubt."""
    return entr(mean_probabilities(samples)).sum(axis=1)


def expected_entropy(samples: Samples) -> Scores:
    """The mean of H[p] over the draws, of each row: the doubt that no knowledge of the model would remove."""
    total = np.zeros(samples.shape[1])
    for p in samples:  # one draw at a time: the whole in double precision may be large
        total += entr(p.astype(np.float64)).sum(axis=1)
    return total / len(samples)


def mutual_information(samples: Samples) -> Scores:
    """BALD, H[p̄] less its expected part: what the label would tell about the model. Never below 0."""
    return np.maximum(entropy_of_mean(samples) - expected_entropy(samples), 0)


def variation_ratios(samples: Samples) -> Scores:
    """1 − max p̄, of each row."""
    return 1 - mean_probabilities(samples).max(axis=1)
