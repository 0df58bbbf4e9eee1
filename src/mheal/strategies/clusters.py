"""Euclidean k-means for the strategies that need it, the same on every machine."""

import warnings
from typing import Any

import numpy as np
import numpy.typing as npt
from threadpoolctl import threadpool_limits

from .base import Rows

LARGE = 20_000  # rows from which centres are fitted on batches
BATCH = 5000
RESTARTED = 100_000  # up to this many rows × clusters ten starts are cheap, and with few clusters they matter
STARTED_ONCE = 10**9  # from this many on there is one start: to compare several would cost as much again for each


def euclidean_clusters(
    Z: npt.NDArray[Any], k: int, rng: np.random.Generator
) -> tuple[npt.NDArray[np.int32], npt.NDArray[Any]]:
    """A cluster for each row of Z, and how far (squared) the row is from its centre. Clusters can be empty."""
    from sklearn.cluster import KMeans, MiniBatchKMeans
    from sklearn.exceptions import ConvergenceWarning

    seed = int(rng.integers(2**31))
    if len(Z) <= LARGE:
        kmeans = KMeans(k, n_init=10 if len(Z) * k <= RESTARTED else 1, random_state=seed)
    else:
        kmeans = MiniBatchKMeans(k, batch_size=BATCH, n_init=3 if len(Z) * k < STARTED_ONCE else 1, random_state=seed)
    with threadpool_limits(1, "openmp"), warnings.catch_warnings():  # threads would add up centres in any order
        warnings.simplefilter("ignore", ConvergenceWarning)  # fewer distinct rows than clusters: callers fill up
        labels = kmeans.fit_predict(Z)
    centers = kmeans.cluster_centers_
    return labels, np.square(Z - centers[labels]).sum(axis=1)


def nearest_members(labels: npt.NDArray[Any], distance: npt.NDArray[Any], k: int) -> Rows:
    """The member of each cluster with the smallest distance, lowest row first among equals; −1 for empty clusters."""
    order = np.lexsort((distance, labels))
    filled, first = np.unique(labels[order], return_index=True)
    out = np.full(k, -1, np.int64)
    out[filled] = order[first]
    return out
