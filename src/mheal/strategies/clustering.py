"""One pick from each cluster: K-means, TypiClust and K-medoids."""

import warnings
from itertools import cycle

import numpy as np
from threadpoolctl import threadpool_limits

from ..backends.cpu.distances import squared_distances
from ..backends.cpu.points import Points
from ..parameters import Count
from ..strategy import Array, Pool, Rows, Strategy
from .common import fill_with_farthest, nearest_distance, ranks, sample

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
        free = np.flatnonzero(~np.isin(labels, labels[pool.labeled]))
        return fill_with_farthest(pool, in_turn(pool, free, labels, distance)[: len(np.unique(labels[free]))], n)


class TypiClust(Strategy):
    """The most typical unlabelled row of each cluster (Hacohen, Dekel and Weinshall 2022).

    Typicality is the inverse of the mean distance to the nearest neighbours within the cluster. Clusters with the
    fewest labelled rows come first, among them the largest, and are visited in turn.

    max_clusters : the pool is cut into as many clusters as there are labelled rows and picks together, but no more than
        this
    n_neighbors : neighbours that typicality is measured with
    min_cluster_size : smaller clusters wait until all others are exhausted
    """

    name, title = "typiclust", "TypiClust"
    summary = "The most typical row of each cluster: for the very first labels; never an outlier"
    cost = "time N·budget·d·iterations + N²·d / clusters, memory N·d"
    quadratic = True
    kind = "one-shot"

    max_clusters: Count = 500
    n_neighbors: Count = 20
    min_cluster_size: Count = 6

    def _pick(self, pool: Pool, n: int) -> Rows:
        k = min(len(pool.labeled) + n, self.max_clusters)
        labels, _ = euclidean_clusters(pool.Z, k, pool.rng)
        spacing = spacing_within(pool.Z, labels, k, self.n_neighbors)
        free = pool.unlabeled
        free = free[np.bincount(labels)[labels[free]] >= self.min_cluster_size]
        return fill_with_farthest(pool, in_turn(pool, free, labels, spacing), n)


def spacing_within(Z: Array, labels: Array, k: int, n_neighbors: int) -> Array:
    """Mean distance from each row to its nearest neighbours in its own cluster: the inverse of its typicality."""
    references, nearest = [], []
    for c in range(k):
        members = np.flatnonzero(labels == c)
        references.append(members[:: max(1, -(-len(members) // REFERENCES))])
        share = len(references[c]) / max(1, len(members))
        nearest.append(max(1, round(min(n_neighbors, len(members) // 2) * share)))
    return Points.raw(Z).spacing(labels, references, nearest)


def euclidean_clusters(
    Z: Array, k: int, rng: np.random.Generator, large: int = LARGE, started_once: int = STARTED_ONCE
) -> tuple[Array, Array]:
    """A cluster for each row of Z, the same everywhere, and its squared distance to the centre. Some can be empty."""
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


def in_turn(pool: Pool, rows: Rows, labels: Array, score: Array) -> Rows:
    """These rows, one from each cluster in turn, the smallest score of a cluster first.

    Clusters with the fewest labelled rows come first, among them the largest.
    """
    size = np.bincount(labels)
    labeled = np.bincount(labels[pool.labeled], minlength=len(size))
    rows = rows[np.lexsort((rows, score[rows], labels[rows]))]
    own = labels[rows]
    return rows[np.lexsort((-size[own], labeled[own], ranks(own)))]


class KMedoids(Strategy):
    """Rows with the smallest sum of distances from every row to the nearest of them, largest cluster first.

    Medoids are swapped eagerly from a random start (FasterPAM, Schubert and Rousseeuw 2021); rows that are labelled
    already are medoids that stay. A large pool is solved by CLARA (Kaufman and Rousseeuw 1990): the best of
    `n_solutions` solutions on samples, by their cost over the whole pool.

    max_rows : pools with more rows are solved by CLARA
    sample_size, n_solutions : rows of each of CLARA's samples (more for large batches), and how many samples there are
    """

    name, title = "kmedoids", "K-medoids"
    summary = "Rows with the smallest summed distance to all others: like k-means, but less sensitive to outliers"
    cost = "time N²·(d + rounds), memory N² up to 10,000 rows; samples beyond"
    quadratic = True
    kind = "one-shot"

    max_rows: Count = 10_000
    sample_size: Count = 4000
    n_solutions: Count = 5

    def _pick(self, pool: Pool, n: int) -> Rows:
        Z, everything = pool.Z, np.arange(len(pool.Z))
        to_labeled = nearest_distance(Z, Z[pool.labeled]) if len(pool.labeled) else np.full(len(Z), np.inf, Z.dtype)
        if len(Z) <= self.max_rows:
            return fill_with_farthest(pool, self._medoids(pool, everything, to_labeled, n), n)
        size = min(self.max_rows, max(self.sample_size, 40 + 2 * n))
        samples = [sample(pool.unlabeled, size, pool.rng) for _ in range(self.n_solutions)]
        solutions = [self._medoids(pool, rows, to_labeled[rows], n) for rows in samples]

        def cost(medoids: Rows) -> float:
            return float(np.minimum(nearest_distance(Z, Z[medoids]), to_labeled).sum(dtype=np.float64))

        return fill_with_farthest(pool, min(solutions, key=cost), n)

    def _medoids(self, pool: Pool, rows: Rows, to_labeled: Array, n: int) -> Rows:
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


class Medoids:
    """A set of medoids, and for each row its nearest and second nearest.

    `fixed` is each row's distance to the medoids that stay (infinite if there are none). These count as one more
    medoid, the last.
    """

    def __init__(self, distance: Array, medoids: Rows, fixed: Array) -> None:
        self.distance, self.medoids = distance, medoids.copy()
        # Any number above all distances represents "none": it cancels out of every comparison of swaps.
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
        for candidate in cycle(candidates):
            since += 1
            change, out = self.best_swap(candidate)
            if change < -tolerance and candidate not in self.medoids:
                leaving, to = self.distance[self.medoids[out]], self.distance[candidate]
                self.medoids[out], since = candidate, 0
                self._assign(np.flatnonzero((self.nearest == out) | (leaving <= self.second) | (to < self.second)))
            if since >= len(candidates):
                return

    def best_swap(self, candidate: int) -> tuple[float, int]:
        """The best medoid for the candidate to replace, after the change of the cost that this brings."""
        to = self.distance[candidate]
        rows = np.flatnonzero(to < self.second)  # all others keep their medoid, whichever is replaced
        d, near, second = to[rows], self.near[rows], self.second[rows]
        more = np.maximum(d, near) - second
        change = self.loss + np.bincount(self.nearest[rows], more, minlength=len(self.medoids) + 1)
        out = int(change[:-1].argmin())
        return float(change[out] + np.minimum(d - near, 0).sum(dtype=np.float64)), out

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
