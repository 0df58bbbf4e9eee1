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

LARGE = 20_000  # pools with more rows are clustered by mini-batch k-means
BATCH = 5000  # rows in a mini-batch
RESTARTED = 100_000  # up to this product of rows and clusters, k-means has ten starts, which are cheap
STARTED_ONCE = 10**9  # from this product on, mini-batch k-means has one start instead of three
REFERENCES = 4096  # at most this many members of a cluster, evenly spaced, are possible neighbours


class KMeans(Strategy):
    """The row nearest the centre of each Euclidean k-means cluster, largest cluster first.

    There are as many clusters as labelled rows and picks together, and clusters with a labelled row are skipped. If
    duplicates leave clusters empty, the rows farthest from all labelled and picked rows follow.
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

    Typicality is the inverse of the mean distance to the nearest neighbours within the cluster. Each round takes one
    row of every cluster. Clusters with the fewest labelled rows come first, and the largest of these.

    max_clusters : largest number of clusters. There are as many clusters as labelled rows and picks together, up to
        this number.
    n_neighbors : number of neighbours by which typicality is measured
    min_cluster_size : rows of smaller clusters are picked only when all other clusters are exhausted
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
    """Mean distance from each row to its nearest neighbours in its cluster, the inverse of its typicality."""
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
    """The k-means cluster of each row of Z, and its squared distance to the centre. Clusters may be empty."""
    from sklearn import cluster
    from sklearn.exceptions import ConvergenceWarning

    seed = int(rng.integers(2**31))
    if len(Z) <= large:
        kmeans = cluster.KMeans(k, n_init=10 if len(Z) * k <= RESTARTED else 1, random_state=seed)
    else:
        starts = 3 if len(Z) * k < started_once else 1
        kmeans = cluster.MiniBatchKMeans(k, batch_size=BATCH, n_init=starts, random_state=seed)
    with threadpool_limits(1, "openmp"), warnings.catch_warnings():  # threads would sum in a varying order
        warnings.simplefilter("ignore", ConvergenceWarning)  # if there are fewer distinct rows than clusters
        labels = kmeans.fit_predict(Z)
    centers = kmeans.cluster_centers_
    return labels, np.square(Z - centers[labels]).sum(axis=1)


def in_turn(pool: Pool, rows: Rows, labels: Array, score: Array) -> Rows:
    """These rows in rounds of one row from each cluster; within a cluster, rows with smaller scores come first.

    In each round, clusters with the fewest labelled rows come first, and the largest of these.
    """
    size = np.bincount(labels)
    labeled = np.bincount(labels[pool.labeled], minlength=len(size))
    rows = rows[np.lexsort((rows, score[rows], labels[rows]))]
    own = labels[rows]
    return rows[np.lexsort((-size[own], labeled[own], ranks(own)))]


class KMedoids(Strategy):
    """Medoids: rows that minimise the sum of distances from every row to the nearest of them, largest cluster first.

    Medoids are swapped eagerly from a random start (FasterPAM, Schubert and Rousseeuw 2021). Labelled rows are fixed
    medoids. Large pools are solved by CLARA (Kaufman and Rousseeuw 1990): of `n_solutions` solutions on samples, the
    one with the smallest sum over the whole pool is taken.

    max_rows : larger pools are solved by CLARA
    sample_size, n_solutions : size (larger for large batches) and number of CLARA's samples
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
        """At most `n` unlabelled rows among `rows` that are good medoids of `rows`."""
        A = pool.Z[rows].astype(np.float32)  # halves the memory of the distance matrix
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
    """A set of medoids, and the nearest and second nearest medoid of each row.

    `fixed` is each row's distance to the nearest medoid that cannot be swapped (infinite if there is none). Together
    these medoids have the last number.
    """

    def __init__(self, distance: Array, medoids: Rows, fixed: Array) -> None:
        self.distance, self.medoids = distance, medoids.copy()
        # "None" is a number above all distances: it cancels in every comparison of swaps.
        self.fixed = np.where(np.isfinite(fixed), fixed, 2 * distance.max() + 1)
        n = len(distance)
        self.nearest = np.empty(n, np.int64)
        self.near, self.second = np.empty(n, distance.dtype), np.empty(n, distance.dtype)
        self._assign(np.arange(n))

    def cost(self) -> float:
        """Sum of the distances to the nearest medoid."""
        return float(self.near.sum(dtype=np.float64))

    def improve(self, candidates: Rows) -> None:
        """Make each swap that lowers the cost as soon as it is found, until a pass over all candidates finds none."""
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
        """The change of the cost in the candidate's best swap, and the medoid that it replaces."""
        to = self.distance[candidate]
        rows = np.flatnonzero(to < self.second)  # no other row would switch to the candidate
        d, near, second = to[rows], self.near[rows], self.second[rows]
        more = np.maximum(d, near) - second
        change = self.loss + np.bincount(self.nearest[rows], more, minlength=len(self.medoids) + 1)
        out = int(change[:-1].argmin())
        return float(change[out] + np.minimum(d - near, 0).sum(dtype=np.float64)), out

    def _assign(self, rows: Rows) -> None:
        """Update the two nearest medoids of these rows."""
        to = np.vstack([self.distance[np.ix_(self.medoids, rows)], self.fixed[rows]])
        columns = np.arange(len(rows))
        self.nearest[rows] = first = to.argmin(axis=0)
        self.near[rows] = to[first, columns]
        to[first, columns] = np.inf
        self.second[rows] = to.min(axis=0)
        # The increase of the cost if a medoid were removed
        self.loss = np.bincount(self.nearest, self.second - self.near, minlength=len(self.medoids) + 1)
