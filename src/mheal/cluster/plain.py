"""Lloyd's iterations on the sphere without bounds, for rows that only know plain matrix products: CSR and torch."""

from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from .lloyd import Clustering, Progress


class UnitRows(Protocol):
    """Unit rows (or zeros) that can be compared with centres and summed by label."""

    dtype: np.dtype[Any]
    shape: tuple[int, int]

    def nearest(self, C: npt.NDArray[Any]) -> tuple[npt.NDArray[np.int32], npt.NDArray[np.float64]]:
        """The most similar centre of each row, and its cosine."""

    def sums(self, labels: npt.NDArray[np.int32], weight: npt.NDArray[np.float64], k: int) -> npt.NDArray[np.float64]:
        """Weighted sum of the unit rows of each label, (k, d)."""

    def directions(self, rows: npt.NDArray[np.int64]) -> npt.NDArray[Any]:
        """These unit rows, dense."""

    def nonzero(self) -> npt.NDArray[np.bool_]:
        """Which rows have a direction."""


class PlainLloyd:
    """Spherical k-means; rows of length 0 carry no weight."""

    def __init__(self, rows: UnitRows, centers: npt.NDArray[Any], weight: npt.NDArray[Any] | None = None):
        self.rows = rows
        self.C = centers.astype(rows.dtype)
        self.weight = rows.nonzero().astype(np.float64)
        if weight is not None:
            self.weight *= weight

    def update(self, labels: npt.NDArray[np.int32], cosine: npt.NDArray[np.float64]) -> float:
        """c = normalise(Σ x̂); empty clusters move to the worst served rows. Returns Σ‖Δc‖²."""
        k = len(self.C)
        sums = self.rows.sums(labels, self.weight, k)
        length = np.linalg.norm(sums, axis=1)
        new = self.C.astype(np.float64)
        alive = length > 1e-12
        new[alive] = sums[alive] / length[alive, None]
        empty = np.flatnonzero(np.bincount(labels[self.weight > 0], minlength=k) == 0)
        if len(empty) and self.weight.any():
            usable = np.flatnonzero(self.weight > 0)
            candidates = usable[np.argsort(cosine[usable], kind="stable")[: 16 * len(empty)]]
            _, first_seen = np.unique(self.rows.directions(candidates), axis=0, return_index=True)
            chosen = candidates[np.sort(first_seen)[: len(empty)]]
            new[empty] = np.resize(self.rows.directions(chosen), (len(empty), new.shape[1]))
        centers = new.astype(self.C.dtype)
        moved = centers.astype(np.float64) - self.C
        self.C = centers
        return float(np.sum(moved * moved))

    def run(self, max_iter: int, tol: float, progress: Progress | None = None) -> Clustering:
        """Iterate until the centres rest, or move by less than `tol` times the mean variance of a column."""
        n, d = self.rows.shape
        mean = self.rows.sums(np.zeros(n, np.int32), self.weight, 1)[0] / max(self.weight.sum(), 1e-300)
        enough = tol * max(0.0, 1.0 - float(mean @ mean)) / d
        iteration = 0
        labels, cosine = self.rows.nearest(self.C)
        for iteration in range(1, max_iter + 1):
            shift = self.update(labels, cosine)
            labels, cosine = self.rows.nearest(self.C)
            if progress:
                progress(iteration, shift)
            if shift <= enough:
                break
        inertia = max(0.0, float(self.weight @ (1.0 - cosine)))
        return Clustering(self.C, labels, inertia, iteration)
