"""Spherical clusters of a pool on a cluster of machines: fitted on a sample or on all rows, then every row assigned."""

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
from distributed import Future

from ...cluster.lloyd import Lloyd
from ...cluster.sampled import _nearest_to_origin
from ...cluster.spherical import SphericalKMeans
from ..cpu.points import Points
from .kmeans import fit
from .partitions import Metric, Partitions, Rows, task

FIRST_MEMBERS = 1000  # of a cluster, whose mean says how near to the origin it is


class Assigned(NamedTuple):
    """What a worker keeps of a partition: each row's cluster and length, and how many rows each cluster has."""

    labels: npt.NDArray[np.int32]
    norms: npt.NDArray[Any]
    counts: npt.NDArray[np.int64]


class Clusters:
    """Unit centres, and where the rows of each cluster are."""

    def __init__(self, pool: Partitions, centers: npt.NDArray[Any], assigned: list[Future]) -> None:
        self.pool, self.centers, self.assigned = pool, centers, assigned
        self.counts = np.array(pool.gather(pool.run(_counts, zip(assigned, strict=True))))  # (partitions, clusters)

    @property
    def sizes(self) -> Rows:
        """How many rows each cluster has."""
        return self.counts.sum(axis=0)

    def labels_of(self, rows: Rows) -> npt.NDArray[np.int32]:
        """The clusters of these rows."""
        out = np.empty(len(rows), np.int32)
        wanted = self.pool.by_partition(rows)
        found = self.pool.gather(self.pool.run(_labels, [(self.assigned[p], own) for p, _, own in wanted]))
        for (_, places, _), labels in zip(wanted, found, strict=True):
            out[places] = labels
        return out

    def members(self, ordinals: dict[int, Rows], metric: Metric) -> list[Future]:
        """For each partition that holds any, the rows that are these members (from 0, ascending) of these clusters.

        Each gives a list of (cluster, rows, points).
        """
        wanted: dict[int, list[tuple[int, Rows]]] = {}
        for c, which in ordinals.items():
            ends = np.cumsum(self.counts[:, c])
            where = np.searchsorted(ends, which, side="right")
            for p in np.unique(where):
                before = ends[p] - self.counts[p, c]
                wanted.setdefault(int(p), []).append((c, which[where == p] - before))
        pool = self.pool
        tasks = [(pool.parts[p], int(pool.first[p]), self.assigned[p], own) for p, own in sorted(wanted.items())]
        return list(pool.run(_members, tasks, [metric]))


def find_clusters(
    pool: Partitions, metric: Metric, kmeans: SphericalKMeans, sample: int | None, rng: np.random.RandomState
) -> Clusters:
    """Clusters as in memory: from the same sample of rows, so with the same centres. A sample of None fits on all."""
    n, k = pool.shape[0], kmeans.n_clusters
    if sample is None:
        centers = fit(pool, metric, kmeans)
    else:
        size = max(sample, k)
        rows = np.arange(n) if n <= size else np.sort(rng.choice(n, size, replace=False))
        centers = kmeans._fit(Points.raw(pool.take(rows, metric))).cluster_centers_
    clusters = Clusters(pool, centers, pool.each(_assign, shared=[metric, pool.share(centers)]))
    if clusters.sizes.sum() == n:
        return clusters
    ordinals = {c: np.arange(min(size, FIRST_MEMBERS)) for c, size in enumerate(clusters.sizes)}
    found = [piece for pieces in pool.gather(clusters.members(ordinals, metric)) for piece in pieces]
    if found:
        labels = np.concatenate([np.full(len(rows), c, np.int32) for c, rows, _ in found])
        home = _nearest_to_origin(Points.raw(np.concatenate([G for _, _, G in found])), labels, k)
    else:
        home = 0
    return Clusters(pool, centers, pool.run(_send_home, zip(clusters.assigned, strict=True), [home]))


@task
def _assign(X: npt.NDArray[Any], first: int, metric: Metric, centers: npt.NDArray[Any]) -> Assigned:
    """The nearest centre of each row; rows without a direction have none as yet."""
    points = metric.points(X)
    lloyd = Lloyd(points, centers, coded=False)
    lloyd.assign()
    norms = points.norms()
    labels = np.where(norms > 0, lloyd.labels, -1).astype(np.int32)
    return Assigned(labels, norms, np.bincount(labels[labels >= 0], minlength=len(centers)))


def _send_home(assigned: Assigned, home: int) -> Assigned:
    """Rows without a direction belong to this cluster."""
    labels = np.where(assigned.labels < 0, np.int32(home), assigned.labels)
    return Assigned(labels, assigned.norms, np.bincount(labels, minlength=len(assigned.counts)))


def _counts(assigned: Assigned) -> npt.NDArray[np.int64]:
    return assigned.counts


def _labels(assigned: Assigned, rows: Rows) -> npt.NDArray[np.int32]:
    return assigned.labels[rows]


@task
def _members(
    X: npt.NDArray[Any], first: int, assigned: Assigned, wanted: list[tuple[int, Rows]], metric: Metric
) -> list[tuple[int, Rows, npt.NDArray[Any]]]:
    found = []
    for c, ordinals in wanted:
        rows = np.flatnonzero(assigned.labels == c)[ordinals]
        found.append((c, first + rows, metric.points(X[rows]).array()))
    return found
