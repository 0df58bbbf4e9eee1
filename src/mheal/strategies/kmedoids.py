"""K-medoids: picks that minimise the summed distance from every row to its nearest pick (FasterPAM, Schubert 2021)."""

from typing import Any

import numpy as np
import numpy.typing as npt

from .base import Pool, Rows, Strategy
from .coreset import complete
from .distances import nearest_distance, sample, squared_distances

LIMIT = 10_000  # rows whose distances to each other fit in memory
SAMPLE, SAMPLES = 4000, 5  # beyond that, CLARA: the best of five solutions on samples


class KMedoids(Strategy):
    """Medoids by eager swaps from a random start; rows labelled before are medoids that stay. Largest cluster first.

    A pool over 10,000 rows is solved by CLARA: on five samples of 4,000 rows (more for large budgets), of which the
    solution with the lowest cost over the whole pool is kept.
    """

    name, title = "kmedoids", "K-medoids"
    summary = "Rows closest, summed up, to all others: like k-means, but the centres are rows and outliers weigh less"
    cost = "time N²·(d + rounds), memory N² up to 10,000 rows; samples beyond"
    kind = "one-shot"

    def _pick(self, pool: Pool, budget: int) -> Rows:
        Z, n = pool.Z, len(pool.Z)
        to_labeled = nearest_distance(Z, Z[pool.labeled]) if len(pool.labeled) else np.full(n, np.inf, Z.dtype)
        if n <= LIMIT:
            draws = [np.arange(n)]
        else:
            size = min(LIMIT, max(SAMPLE, 40 + 2 * budget))
            draws = [sample(pool.unlabeled, size, pool.rng) for _ in range(SAMPLES)]
        solutions = [self._medoids(pool, rows, to_labeled[rows], budget) for rows in draws]
        return complete(pool, min(solutions, key=lambda s: _cost(Z, s, to_labeled) if n > LIMIT else 0.0), budget)

    def _medoids(self, pool: Pool, rows: Rows, to_labeled: npt.NDArray[Any], budget: int) -> Rows:
        """At most `budget` unlabelled rows among `rows` that are good medoids of these."""
        A = pool.Z[rows].astype(np.float32)  # the matrix of all pairs is the one large thing here
        distance = squared_distances(A, A)
        np.sqrt(distance, out=distance)
        np.fill_diagonal(distance, 0)  # exactly
        free = np.flatnonzero(~np.isin(rows, pool.labeled))
        start = pool.rng.permutation(free)[:budget]
        pam = Medoids(distance, start, to_labeled)
        pam.improve(pool.rng.permutation(free))
        size = np.bincount(pam.nearest, minlength=len(start) + 1)[:-1]
        return rows[pam.medoids[np.lexsort((pam.medoids, -size))]]


def _cost(Z: npt.NDArray[Any], medoids: Rows, to_labeled: npt.NDArray[Any]) -> float:
    return float(np.minimum(nearest_distance(Z, Z[medoids]), to_labeled).sum(dtype=np.float64))


class Medoids:
    """A set of medoids, and for each row its nearest and second nearest.

    `fixed` is each row's distance to medoids that stay (infinite: there are none); they count as one more, the last.
    """

    def __init__(self, distance: npt.NDArray[Any], medoids: Rows, fixed: npt.NDArray[Any]) -> None:
        self.distance, self.medoids = distance, medoids.copy()
        # Any number above all distances does for "none": it cancels out of every comparison of swaps.
        self.fixed = np.where(np.isfinite(fixed), fixed, 2 * distance.max() + 1)
        n = len(distance)
        self.nearest = np.empty(n, np.int64)
        self.near, self.second = np.empty(n, distance.dtype), np.empty(n, distance.dtype)
        self._assign(np.arange(n))

    def cost(self) -> float:
        """Summed distance to the nearest medoid."""
        return float(self.near.sum(dtype=np.float64))

    def improve(self, candidates: Rows) -> None:
        """Make every swap that helps as soon as it is seen, until a whole round over the candidates finds none."""
        enough = 1e-6 * self.cost()  # less than this may be rounding, and swaps could go round in circles
        since = 0
        while since < len(candidates):
            for candidate in candidates:
                since += 1
                change, out = self.best_swap(candidate)
                if change < -enough and candidate not in self.medoids:
                    self._swap(out, candidate)
                    since = 0
                if since >= len(candidates):
                    return

    def best_swap(self, candidate: int) -> tuple[float, int]:
        """How the cost changes when the candidate replaces the medoid it replaces best, and which that is."""
        to = self.distance[candidate]
        rows = np.flatnonzero(to < self.second)  # the others do not notice the candidate, whoever leaves
        d, near, second = to[rows], self.near[rows], self.second[rows]
        change = self.loss + np.bincount(
            self.nearest[rows], np.maximum(d, near) - second, minlength=len(self.medoids) + 1
        )
        out = int(change[:-1].argmin())
        return float(change[out] + np.minimum(d - near, 0).sum(dtype=np.float64)), out

    def _swap(self, out: int, candidate: int) -> None:
        leaving = self.distance[self.medoids[out]]
        self.medoids[out] = candidate
        to = self.distance[candidate]
        self._assign(np.flatnonzero((self.nearest == out) | (leaving <= self.second) | (to < self.second)))

    def _assign(self, rows: Rows) -> None:
        """Find the two nearest medoids of these rows again."""
        to = np.vstack([self.distance[np.ix_(self.medoids, rows)], self.fixed[rows]])
        columns = np.arange(len(rows))
        self.nearest[rows] = first = to.argmin(axis=0)
        self.near[rows] = to[first, columns]
        to[first, columns] = np.inf
        self.second[rows] = to.min(axis=0)
        # What each medoid's leaving would cost its rows
        self.loss = np.bincount(self.nearest, self.second - self.near, minlength=len(self.medoids) + 1)
