"""Spherical k-means on all rows of a pool: k-means|| for the start (Bahmani et al. 2012), then Lloyd's iterations.

A pass gives sums of unit rows, added up in a tree on the workers, so that only k centres travel. From given or random
centres the iterations are those of `mheal.SphericalKMeans`, and so are the results, but for the order of sums.
"""

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
from distributed import Future
from sklearn.utils import check_random_state

from ...cluster.lloyd import Lloyd
from ...cluster.spherical import SphericalKMeans
from ..cpu.points import Points
from .partitions import Metric, Partitions, Rows, task

ROUNDS = 5  # of k-means||,
OVERSAMPLING = 2  # each of which draws this many candidates for a centre
BRANCH = 8  # sums that one task adds up
WORST = 16  # rows looked at for each empty cluster, since some may be equal


class Sums(NamedTuple):
    """Of the rows of a partition: the sum of unit rows and their number by centre, and Σ(1 − cos)."""

    sums: npt.NDArray[np.float64]
    mass: npt.NDArray[np.float64]
    inertia: float

    def __add__(self, other: "Sums") -> "Sums":  # type: ignore[override]
        return Sums(self.sums + other.sums, self.mass + other.mass, self.inertia + other.inertia)


def fit(pool: Partitions, metric: Metric, kmeans: SphericalKMeans) -> npt.NDArray[Any]:
    """Unit centres: the best of the runs that the estimator asks for."""
    rng = check_random_state(kmeans.random_state)
    lengths = pool.each(_lengths, shared=[metric])
    nowhere = np.concatenate(pool.gather(pool.run(_nowhere, zip(lengths, pool.first.tolist(), strict=False))))
    fitting = _Fitting(pool, metric, lengths, nowhere)
    runs = [fitting.run(fitting.seed(kmeans, rng), kmeans) for _ in range(kmeans._runs())]
    return min(runs, key=lambda run: run[1])[0]


class _Fitting:
    """What all runs share: the rows' lengths, and the rows that have no direction."""

    def __init__(self, pool: Partitions, metric: Metric, lengths: list[Future], nowhere: Rows) -> None:
        self.pool, self.metric, self.lengths, self.nowhere = pool, metric, lengths, nowhere

    def seed(self, kmeans: SphericalKMeans, rng: np.random.RandomState) -> npt.NDArray[Any]:
        """Centres to start from."""
        n, d = self.pool.shape
        k = kmeans.n_clusters
        few = Points.raw(np.eye(1, d, dtype=self.pool.dtype))
        if not isinstance(kmeans.init, str) or len(self.nowhere) == n or kmeans.init not in ("k-means++", "random"):
            return kmeans._seed(few, None, rng)  # given centres, no directions at all, or the error
        usable = np.arange(n) if len(self.nowhere) == 0 else np.setdiff1d(np.arange(n), self.nowhere)
        if kmeans.init == "random" or len(usable) <= k:
            return self._directions(rng.choice(np.resize(usable, max(len(usable), k)), k, replace=False))
        candidates = self._directions(rng.choice(usable, 1))
        for _ in range(ROUNDS):
            drawn = self._gathered(_draw, candidates, OVERSAMPLING * k, int(rng.randint(2**31)))
            keys, rows, U = (np.concatenate(column) for column in zip(*drawn, strict=True))
            best = np.argsort(-keys, kind="stable")[: OVERSAMPLING * k]
            candidates = np.concatenate([candidates, U[best[np.argsort(rows[best])]]])
        weight = self._sums(candidates).mass
        start = SphericalKMeans(k, max_iter=kmeans.max_iter, tol=kmeans.tol, random_state=rng)
        return start._fit(Points.raw(candidates), weight).cluster_centers_

    def run(self, centers: npt.NDArray[Any], kmeans: SphericalKMeans) -> tuple[npt.NDArray[Any], float]:
        """Lloyd's iterations, as cluster/lloyd.py has them; the centres, and Σ(1 − cos)."""
        C, enough = centers.astype(self.pool.dtype), 0.0
        for iteration in range(kmeans.max_iter):
            found = self._sums(C)
            if iteration == 0 and found.mass.sum() > 0:
                mean = found.sums.sum(axis=0) / found.mass.sum()
                enough = kmeans.tol * max(0.0, 1.0 - float(mean @ mean)) / len(mean)
            new = self._updated(C, found)
            moved = np.linalg.norm(new.astype(np.float64) - C, axis=1)
            C = new
            if moved @ moved <= enough:
                break
        return C, self._sums(C).inertia

    def _updated(self, C: npt.NDArray[Any], found: Sums) -> npt.NDArray[Any]:
        """c = normalise(Σ x̂); empty clusters move to the worst served rows."""
        length = np.linalg.norm(found.sums, axis=1)
        alive = length > 1e-9 * length.max()
        new = C.astype(np.float64)
        new[alive] = found.sums[alive] / length[alive, None]
        empty = np.flatnonzero(found.mass < 1e-9 * found.mass.max())
        if len(empty) and len(self.nowhere) < self.pool.shape[0]:
            worst = self._gathered(_worst, C, WORST * len(empty))
            chord, _, U = (np.concatenate(column) for column in zip(*worst, strict=True))
            U = U[np.argsort(-chord, kind="stable")[: WORST * len(empty)]]
            _, first_seen = np.unique(U, axis=0, return_index=True)
            new[empty] = np.resize(U[np.sort(first_seen)[: len(empty)]], (len(empty), C.shape[1]))
        return new.astype(C.dtype)

    def _directions(self, rows: Rows) -> npt.NDArray[Any]:
        return Points.raw(self.pool.take(rows, self.metric)).directions(np.arange(len(rows)))

    def _gathered(self, work: Any, C: npt.NDArray[Any], *more: Any) -> list[Any]:
        return self.pool.gather(self._pass(work, C, *more))

    def _pass(self, work: Any, C: npt.NDArray[Any], *more: Any) -> list[Future]:
        return self.pool.each(work, self.lengths, shared=[self.metric, self.pool.share(C), *more])

    def _sums(self, C: npt.NDArray[Any]) -> Sums:
        level = self._pass(_sum, C)
        while len(level) > 1:
            level = self.pool.run(_added, [(level[i : i + BRANCH],) for i in range(0, len(level), BRANCH)])
        return self.pool.gather(level)[0]


