"""Rows of a pool as algorithms work on them: scaled, on their own device, and in spherical clusters."""

from importlib import import_module
from typing import Any

import numpy as np
import numpy.typing as npt

from .backends.cpu.points import Points, moments
from .cluster import SphericalKMeans
from .cluster.sampled import sampled_clusters
from .exceptions import UserError
from .runtime.checkpoint import Memory
from .scaling import begins_on_sphere, unit_lengths


def form_of(X: Any) -> str:
    """What holds the rows: "torch" (a tensor), "dask" (a Dask array) or "cpu" (anything else)."""
    package = type(X).__module__.partition(".")[0]
    return package if package in ("torch", "dask") else "cpu"


def to_numpy(X: Any) -> npt.NDArray[Any]:
    """The rows of an array or a tensor as an array."""
    if form_of(X) != "torch":
        return np.asarray(X)
    return import_module(".backends.torch", __package__).as_pool(X).cpu().numpy()


def scaled_points(X: Any, scaling: str, device: str | None, run: Memory) -> Any:
    """X as the kernels of its own device see it, standardised unless raw; "unit" is standardised too."""
    tensor = form_of(X) == "torch"
    on_device = tensor or device is not None
    kernels = import_module(".backends.torch" if on_device else ".backends.cpu", __package__)
    place = {} if tensor or not on_device else {"device": device}
    if scaling == "raw" or (scaling == "auto" and begins_on_sphere(X)):
        points = kernels.Points.raw(X, **place)
        lengths = points.norms()  # refuses NaN and infinity by their row, before rows are sampled
        if scaling == "raw" or (unit_lengths(lengths) and not _all_equal(X)):
            return points
    if on_device:
        points = kernels.Points.standardized(X, **place)
    else:
        found = run.once("moments", lambda: dict(zip(("mean", "deviation"), moments(X), strict=True)))
        points = kernels.Points.standardized(X, (found["mean"], found["deviation"]))
    if points.constant() and len(X) > 1:
        raise UserError(f"all {len(X)} rows of X are equal (every column is constant): nothing to choose between")
    return points


def clustered(
    points: Any, kmeans: SphericalKMeans, sample: int | None, scaling: str, rng: np.random.RandomState, run: Memory
) -> tuple[Any, npt.NDArray[np.int32], npt.NDArray[Any]]:
    """The points that distances are measured between, a spherical cluster for each (Eq. 9), and the unit centres."""

    def cluster() -> dict[str, npt.NDArray[Any]]:
        return dict(zip(("labels", "centers"), sampled_clusters(points, kmeans, sample, rng), strict=True))

    labels, centers = run.once("clusters", cluster, rng).values()
    if scaling == "unit":
        points = points.unit()
    if isinstance(points, Points):
        points.forget_norms()  # what follows needs the memory
    return points, labels, centers


def _all_equal(X: Any) -> bool:
    """Whether there is nothing to choose between; mostly two rows say so."""
    return len(X) > 1 and bool((X[0] == X[1]).all()) and bool((X[:1] == X).all())
