"""Sparse rows (text) for spherical k-means."""

from typing import Any

import numpy as np
import numpy.typing as npt
from scipy import sparse
from sklearn.preprocessing import normalize

BLOCK = 8192  # rows whose scores are dense at one time


class SparseRows:
    """The rows of a CSR matrix, made unit."""

    def __init__(self, X: Any) -> None:
        self.U = normalize(X)
        self.U.eliminate_zeros()  # else a row of stored zeros would seem to have a direction
        self.dtype: np.dtype[Any] = self.U.dtype
        self.shape: tuple[int, int] = self.U.shape

    def nearest(self, C: npt.NDArray[Any]) -> tuple[npt.NDArray[np.int32], npt.NDArray[np.float64]]:
        """The most similar centre of each row, and its cosine."""
        n = self.shape[0]
        labels, cosine = np.empty(n, np.int32), np.empty(n)
        for lo in range(0, n, BLOCK):
            scores = self.U[lo : lo + BLOCK] @ C.T
            labels[lo : lo + BLOCK] = scores.argmax(axis=1)
            cosine[lo : lo + BLOCK] = scores.max(axis=1)
        return labels, cosine

    def sums(self, labels: npt.NDArray[np.int32], weight: npt.NDArray[np.float64], k: int) -> npt.NDArray[np.float64]:
        """Weighted sum of the unit rows of each label, (k, d)."""
        n = self.shape[0]
        membership = sparse.csr_matrix((weight, (labels, np.arange(n))), shape=(k, n))
        return np.asarray((membership @ self.U.astype(np.float64)).todense())

    def directions(self, rows: npt.NDArray[np.int64]) -> npt.NDArray[Any]:
        """These unit rows, dense."""
        return self.U[rows].toarray()

    def take(self, rows: npt.NDArray[np.int64]) -> Any:
        """These unit rows, sparse."""
        return self.U[rows]

    def nonzero(self) -> npt.NDArray[np.bool_]:
        """Which rows have a direction."""
        return np.diff(self.U.indptr) > 0
