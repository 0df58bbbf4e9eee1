"""PaperMHEAL: Algorithm 2 of the paper."""

from dataclasses import KW_ONLY
from typing import Annotated, Any, Literal

import numpy as np
import numpy.typing as npt

from .algorithms.within_clusters import spread_within_clusters
from .backends import open_rows
from .cluster import SphericalKMeans
from .cluster.sampled import sampled_clusters
from .exceptions import UserError
from .parameters import Count, NotNegative
from .scaling import Scaling
from .selection import Selection
from .strategy import Pool, Strategy

MANY, RUNS_OF_MANY = 20, 3  # with more than 20 clusters, k-means has 3 runs


class PaperMHEAL(Strategy):
    """Algorithm 2 of the paper: farthest-first inside each spherical cluster, the same number of rows from each.

    Rows are clustered on the sphere. In each cluster, rotation around the centre gives `n_starts` candidates for the
    first pick (Eq. 10–11), and the farthest-first sequence with the largest product of chords is kept (Eq. 12). Picks
    in one cluster do not depend on those in others. When it picks several rows of a cluster, it picks outliers first;
    for that reason `MHEAL` is the default.

    Details that the paper leaves open, or that cannot be taken literally, are chosen as follows:

    - Columns are standardised before rows are projected to the sphere (`scaling`).
    - There are as many clusters as labels (`n_clusters`). The paper gives no number; its clustering network has 10. On
      MNIST the picks are worse than random ones with 10 clusters, and better with as many clusters as labels. Each
      cluster then gives one row, so the energy has no effect. With fewer clusters, random rows of each cluster are as
      good or better, except for features of a network trained on the labels so far.
    - k-means starts from random rows and runs for at most 60 iterations. The best of ten runs is kept, or of three runs
      with more than 20 clusters.
    - The first candidate is a random row of the cluster. Candidates do not repeat, unlike those of the printed
      recursion, which alternates between two rows. Their number m is 10 (`n_starts`).
    - The sequences that rank the candidates are as long as the cluster's share of n (`start_length`).
    - Labelled rows count towards their cluster's share. In a cluster that has any, picking continues from these rows,
      without candidates and Eq. 12.
    - Every cluster gives the same number of rows, and the largest ones the remainder. Picks of the clusters alternate.

    n_clusters : number of spherical clusters; "labels": as many as labelled rows and picks together
    n_starts : candidates for the first pick of a cluster
    start_length : length of the sequences that rank the candidates. "balanced", as in the paper, is the cluster's share
        of n: picks for a small budget are then not the first picks of a larger one.
    direction : how directions from the centre are measured: along the great circle ("tangent") or a line ("chord")
    scaling : as in `mheal.select`; the paper uses "unit"
    init : initial centres (n_clusters, n_features), which set the number of clusters, or a method, "random" or
        "k-means++"; the paper uses "random"
    max_iter, tol : see SphericalKMeans
    device : a torch device such as "cuda"
    random_state : as in `MHEAL`
    """

    n_clusters: Count | Literal["labels"] = "labels"
    _: KW_ONLY
    n_starts: Count = 10
    start_length: Count | Literal["balanced"] = "balanced"
    direction: Literal["tangent", "chord"] = "tangent"
    scaling: Scaling = "unit"
    init: Literal["random", "k-means++"] | Annotated[npt.ArrayLike, "array-like"] = "random"
    max_iter: Count = 60
    tol: NotNegative = 1e-4
    device: str | None = None
    random_state: Any = None

    name, title = "mheal-paper", "MHEAL (paper)"
    summary = "The published algorithm: farthest-first inside spherical clusters, by default one for each label"
    cost = "time N·clusters·d for the clusters, n_starts·N·budget·d / clusters; memory N"
    kind = "one-shot"  # candidates are ranked by sequences whose length depends on n
    backends = frozenset({"cpu", "torch", "dask"})
    resumable = limits_memory = True

    def _pick(self, pool: Pool, n: int) -> Selection:
        rng, run, X = pool.random_state, pool.checkpoint, pool.X
        k = self._number_of_clusters(n + len(pool.labeled))
        if k > len(X):
            raise UserError(f"n_clusters is {k}, but X has only {len(X)} rows: use at most {len(X)}")
        if run.on_disk:
            run.begin(self._described(pool, n))
        kmeans = SphericalKMeans(
            k, init=self.init, n_init="auto" if k <= MANY else RUNS_OF_MANY, max_iter=self.max_iter, tol=self.tol,
            random_state=rng.randint(2**31),
        )  # fmt: skip
        with open_rows(X, pool.scaling, device=self.device, checkpoint=run) as store:
            clusters, centers = sampled_clusters(store, kmeans, None, rng, run)
            rows = store.unit() if pool.scaling == "unit" else store
            rows.forget_norms()  # what follows needs the memory
            picks = spread_within_clusters(
                rows, n, pool.labeled, clusters, centers, balance_clusters=True, n_starts=self.n_starts,
                start_length=self.start_length, direction=self.direction, rng=rng, checkpoint=run,
            )  # fmt: skip
        where = clusters[picks.rows]
        gains = picks.gain.tolist()
        reasons = [
            f"Farthest from the picks of its cluster {c} (distance {gain:.3g})." if np.isfinite(gain)
            else f"First pick of cluster {c}." for c, gain in zip(where.tolist(), gains, strict=True)
        ]  # fmt: skip
        return Selection(picks.rows, where, picks.gain, picks.radius, reasons)

    def _number_of_clusters(self, labels: int) -> int:
        if self.n_clusters != "labels":
            return self.n_clusters
        return labels if isinstance(self.init, str) else len(np.asarray(self.init))
