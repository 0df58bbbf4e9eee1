"""Sparse rows (text) for spherical k-means."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy import sparse
from sklearn.preprocessing import normalize

BLOCK = 8192  # rows whose scores are dense at one time


@dataclass(frozen=True)
class SparseAssigned:
    """What a comparison of all rows with all centres gave."""

    label: npt.NDArray[np.int32]
    similarity: npt.NDArray[np.float64]
    total: npt.NDArray[np.float64]

    def labels(self) -> npt.NDArray[np.int32]:
        """The most similar centre of each row."""
        return self.label

    def cosine(self) -> npt.NDArray[np.float64]:
        """Its cosine."""
        return self.similarity

    def sums(self) -> npt.NDArray[np.float64]:
        """Weighted sum of the unit rows of each centre, (k, d)."""
        return self.total


class SparseRows:
    """The rows of a CSR matrix, made unit."""

    def __init__(self, X: Any) -> None:
        self.U = normalize(X)
        self.U.eliminate_zeros()  # else a row of stored zeros would seem to have a direction
        self.dtype: np.dtype[Any] = self.U.dtype
        self.shape: tuple[int, int] = self.U.shape

    def assign(self, C: npt.NDArray[Any], weight: npt.NDArray[Any] | None = None) -> SparseAssigned:
        """The most similar centre of each row, and the weighted sum of the unit rows of each centre."""
        n = self.shape[0]
        labels, cosine = np.empty(n, np.int32), np.empty(n)
        for lo in range(0, n, BLOCK):
            scores = self.U[lo : lo + BLOCK] @ C.T
            labels[lo : lo + BLOCK] = scores.argmax(axis=1)
            cosine[lo : lo + BLOCK] = scores.max(axis=1)
        counts = np.ones(n) if weight is None else np.asarray(weight, np.float64)
        membership = sparse.csr_matrix((counts, (labels, np.arange(n))), shape=(len(C), n))
        return SparseAssigned(labels, cosine, np.asarray((membership @ self.U.astype(np.float64)).todense()))

    def directions(self, rows: npt.NDArray[np.int64]) -> npt.NDArray[Any]:
        """These unit rows, dense."""
        return self.U[rows].toarray()

    def take(self, rows: npt.NDArray[np.int64]) -> Any:
        """These unit rows, sparse."""
        return self.U[rows]

    def nonzero(self) -> npt.NDArray[np.bool_]:
        """Which rows have a direction."""
        return np.diff(self.U.indptr) > 0
