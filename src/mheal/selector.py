"""MHEAL, Algorithm 2: cluster, start, spread, merge."""

from importlib import import_module
from numbers import Integral, Real
from pathlib import Path
from typing import Any, Literal

import numpy as np
import numpy.typing as npt
from sklearn.base import BaseEstimator
from sklearn.utils import check_random_state

from ._version import __version__
from .algorithms.balanced import spread_quota
from .algorithms.density import POWER, TRIM, Charge, charge_of, charged_energy
from .algorithms.facility_location import cover
from .algorithms.local_spacing import local_spacing
from .algorithms.result import Spread
from .algorithms.spread import spread_pool
from .algorithms.within_clusters import spread_clusters
from .backends.cpu.points import Points, moments
from .cluster.sampled import SAMPLE, auto_clusters, sampled_clusters
from .cluster.spherical import SphericalKMeans
from .duplicates import distinct
from .exceptions import UserError
from .runtime.checkpoint import Memory, digest, mark, opened
from .scaling import begins_on_sphere, unit_lengths
from .selection import Selection
from .validation import as_budget, as_labeled, as_pool, as_worth

COVER = 256  # labels that cover the pool before the others spread


class MHEAL(BaseEstimator):
    """Picks rows of X to label by minimising hyperspherical energy.

    The default first covers the pool, then spreads. The first picks are the rows that stand for most others
    (mheal.algorithms.facility_location). From `cover` labels on, each pick is the point farthest from everything picked or labelled so
    far, where distance is measured in units of the local spacing, so that picks follow the data instead of its
    outliers. `MHEAL.paper()` is the published algorithm, literally.

    Parameters
    ----------
    n_clusters : int or "auto" (32, fewer for pools under 3,200 rows); spherical clusters, for the local spacing,
        for quotas and to explain picks
    charge : "auto" (1.25), a power p > 0, or None for no charge (the paper). 1 follows the density fully, larger
        values drift to outliers
    cover : the first so many labels, those given included, go to the rows that stand best for the pool; 0: none. Of use
        only with a charge, without quotas and with global repulsion
    trim : share of the sparsest rows that are picked only when nothing else is left (charged only)
    copies : "count", every row stands for itself, or "once": of rows that are equal number for number only the first
        is looked at, so that an image that was stored twice neither seems typical nor is bought more readily
    space : "standard" (columns of mean 0, sd 1), "unit" (the same, projected to the sphere), "raw", or "auto": raw
        where rows have unit length, as many embeddings have, else standard
    quota : share the budget equally among the clusters
    n_starts : candidates for the first pick of a cluster, found by vector rotation; like start_length and direction
        of use only without charge and without global repulsion
    global_repulsion : keep away from picks in other clusters too
    start_length : length of the sequence whose product of chords ranks the candidates (Eq. 12). "quota" is
        the paper's, but then a small budget's picks are no longer the first of a larger one's
    direction : "tangent" or "chord", how rotation sees directions from the centre
    init, n_init, max_iter, tol : of the clustering, see SphericalKMeans
    cluster_sample : fit the clusters on at most this many rows, then assign the others; None: on all rows
    device : where arrays are worked on: None (here), or a torch device such as "cuda", through which a pool that does
        not fit into its memory is streamed. Tensors are worked on where they lie
    random_state : int, RandomState or None

    Examples
    --------
    >>> import numpy as np, mheal
    >>> X = np.random.default_rng(0).normal(size=(500, 4))
    >>> first = mheal.MHEAL(random_state=0).select(X, budget=10)
    >>> more = mheal.MHEAL(random_state=0).select(X, budget=10, labeled=first.indices)
    >>> len(set(first.indices) & set(more.indices))
    0
    """

    def __init__(
        self,
        n_clusters: int | Literal["auto"] = "auto",
        *,
        charge: float | Literal["auto"] | None = "auto",
        cover: int = COVER,
        trim: float = TRIM,
        copies: Literal["count", "once"] = "count",
        space: Literal["auto", "standard", "unit", "raw"] = "auto",
        quota: bool = False,
        n_starts: int = 10,
        global_repulsion: bool = True,
        start_length: int | Literal["quota"] = 10,
        direction: Literal["tangent", "chord"] = "tangent",
        init: Any = "k-means++",
        n_init: int | Literal["auto"] = "auto",
        max_iter: int = 10,
        tol: float = 1e-3,
        cluster_sample: int | None = SAMPLE,
        device: str | None = None,
        random_state: int | np.random.RandomState | None = None,
    ) -> None:
        self.n_clusters = n_clusters
        self.charge = charge
        self.cover = cover
        self.trim = trim
        self.copies = copies
        self.space = space
        self.quota = quota
        self.n_starts = n_starts
        self.global_repulsion = global_repulsion
        self.start_length = start_length
        self.direction = direction
        self.init = init
        self.n_init = n_init
        self.max_iter = max_iter
        self.tol = tol
        self.cluster_sample = cluster_sample
        self.device = device
        self.random_state = random_state

    @classmethod
    def paper(cls, n_clusters: int = 10, **changes: Any) -> "MHEAL":
        """Algorithm 2 as printed: unit rows, random initial centres, quotas, no charge, no repulsion across clusters.

        Where the text is silent or cannot be meant: rotation starts do not repeat (the printed recursion alternates
        between two points), the first candidate is random, the remainder of budget/k goes to the largest
        clusters, and picks of the clusters alternate.
        """
        published: dict[str, Any] = dict(
            charge=None, space="unit", quota=True, n_starts=10, global_repulsion=False, start_length="quota",
            init="random", n_init=10, max_iter=60, tol=1e-4, cluster_sample=None,
        )  # fmt: skip
        return cls(n_clusters, **(published | changes))

    def select(
        self,
        X: Any,
        budget: int,
        labeled: Any = None,
        workspace: str | Path | Memory | None = None,
        worth: Any = None,
    ) -> Selection:
        """`budget` rows of X, best first, away from the rows `labeled` already.

        Parameters
        ----------
        X : array, memory map, SciPy sparse matrix, DataFrame, torch tensor (which stays on its device) or Dask array
            (whose cluster then does the work, see `mheal.backends.dask`)
        budget : how many
        labeled : row numbers, or a mask over the rows
        workspace : a folder for what is finished while the run is not, or a mheal.runtime.checkpoint.Workspace. The same
            call goes on from there after it was stopped; random_state must then be an integer. The folder is deleted at
            the end
        worth : for each row what it is worth, such as a model's doubt of it: the cover looks most at what is worth
            most, and after it distances count times their row's worth
        """
        self._check()
        with opened(workspace) as stages:
            if type(X).__module__.partition(".")[0] == "dask":
                if self.copies != "count":
                    raise UserError("copies in a Dask array count: leave out copies='once', or X.compute()")
                if worth is not None or workspace is not None:
                    raise UserError("a Dask array has no use for worth or a workspace: leave it out, or X.compute()")
                scale = import_module(".backends.dask", __package__)
                return scale.select(X, budget, labeled, model=self, progress=stages.report)
            pick = self._select if self.copies == "count" else self._select_once
            picks, labels = pick(X, budget, labeled, worth, stages)
            return Selection(picks.rows, labels[picks.rows], picks.gain, picks.radius)

    def _select_once(
        self, X: Any, budget: int, labeled: Any, worth: Any, stages: Memory
    ) -> tuple[Spread, npt.NDArray[np.int32]]:
        """The same among the rows that differ from all before them; when these are used up, copies."""
        if stages.on_disk:
            raise UserError("copies='once' copies rows in memory: leave out the workspace, or let copies count")
        seed = int(check_random_state(self.random_state).randint(2**31))  # as _select draws it
        X = import_module(".backends.torch", __package__).as_pool(X) if _is_tensor(X) else as_pool(X, seed)
        once = distinct(X)
        if once is None:
            return self._select(X, budget, labeled, worth, stages)
        worth = None if worth is None else as_worth(worth, len(X))[once.first]
        labeled = as_labeled(labeled, len(X))
        budget = as_budget(budget, len(X) - len(labeled))
        known = once.places(labeled)
        if len(known) == len(once.first):
            raise UserError("every row is labelled already, or a copy of one that is: there is nothing left to pick")
        picks, labels = self._select(once.of(X), min(budget, len(once.first) - len(known)), known, worth, stages)
        rows = once.first[picks.rows]
        copies = np.setdiff1d(np.arange(len(X)), np.append(labeled, rows))[: budget - len(rows)]
        nothing = np.zeros(len(copies))
        return Spread(rows, picks.gain, picks.radius) + Spread(copies, nothing, nothing), labels[once.place]

    def _select(
        self, X: Any, budget: int, labeled: Any, worth: Any, stages: Memory
    ) -> tuple[Spread, npt.NDArray[np.int32]]:
        """The picks, and the cluster of every row."""
        if stages.on_disk:
            stages.begin(self._run(X, budget, labeled, worth))
        rng = check_random_state(self.random_state)
        points = self._points(X, int(rng.randint(2**31)), stages)
        labeled = as_labeled(labeled, points.shape[0])
        budget = as_budget(budget, points.shape[0] - len(labeled))
        worth = None if worth is None else as_worth(worth, points.shape[0])

        points, labels, centers, charge = self._metric(points, rng, stages)
        if worth is not None:
            ones = np.ones(len(worth), points.dtype)
            charge = (charge or Charge(ones, ones)).times(worth)
        if self.quota and self.global_repulsion:
            picks = spread_quota(points, budget, labeled, labels, len(centers), charge)
        elif self.global_repulsion:
            lead = None
            if self.charge is not None and len(labeled) < self.cover:
                wanted = min(self.cover - len(labeled), budget)
                lead = stages.once("cover", lambda: {"rows": cover(points, wanted, labeled, rng, worth)}, rng)["rows"]
            picks = spread_pool(points, budget, labeled, charge, lead, stages)
        else:
            picks = spread_clusters(
                points, budget, labeled, labels, centers, charge, quota=self.quota, n_starts=self.n_starts,
                start_length=self.start_length, direction=self.direction, rng=rng, stages=stages,
            )  # fmt: skip
        return picks, labels

    def _run(self, X: Any, budget: int, labeled: Any, worth: Any) -> dict[str, Any]:
        """What a workspace knows this selection by."""
        if not isinstance(self.random_state, Integral):
            raise UserError("a workspace needs an integer random_state: else a run could not go on as it began")
        parameters = {
            name: digest(value) if isinstance(value, np.ndarray) else str(value)
            for name, value in self.get_params().items()
        }
        return {
            "pool": mark(X), "budget": int(budget), "labeled": digest(as_labeled(labeled, len(X))),
            "worth": None if worth is None else digest(worth), "parameters": parameters, "mheal": __version__,
        }  # fmt: skip

    def energy(self, X: Any, rows: Any) -> npt.NDArray[np.float64]:
        """Energy of every beginning of these rows of X: the mean over pairs of −log of their (charged) distance.

        NaN for one row alone. With an integer random_state, distances are those that `select` would measure.
        """
        self._check()
        rng = check_random_state(self.random_state)
        points = self._points(X, int(rng.randint(2**31)))
        rows = as_labeled(rows, points.shape[0])
        points, _, _, charge = self._metric(points, rng)
        return charged_energy(points.take(rows), np.ones(len(rows)) if charge is None else charge.weight[rows])

    def _metric(
        self, points: Any, rng: np.random.RandomState, stages: Memory | None = None
    ) -> tuple[Any, npt.NDArray[np.int32], npt.NDArray[Any], Charge | None]:
        """The points that distances are measured between, their clusters and centres, and their charges."""
        stages = stages or Memory()

        def cluster() -> dict[str, npt.NDArray[Any]]:
            return dict(zip(("labels", "centers"), self._cluster(points, rng), strict=True))

        labels, centers = stages.once("clusters", cluster, rng).values()
        if self.space == "unit":
            points = points.unit()
        if isinstance(points, Points):
            points.forget_norms()  # what follows needs the memory
        if self.charge is None:
            return points, labels, centers, None
        spacing = stages.once("spacing", lambda: {"r": local_spacing(points, labels, len(centers))})["r"]
        power = POWER if self.charge == "auto" else float(self.charge)
        return points, labels, centers, charge_of(spacing, power, self.trim)

    def _points(self, X: Any, seed: int, stages: Memory | None = None) -> Any:
        """X as the kernels of its own device see it, standardised unless raw."""
        stages = stages or Memory()
        tensor = _is_tensor(X)
        on_device = tensor or self.device is not None
        kernels = import_module(".backends.torch" if on_device else ".backends.cpu", __package__)
        X = kernels.as_pool(X) if tensor else as_pool(X, seed)
        place = {} if tensor or not on_device else {"device": self.device}
        if self.space == "raw" or (self.space == "auto" and begins_on_sphere(X)):
            points = kernels.Points.raw(X, **place)
            lengths = points.norms()  # refuses NaN and infinity by their row, before rows are sampled
            if self.space == "raw" or (unit_lengths(lengths) and not _all_equal(X)):
                return points
        if on_device:
            points = kernels.Points.standardized(X, **place)
        else:
            mean, deviation = stages.once(
                "moments", lambda: dict(zip(("mean", "deviation"), moments(X), strict=True))
            ).values()
            points = kernels.Points.standardized(X, (mean, deviation))
        if points.constant() and len(X) > 1:
            raise UserError(f"all {len(X)} rows of X are equal (every column is constant): nothing to choose between")
        return points

    def _cluster(self, points: Any, rng: np.random.RandomState) -> tuple[npt.NDArray[np.int32], npt.NDArray[Any]]:
        """Eq. 9: a spherical cluster for each row, and the unit centres."""
        return sampled_clusters(points, self._kmeans(points.shape[0], rng), self.cluster_sample, rng)

    def _kmeans(self, n: int, rng: np.random.RandomState) -> SphericalKMeans:
        """The clustering that is asked for in a pool of n rows."""
        k = auto_clusters(n) if self.n_clusters == "auto" else int(self.n_clusters)
        if k > n:
            raise UserError(f"n_clusters is {k}, but X has only {n} rows: ask for at most {n}")
        return SphericalKMeans(
            k, init=self.init, n_init=self.n_init, max_iter=self.max_iter, tol=self.tol,
            random_state=rng.randint(2**31),
        )  # fmt: skip

    def _check(self) -> None:
        """One-line errors for parameters, here and not in __init__, as scikit-learn has it."""
        choices = {
            "copies": ("count", "once"),
            "space": ("auto", "standard", "unit", "raw"),
            "direction": ("tangent", "chord"),
        }
        for name, allowed in choices.items():
            if getattr(self, name) not in allowed:
                raise UserError(f"{name} must be one of {', '.join(allowed)}, got {getattr(self, name)!r}")
        whole = {
            "n_clusters": ("auto",),
            "n_starts": (),
            "start_length": ("quota",),
            "n_init": ("auto",),
            "max_iter": (),
            "cluster_sample": (None,),
        }
        for name, words in whole.items():
            value = getattr(self, name)
            if value not in words and (not isinstance(value, Integral) or value < 1):
                other = "".join(f" or {word!r}" for word in words)
                raise UserError(f"{name} must be a positive integer{other}, got {value!r}")
        if not isinstance(self.tol, Real) or self.tol < 0:
            raise UserError(f"tol must be a number ≥ 0, got {self.tol!r}")
        if not isinstance(self.cover, Integral) or self.cover < 0:
            raise UserError(f"cover must be a whole number ≥ 0, got {self.cover!r}")
        if not isinstance(self.trim, Real) or not 0 <= self.trim < 1:
            raise UserError(f"trim must be a share between 0 and 1, got {self.trim!r}")
        if self.charge not in (None, "auto") and not (isinstance(self.charge, Real) and self.charge > 0):
            raise UserError(f"charge must be 'auto', None or a positive power, got {self.charge!r}")


def _all_equal(X: Any) -> bool:
    """Whether there is nothing to choose between; mostly two rows say so."""
    return len(X) > 1 and bool((X[0] == X[1]).all()) and bool((X[:1] == X).all())


def _is_tensor(X: Any) -> bool:
    return type(X).__module__.partition(".")[0] == "torch"
