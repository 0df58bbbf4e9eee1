"""PaperMHEAL: Algorithm 2 of the paper, as printed."""

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


class PaperMHEAL(Strategy):
    """Algorithm 2 as printed: farthest-first inside each spherical cluster, the same number of rows from each.

    Rows are clustered on the sphere. In each cluster, rotation around the centre gives `n_starts` candidates for the
    first pick (Eq. 10–11); the farthest-first sequence with the largest product of chords is kept (Eq. 12). Picks in
    one cluster do not depend on those in others. It picks outliers first; `MHEAL` is the default for that reason.

    Where the paper gives no detail or cannot be taken literally, it is read as follows:

    - Columns are standardised before rows are projected to the sphere.
    - k-means starts from random rows, runs ten times of at most 60 iterations, and keeps the best.
    - The first candidate is a random row of the cluster. Candidates do not repeat, as the printed recursion does after
      two rows; their number, the m iterations of rotation, is 10.
    - Sequences that rank the candidates are as long as the cluster's share of n.
    - A cluster with a labelled row starts from its labelled rows, without candidates and Eq. 12.
    - The remainder of n / n_clusters goes to the largest clusters, and picks of the clusters alternate.

    n_clusters : number of spherical clusters
    n_starts : candidates for the first pick of a cluster
    start_length : length of the sequences that rank the candidates. "balanced", the paper's, is the cluster's share of
        n: picks for a small budget are then not the first picks of a larger one.
    direction : of a row from the centre: along the great circle ("tangent"), or along the straight line ("chord")
    scaling : as in `mheal.select`; "unit" is the paper's
    init : initial centres (n_clusters, n_features), or their method. "random", the paper's, keeps the best of ten runs.
    max_iter, tol : of the clustering, see SphericalKMeans
    device : a torch device such as "cuda"
    random_state : as in `MHEAL`
    """

    n_clusters: Count = 10
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
    summary = "The published algorithm, as printed: farthest-first inside spherical clusters; picks outliers first"
    cost = "time n_starts·N·budget·d / clusters, memory N"
    kind = "one-shot"  # starts are ranked by sequences whose length depends on n
    backends = frozenset({"cpu", "torch", "dask"})
    resumable = limits_memory = True

    def _pick(self, pool: Pool, n: int) -> Selection:
        rng, run, X = pool.random_state, pool.checkpoint, pool.X
        if self.n_clusters > len(X):
            raise UserError(f"n_clusters is {self.n_clusters}, but X has only {len(X)} rows: use at most {len(X)}")
        if run.on_disk:
            run.begin(self._described(pool, n))
        kmeans = SphericalKMeans(
            self.n_clusters, init=self.init, max_iter=self.max_iter, tol=self.tol, random_state=rng.randint(2**31)
        )
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
