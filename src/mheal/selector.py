"""MHEAL: representative rows first, then rows far from all others, weighted by density and by uncertainty."""

from dataclasses import KW_ONLY, replace
from numbers import Integral, Real
from typing import Annotated, Any, Literal

import numpy as np
import numpy.typing as npt
from sklearn.utils._param_validation import Interval

from .algorithms.density import (
    DENSITY_POWER,
    OUTLIER_FRACTION,
    DensityWeights,
    density_energy,
    density_weights,
    local_spacing,
)
from .algorithms.facility_location import representatives
from .algorithms.farthest_first import Ranking, spread
from .algorithms.within_clusters import spread_balanced, spread_within_clusters
from .backends import open_rows
from .backends.base import RowStore
from .cluster import SphericalKMeans
from .cluster.sampled import SAMPLE, auto_clusters, sampled_clusters
from .duplicates import Distinct, distinct
from .exceptions import UserError
from .parameters import Count, Positive, check_parameters
from .runtime.checkpoint import NullCheckpoint, digest
from .scaling import Scaling
from .selection import Selection
from .strategy import Pool, Rows, Strategy
from .uncertainty import MIN_LABELS, Scores, uncertainty
from .validation import as_array, as_labeled

REPRESENTATIVES = 256  # labels that represent the pool before the others spread over it


