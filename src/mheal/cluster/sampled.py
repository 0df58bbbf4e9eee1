"""Clusters of a large pool at the price of a small one: fitted on a sample, then every row is assigned once.

A sample also saves a pool on disk most of its passes. Without one, every iteration reads the file once, less what the
bounds skip; starts and results are then those of the pool in memory.
"""

import numpy as np

from ..backends.base import Arrays, Floats, Labels, RowStore
from ..runtime.checkpoint import NullCheckpoint
from .spherical import SphericalKMeans

SAMPLE = 16384


def auto_clusters(n: int) -> int:
    """The default number of clusters for n rows: at most 32, each of about a hundred rows at least."""
    return max(1, min(32, n // 100))


def sampled_clusters(
    rows: RowStore, kmeans: SphericalKMeans, sample: int | None, rng: np.random.RandomState
) -> tuple[Labels, Floats]:
    """A label for each row, and the unit centres, fitted on at most `sample` rows (None: on all)."""
    n = rows.shape[0]
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
    return labels, centers


def clustered(
    rows: RowStore, kmeans: SphericalKMeans, sample: int | None, scaling: str, rng: np.random.RandomState,
    checkpoint: NullCheckpoint,
) -> tuple[RowStore, Labels, Floats]:  # fmt: skip
    """The rows that distances are measured between, a spherical cluster for each (Eq. 9), and the unit centres.

    Rows are clustered as a stage of the checkpoint, and after it projected to the sphere if `scaling` is "unit".
    """

    def cluster() -> Arrays:
        return dict(zip(("labels", "centers"), sampled_clusters(rows, kmeans, sample, rng), strict=True))

    labels, centers = checkpoint.stage("clusters", cluster, rng).values()
    if scaling == "unit":
        rows = rows.unit()
    rows.forget_norms()  # what follows needs the memory
    return rows, labels, centers


def _nearest_to_origin(rows: RowStore, labels: Labels, k: int) -> int:
    """The cluster whose mean is nearest to 0: where rows go that have no direction."""
    members = (np.flatnonzero(labels == c)[:1000] for c in range(k))
    lengths = [float(np.linalg.norm(rows.take(m).mean(axis=0))) if len(m) else np.inf for m in members]
    return int(np.argmin(lengths))
