"""MHEAL: representative rows first, then rows far from all others, weighted by density and by uncertainty."""

from dataclasses import replace
from importlib import import_module
from numbers import Integral, Real
from typing import Any, ClassVar, Literal

import numpy as np
import numpy.typing as npt
from sklearn.utils._param_validation import Interval, StrOptions

from ._version import __version__
from .algorithms.balanced import spread_quota
from .algorithms.density import POWER as DENSITY_POWER
from .algorithms.density import TRIM as OUTLIER_FRACTION
from .algorithms.density import Charge, charge_of, charged_energy
from .algorithms.facility_location import cover
from .algorithms.local_spacing import local_spacing
from .algorithms.result import Spread
from .algorithms.spread import spread_pool
from .algorithms.within_clusters import spread_clusters
from .cluster import SphericalKMeans
from .cluster.sampled import SAMPLE, auto_clusters
from .duplicates import Distinct, distinct
from .exceptions import UserError
from .runtime.checkpoint import Memory, digest, mark
from .scaled import clustered, form_of, scaled_points
from .scaling import Scaling
from .selection import Selection
from .strategy import Pool, Rows, Strategy
from .uncertainty import MIN_LABELS, PoolProbabilities, Scores, uncertainty
from .validation import as_array, as_labeled

REPRESENTATIVES = 256  # labels that represent the pool before the others spread over it


