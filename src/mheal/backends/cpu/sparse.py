"""Spherical k-means on sparse rows, such as texts."""

from typing import Any

import numpy as np
import numpy.typing as npt
from scipy import sparse
from sklearn.preprocessing import normalize

from ..base import Float64, Floats, Index, Labels, Rows, UnitRows
from ..seeding import plus_plus

BLOCK = 8192  # rows whose scores are dense at one time


class SparseRows(UnitRows):
    """The rows of a CSR matrix, divided by their lengths."""

    def __init__(self, X: Any) -> None:
        self.U = normalize(X)
        self.U.eliminate_zeros()  # else a row of stored zeros would seem to have a direction

    @property
    def shape(self) -> tuple[int, int]:
        return self.U.shape

    @property
    def dtype(self) -> np.dtype[Any]:
        return np.dtype(self.U.dtype)

    def nonzero(self) -> npt.NDArray[np.bool_]:
        return np.diff(self.U.indptr) > 0

    def directions(self, rows: Index) -> Floats:
        return self.U[rows].toarray()

    def plus_plus(self, rows: Rows, weight: Float64, k: int, rng: np.random.RandomState) -> Rows:
        return plus_plus(self.U[rows], weight, k, rng)

    def fitting(self, k: int, weight: Floats | None = None) -> "SparseFitting":
        return SparseFitting(self, k, weight)


class SparseFitting:
    """The state of spherical k-means on sparse rows."""

    def __init__(self, rows: SparseRows, k: int, weight: Floats | None) -> None:
        n, d = rows.shape
        self.U = rows.U
        self.C: Floats = np.zeros((k, d))
        self.weight = np.ones(n) if weight is None else np.asarray(weight, np.float64)
        self.nonzero = rows.nonzero()
        self.label = np.zeros(n, np.int32)
        self.sums: Float64 = np.zeros((k, d))
        self.mass: Float64 = np.zeros(k)

    def assign(self, centers: Floats) -> None:
        self.C, n = centers, len(self.label)
        for lo in range(0, n, BLOCK):
            self.label[lo : lo + BLOCK] = (self.U[lo : lo + BLOCK] @ centers.T).argmax(axis=1)
        membership = sparse.csr_matrix((self.weight, (self.label, np.arange(n))), shape=(len(centers), n))
        self.sums = np.asarray((membership @ self.U.astype(np.float64)).todense())
        self.mass = np.bincount(self.label, self.weight * self.nonzero, len(centers)).astype(np.float64, copy=False)

    def labels(self) -> Labels:
        return self.label

    def chords(self) -> Floats:
        C, chord2 = self.C.astype(np.float64), np.empty(len(self.label))
        for lo in range(0, len(chord2), BLOCK):
            U, label = self.U[lo : lo + BLOCK].astype(np.float64), self.label[lo : lo + BLOCK]
            own = np.asarray(U.multiply(U).sum(axis=1)).ravel() + np.einsum("ij,ij->i", C, C)[label]
            chord2[lo : lo + BLOCK] = own - 2 * np.take_along_axis(np.asarray(U @ C.T), label[:, None], axis=1)[:, 0]
        return np.sqrt(np.maximum(chord2, 0)) * self.nonzero
