"""K-means: one row for each of as many clusters as there are labels to buy."""

import numpy as np

from .base import Pool, Rows, Strategy
from .clusters import euclidean_clusters, nearest_members
from .coreset import complete


class KMeansMedoids(Strategy):
    """The member nearest the centre of each Euclidean k-means cluster, largest cluster first.

    Rows labelled before stand for their clusters: the whole pool is cut into labelled + budget clusters and those with
    a labelled row are skipped, so at least `budget` remain. Where duplicates leave clusters
    empty, the rows farthest from everything picked follow.
    """

    name, title = "kmeans", "K-means"
    summary = "One row from the middle of each of `budget` clusters; hard to beat when the budget is small and known"
    cost = "time N·budget·d·iterations, memory N·d"
    kind = "one-shot"

    def _pick(self, pool: Pool, budget: int) -> Rows:
        k = len(pool.labeled) + budget
        labels, distance = euclidean_clusters(pool.Z, k, pool.rng)
        size = np.bincount(labels, minlength=k)
        size[labels[pool.labeled]] = 0
        largest = np.argsort(-size, kind="stable")[: np.count_nonzero(size)]
        return complete(pool, nearest_members(labels, distance, k)[largest], budget)
