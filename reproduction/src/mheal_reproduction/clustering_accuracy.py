"""How well clusters agree with classes."""

import numpy as np
import numpy.typing as npt
from scipy.optimize import linear_sum_assignment

from mheal.exceptions import UserError


def clustering_accuracy(labels: npt.ArrayLike, clusters: npt.ArrayLike) -> float:
    """Share of rows whose cluster is matched with their class, by the best one-to-one matching of clusters and classes.

    If there are more clusters than classes, or fewer, the rest stays unmatched.

    Examples
    --------
    >>> from mheal_reproduction.clustering_accuracy import clustering_accuracy
    >>> clustering_accuracy(["a", "a", "b", "b"], [1, 1, 0, 1])
    0.75
    """
    labels, clusters = np.asarray(labels), np.asarray(clusters)
    if labels.ndim != 1 or labels.shape != clusters.shape or not labels.size:
        raise UserError(f"labels {labels.shape} and clusters {clusters.shape} must be two lists of the same length")
    classes, row = np.unique(labels, return_inverse=True)
    names, column = np.unique(clusters, return_inverse=True)
    together = np.bincount(row * len(names) + column, minlength=len(classes) * len(names))
    together = together.reshape(len(classes), len(names))
    return float(together[linear_sum_assignment(together, maximize=True)].sum() / len(labels))
