"""Clusters of a large pool at the price of a small one: fitted on a sample, then every row assigned once.

A sample is also what spares a pool on disk most of its passes. Without one every iteration reads the file once, less
what the bounds skip; starts and results are then those of the pool in memory, which no cheaper warm-up would give.
"""

from typing import Any

import numpy as np
import numpy.typing as npt

from ..backends.cpu.points import Points
from .lloyd import assign_once
from .spherical import SphericalKMeans

SAMPLE = 16384


def auto_clusters(n: int) -> int:
    """Enough clusters that neighbours are found among few points, yet a hundred points or so in each."""
    return max(1, min(32, n // 100))


def sampled_clusters(
    points: Any, kmeans: SphericalKMeans, sample: int | None, rng: np.random.RandomState
) -> tuple[npt.NDArray[np.int32], npt.NDArray[Any]]:
    """A label for each point, and the unit centres, fitted on at most `sample` points (None: on all)."""
    n = points.shape[0]
    if sample is None or n <= max(sample, kmeans.n_clusters):
        kmeans._fit(points)
        labels, centers = kmeans.labels_, kmeans.cluster_centers_
        labels[~points.nonzero()] = -1
    else:
        rows = np.sort(rng.choice(n, max(sample, kmeans.n_clusters), replace=False))
        centers = kmeans._fit(points.subset(rows)).cluster_centers_
        labels = _assign(points, centers)
    nowhere = labels < 0
    if nowhere.any():
        labels[nowhere] = _nearest_to_origin(points, labels, len(centers))
    return labels, centers


def _assign(points: Any, centers: npt.NDArray[Any]) -> npt.NDArray[np.int32]:
    if isinstance(points, Points):
        return assign_once(points, centers)
    labels: npt.NDArray[np.int32] = points.assign(centers).labels()
    labels[~points.nonzero()] = -1
    return labels


def _nearest_to_origin(points: Any, labels: npt.NDArray[np.int32], k: int) -> int:
    """The cluster whose mean is nearest to 0: where rows go that have no direction."""
    members = (np.flatnonzero(labels == c)[:1000] for c in range(k))
    lengths = [float(np.linalg.norm(points.take(m).mean(axis=0))) if len(m) else np.inf for m in members]
    return int(np.argmin(lengths))
