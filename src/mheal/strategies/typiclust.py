"""TypiClust (Hacohen, Dekel and Weinshall 2022): the most typical row of each cluster."""

from typing import Any

import numpy as np
import numpy.typing as npt

from ..backends.cpu.neighbours import Task, spacing
from ..backends.cpu.points import Points
from ..runtime.threads import spans
from .base import Pool, Rows, Strategy
from .clusters import euclidean_clusters
from .coreset import complete

REFERENCES = 4096  # at most this many members of a cluster, evenly thinned, serve as neighbours
TASK = 4096  # rows of a cluster that one thread takes at a time


class TypiClust(Strategy):
    """Clusters with the fewest labelled rows first, then the largest; of each in turn the densest unlabelled row.

    The pool is cut into labelled + budget clusters, at most `max_clusters`. A row is typical when the `neighbours`
    nearest members of its own cluster are close. Clusters of at most `smallest` rows wait until the others
    are exhausted.
    """

    name, title = "typiclust", "TypiClust"
    summary = "The most typical row of each cluster: for the very first labels, never an outlier"
    cost = "time N·budget·d·iterations + N²·d / clusters, memory N·d"
    kind = "one-shot"

    def __init__(self, max_clusters: int = 500, neighbours: int = 20, smallest: int = 5) -> None:
        self.max_clusters = max_clusters
        self.neighbours = neighbours
        self.smallest = smallest

    def _pick(self, pool: Pool, budget: int) -> Rows:
        k = min(len(pool.labeled) + budget, self.max_clusters)
        labels, _ = euclidean_clusters(pool.Z, k, pool.rng)
        spread = self._spread(pool.Z, labels, k)
        size, bought = np.bincount(labels, minlength=k), np.bincount(labels[pool.labeled], minlength=k)
        turn = np.lexsort((np.arange(k), -size, bought))
        place = np.empty(k, np.int64)
        place[turn] = np.arange(k)

        free = pool.unlabeled
        free = free[size[labels[free]] > self.smallest]
        by_cluster = free[np.lexsort((free, spread[free], labels[free]))]  # members together, most typical first
        start = np.searchsorted(labels[by_cluster], np.arange(k))
        lap = np.arange(len(by_cluster)) - start[labels[by_cluster]]
        return complete(pool, by_cluster[np.lexsort((place[labels[by_cluster]], lap))][:budget], budget)

    def _spread(self, Z: npt.NDArray[Any], labels: npt.NDArray[Any], k: int) -> npt.NDArray[Any]:
        """Mean distance to the nearest members of the own cluster: the inverse of typicality."""
        tasks: list[Task] = []
        for c in range(k):
            members = np.flatnonzero(labels == c)
            references = members[:: -(-len(members) // REFERENCES)] if len(members) else members
            wanted = min(self.neighbours, len(members) // 2) * len(references) / max(1, len(members))
            tasks += [(members[lo:hi], references, max(1, round(wanted))) for lo, hi in spans(len(members), TASK)]
        out = np.empty(len(Z), Z.dtype)
        for (members, _, _), distance in zip(tasks, spacing(Points.raw(Z), tasks), strict=True):
            out[members] = distance
        return out