class MHEAL(Strategy):
    """Minimum hyperspherical energy active learning: the default of `mheal.select`.

    The first picks represent the pool: each adds most to the summed similarity of all rows to their nearest pick
    (facility location). Two rows are similar if each is among the nearest rows of the other. From `n_representatives`
    labels on, each pick is the row farthest from everything that is picked or labelled, where distance is relative to
    the local spacing, so that picks follow the density of the pool. With labels or a model, both steps prefer rows that
    the model is uncertain about. `PaperMHEAL` is the published algorithm.

    n_clusters : spherical clusters, within which the local spacing is measured. "auto": 32, fewer for pools of under
        3,200 rows.
    density_power : exponent p of the density weights r^(1/p), where r is the local spacing. With 1, picks follow the
        density of the pool; larger values put more picks in sparse regions; None uses no weights. "auto": 1.25.
    outlier_fraction : share of the rows with the largest local spacing that are picked only when nothing else is left
    n_representatives : how many labels, given ones included, represent the pool before later picks spread. Ignored with
        density_power=None, balance_clusters=True or across_clusters=False.
    scaling : as in `mheal.select`. "auto": raw where rows have unit length, as many embeddings have, else standard.
    deduplicate : of rows that are equal in all columns, use only the first, and the others when nothing else is left
    balance_clusters : share the picks equally among the clusters
    across_clusters : keep away from picks in other clusters too
    device : a torch device such as "cuda"; None: the CPU. Tensors stay on their own device.
    random_state : seed or stream of random numbers, where `mheal.select` gets none

    Examples
    --------
    >>> import numpy as np, mheal
    >>> X = np.random.default_rng(0).normal(size=(500, 4))
    >>> first = mheal.MHEAL(random_state=0).select(X, 10)
    >>> more = mheal.MHEAL(random_state=0).select(X, 10, labeled=first)
    >>> len(set(first) & set(more))
    0
    """

    n_clusters: Count | Literal["auto"] = "auto"
    _: KW_ONLY
    density_power: Positive | Literal["auto"] | None = "auto"
    outlier_fraction: Annotated[float, Interval(Real, 0, 1, closed="left")] = OUTLIER_FRACTION
    n_representatives: Annotated[int, Interval(Integral, 0, None, closed="left")] = REPRESENTATIVES
    scaling: Scaling = "auto"
    deduplicate: bool = False
    balance_clusters: bool = False
    across_clusters: bool = True
    device: str | None = None
    random_state: Any = None

    name, title = "mheal", "MHEAL"
    summary = "Representative rows, then rows far from all others; with labels also where a model is uncertain"
    cost = "time N·√budget·d in practice, memory N"
    kind = "adaptive"
    uses_model = uses_proba = uses_utility = True
    min_labels = MIN_LABELS
    default_estimator = "logistic+knn"
    backends = frozenset({"cpu", "torch", "dask"})
    resumable = limits_memory = True

    def _pick(self, pool: Pool, n: int) -> Selection:
        weights = pool.utility if pool.model is None else uncertainty(pool)
        if weights is not None:
            weights = weights / weights.max()  # how much each row counts, at most 1
        if self.deduplicate and pool.checkpoint.on_disk:
            raise UserError("deduplicate=True copies rows in memory: leave it out, or leave out the checkpoint")
        same = distinct(pool.X) if self.deduplicate else None
        if same is None:
            picks, clusters = self._spread(pool, n, weights)
        else:
            picks, clusters = self._spread_distinct(pool, n, weights, same)
        what = "utility" if pool.model is None else "uncertainty"
        reasons = _reasons(picks, clusters, weights, what, self._representatives(pool.labeled))
        return Selection(picks.rows, clusters[picks.rows], picks.gain, picks.radius, reasons)

    def _spread_distinct(
        self, pool: Pool, n: int, weights: Scores | None, same: Distinct
    ) -> tuple[Ranking, npt.NDArray[np.int32]]:
        """Pick among the rows that differ from all before them; when these are used up, their duplicates."""
        known = same.places(pool.labeled)
        if len(known) == len(same.first):
            raise UserError("every row is labelled already, or equals one that is: there is nothing left to pick")
        fewer = replace(pool, X=pool.X[same.first], labeled=known)
        own = None if weights is None else weights[same.first]
        picks, clusters = self._spread(fewer, min(n, len(same.first) - len(known)), own)
        rows = same.first[picks.rows]
        rest = np.setdiff1d(np.arange(len(pool.X)), np.append(pool.labeled, rows))[: n - len(rows)]
        nothing = np.zeros(len(rest))
        return Ranking(rows, picks.gain, picks.radius) + Ranking(rest, nothing, nothing), clusters[same.place]

    def _spread(self, pool: Pool, n: int, weights: Scores | None) -> tuple[Ranking, npt.NDArray[np.int32]]:
        """The picks, and the cluster of every row."""
        rng, run, labeled = pool.random_state, pool.checkpoint, pool.labeled
        if run.on_disk:
            run.begin(self._described(pool, n) | {"uncertainty": None if weights is None else digest(weights)})
        with open_rows(pool.X, pool.scaling, device=self.device, checkpoint=run) as store:
            rows, clusters, centers, density = self._measured(store, pool.scaling, rng, run)
            if weights is not None:
                density = (density or DensityWeights.equal(rows)).times(weights)
            if not self.across_clusters:
                picks = spread_within_clusters(
                    rows, n, labeled, clusters, centers, density, balance_clusters=self.balance_clusters, n_starts=10,
                    start_length=10, direction="tangent", rng=rng, checkpoint=run,
                )  # fmt: skip
            elif self.balance_clusters:
                picks = spread_balanced(rows, n, labeled, clusters, len(centers), density)
            else:
                first = None
                if wanted := min(self._representatives(labeled), n):
                    first = run.stage(
                        "representatives", lambda: {"rows": representatives(rows, wanted, labeled, rng, weights)}, rng
                    )["rows"]
                picks = spread(rows, n, labeled, density, first, run)
            return picks, clusters

    def _measured(
        self, rows: RowStore, scaling: Scaling, rng: np.random.RandomState, run: NullCheckpoint
    ) -> tuple[RowStore, npt.NDArray[np.int32], npt.NDArray[Any], DensityWeights | None]:
        """The rows that distances are measured between, their clusters and centres, and their density weights."""
        n = rows.shape[0]
        k = auto_clusters(n) if self.n_clusters == "auto" else int(self.n_clusters)
        if k > n:
            raise UserError(f"n_clusters is {k}, but X has only {n} rows: use at most {n}")
        kmeans = SphericalKMeans(k, max_iter=10, tol=1e-3, random_state=rng.randint(2**31))
        clusters, centers = sampled_clusters(rows, kmeans, SAMPLE, rng, run)
        rows = rows.unit() if scaling == "unit" else rows
        rows.forget_norms()  # what follows needs the memory
        if self.density_power is None:
            return rows, clusters, centers, None
        spacing = run.stage("spacing", lambda: {"r": local_spacing(rows, clusters, len(centers))})["r"]
        power = DENSITY_POWER if self.density_power == "auto" else float(self.density_power)
        return rows, clusters, centers, density_weights(spacing, power, self.outlier_fraction)

    def _representatives(self, labeled: Rows) -> int:
        """How many of the next picks represent the pool."""
        if self.density_power is None or self.balance_clusters or not self.across_clusters:
            return 0
        return max(0, self.n_representatives - len(labeled))

    def energy(self, X: Any, rows: Any) -> Scores:
        """(k,) energies of the first 1, 2, … k of these rows: the mean over pairs of −log of their weighted distance.

        NaN for one row alone. With an integer random_state, distances are those that `select` measures.
        """
        check_parameters(self)
        rng = np.random.RandomState(self.random_state)
        X = as_array(X, int(rng.randint(2**31)))
        rows = as_labeled(rows, len(X))
        with open_rows(X, self.scaling, device=self.device) as store:
            points, _, _, density = self._measured(store, self.scaling, rng, NullCheckpoint())
            return density_energy(points.take(rows), np.ones(len(rows)) if density is None else density.weight[rows])


def _reasons(
    picks: Ranking, clusters: npt.NDArray[np.int32], weights: Scores | None, what: str, representatives: int
) -> list[str]:
    """Why each row was picked. `what` is the name of the weights; the first picks are `representatives`."""
    size, reasons = np.bincount(clusters), []
    for at, (row, gain) in enumerate(zip(picks.rows.tolist(), picks.gain.tolist(), strict=True)):
        counted = "" if weights is None else f"; {what} {weights[row]:.2f} of the largest"
        where = f"cluster {clusters[row]} of {size[clusters[row]]:,} rows{counted}"
        if at < representatives:
            reasons.append(f"Represents rows similar to it, in {where}.")
        elif np.isfinite(gain):
            reasons.append(f"Far from all labelled and earlier rows (distance {gain:.3g}), in {where}.")
        else:
            reasons.append(f"The first pick, in {where}.")
    return reasons
