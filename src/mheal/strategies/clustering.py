"""One pick from each cluster: K-means and TypiClust, on Euclidean k-means that gives the same clusters everywhere."""

import warnings
from typing import Any

import numpy as np
import numpy.typing as npt
from threadpoolctl import threadpool_limits

from ..backends.cpu.points import Points
from ..parameters import COUNT
from ..strategy import Pool, Rows, Strategy
from .common import fill_with_farthest

LARGE = 20_000  # pools with more rows are clustered on batches
BATCH = 5000
RESTARTED = 100_000  # up to this many rows × clusters ten starts are cheap, and with few clusters they matter
STARTED_ONCE = 10**9  # from this many on there is one start: each further one would cost as much again
REFERENCES = 4096  # at most this many members of a cluster, evenly thinned, serve as neighbours


class KMeans(Strategy):
    """The row nearest the centre of each Euclidean k-means cluster, largest cluster first.

    The pool is cut into as many clusters as there are labelled rows and picks together; clusters that hold a labelled
    row are skipped. If duplicates leave clusters empty, the rows farthest from everything picked follow.
    """

    name, title = "kmeans", "K-means"
    summary = "The row nearest the centre of each k-means cluster; hard to beat when the budget is small and known"
    cost = "time N·budget·d·iterations, memory N·d"
    kind = "one-shot"

    def _pick(self, pool: Pool, n: int) -> Rows:
        k = len(pool.labeled) + n
        labels, distance = euclidean_clusters(pool.Z, k, pool.rng)
        size = np.bincount(labels, minlength=k)
        size[labels[pool.labeled]] = 0
        largest = np.argsort(-size, kind="stable")[: np.count_nonzero(size)]
        return fill_with_farthest(pool, nearest_members(labels, distance, k)[largest], n)


class TypiClust(Strategy):
    """The most typical unlabelled row of each cluster (Hacohen, Dekel and Weinshall 2022).

    Typicality is the inverse of the mean distance to the nearest neighbours within the cluster. Clusters with the
    fewest labelled rows come first, among them the largest, and are visited in turn.

    Parameters
    ----------
    max_clusters : int
        The pool is cut into as many clusters as there are labelled rows and picks together, but no more than this.
    n_neighbors : int
        Neighbours that typicality is measured with.
    min_cluster_size : int
        Smaller clusters wait until all others are exhausted.
    """

    name, title = "typiclust", "TypiClust"
    summary = "The most typical row of each cluster: for the very first labels; never an outlier"
    cost = "time N·budget·d·iterations + N²·d / clusters, memory N·d"
    kind = "one-shot"
    _parameter_constraints = {"max_clusters": COUNT, "n_neighbors": COUNT, "min_cluster_size": COUNT}

    def __init__(self, max_clusters: int = 500, n_neighbors: int = 20, min_cluster_size: int = 6) -> None:
        self.max_clusters = max_clusters
        self.n_neighbors = n_neighbors
        self.min_cluster_size = min_cluster_size

    def _pick(self, pool: Pool, n: int) -> Rows:
        k = min(len(pool.labeled) + n, self.max_clusters)
        labels, _ = euclidean_clusters(pool.Z, k, pool.rng)
        spread = spacing_within(pool.Z, labels, k, self.n_neighbors)
        size, labeled = np.bincount(labels, minlength=k), np.bincount(labels[pool.labeled], minlength=k)
        place = np.empty(k, np.int64)
        place[np.lexsort((np.arange(k), -size, labeled))] = np.arange(k)

        free = pool.unlabeled
        free = free[size[labels[free]] >= self.min_cluster_size]
        by_cluster = free[np.lexsort((free, spread[free], labels[free]))]  # clusters together, most typical rows first
        start = np.searchsorted(labels[by_cluster], np.arange(k))
        rank = np.arange(len(by_cluster)) - start[labels[by_cluster]]
        return fill_with_farthest(pool, by_cluster[np.lexsort((place[labels[by_cluster]], rank))][:n], n)


def spacing_within(Z: npt.NDArray[Any], labels: npt.NDArray[np.int32], k: int, n_neighbors: int) -> npt.NDArray[Any]:
    """Mean distance from each row to its nearest neighbours in its own cluster: the inverse of its typicality."""
    members = [np.flatnonzero(labels == c) for c in range(k)]
    references = [rows[:: max(1, -(-len(rows) // REFERENCES))] for rows in members]
    shares = [len(some) / max(1, len(rows)) for some, rows in zip(references, members, strict=True)]
    nearest = [
        max(1, round(min(n_neighbors, len(rows) // 2) * share)) for rows, share in zip(members, shares, strict=True)
    ]
    return Points.raw(Z).spacing(labels, references, nearest)


def euclidean_clusters(
    Z: npt.NDArray[Any],
    k: int,
    rng: np.random.Generator,
    *,
    large: int = LARGE,
    started_once: int = STARTED_ONCE,
) -> tuple[npt.NDArray[np.int32], npt.NDArray[Any]]:
    """A cluster for each row of Z, and its squared distance to the centre. Clusters can be empty.

    More than `large` rows are clustered on batches; from `started_once` rows × clusters on there is a single start.
    """
    from sklearn import cluster
    from sklearn.exceptions import ConvergenceWarning

    seed = int(rng.integers(2**31))
    if len(Z) <= large:
        kmeans = cluster.KMeans(k, n_init=10 if len(Z) * k <= RESTARTED else 1, random_state=seed)
    else:
        starts = 3 if len(Z) * k < started_once else 1
        kmeans = cluster.MiniBatchKMeans(k, batch_size=BATCH, n_init=starts, random_state=seed)
    with threadpool_limits(1, "openmp"), warnings.catch_warnings():  # several threads add up centres in any order
        warnings.simplefilter("ignore", ConvergenceWarning)  # fewer distinct rows than clusters: callers fill up
        labels = kmeans.fit_predict(Z)
    centers = kmeans.cluster_centers_
    return labels, np.square(Z - centers[labels]).sum(axis=1)


def nearest_members(labels: npt.NDArray[Any], distance: npt.NDArray[Any], k: int) -> Rows:
    """The row of each cluster with the smallest distance, the lowest row among equals; −1 for empty clusters."""
    order = np.lexsort((distance, labels))
    filled, first = np.unique(labels[order], return_index=True)
    out = np.full(k, -1, np.int64)
    out[filled] = order[first]
    return out
