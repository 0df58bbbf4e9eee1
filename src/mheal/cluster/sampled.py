"""Clusters of a large pool: centres are fitted on a sample, then every row is assigned to its nearest centre.

So a pool on disk is not read in each iteration. Without a sample, each iteration reads all rows that the bounds of
k-means cannot skip.
"""

import numpy as np

from ..backends.base import Arrays, Floats, Labels, RowStore
from ..runtime.checkpoint import NullCheckpoint
from .spherical import SphericalKMeans

SAMPLE = 16384  # rows that MHEAL fits centres on


def auto_clusters(n: int) -> int:
    """The default number of clusters for n rows: one for every hundred rows, at most 32."""
    return max(1, min(32, n // 100))


def sampled_clusters(
    rows: RowStore, kmeans: SphericalKMeans, sample: int | None, rng: np.random.RandomState,
    checkpoint: NullCheckpoint | None = None,
) -> tuple[Labels, Floats]:  # fmt: skip
    """The spherical cluster of each row (Eq. 9) and the unit centres, stored by the checkpoint.

    sample : number of rows that the centres are fitted on (more if there are more clusters); None: all
    """
    n = rows.shape[0]

    def cluster() -> Arrays:
        if sample is None or n <= max(sample, kmeans.n_clusters):
            kmeans.fit_rows(rows)
            labels, centers = kmeans.labels_, kmeans.cluster_centers_
            labels[~rows.nonzero()] = -1
        else:
            some = np.sort(rng.choice(n, max(sample, kmeans.n_clusters), replace=False))
            centers = kmeans.fit_rows(rows.subset(some)).cluster_centers_
            labels = rows.assign(centers)
        nowhere = labels < 0
        if nowhere.any():
            labels[nowhere] = _nearest_to_origin(rows, labels, len(centers))
        return {"labels": labels, "centers": centers}

    found = (checkpoint or NullCheckpoint()).stage("clusters", cluster, rng)
    return found["labels"], found["centers"]


def _nearest_to_origin(rows: RowStore, labels: Labels, k: int) -> int:
    """The cluster whose mean, over its first 1,000 rows, is nearest to 0. Rows of length 0 join it."""
    members = (np.flatnonzero(labels == c)[:1000] for c in range(k))
    lengths = [float(np.linalg.norm(rows.take(m).mean(axis=0))) if len(m) else np.inf for m in members]
    return int(np.argmin(lengths))
