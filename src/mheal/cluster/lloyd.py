"""Lloyd's iterations on the sphere (Eq. 9) for one given start, on rows wherever they lie."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from ..backends.base import Fitting, UnitRows

Progress = Callable[[int, float], None]  # iteration, squared distance the centres moved
WORST = 16  # rows looked at for each empty cluster, since some may be equal
NONE = 1e-9  # of the largest weight or sum: less is an empty cluster, or rows that cancel
CANCELS = 1e-3  # of the total weight: a smaller inertia is computed without cancellation


@dataclass(frozen=True)
class Clustering:
    """The result of one run: unit centres, a label per row, Σ w(1 − cos), and how many iterations it took."""

    centers: npt.NDArray[Any]
    labels: npt.NDArray[np.int32]
    inertia: float
    n_iter: int


def lloyd(
    rows: UnitRows,
    centers: npt.NDArray[Any],
    weight: npt.NDArray[Any] | None = None,
    *,
    max_iter: int,
    tol: float,
    progress: Progress | None = None,
) -> Clustering:
    """Spherical k-means from these unit centres; rows of length 0 carry no weight.

    Ends when the centres rest, or move by less than `tol` times the mean variance of a column.
    """
    C = centers.astype(rows.dtype)
    fitting = rows.fitting(len(C), weight)
    iteration, enough = 0, 0.0
    for iteration in range(1, max_iter + 1):
        fitting.assign(C)
        if iteration == 1 and fitting.mass.sum() > 0:
            mean = fitting.sums.sum(axis=0) / fitting.mass.sum()
            enough = tol * max(0.0, 1.0 - float(mean @ mean)) / len(mean)
        new = _updated(C, fitting)
        moved = np.linalg.norm(new.astype(np.float64) - C, axis=1)
        C, shift = new, float(moved @ moved)
        if progress:
            progress(iteration, shift)
        if shift <= enough:
            break
    fitting.assign(C)  # labels that belong to the final centres
    return Clustering(C, fitting.labels(), _inertia(C, fitting), iteration)


def _updated(C: npt.NDArray[Any], fitting: Fitting) -> npt.NDArray[Any]:
    """c = normalise(Σ x̂); empty clusters move to the rows farthest from their centres, different ones if possible."""
    length = np.linalg.norm(fitting.sums, axis=1)
    alive = length > NONE * length.max()
    new = C.astype(np.float64)
    new[alive] = fitting.sums[alive] / length[alive, None]
    empty = np.flatnonzero(fitting.mass < NONE * fitting.mass.max())
    if len(empty):
        worst = fitting.worst(WORST * len(empty))
        _, first_seen = np.unique(worst, axis=0, return_index=True)
        chosen = worst[np.sort(first_seen)[: len(empty)]].astype(np.float64)
        new[empty] = np.resize(chosen, (len(empty), C.shape[1]))
    return new.astype(C.dtype)


def _inertia(C: npt.NDArray[Any], fitting: Fitting) -> float:
    """Σ w(1 − cos) for the present labels and centres; rows without a direction count for nothing."""
    total = float(fitting.mass.sum())
    inertia = total - float(np.vdot(fitting.sums, C.astype(np.float64)))  # Σ w·cos = Σ c·(sum of c's unit rows)
    if inertia > CANCELS * total:
        return inertia
    return fitting.squared_chords() / 2  # that difference cancels where all rows are close to their centres
