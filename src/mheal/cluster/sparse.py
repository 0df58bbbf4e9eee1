"""Lloyd's iterations on the sphere for sparse rows (text): plain matrix products, no bounds."""

from typing import Any

import numpy as np
import numpy.typing as npt
from scipy import sparse
from sklearn.preprocessing import normalize

from .lloyd import Clustering, Progress

BLOCK = 8192  # rows whose scores are dense at one time


class SparseLloyd:
    """Spherical k-means on the rows of a CSR matrix; rows of length 0 carry no weight."""

    def __init__(
        self, X: sparse.csr_matrix, centers: npt.NDArray[Any], weight: npt.NDArray[Any] | None = None
    ):
        self.U = normalize(X)
        self.C = centers.astype(self.U.dtype)
        self.weight = np.ones(X.shape[0]) if weight is None else weight.astype(np.float64)
        self.weight = self.weight * (np.diff(self.U.indptr) > 0)

    def assign(self) -> tuple[npt.NDArray[np.int32], npt.NDArray[np.float64]]:
        """The nearest centre of each row, and its cosine."""
        n = self.U.shape[0]
        labels, cosine = np.empty(n, np.int32), np.empty(n)
        for lo in range(0, n, BLOCK):
            scores = self.U[lo : lo + BLOCK] @ self.C.T
            labels[lo : lo + BLOCK] = scores.argmax(axis=1)
            cosine[lo : lo + BLOCK] = scores.max(axis=1)
        return labels, cosine

    def update(self, labels: npt.NDArray[np.int32], cosine: npt.NDArray[np.float64]) -> float:
        """c = normalise(Σ x̂); empty clusters move to the worst served rows. Returns Σ‖Δc‖²."""
        n, k = len(labels), len(self.C)
        membership = sparse.csr_matrix((self.weight, (labels, np.arange(n))), shape=(k, n))
        sums = np.asarray((membership @ self.U.astype(np.float64)).todense())
        length = np.linalg.norm(sums, axis=1)
        new = self.C.astype(np.float64)
        alive = length > 1e-12
        new[alive] = sums[alive] / length[alive, None]
        empty = np.flatnonzero(np.bincount(labels[self.weight > 0], minlength=k) == 0)
        if len(empty):
            worst = np.argsort(np.where(self.weight > 0, cosine, np.inf), kind="stable")[: len(empty)]
            new[empty[: len(worst)]] = self.U[worst].toarray()
        moved = new.astype(self.C.dtype) - self.C
        self.C = new.astype(self.C.dtype)
        return float(np.sum(moved.astype(np.float64) ** 2))

    def run(self, max_iter: int, tol: float, progress: Progress | None = None) -> Clustering:
        """Iterate until the centres rest, or move by less than `tol` times the mean variance of a column."""
        total = max(self.weight.sum(), 1e-300)
        mean = np.asarray(self.U.T @ self.weight).ravel() / total
        enough = tol * max(0.0, 1.0 - float(mean @ mean)) / len(mean)
        converged, iteration = False, 0
        labels, cosine = self.assign()
        for iteration in range(1, max_iter + 1):
            shift = self.update(labels, cosine)
            labels, cosine = self.assign()
            if progress:
                progress(iteration, shift)
            if shift <= enough:
                converged = True
                break
        inertia = max(0.0, float(self.weight @ (1.0 - cosine)))
        return Clustering(self.C, labels, inertia, iteration, converged)