def _lloyd(X: npt.NDArray[Any], norms: npt.NDArray[Any], metric: Metric, C: npt.NDArray[Any]) -> Lloyd:
    """One exact assignment of a partition's rows: `upper` holds the chord to each row's centre."""
    lloyd = Lloyd(metric.points(X, norms), C, coded=False)
    lloyd.assign(exact=True)
    return lloyd


@task
def _lengths(X: npt.NDArray[Any], first: int, metric: Metric) -> npt.NDArray[Any]:
    return metric.points(X).norms()


def _nowhere(norms: npt.NDArray[Any], first: int) -> Rows:
    return first + np.flatnonzero(norms == 0)


@task
def _sum(X: npt.NDArray[Any], first: int, norms: npt.NDArray[Any], metric: Metric, C: npt.NDArray[Any]) -> Sums:
    lloyd = _lloyd(X, norms, metric, C)
    square = np.where(norms > 0, lloyd.upper, 0).astype(np.float64) ** 2
    return Sums(lloyd.sums, lloyd.mass, float(square.sum()) / 2)  # 1 − cos is half the squared chord


def _added(parts: list[Sums]) -> Sums:
    total = parts[0]
    for part in parts[1:]:
        total = total + part
    return total


@task
def _draw(
    X: npt.NDArray[Any], first: int, norms: npt.NDArray[Any], metric: Metric, C: npt.NDArray[Any], n: int, seed: int
) -> tuple[npt.NDArray[Any], Rows, npt.NDArray[Any]]:
    """n rows drawn by their squared chord to the nearest candidate: those of the largest keys log(u)/chord².

    The n largest of all partitions are then a sample of the pool (Efraimidis and Spirakis 2006). Row i has the i-th
    number of the stream, so that the sample does not depend on how the pool is cut.
    """
    lloyd = _lloyd(X, norms, metric, C)
    stream = np.random.Philox(seed).advance(first // 4)  # which makes four numbers at a time
    u = np.random.Generator(stream).random(first % 4 + len(X))[first % 4 :]
    square = np.where(norms > 0, lloyd.upper, 0).astype(np.float64) ** 2
    far = np.flatnonzero(square > 1e-6)
    keys = np.log1p(-u[far]) / square[far]
    best = np.sort(np.argsort(-keys, kind="stable")[:n])
    return keys[best], first + far[best], lloyd.points.directions(far[best])


@task
def _worst(
    X: npt.NDArray[Any], first: int, norms: npt.NDArray[Any], metric: Metric, C: npt.NDArray[Any], n: int
) -> tuple[npt.NDArray[Any], Rows, npt.NDArray[Any]]:
    """The n rows farthest from their centres."""
    lloyd = _lloyd(X, norms, metric, C)
    usable = np.flatnonzero(norms > 0)
    worst = np.sort(usable[np.argsort(-lloyd.upper[usable], kind="stable")[:n]])
    return lloyd.upper[worst], first + worst, lloyd.points.directions(worst)