class MHEAL(Strategy):
    """Minimum hyperspherical energy active learning: the default of `mheal.select`.

    The first picks represent the pool: each adds most to the summed similarity of all rows to their nearest pick
    (facility location). From `n_representatives` labels on, each pick is the row farthest from everything that is
    picked or labelled, where distance is relative to the local spacing, so that picks follow the density of the pool.
    With labels or a model, rows of which the model is uncertain count more in both. `PaperMHEAL` is the published
    algorithm.

    Parameters
    ----------
    n_clusters : int or "auto"
        Spherical clusters, within which the local spacing is measured. "auto": 32, fewer for pools of under 3,200 rows.
    density_power : "auto", float > 0 or None
        Power p of the density weights r^(1/p), with r the local spacing. 1 follows the density fully, larger values
        prefer sparse regions, None weighs nothing. "auto": 1.25.
    outlier_fraction : float in [0, 1)
        Share of the rows with the largest local spacing that are picked only when nothing else is left.
    n_representatives : int ≥ 0
        Number of labels, those given included, that represent the pool before the others spread. Used with density
        weights, across clusters and without balance.
    scaling : "auto", "standard", "unit" or "raw"
        Columns of mean 0 and standard deviation 1; these rows projected to the sphere; or X as it is. "auto": raw
        where rows have unit length, as many embeddings have, else standard.
    deduplicate : bool
        Of rows that are equal in all columns, use only the first. Others are picked when nothing else is left.
    balance_clusters : bool
        Share the picks equally among the clusters.
    across_clusters : bool
        Keep away from picks in other clusters too.
    device : str or None
        A torch device such as "cuda" to work on; None: the CPU. Tensors are worked on where they are.
    random_state : int, Generator, RandomState or None

    Examples
    --------
    >>> import numpy as np, mheal
    >>> X = np.random.default_rng(0).normal(size=(500, 4))
    >>> first = mheal.MHEAL(random_state=0).select(X, 10)
    >>> more = mheal.MHEAL(random_state=0).select(X, 10, labeled=first)
    >>> len(set(first) & set(more))
    0
    """

    name, title = "mheal", "MHEAL"
    summary = "Representative rows, then rows far from all others; with labels also where a model is uncertain"
    cost = "time N·√budget·d in practice, memory N"
    kind = "adaptive"
    uses_model = uses_proba = uses_utility = True
    min_labels = MIN_LABELS
    default_estimator = "logistic+knn"
    backends: ClassVar[frozenset[str]] = frozenset({"cpu", "torch", "dask"})
    resumable = limits_memory = True
    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "n_clusters": [Interval(Integral, 1, None, closed="left"), StrOptions({"auto"})],
        "density_power": [Interval(Real, 0, None, closed="neither"), StrOptions({"auto"}), None],
        "outlier_fraction": [Interval(Real, 0, 1, closed="left")],
        "n_representatives": [Interval(Integral, 0, None, closed="left")],
        "scaling": [StrOptions({"auto", "standard", "unit", "raw"})],
        "deduplicate": ["boolean"],
        "balance_clusters": ["boolean"],
        "across_clusters": ["boolean"],
        "device": [str, None],
    }

    def __init__(
        self,
        n_clusters: int | Literal["auto"] = "auto",
        *,
        density_power: float | Literal["auto"] | None = "auto",
        outlier_fraction: float = OUTLIER_FRACTION,
        n_representatives: int = REPRESENTATIVES,
        scaling: Literal["auto", "standard", "unit", "raw"] = "auto",
        deduplicate: bool = False,
        balance_clusters: bool = False,
        across_clusters: bool = True,
        device: str | None = None,
        random_state: Any = None,
    ) -> None:
        self.n_clusters = n_clusters
        self.density_power = density_power
        self.outlier_fraction = outlier_fraction
        self.n_representatives = n_representatives
        self.scaling = scaling
        self.deduplicate = deduplicate
        self.balance_clusters = balance_clusters
        self.across_clusters = across_clusters
        self.device = device
        self.random_state = random_state

    def _pick(self, pool: Pool, n: int) -> Selection:
        self._check()
        if form_of(pool.X) == "dask":
            if self.deduplicate:
                raise UserError("a Dask array is not searched for duplicates: leave out deduplicate, or X.compute()")
            scale = import_module(".backends.dask", __package__)
            return scale.select(pool, n, self)
        weights = self._uncertainty(pool)
        same = None
        if self.deduplicate:
            if pool.checkpoint.on_disk:
                raise UserError("deduplicate=True copies rows in memory: leave it out, or leave out the checkpoint")
            same = distinct(pool.X)
        if same is None:
            picks, clusters = self._spread(pool, n, weights)
        else:
            picks, clusters = self._spread_distinct(pool, n, weights, same)
        return Selection(
            picks.rows, clusters[picks.rows], picks.gain, picks.radius, self._reasons(pool, picks, clusters)
        )

    def _uncertainty(self, pool: Pool) -> Scores | None:
        """How much each row counts, at most 1; None if all rows count the same."""
        found = pool.utility
        if pool.model is not None:
            found = uncertainty(PoolProbabilities(pool))
        return None if found is None else found / found.max()

    def _spread_distinct(
        self, pool: Pool, n: int, weights: Scores | None, same: Distinct
    ) -> tuple[Spread, npt.NDArray[np.int32]]:
        """Pick among the rows that differ from all before them; when these are used up, their duplicates."""
        known = same.places(pool.labeled)
        if len(known) == len(same.first):
            raise UserError("every row is labelled already, or equals one that is: there is nothing left to pick")
        fewer = replace(pool, X=same.of(pool.X), labeled=known)
        own = None if weights is None else weights[same.first]
        picks, clusters = self._spread(fewer, min(n, len(same.first) - len(known)), own)
        rows = same.first[picks.rows]
        rest = np.setdiff1d(np.arange(len(pool.X)), np.append(pool.labeled, rows))[: n - len(rows)]
        nothing = np.zeros(len(rest))
        return Spread(rows, picks.gain, picks.radius) + Spread(rest, nothing, nothing), clusters[same.place]

    def _spread(self, pool: Pool, n: int, weights: Scores | None) -> tuple[Spread, npt.NDArray[np.int32]]:
        """The picks, and the cluster of every row."""
        rng, run, labeled = pool.random_state, pool.checkpoint, pool.labeled
        if run.on_disk:
            run.begin(self._described(pool, n, weights))
        points, clusters, centers, density = self._measured(pool.X, pool.scaling, rng, run)
        if weights is not None:
            ones = np.ones(len(weights), points.dtype)
            density = (density or Charge(ones, ones)).times(weights)
        if not self.across_clusters:
            picks = spread_clusters(
                points, n, labeled, clusters, centers, density, quota=self.balance_clusters, n_starts=10,
                start_length=10, direction="tangent", rng=rng, stages=run,
            )  # fmt: skip
        elif self.balance_clusters:
            picks = spread_quota(points, n, labeled, clusters, len(centers), density)
        else:
            first = None
            if wanted := min(self._representatives(labeled), n):
                first = run.once("cover", lambda: {"rows": cover(points, wanted, labeled, rng, weights)}, rng)["rows"]
            picks = spread_pool(points, n, labeled, density, first, run)
        return picks, clusters

    def _measured(
        self, X: Any, scaling: Scaling, rng: np.random.RandomState, run: Memory
    ) -> tuple[Any, npt.NDArray[np.int32], npt.NDArray[Any], Charge | None]:
        """The scaled points, their clusters and centres, and their density weights."""
        points = scaled_points(X, scaling, self.device, run)
        k = auto_clusters(len(X)) if self.n_clusters == "auto" else int(self.n_clusters)
        if k > len(X):
            raise UserError(f"n_clusters is {k}, but X has only {len(X)} rows: ask for at most {len(X)}")
        kmeans = SphericalKMeans(k, max_iter=10, tol=1e-3, random_state=rng.randint(2**31))
        points, clusters, centers = clustered(points, kmeans, SAMPLE, scaling, rng, run)
        if self.density_power is None:
            return points, clusters, centers, None
        spacing = run.once("spacing", lambda: {"r": local_spacing(points, clusters, len(centers))})["r"]
        power = DENSITY_POWER if self.density_power == "auto" else float(self.density_power)
        return points, clusters, centers, charge_of(spacing, power, self.outlier_fraction)

    def _representatives(self, labeled: Rows) -> int:
        """How many of the next picks represent the pool."""
        if self.density_power is None or self.balance_clusters or not self.across_clusters:
            return 0
        return max(0, self.n_representatives - len(labeled))

    def _reasons(self, pool: Pool, picks: Spread, clusters: npt.NDArray[np.int32]) -> list[str]:
        """A sentence for each pick."""
        first, size = self._representatives(pool.labeled), np.bincount(clusters)
        uncertain = "" if pool.model is None else "; the model is uncertain there"
        reasons = []
        for at, (row, gain) in enumerate(zip(picks.rows.tolist(), picks.gain.tolist(), strict=True)):
            where = f"cluster {clusters[row]} of {size[clusters[row]]:,} rows{uncertain}"
            if at < first:
                reasons.append(f"Represents rows similar to it, in {where}.")
            elif np.isfinite(gain):
                reasons.append(f"Far from all labelled and earlier rows (distance {gain:.3g}), in {where}.")
            else:
                reasons.append(f"In the densest part of {where}.")
        return reasons

    def _described(self, pool: Pool, n: int, weights: Scores | None) -> dict[str, Any]:
        """What a checkpoint recognises this selection by."""
        parameters = {name: str(value) for name, value in self.get_params().items() if name != "random_state"}
        return {
            "pool": mark(pool.X), "budget": n, "labeled": digest(pool.labeled), "scaling": pool.scaling,
            "uncertainty": None if weights is None else digest(weights), "parameters": parameters,
            "random_state": digest(pool.random_state.get_state(legacy=False)["state"]["key"]), "mheal": __version__,
        }  # fmt: skip

    def energy(self, X: Any, rows: Any) -> Scores:
        """Energy of every beginning of these rows of X: the mean over pairs of −log of their weighted distance.

        NaN for one row alone. With an integer random_state, distances are those that `select` measures.
        """
        self._check()
        rng = np.random.RandomState(self.random_state)
        X = as_array(X, int(rng.randint(2**31)))
        rows = as_labeled(rows, len(X))
        points, _, _, density = self._measured(X, self.scaling, rng, Memory())
        return charged_energy(points.take(rows), np.ones(len(rows)) if density is None else density.weight[rows])
