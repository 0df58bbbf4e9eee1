"""K-medoids by FasterPAM, and by CLARA on large pools."""

from typing import Any

import numpy as np
import numpy.typing as npt

from ..backends.cpu.distances import squared_distances
from ..parameters import COUNT
from ..strategy import Pool, Rows, Strategy
from .common import fill_with_farthest, sample
from .distances import nearest_distance


class KMedoids(Strategy):
    """Rows with the smallest sum of distances from every row to the nearest of them, largest cluster first.

    Medoids are swapped eagerly from a random start (FasterPAM, Schubert and Rousseeuw 2021); rows that are labelled
    already are medoids that stay. A large pool is solved by CLARA (Kaufman and Rousseeuw 1990): the best of
    `n_solutions` solutions on samples, by their cost over the whole pool.

    Parameters
    ----------
    max_rows : int
        Pools with more rows are solved by CLARA.
    sample_size, n_solutions : int
        Rows of each of CLARA's samples (more for large batches), and how many samples there are.
    """

    name, title = "kmedoids", "K-medoids"
    summary = "Rows with the smallest summed distance to all others: like k-means, but less sensitive to outliers"
    cost = "time N²·(d + rounds), memory N² up to 10,000 rows; samples beyond"
    kind = "one-shot"
    _parameter_constraints = {"max_rows": COUNT, "sample_size": COUNT, "n_solutions": COUNT}

    def __init__(self, max_rows: int = 10_000, sample_size: int = 4000, n_solutions: int = 5) -> None:
        self.max_rows = max_rows
        self.sample_size = sample_size
        self.n_solutions = n_solutions

    def _pick(self, pool: Pool, n: int) -> Rows:
        Z, everything = pool.Z, np.arange(len(pool.Z))
        to_labeled = nearest_distance(Z, Z[pool.labeled]) if len(pool.labeled) else np.full(len(Z), np.inf, Z.dtype)
        if len(Z) <= self.max_rows:
            return fill_with_farthest(pool, self._medoids(pool, everything, to_labeled, n), n)
        size = min(self.max_rows, max(self.sample_size, 40 + 2 * n))
        samples = [sample(pool.unlabeled, size, pool.rng) for _ in range(self.n_solutions)]
        solutions = [self._medoids(pool, rows, to_labeled[rows], n) for rows in samples]
        return fill_with_farthest(pool, min(solutions, key=lambda s: _cost(Z, s, to_labeled)), n)

    def _medoids(self, pool: Pool, rows: Rows, to_labeled: npt.NDArray[Any], n: int) -> Rows:
        """At most `n` unlabelled rows among `rows` that are good medoids of these."""
        A = pool.Z[rows].astype(np.float32)  # the matrix of all pairs is what needs memory
        distance = squared_distances(A, A)
        np.sqrt(distance, out=distance)
        np.fill_diagonal(distance, 0)  # exactly
        free = np.flatnonzero(~np.isin(rows, pool.labeled))
        start = pool.rng.permutation(free)[:n]
        pam = Medoids(distance, start, to_labeled)
        pam.improve(pool.rng.permutation(free))
        size = np.bincount(pam.nearest, minlength=len(start) + 1)[:-1]
        return rows[pam.medoids[np.lexsort((pam.medoids, -size))]]


def _cost(Z: npt.NDArray[Any], medoids: Rows, to_labeled: npt.NDArray[Any]) -> float:
    return float(np.minimum(nearest_distance(Z, Z[medoids]), to_labeled).sum(dtype=np.float64))


class Medoids:
    """A set of medoids, and for each row its nearest and second nearest.

    `fixed` is each row's distance to the medoids that stay (infinite if there are none). These count as one more
    medoid, the last.
    """

    def __init__(self, distance: npt.NDArray[Any], medoids: Rows, fixed: npt.NDArray[Any]) -> None:
        self.distance, self.medoids = distance, medoids.copy()
        # Any number above all distances stands for "none": it cancels out of every comparison of swaps.
        self.fixed = np.where(np.isfinite(fixed), fixed, 2 * distance.max() + 1)
        n = len(distance)
        self.nearest = np.empty(n, np.int64)
        self.near, self.second = np.empty(n, distance.dtype), np.empty(n, distance.dtype)
        self._assign(np.arange(n))

    def cost(self) -> float:
        """Summed distance to the nearest medoid."""
        return float(self.near.sum(dtype=np.float64))

    def improve(self, candidates: Rows) -> None:
        """Make every swap that lowers the cost as soon as it is found, until a round over all candidates finds none."""
        tolerance = 1e-6 * self.cost()  # a smaller change may be rounding, and swaps could go round in circles
        since = 0
        while since < len(candidates):
            for candidate in candidates:
                since += 1
                change, out = self.best_swap(candidate)
                if change < -tolerance and candidate not in self.medoids:
                    self._swap(out, candidate)
                    since = 0
                if since >= len(candidates):
                    return

    def best_swap(self, candidate: int) -> tuple[float, int]:
        """The best medoid for the candidate to replace, after the change of the cost that this brings."""
        to = self.distance[candidate]
        rows = np.flatnonzero(to < self.second)  # all others keep their medoid, whichever is replaced
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
        # What the removal of each medoid would cost its rows
        self.loss = np.bincount(self.nearest, self.second - self.near, minlength=len(self.medoids) + 1)
