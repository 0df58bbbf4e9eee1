"""Lloyd's iterations on the sphere without bounds, for rows that only know plain matrix products: CSR and torch."""

from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from .lloyd import Clustering, Progress


class Assigned(Protocol):
    """What a comparison of all rows with all centres gave; labels and cosines leave the device only when asked for."""

    def labels(self) -> npt.NDArray[np.int32]:
        """The most similar centre of each row."""

    def cosine(self) -> npt.NDArray[np.float64]:
        """Its cosine."""

    def sums(self) -> npt.NDArray[np.float64]:
        """Weighted sum of the unit rows of each centre, (k, d)."""


class UnitRows(Protocol):
    """Unit rows (or zeros) that can be compared with centres and summed by label."""

    dtype: np.dtype[Any]
    shape: tuple[int, int]

    def assign(self, C: npt.NDArray[Any], weight: npt.NDArray[Any] | None = None) -> Assigned:
        """Compare every row with every centre, and add up the rows of each; without weights every row counts 1."""

    def directions(self, rows: npt.NDArray[np.int64]) -> npt.NDArray[Any]:
        """These unit rows, dense."""

    def nonzero(self) -> npt.NDArray[np.bool_]:
        """Which rows have a direction."""


class PlainLloyd:
    """Spherical k-means; rows of length 0 carry no weight."""

    def __init__(self, rows: UnitRows, centers: npt.NDArray[Any], weight: npt.NDArray[Any] | None = None):
        self.rows = rows
        self.C = centers.astype(rows.dtype)
        self.given = weight
        self.weight = rows.nonzero().astype(np.float64)
        if weight is not None:
            self.weight *= weight

    def update(self, assigned: Assigned) -> float:
        """c = normalise(Σ x̂); empty clusters move to the worst served rows. Returns Σ‖Δc‖²."""
        sums = assigned.sums()
        length = np.linalg.norm(sums, axis=1)
        new = self.C.astype(np.float64)
        alive = length > 1e-12
        new[alive] = sums[alive] / length[alive, None]
        if not alive.all() and self.weight.any():
            usable = np.flatnonzero(self.weight > 0)
            empty = np.flatnonzero(np.bincount(assigned.labels()[usable], minlength=len(self.C)) == 0)
            if len(empty):
                candidates = usable[np.argsort(assigned.cosine()[usable], kind="stable")[: 16 * len(empty)]]
                _, first_seen = np.unique(self.rows.directions(candidates), axis=0, return_index=True)
                chosen = candidates[np.sort(first_seen)[: len(empty)]]
                new[empty] = np.resize(self.rows.directions(chosen), (len(empty), new.shape[1]))
        centers = new.astype(self.C.dtype)
        moved = centers.astype(np.float64) - self.C
        self.C = centers
        return float(np.sum(moved * moved))

    def run(self, max_iter: int, tol: float, progress: Progress | None = None) -> Clustering:
        """Iterate until the centres rest, or move by less than `tol` times the mean variance of a column."""
        assigned = self.rows.assign(self.C, self.given)
        mean = assigned.sums().sum(axis=0) / max(self.weight.sum(), 1e-300)
        enough = tol * max(0.0, 1.0 - float(mean @ mean)) / len(mean)
        iteration = 0
        for iteration in range(1, max_iter + 1):
            shift = self.update(assigned)
            assigned = self.rows.assign(self.C, self.given)
            if progress:
                progress(iteration, shift)
            if shift <= enough:
                break
        cosines = float(np.vdot(assigned.sums(), self.C.astype(np.float64)))  # Σ w·cos = Σ c·(sum of c's unit rows)
        return Clustering(self.C, assigned.labels(), max(0.0, float(self.weight.sum()) - cosines), iteration)
